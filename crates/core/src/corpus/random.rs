//! Random numbers that are the same everywhere: SplitMix64, and what is made of it.
//!
//! A generated corpus must be the same bytes on every machine and with every version, so the generator is our own
//! (steele2014; a few lines, pinned by the published vectors) and nothing depends on the system's
//! mathematical functions, which differ in their last bits: only +, -, × and ÷ of IEEE 754 are used.
//!
//! Every document, site and edit has a stream of its own, named by a seed, a purpose and a number, so that any document
//! can be made without those before it.

use crate::hash::{INCREMENT, mix};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream for one thing: of a seed, for a purpose, with a number.
    pub fn of(seed: u64, purpose: u64, number: u64) -> Self {
        Self(mix(mix(mix(seed.wrapping_add(INCREMENT)).wrapping_add(purpose)).wrapping_add(number)))
    }

    /// 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(INCREMENT);
        mix(self.0)
    }

    /// A number below `bound`; 0 when that is 0. The largest deviation from equal chances is `bound` / 2^32.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// The same for numbers that need more bits; the deviation is `bound` / 2^64.
    pub fn below_u64(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// About normal, mean 0 and variance 1: the sum of twelve (Irwin and Hall), never beyond 6.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// About log-normal with mean 1; `sigma` is the deviation of its logarithm.
    pub fn log_normal(&mut self, sigma: f64) -> f64 {
        exp(sigma * self.normal() - sigma * sigma / 2.0)
    }
}

/// e^x to about 1/1000 for |x| < 3, as (1 + x/4096)^4096: twelve squarings.
pub fn exp(x: f64) -> f64 {
    let mut power = 1.0 + x / 4096.0;
    for _ in 0..12 {
        power *= power;
    }
    power
}

/// Chances of the ranks 0, 1, 2 … proportional to 1 / (rank + offset), the law of Zipf and Mandelbrot (mandelbrot1953).
#[derive(Clone, Debug)]
pub struct Ranks(Vec<u32>);

impl Ranks {
    /// So many ranks.
    pub fn new(count: u32, offset: u32) -> Self {
        let mut sum = 0;
        let weight = |rank: u32| (1 << 20) / (rank + offset.max(1)).max(1);
        Self(
            (0..count)
                .map(|rank| {
                    sum += weight(rank);
                    sum
                })
                .collect(),
        )
    }

    /// How probable a rank is.
    pub fn share(&self, rank: u32) -> f64 {
        let sum = |count: usize| count.checked_sub(1).map_or(0.0, |last| f64::from(self.0[last]));
        (sum(rank as usize + 1) - sum(rank as usize)) / sum(self.0.len())
    }

    /// A rank.
    pub fn draw(&self, random: &mut Random) -> u32 {
        let weight = random.below(self.0.last().copied().unwrap_or(0));
        self.0.partition_point(|sum| *sum <= weight) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the reference program for the seed 1234567.
    #[test]
    fn the_generator_is_splitmix64() {
        let mut random = Random(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(expected.map(|_| random.bits()), expected);
    }

    #[test]
    fn exp_is_close() {
        for x in [-3.0, -1.0, -0.1, 0.0, 0.5, 1.0, 3.0_f64] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 0.002, "{x}");
        }
    }

    #[test]
    fn log_normal_has_mean_one_and_its_deviation() {
        let mut random = Random::of(1, 2, 3);
        let values: Vec<f64> = (0..200_000).map(|_| random.log_normal(0.8)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let middle = logs.iter().sum::<f64>() / logs.len() as f64;
        let variance =
            logs.iter().map(|log| (log - middle) * (log - middle)).sum::<f64>() / logs.len() as f64;
        assert!((middle + 0.32).abs() < 0.01 && (variance - 0.64).abs() < 0.01, "{middle} {variance}");
    }

    #[test]
    fn ranks_follow_their_law() {
        let ranks = Ranks::new(100, 3);
        let mut random = Random::of(7, 0, 0);
        let mut counts = [0_u32; 100];
        (0..400_000).for_each(|_| counts[ranks.draw(&mut random) as usize] += 1);
        for (rank, other) in [(0, 3), (3, 9), (7, 97)] {
            let expected = f64::from(other + 3) / f64::from(rank + 3);
            let found = f64::from(counts[rank as usize]) / f64::from(counts[other as usize]);
            assert!((found / expected - 1.0).abs() < 0.1, "{rank} {other}: {found}, not {expected}");
            assert!((ranks.share(rank) * 400_000.0 / f64::from(counts[rank as usize]) - 1.0).abs() < 0.1);
        }
    }

    #[test]
    fn streams_are_apart() {
        let mut seen = std::collections::BTreeSet::new();
        for (seed, purpose, number) in (0..1000).flat_map(|n| [(n, 0, 0), (0, n + 1, 0), (0, 0, n + 1)]) {
            assert!(seen.insert(Random::of(seed, purpose, number).bits()), "{seed} {purpose} {number}");
        }
    }
}
