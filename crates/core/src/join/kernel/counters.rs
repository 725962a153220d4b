//! How many tokens of its prefix a query shares with each indexed set.
//!
//! Counters are met in no order, and there is one for each set. They are not cleared after a query: those of the next one begin above all that
//! there can be left. So they are cleared once in some four billion tokens whose lists are visited, however large sets are.

use crate::join::memory;

/// A counter for each indexed set.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// More than `base` by the number of shared tokens; what is not above it means 0.
    counts: Vec<u32>,
    base: u32,
    /// Not below any counter.
    next_base: u32,
}

impl Counters {
    /// Sets the counters of so many sets to 0, for a query that visits the lists of so many tokens and looks for sets with which it shares `least`, and lets it
    /// count.
    pub fn begin(&mut self, sets: usize, tokens: u32, least: u32) -> Counting<'_> {
        if self.counts.len() < sets {
            self.counts = memory::filled(0, sets);
        }
        if let Some(next) = self.next_base.checked_add(tokens) {
            (self.base, self.next_base) = (self.next_base, next);
        } else {
            self.counts.fill(0);
            (self.base, self.next_base) = (0, tokens);
        }
        Counting {
            counts: &mut self.counts,
            base: self.base,
            too_few: self.base.wrapping_add(least).wrapping_sub(1),
        }
    }

    /// How many tokens the query shares with a set that was met.
    #[inline]
    pub fn of(&self, set: u32) -> u32 {
        self.counts[set as usize] - self.base
    }
}

/// The counters of a query.
pub(super) struct Counting<'c> {
    counts: &'c mut [u32],
    base: u32,
    /// The largest counter that is not enough.
    too_few: u32,
}

impl Counting<'_> {
    /// Counts a contact with a set, by so many tokens; whether the query now shares enough with it, and did not before.
    #[inline]
    pub fn reaches(&mut self, set: u32, tokens: u32) -> bool {
        let count = &mut self.counts[set as usize];
        let before = (*count).max(self.base);
        *count = before + tokens;
        // Where there were enough before, the difference is below 0, which is a large number.
        self.too_few.wrapping_sub(before) < tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_do_not_see_one_another() {
        let mut counters = Counters::default();
        let most = u32::MAX;
        // Some fit behind those before them, and some do not.
        for tokens in [5, most - 7, 2, most - 1, 1, most, 3, 4] {
            let mut counting = counters.begin(3, tokens, 1);
            assert!(counting.reaches(1, 1) && counting.reaches(2, 1));
            let again = tokens.min(2);
            (1..again).for_each(|_| assert!(!counting.reaches(1, 1)));
            assert_eq!((counters.of(1), counters.of(2)), (again, 1), "{tokens}");
        }
    }

    /// Contacts of several tokens, wherever the counters begin.
    #[test]
    fn a_set_reaches_the_least_once() {
        for before in [0, 7, u32::MAX - 30, u32::MAX - 12, u32::MAX - 1] {
            for (least, contacts) in
                [(1, [1, 2, 3]), (2, [1, 1, 9]), (4, [3, 2, 7]), (9, [2, 3, 4]), (20, [4, 4, 4])]
            {
                let mut counters = Counters::default();
                counters.begin(2, before, 1);
                let mut counting = counters.begin(2, contacts.iter().sum(), least);
                let reached: Vec<bool> = contacts.iter().map(|tokens| counting.reaches(1, *tokens)).collect();
                let mut sum = 0;
                let expected = contacts.map(|tokens| {
                    sum += tokens;
                    sum >= least && sum - tokens < least
                });
                assert_eq!((reached, counters.of(1)), (expected.to_vec(), sum), "{before}, {least}");
            }
        }
    }
}
