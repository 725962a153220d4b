//! Where the window of a query begins in each list.
//!
//! Lists ascend by set, and so do the queries of a self-join, by size: the first posting that a query may visit never
//! moves back. Looking for it anew in every list, by halves, costs a cache miss for each half, which is more than all else
//! that a query does. A thread therefore remembers where the last query found it. A smaller query than the last one, in a
//! stream of documents in any order, has to look for it.

use super::Posting;
use super::lists::Lists;
use crate::join::memory;

/// One thread's places in the lists of the index that it asked last.
#[derive(Debug, Default)]
pub(super) struct Cursors {
    /// Which index it is.
    index: u64,
    /// All places are at, or before, the first posting of this set or a later one.
    smallest: u32,
    /// By list; its start where no query has been.
    places: Vec<u32>,
}

impl Cursors {
    /// Begins a query that visits no set before `smallest`.
    pub fn begin(&mut self, index: u64, lists: &Lists<Posting>, smallest: u32) -> Places<'_> {
        if self.index != index {
            self.index = index;
            self.smallest = 0;
            self.places.clear();
            self.places.extend_from_slice(lists.starts());
        }
        let ascends = smallest >= self.smallest;
        if ascends {
            self.smallest = smallest;
        }
        Places { places: if ascends { &mut self.places } else { &mut [] }, smallest }
    }
}

/// The places of a query.
pub(super) struct Places<'c> {
    places: &'c mut [u32],
    smallest: u32,
}

impl Places<'_> {
    /// A list's place is asked for soon.
    #[inline]
    pub fn soon(&self, list: usize) {
        memory::soon::<1, _>(self.places, list);
    }

    /// Its [`first`](Self::first) posting is looked for soon.
    #[inline]
    pub fn postings_soon(&self, lists: &Lists<Posting>, list: usize) {
        let place = self.places.get(list).map_or(lists.range(list).start, |place| *place as usize);
        memory::soon::<1, _>(lists.postings(), place);
    }

    /// The first posting of a list whose set is not before the query's window: where it stands among all postings.
    #[inline]
    pub fn first(&mut self, lists: &Lists<Posting>, list: usize) -> usize {
        let range = lists.range(list);
        if self.smallest == 0 {
            return range.start;
        }
        let before = |posting: &Posting| posting.set < self.smallest;
        let postings = lists.postings();
        let Some(place) = self.places.get_mut(list) else {
            return range.start + postings[range].partition_point(before);
        };
        let mut at = *place as usize;
        // Strides that double, for one query may be far larger than the last.
        let mut stride = 1;
        while postings[at..range.end].get(stride - 1).is_some_and(before) {
            at += stride;
            stride *= 2;
        }
        let end = range.end.min(at + stride - 1);
        at += postings[at..end].partition_point(before);
        *place = at as u32;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::sets::TokenClasses;
    use proptest::prelude::*;

    proptest! {
        /// Windows in any order, of two indexes in turn.
        #[test]
        fn finds_the_first(
            rows in prop::collection::btree_set((0u32..4, 0u32..60), 1..120),
            queries in prop::collection::vec((0u32..64, any::<bool>()), 1..30), ascending: bool,
        ) {
            let mut queries = queries;
            if ascending {
                queries.sort_unstable();
            }
            let lists = |skip: usize| {
                let mut sets = vec![Vec::new(); 60];
                rows.iter().skip(skip).for_each(|&(token, set)| sets[set as usize].push(token));
                let sets = || sets.iter().map(Vec::as_slice).enumerate();
                Lists::of(sets, &TokenClasses::default(), |set, _| Posting { set: *set as u32, largest: 0 }, 1)
            };
            let both = [lists(0), lists(rows.len() / 2)];
            let mut cursors = Cursors::default();
            for (smallest, second) in queries {
                let own = &both[usize::from(second)];
                let mut places = cursors.begin(1 + u64::from(second), own, smallest);
                let count = own.starts().len() - 1;
                for list in (0..count).chain(0..count) {
                    let range = own.range(list);
                    let expected = range.start + own.postings()[range].iter().filter(|p| p.set < smallest).count();
                    prop_assert_eq!(places.first(own, list), expected);
                }
            }
        }
    }
}
