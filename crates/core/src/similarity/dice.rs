//! Dice: shared elements over the mean of the sizes. It orders pairs as Jaccard does, `J = D / (2 - D)`, on another
//! scale.

use super::tau::Tau;
use super::{SetSimilarity, narrow, round_up, wide};

/// Dice with its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dice(pub Tau);

impl SetSimilarity for Dice {
    #[inline]
    fn overlap_needed(self, a: u64, b: u64) -> u64 {
        let (p, q) = wide(self.0);
        round_up(p * (u128::from(a) + u128::from(b)), 2 * q)
    }

    #[inline]
    fn max_partner_sharing(self, a: u64, overlap: u64) -> u64 {
        let (p, q) = wide(self.0);
        narrow((2 * u128::from(overlap) * q / p).saturating_sub(a.into()))
    }

    #[inline]
    fn min_partner(self, a: u64) -> u64 {
        let (p, q) = wide(self.0);
        round_up(p * u128::from(a), 2 * q - p)
    }
}
