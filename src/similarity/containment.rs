//! Containment: how much of the smaller set lies in the larger one. Also the overlap coefficient, and CCS in the
//! literature on copies. It finds what a larger text quotes or includes.
//!
//! The overlap needed depends on the smaller set alone, `ceil(tau·min(a, b))`. So a set of size `a` may have a partner of
//! any size, down to a single element, and a probe prefix is the whole set; the index prefix, for partners of at least
//! its own size, is `a - ceil(tau·a) + 1`.

use super::SetSimilarity;
use super::tau::Tau;

/// Containment with its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Containment(pub Tau);

impl SetSimilarity for Containment {
    #[inline]
    fn overlap_needed(self, a: u64, b: u64) -> u64 {
        self.0.share_of(a.min(b))
    }

    #[inline]
    fn max_partner_sharing(self, a: u64, overlap: u64) -> u64 {
        if overlap >= self.0.share_of(a) { u64::MAX } else { self.0.whole_of(overlap) }
    }

    #[inline]
    fn min_partner(self, _: u64) -> u64 {
        // All of a smaller set may lie in the other one, whatever their sizes.
        1
    }
}
