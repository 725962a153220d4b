//! Queries that are known together, as an index in memory: documents of a collection stream past it, and each of them finds the queries with
//! which it is in the answer.
//!
//! The index is that of a [slice](super::doc_split), but for sets of any size ([`Purpose::Foreign`]): a document may be smaller
//! than a query. Features that no query has fill the prefix of a document without costing anything, so that a document that has
//! nothing to do with the queries costs a look-up of each of its features.

use super::doc_split::SliceBuilder;
use super::kernel::{Index, Purpose, Scratch};
use super::sets::Sets;
use crate::similarity::containment::Containment;
use crate::similarity::{SetSimilarity, Similarity};
use rustc_hash::FxHashMap;

/// Bytes of memory that a feature of a query takes, at most, while the index is built.
pub const BYTES_OF_FEATURE: u64 = 72;
/// Bytes that a query takes beside its features and its id.
pub const BYTES_OF_QUERY: u64 = 64;

/// The working memory of one thread that looks documents up.
#[derive(Default)]
pub struct Probe {
    tokens: Vec<u32>,
    scratch: Scratch,
}

impl Probe {
    /// How many pairs were verified.
    pub fn verified(&self) -> u64 {
        self.scratch.work().candidates
    }
}

/// Sets of queries, indexed. Threads share it, each with a [`Probe`] of its own.
pub struct QueryIndex {
    similarity: Similarity,
    /// By number of the set.
    ids: Vec<Box<[u8]>>,
    tokens: FxHashMap<u64, u32>,
    index: Index<Sets>,
}

impl QueryIndex {
    /// Indexes queries.
    pub fn build(queries: SliceBuilder, similarity: Similarity) -> Self {
        let (ids, tokens, sets) = queries.numbered();
        let all = 0..sets.len();
        let index = Index::build(sets, all, symmetric(similarity), Purpose::Foreign);
        Self { similarity, ids, tokens, index }
    }

    /// How many queries there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The ids of the queries.
    pub fn ids(&self) -> impl Iterator<Item = &[u8]> {
        self.ids.iter().map(|id| &**id)
    }

    /// Calls `hit` with the id and the size of each query that is in the answer together with the document that has these
    /// features, and with what the two share; the features ascend or not, and are different from one another.
    pub fn find<'i>(&'i self, features: &[u64], probe: &mut Probe, mut hit: impl FnMut(&'i [u8], u64, u64)) {
        let Probe { tokens, scratch } = probe;
        tokens.clear();
        tokens.extend(features.iter().filter_map(|feature| self.tokens.get(feature)));
        if tokens.is_empty() {
            return;
        }
        tokens.sort_unstable();
        let (size, foreign) = (features.len() as u64, features.len() - tokens.len());
        let sets = self.index.sets();
        self.index.query(tokens, foreign, self.len(), scratch, |query, overlap| {
            let of_query = sets.size(query) as u64;
            // The index is of a similarity that is the same from either side.
            if self.similarity.accepts(overlap, of_query, size) {
                hit(&self.ids[query], of_query, overlap);
            }
        });
    }
}

/// A similarity with at least the same pairs that does not ask which of two sets is the query: what the [kernel](super::kernel) can
/// join. All of a query's share lies in the smaller set, too.
fn symmetric(similarity: Similarity) -> Similarity {
    match similarity {
        Similarity::QueryContainment(query) => Similarity::Containment(Containment(query.0)),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::tests::{all, truth};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// What brute force finds, whatever the sizes, and of a containment of queries what a fraction says.
        #[test]
        fn documents_find_the_queries_that_brute_force_finds(
            queries in prop::collection::vec(prop::collection::btree_set(0u64..30, 1..20), 0..20),
            documents in prop::collection::vec(prop::collection::btree_set(0u64..40, 0..30), 0..20),
            twentieths in 1u32..=20, kind in 0usize..6,
        ) {
            let tau: crate::similarity::tau::Tau =
                format!("{}.{:02}", twentieths / 20, twentieths % 20 * 5).parse().unwrap();
            let directed = Similarity::QueryContainment(crate::similarity::containment::QueryContainment(tau));
            let similarity = all(tau, twentieths.into()).get(kind).copied().unwrap_or(directed);
            let mut builder = SliceBuilder::default();
            let listed = |set: &BTreeSet<u64>| set.iter().copied().collect::<Vec<u64>>();
            for (at, query) in queries.iter().enumerate() {
                builder.push(at.to_string().as_bytes(), &listed(query));
            }
            let index = QueryIndex::build(builder, similarity);
            let mut probe = Probe::default();
            for document in &documents {
                let mut found = Vec::new();
                index.find(&listed(document), &mut probe, |id, size, overlap| {
                    found.push((String::from_utf8_lossy(id).parse::<usize>().unwrap(), size, overlap));
                });
                found.sort_unstable();
                let mut expected = Vec::new();
                for (at, query) in queries.iter().enumerate() {
                    let overlap = query.intersection(document).count() as u64;
                    let (q, d) = (query.len() as u64, document.len() as u64);
                    let is_pair = match kind {
                        5 => overlap > 0 && 20 * overlap >= u64::from(twentieths) * q,
                        _ => truth(similarity, overlap, q, d),
                    };
                    if is_pair {
                        expected.push((at, q, overlap));
                    }
                }
                prop_assert_eq!(found, expected);
            }
        }
    }
}
