//! SimHash: a multiset of weighted features becomes a fingerprint of 64 or 128 bits (charikar2002, manku2007).
//!
//! Each feature is hashed; where a bit of the hash is 1 the feature's weight is added to that bit's sum, and where it is 0 the
//! weight is taken from it. The fingerprint has a 1 where the sum is above 0. Each bit says on which side of a random
//! hyperplane the document lies as a vector of weights, so that two documents whose vectors have a small angle between them
//! differ in few bits: of `n` bits in `n·angle/π`, on average. How near two fingerprints are is their Hamming distance.
//!
//! Weights and sums are whole numbers, so that neither the order of features nor the machine changes a bit.
//!
//! What becomes of a sum of 0 is a choice ([`Tie`]): with weights of 1 and an even number of features it is common.

use std::fmt;

crate::choice! {
    /// How many bits a fingerprint has.
    #[derive(Default)]
    pub enum Bits {
        /// 64 bits, 16 hex digits
        B64 = "64"; default,
        /// 128 bits, 32 hex digits
        B128 = "128",
    }
}

impl Bits {
    /// The number.
    pub fn count(self) -> u32 {
        match self {
            Bits::B64 => 64,
            Bits::B128 => 128,
        }
    }
}

crate::choice! {
    /// The bit of a sum that is 0.
    #[derive(Default)]
    pub enum Tie {
        /// A bit is 1 when its sum is above 0
        Zero = "zero"; default,
        /// A bit is 1 when its sum is 0 or above
        One = "one",
    }
}

/// A fingerprint. Of 64 bits the upper half of the value is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint {
    /// How many bits it has.
    pub bits: Bits,
    /// The bits as a number.
    pub value: u128,
}

impl Fingerprint {
    /// The number of bits in which two fingerprints of one length differ.
    pub fn distance(self, other: Self) -> u32 {
        (self.value ^ other.value).count_ones()
    }

    /// A fingerprint from its 16 or 32 lower-case hex digits.
    pub fn from_hex(digits: &[u8]) -> Option<Self> {
        let bits = match digits.len() {
            16 => Bits::B64,
            32 => Bits::B128,
            _ => return None,
        };
        let value = digits.iter().try_fold(0u128, |value, digit| {
            let nibble = match digit {
                b'0'..=b'9' => digit - b'0',
                b'a'..=b'f' => digit - b'a' + 10,
                _ => return None,
            };
            Some(value << 4 | u128::from(nibble))
        })?;
        Some(Self { bits, value })
    }

    /// Appends the hex digits.
    pub fn push_hex(self, out: &mut Vec<u8>) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let digits = (self.bits.count() / 4) as usize;
        out.extend((0..digits).rev().map(|at| HEX[(self.value >> (4 * at) & 15) as usize]));
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$x}", self.value, width = (self.bits.count() / 4) as usize)
    }
}

/// Bytes of the longest fingerprint.
const BYTES: usize = 16;

/// For each byte its eight bits, the lowest first, each as a byte of a number.
static SPREAD: [u64; 256] = spread();

const fn spread() -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte] |= ((byte as u64 >> bit) & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// The sums of a fingerprint's bits. What is kept is the weight of the features that have a 1; the rest of the total weight
/// have a 0.
///
/// Features of weight 1 are counted eight bits at a time, in bytes, which are emptied before they are full.
#[derive(Clone, Debug)]
pub struct Sums {
    bits: Bits,
    /// The weight of features with a 1, by bit from the lowest.
    ones: [i64; 8 * BYTES],
    total: i64,
    /// The same of features of weight 1, eight bits in a number, and how many features there are.
    bytes: [u64; BYTES],
    counted: u8,
}

impl Sums {
    /// Sums of no feature.
    pub fn new(bits: Bits) -> Self {
        Self { bits, ones: [0; 8 * BYTES], total: 0, bytes: [0; BYTES], counted: 0 }
    }

    /// Adds a feature of weight 1. Bits of the hash beyond those of the fingerprint do not count.
    #[inline]
    pub fn add_one(&mut self, hash: u128) {
        match self.bits {
            Bits::B64 => self.count(&(hash as u64).to_le_bytes()),
            Bits::B128 => self.count(&hash.to_le_bytes()),
        }
        self.counted += 1;
        if self.counted == u8::MAX {
            self.empty();
        }
    }

    #[inline]
    fn count<const N: usize>(&mut self, hash: &[u8; N]) {
        for (sum, byte) in self.bytes.iter_mut().zip(hash) {
            *sum += SPREAD[usize::from(*byte)];
        }
    }

    /// Adds what was counted in bytes.
    fn empty(&mut self) {
        for (ones, bytes) in self.ones.chunks_exact_mut(8).zip(&mut self.bytes) {
            for (one, byte) in ones.iter_mut().zip(std::mem::take(bytes).to_le_bytes()) {
                *one += i64::from(byte);
            }
        }
        self.total += i64::from(std::mem::take(&mut self.counted));
    }

    /// Adds a feature. The weights of all features together must stay below 2^63.
    #[inline]
    pub fn add(&mut self, hash: u128, weight: u64) {
        let weight = weight as i64;
        let (low, high) = self.ones.split_at_mut(64);
        add_half(low, hash as u64, weight);
        if self.bits == Bits::B128 {
            add_half(high, (hash >> 64) as u64, weight);
        }
        self.total += weight;
    }

    /// The sums, from the lowest bit: the weight of the features with a 1 less that of those with a 0.
    pub fn sums(&mut self) -> Vec<i64> {
        self.empty();
        let bits = self.bits.count() as usize;
        self.ones[..bits].iter().map(|ones| 2 * ones - self.total).collect()
    }

    /// The fingerprint of what was added; the sums are those of no feature again.
    pub fn fingerprint(&mut self, tie: Tie) -> Fingerprint {
        self.empty();
        let mut value = 0;
        for (bit, ones) in self.ones.iter().enumerate().take(self.bits.count() as usize) {
            let sum = 2 * ones - self.total;
            let one = sum > 0 || (sum == 0 && tie == Tie::One);
            value |= u128::from(one) << bit;
        }
        *self = Self::new(self.bits);
        Fingerprint { bits: self.bits, value }
    }
}

#[inline]
fn add_half(ones: &mut [i64], hash: u64, weight: i64) {
    for (bit, one) in ones.iter_mut().enumerate() {
        *one += weight & ((hash >> bit) as i64 & 1).wrapping_neg();
    }
}

/// What a weight of 1 is where weights are fractions.
const FRACTION_BITS: u32 = 20;

/// The inverse document frequency of a feature that `df` of `documents` documents have: log2((documents + 1) / df) times 2^20,
/// rounded down. One more document than there are keeps a feature that all of them have from having no weight at all. A
/// feature that is not known counts as one of a single document.
///
/// The logarithm is found bit by bit, by squaring whole numbers: no machine computes another one.
pub fn idf(documents: u64, df: u64) -> u64 {
    let (n, d) = (u128::from(documents) + 1, u128::from(df.max(1)));
    if n <= d {
        return 0;
    }
    // n/d as m·2^(whole - 62), with m in [2^62, 2^63).
    let whole = (n / d).ilog2();
    let mut m = ((n << 62) / d) >> whole;
    let mut log = u64::from(whole);
    for _ in 0..FRACTION_BITS {
        m = (m * m) >> 62;
        let bit = (m >> 63) as u64;
        m >>= bit;
        log = log << 1 | bit;
    }
    log
}

/// Turns weights into levels 1 to 5, quintiles within a document: a feature of which a fifth of the others is below, but not
/// two fifths, is of level 2, and so on. Equal weights have one level. (Our reading of yanlan, which grades words from 1
/// to 5 and does not say how.)
pub fn levels(weights: &mut [u64]) {
    let mut sorted = weights.to_vec();
    sorted.sort_unstable();
    for weight in weights.iter_mut() {
        let below = sorted.partition_point(|other| other < weight);
        *weight = 1 + (5 * below / sorted.len()) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, bit by bit.
    fn slow(features: &[(u128, u64)], bits: Bits, tie: Tie) -> u128 {
        let mut value = 0;
        for bit in 0..bits.count() {
            let mut sum = 0i128;
            for (hash, weight) in features {
                let weight = i128::from(*weight);
                sum += if hash >> bit & 1 == 1 { weight } else { -weight };
            }
            if sum > 0 || (sum == 0 && tie == Tie::One) {
                value |= 1 << bit;
            }
        }
        value
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_definition(
            some in prop::collection::vec((any::<u128>(), prop_oneof![Just(1u64), 0u64..1 << 40]), 0..40),
            repeats in 1usize..20, wide: bool, one: bool,
        ) {
            let bits = if wide { Bits::B128 } else { Bits::B64 };
            let tie = if one { Tie::One } else { Tie::Zero };
            let features: Vec<_> = some.iter().copied().cycle().take(some.len() * repeats).collect();
            let mut sums = Sums::new(bits);
            for (hash, weight) in &features {
                if *weight == 1 { sums.add_one(*hash) } else { sums.add(*hash, *weight) }
            }
            let signs = sums.clone().sums();
            let found = sums.fingerprint(tie);
            prop_assert!(signs.iter().enumerate().all(|(bit, sum)| *sum == 0 || (*sum > 0) == (found.value >> bit & 1 == 1)));
            prop_assert_eq!(found.value, slow(&features, bits, tie));
            // Nothing is left for the next document.
            prop_assert_eq!(sums.fingerprint(tie).value, slow(&[], bits, tie));
            let mut hex = Vec::new();
            found.push_hex(&mut hex);
            prop_assert_eq!(Fingerprint::from_hex(&hex), Some(found));
            prop_assert_eq!(found.to_string().into_bytes(), hex);
        }

        #[test]
        fn logarithms_are_near_those_of_floats(documents in 0u64..1 << 52, df in 1u64..1 << 52) {
            let df = df.min(documents).max(1);
            let exact = ((documents as f64 + 1.0) / df as f64).log2() * f64::from(1 << FRACTION_BITS);
            prop_assert!((idf(documents, df) as f64 - exact).abs() <= 2.0, "{} {exact}", idf(documents, df));
        }
    }

    #[test]
    fn logarithms_of_powers_are_exact() {
        assert_eq!(idf(0, 0), 0);
        assert_eq!(idf(1, 1), 1 << 20);
        assert_eq!(idf(7, 1), 3 << 20);
        assert_eq!(idf(u64::MAX, 1), 64 << 20);
        assert_eq!(idf(3, 9), 0);
        // log2(3) = 1.58496250072…
        assert_eq!(idf(2, 1), 1_661_953);
    }

    #[test]
    fn levels_are_quintiles() {
        let of = |weights: &[u64]| {
            let mut weights = weights.to_vec();
            levels(&mut weights);
            weights
        };
        assert_eq!(of(&[10, 50, 20, 40, 30]), [1, 5, 2, 4, 3]);
        assert_eq!(of(&[7, 7, 7]), [1, 1, 1]);
        assert_eq!(of(&[1, 9]), [1, 3]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn distances_count_bits() {
        let of = |hex: &str| Fingerprint::from_hex(hex.as_bytes());
        let (a, b) = (of("00000000000000ff").unwrap(), of("80000000000000f0").unwrap());
        assert_eq!((a.distance(b), a.distance(a)), (5, 0));
        for wrong in ["", "00000000000000f", "00000000000000fF", "00000000000000fff"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
