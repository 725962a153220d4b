//! Containment: how much of the smaller set lies in the larger one. Also the overlap coefficient, and CCS in the
//! literature on copies. It finds what a larger text quotes or includes.
//!
//! The overlap needed depends on the smaller set alone, `ceil(tau·min(a, b))`. So a set of size `a` may have a partner of
//! any size, down to a single element, and a probe prefix is the whole set; the index prefix, for partners of at least
//! its own size, is `a - ceil(tau·a) + 1`.

use super::tau::Tau;
use super::{Score, SetSimilarity, narrow};
use serde::Serialize;

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

/// How much of a query lies in a document, whatever else the document holds (broder1997): containment that is not the same from either
/// side. Of two sizes the first one is the query's.
///
/// The [kernel](crate::join::kernel) asks for the same from either side; [`crate::join::queries`] joins by [`Containment`] and asks this one of
/// what that has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryContainment(pub Tau);

impl SetSimilarity for QueryContainment {
    #[inline]
    fn overlap_needed(self, query: u64, _: u64) -> u64 {
        self.0.share_of(query)
    }

    #[inline]
    fn max_partner_sharing(self, query: u64, overlap: u64) -> u64 {
        if overlap >= self.0.share_of(query) { u64::MAX } else { 0 }
    }

    #[inline]
    fn min_partner(self, query: u64) -> u64 {
        self.0.share_of(query)
    }
}

/// What two documents are to each other when the features of one lie in the other (wei2013): where the smaller one has half
/// the features of the larger one and more they are duplicates, else the larger one contains the smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// Neither is below half of the other.
    Duplicate,
    /// The first one contains the second.
    Contains,
    /// The first one is contained in the second.
    Contained,
}

impl Relation {
    /// That of two sizes.
    #[doc(hidden)]
    pub fn of(a: u64, b: u64) -> Self {
        let below_half = |small: u64, large: u64| u128::from(small) * 2 < u128::from(large);
        match (below_half(b, a), below_half(a, b)) {
            (true, _) => Relation::Contains,
            (_, true) => Relation::Contained,
            _ => Relation::Duplicate,
        }
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Relation::Duplicate => "duplicate",
            Relation::Contains => "contains",
            Relation::Contained => "contained",
        }
    }
}

/// The smaller size as a share of the larger one, for reading (CLR, wei2013).
pub fn size_ratio(a: u64, b: u64) -> Score {
    if a == b {
        return Score::ONE;
    }
    let (small, large) = (u128::from(a.min(b)), u128::from(a.max(b)));
    Score::of_millionths(narrow((2_000_000 * small + large) / (2 * large)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_size_is_still_a_duplicate() {
        let all =
            [(4, 4), (2, 4), (4, 2), (1, 3), (3, 1), (u64::MAX, u64::MAX / 2), (u64::MAX / 2 + 1, u64::MAX)];
        let names = all.map(|(a, b)| Relation::of(a, b).name());
        assert_eq!(
            names,
            ["duplicate", "duplicate", "duplicate", "contained", "contains", "contains", "duplicate"]
        );
        let ratios = [(1, 3), (2, 3), (5, 5), (1, 2_000_000), (1, 2_000_001)]
            .map(|(a, b)| size_ratio(a, b).to_string());
        assert_eq!(ratios, ["0.333333", "0.666667", "1.000000", "0.000001", "0.000000"]);
    }
}
