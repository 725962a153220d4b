//! What is forgotten, when, and what goes with it.
//!
//! Documents are forgotten by age, or by number where there may be so many: always the oldest first. In the order of their numbers they are in the order of
//! their times as well, but for those that were found again where that counts, which wait in a heap.

use crate::entries::Gone;
use crate::namespace::Namespace;
use std::cmp::Reverse;

impl Namespace {
    /// Forgets what is too old at this time.
    pub fn expire(&mut self, now: u64) {
        let Some(keep) = self.settings.retention.keep else { return };
        while let Some((number, time)) = self.oldest()
            && time.saturating_add(keep) <= now
        {
            self.forget(number);
        }
    }

    /// Makes room for one more.
    pub(crate) fn make_room(&mut self) {
        let Some(most) = self.settings.retention.most else { return };
        while self.entries.len() >= most
            && let Some((number, _)) = self.oldest()
        {
            self.forget(number);
        }
    }

    fn forget(&mut self, number: u64) {
        let orphans = self.take_out(number).len() as u64;
        self.counts.expired += 1;
        self.counts.orphans += orphans;
    }

    /// The oldest document's number, and its time.
    fn oldest(&mut self) -> Option<(u64, u64)> {
        let entries = &self.entries;
        self.cursor = self.cursor.max(entries.base());
        while self.cursor < entries.next() && entries.get(self.cursor).is_none_or(|entry| entry.renewed()) {
            self.cursor += 1;
        }
        // What is found again is older than it was said to be, or is gone.
        while let Some(&Reverse((time, number))) = self.renewed.peek() {
            match entries.get(number).map(|entry| entry.time()) {
                Some(now) if now == time => break,
                Some(now) => {
                    self.renewed.pop();
                    self.renewed.push(Reverse((now, number)));
                }
                None => drop(self.renewed.pop()),
            }
        }
        let first = entries.get(self.cursor).map(|entry| (entry.time(), self.cursor));
        let again = self.renewed.peek().map(|one| one.0);
        let (time, number) = first.into_iter().chain(again).min()?;
        Some((number, time))
    }

    /// Where that counts, a document was seen now.
    pub(crate) fn renew(&mut self, number: u64, now: u64) {
        if !self.settings.retention.from_last_seen {
            return;
        }
        let Some((time, renewed)) = self.entries.get(number).map(|entry| (entry.time(), entry.renewed()))
        else {
            return;
        };
        let time = time.max(now);
        self.entries.renew(number, time);
        if !renewed {
            self.renewed.push(Reverse((time, number)));
        }
    }

    /// Takes out a document, and what was dropped in its favour.
    pub(crate) fn take_out(&mut self, number: u64) -> Vec<Box<[u8]>> {
        let dropped = self.entries.dropped_for(number);
        let orphans = dropped.into_iter().filter_map(|number| self.take_one(number)).collect();
        self.take_one(number);
        self.kept.begins_at(self.entries.base());
        orphans
    }

    fn take_one(&mut self, number: u64) -> Option<Box<[u8]>> {
        if let (Some(pass), Some(entry)) = (&mut self.pass, self.entries.get(number)) {
            pass.save(&entry);
        }
        let is_first = number == self.entries.base();
        let Gone { id, key, run, is_kept, content } = self.entries.remove(number)?;
        if run > 0 {
            self.runs.take_out(run);
        }
        match (is_kept, is_first) {
            (false, _) => {}
            (true, false) => self.kept.remove(number, key, content.as_deref()),
            (true, true) => self.kept.remove_first(number, key, content.as_deref()),
        }
        Some(id)
    }
}
