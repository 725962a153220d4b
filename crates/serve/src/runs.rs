//! Runs of crawlers: what they bring is committed, or taken back.
//!
//! | mode | what a run brings counts for others | `COMMIT` | `CANCEL` |
//! |---|---|---|---|
//! | isolated | after it is committed | finds what is like others by then | forgets it |
//! | shared | at once | changes no verdict | forgets it, and what was dropped in its favour |

use crate::document::{Refused, Verdict};
use crate::entries::Seen;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// When what a run brings counts for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// When the run is committed.
    Isolated,
    /// At once.
    Shared,
}

impl Mode {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Isolated => "isolated",
            Mode::Shared => "shared",
        }
    }
}

/// What has become of a document of an isolated run when that was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It is a duplicate by now, of what others have committed.
    Duplicate(Verdict),
    /// What it was dropped for is dropped itself, and nothing that is kept is like it: it is forgotten.
    Orphan,
    /// Its id stands for other content by now: it is forgotten.
    Conflict,
}

/// How a run has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was committed; documents whose verdicts have changed, in the order of their numbers.
    Committed(Vec<(Box<[u8]>, Settled)>),
    /// It was cancelled; documents of others that were dropped in favour of what has gone.
    Cancelled(Vec<Box<[u8]>>),
}

/// A run that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenRun {
    pub name: Box<[u8]>,
    pub mode: Mode,
    /// The numbers of its documents, ascending; some of them may be gone.
    pub numbers: VecDeque<u64>,
    /// How many are there.
    pub held: u64,
}

impl Ended {
    /// In what way.
    pub(crate) fn how(&self) -> &'static str {
        match self {
            Ended::Committed(_) => "committed",
            Ended::Cancelled(_) => "cancelled",
        }
    }
}

/// What is told of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFigures {
    /// Its name.
    pub name: Box<[u8]>,
    /// When what it brings counts.
    pub mode: Mode,
    /// `open`, `committed` or `cancelled`.
    pub state: &'static str,
    /// Its documents, where it is open.
    pub documents: u64,
}

/// The runs of a namespace.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    /// Those that are open, by number.
    open: BTreeMap<u32, OpenRun>,
    /// The numbers of these by name.
    names: BTreeMap<Box<[u8]>, u32>,
    /// The last that have ended, in that order.
    ended: VecDeque<(Box<[u8]>, Mode, Ended)>,
    /// The number of the last one that began.
    last: u32,
    isolated: usize,
    bytes: u64,
}

/// Runs that are open at one time, and those that have ended and are remembered, at most.
pub(crate) const MOST_RUNS: usize = 1000;

/// What a run is.
pub(crate) enum Found<'r> {
    Open(u32, &'r OpenRun),
    Ended(&'r Ended),
}

impl Runs {
    /// The run of a name.
    pub fn find(&self, name: &[u8]) -> Option<Found<'_>> {
        let open = self.names.get(name).and_then(|number| Some((*number, self.open.get(number)?)));
        let ended = || self.ended.iter().find(|(of, ..)| **of == *name);
        open.map(|(number, run)| Found::Open(number, run))
            .or_else(|| ended().map(|(.., ended)| Found::Ended(ended)))
    }

    /// Whether what a run brings is seen by another run, or by what comes with none (0).
    pub fn sees(&self, viewer: u32, run: u32) -> bool {
        run == viewer || !self.is_isolated(run)
    }

    /// How those of a run are looked at by another run, or by what comes with none (0): its own before others.
    pub fn seen_by(&self, viewer: u32) -> impl Fn(u32) -> Seen {
        move |run| match self.sees(viewer, run) {
            false => Seen::Not,
            true if run == viewer || !self.is_isolated(viewer) => Seen::First,
            true => Seen::Last,
        }
    }

    /// Which documents may not have the id of one of this run: those of the same run where that is isolated, else all that count for all. One that counts for
    /// all and one of an isolated run may have the same, until that is committed.
    pub fn twins_of(&self, run: u32) -> impl Fn(u32) -> Seen {
        let is_isolated = self.is_isolated(run);
        move |other| match other == run || !is_isolated && !self.is_isolated(other) {
            true => Seen::First,
            false => Seen::Not,
        }
    }

    /// Whether a run is open.
    pub fn is_open(&self, run: u32) -> bool {
        self.open.contains_key(&run)
    }

    /// Whether a run is open and isolated.
    pub fn is_isolated(&self, run: u32) -> bool {
        self.isolated > 0 && self.open.get(&run).is_some_and(|run| run.mode == Mode::Isolated)
    }

    /// The numbers that an open run has taken in.
    pub fn numbers(&self, run: u32) -> impl Iterator<Item = u64> {
        self.open.get(&run).into_iter().flat_map(|run| run.numbers.iter().copied())
    }

    /// The run, if it is open and another than that which looks.
    pub fn pending(&self, viewer: u32, run: u32) -> Option<&[u8]> {
        self.open.get(&run).filter(|_| run != viewer).map(|run| &*run.name)
    }

    /// How many documents there are of a run that is open.
    pub fn held(&self, name: &[u8]) -> u64 {
        match self.find(name) {
            Some(Found::Open(_, run)) => run.held,
            _ => 0,
        }
    }

    /// The number of a run that is open.
    ///
    /// # Errors
    /// There is none of its name, or it has ended.
    pub fn number(&self, name: &[u8]) -> Result<u32, Refused> {
        match self.find(name) {
            Some(Found::Open(number, _)) => Ok(number),
            Some(Found::Ended(ended)) => Err(Refused::RunEnded(name.into(), ended.how())),
            None => Err(Refused::NoRun(name.into())),
        }
    }

    /// Begins a run; whether it has not begun before.
    ///
    /// # Errors
    /// It has begun in the other mode, or has ended; too many are open.
    pub fn begin(&mut self, name: &[u8], mode: Mode) -> Result<bool, Refused> {
        match self.find(name) {
            Some(Found::Open(_, run)) if run.mode == mode => return Ok(false),
            Some(Found::Open(_, run)) => return Err(Refused::RunMode(name.into(), run.mode.name())),
            Some(Found::Ended(ended)) => return Err(Refused::RunEnded(name.into(), ended.how())),
            None if self.open.len() >= MOST_RUNS => return Err(Refused::Runs(MOST_RUNS)),
            None => {}
        }
        self.put(self.last + 1, name, mode);
        Ok(true)
    }

    /// Puts an open run in.
    pub fn put(&mut self, number: u32, name: &[u8], mode: Mode) {
        self.isolated += usize::from(mode == Mode::Isolated);
        self.bytes += name.len() as u64 + 100;
        self.last = self.last.max(number);
        let run = OpenRun { name: name.into(), mode, numbers: VecDeque::new(), held: 0 };
        self.open.insert(number, run);
        self.names.insert(name.into(), number);
    }

    /// Takes note of a document of a run; before the number `base` there is none.
    pub fn put_in(&mut self, run: u32, number: u64, base: u64) {
        let Some(run) = self.open.get_mut(&run) else { return };
        while run.numbers.front().is_some_and(|first| *first < base) {
            run.numbers.pop_front();
            self.bytes -= 8;
        }
        run.numbers.push_back(number);
        self.bytes += 8;
        run.held += 1;
    }

    /// A document of a run is gone.
    pub fn take_out(&mut self, run: u32) {
        if let Some(run) = self.open.get_mut(&run) {
            run.held -= 1;
        }
    }

    /// Ends a run that is open.
    pub fn end(&mut self, number: u32, how: Ended) {
        let Some(run) = self.open.remove(&number) else { return };
        self.isolated -= usize::from(run.mode == Mode::Isolated);
        self.names.remove(&run.name);
        self.bytes -= (run.name.len() + 100 + 8 * run.numbers.len()) as u64;
        self.remember(run.name, run.mode, how);
    }

    /// Remembers a run that has ended, and forgets the first one where there are too many.
    pub fn remember(&mut self, name: Box<[u8]>, mode: Mode, how: Ended) {
        self.bytes += bytes_of(&name, &how);
        self.ended.push_back((name, mode, how));
        if self.ended.len() > MOST_RUNS
            && let Some((name, _, how)) = self.ended.pop_front()
        {
            self.bytes -= bytes_of(&name, &how);
        }
    }

    /// The number of the last one that began.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// Numbers go on from here.
    pub fn go_on(&mut self, last: u32) {
        self.last = self.last.max(last);
    }

    /// Those that are open, by number.
    pub fn all_open(&self) -> impl ExactSizeIterator<Item = (u32, &[u8], Mode)> {
        self.open.iter().map(|(number, run)| (*number, &*run.name, run.mode))
    }

    /// Those that have ended, in that order.
    pub fn all_ended(&self) -> impl ExactSizeIterator<Item = (&[u8], Mode, &Ended)> {
        self.ended.iter().map(|(name, mode, how)| (&**name, *mode, how))
    }

    /// What is told of all: those that are open first, in the order in which they began.
    pub fn figures(&self) -> Vec<RunFigures> {
        let open = self.open.values().map(|run| RunFigures {
            name: run.name.clone(),
            mode: run.mode,
            state: "open",
            documents: run.held,
        });
        let ended = self.ended.iter().map(|(name, mode, ended)| {
            let (name, mode, state) = (name.clone(), *mode, ended.how());
            RunFigures { name, mode, state, documents: 0 }
        });
        open.chain(ended).collect()
    }

    /// Bytes that all take, about.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Bytes of a run that is remembered, about.
fn bytes_of(name: &[u8], how: &Ended) -> u64 {
    let listed = match how {
        Ended::Committed(all) => all.iter().map(|(id, _)| id.len() + 128).sum::<usize>(),
        Ended::Cancelled(all) => all.iter().map(|id| id.len() + 32).sum(),
    };
    (100 + name.len() + listed) as u64
}
