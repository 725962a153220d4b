//! Jaccard: shared elements of those in either set.
//!
//! The similarity of two sets of sizes `a` and `b` that share `o` elements is `o / (a + b - o)`. With a threshold `p/q`,
//! the pair is in the answer when
//!
//! ```text
//! o / (a + b - o) >= p/q   <=>   o·q >= p·(a + b) - p·o   <=>   o·(p + q) >= p·(a + b)
//! ```
//!
//! and every bound is this inequality solved for one of its letters and rounded to the safe side. Products are taken in
//! 128 bits, where nothing overflows: `p + q < 2^31` and `a + b < 2^65`; and in 64 bits, which is faster, where they fit.

use super::SetSimilarity;
use super::tau::Tau;

/// Jaccard with its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jaccard(pub Tau);

impl SetSimilarity for Jaccard {
    #[inline]
    fn accepts(self, overlap: u64, a: u64, b: u64) -> bool {
        overlap >= 1 && u128::from(overlap) * self.sum() >= self.p() * (u128::from(a) + u128::from(b))
    }

    #[inline]
    fn overlap_needed(self, a: u64, b: u64) -> u64 {
        let (p, q) = self.0.fraction();
        // p/(p+q) <= 1/2, so that the quotient is at most the mean of a and b and fits.
        match a.checked_add(b).and_then(|s| s.checked_mul(u64::from(p))) {
            Some(n) => n.div_ceil(u64::from(p) + u64::from(q)).max(1),
            None => {
                let n = self.p() * (u128::from(a) + u128::from(b));
                n.div_ceil(self.sum()).max(1) as u64
            }
        }
    }

    /// The overlap is at most `b` and the union at least `a`, so the similarity is at most `b/a`.
    #[inline]
    fn min_partner(self, a: u64) -> u64 {
        self.0.share_of(a)
    }

    /// The smallest partner lies in the set whole.
    #[inline]
    fn least_overlap(self, a: u64) -> u64 {
        self.min_partner(a)
    }

    #[inline]
    fn max_partner_sharing(self, a: u64, overlap: u64) -> u64 {
        let (p, q) = self.0.fraction();
        match overlap.checked_mul(u64::from(p) + u64::from(q)) {
            Some(n) => (n / u64::from(p)).saturating_sub(a),
            None => {
                let sum = u128::from(overlap) * self.sum() / self.p();
                u64::try_from(sum.saturating_sub(u128::from(a))).unwrap_or(u64::MAX)
            }
        }
    }
}

impl Jaccard {
    fn p(self) -> u128 {
        u128::from(self.0.fraction().0)
    }

    /// p + q.
    fn sum(self) -> u128 {
        let (p, q) = self.0.fraction();
        u128::from(p) + u128::from(q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::Ratio;
    use proptest::prelude::*;

    fn jaccard(text: &str) -> Jaccard {
        Jaccard(text.parse().unwrap())
    }

    #[test]
    fn holds_at_the_ends_of_the_integers() {
        let (one, least) = (jaccard("1"), jaccard("0.000000001"));
        let max = u64::MAX;
        assert!(one.accepts(max, max, max));
        assert!(!one.accepts(max - 1, max, max));
        assert_eq!(one.overlap_needed(max, max), max);
        assert_eq!((one.max_partner(max), least.max_partner(max)), (max, max));
        assert_eq!((one.min_partner(max), least.min_partner(5)), (max, 1));
        assert_eq!((one.probe_prefix(max - 1), one.index_prefix(max - 1)), (1, 1));
        assert_eq!((one.probe_prefix(0), one.index_prefix(0)), (0, 0));
        assert!(!least.accepts(0, 0, 0));
        assert!(!least.accepts(0, 3, 3));
    }

    proptest! {
        /// The bounds as design and papers give them.
        #[test]
        fn bounds_are_the_known_ones(billionths in 1u32..=1_000_000_000, places in 0u32..=9, a in 0u64..60) {
            let step = 10u32.pow(9 - places);
            let tau = Tau::from_billionths((billionths.div_ceil(step) * step).min(1_000_000_000)).unwrap();
            let (one, jaccard) = (Ratio::from_integer(1_u128), Jaccard(tau));
            let (exact, size) = (Ratio::new(tau.fraction().0.into(), tau.fraction().1.into()), u128::from(a));
            let all = Ratio::from_integer(size);
            prop_assert_eq!(u128::from(jaccard.min_partner(a)), (exact * all).ceil().to_integer().max(1));
            prop_assert_eq!(u128::from(jaccard.max_partner(a)), (all / exact).floor().to_integer());
            if a > 0 {
                let probe = size - (exact * all).ceil().to_integer() + 1;
                let index = size - (exact * (one + one) / (exact + one) * all).ceil().to_integer() + 1;
                prop_assert_eq!(u128::from(jaccard.probe_prefix(a)), probe);
                prop_assert_eq!(u128::from(jaccard.index_prefix(a)), index);
            }
        }

        /// The 64-bit short cuts and the 128-bit products agree.
        #[test]
        fn large_sizes_agree(billionths in 1u32..=1_000_000_000, a: u64, b: u64) {
            let jaccard = Jaccard(Tau::from_billionths(billionths).unwrap());
            let o = jaccard.overlap_needed(a, b);
            prop_assert!(jaccard.accepts(o, a, b));
            prop_assert!(o == 1 || !jaccard.accepts(o - 1, a, b));
            let most = jaccard.max_partner_sharing(a, o);
            prop_assert!(most >= b);
            prop_assert!(most == u64::MAX || !jaccard.accepts(o, a, most + 1));
        }
    }
}
