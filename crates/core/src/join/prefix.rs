//! The test by which two postings of one feature pair in prefix Term-Split.
//!
//! On a cluster a posting list is joined with itself by a process that knows nothing of a document but
//! what its postings carry: its size and where in the document the feature stands. Documents are
//! ordered by (size, id), features within a document from rare to frequent.
//!
//! Take two documents of sizes `a` and `b`, and let `t` be the least overlap with which they are in the
//! answer. The first feature that they share stands at positions `i` and `j` from 0, and all that they
//! share lies from there on, so `t <= min(a - i, b - j)` for every pair of the answer. The test asks
//! just this of every shared feature. It never loses a pair, for the first shared feature passes; and
//! later shared features soon fail it, so that a pair is rarely sent twice.
//!
//! The test needs no other filter. `t` is at most the smaller size, so the lengths fit. `t` is at least
//! the smallest overlap of the smaller document with any partner of its size or more, so the feature
//! lies in that document's index prefix; and by the same argument in the probe prefix of the larger. A
//! document is therefore sent under its probe prefix, with a flag on the postings of its index prefix:
//! without the flag it can only be the larger of a pair, which a reducer can use to skip ahead. With containment or an
//! overlap a partner may be as small as can be, so that the probe prefix is the whole document, or nearly so.

use crate::similarity::{SetSimilarity, Similarity};

/// One feature of one document, as a posting of prefix Term-Split carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The number of features of the document.
    pub size: u64,
    /// Where the feature stands in the document, in the common order of features, from 0.
    pub position: u64,
    /// Whether that lies in the index prefix, so that the document may be the smaller of a pair.
    pub indexed: bool,
}

impl Posting {
    /// The posting of a document of `size` features at `position`, `None` behind its probe prefix,
    /// where no pair needs it.
    #[cfg(test)]
    pub fn new(similarity: Similarity, size: u64, position: u64) -> Option<Self> {
        (position < similarity.probe_prefix(size)).then(|| Posting {
            size,
            position,
            indexed: position < similarity.index_prefix(size),
        })
    }

    /// How many features of the document stand at this position or behind it.
    fn left(&self) -> u64 {
        self.size.saturating_sub(self.position)
    }
}

/// Whether the two documents must be compared because of this feature.
///
/// `smaller` is the posting of the document that comes first by (size, id).
#[inline]
pub fn may_pair(similarity: Similarity, smaller: &Posting, larger: &Posting) -> bool {
    smaller.indexed
        && smaller.left().min(larger.left()) >= similarity.overlap_needed(smaller.size, larger.size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::tests::{all, truth};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// Every pair of the answer becomes a candidate; a flag withheld would have changed nothing; and
        /// all candidates fit by length.
        #[test]
        fn no_pair_is_lost(
            mut sets in prop::collection::vec(prop::collection::btree_set(0u32..30, 0..20), 2..30),
            billionths in prop_oneof![
                1u32..=1_000_000_000,
                (1u32..=20).prop_map(|n| n * 50_000_000),
            ],
            kind in 0usize..5,
            least in 1u64..12,
        ) {
            let text = if billionths == 1_000_000_000 { "1".into() } else { format!("0.{billionths:09}") };
            let tau = text.parse().unwrap();
            let similarity = all(tau, least)[kind];
            sets.sort_by_key(BTreeSet::len);
            let posting = |set: &BTreeSet<u32>, token: u32| {
                let position = set.iter().position(|&t| t == token).unwrap() as u64;
                Posting::new(similarity, set.len() as u64, position)
            };
            for (i, larger) in sets.iter().enumerate() {
                for smaller in &sets[..i] {
                    let (a, b) = (smaller.len() as u64, larger.len() as u64);
                    let mut candidate = false;
                    for &token in smaller.intersection(larger) {
                        let (Some(s), Some(l)) = (posting(smaller, token), posting(larger, token)) else {
                            continue;
                        };
                        let pairs = may_pair(similarity, &s, &l);
                        prop_assert_eq!(may_pair(similarity, &Posting { indexed: true, ..s }, &l), pairs);
                        prop_assert!(!pairs || b <= similarity.max_partner(a));
                        candidate |= pairs;
                    }
                    let overlap = smaller.intersection(larger).count() as u64;
                    prop_assert!(candidate || !truth(similarity, overlap, a, b), "{smaller:?} {larger:?}");
                }
            }
        }
    }
}
