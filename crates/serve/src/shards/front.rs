//! A front: it puts requests into the log, and merges what the shards answer. It holds nothing that another one has not: after a loss of its memory it
//! begins with the epoch of the next request.

use super::merge::Merge;
use super::reading::{self, Unread};
use super::request::{self, Request};
use super::topics::{LogError, Partition, Record, TOGETHER, Topics};
use super::{FrontOptions, OTHER_OPTIONS, Sharding};
use crate::asked::Answer;
use crate::document::Refused;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The longest time that is waited at once.
const STEP: Duration = Duration::from_millis(100);

/// Epochs of the log that are read to go on, rather than to begin anew.
const BEHIND: u64 = 4;

/// Why no answer comes now.
enum Waits {
    /// It may come.
    Log(String),
    /// It never will.
    Failed(String),
}

/// A front.
pub struct Front {
    sharding: Sharding,
    options: FrontOptions,
    topics: Box<dyn Topics>,
    merge: Option<Merge>,
    /// How many records before its end a partition of answers is read from to find those of an epoch.
    back: u64,
    /// The number behind the last request.
    last: u64,
}

impl Front {
    /// One that has read nothing yet.
    pub fn new(sharding: Sharding, options: FrontOptions, topics: Box<dyn Topics>) -> Self {
        let back = 2 * sharding.epoch;
        Self { sharding, options, topics, merge: None, back, last: 0 }
    }

    /// The number behind its last request, and that of the next verdict.
    pub(crate) fn place(&self) -> (u64, u64) {
        (self.last, self.merge.as_ref().map_or(0, Merge::next))
    }

    /// Reads what there is, so that the next request waits for nothing old.
    pub(crate) fn catch_up(&mut self) {
        if self.merge.is_some() {
            // What is wrong is told to who asks next.
            let _ = self.read(Duration::ZERO, &mut |_, _| {});
        }
    }

    /// Asks for all of these, in this order; each with its number in the log, where that is known.
    pub(crate) fn ask(&mut self, requests: &[Request]) -> Vec<(Option<u64>, Answer)> {
        let until = Instant::now() + self.options.patience;
        let (mut answers, mut wanted) = (Vec::new(), BTreeMap::new());
        let made_with = self.sharding.digest();
        let records: Vec<Record> =
            requests.iter().map(|request| request::encode(request, made_with)).collect();
        for some in together(&records) {
            match self.topics.append(Partition::Log, some) {
                Ok(first) => {
                    self.last = first + some.len() as u64;
                    for number in first..self.last {
                        wanted.insert(number, answers.len());
                        answers.push((Some(number), unanswered("the service has ended")));
                    }
                }
                Err(error) => {
                    let answer = match error {
                        LogError::Refused(problem) => wrong(problem),
                        other => unanswered(&format!(
                            "{other}; whether the request is in the log is not known: send it again, it has one verdict"
                        )),
                    };
                    answers.extend(some.iter().map(|_| (None, answer.clone())));
                }
            }
        }
        let waits = self.wait(&mut wanted, &mut answers, until);
        if !wanted.is_empty() {
            let answer = self.late(waits);
            for place in wanted.into_values() {
                if let Some(slot) = answers.get_mut(place) {
                    slot.1 = answer.clone();
                }
            }
        }
        answers
    }

    /// Waits for the answers that are wanted; why some are missing then.
    fn wait(
        &mut self,
        wanted: &mut BTreeMap<u64, usize>,
        answers: &mut [(Option<u64>, Answer)],
        until: Instant,
    ) -> Option<Waits> {
        let mut problem = None;
        while let Some((first, _)) = wanted.first_key_value() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let read = self.begin(*first).and_then(|()| {
                self.read(left.min(STEP), &mut |number, answer| {
                    let place = wanted.remove(&number);
                    if let Some(slot) = place.and_then(|place| answers.get_mut(place)) {
                        slot.1 = answer;
                    }
                })
            });
            match read {
                Ok(()) => problem = None,
                Err(Waits::Failed(why)) => return Some(Waits::Failed(why)),
                Err(waits) => {
                    problem = Some(waits);
                    std::thread::sleep(left.min(self.options.again));
                }
            }
        }
        problem
    }

    /// Begins with the epoch of a number, where it is not on the way to it.
    fn begin(&mut self, number: u64) -> Result<(), Waits> {
        let far = BEHIND * self.sharding.epoch;
        if self.merge.as_ref().is_some_and(|merge| (merge.next()..=merge.next() + far).contains(&number)) {
            return Ok(());
        }
        let start = self.sharding.epoch_of(number);
        let log = self.topics.bounds(Partition::Log).map_err(waits)?;
        if log.start > start {
            return Err(Waits::Failed(format!(
                "the log begins at offset {}, behind the beginning of the epoch of {number}: have Kafka keep records for longer (retention.ms)",
                log.start
            )));
        }
        let mut at = Vec::new();
        for shard in 0..self.sharding.shards {
            let bounds = self.topics.bounds(Partition::Answers(shard)).map_err(waits)?;
            at.push(bounds.end.saturating_sub(self.back).max(bounds.start));
        }
        self.merge = Some(Merge::new(self.sharding.clone(), start, None, &at));
        Ok(())
    }

    /// Reads what there is, and hands out what is decided.
    fn read(&mut self, wait: Duration, decided: &mut dyn FnMut(u64, Answer)) -> Result<(), Waits> {
        let Some(merge) = &mut self.merge else { return Ok(()) };
        match reading::read(&mut *self.topics, merge, &self.sharding, wait) {
            Ok(_) => {}
            Err(Unread::Log(error)) => {
                // What was read of the others may have been put in already.
                let failed = matches!(error, LogError::Failed(_));
                if failed {
                    self.merge = None;
                }
                return Err(waits(error));
            }
            Err(Unread::Gap(shard, gap)) => {
                self.merge = None;
                let from = self.topics.bounds(Partition::Answers(shard)).map_err(waits)?;
                if self.back > from.end - from.start {
                    self.back = 2 * self.sharding.epoch;
                    return Err(Waits::Failed(format!(
                        "shard {shard} has no answer to record {} of the log in its partition: it was deleted, or Kafka has lost it",
                        gap.from
                    )));
                }
                self.back *= 4;
                return Ok(());
            }
        }
        self.back = 2 * self.sharding.epoch;
        loop {
            while let Some((number, answer)) = merge.decide() {
                decided(number, answer);
            }
            if !merge.is_over() {
                return Ok(());
            }
            merge.begin_next();
        }
    }

    /// What is told of requests that have no answer in time.
    fn late(&self, waits: Option<Waits>) -> Answer {
        let again = "send it again, it has one verdict";
        if let Some(Waits::Failed(problem) | Waits::Log(problem)) = waits {
            return unanswered(&format!("{problem}; the request is in the log: {again}"));
        }
        let foreign = self.merge.as_ref().map(Merge::foreign).unwrap_or_default();
        if let Some(shard) = foreign.first() {
            return unanswered(&format!(
                "the node of shard {shard} {OTHER_OPTIONS}; the request is in the log"
            ));
        }
        let missing = self.merge.as_ref().map(|merge| (merge.next(), merge.missing())).unwrap_or_default();
        let (number, shards) = (missing.0, missing.1.iter().map(usize::to_string).collect::<Vec<_>>());
        let who = match shards.len() {
            0 => "the log could not be read to its end".to_owned(),
            1 => format!("shard {} of {} has not answered record {number}", shards[0], self.sharding.shards),
            _ => format!(
                "shards {} of {} have not answered record {number}",
                shards.join(", "),
                self.sharding.shards
            ),
        };
        unanswered(&format!(
            "{who} of the log within {} ms; the request is in the log: {again}",
            self.options.patience.as_millis()
        ))
    }
}

fn waits(error: LogError) -> Waits {
    match error {
        LogError::Unreachable(problem) => Waits::Log(problem),
        LogError::Refused(problem) | LogError::Failed(problem) => Waits::Failed(problem),
    }
}

fn wrong(problem: String) -> Answer {
    Answer::Refused(Refused::Wrong(format!("ERR {problem}")))
}

fn unanswered(problem: &str) -> Answer {
    Answer::Refused(Refused::Unanswered(format!("UNANSWERED {problem}")))
}

/// Records in parts that are appended together.
fn together(mut records: &[Record]) -> Vec<&[Record]> {
    let mut parts = Vec::new();
    while !records.is_empty() {
        let mut bytes = 0;
        let more = records.iter().take_while(|record| {
            let is_first = bytes == 0;
            bytes += 64 + record.value.len() + record.key.as_ref().map_or(0, |key| key.len());
            is_first || bytes <= TOGETHER
        });
        let (part, rest) = records.split_at(more.count());
        parts.push(part);
        records = rest;
    }
    parts
}
