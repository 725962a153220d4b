//! How long something takes: how often it took less than some times.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The bounds of the buckets, in microseconds: a bucket has what took no longer.
pub(crate) const BOUNDS: [u64; 16] = [
    50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
    2_000_000, 5_000_000,
];

/// Counts of times.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
    longest: AtomicU64,
}

/// What a histogram held at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    /// For each bound, and at last without one, how many took no longer.
    pub upto: Vec<u64>,
    /// Of all together, in microseconds.
    pub microseconds: u64,
    /// The longest, in microseconds.
    pub longest: u64,
}

impl Histogram {
    /// That so many took this long.
    pub fn took(&self, count: u64, time: Duration) {
        // What took a little more than a bound took longer.
        let time = u64::try_from(time.as_nanos().div_ceil(1000)).unwrap_or(u64::MAX);
        let bucket = BOUNDS.partition_point(|bound| *bound < time);
        if let Some(bucket) = self.buckets.get(bucket) {
            bucket.fetch_add(count, Ordering::Relaxed);
        }
        self.microseconds.fetch_add(count.saturating_mul(time), Ordering::Relaxed);
        self.longest.fetch_max(time, Ordering::Relaxed);
    }

    /// What it holds.
    pub fn times(&self) -> Times {
        let add = |sum: &mut u64, bucket: &AtomicU64| {
            *sum += bucket.load(Ordering::Relaxed);
            Some(*sum)
        };
        let upto = self.buckets.iter().scan(0, add).collect();
        let load = |of: &AtomicU64| of.load(Ordering::Relaxed);
        Times { upto, microseconds: load(&self.microseconds), longest: load(&self.longest) }
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each time is counted below the first bound that it does not exceed.
    #[test]
    fn times_are_counted_by_their_bounds() {
        let histogram = Histogram::default();
        for (count, micros) in [(1, 0), (2, 50), (4, 51), (8, 5_000_000), (16, 5_000_001)] {
            histogram.took(count, Duration::from_micros(micros));
        }
        let times = histogram.times();
        assert_eq!(times.upto[..3], [3, 7, 7]);
        assert_eq!(times.upto[14..], [7, 15, 31]);
        assert_eq!(times.microseconds, 2 * 50 + 4 * 51 + 8 * 5_000_000 + 16 * 5_000_001);
        assert_eq!((times.longest, histogram.count()), (5_000_001, 31));
    }
}
