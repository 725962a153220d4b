//! How runs end, in the oracle.

use super::oracle::{Held, Oracle};
use crate::document::Measure;
use crate::runs::{Mode, Settled};

/// A document, what it is dropped for, whether it stays under its id, and whether something is told of it.
type Fate = (u64, Option<(u64, Option<u32>, Measure)>, bool, bool);

impl Oracle {
    /// What its documents are when a run that is open is committed.
    pub fn commit(&mut self, namespace: u8, name: &[u8]) -> Vec<(Box<[u8]>, Settled)> {
        let is_of = |held: &Held| held.namespace == namespace && held.run.as_deref() == Some(name);
        if self.open(namespace, name) != Some(Mode::Isolated) {
            return Vec::new();
        }
        let mine: Vec<Held> = self.held.iter().filter(|held| is_of(held)).cloned().collect();
        let common = |oracle: &Self, held: &Held| !is_of(held) && oracle.sees(None, held);
        // What becomes of each by itself: what it is dropped for, whether it stays under its id, and what is told.
        let mut fates: Vec<Fate> = Vec::new();
        for held in &mine {
            let same = self
                .held
                .iter()
                .find(|other| other.namespace == namespace && other.id == held.id && common(self, other));
            let fate = match same {
                Some(other) if other.document.digest != held.document.digest => Some((None, false, true)),
                Some(other) => {
                    let measure = self.of_itself(&held.document);
                    Some((
                        other.dropped.or(Some((other.serial, measure.has_distance().then_some(0), measure))),
                        false,
                        false,
                    ))
                }
                None if held.dropped.is_none() && !held.forced => {
                    let found = self.find(namespace, &held.document, |other| common(self, other));
                    found.map(|found| (Some(found), true, false))
                }
                None => None,
            };
            fates.extend(fate.map(|(dropped, stays, conflict)| (held.serial, dropped, stays, conflict)));
        }
        let has_fate =
            |fates: &[(u64, Option<_>, bool, bool)], serial| fates.iter().any(|fate| fate.0 == serial);
        let known = fates.clone();
        for held in &mine {
            let Some((of, ..)) = held.dropped else { continue };
            if has_fate(&known, held.serial) || !has_fate(&known, of) {
                continue;
            }
            let found = self.find(namespace, &held.document, |other| {
                (is_of(other) || common(self, other)) && !has_fate(&known, other.serial)
            });
            fates.push((held.serial, found, found.is_some(), false));
        }
        fates.sort_unstable_by_key(|fate| fate.0);
        let mut told = Vec::new();
        for (serial, dropped, _, conflict) in &fates {
            let id: Box<[u8]> = mine.iter().find(|held| held.serial == *serial).unwrap().id.clone().into();
            let of = dropped.and_then(|(of, ..)| self.held.iter().find(|held| held.serial == of));
            let is_itself = of.is_some_and(|of| of.id.as_slice() == &*id);
            let what = match dropped {
                _ if *conflict => Settled::Conflict,
                None => Settled::Orphan,
                dropped => Settled::Duplicate(self.said(*dropped, None)),
            };
            told.extend((!is_itself).then_some((id, what)));
        }
        for (serial, dropped, stays, _) in fates {
            dropped.into_iter().for_each(|(of, ..)| self.seen_now(of));
            match stays {
                true => self
                    .held
                    .iter_mut()
                    .filter(|held| held.serial == serial)
                    .for_each(|held| held.dropped = dropped),
                false => self.held.retain(|held| held.serial != serial),
            }
        }
        told
    }

    pub fn cancel(&mut self, namespace: u8, name: &[u8]) -> Vec<Box<[u8]>> {
        let is_of = |held: &Held| held.namespace == namespace && held.run.as_deref() == Some(name);
        let gone: Vec<u64> = self.held.iter().filter(|held| is_of(held)).map(|held| held.serial).collect();
        let rests = |held: &Held| held.dropped.is_some_and(|(of, ..)| gone.contains(&of));
        let orphans = self.held.iter().filter(|held| rests(held) && !is_of(held));
        let orphans = orphans.map(|held| held.id.clone().into()).collect();
        self.held.retain(|held| !is_of(held) && !rests(held));
        orphans
    }
}
