//! The similarity of a pair as it is written, for people.

use std::fmt;

const MILLION: u32 = 1_000_000;

/// A similarity in the form in which it is written: a share in millionths, rounded half up, or a number of features.
///
/// Whether a pair is in the answer is never decided from it; see [`accepts`](super::SetSimilarity::accepts).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Score {
    /// Millionths, 0 to 1,000,000.
    Share(u32),
    /// Features in both sets.
    Count(u64),
}

impl Score {
    /// The share of equals.
    pub const ONE: Self = Self::Share(MILLION);

    /// A share of so many millionths, 1 at most.
    pub(super) fn of_millionths(millionths: u64) -> Self {
        Score::Share(u32::try_from(millionths).unwrap_or(MILLION).min(MILLION))
    }

    /// The share of that many millionths; `None` above 1,000,000.
    pub fn share(millionths: u32) -> Option<Self> {
        (millionths <= MILLION).then_some(Score::Share(millionths))
    }
}

impl fmt::Display for Score {
    /// A share always has six places: `0.812500`, `1.000000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Score::Share(millionths) => write!(f, "{}.{:06}", millionths / MILLION, millionths % MILLION),
            Score::Count(count) => write!(f, "{count}"),
        }
    }
}
