//! A namespace as a snapshot holds it.

use crate::chunk::Fields;
use crate::document::Document;
use crate::entries::NONE;
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
        let (mut kept, mut linked) = (Vec::new(), Vec::new());
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
            match grounds {
                None => kept.push(number),
                Some(grounds) => linked.push((number, grounds.of)),
            }
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
        self.kept.fill(&kept, &self.entries)?;
        self.counts = counts;
        Ok(true)
    }
}
