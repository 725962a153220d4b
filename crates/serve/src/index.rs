//! The fingerprints of kept documents, of 64 bits or of 128.

use twinsplit_core::sketch::simhash::Bits;
use twinsplit_hamming::{DynamicIndex, IndexOptions, Layout, Scratch};
use twinsplit_io::error::Result;

/// An index of fingerprints by the numbers of their documents.
#[derive(Debug)]
pub(crate) enum FingerprintIndex {
    /// Of 64 bits.
    B64(DynamicIndex<u64>),
    /// Of 128.
    B128(DynamicIndex<u128>),
}

impl FingerprintIndex {
    /// An empty one, whose searches are within a distance.
    pub fn new(bits: Bits, distance: u32) -> Self {
        let options = options(distance);
        match bits {
            Bits::B64 => FingerprintIndex::B64(DynamicIndex::new(options).in_background()),
            Bits::B128 => FingerprintIndex::B128(DynamicIndex::new(options).in_background()),
        }
    }

    /// One of many, by ascending numbers.
    pub fn of(bits: Bits, distance: u32, fingerprints: impl Iterator<Item = (u64, u128)>) -> Result<Self> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let options = IndexOptions { threads, ..options(distance) };
        Ok(match bits {
            Bits::B64 => {
                let narrow = fingerprints.map(|(number, value)| (number, value as u64));
                FingerprintIndex::B64(DynamicIndex::of(narrow, options)?.in_background())
            }
            Bits::B128 => FingerprintIndex::B128(DynamicIndex::of(fingerprints, options)?.in_background()),
        })
    }

    /// Adds one, whose number is larger than all before.
    pub fn insert(&mut self, number: u64, value: u128) -> Result<()> {
        match self {
            FingerprintIndex::B64(index) => index.insert(number, value as u64),
            FingerprintIndex::B128(index) => index.insert(number, value),
        }
    }

    /// Takes one out.
    pub fn remove(&mut self, number: u64) {
        match self {
            FingerprintIndex::B64(index) => index.remove(number),
            FingerprintIndex::B128(index) => index.remove(number),
        };
    }

    /// Takes out all with smaller numbers.
    pub fn expire_before(&mut self, number: u64) {
        match self {
            FingerprintIndex::B64(index) => index.expire_before(number),
            FingerprintIndex::B128(index) => index.expire_before(number),
        }
    }

    /// For each of some values, by its place, the numbers of all within the distance, and their distances; in no order that means something.
    pub fn search(&self, values: &[u128], room: &mut Room, visit: impl FnMut(usize, u64, u32)) {
        match self {
            FingerprintIndex::B64(index) => {
                room.values.clear();
                room.values.extend(values.iter().map(|value| *value as u64));
                index.search_all(&room.values, &mut room.narrow, visit);
            }
            FingerprintIndex::B128(index) => index.search_all(values, &mut room.wide, visit),
        }
    }

    /// Bytes that it takes.
    pub fn memory(&self) -> u64 {
        match self {
            FingerprintIndex::B64(index) => index.memory(),
            FingerprintIndex::B128(index) => index.memory(),
        }
    }
}

/// Room that searches share.
#[derive(Debug, Default)]
pub(crate) struct Room {
    values: Vec<u64>,
    narrow: Scratch<u64>,
    wide: Scratch<u128>,
}

/// What is asked for by `--memory` is compared before documents are taken in, for all namespaces together: a run of an index has no bound of its own. At usual
/// distances there is a table for each block that must agree: 28 bytes a fingerprint where the fastest layout of many millions takes 120.
fn options(distance: u32) -> IndexOptions {
    let layout = (2..=3).contains(&distance).then_some(Layout::MultiIndex(distance + 1));
    IndexOptions { distance, layout, memory: u64::MAX / 4, threads: 1 }
}
