//! What nodes and fronts do alike: they read the log and the answers of all shards, as far as there is room for them.

use super::Sharding;
use super::answers::{self, Wrong};
use super::merge::{Gap, Merge};
use super::request;
use super::topics::{Fetched, LogError, Partition, Topics};
use std::time::Duration;

/// Why what was read cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// That of the topics.
    Log(LogError),
    /// Answers of a shard are missing.
    Gap(usize, Gap),
}

impl From<LogError> for Unread {
    fn from(error: LogError) -> Self {
        Unread::Log(error)
    }
}

/// How much was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    /// Bytes of the log.
    pub bytes: u64,
    /// Behind the last record of the log, where it was asked for that.
    pub end: Option<u64>,
    /// Whether there was anything.
    pub is_some: bool,
}

/// Reads what follows, and puts it into the merge.
///
/// # Errors
/// Those of the topics; answers are missing.
pub(crate) fn read(
    topics: &mut dyn Topics,
    merge: &mut Merge,
    sharding: &Sharding,
    wait: Duration,
) -> Result<Amount, Unread> {
    let log = merge.takes_records().then(|| (Partition::Log, merge.records_to()));
    let answers = merge.answers_at().map(|(shard, at)| (Partition::Answers(shard), at));
    let from: Vec<(Partition, u64)> = log.into_iter().chain(answers).collect();
    let mut amount = Amount::default();
    for fetched in topics.read(&from, wait)? {
        amount.is_some |= !fetched.records.is_empty();
        match fetched.partition {
            Partition::Log => put_records(merge, sharding, fetched, &mut amount),
            Partition::Answers(shard) => put_answers(merge, sharding, shard, fetched)?,
        }
    }
    Ok(amount)
}

fn put_records(merge: &mut Merge, sharding: &Sharding, fetched: Fetched, amount: &mut Amount) {
    let made_with = sharding.digest();
    for read in fetched.records {
        amount.bytes +=
            (read.record.value.len() + read.record.key.as_ref().map_or(0, |key| key.len())) as u64;
        merge.push_record(read.offset, read.time, request::decode(&read.record, made_with));
    }
    merge.reach(fetched.next);
    amount.end = Some(fetched.end);
}

fn put_answers(merge: &mut Merge, sharding: &Sharding, shard: usize, fetched: Fetched) -> Result<(), Unread> {
    let made_with = sharding.digest();
    for read in fetched.records {
        // What cannot be merged is passed over: a node that was started with wrong options, once, must not be the end of all others.
        let answers = match answers::decode(&read.record.value, made_with) {
            Ok(answers) if answers.shard == shard => answers,
            Ok(_) | Err(Wrong::Unknown) => continue,
            Err(Wrong::Foreign) => {
                merge.is_foreign(shard);
                continue;
            }
        };
        merge.push_answers(read.offset, answers).map_err(|gap| Unread::Gap(shard, gap))?;
    }
    merge.answers_read(shard, fetched.next);
    Ok(())
}
