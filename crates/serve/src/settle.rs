//! How runs end: what an isolated one brought is held against what others have committed, and what a cancelled one brought is taken back.
//!
//! **Commit.** The documents of an isolated run were compared with those that count for all and with those of the run. Now each that is kept is
//! compared with what counts for all by now, and is dropped in favour of the first that is like it; what others have committed stays as it is. What was
//! dropped in favour of such a document is compared again, and is forgotten where nothing that is kept is like it: nobody has its text any more.

use crate::document::{Key, Refused};
use crate::entries::{Entry, Grounds, Seen};
use crate::namespace::Namespace;
use crate::prefetch::TOGETHER;
use crate::runs::{Ended, Found, Settled};
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of a document of a run that is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It is dropped in favour of another, whatever was said of it before.
    Drop(Grounds),
    /// Its id stands for the same content already, of which this was said: it is forgotten.
    Merge(Grounds),
    /// What it was dropped for is dropped, and nothing is like it: it is forgotten.
    Orphan,
    /// Its id stands for other content: it is forgotten.
    Conflict,
}

type Listed = Vec<(Box<[u8]>, Settled)>;

/// Ids of documents whose verdicts are forgotten.
type Orphans = Vec<Box<[u8]>>;

impl Namespace {
    /// Commits a run. What was decided is handed out before anything changes. One that is committed already has its first answer again.
    pub(crate) fn commit(
        &mut self,
        now: u64,
        name: &[u8],
        decided: impl FnOnce(&[(u64, Decision)]),
    ) -> Result<Listed, Refused> {
        self.expire(now);
        let run = match self.runs.find(name) {
            None => return Err(Refused::NoRun(name.into())),
            Some(Found::Ended(Ended::Committed(all))) => return Ok(all.clone()),
            Some(Found::Ended(Ended::Cancelled(_))) => {
                return Err(Refused::RunEnded(name.into(), "cancelled"));
            }
            Some(Found::Open(run, _)) => run,
        };
        let decisions = self.decisions(run);
        decided(&decisions);
        self.settle(now, run, &decisions).map_err(|_| Refused::NoRun(name.into()))
    }

    /// Commits a run as it was committed before.
    ///
    /// # Errors
    /// It does not follow what is here.
    pub(crate) fn commit_again(
        &mut self,
        now: u64,
        name: &[u8],
        decisions: &[(u64, Decision)],
    ) -> Result<(), &'static str> {
        self.expire(now);
        let Some(Found::Open(run, _)) = self.runs.find(name) else {
            return Err("a run is committed that is not open");
        };
        self.settle(now, run, decisions).map(drop)
    }

    /// The documents of an open run, by number.
    fn of_run(&self, run: u32) -> Vec<u64> {
        let is_there = |number: &u64| self.entries.get(*number).is_some_and(|entry| entry.run() == run);
        self.runs.numbers(run).filter(is_there).collect()
    }

    fn decisions(&mut self, run: u32) -> Vec<(u64, Decision)> {
        if !self.runs.is_isolated(run) {
            return Vec::new();
        }
        let numbers = self.of_run(run);
        let mut decided: BTreeMap<u64, Decision> = BTreeMap::new();
        decided.extend(numbers.iter().filter_map(|number| Some((*number, self.same_id(run, *number)?))));
        let kept: Vec<u64> = numbers
            .into_iter()
            .filter(|number| !decided.contains_key(number))
            .filter(|number| {
                let fields = self.entries.get(*number).map(|entry| entry.fields());
                fields.is_some_and(|fields| fields.dropped.is_none() && !fields.forced)
            })
            .collect();
        let nothing = BTreeSet::new();
        self.search_again(&kept, 0, &nothing, run, |number, grounds| {
            decided.extend(grounds.map(|grounds| (number, Decision::Drop(grounds))));
        });
        // Those that no verdict may rest on any more.
        let is_kept = |number: &u64| self.entries.get(*number).is_some_and(|entry| entry.is_kept());
        let fallen: BTreeSet<u64> = decided.keys().copied().filter(is_kept).collect();
        let lost = fallen.iter().flat_map(|number| self.entries.dropped_for(*number));
        let lost: BTreeSet<u64> = lost.filter(|number| !decided.contains_key(number)).collect();
        let mut decisions = Vec::new();
        self.search_again(&Vec::from_iter(lost), run, &fallen, 0, |number, grounds| {
            decisions.push((number, grounds.map_or(Decision::Orphan, Decision::Drop)));
        });
        // First those that rest on others: nothing is dropped while verdicts rest on it.
        let (gone, dropped) =
            decided.into_iter().partition::<Vec<_>, _>(|(number, _)| !fallen.contains(number));
        decisions.extend(gone);
        decisions.extend(dropped);
        decisions
    }

    /// What becomes of a document whose id is there for all already.
    fn same_id(&mut self, run: u32, number: u64) -> Option<Decision> {
        let Self { entries, runs, kept, .. } = self;
        let entry = entries.get(number)?;
        let seen = |of: u32| if of != run && runs.sees(0, of) { Seen::First } else { Seen::Not };
        let other = entries.find(entry.id(), entries.hash(entry.id()), seen)?;
        if other.digest() != entry.digest() {
            return Some(Decision::Conflict);
        }
        let itself =
            || Grounds { of: other.number, distance: 0, measure: kept.measure_of_same(&other, &entry) };
        Some(Decision::Merge(other.grounds().unwrap_or_else(itself)))
    }

    /// Searches for documents that are there among what a run sees; what is `without`, and documents of the run `not_of`, do not count.
    fn search_again(
        &mut self,
        numbers: &[u64],
        viewer: u32,
        without: &BTreeSet<u64>,
        not_of: u32,
        mut found: impl FnMut(u64, Option<Grounds>),
    ) {
        for some in numbers.chunks(TOGETHER) {
            let documents: Vec<_> = some
                .iter()
                .filter_map(|number| self.entries.get(*number))
                .map(|entry| (entry.number, entry.key(), entry.content.cloned()))
                .collect();
            self.prefetch(documents.iter().filter_map(|(_, key, _)| match key {
                Key::Fingerprint { value, .. } => Some(*value),
                _ => None,
            }));
            for (number, key, content) in &documents {
                let counts = |entry: &Entry<'_>| {
                    (not_of == 0 || entry.run() != not_of) && !without.contains(&entry.number)
                };
                found(*number, self.find(*key, content.as_ref(), viewer, counts));
            }
        }
        self.end_prefetch();
    }

    fn settle(&mut self, now: u64, run: u32, decisions: &[(u64, Decision)]) -> Result<Listed, &'static str> {
        let mut settled = BTreeMap::new();
        for (number, decision) in decisions {
            let entry = self.entries.get(*number).filter(|entry| entry.run() == run);
            let entry = entry.ok_or("a document is settled that is not there")?;
            let id: Box<[u8]> = entry.id().into();
            let (is_kept, key) = (entry.is_kept(), entry.key());
            let what = match decision {
                Decision::Drop(grounds) | Decision::Merge(grounds) => {
                    let original = self.entries.get(grounds.of).filter(|of| of.is_kept());
                    if original.is_none() || grounds.of == *number {
                        return Err("a verdict rests on a document that is not there");
                    }
                    // A document that is kept under its own id is no duplicate of itself: nothing has changed for who brought it.
                    let is_itself = original.is_some_and(|original| original.id() == &*id);
                    self.renew(grounds.of, now);
                    (!is_itself).then(|| Settled::Duplicate(self.said(*grounds, 0)))
                }
                Decision::Orphan => Some(Settled::Orphan),
                Decision::Conflict => Some(Settled::Conflict),
            };
            if let Decision::Drop(grounds) = decision {
                if !self.entries.dropped_for(*number).is_empty() {
                    return Err("verdicts rest on a document that is dropped");
                }
                self.drop_for(*number, *grounds, is_kept.then_some(key));
            } else {
                self.counts.orphans += u64::from(*decision == Decision::Orphan);
                self.take_out(*number);
            }
            settled.extend(what.map(|what| (*number, (id, what))));
        }
        let listed = Vec::from_iter(settled.into_values());
        self.runs.end(run, Ended::Committed(listed.clone()));
        Ok(listed)
    }

    /// A document is a duplicate from now on; what it found others by is given where it was kept.
    fn drop_for(&mut self, number: u64, grounds: Grounds, was_kept: Option<Key>) {
        if let (Some(pass), Some(entry)) = (&mut self.pass, self.entries.get(number)) {
            pass.save_changed(&entry);
        }
        if let Some(key) = was_kept {
            let content = self.entries.get(number).and_then(|entry| entry.content);
            self.kept.remove(number, key, content);
        }
        self.entries.drop_for(number, grounds);
    }

    /// Cancels a run: its documents are forgotten, and what was dropped in favour of them, of which the ids of others are given. One that is
    /// cancelled already has its first answer again; whether anything has changed is told.
    pub(crate) fn cancel(&mut self, now: u64, name: &[u8]) -> Result<(Orphans, bool), Refused> {
        self.expire(now);
        let run = match self.runs.find(name) {
            None => return Err(Refused::NoRun(name.into())),
            Some(Found::Ended(Ended::Cancelled(all))) => return Ok((all.clone(), false)),
            Some(Found::Ended(Ended::Committed(_))) => {
                return Err(Refused::RunEnded(name.into(), "committed"));
            }
            Some(Found::Open(run, _)) => run,
        };
        let mut orphans: BTreeMap<u64, Box<[u8]>> = BTreeMap::new();
        for number in self.of_run(run) {
            let of_others = self.entries.dropped_for(number).into_iter();
            let of_others = of_others.filter_map(|number| self.entries.get(number));
            let of_others = of_others.filter(|entry| entry.run() != run);
            orphans.extend(of_others.map(|entry| (entry.number, entry.id().into())));
            self.counts.deleted += 1;
            self.take_out(number);
        }
        self.counts.orphans += orphans.len() as u64;
        let orphans = Vec::from_iter(orphans.into_values());
        self.runs.end(run, Ended::Cancelled(orphans.clone()));
        Ok((orphans, true))
    }
}
