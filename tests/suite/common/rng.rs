//! SplitMix64: a generator of a few lines, so that a seed printed by a failing test means the same
//! corpus on every machine and with every version of every crate.

/// A deterministic stream of numbers.
pub struct Rng(u64);

impl Rng {
    /// The stream that belongs to a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits (Steele, Lea and Flood 2014).
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..n`; the bias of the remainder does not matter to a test.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// A number in `0..n`, small ones far more often (the rank's weight falls about as 1/rank).
    pub fn skewed(&mut self, n: usize) -> usize {
        let unit = (self.bits() >> 11) as f64 / (1u64 << 53) as f64;
        ((n as f64).powf(unit) as usize - 1).min(n - 1)
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// The items in a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
