//! From what a chain makes of a sample to what it makes of the collection.

/// How a volume grows with the number of documents, by what a sample of `n` documents and its two halves have of it.
///
/// In a uniform sample of `n` of `N` documents, what belongs to single documents is `n/N` of the whole, and what belongs
/// to pairs is `n(n-1)/N(N-1)` of it (each pair is in the sample with that probability). A volume that is a sum of both,
/// `a·n + b·n²`, is known from two sizes: when the halves have `h` each and the whole sample has `s`, then
/// `b·n² = 2s - 4h` and `a·n = 4h - s`. What belongs to documents alone is divided among the halves without a rest,
/// so it adds no error of chance to the other term. Numbers of distinct things, such as features, grow more slowly
/// than documents: where `s < 2h` the volume is taken as `n^β` (Heaps' law, heaps1978) with `2^β = s/h`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Growth {
    /// The sample's volume.
    pub whole: u64,
    /// The sum of the two halves' volumes.
    pub halves: u64,
}

impl Growth {
    /// The volume for `times` as many documents as the sample has.
    pub fn at(self, times: f64) -> f64 {
        let (whole, halves) = (self.whole as f64, self.halves as f64);
        if self.whole < self.halves {
            return whole * times.powf((2.0 * whole / halves).log2().max(0.0));
        }
        let linear = (2.0 * halves - whole).max(0.0);
        linear * times + (whole - linear) * times * times
    }

    /// The volume when all of it belongs to pairs.
    pub fn of_pairs(self, times: f64) -> f64 {
        self.whole as f64 * times * times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_pairs_and_sums_of_them_are_found() {
        let at = |whole, halves| Growth { whole, halves }.at(10.0);
        assert_eq!(at(1000, 1000), 10_000.0);
        // Of 400 pairs each half has a quarter.
        assert_eq!(at(400, 200), 40_000.0);
        assert_eq!(at(1400, 1200), 50_000.0);
        // Chance may leave the halves fewer pairs than that, and all of them.
        assert_eq!(at(400, 100), 40_000.0);
        assert_eq!(at(0, 0), 0.0);
    }

    #[test]
    fn distinct_things_grow_more_slowly() {
        // 2^0.5 times as many in twice as many documents.
        let features = Growth { whole: 1414, halves: 2000 }.at(100.0);
        assert!((features - 14_140.0).abs() < 20.0, "{features}");
        assert_eq!(Growth { whole: 10, halves: 20 }.at(100.0), 10.0);
    }
}
