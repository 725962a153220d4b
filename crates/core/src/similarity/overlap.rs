//! Overlap: the number of shared elements, whatever the sizes. It finds passages of a length in common, such as a
//! quotation in two long texts.
//!
//! A set of fewer elements than the threshold is in no pair, not even with its equal.

use super::SetSimilarity;

/// The least number of shared elements; 0 asks for what 1 does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap(pub u64);

impl SetSimilarity for Overlap {
    #[inline]
    fn overlap_needed(self, _: u64, _: u64) -> u64 {
        self.0.max(1)
    }

    #[inline]
    fn max_partner_sharing(self, _: u64, overlap: u64) -> u64 {
        if overlap >= self.0.max(1) { u64::MAX } else { 0 }
    }

    #[inline]
    fn min_partner(self, _: u64) -> u64 {
        self.0.max(1)
    }
}
