//! Of which of 64 bytes something is true, as one word of 64 bits.
//!
//! What reads text by such masks works by the token, not by the byte, and has few branches to guess.

/// So many bytes are looked at together.
pub const BLOCK: usize = 64;

/// The first of some values, with zeros behind where they are fewer.
#[inline]
pub fn padded<T: Copy + Default, const N: usize>(values: &[T]) -> [T; N] {
    values.first_chunk().copied().unwrap_or_else(|| {
        let mut padded = [T::default(); N];
        padded[..values.len()].copy_from_slice(values);
        padded
    })
}

/// The byte in each of the eight bytes of a word.
#[inline]
pub const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Of which of eight bytes below 128 it is true, as [`of`] asks for it, that they are from `low` to `high`, both included. They do not carry into one another.
#[inline]
pub const fn within(bytes: u64, low: u8, high: u8) -> u64 {
    (bytes + eight(0x80 - low)) & !(bytes + eight(0x7f - high))
}

/// Of which bytes something is true: the first byte is the lowest bit. `is_true` takes eight bytes, the first in the lowest byte of the word, and says it in the
/// high bit of each; the other bits do not matter.
#[inline]
pub fn of(block: &[u8; BLOCK], is_true: impl Fn(u64) -> u64) -> u64 {
    let (words, _) = block.as_chunks();
    gather(std::array::from_fn(|at| is_true(u64::from_le_bytes(words[at]))))
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use std::arch::x86_64::{_mm_movemask_epi8, _mm_set_epi64x};

    /// The high bits of bytes.
    #[inline]
    pub fn gather(words: [u64; 8]) -> u64 {
        // SAFETY: every x86-64 has SSE2.
        let two = |at: usize| unsafe { high_bits(words[at + 1], words[at]) } << (8 * at);
        two(0) | two(2) | two(4) | two(6)
    }

    #[target_feature(enable = "sse2")]
    #[inline]
    fn high_bits(high: u64, low: u64) -> u64 {
        u64::from(_mm_movemask_epi8(_mm_set_epi64x(high as i64, low as i64)) as u16)
    }
}

#[cfg(target_arch = "x86_64")]
use x86::gather;

/// The same where there is no such instruction.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline]
fn gather_by_products(words: [u64; 8]) -> u64 {
    let of = |(at, word): (usize, &u64)| {
        let high = (word & eight(0x80)) >> 7;
        // The bits meet in the top byte.
        (high.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at)
    };
    words.iter().enumerate().fold(0, |all, word| all | of(word))
}

#[cfg(not(target_arch = "x86_64"))]
use gather_by_products as gather;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn masks_have_a_bit_for_each_byte(block: [u8; 32], last: [u8; 32]) {
            let block: [u8; BLOCK] = std::array::from_fn(|at| if at < 32 { block[at] } else { last[at - 32] });
            let expected = (0..BLOCK).fold(0, |all, at| all | u64::from(block[at] >= 0x80) << at);
            prop_assert_eq!(of(&block, |word| word), expected);
            let (words, _) = block.as_chunks();
            prop_assert_eq!(gather_by_products(std::array::from_fn(|at| u64::from_le_bytes(words[at]))), expected);
        }

        #[test]
        fn what_is_missing_is_zero(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            let expected: Vec<u8> = bytes.iter().copied().chain([0; 8]).take(8).collect();
            prop_assert_eq!(padded::<_, 8>(&bytes).to_vec(), expected);
        }
    }
}
