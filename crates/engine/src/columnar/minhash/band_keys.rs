//! The keys of all documents: in memory while they fit, else in a file.
//!
//! They are written document by document and read band by band, so the file holds blocks of some documents, and of a block the keys of
//! one band after those of another: those of a band are read without the others, and so are a document's keys of the first bands.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use twinsplit_io::error::{Error, Result};

/// Documents of a block.
const BLOCK: usize = 16;

/// Bytes of a key.
const KEY: usize = size_of::<u64>();

/// The keys of documents by their places, as many of each as there are bands.
#[derive(Default)]
pub struct BandKeys {
    bands: usize,
    /// Document by document; where there is a file those that come after its blocks.
    held: Vec<u64>,
    file: Option<Blocks>,
}

/// A file of blocks.
struct Blocks {
    file: File,
    folder: PathBuf,
    count: usize,
}

/// What a thread reads keys into.
#[derive(Default)]
pub struct KeyBuffer {
    bytes: Vec<u8>,
    keys: [Vec<u64>; 2],
}

/// The keys of one band.
pub enum Column<'k> {
    /// Of documents in memory.
    Memory(&'k BandKeys, usize),
    /// As they were read.
    Read(Vec<u64>),
}

impl BandKeys {
    /// None yet, of so many bands.
    pub fn new(bands: usize) -> Self {
        Self { bands, ..Self::default() }
    }

    /// Whether documents have keys.
    pub fn is_wanted(&self) -> bool {
        self.bands > 0
    }

    /// Appends the keys of some documents.
    pub fn append(&mut self, keys: &[u64]) -> Result<()> {
        self.held.extend_from_slice(keys);
        self.write_blocks()
    }

    /// Brings the keys, and those that follow, to a file in a folder.
    pub fn spill(&mut self, folder: &Path) -> Result<()> {
        if self.file.is_none() && self.is_wanted() {
            let file = tempfile::tempfile_in(folder).map_err(Error::io("make a file in", folder))?;
            self.file = Some(Blocks { file, folder: folder.to_owned(), count: 0 });
        }
        self.write_blocks()
    }

    /// Writes the documents that fill blocks, where there is a file.
    fn write_blocks(&mut self) -> Result<()> {
        let Some(blocks) = &mut self.file else { return Ok(()) };
        let full = self.held.chunks_exact(BLOCK * self.bands);
        let rest = full.remainder().to_vec();
        let mut bytes = Vec::with_capacity(BLOCK * self.bands * KEY);
        for documents in full {
            bytes.clear();
            for band in 0..self.bands {
                let keys = documents.iter().skip(band).step_by(self.bands);
                keys.for_each(|key| bytes.extend_from_slice(&key.to_le_bytes()));
            }
            let failed = Error::io("write to a file in", &blocks.folder);
            blocks.file.write_all(&bytes).map_err(failed)?;
            blocks.count += 1;
        }
        self.held = rest;
        Ok(())
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.held.len() * KEY
    }

    /// Bytes of the file.
    pub fn spilled(&self) -> u64 {
        self.file.as_ref().map_or(0, |blocks| (blocks.count * BLOCK * self.bands * KEY) as u64)
    }

    /// Bytes that a [column](Self::column) takes.
    pub fn column_bytes(&self) -> usize {
        self.file.as_ref().map_or(0, |blocks| blocks.count * BLOCK * KEY + self.bytes() / self.bands)
    }

    /// The keys of a band.
    pub fn column(&self, band: usize) -> Result<Column<'_>> {
        let Some(blocks) = &self.file else { return Ok(Column::Memory(self, band)) };
        let mut keys = Vec::with_capacity(self.column_bytes() / KEY);
        let mut bytes = [0; BLOCK * KEY];
        for block in 0..blocks.count {
            blocks.read(&mut bytes, (block * self.bands + band) * BLOCK * KEY)?;
            keys.extend(numbers(&bytes));
        }
        keys.extend(self.held.iter().skip(band).step_by(self.bands));
        Ok(Column::Read(keys))
    }

    /// Whether two documents have a key of the first so many bands in common.
    pub fn meet(&self, places: (usize, usize), bands: usize, buffer: &mut KeyBuffer) -> Result<bool> {
        if bands == 0 {
            return Ok(false);
        }
        let KeyBuffer { bytes, keys: [first, second] } = buffer;
        let (x, y) = (self.of(places.0, bands, bytes, first)?, self.of(places.1, bands, bytes, second)?);
        Ok(x.iter().zip(y).any(|(x, y)| x == y))
    }

    /// The first keys of a document, perhaps read into `keys`.
    fn of<'k>(
        &'k self,
        place: usize,
        bands: usize,
        bytes: &mut Vec<u8>,
        keys: &'k mut Vec<u64>,
    ) -> Result<&'k [u64]> {
        let before = self.file.as_ref().map_or(0, |blocks| blocks.count * BLOCK);
        if let Some(place) = place.checked_sub(before) {
            return Ok(&self.held[place * self.bands..][..bands]);
        }
        keys.clear();
        if let Some(blocks) = &self.file {
            bytes.resize(bands * BLOCK * KEY, 0);
            blocks.read(bytes, place / BLOCK * self.bands * BLOCK * KEY)?;
            keys.extend(numbers(bytes).skip(place % BLOCK).step_by(BLOCK));
        }
        Ok(keys)
    }
}

impl Blocks {
    fn read(&self, bytes: &mut [u8], at: usize) -> Result<()> {
        let failed = Error::io("read the keys in a file in", &self.folder);
        self.file.read_exact_at(bytes, at as u64).map_err(failed)
    }
}

impl Column<'_> {
    /// The key of a document by its place.
    pub fn get(&self, place: usize) -> u64 {
        match self {
            Column::Memory(keys, band) => keys.held[place * keys.bands + band],
            Column::Read(keys) => keys[place],
        }
    }
}

/// The numbers that stand in bytes.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(KEY).map(|number| number.try_into().map_or(0, u64::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Wherever keys go to a file, and in whatever parts they come, they are those that were appended.
        #[test]
        fn a_file_holds_what_memory_holds(
            keys in prop::collection::vec(0u64..4, 0..2000), bands in 1usize..6, part in 1usize..150, spilled_at in 0usize..700,
            first in any::<prop::sample::Index>(), second in any::<prop::sample::Index>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let keys = &keys[..keys.len() / bands * bands];
            let (mut memory, mut disk) = (BandKeys::new(bands), BandKeys::new(bands));
            for (at, part) in keys.chunks(part * bands).enumerate() {
                memory.append(part).unwrap();
                if at == spilled_at % 20 {
                    disk.spill(folder.path()).unwrap();
                }
                disk.append(part).unwrap();
            }
            let rows: Vec<&[u64]> = keys.chunks(bands).collect();
            prop_assert_eq!(disk.spilled() + disk.bytes() as u64, memory.bytes() as u64);
            for band in 0..bands {
                let columns = [memory.column(band).unwrap(), disk.column(band).unwrap()];
                for (place, row) in rows.iter().enumerate() {
                    prop_assert_eq!(columns.each_ref().map(|column| column.get(place)), [row[band]; 2]);
                }
            }
            if !rows.is_empty() {
                let places = (first.index(rows.len()), second.index(rows.len()));
                for few in 0..=bands {
                    let expected = (0..few).any(|band| rows[places.0][band] == rows[places.1][band]);
                    let mut buffer = KeyBuffer::default();
                    prop_assert_eq!(memory.meet(places, few, &mut buffer).unwrap(), expected);
                    prop_assert_eq!(disk.meet(places, few, &mut buffer).unwrap(), expected);
                }
            }
        }
    }
}
