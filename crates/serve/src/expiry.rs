//! What is forgotten, when, and what goes with it.
//!
//! Documents are forgotten by age, or by number where there may be so many: always the oldest first. In the order of their numbers they are in the order of
//! their times as well, but for those that were found again where that counts, which wait in a heap.

use crate::document::Key;
use crate::entries::{Entries, NONE};
use crate::namespace::Namespace;
use std::cmp::Reverse;

/// How many documents may be gone before their fingerprints are.
const CUT: u64 = 4096;

impl Namespace {
    /// Forgets what is too old at this time.
    pub fn expire(&mut self, now: u64) {
        let Some(keep) = self.settings.retention.keep else { return };
        while let Some((slot, time)) = self.oldest()
            && time.saturating_add(keep) <= now
        {
            self.forget(slot);
        }
    }

    /// Makes room for one more.
    pub(crate) fn make_room(&mut self) {
        let Some(most) = self.settings.retention.most else { return };
        while self.entries.len() as u64 >= most
            && let Some((slot, _)) = self.oldest()
        {
            self.forget(slot);
        }
    }

    fn forget(&mut self, slot: u32) {
        let orphans = self.take_out(slot).len() as u64;
        self.counts.expired += 1;
        self.counts.orphans += orphans;
    }

    /// The oldest document's slot, and its time.
    fn oldest(&mut self) -> Option<(u32, u64)> {
        let waits = |entries: &Entries, slot: u32| entries.get(slot).is_some_and(|entry| !entry.renewed);
        self.cursor = self.cursor.max(self.base);
        while let Some(slot) = self.order.get((self.cursor - self.base) as usize)
            && !waits(&self.entries, *slot)
        {
            self.cursor += 1;
        }
        // What is found again is older than it was said to be, or is gone.
        while let Some(&Reverse((time, number))) = self.renewed.peek() {
            let entry = self.slot(number).and_then(|slot| self.entries.get(slot));
            match entry.map(|entry| entry.time) {
                Some(now) if now == time => break,
                Some(now) => {
                    self.renewed.pop();
                    self.renewed.push(Reverse((now, number)));
                }
                None => drop(self.renewed.pop()),
            }
        }
        let first = self.slot(self.cursor).and_then(|slot| Some((self.entries.get(slot)?.time, self.cursor)));
        let again = self.renewed.peek().map(|one| one.0);
        let (time, number) = first.into_iter().chain(again).min()?;
        Some((self.slot(number)?, time))
    }

    /// Where that counts, a document was seen now.
    pub(crate) fn renew(&mut self, slot: u32, now: u64) {
        if !self.settings.retention.from_last_seen {
            return;
        }
        if let Some(entry) = self.entries.get_mut(slot) {
            entry.time = entry.time.max(now);
            if !std::mem::replace(&mut entry.renewed, true) {
                self.renewed.push(Reverse((now, entry.seq)));
            }
        }
    }

    /// Takes out what is in a slot, and what was dropped in its favour.
    pub(crate) fn take_out(&mut self, slot: u32) -> Vec<Box<[u8]>> {
        let dropped = self.entries.dropped_for(slot);
        let orphans = dropped.into_iter().filter_map(|slot| self.take_one(slot)).collect();
        self.take_one(slot);
        while self.order.front() == Some(&NONE) {
            self.order.pop_front();
            self.base += 1;
        }
        if self.base - self.cut >= CUT {
            self.cut = self.base;
            self.index.expire_before(self.base);
        }
        orphans
    }

    fn take_one(&mut self, slot: u32) -> Option<Box<[u8]>> {
        if let (Some(pass), Some(entry)) = (&mut self.pass, self.entries.get(slot)) {
            pass.save(entry, self.entries.grounds(entry));
        }
        let entry = self.entries.remove(slot)?;
        if let Some(place) = self.order.get_mut((entry.seq - self.base) as usize) {
            *place = NONE;
        }
        match entry.key() {
            Key::Text(hash) => drop(self.texts.remove(&(hash, entry.seq))),
            // The first of all go together, some time later.
            Key::Fingerprint { .. } if entry.is_kept() && entry.seq != self.base => {
                self.index.remove(entry.seq)
            }
            _ => {}
        }
        Some(entry.id)
    }
}
