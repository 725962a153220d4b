//! A bound of the overlap from a word for each set.

/// The width of a signature in bits.
const BITS: u32 = u64::BITS;

/// A set hashed into a bitmap (bit `h(token)` is on for each token, and no other), and its sizes beside
/// it: what a candidate is judged by lies in one place of memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signature {
    bits: u64,
    /// With singleton tokens, which have no bit.
    size: u32,
    singleton: u32,
}

impl Signature {
    /// The signature of a set of these tokens and so many singleton ones.
    pub fn of(tokens: &[u32], singleton: usize) -> Self {
        // Multiplicative hashing; the top bits of the product depend on all bits of the token.
        let bit = |token: u32| token.wrapping_mul(0x9e37_79b9) >> (u32::BITS - BITS.ilog2());
        Signature {
            bits: tokens.iter().fold(0, |bits, &token| bits | 1 << bit(token)),
            size: (tokens.len() + singleton) as u32,
            singleton: singleton as u32,
        }
    }

    /// The number of tokens, singleton ones included.
    #[inline]
    pub fn size(self) -> u64 {
        u64::from(self.size)
    }

    /// The most tokens that the two sets can share.
    ///
    /// A bit that is on in one signature only comes from a token that the other set lacks, and different
    /// bits come from different tokens: the bits that differ are at most the sizes less twice the
    /// overlap. Singletons are in no overlap, so they are not counted.
    #[inline]
    pub fn most_shared(self, other: Self) -> u64 {
        let differ = u64::from((self.bits ^ other.bits).count_ones());
        (self.known() + other.known()).saturating_sub(differ) / 2
    }

    /// The number of tokens that are no singletons.
    #[inline]
    pub fn known(self) -> u64 {
        u64::from(self.size - self.singleton)
    }

    /// The bitmap.
    #[inline]
    pub fn bits(self) -> u64 {
        self.bits
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
            singleton in 0usize..9,
        ) {
            let signature = |set: &std::collections::BTreeSet<u32>, singleton| {
                Signature::of(&set.iter().copied().collect::<Vec<_>>(), singleton)
            };
            let overlap = x.intersection(&y).count() as u64;
            let (sx, sy) = (signature(&x, singleton), signature(&y, 2 * singleton));
            prop_assert_eq!(sx.size(), (x.len() + singleton) as u64);
            prop_assert!(sx.most_shared(sy) >= overlap);
            prop_assert_eq!(sx.most_shared(sx), x.len() as u64);
        }
    }
}
