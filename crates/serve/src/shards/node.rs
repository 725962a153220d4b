//! The node of a shard: it reads the log, answers each record, and takes in what is its shard's when an epoch is decided.
//!
//! All that it holds follows from the log and the answers, so it writes no log of its own. A snapshot is of the beginning of an epoch, and names where
//! the log and the answers go on from there. It is written beside the work.

use super::Sharding;
use super::answers::{self, Answers, Row};
use super::merge::Merge;
use super::reading::{self, Unread};
use super::request::{Logged, Request};
use super::shard::Shard;
use super::topics::{LogError, Partition, Record, TOGETHER, Topics};
use crate::disk::LogDisk;
use crate::engine::{LOCK, STEP, refuse_others};
use crate::info::Shared;
use crate::log::numbers;
use crate::snapshot::{self, SNAPSHOT, SnapshotWriter};
use crate::snapshotting::Snapshotting;
use crate::state::State;
use std::collections::VecDeque;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use twinsplit_io::checked_file::Head;
use twinsplit_io::error::{Error, Result};
use twinsplit_store::disk::locked;

/// The kind of its snapshots.
const KIND: &str = "shard-snapshot";
/// Where the log and the answers go on behind a snapshot.
const LOG_FROM: &str = "log-from";
const ANSWERS_FROM: &str = "answers-from";
/// The latest time of the log's records before, which no document may have.
const TIME: &str = "time-ms";

/// How a shard is held.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// What all of the log have in common.
    pub sharding: Sharding,
    /// Which shard it is.
    pub shard: usize,
    /// Bytes of the log after which there is a snapshot.
    pub snapshot_after: u64,
}

/// A node.
pub struct Node<D: LogDisk> {
    options: NodeOptions,
    disk: D,
    topics: Box<dyn Topics>,
    shard: Shard,
    merge: Merge,
    /// The next number that it answers.
    answered: u64,
    /// Answers that wait to be appended, and the number behind each.
    unsent: VecDeque<(u64, Record)>,
    snapshot: Option<Snapshotting>,
    /// The number of the last snapshot that was begun, and bytes of the log since.
    last: (Option<u64>, u64),
    /// Behind the last record of the log, as it was last heard of.
    end: u64,
    shared: Arc<Shared>,
    _lock: File,
}

/// Where a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The next number that is decided.
    pub next: u64,
    /// Behind the last record of the log.
    pub end: u64,
    /// From where a restart reads on.
    pub snapshot: u64,
}

/// What a node found when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// From where it reads the log.
    pub from: u64,
    /// Behind its last record.
    pub end: u64,
    /// Documents of its snapshot.
    pub documents: u64,
}

fn failed(error: LogError) -> Error {
    Error::Failed(error.to_string())
}

impl<D: LogDisk> Node<D> {
    /// Opens a folder, which is there, and finds where the log goes on.
    ///
    /// # Errors
    /// Another process has the folder; it holds other files, or those of other options; the log does not go on where it ends; Kafka is not there.
    pub(crate) fn open(
        options: NodeOptions,
        disk: D,
        mut topics: Box<dyn Topics>,
        shared: Arc<Shared>,
    ) -> Result<(Self, Begun)> {
        let folder = disk.path().to_owned();
        refuse_others(&folder)?;
        let busy = "another node has this folder; stop it, or give another folder";
        let lock = locked(&folder, LOCK, busy)?;
        let NodeOptions { sharding, shard, .. } = &options;
        let mut state = State::new(sharding.settings.clone());
        let (mut from, mut at, mut time) = (0, vec![0; sharding.shards], 0);
        let made_with = made_with(&options);
        let last = numbers(&folder, SNAPSHOT)?.last().copied();
        if let Some(number) = last {
            let start = |head: &Head, path: &Path| {
                head.must_have(&made_with, path)?;
                from = head.number(LOG_FROM, path)?;
                time = head.number(TIME, path)?;
                at = positions(head, path, sharding.shards)?;
                Ok(())
            };
            snapshot::read(&folder, (KIND, number), &mut state, start)?;
        }
        state.fill()?;
        // Namespaces have no part in it where there are none.
        state.expire(time);
        let documents = state.namespaces().map(|(_, namespace)| namespace.held().0).sum();
        let end = must_go_on(&mut *topics, from, &at).map_err(failed)?;
        let merge = Merge::new(sharding.clone(), from, Some(time), &at);
        let answered = answered(&mut *topics, sharding, *shard).map_err(failed)?.max(from);
        let shard = Shard::new(sharding.clone(), *shard, state);
        let node = Self {
            options,
            disk,
            topics,
            shard,
            merge,
            answered,
            unsent: VecDeque::new(),
            snapshot: None,
            last: (last, 0),
            end,
            shared,
            _lock: lock,
        };
        Ok((node, Begun { from, end, documents }))
    }

    /// What it holds.
    pub fn state(&self) -> &State {
        &self.shard.state
    }

    /// Where it is.
    pub fn place(&self) -> Place {
        Place {
            next: self.merge.next(),
            end: self.end.max(self.merge.next()),
            snapshot: self.last.0.unwrap_or(0),
        }
    }

    /// Shards whose nodes were made with other options.
    pub(crate) fn foreign(&self) -> Vec<usize> {
        self.merge.foreign()
    }

    /// Reads what has come, no longer than it may wait, and does what follows from it; whether there was anything.
    ///
    /// # Errors
    /// Those of the topics. After [`LogError::Unreachable`] it can be called again.
    pub(crate) fn step(&mut self, wait: Duration) -> std::result::Result<bool, LogError> {
        self.send()?;
        let wait = if self.snapshot.is_some() { Duration::ZERO } else { wait };
        let read = reading::read(&mut *self.topics, &mut self.merge, &self.options.sharding, wait);
        let amount = read.map_err(|unread| match unread {
            Unread::Log(error) => error,
            Unread::Gap(shard, gap) => LogError::Failed(format!(
                "shard {shard} has no answers to the records {} to {} of the log in its partition: they were deleted, or Kafka has lost them",
                gap.from,
                gap.to - 1
            )),
        })?;
        self.last.1 += amount.bytes;
        self.end = amount.end.unwrap_or(self.end);
        loop {
            self.answer();
            while self.merge.decide().is_some() {}
            if !self.merge.is_over() {
                break;
            }
            let taken = self.merge.begin_next();
            self.shard
                .take_in(taken, self.merge.time())
                .map_err(|problem| LogError::Failed(problem.to_owned()))?;
            self.begin_snapshot().map_err(|error| LogError::Failed(error.to_string()))?;
        }
        self.send()?;
        if let Some(snapshot) = &mut self.snapshot
            && !snapshot.step(&mut self.shard.state)
        {
            self.snapshot = None;
        }
        Ok(amount.is_some)
    }

    /// Answers the records of the epoch that its shard has not answered.
    fn answer(&mut self) {
        let Self { merge, shard, options, .. } = self;
        let to = merge.records_to().min(merge.start() + options.sharding.epoch);
        // Another node of the shard may have been faster.
        let from = self.answered.max(merge.answered_to(options.shard));
        if from >= to {
            return;
        }
        let (mut now, mut before) = (merge.time(), merge.time());
        let mut requests: Vec<(u64, Option<&Request>)> = Vec::new();
        for number in merge.next()..to {
            let Some((time, logged)) = merge.record(number) else { break };
            if number == from {
                before = now;
            }
            now = now.max(time);
            if number >= from {
                let request = if let Logged::Request(request) = logged { Some(request) } else { None };
                requests.push((now, request));
            }
        }
        let rows = shard.rows(&requests);
        let times: Vec<u64> = requests.iter().map(|(now, _)| *now).collect();
        for (from, before, rows) in parts(from, before, rows, &times) {
            let answers = Answers { shard: options.shard, from, before, rows };
            let value = answers::encode(&answers, options.sharding.digest()).into();
            self.unsent.push_back((answers.to(), Record { key: None, value }));
        }
        self.answered = to;
    }

    /// Appends the answers that wait.
    fn send(&mut self) -> std::result::Result<(), LogError> {
        while let Some((_, record)) = self.unsent.front() {
            self.topics.append(Partition::Answers(self.options.shard), std::slice::from_ref(record))?;
            self.unsent.pop_front();
        }
        Ok(())
    }

    /// Begins a snapshot where the log has grown enough; an epoch has just begun.
    fn begin_snapshot(&mut self) -> Result<()> {
        if self.last.1 < self.options.snapshot_after || self.snapshot.is_some() {
            return Ok(());
        }
        match self.writer() {
            Ok(writer) => self.snapshot = Some(Snapshotting::start(writer, &self.shared)?),
            Err(error) => {
                snapshot::give_up(&mut self.shard.state);
                self.shared.snapshot_failed(&error);
            }
        }
        Ok(())
    }

    fn writer(&mut self) -> Result<SnapshotWriter<D>> {
        // Before the epoch the last thing that was done was to forget what was too old by then.
        let (start, time) = (self.merge.start(), self.shard.state.now());
        let mut parameters = made_with(&self.options);
        let at: Vec<String> = self.merge.positions().iter().map(u64::to_string).collect();
        parameters.push((LOG_FROM, start.to_string()));
        parameters.push((TIME, time.to_string()));
        parameters.push((ANSWERS_FROM, at.join(",")));
        self.last = (Some(start), 0);
        let first = snapshot::begin(&mut self.shard.state);
        SnapshotWriter::begin((self.disk.clone(), KIND), &parameters, start, &first)
    }

    /// It is killed; a thread of it that goes on would be no part of that.
    #[cfg(test)]
    pub(crate) fn die(mut self) {
        if let Some(snapshot) = self.snapshot.take() {
            snapshot.give_up(&mut self.shard.state);
        }
    }

    /// Writes a snapshot of the beginning of the epoch, where there is none yet.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) fn end(mut self) -> Result<()> {
        if let Some(snapshot) = self.snapshot.take() {
            snapshot.give_up(&mut self.shard.state);
            self.last.0 = None;
        }
        if self.last.0 == Some(self.merge.start()) {
            return Ok(());
        }
        let mut writer = self.writer()?;
        while let Some((count, content)) = snapshot::step(&mut self.shard.state, STEP) {
            writer.add(count, &content)?;
        }
        writer.finish().map(drop)
    }
}

/// Answers in parts that Kafka takes, each with its first number and the time before it.
fn parts(mut from: u64, mut before: u64, rows: Vec<Row>, times: &[u64]) -> Vec<(u64, u64, Vec<Row>)> {
    let mut parts = Vec::new();
    let (mut part, mut bytes) = (Vec::new(), 0);
    for (row, time) in rows.into_iter().zip(times) {
        bytes += row.bytes();
        part.push(row);
        if bytes >= TOGETHER {
            let next = from + part.len() as u64;
            parts.push((from, before, std::mem::take(&mut part)));
            (from, bytes) = (next, 0);
        }
        if part.is_empty() {
            before = *time;
        }
    }
    if !part.is_empty() {
        parts.push((from, before, part));
    }
    parts
}

/// What a folder is made with.
fn made_with(options: &NodeOptions) -> Vec<(&'static str, String)> {
    let mut all = options.sharding.parameters();
    all.push(("shard", options.shard.to_string()));
    all
}

fn positions(head: &Head, path: &Path, shards: usize) -> Result<Vec<u64>> {
    let all: Option<Vec<u64>> = head.get(ANSWERS_FROM).split(',').map(|one| one.parse().ok()).collect();
    all.filter(|all| all.len() == shards).ok_or_else(|| Error::File {
        path: path.to_owned(),
        problem: format!("its first line does not say from where the answers of {shards} shards are read"),
    })
}

/// That the log and the answers are there from these offsets on; behind the last record of the log.
fn must_go_on(topics: &mut dyn Topics, from: u64, at: &[u64]) -> std::result::Result<u64, LogError> {
    let log = topics.bounds(Partition::Log)?;
    let answers = at.iter().enumerate().map(|(shard, at)| (Partition::Answers(shard), *at));
    let mut all = vec![(Partition::Log, from, log.clone())];
    for (partition, at) in answers {
        all.push((partition, at, topics.bounds(partition)?));
    }
    for (partition, at, bounds) in all {
        let what = match partition {
            Partition::Log => "the log".to_owned(),
            Partition::Answers(shard) => format!("the partition of shard {shard}'s answers"),
        };
        if at < bounds.start {
            return Err(LogError::Failed(format!(
                "{what} begins at offset {}, and this folder needs it from {at} on: what lies between was deleted. Restore a newer snapshot of this shard, have Kafka keep records for longer (retention.ms), or begin with new topics and empty folders",
                bounds.start
            )));
        }
        if at > bounds.end {
            return Err(LogError::Failed(format!(
                "{what} ends at offset {}, and this folder has a snapshot from {at}: it is of another log, or Kafka has lost records",
                bounds.end
            )));
        }
    }
    Ok(log.end)
}

/// The number behind the last record that the shard has answered, by what its partition has.
fn answered(
    topics: &mut dyn Topics,
    sharding: &Sharding,
    shard: usize,
) -> std::result::Result<u64, LogError> {
    let partition = Partition::Answers(shard);
    let bounds = topics.bounds(partition)?;
    if bounds.is_empty() {
        return Ok(0);
    }
    for fetched in topics.read(&[(partition, bounds.end - 1)], Duration::from_secs(1))? {
        if let Some(read) = fetched.records.last()
            && let Ok(answers) = answers::decode(&read.record.value, sharding.digest())
        {
            return Ok(answers.to());
        }
    }
    // What was answered is answered again, and the first answers count.
    Ok(0)
}
