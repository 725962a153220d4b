//! Fingerprints as numbers: what the search and the join ask of 64 and of 128 bits.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{BitAnd, BitOr, BitXor, Not};

mod sealed {
    pub trait Sealed {}
    impl Sealed for u64 {}
    impl Sealed for u128 {}
}

/// A fingerprint: `u64` or `u128`. The trait is sealed, for layouts and file are made for these widths.
pub trait Fingerprint:
    sealed::Sealed
    + Copy
    + Debug
    + Default
    + Ord
    + Hash
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + 'static
{
    /// How many bits it has.
    const BITS: u32;

    /// How many bits are set.
    fn ones(self) -> u32;

    /// In how many bits two fingerprints differ: their Hamming distance.
    #[inline]
    fn distance(self, other: Self) -> u32 {
        (self ^ other).ones()
    }

    /// All bits moved up, those that leave at the top come in at the bottom.
    fn rotated(self, by: u32) -> Self;

    /// The highest bits, at most 32, as a number.
    fn top(self, bits: u32) -> u32;

    /// A number put into the highest bits, at most 32; the inverse of [`top`](Self::top).
    fn from_top(number: u32, bits: u32) -> Self;

    /// A fingerprint whose lowest bits are set.
    fn low_ones(bits: u32) -> Self;

    /// A hash of 64 bits, whose highest bits are the best.
    fn mixed(self) -> u64;

    /// Reads a fingerprint from the first `BITS / 8` bytes, little endian; `None` where there are fewer.
    fn load(bytes: &[u8]) -> Option<Self>;

    /// Writes the lowest bytes, little endian, to the beginning of `out`.
    fn store(self, bytes: usize, out: &mut [u8]);

    /// Reads exactly `BITS / 4` hex digits.
    fn from_hex(digits: &[u8]) -> Option<Self>;
}

/// A number by which fingerprints are spread: 2^64 over the golden ratio, made odd, as multiplicative hashing has it.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

macro_rules! fingerprint {
    ($type:ty, |$value:ident| $mixed:expr) => {
        impl Fingerprint for $type {
            const BITS: u32 = <$type>::BITS;

            #[inline]
            fn ones(self) -> u32 {
                self.count_ones()
            }

            #[inline]
            fn rotated(self, by: u32) -> Self {
                self.rotate_left(by)
            }

            #[inline]
            fn top(self, bits: u32) -> u32 {
                self.checked_shr(Self::BITS - bits).unwrap_or(0) as u32
            }

            #[inline]
            fn from_top(number: u32, bits: u32) -> Self {
                <$type>::from(number).checked_shl(Self::BITS - bits).unwrap_or(0)
            }

            #[inline]
            fn low_ones(bits: u32) -> Self {
                <$type>::MAX.checked_shr(Self::BITS - bits).unwrap_or(0)
            }

            #[inline]
            fn mixed(self) -> u64 {
                let $value = self;
                $mixed
            }

            #[inline]
            fn load(bytes: &[u8]) -> Option<Self> {
                bytes.first_chunk().copied().map(<$type>::from_le_bytes)
            }

            #[inline]
            fn store(self, bytes: usize, out: &mut [u8]) {
                out[..bytes].copy_from_slice(&self.to_le_bytes()[..bytes]);
            }

            fn from_hex(digits: &[u8]) -> Option<Self> {
                let all = digits.len() == Self::BITS as usize / 4 && digits.iter().all(u8::is_ascii_hexdigit);
                let text = std::str::from_utf8(digits).ok().filter(|_| all)?;
                <$type>::from_str_radix(text, 16).ok()
            }
        }
    };
}

fingerprint!(u64, |value| (value ^ (value >> 32)).wrapping_mul(SPREAD));
fingerprint!(u128, |value| {
    let half = (value >> 64) as u64 ^ (value as u64).rotate_left(23).wrapping_mul(SPREAD);
    (half ^ (half >> 32)).wrapping_mul(SPREAD)
});

/// Some of a fingerprint's bits in `parts` runs that follow one another from the top, as equal in width as can be: masks of the set
/// bits of `bits`, of which there are at least as many as parts.
pub fn blocks<F: Fingerprint>(bits: F, parts: u32) -> Vec<F> {
    let all = bits.ones();
    let mut masks = Vec::new();
    let (mut mask, mut seen) = (F::default(), 0);
    for place in (0..F::BITS).rev() {
        let bit = F::low_ones(1).rotated(place);
        if bits & bit == F::default() {
            continue;
        }
        mask = mask | bit;
        seen += 1;
        if seen == (masks.len() as u32 + 1) * all / parts {
            masks.push(std::mem::take(&mut mask));
        }
    }
    masks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<F: Fingerprint>() {
        let all = !F::default();
        for parts in 1..=9 {
            let masks = blocks(all, parts);
            assert_eq!(masks.len() as u32, parts);
            assert_eq!(masks.iter().map(|mask| mask.ones()).sum::<u32>(), F::BITS);
            assert!(masks.iter().fold(F::default(), |some, mask| some | *mask) == all);
            let widths: Vec<u32> = masks.iter().map(|mask| mask.ones()).collect();
            assert!(widths.iter().max().unwrap() - widths.iter().min().unwrap() <= 1, "{widths:?}");
        }
        for bits in 0..=32 {
            assert_eq!(all.top(bits), u32::MAX.checked_shr(32 - bits).unwrap_or(0));
            assert_eq!(F::from_top(all.top(bits), bits), !F::low_ones(F::BITS - bits));
            assert_eq!(F::low_ones(bits).ones(), bits);
        }
        let mut room = [0; 16];
        F::from_top(0xfeed_beef, 32).store(F::BITS as usize / 8, &mut room);
        assert_eq!(F::load(&room), Some(F::from_top(0xfeed_beef, 32)));
        assert_eq!(F::load(&room[..7]), None);
    }

    #[test]
    fn both_widths_keep_what_is_promised() {
        check::<u64>();
        check::<u128>();
        assert_eq!(u64::from_hex(b"00000000000000fF"), Some(255));
        for bad in ["", "ff", "+0000000000000ff", "00000000000000fg", "000000000000000ff"] {
            assert_eq!(u64::from_hex(bad.as_bytes()), None);
        }
        assert_eq!(u128::from_hex(&[b'f'; 32]), Some(u128::MAX));
        assert_eq!(u128::from_hex(&[b'f'; 16]), None);
    }
}
