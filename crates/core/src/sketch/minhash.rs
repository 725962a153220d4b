//! MinHash: a signature of K values for each set, such that two signatures agree in a value with the probability that is the
//! Jaccard similarity of the sets (broder1997). The share of equal values estimates it, without bias.
//!
//! | method | value i of a set | cost of a feature | variance |
//! |---|---|---|---|
//! | [`Method::Classic`] | the smallest of hash function i over its features | K hashes | J(1-J)/K |
//! | [`Method::Fast`] | the smallest value that falls into bucket i (dahlgaard2017) | one hash, where the set has many features | at most that |
//!
//! The fast method throws all features into K buckets, each with a value. A set of many features fills all of them at once.
//! While a bucket is empty all features are thrown again, by hash functions that are independent of the earlier ones, and
//! count behind them; after [`rounds`] of them a bucket that is still empty takes the smallest value of a hash function of its
//! own over all features. What bucket i holds is the first of all throws that hit it, in the order of (round, value). That
//! order does not depend on the set, so the smaller of two sets' throws is that of their union, which is all that the estimate
//! needs. No bucket is copied from another one, as densification does, and so the values of a small set are no more alike than
//! those of a large one.
//!
//! The paper takes K rounds. Fewer cost less: to fill the last of K buckets takes a round of its own, while the smallest of n
//! values, which are made and compared several at a time, takes a tenth of a round.

use crate::hash::{fold, mix, mix32, stream};
use crate::processor::{self, Instructions, Work};
use std::hint::select_unpredictable;

/// Changes with every change of what signatures are: those of another version are refused.
pub const VERSION: u32 = 2;

/// How many values a signature may have.
pub const MOST_HASHES: usize = 1024;

/// Rounds of a set whose features come one by one. With 32 features for each of the most buckets, one of them stays empty once
/// in 10^24 sets.
const ROUNDS_AT_ONCE: u64 = 2;

/// How many rounds there are at most: with 128 values and 150 features 2 take 3.9 ns a feature, 4 take 4.9; with 555 values 2, 8 and 12
/// take 40, 18 and 19.
fn rounds(hashes: usize) -> u64 {
    ROUNDS_AT_ONCE.max(hashes.div_ceil(64) as u64)
}

/// About how many nanoseconds a signature of the fast method takes of a core: 1.1 a throw; of buckets that stay empty, 5 each and .1 for
/// each of its features. To compare numbers of values with.
pub fn signature_nanoseconds(hashes: f64, features: f64) -> f64 {
    let features = features.max(1.0);
    // All are hit after about K(ln K + .58) throws.
    let enough = (hashes * (hashes.ln() + 0.58) / features).ceil();
    let throws = features * enough.clamp(1.0, rounds(hashes as usize) as f64);
    let empty = hashes * (-throws / hashes).exp();
    1.1 * throws + empty * (5.0 + 0.1 * features)
}

/// Values that are made at once.
const LANES: usize = 32;

/// Once no more than the buckets over this are empty, a throw that stays is the exception.
const MOSTLY_FILLED: usize = 16;

crate::choice! {
    /// How signatures are made.
    #[derive(Default)]
    pub enum Method {
        /// Buckets that are filled by one hash function, and by further ones while any is empty (dahlgaard2017)
        Fast = "fast"; default,
        /// A hash function for each value (broder1997)
        Classic = "classic",
    }
}

/// Of a bucket that nothing has hit. Values behind a round are smaller.
const EMPTY: u64 = u64::MAX;

/// Makes signatures of so many values, from 1 to [`MOST_HASHES`].
#[derive(Clone, Debug)]
pub struct Signer {
    method: Method,
    hashes: usize,
    /// By bucket the round and the value of the first throw.
    buckets: Vec<u64>,
    /// The low halves of the features of a set that leaves buckets empty, of which some stand there twice, to a multiple of [`LANES`].
    halves: Vec<u32>,
}

impl Signer {
    /// A signer.
    pub fn new(method: Method, hashes: usize) -> Self {
        Self { method, hashes, buckets: Vec::with_capacity(hashes), halves: Vec::new() }
    }

    /// How many values a signature has.
    pub fn hashes(&self) -> usize {
        self.hashes
    }

    /// Appends the signature of a set, which has at least one feature. Order and repetition of features change nothing.
    pub fn sign(&mut self, features: &[u64], out: &mut Vec<u32>) {
        match self.method {
            Method::Classic => out.extend((0..self.hashes as u64).map(|i| smallest(features, stream(i)))),
            Method::Fast => self.fill(features, out),
        }
    }

    /// Starts the signature of a set of many features, which come one by one: at least 32 for each of its values.
    pub fn start(&mut self) {
        self.buckets.clear();
        self.buckets.resize(self.hashes, EMPTY);
    }

    /// Takes a feature.
    pub fn add(&mut self, feature: u64) {
        match self.method {
            Method::Classic => {
                for (i, held) in (0..).zip(&mut self.buckets) {
                    *held = (*held).min(smallest(&[feature], stream(i)).into());
                }
            }
            Method::Fast => {
                (0..ROUNDS_AT_ONCE).for_each(|round| throw_late(&[feature], round, &mut self.buckets))
            }
        }
    }

    /// Appends the signature of the features that were added; `false` when they were too few for it.
    #[must_use]
    pub fn finish(&mut self, out: &mut Vec<u32>) -> bool {
        out.extend(self.buckets.iter().map(|held| *held as u32));
        !self.buckets.contains(&EMPTY)
    }

    fn fill(&mut self, features: &[u64], out: &mut Vec<u32>) {
        self.start();
        let Self { buckets, halves, .. } = self;
        // With wider vectors than these it takes longer.
        processor::run(Instructions::Avx2, Fill { features, buckets, halves });
        out.extend(self.buckets.iter().map(|held| *held as u32));
    }
}

/// Fills empty buckets with the throws of a set.
struct Fill<'a> {
    features: &'a [u64],
    buckets: &'a mut [u64],
    halves: &'a mut Vec<u32>,
}

impl Work for Fill<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { features, buckets, halves } = self;
        let mut empty = buckets.len();
        for round in 0..rounds(buckets.len()) {
            match empty > buckets.len() / MOSTLY_FILLED {
                true => throw(features, round, buckets),
                false => throw_late(features, round, buckets),
            }
            empty = buckets.iter().filter(|held| **held == EMPTY).count();
            if empty == 0 {
                return;
            }
        }
        halves.clear();
        halves.extend(features.iter().map(|feature| *feature as u32));
        let first = halves.first().copied().unwrap_or_default();
        halves.resize(halves.len().next_multiple_of(LANES), first);
        for (bucket, held) in (0..).zip(buckets) {
            if *held == EMPTY {
                *held = smallest_of_bucket(halves, bucket).into();
            }
        }
    }
}

/// The smallest value of a bucket's own hash function. It is mixed only when it is found: a multiplication alone orders features well, but
/// leaves the lowest bits of a value as they were in the feature.
#[inline(always)]
fn smallest_of_bucket(halves: &[u32], bucket: u64) -> u32 {
    let seed = stream(MOST_HASHES as u64 + bucket);
    let (factor, flip) = ((seed >> 32) as u32 | 1, seed as u32);
    let mut least = [u32::MAX; LANES];
    for halves in halves.as_chunks::<LANES>().0 {
        for (least, half) in least.iter_mut().zip(halves) {
            *least = (*least).min((half ^ flip).wrapping_mul(factor));
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        let (low, high) = least.split_at_mut(width);
        low.iter_mut().zip(high).for_each(|(low, high)| *low = (*low).min(*high));
        width /= 2;
    }
    mix32(least[0])
}

/// One round: each feature falls into a bucket, and stays if nothing smaller is there. Whether it stays is a coin toss to
/// the processor, so nothing branches on it: of 600 features with 128 buckets a feature takes 1.8 ns, and thrice that with a branch.
#[inline(always)]
fn throw(features: &[u64], round: u64, buckets: &mut [u64]) {
    let (seed, count) = (stream(round), buckets.len() as u64);
    for feature in features {
        let (bucket, value) = throw_of(*feature, seed, round, count);
        let held = &mut buckets[bucket];
        *held = select_unpredictable(value < *held, value, *held);
    }
}

/// The same where few buckets are empty, so that hardly a feature stays.
#[inline(always)]
fn throw_late(features: &[u64], round: u64, buckets: &mut [u64]) {
    let (seed, count) = (stream(round), buckets.len() as u64);
    for feature in features {
        let (bucket, value) = throw_of(*feature, seed, round, count);
        if value < buckets[bucket] {
            buckets[bucket] = value;
        }
    }
}

/// The bucket that a feature falls into, and the round and value that it has there.
#[inline(always)]
fn throw_of(feature: u64, seed: u64, round: u64, buckets: u64) -> (usize, u64) {
    let hash = fold(feature ^ seed);
    ((((hash >> 32) * buckets) >> 32) as usize, round << 32 | hash & u64::from(u32::MAX))
}

/// The smallest value of the hash function of a seed.
fn smallest(features: &[u64], seed: u64) -> u32 {
    features.iter().map(|feature| (mix(feature ^ seed) >> 32) as u32).min().unwrap_or(u32::MAX)
}

/// In how many values two signatures of the same length agree: their share of all estimates the Jaccard similarity.
pub fn matches(x: &[u32], y: &[u32]) -> u32 {
    x.iter().zip(y).map(|(x, y)| u32::from(x == y)).sum()
}

/// A fraction, never negative: the Jaccard similarity that signatures estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Above the line.
    pub part: u64,
    /// Below it.
    pub whole: u64,
}

impl Estimate {
    /// Of so many values of which this many agree, by so many low bits each (li2010). Two values that have nothing to do
    /// with each other agree in b bits with chance c = 2^-b, so that J is estimated by (m/K - c)/(1 - c), which is
    /// (2^b m - K)/(2^b K - K); with all 32 bits of a value, c is as good as 0.
    pub fn of(matches: u32, hashes: usize, bits: u32) -> Self {
        let (matches, hashes) = (u64::from(matches), hashes as u64);
        match bits {
            VALUE_BITS.. => Self { part: matches, whole: hashes },
            _ => Self { part: (matches << bits).saturating_sub(hashes), whole: (hashes << bits) - hashes },
        }
    }
}

/// Bits of a value.
pub const VALUE_BITS: u32 = u32::BITS;

/// What two sets of these sizes share by the estimate, in whole features: with J = m/K it is o = m(a+b)/(K+m), since J = o/(a+b-o).
pub fn estimated_overlap(jaccard: Estimate, sizes: (u64, u64)) -> u64 {
    let (part, both) = (u128::from(jaccard.part), u128::from(sizes.0) + u128::from(sizes.1));
    let whole = u128::from(jaccard.whole) + part;
    let overlap = ((2 * part * both + whole) / (2 * whole)) as u64;
    overlap.min(sizes.0).min(sizes.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    fn signature(method: Method, hashes: usize, features: &[u64]) -> Vec<u32> {
        let mut out = Vec::new();
        Signer::new(method, hashes).sign(features, &mut out);
        out
    }

    fn feature(set: u64, at: u64) -> u64 {
        let digest = Sha256::digest(format!("{set}:{at}"));
        digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Values of an independent program in Python: see `tests/goldens/minhash.py`.
    #[test]
    fn signatures_are_those_of_another_program() {
        let golden = include_str!("../../../../tests/goldens/minhash.tsv");
        let mut rows = 0;
        for line in golden.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [method, hashes, features, values] = fields[..] else { panic!("{line}") };
            let number = |text: &str| text.parse::<u64>().unwrap();
            let method = if method == "fast" { Method::Fast } else { Method::Classic };
            let set: Vec<u64> = (0..number(features)).map(|at| feature(number(features), at)).collect();
            let values: Vec<u32> = values.split(' ').map(|value| value.parse().unwrap()).collect();
            assert_eq!(signature(method, number(hashes) as usize, &set), values, "{line:.40}");
            rows += 1;
        }
        assert_eq!(rows, 18);
    }

    proptest! {
        /// What the estimate rests on: value for value the signature of a union is that of one of the two.
        #[test]
        fn a_union_takes_the_values_of_its_parts(
            x in prop::collection::btree_set(any::<u64>(), 1..300), y in prop::collection::btree_set(any::<u64>(), 1..40),
            hashes in 1usize..150,
        ) {
            for method in [Method::Fast, Method::Classic] {
                let of = |set: &mut dyn Iterator<Item = &u64>| {
                    signature(method, hashes, &set.copied().collect::<Vec<_>>())
                };
                let (of_x, of_y, of_both) = (of(&mut x.iter()), of(&mut y.iter()), of(&mut x.union(&y)));
                let backwards = of(&mut y.iter().chain(x.iter().rev()).chain(&x));
                prop_assert_eq!(&of_both, &backwards);
                for ((x, y), both) in of_x.iter().zip(&of_y).zip(&of_both) {
                    prop_assert!(both == x || both == y);
                }
            }
        }
    }

    #[test]
    fn features_one_by_one_have_the_signature_of_all_at_once() {
        let features: Vec<u64> = (0..4000).map(|at| feature(1, at)).collect();
        for method in [Method::Fast, Method::Classic] {
            let mut signer = Signer::new(method, 100);
            signer.start();
            features.iter().for_each(|feature| signer.add(*feature));
            let mut out = Vec::new();
            assert!(signer.finish(&mut out));
            assert_eq!(out, signature(method, 100, &features));
        }
        let mut signer = Signer::new(Method::Fast, 100);
        signer.start();
        signer.add(7);
        assert!(!signer.finish(&mut Vec::new()), "one feature fills two buckets at most");
    }

    #[test]
    fn the_estimated_overlap_has_the_estimated_jaccard() {
        let overlap =
            |matches, hashes, sizes| estimated_overlap(Estimate::of(matches, hashes, VALUE_BITS), sizes);
        assert_eq!(overlap(128, 128, (10, 10)), 10);
        assert_eq!(overlap(0, 128, (10, 10)), 0);
        // 13 of 18: the estimate 0.722 gives 13 back.
        assert_eq!(overlap(722, 1000, (15, 16)), 13);
        assert_eq!(overlap(128, 128, (10, 90)), 10);
    }

    #[test]
    fn estimates_of_few_bits_take_chance_out() {
        let jaccard = |matches, hashes, bits| {
            let Estimate { part, whole } = Estimate::of(matches, hashes, bits);
            part as f64 / whole as f64
        };
        // (96/128 - 1/2)/(1 - 1/2), (68/128 - 1/16)/(15/16).
        assert_eq!(jaccard(96, 128, 1), 0.5);
        assert_eq!(jaccard(68, 128, 4), 0.5);
        assert_eq!(jaccard(64, 128, 32), 0.5);
        // Fewer than chance has.
        assert_eq!(jaccard(50, 128, 1), 0.0);
        assert_eq!(jaccard(128, 128, 1), 1.0);
    }
}
