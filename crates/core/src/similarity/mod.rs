//! What makes two sets similar, and every bound that follows from it, in integers.
//!
//! Each similarity says how many elements two sets of sizes `a` and `b` must share. All else that a join asks for is
//! this *overlap needed* solved for another letter. With the threshold `p/q`:
//!
//! | similarity | the pair is in the answer when | overlap needed, rounded up | largest partner that sharing `o` allows, rounded down |
//! |---|---|---|---|
//! | [Jaccard](jaccard) | `o / (a + b - o) >= p/q` | `p·(a + b) / (p + q)` | `o·(p + q)/p - a` |
//! | [containment] | `o / min(a, b) >= p/q` | `p·min(a, b) / q` | any, when `o·q >= p·a`; else `o·q/p` |
//! | [containment] of a query `a` | `o / a >= p/q` | `p·a / q` | any, when `o·q >= p·a`; else none |
//! | [cosine] | `o / sqrt(a·b) >= p/q` | `sqrt(p²·a·b) / q` | `o²·q² / (p²·a)` |
//! | [Dice](dice) | `2·o / (a + b) >= p/q` | `p·(a + b) / (2·q)` | `2·o·q/p - a` |
//! | [overlap] | `o >= t` | `t` | any, when `o >= t`; else none |
//!
//! and always `o >= 1`: two empty sets resemble nothing. The overlap needed never falls when `b` grows, for any of them, and is the
//! same from either side but for that of a query.
//! That is all that the [kernel](crate::join::kernel) and the [prefix filter](crate::join::prefix) rely on.
//!
//! Nothing is computed in floating point: a ceiling that is wrong by one loses the pairs that lie on the threshold.
//!
//! [`SetSimilarity`] is what a similarity must give; [`Similarity`] is any of them, chosen when a program runs; and
//! [`Measure`] is its kind alone, without a threshold: what a pair's number means.
//!
//! # Example
//! ```
//! use twinsplit_core::similarity::{Measure, SetSimilarity};
//! let jaccard = Measure::Jaccard.reaching("0.80")?;
//! assert!(jaccard.accepts(4, 5, 4)); // 4 shared of a union of 5: exactly 0.8
//! assert_eq!(jaccard.overlap_needed(5, 4), 4);
//! let containment = Measure::Containment.reaching("0.8")?;
//! assert!(containment.accepts(4, 500, 5)); // 4 of the smaller set's 5
//! assert_eq!(Measure::Jaccard.score(4, 5, 4).to_string(), "0.800000");
//! # Ok::<(), twinsplit_core::similarity::ThresholdError>(())
//! ```

pub mod containment;
pub mod cosine;
pub mod dice;
pub mod edit;
pub mod jaccard;
mod measure;
pub mod overlap;
mod score;
pub mod tau;
#[cfg(test)]
pub(crate) mod tests;
pub mod text;

use containment::{Containment, QueryContainment};
use cosine::Cosine;
use dice::Dice;
use jaccard::Jaccard;
pub use measure::{Measure, ThresholdError};
use overlap::Overlap;
pub use score::Score;
use tau::Tau;

/// A similarity with its threshold: which overlaps make a pair, and the bounds of a join that follow.
pub trait SetSimilarity: Copy {
    /// The least overlap, at least 1, with which two sets of these sizes are in the answer.
    ///
    /// It may exceed the smaller size; then no two sets of these sizes are in the answer. It is the same for `a` and `b`
    /// exchanged, and does not fall when one of them grows.
    fn overlap_needed(self, a: u64, b: u64) -> u64;

    /// The largest set that can be in the answer with one of size `a` when they share `overlap` elements at most; 0 when
    /// there is none, `u64::MAX` when any can. Larger ones need more.
    fn max_partner_sharing(self, a: u64, overlap: u64) -> u64;

    /// The smallest partner of a set of size `a`, at least 1: the least `b` of which all is enough.
    fn min_partner(self, a: u64) -> u64;

    /// Whether two sets of these sizes that share `overlap` elements are in the answer.
    #[inline]
    fn accepts(self, overlap: u64, a: u64, b: u64) -> bool {
        overlap >= self.overlap_needed(a, b)
    }

    /// The largest partner of a set of size `a`.
    #[inline]
    fn max_partner(self, a: u64) -> u64 {
        self.max_partner_sharing(a, a)
    }

    /// The least overlap of a set of size `a` with any partner, which is its overlap with the smallest one.
    #[inline]
    fn least_overlap(self, a: u64) -> u64 {
        self.overlap_needed(a, self.min_partner(a))
    }

    /// How many elements of a set of size `a`, from the rarest, stand where enough of them are left for a partner of any
    /// size. The elements behind this prefix are one too few for [`least_overlap`](Self::least_overlap), so the first
    /// element that a set shares with a partner, in whatever total order, lies in the prefix.
    #[inline]
    fn probe_prefix(self, a: u64) -> u64 {
        a.saturating_add(1).saturating_sub(self.least_overlap(a))
    }

    /// The same for partners of at least its own size: what suffices for the *smaller* set of a pair. It is never longer
    /// than the probe prefix.
    #[inline]
    fn index_prefix(self, a: u64) -> u64 {
        a.saturating_add(1).saturating_sub(self.overlap_needed(a, a))
    }
}

/// Any similarity, with its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Similarity {
    /// Shared elements of those in either set.
    Jaccard(Jaccard),
    /// Shared elements of the smaller set.
    Containment(Containment),
    /// Shared elements of the first set, which is a query.
    QueryContainment(QueryContainment),
    /// The cosine of the angle between the sets as vectors of 0 and 1.
    Cosine(Cosine),
    /// Shared elements of the mean size.
    Dice(Dice),
    /// The number of shared elements.
    Overlap(Overlap),
}

/// Asks the similarity that it is: a branch that is predicted, and no call through a table.
macro_rules! ask {
    ($any:expr, $one:ident => $answer:expr) => {
        match $any {
            Similarity::Jaccard($one) => $answer,
            Similarity::Containment($one) => $answer,
            Similarity::QueryContainment($one) => $answer,
            Similarity::Cosine($one) => $answer,
            Similarity::Dice($one) => $answer,
            Similarity::Overlap($one) => $answer,
        }
    };
}

impl SetSimilarity for Similarity {
    #[inline]
    fn overlap_needed(self, a: u64, b: u64) -> u64 {
        ask!(self, one => one.overlap_needed(a, b))
    }

    #[inline]
    fn max_partner_sharing(self, a: u64, overlap: u64) -> u64 {
        ask!(self, one => one.max_partner_sharing(a, overlap))
    }

    #[inline]
    fn min_partner(self, a: u64) -> u64 {
        ask!(self, one => one.min_partner(a))
    }

    #[inline]
    fn accepts(self, overlap: u64, a: u64, b: u64) -> bool {
        ask!(self, one => one.accepts(overlap, a, b))
    }

    #[inline]
    fn least_overlap(self, a: u64) -> u64 {
        ask!(self, one => one.least_overlap(a))
    }
}

impl Similarity {
    /// What it measures.
    pub fn measure(self) -> Measure {
        match self {
            Similarity::Jaccard(_) => Measure::Jaccard,
            Similarity::Containment(_) => Measure::Containment,
            Similarity::QueryContainment(_) => Measure::QueryContainment,
            Similarity::Cosine(_) => Measure::Cosine,
            Similarity::Dice(_) => Measure::Dice,
            Similarity::Overlap(_) => Measure::Overlap,
        }
    }

    /// The share that a pair must reach; `None` where it is a number of elements.
    pub fn tau(self) -> Option<Tau> {
        match self {
            Similarity::Jaccard(Jaccard(tau))
            | Similarity::Containment(Containment(tau))
            | Similarity::QueryContainment(QueryContainment(tau))
            | Similarity::Cosine(Cosine(tau))
            | Similarity::Dice(Dice(tau)) => Some(tau),
            Similarity::Overlap(_) => None,
        }
    }

    /// The threshold in its shortest form: a decimal, or a number of elements.
    pub fn threshold(self) -> String {
        match self {
            Similarity::Overlap(Overlap(least)) => least.to_string(),
            _ => self.tau().map_or_else(String::new, |tau| tau.to_string()),
        }
    }
}

impl From<Tau> for Similarity {
    /// Jaccard, which a threshold stands for where nothing else is said.
    fn from(tau: Tau) -> Self {
        Similarity::Jaccard(Jaccard(tau))
    }
}

/// Numerator and denominator of a threshold, for products of 128 bits.
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
