//! The kinds of similarity: their names, what they are in words, and the number that each gives a pair.

use super::containment::{Containment, QueryContainment};
use super::cosine::Cosine;
use super::dice::Dice;
use super::jaccard::Jaccard;
use super::overlap::Overlap;
use super::tau::{Tau, TauError};
use super::{Score, Similarity, narrow};
use serde::Serialize;
use std::fmt;

crate::choice! {
    /// What makes two sets similar.
    #[derive(Default, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Measure {
        /// |A∩B| / |A∪B|: shared features of those in either document
        Jaccard = "jaccard"; default,
        /// |A∩B| / min(|A|, |B|): shared features of the smaller document
        Containment = "containment" or "ccs",
        /// |A∩B| / sqrt(|A|·|B|)
        Cosine = "cosine",
        /// 2·|A∩B| / (|A| + |B|)
        Dice = "dice",
        /// |A∩B|: shared features, with a whole number for --tau
        Overlap = "overlap",
        /// |Q∩D| / |Q|: the share of the query's features that the document has, with --queries
        QueryContainment = "query-containment",
    }
}

/// A threshold that does not fit its similarity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThresholdError {
    /// A share is a decimal in (0, 1].
    Share(TauError),
    /// An overlap is a number of features.
    Overlap {
        /// What was given.
        found: String,
    },
}

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThresholdError::Share(error) => error.fmt(f),
            ThresholdError::Overlap { found } => write!(
                f,
                "the threshold of overlap is the least number of shared features, a whole number from 1, found {found:?}; \
                 for the share of the smaller set take containment"
            ),
        }
    }
}

impl std::error::Error for ThresholdError {}

impl From<TauError> for ThresholdError {
    fn from(error: TauError) -> Self {
        ThresholdError::Share(error)
    }
}

impl Measure {
    /// Its name at the beginning of a line.
    #[doc(hidden)]
    pub fn title(self) -> &'static str {
        match self {
            Measure::Jaccard => "Jaccard",
            Measure::Containment => "Containment",
            Measure::QueryContainment => "Containment of the query",
            Measure::Cosine => "Cosine",
            Measure::Dice => "Dice",
            Measure::Overlap => "Overlap",
        }
    }

    /// What it is, of two sets A and B.
    pub fn formula(self) -> &'static str {
        match self {
            Measure::Jaccard => "|A∩B| / |A∪B|",
            Measure::Containment => "|A∩B| / min(|A|, |B|)",
            Measure::QueryContainment => "|A∩B| / |A|",
            Measure::Cosine => "|A∩B| / sqrt(|A|·|B|)",
            Measure::Dice => "2·|A∩B| / (|A| + |B|)",
            Measure::Overlap => "|A∩B|",
        }
    }

    /// The same in words.
    #[doc(hidden)]
    pub fn words(self) -> &'static str {
        match self {
            Measure::Jaccard => "the features in both documents, as a share of those in one or both",
            Measure::Containment => "the features in both documents, as a share of those of the smaller one",
            Measure::QueryContainment => "the features in both documents, as a share of those of the query",
            Measure::Cosine => {
                "the features in both documents, as a share of the geometric mean of the two numbers of features"
            }
            Measure::Dice => {
                "the features in both documents, as a share of the arithmetic mean of the two numbers of features"
            }
            Measure::Overlap => "the number of features in both documents",
        }
    }

    /// It with a threshold: a decimal in (0, 1], or for an overlap a whole number.
    #[doc(hidden)]
    pub fn reaching(self, threshold: &str) -> Result<Similarity, ThresholdError> {
        let share = || threshold.parse::<Tau>();
        let count = || {
            let digits = threshold.bytes().all(|byte| byte.is_ascii_digit());
            let least = threshold.parse().ok().filter(|least| digits && *least >= 1);
            least.ok_or_else(|| ThresholdError::Overlap { found: threshold.to_owned() })
        };
        Ok(match self {
            Measure::Jaccard => Similarity::Jaccard(Jaccard(share()?)),
            Measure::Containment => Similarity::Containment(Containment(share()?)),
            Measure::QueryContainment => Similarity::QueryContainment(QueryContainment(share()?)),
            Measure::Cosine => Similarity::Cosine(Cosine(share()?)),
            Measure::Dice => Similarity::Dice(Dice(share()?)),
            Measure::Overlap => Similarity::Overlap(Overlap(count()?)),
        })
    }

    /// The number of two sets of sizes `a` and `b`, of which a query is the first, that share `overlap` elements, where `overlap <= min(a, b)`: a share,
    /// rounded half up, of 0 when one of the sets is empty; or the overlap itself. It is for reading: nothing is decided
    /// from it.
    #[inline]
    #[doc(hidden)]
    pub fn score(self, overlap: u64, a: u64, b: u64) -> Score {
        debug_assert!(overlap <= a.min(b), "an overlap of {overlap} in sizes {a} and {b}");
        let (o, a, b) = (u128::from(overlap), u128::from(a), u128::from(b));
        let rounded = |n: u128, d: u128| narrow((2 * MILLION * n + d) / (2 * d).max(1));
        Score::of_millionths(match self {
            Measure::Jaccard => rounded(o, (a + b).saturating_sub(o)),
            Measure::Containment => rounded(o, a.min(b)),
            Measure::QueryContainment => rounded(o, a),
            Measure::Dice => rounded(2 * o, a + b),
            // The largest k with k - 1/2 <= 10^6·o / sqrt(a·b), squared: (2k - 1)²·a·b <= 4·10^12·o².
            Measure::Cosine => {
                narrow((4 * MILLION * MILLION).saturating_mul(o * o) / (a * b).max(1)).isqrt().div_ceil(2)
            }
            Measure::Overlap => return Score::Count(overlap),
        })
    }

    /// What stands for the similarity of two equal texts whose sets are not compared; `None` where it would be a number
    /// of features.
    #[doc(hidden)]
    pub fn score_of_equals(self) -> Option<Score> {
        (self != Measure::Overlap).then_some(Score::ONE)
    }

    /// The order of two pairs by this measure, each of an overlap and two sizes: exactly, where their scores may be
    /// rounded to one number.
    #[doc(hidden)]
    pub fn compare(self, x: (u64, u64, u64), y: (u64, u64, u64)) -> std::cmp::Ordering {
        // Numerator and denominator; those of the cosine squared.
        let fraction = |(o, a, b): (u64, u64, u64)| {
            let (o, a, b) = (u128::from(o), u128::from(a), u128::from(b));
            match self {
                Measure::Jaccard => (o, a + b - o),
                Measure::Containment => (o, a.min(b)),
                Measure::QueryContainment => (o, a),
                Measure::Cosine => (o * o, a * b),
                Measure::Dice => (o, a + b),
                Measure::Overlap => (o, 1),
            }
        };
        let ((n, d), (m, e)) = (fraction(x), fraction(y));
        // Sizes stay below 2^32, so that products of two stay below 2^128.
        n.saturating_mul(e).cmp(&m.saturating_mul(d))
    }
}

const MILLION: u128 = 1_000_000;

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
