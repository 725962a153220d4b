//! The log and the answers of all shards become verdicts, one after the other.
//!
//! **Why this is what one process says.** Such a process compares a document `n` with the kept ones before it that have not expired, and names the first.
//! Each of these came before `n`'s epoch, and is held by the shard of its number, which answers with the first of its own; or it is in the
//! window. Answers and window are looked at for the time of `n`, which the log has. So by induction on `n` the first of all is found, and what is
//! taken in is the same. Nothing of this depends on when something was read, nor by whom.

use super::Sharding;
use super::answers::{Answer as ShardAnswer, Answers, Found, Full, Row};
use super::request::{Kind, Logged, Request};
use super::window::{Taken, Window};
use crate::asked::Answer;
use crate::document::{Refused, Verdict};
use std::collections::VecDeque;
use twinsplit_core::similarity::text::TextComparer;

/// Epochs whose records and answers may wait.
const WAITING: u64 = 4;

/// Answers that do not follow those before: some are missing in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The first number that has no answer.
    pub from: u64,
    /// The first one behind it that has one.
    pub to: u64,
}

/// The answers of a shard that wait.
#[derive(Debug, Default)]
struct Waiting {
    /// Those from the next number on.
    rows: VecDeque<Row>,
    /// Records of its partition that wait: behind which number each goes, and its offset.
    records: VecDeque<(u64, u64)>,
    /// The offset at which its partition is read on.
    at: u64,
    /// Whether the last that came is of a node that was made with other options.
    is_foreign: bool,
}

/// What decides.
#[derive(Debug)]
pub(crate) struct Merge {
    sharding: Sharding,
    /// The first number of the epoch, and the number that is decided next.
    start: u64,
    next: u64,
    /// The latest time of all records before the next one; a front learns it from the shards.
    time: Option<u64>,
    /// Records from the next one on, with their times.
    records: VecDeque<(u64, Logged)>,
    shards: Vec<Waiting>,
    window: Window,
}

impl Merge {
    /// One that begins with an epoch; `at` says where the partitions of answers are read on.
    pub fn new(sharding: Sharding, start: u64, time: Option<u64>, at: &[u64]) -> Self {
        let comparer = sharding.settings.comparison.check().map(TextComparer::new);
        let waiting = |at: &u64| Waiting { at: *at, ..Waiting::default() };
        let shards = at.iter().map(waiting).collect();
        Self {
            sharding,
            start,
            next: start,
            time,
            records: VecDeque::new(),
            shards,
            window: Window::new(comparer),
        }
    }

    /// The first number of the epoch.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The number that is decided next.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The latest time of the records before the next one.
    pub fn time(&self) -> u64 {
        self.time.unwrap_or(0)
    }

    /// The number behind the records that have come.
    pub fn records_to(&self) -> u64 {
        self.next + self.records.len() as u64
    }

    fn most(&self) -> u64 {
        WAITING * self.sharding.epoch
    }

    /// The number behind those that a shard has answered, as far as it has been read.
    pub fn answered_to(&self, shard: usize) -> u64 {
        self.next + self.shards.get(shard).map_or(0, |waiting| waiting.rows.len()) as u64
    }

    /// Whether more records may come.
    pub fn takes_records(&self) -> bool {
        (self.records.len() as u64) < self.most()
    }

    /// Where the answers of each shard are read on, of those that may come.
    pub fn answers_at(&self) -> impl Iterator<Item = (usize, u64)> {
        let takes = |waiting: &Waiting| (waiting.rows.len() as u64) < self.most();
        self.shards.iter().enumerate().filter(move |(_, one)| takes(one)).map(|(shard, one)| (shard, one.at))
    }

    /// The next record comes. Numbers between that have none say nothing.
    pub fn push_record(&mut self, number: u64, time: u64, logged: Logged) {
        self.reach(number);
        if number == self.records_to() {
            self.records.push_back((time, logged));
        }
    }

    /// Up to a number there is nothing more.
    pub fn reach(&mut self, number: u64) {
        while self.records_to() < number {
            self.records.push_back((0, Logged::Nothing));
        }
    }

    /// A record's time and what it is, of those that wait.
    pub fn record(&self, number: u64) -> Option<(u64, &Logged)> {
        let place = usize::try_from(number.checked_sub(self.next)?).ok()?;
        self.records.get(place).map(|(time, logged)| (*time, logged))
    }

    /// The partition of a shard was read up to an offset.
    pub fn answers_read(&mut self, shard: usize, to: u64) {
        if let Some(waiting) = self.shards.get_mut(shard) {
            waiting.at = waiting.at.max(to);
        }
    }

    /// Answers come, which are the record of this offset in their partition.
    ///
    /// # Errors
    /// Some are missing before them.
    pub fn push_answers(&mut self, offset: u64, answers: Answers) -> Result<(), Gap> {
        let (next, to) = (self.next, answers.to());
        let Some(waiting) = self.shards.get_mut(answers.shard) else { return Ok(()) };
        waiting.is_foreign = false;
        let end = next + waiting.rows.len() as u64;
        if to <= end {
            return Ok(());
        }
        if answers.from > end {
            return Err(Gap { from: end, to: answers.from });
        }
        if self.time.is_none() && answers.from == self.start {
            self.time = Some(answers.before);
        }
        waiting.rows.extend(answers.rows.into_iter().skip((end - answers.from) as usize));
        waiting.records.push_back((to, offset));
        Ok(())
    }

    /// A node of a shard was made with other options, so what it answers is no answer.
    pub fn is_foreign(&mut self, shard: usize) {
        if let Some(waiting) = self.shards.get_mut(shard) {
            waiting.is_foreign = true;
        }
    }

    /// Shards whose last answers are those of a node that was made with other options.
    pub fn foreign(&self) -> Vec<usize> {
        let foreign = self.shards.iter().enumerate().filter(|(_, waiting)| waiting.is_foreign);
        foreign.map(|(shard, _)| shard).collect()
    }

    /// Shards that have not answered the next record yet.
    pub fn missing(&self) -> Vec<usize> {
        let missing = self.shards.iter().enumerate().filter(|(_, waiting)| waiting.rows.is_empty());
        missing.map(|(shard, _)| shard).collect()
    }

    /// Whether all numbers of the epoch are decided.
    pub fn is_over(&self) -> bool {
        self.next == self.start + self.sharding.epoch
    }

    /// Decides the next record, where all is there for that, and the epoch is not over.
    pub fn decide(&mut self) -> Option<(u64, Answer)> {
        let before = self.time?;
        if self.is_over() || self.records.is_empty() || self.shards.iter().any(|one| one.rows.is_empty()) {
            return None;
        }
        let (time, logged) = self.records.pop_front()?;
        let rows: Vec<Row> = self.shards.iter_mut().filter_map(|one| one.rows.pop_front()).collect();
        // A clock that went back stands still until it has caught up.
        let (number, now) = (self.next, before.max(time));
        self.next += 1;
        self.time = Some(now);
        let answer = match logged {
            Logged::Nothing => refused("ERR the record of the log is no request"),
            Logged::Foreign => refused(
                "ERR this front was made with other options than the shards: give all of them the same",
            ),
            Logged::Request(request) => self.answer(number, now, request, rows),
        };
        Some((number, answer))
    }

    fn answer(&mut self, number: u64, now: u64, request: Request, rows: Vec<Row>) -> Answer {
        let Self { sharding, window, .. } = self;
        let is_kept = |came: u64| sharding.is_kept(came, now);
        if request.kind == Kind::Count {
            let (mut all, mut kept) = window.count(&request.namespace, is_kept);
            for row in rows {
                if let ShardAnswer::Count(more, of_them) = row.answer {
                    (all, kept) = (all + more, kept + of_them);
                }
            }
            return Answer::Count(all, kept);
        }
        if request.kind.takes_in()
            && let Some(said) = said(&request, &rows, window, is_kept)
        {
            return said.map_or_else(Answer::Refused, Answer::Verdict);
        }
        let found = if request.kind.searches() { find(&request, &rows, window, is_kept) } else { None };
        let verdict = found.as_ref().map_or(Verdict::New, Found::verdict);
        if request.kind.takes_in() {
            let owner = sharding.shard_of(found.as_ref().map_or(number, |found| found.of));
            if let Some(full) = rows.get(owner).and_then(|row| row.full) {
                return Answer::Refused(Full::refused(full));
            }
            window.put(Taken { number, time: now, request, dropped: found });
        }
        Answer::Verdict(verdict)
    }

    /// The epoch is over: what it took in. The next one begins.
    pub fn begin_next(&mut self) -> Vec<Taken> {
        self.start = self.next;
        for waiting in &mut self.shards {
            while waiting.records.front().is_some_and(|(to, _)| *to <= self.start) {
                waiting.records.pop_front();
            }
        }
        self.window.take()
    }

    /// Where the answers from the epoch's first number on are in each partition; asked when nothing of the epoch is decided.
    pub fn positions(&self) -> Vec<u64> {
        let first = |waiting: &Waiting| waiting.records.front().map_or(waiting.at, |(_, offset)| *offset);
        self.shards.iter().map(first).collect()
    }
}

fn refused(problem: &str) -> Answer {
    Answer::Refused(Refused::Wrong(problem.to_owned()))
}

/// What was said of the request's id before, where that is there.
fn said(
    request: &Request,
    rows: &[Row],
    window: &Window,
    is_kept: impl Fn(u64) -> bool,
) -> Option<Result<Verdict, Refused>> {
    let of = |found: Option<&Found>| found.map_or(Verdict::New, Found::verdict);
    for row in rows {
        match &row.answer {
            ShardAnswer::Said(found) => return Some(Ok(of(found.as_ref()))),
            ShardAnswer::Conflict => return Some(Err(Refused::Conflict)),
            _ => {}
        }
    }
    let taken = window.said(request, is_kept)?;
    let is_same = taken.request.document.digest == request.document.digest;
    Some(if is_same { Ok(of(taken.dropped.as_ref())) } else { Err(Refused::Conflict) })
}

/// The first kept document that is like the request's: what shards hold came before all of the epoch.
fn find(
    request: &Request,
    rows: &[Row],
    window: &mut Window,
    is_kept: impl Fn(u64) -> bool,
) -> Option<Found> {
    let near = |row: &Row| match &row.answer {
        ShardAnswer::Near(found) => Some(found.clone()),
        _ => None,
    };
    rows.iter().filter_map(near).min_by_key(|found| found.of).or_else(|| window.find(request, is_kept))
}
