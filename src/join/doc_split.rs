//! One Doc-Split slice in memory: some documents, indexed, for queries that come from anywhere.
//!
//! Any total order of features gives the same answer, as long as a query and the sets it is compared with share it.
//! A slice therefore has its own: ascending document frequency *within the slice*, ties by feature. Features of a
//! query that the slice does not hold have frequency 0 and come first, where they fill the query's prefix without
//! costing anything. To the kernel they are singletons: their number is all it needs.

use super::kernel::{Index, Purpose, Scratch};
use super::sets::Sets;
use crate::similarity::{SetSimilarity, Similarity};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Collects the documents of a slice.
#[derive(Default)]
pub struct SliceBuilder {
    ids: Vec<u8>,
    features: Vec<u64>,
    /// For each document where its id and its features end.
    ends: Vec<(usize, usize)>,
}

impl SliceBuilder {
    /// Adds a document, in any order.
    pub fn push(&mut self, id: &[u8], features: &[u64]) {
        self.ids.extend_from_slice(id);
        self.features.extend_from_slice(features);
        self.ends.push((self.ids.len(), self.features.len()));
    }

    /// Sorts the documents by (size, id), numbers the features, and indexes the slice.
    pub fn build(self, similarity: Similarity) -> Slice {
        let mut frequencies: FxHashMap<u64, u32> = FxHashMap::default();
        for feature in &self.features {
            *frequencies.entry(*feature).or_default() += 1;
        }
        let mut vocabulary: Vec<_> =
            frequencies.into_iter().map(|(feature, count)| (count, feature)).collect();
        vocabulary.sort_unstable();
        let tokens: FxHashMap<u64, u32> = (0..).zip(vocabulary).map(|(token, (_, f))| (f, token)).collect();

        let range = |at: usize, end: fn(&(usize, usize)) -> usize| {
            let start = at.checked_sub(1).map_or(0, |before| end(&self.ends[before]));
            start..end(&self.ends[at])
        };
        let mut documents: Vec<_> =
            (0..self.ends.len()).map(|at| (range(at, |ends| ends.1), range(at, |ends| ends.0))).collect();
        let key = |document: &(Range<usize>, Range<usize>)| (document.0.len(), &self.ids[document.1.clone()]);
        documents.sort_by(|x, y| key(x).cmp(&key(y)));

        let mut sets = Sets::with_capacity(documents.len(), self.features.len());
        let mut ids = Vec::with_capacity(documents.len());
        let mut set = Vec::new();
        for (features, id) in documents {
            set.clear();
            set.extend(self.features[features].iter().filter_map(|feature| tokens.get(feature)));
            set.sort_unstable();
            sets.push(&set);
            ids.push(self.ids[id].to_vec().into_boxed_slice());
        }
        let all = 0..sets.len();
        let index = Index::build(sets, all, similarity, Purpose::SelfJoin);
        Slice { similarity, ids, tokens, index, scratch: Scratch::default(), query: Vec::new() }
    }
}

/// A slice that answers queries.
pub struct Slice {
    similarity: Similarity,
    /// By number of the set.
    ids: Vec<Box<[u8]>>,
    tokens: FxHashMap<u64, u32>,
    index: Index<Sets>,
    scratch: Scratch,
    query: Vec<u32>,
}

impl Slice {
    /// How many documents the slice holds.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether a document of this size could find a partner of at most its own size here.
    pub fn may_pair(&self, size: u64) -> bool {
        let sets = self.index.sets();
        !self.is_empty()
            && self.similarity.min_partner(size) <= sets.size(sets.len() - 1) as u64
            && size >= sets.size(0) as u64
    }

    /// Calls `hit` with id, size and overlap of each document y of the slice that pairs with the document x given,
    /// where (|y|, id of y) < (|x|, id of x): so each pair of a collection is found once, whatever the slices.
    pub fn query<'s>(&'s mut self, id: &[u8], features: &[u64], mut hit: impl FnMut(&'s [u8], u64, u64)) {
        self.query.clear();
        self.query.extend(features.iter().filter_map(|feature| self.tokens.get(feature)));
        self.query.sort_unstable();
        let foreign = features.len() - self.query.len();
        let sets = self.index.sets();
        let size = features.len();
        let smaller = sets.count_up_to((size as u64).saturating_sub(1));
        let equal = sets.count_up_to(size as u64);
        let limit = smaller + self.ids[smaller..equal].partition_point(|other| **other < *id);
        self.index.query(&self.query, foreign, limit, &mut self.scratch, |y, overlap| {
            hit(&self.ids[y], sets.size(y) as u64, overlap);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::tests::{all, truth};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Queries of a whole collection past slices dealt out anyhow find what brute force finds, once.
        #[test]
        fn slices_find_every_pair_once(
            sets in prop::collection::vec(prop::collection::btree_set(0u64..25, 1..15), 1..25),
            slices in 1usize..5, twentieths in 1u32..=20, kind in 0usize..5,
        ) {
            let tau = format!("{}.{:02}", twentieths / 20, twentieths % 20 * 5).parse().unwrap();
            let similarity = all(tau, twentieths.into())[kind];
            let id = |at: usize| format!("d{}", (at * 7) % sets.len().max(1) * 31 + at).into_bytes();
            let listed: Vec<Vec<u64>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
            let mut found = Vec::new();
            for slice in 0..slices {
                let mut builder = SliceBuilder::default();
                for at in (slice..sets.len()).step_by(slices) {
                    builder.push(&id(at), &listed[at]);
                }
                let mut slice = builder.build(similarity);
                for (at, set) in listed.iter().enumerate() {
                    let x = id(at);
                    let before = found.len();
                    slice.query(&x, set, |y, _, overlap| {
                        let (a, b) = if *x < *y { (x.clone(), y.to_vec()) } else { (y.to_vec(), x.clone()) };
                        found.push((a, b, overlap));
                    });
                    prop_assert!(found.len() == before || slice.may_pair(set.len() as u64));
                }
            }
            let mut expected = Vec::new();
            let shared = |x: &BTreeSet<u64>, y: &BTreeSet<u64>| x.intersection(y).count() as u64;
            for x in 0..sets.len() {
                for y in 0..sets.len() {
                    let overlap = shared(&sets[x], &sets[y]);
                    let (a, b) = (sets[x].len() as u64, sets[y].len() as u64);
                    if id(x) < id(y) && truth(similarity, overlap, a, b) {
                        expected.push((id(x), id(y), overlap));
                    }
                }
            }
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
