//! How like the dropped documents are to those that are kept in their stead. In a component a chain of pairs joins
//! the two, which may themselves be below tau.

use crate::join::tau::{Jaccard6, Tau};

/// Counts dropped documents.
#[derive(Clone, Debug)]
pub struct Dropped {
    tau: Tau,
    all: u64,
    below: u64,
    least: Option<Jaccard6>,
}

/// The counter of dropped documents.
pub const DROPPED: &str = "documents_dropped";
/// The counter of those whose similarity to the kept document is below tau.
pub const BELOW: &str = "documents_dropped_below_tau";
/// What the least similarity of a dropped document to the kept one lacks to 1, in millionths. It is a largest number, for
/// that is what remains of tasks' counters that begin with `peak_`.
pub const DISTANCE: &str = "peak_distance_to_kept";

const MILLION: u32 = 1_000_000;

impl Dropped {
    /// Nothing dropped yet.
    pub fn below(tau: Tau) -> Self {
        Self { tau, all: 0, below: 0, least: None }
    }

    /// Counts a document: its set, of size `a`, shares `overlap` elements with that of the kept one, of size `b`, and
    /// their similarity is `jaccard`. Equal sets are alike even when they are empty.
    pub fn add(&mut self, jaccard: Jaccard6, (overlap, a, b): (u64, u64, u64)) {
        self.all += 1;
        self.below += u64::from(!self.tau.accepts(overlap, a, b) && (a, b) != (0, 0));
        self.least = Some(self.least.map_or(jaccard, |least| least.min(jaccard)));
    }

    /// Adds what was counted elsewhere.
    pub fn append(&mut self, other: &Self) {
        self.all += other.all;
        self.below += other.below;
        self.least = self.least.into_iter().chain(other.least).min();
    }

    /// The counts by name.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let distance = self.least.map(|least| (DISTANCE, u64::from(MILLION - least.millionths())));
        [(DROPPED, self.all), (BELOW, self.below)].into_iter().chain(distance).collect()
    }
}

/// The least similarity that a [`DISTANCE`] tells.
pub fn least(distance: u64) -> Option<Jaccard6> {
    let distance = u32::try_from(distance).ok()?;
    MILLION.checked_sub(distance).and_then(Jaccard6::from_millionths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::tau::jaccard6;

    #[test]
    fn what_is_on_tau_is_not_below_it() {
        let tau: Tau = "0.5".parse().unwrap();
        let mut dropped = Dropped::below(tau);
        let mut other = dropped.clone();
        assert_eq!(dropped.counters(), [(DROPPED, 0), (BELOW, 0)]);
        for (overlap, a, b) in [(1, 1, 2), (499_999, 999_999, 500_000), (499_999, 1_000_000, 500_000)] {
            other.add(jaccard6(overlap, a, b), (overlap, a, b));
        }
        let equal = Jaccard6::from_millionths(1_000_000).unwrap();
        dropped.add(equal, (0, 0, 0));
        assert_eq!(dropped.counters(), [(DROPPED, 1), (BELOW, 0), (DISTANCE, 0)]);
        dropped.append(&other);
        // 499,999 of 1,000,000 and of 1,000,001; both are written 0.5 when rounded to five places, and lie below it.
        assert_eq!(dropped.counters(), [(DROPPED, 4), (BELOW, 2), (DISTANCE, 500_001)]);
        assert_eq!(least(500_001).map(Jaccard6::millionths), Some(499_999));
        assert_eq!((least(0), least(1_000_001)), (Some(equal), None));
    }
}
