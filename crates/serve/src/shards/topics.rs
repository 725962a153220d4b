//! What shards and fronts ask of the log and of the topic of answers. Tests put another one in its place, which fails as a network does.

use bytes::Bytes;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

/// Bytes that are appended together, about: Kafka takes a megabyte.
pub(super) const TOGETHER: usize = 500_000;

/// A partition of the two topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Partition {
    /// The log.
    Log,
    /// The answers of a shard.
    Answers(usize),
}

/// A record that is to be appended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Its key, where it has one.
    pub key: Option<Bytes>,
    /// What it says.
    pub value: Bytes,
}

/// A record that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Its number in the partition.
    pub offset: u64,
    /// When the log took it in, milliseconds since 1970.
    pub time: u64,
    /// What it is.
    pub record: Record,
}

/// What was read of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Of which.
    pub partition: Partition,
    /// In the order of their offsets.
    pub records: Vec<Read>,
    /// Where to go on: offsets before it that are not among the records have none.
    pub next: u64,
    /// Behind the last record that may be read by now.
    pub end: u64,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogError {
    /// It is not there now, and may be again: whether something was appended is not known.
    Unreachable(String),
    /// It refuses these records, and nothing was appended.
    Refused(String),
    /// To try again does not help.
    Failed(String),
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (LogError::Unreachable(problem) | LogError::Refused(problem) | LogError::Failed(problem)) = self;
        f.write_str(problem)
    }
}

/// What went well, or not.
pub type Result<T> = std::result::Result<T, LogError>;

/// The log and the answers.
pub trait Topics: Send {
    /// Appends records together; the offset of the first one, when all that is to hold them has them.
    ///
    /// # Errors
    /// Those above, as with all that follows.
    fn append(&mut self, to: Partition, records: &[Record]) -> Result<u64>;

    /// Reads on from these offsets; waits until there is something, no longer than this.
    fn read(&mut self, from: &[(Partition, u64)], wait: Duration) -> Result<Vec<Fetched>>;

    /// The offset of the first record that is still there, and of the next one.
    fn bounds(&mut self, of: Partition) -> Result<Range<u64>>;
}
