//! A bound of the overlap from a word for each set.

/// The width of a signature in bits.
const BITS: u32 = u64::BITS;

/// A set hashed into a bitmap: bit `h(token)` is on for each token, and no other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signature(u64);

impl Signature {
    /// The signature of a set.
    pub fn of(tokens: &[u32]) -> Self {
        // Multiplicative hashing; the top bits of the product depend on all bits of the token.
        let bit = |token: u32| token.wrapping_mul(0x9e37_79b9) >> (u32::BITS - BITS.ilog2());
        Signature(tokens.iter().fold(0, |bits, &token| bits | 1 << bit(token)))
    }

    /// The most tokens that two sets can share whose sizes add up to `sizes`.
    ///
    /// A bit that is on in one signature only comes from a token that the other set lacks, and different
    /// bits come from different tokens: the bits that differ are at most `sizes - 2 * overlap`.
    #[inline]
    pub fn most_shared(self, other: Self, sizes: u64) -> u64 {
        sizes.saturating_sub(u64::from((self.0 ^ other.0).count_ones())) / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_below_the_overlap(
            x in prop::collection::btree_set(0u32..400, 0..200),
            y in prop::collection::btree_set(0u32..400, 0..200),
        ) {
            let signature = |set: &std::collections::BTreeSet<u32>| {
                Signature::of(&set.iter().copied().collect::<Vec<_>>())
            };
            let overlap = x.intersection(&y).count() as u64;
            let (sx, sy) = (signature(&x), signature(&y));
            prop_assert!(sx.most_shared(sy, (x.len() + y.len()) as u64) >= overlap);
            prop_assert_eq!(sx.most_shared(sx, 2 * x.len() as u64), x.len() as u64);
        }
    }
}
