//! How often a query has met each indexed set.
//!
//! Counters are met in no order, and there is one for each set: what a contact costs is whether they are in a cache. They
//! have 16 bits, therefore, unless a query visits more lists than these can count. They are not cleared after a query: those of the
//! next one begin above all that there can be left. So they are cleared once in some 65,000 visited lists, however large sets are.

use crate::join::memory;

/// A counter for each indexed set.
#[derive(Debug, Default)]
pub(super) struct Counters {
    narrow: Table<u16>,
    wide: Table<u32>,
    /// Which of them the query counts in.
    is_wide: bool,
}

/// The counters of a query.
pub(super) enum Contacts<'c> {
    /// Of one that visits few lists.
    Narrow(Counting<'c, u16>),
    /// Of any.
    Wide(Counting<'c, u32>),
}

impl Counters {
    /// Sets the counters of so many sets to 0, for a query that visits so many lists, and lets it count.
    pub fn begin(&mut self, sets: usize, lists: usize) -> Contacts<'_> {
        self.is_wide = u16::try_from(lists).is_err();
        if self.is_wide {
            Contacts::Wide(self.wide.begin(sets, u32::try_from(lists).unwrap_or(u32::MAX)))
        } else {
            Contacts::Narrow(self.narrow.begin(sets, lists as u16))
        }
    }

    /// How many contacts there were with a set that was met.
    #[inline]
    pub fn of(&self, set: u32) -> u32 {
        if self.is_wide { self.wide.of(set) } else { self.narrow.of(set) }
    }
}

/// A number that counts.
pub(super) trait Width: Copy + Default + Ord + Into<u32> {
    /// One more; below the largest number.
    fn next(self) -> Self;
    /// The sum, if it is a number.
    fn plus(self, more: Self) -> Option<Self>;
}

macro_rules! width {
    ($number:ty) => {
        impl Width for $number {
            #[inline]
            fn next(self) -> Self {
                self + 1
            }

            fn plus(self, more: Self) -> Option<Self> {
                self.checked_add(more)
            }
        }
    };
}
width!(u16);
width!(u32);

#[derive(Debug, Default)]
struct Table<W> {
    /// More than `base` by the number of contacts; what is not above it means 0.
    counts: Vec<W>,
    base: W,
    /// Not below any counter.
    next_base: W,
}

impl<W: Width> Table<W> {
    fn begin(&mut self, sets: usize, lists: W) -> Counting<'_, W> {
        if self.counts.len() < sets {
            self.counts = memory::filled(W::default(), sets);
        }
        if let Some(next) = self.next_base.plus(lists) {
            (self.base, self.next_base) = (self.next_base, next);
        } else {
            self.counts.fill(W::default());
            (self.base, self.next_base) = (W::default(), lists);
        }
        Counting { counts: &mut self.counts, base: self.base }
    }

    fn of(&self, set: u32) -> u32 {
        self.counts[set as usize].into() - self.base.into()
    }
}

/// The counters of a query, of one width.
pub(super) struct Counting<'c, W> {
    counts: &'c mut [W],
    base: W,
}

impl<W: Width> Counting<'_, W> {
    /// Counts a contact with a set, and gives their number so far.
    #[inline]
    pub fn with(&mut self, set: u32) -> u32 {
        let count = &mut self.counts[set as usize];
        *count = (*count).max(self.base).next();
        (*count).into() - self.base.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(contacts: &mut Contacts<'_>, set: u32) -> u32 {
        match contacts {
            Contacts::Narrow(counting) => counting.with(set),
            Contacts::Wide(counting) => counting.with(set),
        }
    }

    #[test]
    fn queries_do_not_see_one_another() {
        let mut counters = Counters::default();
        let (narrow, wide) = (usize::from(u16::MAX), u32::MAX as usize);
        // Of each width, the third does not fit behind the first two.
        for lists in [5, wide - 7, narrow - 7, 4, narrow + 1, 2, narrow, 1, wide, 3] {
            let mut contacts = counters.begin(3, lists);
            assert_eq!((count(&mut contacts, 1), count(&mut contacts, 2)), (1, 1));
            let again = lists.min(2) as u32;
            (1..again).for_each(|known| assert_eq!(count(&mut contacts, 1), known + 1));
            assert_eq!((counters.of(1), counters.of(2)), (again, 1), "{lists}");
        }
    }
}
