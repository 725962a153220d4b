//! The service on several machines: the options of a log that decides, of a shard's node and of a front.

use super::{Chain, Time};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal::{self, plural};
use twinsplit_serve::disk::LogFolder;
use twinsplit_serve::shards::kafka::{Kafka, KafkaPlace};
use twinsplit_serve::shards::topics::LogError;
use twinsplit_serve::shards::{EPOCH, Front, FrontOptions, NodeOptions, Sharding};
use twinsplit_serve::{Listening, Server, Settings};

/// How long until a front tries again what has failed.
const AGAIN: Duration = Duration::from_millis(20);

/// Options.
#[derive(Args, Clone, Debug)]
pub(super) struct Opts {
    /// One partition of Kafka decides, kafka://HOST:PORT/TOPIC, of several brokers kafka://HOST:PORT,HOST:PORT/TOPIC: without --shard this is a front, which has no FOLDER and answers clients; the topic
    /// TOPIC-answers has a partition for each shard
    #[arg(long, value_name = "URL")]
    pub log: Option<KafkaPlace>,
    /// Which shard's node this is, from 0 on; its snapshots are in FOLDER
    #[arg(long, value_name = "N", requires = "log", requires = "folder")]
    shard: Option<usize>,
    /// How long a front waits for Kafka and all shards before a request is answered with an error
    #[arg(long, value_name = "TIME", default_value = "5s", requires = "log")]
    answer_within: Time,
}

/// Options that say nothing with a log, by their names, each with the reason.
const WITH_LOG: [(&str, &str); 3] = [
    ("fsync", "an answer is sent when Kafka's replicas have the request (acks=all)"),
    ("max", "what is forgotten follows from the log's times alone, by --retain"),
    ("retain_from", "what is forgotten follows from the log's times alone, and counts from insertion"),
];

/// Options of nodes, which a front does not have.
const OF_NODES: [&str; 3] = ["memory", "namespaces", "snapshot_after"];

impl Opts {
    /// Refuses options that do not go with a log.
    ///
    /// # Errors
    /// There are some.
    pub fn refuse_others(&self, matches: &ArgMatches, folder: Option<&Path>, chain: Chain) -> Result<()> {
        if self.log.is_none() {
            return Ok(());
        }
        let is_given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        let shown = |name: &str| name.replace('_', "-");
        if let Some((name, why)) = WITH_LOG.iter().find(|(name, _)| is_given(name)) {
            return Err(Error::Usage(format!(
                "--log does not go with --{}: {why}; leave it out",
                shown(name)
            )));
        }
        if chain == Chain::DocSplit {
            return Err(Error::Usage(
                "--log does not go with --chain doc-split: shards compare fingerprints; use --chain simhash, or one process without --log".to_owned(),
            ));
        }
        match (self.shard, folder) {
            (None, Some(folder)) => Err(Error::Usage(format!(
                "a front keeps nothing in {}: give --shard N for the node of a shard, or no folder for a front",
                visible::path(folder)
            ))),
            (None, None) => match OF_NODES.iter().find(|name| is_given(name)) {
                Some(name) => Err(Error::Usage(format!(
                    "a front keeps nothing, so it does not use --{}: give that to the nodes, which have --shard N",
                    shown(name)
                ))),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Serves as a front, or holds a shard.
    ///
    /// # Errors
    /// Kafka is not there, or has not what is needed; the folder does not fit.
    pub fn start(
        &self,
        place: &KafkaPlace,
        folder: Option<&PathBuf>,
        (listening, settings, made_with): (Listening, Settings, Vec<(&'static str, String)>),
        snapshot_after: u64,
    ) -> Result<Server> {
        let kafka = Kafka::open(place.clone()).map_err(|error| match error {
            LogError::Unreachable(problem) => {
                Error::Failed(format!("{problem}; start it first, or wait for it"))
            }
            LogError::Refused(problem) | LogError::Failed(problem) => Error::Failed(problem),
        })?;
        let shards = kafka.shards();
        let sharding = Sharding { shards, epoch: EPOCH, settings, made_with };
        let (Some(shard), Some(folder)) = (self.shard, folder) else {
            let options =
                FrontOptions { patience: Duration::from_millis(self.answer_within.0.max(1)), again: AGAIN };
            terminal::line(format_args!(
                "front of {} with {}",
                place.topic,
                plural(shards as u64, "shard", "shards")
            ));
            return listening.start_front(Front::new(sharding, options, Box::new(kafka)));
        };
        if shard >= shards {
            return Err(Error::Usage(format!(
                "--shard {shard}: the topic {} has {shards} partitions, so shards are 0 to {}",
                place.answers(),
                shards.saturating_sub(1)
            )));
        }
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let options = NodeOptions { sharding, shard, snapshot_after };
        let node = (options, LogFolder(folder.clone()), Box::new(kafka) as _);
        listening.start_node(node, |begun| {
            terminal::line(format_args!(
                "{}: shard {shard} of {shards}, {} of a snapshot; reads {} from offset {} on, of {}",
                visible::path(folder),
                plural(begun.documents, "document", "documents"),
                place.topic,
                begun.from,
                begun.end
            ));
        })
    }
}
