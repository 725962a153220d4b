//! A namespace as a snapshot holds it.

use crate::chunk::Fields;
use crate::document::Document;
use crate::entries::NONE;
use crate::namespace::{Counts, Namespace};
use crate::pass::Saved;
use crate::runs::Runs;
use std::cmp::Reverse;

impl Namespace {
    /// Puts in what a snapshot holds, in the order of the numbers, of which the next one is given; the namespace is empty. Whether it may be so.
    pub(crate) fn restore<'b>(
        &mut self,
        rows: impl ExactSizeIterator<Item = Option<Saved<'b>>>,
        next: u64,
        counts: Counts,
        runs: Runs,
    ) -> bool {
        self.runs = runs;
        self.entries.make_tables_for(rows.len() as u64);
        let mut linked = Vec::new();
        for row in rows {
            let Some(row) = row else { return false };
            let Document { key, digest, content } = row.document;
            let hash = self.entries.hash(row.id);
            let Saved { number, time, renewed, forced, run, grounds, .. } = row;
            if number < self.next()
                || number >= next
                || self.entries.find(row.id, hash, self.runs.twins_of(run)).is_some()
                || !self.entries.skip_to(number)
            {
                return false;
            }
            linked.extend(grounds.map(|grounds| (number, grounds.of)));
            let dropped = grounds.map(|grounds| (grounds, [NONE; 2]));
            let fields = Fields { id: row.id, time, renewed, forced, key, digest, run, dropped };
            self.entries.insert(fields, hash, content);
            if run > 0 {
                self.runs.put_in(run, number, self.entries.base());
            }
            if renewed {
                self.renewed.push(Reverse((time, number)));
            }
        }
        // A document of a run may have been dropped for one that came after it.
        for (number, of) in linked {
            if !self.entries.get(of).is_some_and(|of| of.is_kept()) {
                return false;
            }
            self.entries.favour(number, of);
        }
        if !self.entries.skip_to(next) {
            return false;
        }
        self.counts = counts;
        true
    }
}
