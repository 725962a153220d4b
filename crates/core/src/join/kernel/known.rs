//! What is known of pairs before they are looked at: a query passes over them.

use super::Visit;
use crate::cluster::union_find::UnionFind;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// The indexed sets that a query need not be held against. They are numbered within the index.
pub(super) trait Known {
    /// Whether there are any.
    const ANY: bool;

    /// Ranges of such sets, ascending.
    fn ranges(&self) -> &[Range<u32>];

    /// Whether this is one.
    fn contains(&self, set: u32) -> bool;

    /// The query and this set are found to be in the answer.
    fn found(&mut self, set: u32);
}

/// Every pair is asked for.
pub(super) struct Nothing;

impl Known for Nothing {
    const ANY: bool = false;

    fn ranges(&self) -> &[Range<u32>] {
        &[]
    }

    fn contains(&self, _: u32) -> bool {
        false
    }

    fn found(&mut self, _: u32) {}
}

/// Components are asked for: no set is of use that is connected with the query already.
pub(super) struct Connected<'f> {
    pub forest: &'f UnionFind,
    /// By set of the index its number in the forest.
    pub numbers: &'f [u32],
    /// The query's component.
    pub root: u32,
    /// Those that the query was found to be connected with.
    pub joined: FxHashSet<u32>,
    /// Long stretches of sets of its component.
    pub ranges: &'f [Range<u32>],
}

impl Known for Connected<'_> {
    const ANY: bool = true;

    fn ranges(&self) -> &[Range<u32>] {
        self.ranges
    }

    fn contains(&self, set: u32) -> bool {
        let root = self.forest.root(self.numbers[set as usize]);
        root == self.root || self.joined.contains(&root)
    }

    fn found(&mut self, set: u32) {
        self.joined.insert(self.forest.root(self.numbers[set as usize]));
    }
}

/// What of a window lies outside of some ranges, which ascend.
pub(super) fn outside(window: Range<usize>, ranges: &[Range<u32>]) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(0).chain(ranges.iter().map(|range| range.end as usize));
    let ends = ranges.iter().map(|range| range.start as usize).chain([usize::MAX]);
    starts
        .zip(ends)
        .map(move |(start, end)| start.max(window.start)..end.min(window.end))
        .filter(|part| part.start < part.end)
}

/// Cuts visits of lists, whose postings are `of_set` each and ascend by set, into those that lie outside of some ranges.
pub(super) fn cut<P>(
    visits: &mut Vec<Visit>,
    ranges: &[Range<u32>],
    postings: &[P],
    of_set: impl Fn(&P) -> u32,
) {
    let before = std::mem::take(visits);
    for Visit { list, postings: Range { start: mut at, end: stop }, end, tokens } in before {
        let first = |at: usize| postings[at..stop].first().map(&of_set).filter(|set| *set < end);
        for range in ranges {
            let Some(set) = first(at) else { break };
            if set < range.start {
                visits.push(Visit { list, postings: at..stop, end: end.min(range.start), tokens });
            }
            // Strides that double, for most ranges are as long as the list or hardly met by it.
            let mut stride = 1;
            while postings[at..stop].get(stride - 1).is_some_and(|own| of_set(own) < range.end) {
                at += stride;
                stride *= 2;
            }
            let near = stop.min(at + stride - 1);
            at += postings[at..near].partition_point(|own| of_set(own) < range.end);
        }
        if first(at).is_some() {
            visits.push(Visit { list, postings: at..stop, end, tokens });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Sets of a window, and postings of lists, one by one.
        #[test]
        fn what_is_left_lies_outside(
            cuts in prop::collection::btree_set(0u32..60, 0..12), window in (0usize..60, 0usize..60),
            lists in prop::collection::vec((prop::collection::btree_set(0u32..60, 0..40), 0u32..64), 0..4),
        ) {
            let cuts: Vec<u32> = cuts.into_iter().collect();
            let ranges: Vec<Range<u32>> = cuts.chunks_exact(2).map(|two| two[0]..two[1]).collect();
            let left = |set: u32| !ranges.iter().any(|range| range.contains(&set));
            let found: Vec<usize> = outside(window.0..window.1, &ranges).flatten().collect();
            prop_assert_eq!(found, (window.0..window.1).filter(|set| left(*set as u32)).collect::<Vec<_>>());

            let (mut postings, mut visits, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            for (list, (sets, end)) in lists.iter().enumerate() {
                let start = postings.len();
                postings.extend(sets.iter().copied());
                visits.push(Visit { list, postings: start..postings.len(), end: *end, tokens: 1 });
                expected.extend(sets.iter().filter(|set| **set < *end && left(**set)).map(|set| (list, *set)));
            }
            cut(&mut visits, &ranges, &postings, |set| *set);
            let met = |visit: &Visit| {
                let sets = postings[visit.postings.clone()].iter().take_while(|set| **set < visit.end);
                sets.map(|set| (visit.list, *set)).collect::<Vec<_>>()
            };
            prop_assert!(visits.iter().all(|visit| !met(visit).is_empty()));
            prop_assert_eq!(visits.iter().flat_map(met).collect::<Vec<_>>(), expected);
        }
    }
}
