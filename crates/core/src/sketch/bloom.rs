//! A Bloom filter that counts to two (bloom1970, fan2000): which keys came more than once.
//!
//! A key has three cells of two bits, and each time it comes all three go up by one, to two at most. A key that came twice has
//! three cells of two; so may one that came once, by cells that it shares with others, but never the other way round. Filters of
//! parts of the keys are added up cell by cell, and the sum is the filter of all keys, whatever the parts were.
//!
//! With c cells for each different key a key that came once passes with the probability (1 - e^(-3/c))^3: .03 of them with eight
//! cells, two bytes, and .15 with four.

use super::rice::{BitReader, BitWriter, parameter};
use crate::hash::{mix, stream};

/// Cells of a key.
const CELLS: u64 = 3;
/// Where a cell is as high as it goes.
const TWICE: u8 = 2;
/// Bytes that travel together: a quarter as many cells.
pub const CHUNK: usize = 4096;
const CHUNK_CELLS: u64 = 4 * CHUNK as u64;

/// The filter, four cells a byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bloom {
    cells: Vec<u8>,
}

/// Bytes that are no chunk of a filter of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadChunk;

impl Bloom {
    /// An empty filter of so many megabytes.
    pub fn of_megabytes(megabytes: u32) -> Self {
        Self { cells: vec![0; (megabytes.max(1) as usize) << 20] }
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.cells.len()
    }

    /// Cells that are not empty.
    pub fn used(&self) -> u64 {
        self.cells.iter().map(|byte| u64::from(((byte | byte >> 1) & 0x55).count_ones())).sum()
    }

    /// Counts a key.
    pub fn add(&mut self, key: u64) {
        for number in 0..CELLS {
            let place = self.place(key, number);
            self.raise(place, 1);
        }
    }

    /// Whether a key may have come more than once; `false` for none that has.
    pub fn came_twice(&self, key: u64) -> bool {
        (0..CELLS).all(|number| {
            let place = self.place(key, number);
            self.cells[(place / 4) as usize] >> (2 * (place % 4)) & 3 == TWICE
        })
    }

    fn place(&self, key: u64, number: u64) -> u64 {
        let cells = 4 * self.cells.len() as u128;
        ((u128::from(mix(key ^ stream(number))) * cells) >> 64) as u64
    }

    fn raise(&mut self, place: u64, by: u8) {
        let (byte, shift) = (&mut self.cells[(place / 4) as usize], 2 * (place % 4));
        let now = *byte >> shift & 3;
        *byte = *byte & !(3 << shift) | (now + by).min(TWICE) << shift;
    }

    /// The chunks that hold something, by their numbers, each as bytes that [`add_chunk`](Self::add_chunk) reads: the gaps
    /// between cells that are not empty, Rice coded, or all cells where that is shorter.
    pub fn chunks(&self) -> impl Iterator<Item = (u64, Vec<u8>)> {
        let held =
            (0..).zip(self.cells.chunks(CHUNK)).filter(|(_, chunk)| chunk.iter().any(|byte| *byte != 0));
        held.map(|(number, chunk)| (number, encode(chunk)))
    }

    /// Adds the counts of a chunk of another filter of the same size.
    pub fn add_chunk(&mut self, number: u64, bytes: &[u8]) -> Result<(), BadChunk> {
        let first = number.checked_mul(CHUNK_CELLS).ok_or(BadChunk)?;
        if first >= 4 * self.cells.len() as u64 {
            return Err(BadChunk);
        }
        decode(bytes, |cell, count| self.raise(first + cell, count)).ok_or(BadChunk)
    }
}

/// The first byte of a chunk whose cells all stand there; of another one it is the Rice parameter of its gaps.
const ALL_CELLS: u8 = u8::MAX;

fn cells(chunk: &[u8]) -> impl Iterator<Item = (u64, u8)> {
    let of = |(at, byte): (u64, &u8)| {
        let byte = *byte;
        (0..4).map(move |cell| (4 * at + cell, byte >> (2 * cell) & 3))
    };
    (0..).zip(chunk).filter(|(_, byte)| **byte != 0).flat_map(of).filter(|(_, count)| *count > 0)
}

fn encode(chunk: &[u8]) -> Vec<u8> {
    let used = cells(chunk).count() as u64;
    let k = parameter(CHUNK_CELLS / used.max(1));
    let mut bits = BitWriter::default();
    bits.bits(u64::from(k), 8);
    bits.bits(used, 16);
    let mut next = 0;
    for (cell, count) in cells(chunk) {
        bits.rice(cell - next, k);
        bits.bits(u64::from(count == TWICE), 1);
        next = cell + 1;
    }
    let gaps = bits.finish();
    if gaps.len() <= chunk.len() { gaps } else { [&[ALL_CELLS], chunk].concat() }
}

fn decode(bytes: &[u8], mut raise: impl FnMut(u64, u8)) -> Option<()> {
    let (first, chunk) = bytes.split_first()?;
    if *first == ALL_CELLS {
        let fits = chunk.len() == CHUNK && cells(chunk).all(|(_, count)| count <= TWICE);
        return fits.then(|| cells(chunk).for_each(|(cell, count)| raise(cell, count)));
    }
    let mut bits = BitReader::new(bytes);
    let (k, used) = (bits.bits(8)? as u32, bits.bits(16)?);
    let mut next = 0u64;
    for _ in 0..used {
        let cell = next.checked_add((k <= 56).then(|| bits.rice(k))??)?;
        let count = bits.bits(1)? as u8 + 1;
        next = (cell < CHUNK_CELLS).then_some(cell + 1)?;
        raise(cell, count);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(keys: &[u64]) -> Bloom {
        let mut filter = Bloom::of_megabytes(1);
        keys.iter().for_each(|key| filter.add(*key));
        filter
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// The filter of all keys is the sum of those of any parts, and whoever came twice passes.
        #[test]
        fn parts_add_up_and_nobody_is_lost(
            keys in prop::collection::vec(0u64..3000, 0..2000), spread in prop::bool::ANY, parts in 1usize..5,
        ) {
            let keys: Vec<u64> = keys.into_iter().map(|key| if spread { mix(key) } else { key }).collect();
            let whole = of(&keys);
            let mut sum = Bloom::of_megabytes(1);
            for part in 0..parts {
                let part: Vec<u64> = keys.iter().copied().skip(part).step_by(parts).collect();
                for (number, bytes) in of(&part).chunks() {
                    prop_assert!(bytes.len() <= CHUNK + 1);
                    prop_assert!(sum.add_chunk(number, &bytes).is_ok());
                }
            }
            prop_assert!(sum == whole);
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            for same in sorted.chunk_by(|x, y| x == y) {
                prop_assert!(same.len() < 2 || whole.came_twice(same[0]), "{} is lost", same[0]);
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(number in 0u64..300, bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut filter = Bloom::of_megabytes(1);
            let _ = filter.add_chunk(number, &bytes);
            prop_assert!(filter.chunks().all(|(at, _)| at == number));
        }
    }

    /// As many keys that came once pass as the formula says: of 10^6 keys and four cells each 14.7 %.
    #[test]
    fn few_keys_pass_that_came_once() {
        let keys: Vec<u64> = (0..1 << 20).map(mix).collect();
        let filter = of(&keys);
        let passed = keys.iter().filter(|key| filter.came_twice(**key)).count() as f64;
        let expected = (1.0 - (-0.75f64).exp()).powi(3);
        let share = passed / keys.len() as f64;
        assert!((share - expected).abs() < 0.005, "{share} of {expected}");
        assert!(filter.used() < 3 << 20 && filter.bytes() == 1 << 20);
    }

    #[test]
    fn a_full_chunk_travels_as_it_is() {
        let mut filter = Bloom::of_megabytes(1);
        (0..CHUNK_CELLS).for_each(|cell| filter.raise(cell, 1 + (cell % 2) as u8));
        let chunks: Vec<_> = filter.chunks().collect();
        assert_eq!((chunks.len(), chunks[0].0, chunks[0].1[0]), (1, 0, ALL_CELLS));
        let mut other = Bloom::of_megabytes(1);
        assert!(other.add_chunk(0, &chunks[0].1).is_ok() && other == filter);
        assert_eq!(other.add_chunk(256, &chunks[0].1), Err(BadChunk));
        assert_eq!(other.add_chunk(0, &chunks[0].1[..9]), Err(BadChunk));
    }
}
