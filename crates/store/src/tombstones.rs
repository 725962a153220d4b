//! Tombstones: which documents of a segment have been forgotten. The segment's file stays as it is; its tombstones are a file beside it, that the manifest
//! names, and a merge or a compaction leaves these documents out.

use std::path::Path;
use twinsplit_io::checked_file::broken;
use twinsplit_io::error::Result;
use twinsplit_io::parts_file::{self, Verify};

/// The kind that the first line names.
pub(crate) const KIND: &str = "store-tombstones";

/// The numbers of documents of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tombstones {
    /// A bit for each document; none where none is forgotten.
    bits: Vec<u64>,
    count: usize,
}

impl Tombstones {
    /// Reads the file of a segment of so many documents.
    ///
    /// # Errors
    /// It is no such file, or is damaged.
    pub fn open(path: &Path, documents: usize) -> Result<Self> {
        let (_, parts) = parts_file::open(path, KIND, Verify::All { threads: 1 })?;
        let wrong = || broken(path, "its numbers are not those of documents of its segment");
        let [numbers] = &parts[..] else { return Err(wrong()) };
        let mut all = Self::default();
        for at in 0..numbers.len() / 4 {
            let number = numbers.number(at) as usize;
            if number >= documents || !all.insert(number) {
                return Err(wrong());
            }
        }
        Ok(all)
    }

    /// Puts a document among them; false where it was.
    pub fn insert(&mut self, number: usize) -> bool {
        let (word, bit) = (number / 64, 1 << (number % 64));
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        let is_new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        self.count += usize::from(is_new);
        is_new
    }

    /// Whether a document is forgotten.
    pub fn has(&self, number: usize) -> bool {
        self.bits.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// How many are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The bytes of a file: the numbers, ascending.
    pub fn bytes(&self) -> Vec<u8> {
        let numbers = (0..64 * self.bits.len()).filter(|number| self.has(*number));
        numbers.flat_map(|number| (number as u32).to_le_bytes()).collect()
    }
}
