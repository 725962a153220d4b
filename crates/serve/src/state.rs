//! All namespaces, and what can be asked of them. Nothing here knows of clocks, files or sockets: times are handed in, and what has changed is handed
//! out, as bytes for a log.

mod place;

use crate::asked::compared;
pub use crate::asked::{Answer, Compared, Operation};
use crate::change::{
    Change, change, put_added, put_begun, put_cancelled, put_committed, put_deleted, put_read_only,
};
use crate::chunk::LATEST;
use crate::document::{Document, Refused, Verdict};
use crate::namespace::{Arrival, Namespace};
use crate::runs::Mode;
use crate::settings::{Retention, Settings};
use std::collections::BTreeMap;

/// All namespaces.
#[derive(Debug)]
pub struct State {
    settings: Settings,
    namespaces: BTreeMap<Box<[u8]>, Namespace>,
    /// The latest time that was handed in.
    now: u64,
    /// Bytes of all namespaces, as they were after the last change.
    bytes: u64,
    /// The bytes of a change.
    change: Vec<u8>,
}

impl State {
    /// No namespaces.
    pub fn new(settings: Settings) -> Self {
        Self { settings, namespaces: BTreeMap::new(), now: 0, bytes: 0, change: Vec::new() }
    }

    /// What it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// From now on documents are kept so long.
    pub(crate) fn keep(&mut self, retention: Retention) {
        self.settings.retention = retention;
        self.namespaces.values_mut().for_each(|namespace| namespace.keep(retention));
    }

    /// The latest time that was handed in, milliseconds since 1970.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The namespaces and their names, in the order of these.
    pub fn namespaces(&self) -> impl Iterator<Item = (&[u8], &Namespace)> {
        self.namespaces.iter().map(|(name, namespace)| (&**name, namespace))
    }

    /// The namespace of a name.
    pub(crate) fn get(&self, name: &[u8]) -> Option<&Namespace> {
        self.namespaces.get(name)
    }

    /// The same, to be asked.
    pub(crate) fn get_mut(&mut self, name: &[u8]) -> Option<&mut Namespace> {
        self.namespaces.get_mut(name)
    }

    pub(crate) fn namespaces_mut(&mut self) -> impl Iterator<Item = (&[u8], &mut Namespace)> {
        self.namespaces.iter_mut().map(|(name, namespace)| (&**name, namespace))
    }

    /// Bytes that all of it takes, about.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Forgets what is too old. Nothing of it has to be in a log: what is asked later would forget it first.
    pub fn expire(&mut self, now: u64) {
        let now = self.at(now);
        self.namespaces.values_mut().for_each(|namespace| namespace.expire(now));
        self.count_bytes();
    }

    /// Time goes on, or stands still where the clock went back.
    fn at(&mut self, now: u64) -> u64 {
        self.now = self.now.max(now.min(LATEST));
        self.now
    }

    /// Does something with a namespace that is there, and keeps count of its bytes.
    fn with<T>(&mut self, name: &[u8], work: impl FnOnce(&mut Namespace) -> T) -> Option<T> {
        let namespace = self.namespaces.get_mut(name)?;
        let before = namespace.bytes();
        let out = work(namespace);
        self.bytes = self.bytes + namespace.bytes() - before;
        Some(out)
    }

    /// Searches ahead for what is asked next, in this order, of one namespace after the other. Answers are the same without.
    pub(crate) fn prefetch<'a>(&mut self, asked: impl Iterator<Item = (&'a [u8], &'a Operation)> + Clone) {
        let mut names: Vec<&[u8]> = asked.clone().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let Some(namespace) = self.namespaces.get_mut(name) else { continue };
            let of_it = asked.clone().filter(|(of, _)| *of == name);
            namespace.prefetch(of_it.flat_map(|(_, operation)| operation.searched()));
        }
    }

    /// How many documents are looked at for what is asked, about.
    pub(crate) fn work(&self, name: &[u8], operation: &Operation) -> u64 {
        match operation {
            Operation::CheckAddAll(all) => all.len() as u64,
            Operation::InRun(_, operation) => self.work(name, operation),
            Operation::Commit(run) | Operation::Cancel(run) => {
                self.get(name).map_or(0, |namespace| namespace.runs.held(run))
            }
            _ => 1,
        }
    }

    /// What was searched for has been asked for.
    pub(crate) fn end_prefetch(&mut self) {
        self.namespaces.values_mut().for_each(Namespace::end_prefetch);
    }

    /// Does what is asked of a namespace, and takes the documents out of it. For each change `changed` is called with bytes from which
    /// [`State::replay`] makes it again.
    pub fn ask(
        &mut self,
        now: u64,
        namespace: &[u8],
        operation: &mut Operation,
        changed: &mut dyn FnMut(&[u8]),
    ) -> Answer {
        self.at(now);
        self.of(0, namespace, operation, changed)
    }

    /// The same, as a run sees it; 0 for none.
    fn of(
        &mut self,
        run: u32,
        name: &[u8],
        operation: &mut Operation,
        changed: &mut dyn FnMut(&[u8]),
    ) -> Answer {
        let now = self.now;
        match operation {
            Operation::CheckAdd(id, document) => {
                answer(self.add((run, name), id, std::mem::take(document), true, changed))
            }
            Operation::Add(id, document) => {
                answer(self.add((run, name), id, std::mem::take(document), false, changed))
            }
            Operation::CheckAddAll(all) => {
                let mut add = |(id, document): &mut (Box<[u8]>, Document)| {
                    self.add((run, name), id, std::mem::take(document), true, changed)
                };
                Answer::Verdicts(all.iter_mut().map(&mut add).collect())
            }
            Operation::Check(document) => {
                let verdict = self.with(name, |namespace| namespace.check(now, document, run));
                Answer::Verdict(verdict.unwrap_or(Verdict::New))
            }
            Operation::Delete(_) | Operation::Begin(..) | Operation::Commit(_) | Operation::Cancel(_)
                if self.get(name).is_some_and(|held| held.read_only) =>
            {
                Answer::Refused(Refused::ReadOnly)
            }
            Operation::ReadOnly(is) => match self.set_read_only(name, *is, changed) {
                Err(refused) => Answer::Refused(refused),
                Ok(()) => Answer::ReadOnly(*is),
            },
            Operation::Delete(id)
                if self.with(name, |held| held.is_of_others(now, id, run)) == Some(true) =>
            {
                Answer::Refused(Refused::NotOfRun)
            }
            Operation::Delete(id) => {
                let orphans = self.with(name, |held| held.delete(now, id, run)).flatten();
                if orphans.is_some() {
                    self.log(changed, |change| put_deleted((now, name, id), run, change));
                }
                Answer::Orphans(orphans)
            }
            Operation::Why(one, other) => {
                let comparison = self.settings.comparison;
                let compared = self.with(name, |namespace| {
                    namespace.expire(now);
                    compared(namespace, &comparison, [one, other], run)
                });
                Answer::Why(compared.flatten().map(Box::new))
            }
            Operation::Count => {
                let held = self.with(name, |namespace| {
                    namespace.expire(now);
                    namespace.held()
                });
                let (all, kept) = held.unwrap_or_default();
                Answer::Count(all, kept)
            }
            Operation::InRun(run, operation) => {
                let number = match self.namespaces.get(name) {
                    Some(namespace) => namespace.runs.number(run),
                    None => Err(Refused::NoRun(run.clone())),
                };
                number.map_or_else(Answer::Refused, |number| self.of(number, name, operation, changed))
            }
            Operation::Begin(run, mode) => self.begin(name, run, *mode, changed),
            Operation::Commit(run) => {
                let mut change = std::mem::take(&mut self.change);
                let committed = self.with(name, |namespace| {
                    namespace.commit(now, run, |decisions| {
                        change.clear();
                        put_committed((now, name, run), decisions, &mut change);
                        changed(&change);
                    })
                });
                self.change = change;
                let committed = committed.unwrap_or_else(|| Err(Refused::NoRun(run.clone())));
                committed.map_or_else(Answer::Refused, Answer::Committed)
            }
            Operation::Cancel(run) => match self.with(name, |namespace| namespace.cancel(now, run)) {
                Some(Ok((orphans, has_changed))) => {
                    if has_changed {
                        self.log(changed, |change| put_cancelled((now, name, run), change));
                    }
                    Answer::Orphans(Some(orphans))
                }
                Some(Err(refused)) => Answer::Refused(refused),
                None => Answer::Refused(Refused::NoRun(run.clone())),
            },
            Operation::Runs => {
                let runs = self.with(name, |namespace| {
                    namespace.expire(now);
                    namespace.runs.figures()
                });
                Answer::Runs(runs.unwrap_or_default())
            }
        }
    }

    /// Hands out a change.
    fn log(&mut self, changed: &mut dyn FnMut(&[u8]), put: impl FnOnce(&mut Vec<u8>)) {
        self.change.clear();
        put(&mut self.change);
        changed(&self.change);
    }

    fn begin(&mut self, name: &[u8], run: &[u8], mode: Mode, changed: &mut dyn FnMut(&[u8])) -> Answer {
        let (now, memory) = (self.now, self.settings.memory);
        if !self.namespaces.contains_key(name)
            && let Err(refused) = self.make(name)
        {
            return Answer::Refused(refused);
        }
        if self.bytes >= memory && self.namespaces.get(name).is_some_and(|held| held.runs.find(run).is_none())
        {
            return Answer::Refused(Refused::Memory(memory));
        }
        match self.with(name, |namespace| namespace.runs.begin(run, mode)) {
            Some(Ok(is_new)) => {
                if is_new {
                    self.log(changed, |change| put_begun((now, name, run), mode, change));
                }
                Answer::Begun
            }
            Some(Err(refused)) => Answer::Refused(refused),
            None => Answer::Refused(Refused::NoRun(run.into())),
        }
    }

    fn add(
        &mut self,
        (run, name): (u32, &[u8]),
        id: &[u8],
        document: Document,
        search: bool,
        changed: &mut dyn FnMut(&[u8]),
    ) -> Result<Verdict, Refused> {
        let now = self.now;
        if !self.namespaces.contains_key(name) {
            self.make(name)?;
        }
        let memory = self.settings.memory;
        // A retry changes nothing, and takes no memory.
        let refused = match self.get(name).is_some_and(|held| held.read_only) {
            true => Some(Refused::ReadOnly),
            false => (self.bytes >= memory).then_some(Refused::Memory(memory)),
        };
        let arrival = Arrival { now, id, run, search, refused };
        let mut change = std::mem::take(&mut self.change);
        let verdict = self.with(name, |namespace| {
            namespace.add(arrival, document, |document, taken| {
                change.clear();
                let Document { key, digest, content } = document;
                put_added((now, name, id), (*key, *digest, content.as_deref()), taken, &mut change);
                changed(&change);
            })
        });
        self.change = change;
        verdict.unwrap_or(Err(Refused::Namespaces(self.settings.namespaces)))
    }

    fn set_read_only(
        &mut self,
        name: &[u8],
        is: bool,
        changed: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Refused> {
        let now = self.now;
        if !self.namespaces.contains_key(name) {
            self.make(name)?;
        }
        if self.with(name, |held| std::mem::replace(&mut held.read_only, is)) == Some(!is) {
            self.log(changed, |change| put_read_only(now, name, is, change));
        }
        Ok(())
    }

    /// Makes a namespace.
    fn make(&mut self, name: &[u8]) -> Result<(), Refused> {
        let Settings { memory, namespaces, .. } = self.settings;
        if self.bytes >= memory {
            return Err(Refused::Memory(memory));
        }
        if self.namespaces.len() >= namespaces {
            return Err(Refused::Namespaces(namespaces));
        }
        self.namespaces.insert(name.into(), Namespace::new(&self.settings));
        Ok(())
    }

    /// The namespace of a name, which is made where it is not there, whatever the bound is.
    pub(crate) fn restored(&mut self, name: &[u8], now: u64) -> &mut Namespace {
        self.at(now);
        let settings = &self.settings;
        self.namespaces.entry(name.into()).or_insert_with(|| Namespace::to_be_filled(settings))
    }

    /// Makes a change again. What is made again can be asked after [`State::fill`]: the changes say what was decided, so nothing is searched for.
    ///
    /// # Errors
    /// The bytes are no change, or not one that follows.
    pub fn replay(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        let (now, name, change) = change(bytes).ok_or("it is no change that is known here")?;
        let namespace = self.restored(name, now);
        match change {
            Change::Added { id, document, taken } => namespace.replay(now, taken, id, document),
            Change::ReadOnly(is) => {
                namespace.read_only = is;
                Ok(())
            }
            Change::Deleted { id, run } => {
                namespace.delete(now, id, run).map(drop).ok_or("a document is deleted that is not there")
            }
            Change::Begun { run, mode } => match namespace.runs.begin(run, mode) {
                Ok(true) => Ok(()),
                _ => Err("a run begins that has begun"),
            },
            Change::Committed { run, decisions } => namespace.commit_again(now, run, &decisions),
            Change::Cancelled { run } => match namespace.cancel(now, run) {
                Ok((_, true)) => Ok(()),
                _ => Err("a run is cancelled that is not open"),
            },
        }
    }

    /// All is back that a snapshot and a log have: indexes are built, once, of what is still there.
    ///
    /// # Errors
    /// An index cannot be built.
    pub fn fill(&mut self) -> twinsplit_io::error::Result<()> {
        self.namespaces.values_mut().try_for_each(Namespace::fill)?;
        self.count_bytes();
        Ok(())
    }

    fn count_bytes(&mut self) {
        self.bytes = self.namespaces.values().map(Namespace::bytes).sum();
    }
}

fn answer(verdict: Result<Verdict, Refused>) -> Answer {
    verdict.map_or_else(Answer::Refused, Answer::Verdict)
}
