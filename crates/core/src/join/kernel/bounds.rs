//! The bounds of a query that follow from its size alone, found once for all queries of one size.
//!
//! Each bound is a division, and a query asks for one with each candidate and one for each token of its prefix. The queries of a self-join ascend by size,
//! so nearly all of them have been found for the query before.

use crate::similarity::{SetSimilarity, Similarity};

/// Bounds further than this from the first of their kind are not kept, so that a large query has no large table to clear.
const KEPT: usize = 1024;

/// What is not known yet. No bound that is kept is so large.
const UNKNOWN: u32 = u32::MAX;

/// The bounds of the last query.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// The index that was asked, and the size of the query: 0 before the first.
    index: u64,
    size: u64,
    /// The size of its smallest partner.
    smallest: u64,
    /// By partner, from the smallest size on.
    needed: Vec<u32>,
    /// By tokens before the first shared one, singletons included.
    ends: Vec<u32>,
}

impl Bounds {
    /// Begins a query of this size.
    #[inline]
    pub fn begin(&mut self, index: u64, similarity: Similarity, size: u64) {
        if (self.index, self.size) != (index, size) {
            (self.index, self.size, self.smallest) = (index, size, similarity.min_partner(size));
            self.needed.clear();
            self.ends.clear();
        }
    }

    /// The size of the smallest partner.
    #[inline]
    pub fn smallest(&self) -> u64 {
        self.smallest
    }

    /// The overlap needed with a partner of this size, which is not below the smallest.
    #[inline]
    pub fn needed(&mut self, similarity: Similarity, partner: u64) -> u64 {
        let size = self.size;
        kept(&mut self.needed, partner.wrapping_sub(self.smallest), || {
            similarity.overlap_needed(size, partner)
        })
    }

    /// The overlaps needed that are known, for a loop that asks for many.
    #[inline]
    pub fn known(&self) -> KnownOverlaps<'_> {
        KnownOverlaps { smallest: self.smallest, needed: &self.needed }
    }

    /// What `end` says of a query with so many tokens before the first that it shares with its partner.
    #[inline]
    pub fn end(&mut self, before: u64, end: impl FnOnce() -> u32) -> u32 {
        kept(&mut self.ends, before, || end().into()) as u32
    }
}

/// Overlaps needed that were found before.
#[derive(Clone, Copy)]
pub(super) struct KnownOverlaps<'b> {
    smallest: u64,
    needed: &'b [u32],
}

impl KnownOverlaps<'_> {
    /// What [`Bounds::needed`] says, where that is known.
    #[inline]
    pub fn needed(self, partner: u64) -> Option<u64> {
        let bound = *self.needed.get(partner.wrapping_sub(self.smallest) as usize)?;
        (bound != UNKNOWN).then_some(bound.into())
    }
}

/// The bound at this place: as it is kept, or computed.
#[inline]
fn kept(bounds: &mut Vec<u32>, at: u64, compute: impl FnOnce() -> u64) -> u64 {
    if at >= KEPT as u64 {
        return compute();
    }
    let at = at as usize;
    match bounds.get(at) {
        Some(&bound) if bound != UNKNOWN => bound.into(),
        _ => keep(bounds, at, compute()),
    }
}

/// Keeps a bound, unless it is too large for that.
#[inline(never)]
fn keep(bounds: &mut Vec<u32>, at: usize, bound: u64) -> u64 {
    if at >= bounds.len() {
        bounds.resize((at + 1).next_power_of_two(), UNKNOWN);
    }
    bounds[at] = u32::try_from(bound).unwrap_or(UNKNOWN);
    bound
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::tau::Tau;
    use crate::similarity::tests::all;
    use proptest::prelude::*;

    proptest! {
        /// Queries of any sizes, of two indexes; each bound twice.
        #[test]
        fn bounds_are_those_of_the_similarity(
            billionths in 1u32..=1_000_000_000, least in 1u64..9, which in 0usize..5,
            queries in prop::collection::vec((0u64..2, prop_oneof![1u64..9, 1u64..4000, Just(u64::from(u32::MAX))], 0u64..3000), 1..9),
        ) {
            let similarity = all(Tau::from_billionths(billionths).unwrap(), least)[which];
            let mut bounds = Bounds::default();
            for (index, size, more) in queries {
                bounds.begin(index, similarity, size);
                let smallest = similarity.min_partner(size);
                prop_assert_eq!(bounds.smallest(), smallest);
                let partner = smallest.saturating_add(more);
                let end = (7 * index + 3 * size + more) as u32;
                for _ in 0..2 {
                    let needed = similarity.overlap_needed(size, partner);
                    prop_assert!(bounds.known().needed(partner).is_none_or(|known| known == needed));
                    prop_assert_eq!(bounds.needed(similarity, partner), needed);
                    let is_kept = more < KEPT as u64 && needed < u64::from(UNKNOWN);
                    prop_assert_eq!(bounds.known().needed(partner), is_kept.then_some(needed));
                    prop_assert_eq!(bounds.end(more, || end), end);
                }
            }
        }
    }
}
