//! A namespace as a snapshot holds it.

use crate::chunk::Fields;
use crate::document::{Document, Key};
use crate::entries::NONE;
use crate::index::FingerprintIndex;
use crate::namespace::{Counts, Namespace};
use crate::pass::Saved;
use crate::runs::Runs;
use std::cmp::Reverse;
use twinsplit_io::error::Result;

impl Namespace {
    /// Puts in what a snapshot holds, in the order of the numbers, of which the next one is given; the namespace is empty. Whether it may be so.
    ///
    /// # Errors
    /// The index cannot be built.
    pub(crate) fn restore(
        &mut self,
        rows: Vec<Saved>,
        next: u64,
        counts: Counts,
        runs: Runs,
    ) -> Result<bool> {
        self.runs = runs;
        let (mut numbers, mut values, mut linked) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let Document { key, digest, content } = row.document;
            let hash = self.entries.hash(&row.id);
            let Saved { number, time, renewed, forced, run, grounds, .. } = row;
            if number < self.next()
                || number >= next
                || self.entries.find(&row.id, hash, self.runs.seen_by(run)).is_some()
                || !self.entries.skip_to(number)
            {
                return Ok(false);
            }
            match (key, grounds) {
                (Key::Fingerprint { value, .. }, None) => {
                    numbers.push(number);
                    values.push(value);
                }
                (Key::Text(hash), None) => drop(self.texts.insert((hash, number))),
                _ => {}
            }
            linked.extend(grounds.map(|grounds| (number, grounds.of)));
            let dropped = grounds.map(|grounds| (grounds, [NONE; 2]));
            let fields = Fields { id: &row.id, time, renewed, forced, key, digest, run, dropped };
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
                return Ok(false);
            }
            self.entries.favour(number, of);
        }
        if !self.entries.skip_to(next) {
            return Ok(false);
        }
        if !numbers.is_empty() {
            self.index =
                FingerprintIndex::over(self.settings.bits, self.settings.distance, &numbers, &values)?;
        }
        self.index_bytes = (self.index.memory(), 0);
        self.counts = counts;
        Ok(true)
    }
}
