//! Golomb codes with a power of two (Rice codes; golomb1966): numbers that fall off geometrically, such as the gaps of
//! ascending ones, take little more than their entropy.
//!
//! With parameter k a number n is n >> k ones, a zero, and its k low bits. A gap is coded as one less than the difference.

/// Bits, the first one in the highest bit of the first byte.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that the last byte has room for.
    room: u32,
}

impl BitWriter {
    /// Appends so many low bits of a number, the highest of them first.
    pub fn bits(&mut self, number: u64, mut count: u32) {
        while count > 0 {
            if self.room == 0 {
                self.bytes.push(0);
                self.room = 8;
            }
            let take = count.min(self.room);
            let part = number >> (count - take) & ((1 << take) - 1);
            if let Some(last) = self.bytes.last_mut() {
                *last |= (part as u8) << (self.room - take);
            }
            self.room -= take;
            count -= take;
        }
    }

    /// Appends the code of a number.
    pub fn rice(&mut self, number: u64, k: u32) {
        let mut ones = number >> k;
        while ones >= 32 {
            self.bits(u64::from(u32::MAX), 32);
            ones -= 32;
        }
        self.bits((1 << (ones + 1)) - 2, ones as u32 + 1);
        self.bits(number, k);
    }

    /// The bytes; the last one ends in zeros.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads what a [`BitWriter`] wrote.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// The bits that were read.
    at: usize,
}

impl<'a> BitReader<'a> {
    /// From the first bit on.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next bits as a number, at most 56 of them; nothing past the end.
    pub fn bits(&mut self, count: u32) -> Option<u64> {
        let (byte, skip) = (self.at / 8, self.at as u32 % 8);
        if self.at + count as usize > 8 * self.bytes.len() {
            return None;
        }
        self.at += count as usize;
        let window = match self.bytes.get(byte..byte + 8).and_then(|bytes| bytes.try_into().ok()) {
            Some(bytes) => u64::from_be_bytes(bytes),
            None => (0..8).fold(0, |window, at| {
                window << 8 | u64::from(self.bytes.get(byte + at).copied().unwrap_or(0))
            }),
        };
        Some(if count == 0 { 0 } else { window << skip >> (64 - count) })
    }

    /// The number whose code comes next; nothing past the end, or where no such code is.
    pub fn rice(&mut self, k: u32) -> Option<u64> {
        let mut ones = 0u64;
        while self.bits(1)? == 1 {
            ones += 1;
        }
        let low = self.bits(k)?;
        (ones <= u64::MAX >> k).then_some(ones << k | low)
    }
}

/// The parameter for numbers of this mean, at most 56: the code of a geometric distribution is shortest where 2^k is about
/// ln 2 of the mean.
pub fn parameter(mean: u64) -> u32 {
    let scaled = (u128::from(mean) * 693 / 1000) as u64;
    scaled.checked_ilog2().unwrap_or(0).min(56)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_written_is_read(
            numbers in prop::collection::vec((0u64..1 << 56, 0u32..40), 0..50), k in 0u32..50,
        ) {
            let mut writer = BitWriter::default();
            // Codes of numbers far above 2^k are long: each number is brought near it.
            let near = |number: u64, bits: u32| number >> (56 - bits.min(k + 6));
            for (number, bits) in &numbers {
                writer.bits(*number, *bits);
                writer.rice(near(*number, *bits), k);
            }
            let bytes = writer.finish();
            let mut reader = BitReader::new(&bytes);
            for (number, bits) in &numbers {
                prop_assert_eq!(reader.bits(*bits), Some(number & ((1 << bits) - 1)));
                prop_assert_eq!(reader.rice(k), Some(near(*number, *bits)));
            }
            prop_assert!(reader.bits(8).is_none());
        }
    }

    #[test]
    fn codes_are_those_of_the_definition() {
        let code = |number, k| {
            let mut writer = BitWriter::default();
            writer.rice(number, k);
            writer.finish()
        };
        // 9 with k = 2: two ones, a zero, and 01.
        assert_eq!(code(9, 2), [0b1100_1000]);
        assert_eq!(code(0, 0), [0]);
        assert_eq!(code(40, 0), [255, 255, 255, 255, 255, 0]);
        assert_eq!(BitReader::new(&[255]).rice(0), None);
        assert_eq!([0, 1, 2, 3, 1000].map(parameter), [0, 0, 0, 1, 9]);
    }
}
