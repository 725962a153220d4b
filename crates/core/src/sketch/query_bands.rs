//! Queries under the keys of the bands of their signatures, in memory: which of them share a key with a document, and are similar in truth.

use super::bands::BandHasher;
use crate::join;
use crate::similarity::{SetSimilarity, Similarity};
use rustc_hash::FxHashMap;

/// Bytes of memory that a key of a query takes, at most.
pub const BYTES_OF_KEY: u64 = 64;

/// A query: its id, and its features in ascending order.
type Query = (Box<[u8]>, Box<[u64]>);

/// Sets of queries, by the keys of their bands. Threads share it, each with a [`BandProbe`] of its own.
pub struct QueryBands {
    similarity: Similarity,
    queries: Vec<Query>,
    keys: FxHashMap<u64, Vec<u32>>,
}

/// The working memory of one thread that looks documents up.
pub struct BandProbe {
    hasher: BandHasher,
    keys: Vec<u64>,
    candidates: Vec<u32>,
    verified: u64,
}

impl BandProbe {
    /// It makes keys as those of the queries were made.
    pub fn new(hasher: BandHasher) -> Self {
        Self { hasher, keys: Vec::new(), candidates: Vec::new(), verified: 0 }
    }

    /// How many pairs were verified.
    pub fn verified(&self) -> u64 {
        self.verified
    }
}

impl QueryBands {
    /// Without queries.
    pub fn new(similarity: Similarity) -> Self {
        Self { similarity, queries: Vec::new(), keys: FxHashMap::default() }
    }

    /// Takes a query with at least one feature; the features ascend.
    pub fn push(&mut self, id: &[u8], features: &[u64], probe: &mut BandProbe) {
        let number = self.queries.len() as u32;
        probe.keys.clear();
        probe.hasher.of(features, &mut probe.keys);
        probe.keys.iter().for_each(|key| self.keys.entry(*key).or_default().push(number));
        self.queries.push((id.into(), features.into()));
    }

    /// The ids of the queries.
    pub fn ids(&self) -> impl Iterator<Item = &[u8]> {
        self.queries.iter().map(|(id, _)| &**id)
    }

    /// Calls `hit` with the id and the size of each query that shares a key with the document of these features, which ascend, and is in the answer
    /// together with it; and with what the two share.
    pub fn find(&self, features: &[u64], probe: &mut BandProbe, mut hit: impl FnMut(&[u8], u64, u64)) {
        let BandProbe { hasher, keys, candidates, verified } = probe;
        keys.clear();
        hasher.of(features, keys);
        candidates.clear();
        candidates.extend(keys.iter().filter_map(|key| self.keys.get(key)).flatten());
        candidates.sort_unstable();
        candidates.dedup();
        let size = features.len() as u64;
        for candidate in candidates.iter() {
            let (id, query) = &self.queries[*candidate as usize];
            let of_query = query.len() as u64;
            let overlap = join::overlap(query, features);
            *verified += 1;
            if self.similarity.accepts(overlap, of_query, size) {
                hit(id, of_query, overlap);
            }
        }
    }
}
