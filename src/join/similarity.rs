//! What makes two sets similar, and every bound that follows from it, in integers.
//!
//! Each similarity says how many tokens two sets of sizes `a` and `b` must share. All else that a prefix join
//! asks for is this *overlap needed* solved for another letter. With the threshold `p/q`:
//!
//! | similarity | the pair is in the answer when | overlap needed, rounded up | largest partner that sharing `o` allows, rounded down |
//! |---|---|---|---|
//! | Jaccard | `o / (a + b - o) >= p/q` | `p·(a + b) / (p + q)` | `o·(p + q)/p - a` |
//! | Dice | `2·o / (a + b) >= p/q` | `p·(a + b) / (2·q)` | `2·o·q/p - a` |
//! | cosine | `o / sqrt(a·b) >= p/q` | `sqrt(p²·a·b) / q` | `o²·q² / (p²·a)` |
//! | containment | `o / min(a, b) >= p/q` | `p·min(a, b) / q` | any, when `o·q >= p·a`; else `o·q/p` |
//! | overlap | `o >= t` | `t` | any, when `o >= t`; else none |
//!
//! and always `o >= 1`. The overlap needed never falls when `b` grows, for any of them. That is all the
//! [kernel](super::kernel) relies on.
//!
//! Nothing is computed in floating point: a ceiling that is wrong by one loses the pairs that lie on the threshold. The
//! root of the cosine is squared away, `o²·q² >= p²·a·b`: with sizes below 2^32 and `p, q <= 10^9` both sides stay
//! below 2^124.

use super::tau::Tau;

/// A similarity with its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Similarity {
    /// Shared tokens of those in either set.
    Jaccard(Tau),
    /// Shared tokens of the smaller set (overlap coefficient; CCS in the literature on copies).
    Containment(Tau),
    /// The cosine of the angle between the sets as vectors of 0 and 1.
    Cosine(Tau),
    /// Shared tokens of the mean size.
    Dice(Tau),
    /// The number of shared tokens.
    Overlap(u64),
}

impl From<Tau> for Similarity {
    fn from(tau: Tau) -> Self {
        Similarity::Jaccard(tau)
    }
}

impl Similarity {
    /// The least overlap, at least 1, with which two sets of these sizes are in the answer.
    ///
    /// It may exceed the smaller size; then no two sets of these sizes are in the answer.
    #[inline]
    pub fn overlap_needed(self, a: u64, b: u64) -> u64 {
        match self {
            Similarity::Jaccard(tau) => tau.overlap_needed(a, b),
            Similarity::Overlap(least) => least.max(1),
            Similarity::Containment(tau) => tau.min_partner(a.min(b)),
            Similarity::Dice(tau) => {
                let (p, q) = wide(tau);
                round_up(p * (u128::from(a) + u128::from(b)), 2 * q)
            }
            Similarity::Cosine(tau) => {
                let (p, q) = wide(tau);
                let square = p * p * u128::from(a) * u128::from(b);
                let root = square.isqrt();
                round_up(root + u128::from(root * root < square), q)
            }
        }
    }

    /// Whether two sets of these sizes that share `overlap` tokens are in the answer.
    #[inline]
    pub fn accepts(self, overlap: u64, a: u64, b: u64) -> bool {
        match self {
            Similarity::Jaccard(tau) => tau.accepts(overlap, a, b),
            _ => overlap >= self.overlap_needed(a, b),
        }
    }

    /// The largest set that can be in the answer with one of size `a` when they share `overlap` tokens at most; 0 when
    /// there is none. Larger ones need more.
    #[inline]
    pub fn max_partner_sharing(self, a: u64, overlap: u64) -> u64 {
        let any = |enough: bool, else_up_to: u64| if enough { u64::MAX } else { else_up_to };
        match self {
            Similarity::Jaccard(tau) => tau.max_partner_sharing(a, overlap),
            Similarity::Overlap(least) => any(overlap >= least.max(1), 0),
            Similarity::Containment(tau) => any(overlap >= tau.min_partner(a), tau.max_partner(overlap)),
            Similarity::Dice(tau) => {
                let (p, q) = wide(tau);
                narrow((2 * u128::from(overlap) * q / p).saturating_sub(a.into()))
            }
            Similarity::Cosine(tau) => {
                let (p, q) = wide(tau);
                let most = u128::from(overlap) * u128::from(overlap) * q * q;
                narrow(most / (p * p * u128::from(a)).max(1))
            }
        }
    }

    /// The largest partner of a set of size `a`.
    #[inline]
    pub fn max_partner(self, a: u64) -> u64 {
        self.max_partner_sharing(a, a)
    }

    /// The smallest partner of a set of size `a`, at least 1: the least `b` of which all is enough.
    #[inline]
    pub fn min_partner(self, a: u64) -> u64 {
        match self {
            Similarity::Jaccard(tau) => tau.min_partner(a),
            Similarity::Overlap(least) => least.max(1),
            // All of a smaller set lies in the other one, and any part of it may.
            Similarity::Containment(_) => 1,
            Similarity::Dice(tau) => {
                let (p, q) = wide(tau);
                round_up(p * u128::from(a), 2 * q - p)
            }
            Similarity::Cosine(tau) => {
                let (p, q) = wide(tau);
                round_up(p * p * u128::from(a), q * q)
            }
        }
    }

    /// How many tokens of a set of size `a`, from the rarest, stand where enough of them are left for a partner of any size.
    #[inline]
    pub fn probe_prefix(self, a: u64) -> u64 {
        (a + 1).saturating_sub(self.overlap_needed(a, self.min_partner(a)))
    }

    /// The same for partners of at least its own size.
    #[inline]
    pub fn index_prefix(self, a: u64) -> u64 {
        (a + 1).saturating_sub(self.overlap_needed(a, a))
    }

    /// The similarity of two sets of which one is not empty, in millionths, rounded half up; the number itself for an
    /// overlap. It is for reading: nothing is decided from it.
    pub fn millionths(self, overlap: u64, a: u64, b: u64) -> u64 {
        let (o, a, b) = (u128::from(overlap), u128::from(a), u128::from(b));
        let rounded = |n: u128, d: u128| narrow((2 * MILLION * n + d) / (2 * d).max(1));
        match self {
            Similarity::Jaccard(_) => rounded(o, a + b - o),
            Similarity::Containment(_) => rounded(o, a.min(b)),
            Similarity::Dice(_) => rounded(2 * o, a + b),
            // The largest k with k - 1/2 <= 10^6·o / sqrt(a·b), squared: (2k - 1)²·a·b <= 4·10^12·o².
            Similarity::Cosine(_) => {
                narrow((4 * MILLION * MILLION * o * o / (a * b).max(1)).isqrt().div_ceil(2))
            }
            Similarity::Overlap(_) => overlap,
        }
    }
}

const MILLION: u128 = 1_000_000;

fn wide(tau: Tau) -> (u128, u128) {
    let (p, q) = tau.fraction();
    (p.into(), q.into())
}

fn round_up(n: u128, d: u128) -> u64 {
    narrow(n.div_ceil(d).max(1))
}

fn narrow(n: u128) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::Ratio;
    use proptest::prelude::*;

    /// The definitions, with fractions; the cosine squared.
    fn truth(similarity: Similarity, o: u64, a: u64, b: u64) -> bool {
        let [o, a, b] = [o, a, b].map(|n| Ratio::from_integer(u128::from(n)));
        let reaches = |n: Ratio<u128>, d: Ratio<u128>, tau: Tau| {
            let (p, q) = tau.fraction();
            n >= d * Ratio::new(p.into(), q.into())
        };
        let zero = Ratio::from_integer(0);
        o > zero
            && match similarity {
                Similarity::Jaccard(tau) => a + b <= o || reaches(o, a + b - o, tau),
                Similarity::Containment(tau) => reaches(o, a.min(b), tau),
                Similarity::Dice(tau) => reaches(o * 2, a + b, tau),
                Similarity::Cosine(tau) => {
                    let (p, q) = tau.fraction();
                    let tau = Ratio::new(u128::from(p), u128::from(q));
                    o * o >= tau * tau * a * b
                }
                Similarity::Overlap(least) => o >= Ratio::from_integer(least.into()),
            }
    }

    fn all(tau: Tau, least: u64) -> [Similarity; 5] {
        [
            Similarity::Jaccard(tau),
            Similarity::Containment(tau),
            Similarity::Cosine(tau),
            Similarity::Dice(tau),
            Similarity::Overlap(least),
        ]
    }

    proptest! {
        /// Each bound is the extreme value that the definition allows, found by trial.
        #[test]
        fn bounds_are_tight(
            billionths in 1u32..=1_000_000_000, places in 0u32..=9, least in 0u64..9,
            a in 1u64..40, b in 1u64..40, o in 0u64..40,
        ) {
            let step = 10u32.pow(9 - places);
            let Some(tau) = Tau::from_billionths(billionths.div_ceil(step) * step) else { return Ok(()) };
            for similarity in all(tau, least) {
                let needed = (1..).find(|&o| truth(similarity, o, a, b)).unwrap();
                prop_assert_eq!(similarity.overlap_needed(a, b), needed, "{:?}", similarity);
                prop_assert_eq!(similarity.accepts(o, a, b), truth(similarity, o, a, b));
                prop_assert!(similarity.overlap_needed(a, b) <= similarity.overlap_needed(a, b + 1));
                prop_assert_eq!(needed, similarity.overlap_needed(b, a));
                if o > 0 {
                    prop_assert_eq!(needed <= o, b <= similarity.max_partner_sharing(a, o), "{:?}", similarity);
                }
                // A partner of which all lies in the set, up to the set's own size.
                if let Some(smallest) = (1..=a).find(|&b| truth(similarity, b, a, b)) {
                    prop_assert_eq!(similarity.min_partner(a), smallest, "{:?}", similarity);
                }
                let longest = |least: u64| {
                    let any = (least..=99 + least).filter(|&b| similarity.overlap_needed(a, b) <= a.min(b));
                    any.map(|b| a - similarity.overlap_needed(a, b) + 1).max().unwrap_or(0)
                };
                prop_assert!(similarity.index_prefix(a) >= longest(a), "{:?}", similarity);
                prop_assert!(similarity.probe_prefix(a) >= longest(1), "{:?}", similarity);
                prop_assert!(similarity.index_prefix(a) <= similarity.probe_prefix(a));
            }
        }

        /// Sizes up to the largest that a collection holds.
        #[test]
        fn large_sizes_do_not_overflow(billionths in 1u32..=1_000_000_000, a in 1u32.., b in 1u32..) {
            let Some(tau) = Tau::from_billionths(billionths) else { return Ok(()) };
            let (a, b) = (u64::from(a), u64::from(b));
            for similarity in all(tau, b) {
                let o = similarity.overlap_needed(a, b);
                prop_assert!(similarity.accepts(o, a, b));
                prop_assert!(o == 1 || !similarity.accepts(o - 1, a, b));
                prop_assert!(similarity.max_partner_sharing(a, o) >= b);
                prop_assert!(o == 1 || similarity.max_partner_sharing(a, o - 1) < b);
            }
        }

        #[test]
        fn similarities_are_rounded_half_up(a in 1u64..5000, b in 1u64..5000, share in 1u64..=5000) {
            let o = share.min(a).min(b);
            let tau = Tau::from_billionths(1).unwrap();
            for similarity in all(tau, 1) {
                let k = similarity.millionths(o, a, b);
                let not_above = |twice: u64| {
                    // Whether twice/2 millionths are at most the similarity.
                    let n = Ratio::new(u128::from(twice), 2_000_000);
                    let [o, a, b] = [o, a, b].map(|n| Ratio::from_integer(u128::from(n)));
                    match similarity {
                        Similarity::Jaccard(_) => n * (a + b - o) <= o,
                        Similarity::Containment(_) => n * a.min(b) <= o,
                        Similarity::Dice(_) => n * (a + b) <= o * 2,
                        Similarity::Cosine(_) => n * n * a * b <= o * o,
                        Similarity::Overlap(_) => unreachable!(),
                    }
                };
                if similarity == Similarity::Overlap(1) {
                    prop_assert_eq!(k, o);
                } else {
                    prop_assert!(k == 0 || not_above(2 * k - 1), "{:?} {}", similarity, k);
                    prop_assert!(!not_above(2 * k + 1), "{:?} {}", similarity, k);
                }
            }
        }
    }
}
