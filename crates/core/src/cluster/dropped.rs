//! How like the dropped documents are to those that are kept in their stead. In a component a chain of pairs joins
//! the two, which may themselves be below tau.

use crate::similarity::{Score, SetSimilarity, Similarity};

/// Counts dropped documents.
#[derive(Clone, Debug)]
pub struct Dropped {
    similarity: Similarity,
    all: u64,
    below: u64,
    /// Of fingerprints: those farther than a pair may be; `None` before the first.
    beyond: Option<u64>,
    least: Option<Score>,
}

/// The counter of dropped documents.
pub const DROPPED: &str = "documents_dropped";
/// The counter of those whose similarity to the kept document is below tau.
pub const BELOW: &str = "documents_dropped_below_tau";
/// The same of those whose fingerprint is farther from that of the kept document than those of a pair may be.
pub const BEYOND: &str = "documents_dropped_beyond_distance";
/// What the least similarity of a dropped document to the kept one lacks to 1, in millionths, where
/// similarities are shares. It is a largest number, for that is what remains of tasks' counters that begin with `peak_`.
pub const DISTANCE: &str = "peak_distance_to_kept";

const MILLION: u32 = 1_000_000;

impl Dropped {
    /// Nothing dropped yet.
    pub fn below(similarity: Similarity) -> Self {
        Self { similarity, all: 0, below: 0, beyond: None, least: None }
    }

    /// Counts a document and gives its similarity to the kept one, as it is written: its set, of size `a`, shares
    /// `overlap` elements with that of the kept one, of size `b`; `None` where their texts are equal, and no sets are
    /// compared.
    pub fn add(&mut self, sets: Option<(u64, u64, u64)>) -> Option<Score> {
        self.all += 1;
        let measure = self.similarity.measure();
        let score = match sets {
            Some((overlap, a, b)) => {
                self.below += u64::from(!self.similarity.accepts(overlap, a, b));
                Some(measure.score(overlap, a, b))
            }
            None => measure.score_of_equals(),
        };
        self.least = self.least.into_iter().chain(score).min();
        score
    }

    /// Counts a document whose fingerprint is so many bits from that of the kept one, within or beyond the distance of a pair,
    /// and gives what is written of it.
    pub fn add_distance(&mut self, distance: u32, within: bool) -> Score {
        self.all += 1;
        *self.beyond.get_or_insert_default() += u64::from(!within);
        Score::Count(distance.into())
    }

    /// Adds what was counted elsewhere.
    pub fn append(&mut self, other: &Self) {
        self.all += other.all;
        self.below += other.below;
        if let Some(beyond) = other.beyond {
            *self.beyond.get_or_insert_default() += beyond;
        }
        self.least = self.least.into_iter().chain(other.least).min();
    }

    /// The counts by name.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let distance = match self.least {
            Some(Score::Share(least)) => Some((DISTANCE, u64::from(MILLION - least))),
            Some(Score::Count(_)) | None => None,
        };
        let unlike = self.beyond.map_or((BELOW, self.below), |beyond| (BEYOND, beyond));
        [(DROPPED, self.all), unlike].into_iter().chain(distance).collect()
    }
}

/// The least similarity that a [`DISTANCE`] tells.
pub fn least(distance: u64) -> Option<Score> {
    let distance = u32::try_from(distance).ok()?;
    MILLION.checked_sub(distance).and_then(Score::share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::Measure;

    #[test]
    fn what_is_on_tau_is_not_below_it() {
        let mut dropped = Dropped::below(Measure::Jaccard.reaching("0.5").unwrap());
        let mut other = dropped.clone();
        assert_eq!(dropped.counters(), [(DROPPED, 0), (BELOW, 0)]);
        for (overlap, a, b) in [(1, 1, 2), (499_999, 999_999, 500_000), (499_999, 1_000_000, 500_000)] {
            other.add(Some((overlap, a, b)));
        }
        assert_eq!(dropped.add(None), Some(Score::ONE));
        assert_eq!(dropped.counters(), [(DROPPED, 1), (BELOW, 0), (DISTANCE, 0)]);
        dropped.append(&other);
        // 499,999 of 1,000,000 and of 1,000,001; both are written 0.5 when rounded to five places, and lie below it.
        assert_eq!(dropped.counters(), [(DROPPED, 4), (BELOW, 2), (DISTANCE, 500_001)]);
        assert_eq!(least(500_001), Some(Score::Share(499_999)));
        assert_eq!((least(0), least(1_000_001)), (Some(Score::ONE), None));
    }

    #[test]
    fn fingerprints_are_counted_by_their_distance() {
        let mut dropped = Dropped::below(Measure::Jaccard.reaching("0.5").unwrap());
        let mut other = dropped.clone();
        assert_eq!(dropped.add_distance(3, true), Score::Count(3));
        assert_eq!(dropped.counters(), [(DROPPED, 1), (BEYOND, 0)]);
        other.add_distance(9, false);
        dropped.append(&other);
        assert_eq!(dropped.counters(), [(DROPPED, 2), (BEYOND, 1)]);
    }

    #[test]
    fn an_overlap_has_no_distance() {
        let mut dropped = Dropped::below(Measure::Overlap.reaching("3").unwrap());
        assert_eq!(dropped.add(Some((3, 9, 4))), Some(Score::Count(3)));
        assert_eq!(dropped.add(Some((2, 9, 4))), Some(Score::Count(2)));
        assert_eq!(dropped.add(None), None);
        assert_eq!(dropped.counters(), [(DROPPED, 3), (BELOW, 1)]);
    }
}
