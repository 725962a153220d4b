//! Cosine: shared elements over the geometric mean of the sizes. It lies between Dice and containment: two sets of
//! different sizes reach a threshold more easily than with Dice.
//!
//! The root is squared away, `o²·q² >= p²·a·b`: with sizes below 2^32 and `p, q <= 10^9` both sides stay below 2^124.

use super::tau::Tau;
use super::{SetSimilarity, narrow, round_up, wide};

/// Cosine with its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cosine(pub Tau);

impl SetSimilarity for Cosine {
    #[inline]
    fn overlap_needed(self, a: u64, b: u64) -> u64 {
        let (p, q) = wide(self.0);
        let square = (p * p).saturating_mul(u128::from(a) * u128::from(b));
        let root = square.isqrt();
        round_up(root + u128::from(root * root < square), q)
    }

    #[inline]
    fn max_partner_sharing(self, a: u64, overlap: u64) -> u64 {
        let (p, q) = wide(self.0);
        let most = (q * q).saturating_mul(u128::from(overlap) * u128::from(overlap));
        narrow(most / (p * p).saturating_mul(a.into()).max(1))
    }

    #[inline]
    fn min_partner(self, a: u64) -> u64 {
        let (p, q) = wide(self.0);
        round_up((p * p).saturating_mul(a.into()), q * q)
    }
}
