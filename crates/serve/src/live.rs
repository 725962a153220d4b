//! The fingerprints of kept documents, of 64 bits or of 128.

use twinsplit_core::sketch::simhash::Bits;
use twinsplit_hamming::{DynamicIndex, Index, IndexOptions, Layout};
use twinsplit_io::error::Result;

/// An index of fingerprints by the numbers of their documents.
#[derive(Debug)]
pub(crate) enum Live {
    /// Of 64 bits.
    B64(DynamicIndex<u64>),
    /// Of 128.
    B128(DynamicIndex<u128>),
}

impl Live {
    /// An empty one, whose searches are within a distance.
    pub fn new(bits: Bits, distance: u32) -> Self {
        let options = options(distance);
        match bits {
            Bits::B64 => Live::B64(DynamicIndex::new(options).in_background()),
            Bits::B128 => Live::B128(DynamicIndex::new(options).in_background()),
        }
    }

    /// One of many, by ascending numbers.
    pub fn over(bits: Bits, distance: u32, numbers: &[u64], values: &[u128]) -> Result<Self> {
        let options = options(distance);
        Ok(match bits {
            Bits::B64 => {
                let narrow: Vec<u64> = values.iter().map(|value| *value as u64).collect();
                let base = Index::build(&narrow, options)?.with_numbers(numbers)?;
                Live::B64(DynamicIndex::over(base, options)?.in_background())
            }
            Bits::B128 => {
                let base = Index::build(values, options)?.with_numbers(numbers)?;
                Live::B128(DynamicIndex::over(base, options)?.in_background())
            }
        })
    }

    /// Adds one, whose number is larger than all before.
    pub fn insert(&mut self, number: u64, value: u128) -> Result<()> {
        match self {
            Live::B64(live) => live.insert(number, value as u64),
            Live::B128(live) => live.insert(number, value),
        }
    }

    /// Takes one out.
    pub fn remove(&mut self, number: u64) {
        match self {
            Live::B64(live) => live.remove(number),
            Live::B128(live) => live.remove(number),
        };
    }

    /// Takes out all with smaller numbers.
    pub fn expire_before(&mut self, number: u64) {
        match self {
            Live::B64(live) => live.expire_before(number),
            Live::B128(live) => live.expire_before(number),
        }
    }

    /// The numbers of all within the distance, ascending, and their distances.
    pub fn search(&self, value: u128) -> Vec<(u64, u32)> {
        match self {
            Live::B64(live) => live.search(value as u64),
            Live::B128(live) => live.search(value),
        }
    }

    /// Bytes that it takes.
    pub fn memory(&self) -> u64 {
        match self {
            Live::B64(live) => live.memory(),
            Live::B128(live) => live.memory(),
        }
    }
}

/// What is asked for by `--memory` is compared before documents are taken in, for all namespaces together: a run of an index has no bound of its own. At usual
/// distances there is a table for each block that must agree: 28 bytes a fingerprint where the fastest layout of many millions takes 120.
fn options(distance: u32) -> IndexOptions {
    let layout = (2..=3).contains(&distance).then_some(Layout::MultiIndex(distance + 1));
    IndexOptions { distance, layout, memory: u64::MAX / 4, threads: 1 }
}
