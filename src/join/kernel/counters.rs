//! How often a query has met each indexed set.
//!
//! Counters are met in no order, and there is one for each set. They are not cleared after a query: those of the next one begin above all that
//! there can be left. So they are cleared once in some four billion visited lists, however large sets are.

use crate::join::memory;

/// A counter for each indexed set.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// More than `base` by the number of contacts; what is not above it means 0.
    counts: Vec<u32>,
    base: u32,
    /// Not below any counter.
    next_base: u32,
}

impl Counters {
    /// Sets the counters of so many sets to 0, for a query that visits so many lists, and lets it count.
    pub fn begin(&mut self, sets: usize, lists: usize) -> Counting<'_> {
        if self.counts.len() < sets {
            self.counts = memory::filled(0, sets);
        }
        let lists = u32::try_from(lists).unwrap_or(u32::MAX);
        if let Some(next) = self.next_base.checked_add(lists) {
            (self.base, self.next_base) = (self.next_base, next);
        } else {
            self.counts.fill(0);
            (self.base, self.next_base) = (0, lists);
        }
        Counting { counts: &mut self.counts, base: self.base }
    }

    /// How many contacts there were with a set that was met.
    #[inline]
    pub fn of(&self, set: u32) -> u32 {
        self.counts[set as usize] - self.base
    }
}

/// The counters of a query.
pub(super) struct Counting<'c> {
    counts: &'c mut [u32],
    base: u32,
}

impl Counting<'_> {
    /// Counts a contact with a set, and gives their number so far.
    #[inline]
    pub fn with(&mut self, set: u32) -> u32 {
        let count = &mut self.counts[set as usize];
        *count = (*count).max(self.base) + 1;
        *count - self.base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_do_not_see_one_another() {
        let mut counters = Counters::default();
        let most = u32::MAX as usize;
        // Some fit behind those before them, and some do not.
        for lists in [5, most - 7, 2, most - 1, 1, most, 3, 4] {
            let mut counting = counters.begin(3, lists);
            assert_eq!((counting.with(1), counting.with(2)), (1, 1));
            let again = lists.min(2) as u32;
            (1..again).for_each(|known| assert_eq!(counting.with(1), known + 1));
            assert_eq!((counters.of(1), counters.of(2)), (again, 1), "{lists}");
        }
    }
}
