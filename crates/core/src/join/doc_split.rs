//! One Doc-Split slice in memory: some documents, indexed, for queries that come from anywhere.
//!
//! Any total order of features gives the same answer, as long as a query and the sets it is compared with share it.
//! A slice therefore has its own: ascending document frequency *within the slice*, ties by feature. Features of a
//! query that the slice does not hold have frequency 0 and come first, where they fill the query's prefix without
//! costing anything. To the kernel they are singletons: their number is all it needs.

use super::kernel::{ConnectedSlice, Index, Purpose, Scratch};
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

    /// Sorts the documents by (size, id), numbers the features, and indexes the slice, for all pairs.
    pub fn build(self, similarity: Similarity) -> Slice {
        let (ids, tokens, sets) = self.numbered();
        let all = 0..sets.len();
        let index = Index::build(sets, all, similarity, Purpose::SelfJoin);
        Slice {
            similarity,
            ids,
            tokens,
            index: SliceIndex::All(Box::new(index), Box::default()),
            query: Vec::new(),
        }
    }

    /// The same for pairs that connect what all pairs connect; those that are found on the way are handed to `link`: id and size of the two, and their
    /// overlap.
    pub fn build_connected(
        self,
        similarity: Similarity,
        mut link: impl FnMut((&[u8], u64), (&[u8], u64), u64),
    ) -> Slice {
        if self.ids.is_empty() {
            return self.build(similarity);
        }
        let (ids, tokens, sets) = self.numbered();
        let sizes: Vec<u64> = (0..sets.len()).map(|set| sets.size(set) as u64).collect();
        let slice = ConnectedSlice::build(sets, similarity, |x, y, overlap| {
            link((&ids[x], sizes[x]), (&ids[y], sizes[y]), overlap);
        });
        let index = SliceIndex::Connected(Box::new(slice));
        Slice { similarity, ids, tokens, index, query: Vec::new() }
    }

    /// The ids of the documents in the order of (size, id), the numbers of features, and the sets.
    pub(super) fn numbered(self) -> (Vec<Box<[u8]>>, FxHashMap<u64, u32>, Sets) {
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
        (ids, tokens, sets)
    }
}

/// What answers queries.
enum SliceIndex {
    /// With all pairs.
    All(Box<Index<Sets>>, Box<Scratch>),
    /// With pairs that connect what all connect.
    Connected(Box<ConnectedSlice>),
}

impl SliceIndex {
    fn sets(&self) -> &Sets {
        match self {
            SliceIndex::All(index, _) => index.sets(),
            SliceIndex::Connected(slice) => slice.sets(),
        }
    }
}

/// A slice that answers queries.
pub struct Slice {
    similarity: Similarity,
    /// By number of the set.
    ids: Vec<Box<[u8]>>,
    tokens: FxHashMap<u64, u32>,
    index: SliceIndex,
    query: Vec<u32>,
}

impl Slice {
    /// How many documents the slice holds.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// How many pairs were verified.
    pub fn verified(&self) -> u64 {
        match &self.index {
            SliceIndex::All(_, scratch) => scratch.work().candidates,
            SliceIndex::Connected(slice) => slice.verified(),
        }
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
    /// where (|y|, id of y) < (|x|, id of x): so each pair of a collection is found once, whatever the slices. Where components are asked for, it is called for
    /// pairs that connect what all these connect.
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
        match &mut self.index {
            SliceIndex::All(index, scratch) => {
                index.query(&self.query, foreign, limit, scratch, |y, overlap| {
                    hit(&self.ids[y], index.sets().size(y) as u64, overlap);
                })
            }
            SliceIndex::Connected(slice) => {
                let own = (limit < equal && *self.ids[limit] == *id).then_some(limit);
                slice.query(own, (&self.query, foreign), |y, size, overlap| {
                    hit(&self.ids[y], size as u64, overlap);
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::components::Components;
    use crate::similarity::tests::{all, truth};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Queries of a whole collection past slices dealt out anyhow find what brute force finds, once, or pairs that connect the same.
        #[test]
        fn slices_find_every_pair_once_or_what_connects_all(
            sets in prop::collection::vec(prop::collection::btree_set(0u64..25, 1..15), 1..25),
            slices in 1usize..5, twentieths in 1u32..=20, kind in 0usize..5,
            connected in any::<bool>(), alike in any::<bool>(),
        ) {
            let more = |at: usize| (alike && !at.is_multiple_of(3)).then_some(100..140).into_iter().flatten();
            let sets: Vec<BTreeSet<u64>> =
                sets.into_iter().enumerate().map(|(at, set)| set.into_iter().chain(more(at)).collect()).collect();
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
                let mut slice = match connected {
                    false => builder.build(similarity),
                    true => builder.build_connected(similarity, |(x, _), (y, _), overlap| {
                        found.push((x.min(y).to_vec(), x.max(y).to_vec(), overlap));
                    }),
                };
                for (at, set) in listed.iter().enumerate() {
                    let x = id(at);
                    let before = found.len();
                    slice.query(&x, set, |y, _, overlap| {
                        let (a, b) = if *x < *y { (x.clone(), y.to_vec()) } else { (y.to_vec(), x.clone()) };
                        found.push((a, b, overlap));
                    });
                    let may_pair = slice.may_pair(set.len() as u64);
                    // A set of another slice may meet a larger one.
                    prop_assert!(connected || found.len() == before || may_pair);
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
            if connected {
                prop_assert!(found.iter().all(|pair| expected.binary_search(pair).is_ok()));
                let components = |pairs: &[(Vec<u8>, Vec<u8>, u64)]| {
                    let mut graph = Components::default();
                    pairs.iter().for_each(|(x, y, _)| {
                        graph.union(x, y);
                    });
                    let labels = graph.labels();
                    let label = |number: u32| graph.ids.get(labels[number as usize]).to_vec();
                    (0..labels.len() as u32).map(|number| (graph.ids.get(number).to_vec(), label(number))).collect::<BTreeSet<_>>()
                };
                prop_assert_eq!(components(&found), components(&expected));
                return Ok(());
            }
            prop_assert_eq!(found, expected);
        }
    }
    /// Documents that are alike, of one slice or two, make a pair each or two, and most of them no candidate.
    #[test]
    fn alike_documents_make_few_pairs() {
        let similarity = all("0.9".parse().unwrap(), 1)[0];
        for slices in [1, 2] {
            let (mut links, count) = (0, 400);
            let set =
                |at: u64| (0..97).chain([1000 + 3 * at, 1001 + 3 * at, 1002 + 3 * at]).collect::<Vec<u64>>();
            for slice in 0..slices {
                let mut builder = SliceBuilder::default();
                (slice..count)
                    .step_by(slices as usize)
                    .for_each(|at| builder.push(format!("{at:03}").as_bytes(), &set(at)));
                let mut slice = builder.build_connected(similarity, |_, _, _| links += 1);
                for at in 0..count {
                    slice.query(format!("{at:03}").as_bytes(), &set(at), |_, _, _| links += 1);
                }
            }
            assert!((count - 1..2 * count).contains(&links), "{slices} slices: {links}");
        }
    }
}
