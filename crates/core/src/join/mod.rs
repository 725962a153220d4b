//! Exact set-similarity joins: every pair of sets whose similarity reaches a threshold, and no other
//! pair.
//!
//! | module | what it answers |
//! |---|---|
//! | [`sets`] | a collection of sets as flat arrays: rare tokens first, small sets first; and which tokens stand in the same sets |
//! | [`integers`] | how do sets of any integers become such a collection? |
//! | [`kernel`] | in one process (Doc-Split): which sets match this one? |
//! | [`doc_split`] | in many processes (Doc-Split): which documents of this slice match that one? |
//! | [`queries`] | in one process or many (queries): which of some queries match this document? |
//! | [`growing`] | in a service: which sets, that come and go one by one, match this one? |
//! | [`centres`] | in many processes (stars): which centre does this set of a component join? |
//! | `memory` | what the processor is told of memory: large pages, and lines that are read soon |
//! | [`slices`] | which sizes go into which slice of Doc-Split, so that the slices cost the same? |
//! | [`order`] | in which order do features stand, so that frequent ones are in few prefixes? |
//! | [`prefix`] | in many processes (Term-Split): may these two postings of one feature pair? |
//!
//! What makes two sets similar, and what they must share at least, is in [`similarity`](crate::similarity).
//!
//! Nothing here knows of files, records or processes.

pub mod centres;
pub mod doc_split;
pub mod growing;
pub mod integers;
pub mod kernel;
pub mod memory;
pub mod order;
pub mod prefix;
pub mod queries;
pub mod sets;
pub mod slices;

/// One sequence is searched for the elements of another that is so many times shorter; others are merged.
const LOPSIDED: usize = 16;

/// How many elements two ascending sequences without repeats share. A short one is held against a long one without looking at
/// all of that: a cluster may be of thousands of short documents and keep a book.
pub fn overlap<T: Ord>(x: &[T], y: &[T]) -> u64 {
    let (short, long) = if x.len() < y.len() { (x, y) } else { (y, x) };
    if long.len() / LOPSIDED > short.len() { searched(short, long) } else { merged(short, long) }
}

/// The same for two sequences that share at least so many, and nothing where they do not: it ends where what is left of them is too little.
/// A step has no branch but its loop, for which element is the smaller one is nothing that a processor could foresee of hashes.
pub fn overlap_reaching(x: &[u64], y: &[u64], needed: u64) -> Option<u64> {
    /// Steps between two looks at what is left.
    const STRIDE: usize = 32;
    let (short, long) = if x.len() < y.len() { (x, y) } else { (y, x) };
    if long.len() / LOPSIDED > short.len() {
        return Some(searched(short, long)).filter(|shared| *shared >= needed);
    }
    let (mut i, mut j, mut shared) = (0, 0, 0u64);
    loop {
        let left = (x.len() - i).min(y.len() - j);
        if shared + (left as u64) < needed {
            return None;
        }
        if left == 0 {
            return Some(shared);
        }
        // Neither ends within so many steps.
        for _ in 0..left.min(STRIDE) {
            let (u, v) = (x[i], y[j]);
            shared += u64::from(u == v);
            i += usize::from(u <= v);
            j += usize::from(v <= u);
        }
    }
}

/// By a step for each element of either.
fn merged<T: Ord>(x: &[T], y: &[T]) -> u64 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(u), Some(v)) = (x.get(i), y.get(j)) {
        match u.cmp(v) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    shared
}

/// By strides that double, then by halves, for each element of the short one.
fn searched<T: Ord>(short: &[T], mut long: &[T]) -> u64 {
    let mut shared = 0;
    for element in short {
        let mut stride = 1;
        while long.get(stride).is_some_and(|other| other < element) {
            stride *= 2;
        }
        let near = long.len().min(stride + 1);
        long = &long[long[..near].partition_point(|other| other < element)..];
        shared += u64::from(long.first() == Some(element));
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::cmp::Ordering;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn overlap_is_the_size_of_the_intersection(
            x in prop::collection::btree_set(0u32..600, 0..12), y in prop::collection::btree_set(0u32..600, 0..400),
        ) {
            let shared = x.intersection(&y).count() as u64;
            let rows = |set: &BTreeSet<u32>| set.iter().copied().collect::<Vec<u32>>();
            let (x, y) = (rows(&x), rows(&y));
            prop_assert_eq!((overlap(&x, &y), overlap(&y, &x)), (shared, shared));
            prop_assert_eq!((merged(&x, &y), searched(&x, &y)), (shared, shared));
            let [x, y] = [x, y].map(|set| set.into_iter().map(u64::from).collect::<Vec<_>>());
            for needed in [0, shared / 2, shared, shared + 1, shared + 9] {
                prop_assert_eq!(overlap_reaching(&x, &y, needed), (shared >= needed).then_some(shared));
            }
        }
    }

    thread_local! {
        static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts how often it is compared.
    struct Counted(u32);

    impl Ord for Counted {
        fn cmp(&self, other: &Self) -> Ordering {
            COMPARED.set(COMPARED.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    impl PartialOrd for Counted {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl PartialEq for Counted {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other).is_eq()
        }
    }

    impl Eq for Counted {}

    #[test]
    fn a_short_sequence_does_not_pay_for_a_long_one() {
        let long: Vec<Counted> = (0..100_000).map(Counted).collect();
        let short: Vec<Counted> = (0..8).map(|place| Counted(place * 12_345)).collect();
        assert_eq!(overlap(&short, &long), 8);
        assert!(COMPARED.get() < 8 * 40, "{} comparisons", COMPARED.get());
    }
}
