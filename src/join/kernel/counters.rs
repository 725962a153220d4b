//! How often a query has met each indexed set.

/// A counter for each indexed set. They are not cleared after a query: those of the next one begin above all that there
/// can be left.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// More than `base` by the number of contacts; what is not above it means 0.
    counts: Vec<u32>,
    base: u32,
    /// Not below any counter.
    next_base: u32,
}

impl Counters {
    /// Sets the counters of so many sets to 0, for a query of so many tokens, and lets it count.
    pub fn begin(&mut self, sets: usize, tokens: usize) -> Contacts<'_> {
        if self.counts.len() < sets {
            self.counts.resize(sets, 0);
        }
        let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        if let Some(next) = self.next_base.checked_add(tokens) {
            (self.base, self.next_base) = (self.next_base, next);
        } else {
            self.counts.fill(0);
            (self.base, self.next_base) = (0, tokens);
        }
        Contacts { counts: &mut self.counts, base: self.base }
    }

    /// How many contacts there were with a set that was met.
    #[inline]
    pub fn of(&self, set: u32) -> u32 {
        self.counts[set as usize] - self.base
    }
}

/// The counters of a query.
pub(super) struct Contacts<'c> {
    counts: &'c mut [u32],
    base: u32,
}

impl Contacts<'_> {
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
        // The third does not fit behind the first two.
        for tokens in [5, u32::MAX as usize - 7, 4, 2, u32::MAX as usize, 1] {
            let mut contacts = counters.begin(3, tokens);
            assert_eq!((contacts.with(1), contacts.with(2)), (1, 1));
            let again = tokens.min(2) as u32;
            (1..again).for_each(|count| assert_eq!(contacts.with(1), count + 1));
            assert_eq!((counters.of(1), counters.of(2)), (again, 1), "{tokens}");
        }
    }
}
