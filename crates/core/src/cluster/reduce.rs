//! The documents that are least alike: as many are dropped as are too many, those of the most similar pairs first.
//!
//! Documents go by their ranks, the best one first. Pairs are taken by descending similarity, all equally similar ones as one level. On a level
//! the documents are gone through from the best to the worst: one is to drop if a better one that stays is its partner on the level. So no two
//! documents that stay after a whole level reach its similarity, and each one that the level drops has a partner that stays after it.
//! Of the last level the worst documents are dropped, as many as are still too many.
//!
//! The order in which documents are dropped does not depend on how many are to stay: those that stay of N are among those that stay of N + 1.
//!
//! A document that goes may have been the partner of others that went before. So who stands for a document in the end is found afterwards: of
//! the better documents that stay and are its partners the most similar one, or else who stands for the one that it was dropped for.

use std::cmp::Ordering;

/// Two documents that pair, by their ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge<L> {
    /// The larger rank.
    pub worse: u32,
    /// The smaller rank.
    pub better: u32,
    /// How similar the two are.
    pub likeness: L,
}

impl<L> Edge<L> {
    /// That of two documents in either order.
    pub fn of(x: u32, y: u32, likeness: L) -> Self {
        Self { worse: x.max(y), better: x.min(y), likeness }
    }
}

/// Which documents stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced<L> {
    /// By rank who stands for a document: itself where it stays, or else a better one that does.
    pub stands: Vec<u32>,
    /// One of the equally similar pairs for which documents were dropped last; nothing where none was.
    pub last: Option<Edge<L>>,
    /// How many are still too many when every pair has lost a document.
    pub lacking: u64,
}

/// Drops `drop` of so many documents by their pairs, each of which is given once; `order` is the order of two pairs by their
/// similarity, the more similar one first. Leaves the pairs in that order.
pub fn reduce<L: Copy>(
    documents: usize,
    pairs: &mut [Edge<L>],
    drop: u64,
    order: impl Fn(&Edge<L>, &Edge<L>) -> Ordering,
) -> Reduced<L> {
    let ranks = |edge: &Edge<L>| (edge.worse, edge.better);
    pairs.sort_unstable_by(|x, y| order(x, y).then_with(|| ranks(x).cmp(&ranks(y))));
    let equal = |x: &Edge<L>, y: &Edge<L>| order(x, y).is_eq();
    // Whoever stays stands for itself.
    let mut stands: Vec<u32> = (0_u32..).take(documents).collect();
    let (mut last, mut lacking, mut dropped) = (None, drop, Vec::new());
    for level in pairs.chunk_by(equal) {
        if lacking == 0 {
            break;
        }
        dropped.clear();
        for &Edge { worse, better, .. } in level {
            if stays(&stands, better) && stays(&stands, worse) {
                stands[worse as usize] = better;
                dropped.push(worse);
            }
        }
        let spared = dropped.len() - dropped.len().min(usize::try_from(lacking).unwrap_or(usize::MAX));
        dropped.drain(..spared).for_each(|document| stands[document as usize] = document);
        lacking -= dropped.len() as u64;
        if !dropped.is_empty() {
            last = level.first().copied();
        }
    }
    settle(&mut stands, pairs, equal);
    Reduced { stands, last, lacking }
}

/// Whether a document was not dropped so far.
fn stays(stands: &[u32], document: u32) -> bool {
    stands[document as usize] == document
}

/// Makes whom documents were dropped for who stands for them, by the pairs in their order.
fn settle<L>(stands: &mut [u32], pairs: &[Edge<L>], equal: impl Fn(&Edge<L>, &Edge<L>) -> bool) {
    let mut nearest = vec![u32::MAX; stands.len()];
    for level in pairs.chunk_by(equal) {
        // By their better documents within each worse one, the first is the best.
        for &Edge { worse, better, .. } in level {
            let own = &mut nearest[worse as usize];
            if *own == u32::MAX && !stays(stands, worse) && stays(stands, better) {
                *own = better;
            }
        }
    }
    for document in 0..stands.len() {
        let dropped_for = stands[document] as usize;
        if dropped_for != document {
            // That one is better, and so it is settled.
            stands[document] = match nearest[document] {
                u32::MAX => stands[dropped_for],
                nearest => nearest,
            };
        }
    }
}

/// Of documents that are all to drop if as many as that are too many, the others, which are spared: the best by `key`.
pub fn spare<K: Ord>(copies: &mut Vec<u32>, drop: u64, key: impl Fn(u32) -> K) -> Vec<u32> {
    let most = usize::try_from(drop).unwrap_or(usize::MAX);
    if copies.len() <= most {
        return Vec::new();
    }
    copies.sort_unstable_by_key(|copy| key(*copy));
    let dropped = copies.split_off(copies.len() - most);
    std::mem::replace(copies, dropped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, word for word: the documents in the order in which they are dropped, each with whom it is dropped for.
    fn dropped_by_definition(documents: u32, similar: impl Fn(u32, u32) -> u32) -> Vec<(u32, u32, u32)> {
        let mut dropped: Vec<(u32, u32, u32)> = Vec::new();
        for level in (1..10).rev() {
            let went: Vec<u32> = dropped.iter().map(|(document, ..)| *document).collect();
            let mut stay: Vec<u32> = Vec::new();
            let mut now = Vec::new();
            for document in (0..documents).filter(|document| !went.contains(document)) {
                match stay.iter().find(|better| similar(document, **better) == level) {
                    Some(better) => now.push((document, *better, level)),
                    None => stay.push(document),
                }
            }
            dropped.extend(now.iter().rev());
        }
        dropped
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn is_what_the_definition_says(
            documents in 1u32..20,
            pairs in prop::collection::btree_map((0u32..20, 0u32..20), 1u32..10, 0..80),
            drop in 0u64..20,
        ) {
            let edges: std::collections::BTreeMap<(u32, u32), u32> = pairs
                .iter()
                .map(|((x, y), likeness)| ((x % documents, y % documents), *likeness))
                .filter(|((x, y), _)| x > y)
                .collect();
            let similar = |x: u32, y: u32| edges.get(&(x.max(y), x.min(y))).copied().unwrap_or(0);
            let mut pairs: Vec<_> = edges.iter().map(|((x, y), likeness)| Edge::of(*y, *x, *likeness)).collect();
            let found = reduce(documents as usize, &mut pairs, drop, |x, y| y.likeness.cmp(&x.likeness));

            let all = dropped_by_definition(documents, similar);
            let dropped = &all[..all.len().min(drop as usize)];
            let gone = |document: u32| dropped.iter().find(|(other, ..)| *other == document);
            prop_assert_eq!(found.lacking, drop - dropped.len() as u64);
            let last = found.last.map(|edge| edge.likeness);
            prop_assert_eq!(last, dropped.last().map(|(.., level)| *level));
            for document in 0..documents {
                let mut expected = document;
                while let Some((_, next, _)) = gone(expected) {
                    let partners = (0..expected).filter(|other| gone(*other).is_none() && similar(expected, *other) > 0);
                    // The most similar one, of equally similar ones the best.
                    let nearest = partners.max_by_key(|other| (similar(expected, *other), u32::MAX - other));
                    expected = nearest.unwrap_or(*next);
                }
                prop_assert_eq!(found.stands[document as usize], expected, "{}", document);
            }
            // What is promised of a whole level: no two that stay are more alike than the last pair.
            if let Some(last) = last {
                let staying: Vec<u32> = (0..documents).filter(|document| gone(*document).is_none()).collect();
                for (at, x) in staying.iter().enumerate() {
                    prop_assert!(staying[..at].iter().all(|y| similar(*x, *y) <= last));
                }
            }
        }

        #[test]
        fn the_worst_copies_are_dropped(copies in prop::collection::btree_set(0u32..40, 0..20), drop in 0u64..25) {
            let mut left: Vec<u32> = copies.iter().copied().collect();
            let spared = spare(&mut left, drop, |copy| copy);
            prop_assert_eq!(left.len(), copies.len().min(drop as usize));
            prop_assert!(spared.iter().all(|spared| left.iter().all(|copy| copy > spared)));
            prop_assert_eq!(left.len() + spared.len(), copies.len());
        }
    }

    /// 1 goes for 0 at 9, and then 0 stays; 3 goes for 2 at 9, and then 2 for 0: no partner of 3 stays.
    #[test]
    fn who_stands_for_a_document_may_be_none_of_its_partners() {
        let mut pairs = [Edge::of(0, 1, 9), Edge::of(3, 2, 9), Edge::of(2, 0, 5)];
        let order = |x: &Edge<u32>, y: &Edge<u32>| y.likeness.cmp(&x.likeness);
        let reduced = |pairs: &mut [Edge<u32>], drop| reduce(4, pairs, drop, order);
        let found =
            |stands: [u32; 4], last| Reduced { stands: stands.to_vec(), last: Some(last), lacking: 0 };
        assert_eq!(reduced(&mut pairs, 3), found([0, 0, 0, 0], Edge::of(2, 0, 5)));
        assert_eq!(reduced(&mut pairs, 1), found([0, 1, 2, 2], Edge::of(1, 0, 9)));
        assert_eq!(reduced(&mut pairs, 0), Reduced { stands: vec![0, 1, 2, 3], last: None, lacking: 0 });
        assert_eq!(reduced(&mut pairs, 7).lacking, 4);
    }
}
