//! The service beyond one machine: one ordered log decides.
//!
//! **The log** is one partition of Kafka. A front ([`front`]) puts each request into it, and its offset there is the document's number. **Shards**
//! ([`node`]) read all of it; shard `i` of `S` holds the kept documents whose numbers are `i` modulo `S`, and what was dropped in their favour. Each publishes, in
//! a partition of a second topic, its answer to each record ([`answers`]): the least earlier kept document that it holds and that is like it. Who reads the
//! log and the answers of all shards merges them ([`merge`]) to the verdict that one process would have given that had read the log alone, and a
//! front does so for its clients.
//!
//! **Epochs.** Whether a document is kept depends on all shards, so a shard cannot know of the last few documents whether they are. The log is cut into epochs
//! of [`EPOCH`] numbers. A shard answers from what was there when the record's epoch began, a state that the log alone decides; documents of the
//! epoch itself are compared by who merges, who has them all. When an epoch is decided, shards take in what is theirs of it. So an answer is a
//! function of the log, a snapshot is of the beginning of an epoch, and whoever was killed begins again there.

pub(crate) mod answers;
pub(crate) mod asking;
pub(crate) mod front;
pub mod kafka;
pub(crate) mod merge;
pub(crate) mod node;
pub(crate) mod node_decider;
pub(crate) mod reading;
pub(crate) mod request;
pub(crate) mod shard;
pub mod topics;
pub(crate) mod window;

pub use self::front::Front;
pub use self::node::{Begun, NodeOptions, Place};
use crate::settings::Settings;
use std::time::Duration;
use twinsplit_core::hash;

/// Numbers of an epoch. A document is compared with those of its epoch one by one, and shards wait for each other between epochs.
pub const EPOCH: u64 = 1024;

/// What all fronts and nodes of one log have in common.
#[derive(Clone, Debug)]
pub struct Sharding {
    /// How many shards there are.
    pub shards: usize,
    /// Numbers of an epoch.
    pub epoch: u64,
    /// What documents are compared by, and how long they are kept.
    pub settings: Settings,
    /// What else decides how they are compared, by names of options.
    pub made_with: Vec<(&'static str, String)>,
}

/// What is told of a node whose answers cannot be merged.
pub(crate) const OTHER_OPTIONS: &str = "was made with other options than this process: give all nodes and fronts of a log the same for what is compared and how long it is kept";

impl Sharding {
    /// What was agreed on, by names of options.
    pub(crate) fn parameters(&self) -> Vec<(&'static str, String)> {
        let keep = self.settings.retention.keep.map_or("none".to_owned(), |keep| keep.to_string());
        let own =
            [("shards", self.shards.to_string()), ("epoch", self.epoch.to_string()), ("retain-ms", keep)];
        self.made_with.iter().cloned().chain(own).collect()
    }

    /// A number that differs where anything of it does: records and answers carry it, so that what is made otherwise is never merged.
    pub(crate) fn digest(&self) -> u64 {
        let lines: Vec<String> =
            self.parameters().iter().map(|(name, value)| format!("{name}={value}")).collect();
        hash::feature(lines.join("\n").as_bytes())
    }

    /// Which shard has a number.
    pub(crate) fn shard_of(&self, number: u64) -> usize {
        (number % self.shards.max(1) as u64) as usize
    }

    /// The first number of the epoch of a number.
    pub(crate) fn epoch_of(&self, number: u64) -> u64 {
        number - number % self.epoch.max(1)
    }

    /// Whether what came at a time is still kept.
    pub(crate) fn is_kept(&self, came: u64, now: u64) -> bool {
        self.settings.retention.keep.is_none_or(|keep| came.saturating_add(keep) > now)
    }
}

/// How a front serves.
#[derive(Clone, Debug)]
pub struct FrontOptions {
    /// How long it waits for Kafka and the shards together.
    pub patience: Duration,
    /// How long until it tries again what has failed.
    pub again: Duration,
}
