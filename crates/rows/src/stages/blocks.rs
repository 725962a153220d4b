//! What stands under one key, cut into blocks, and a line for each two of them: no line outgrows a JVM, and the quadratic part
//! of a key that many have is spread over many mappers.

use crate::stage::Task;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use twinsplit_io::error::{Error, Result};

/// A block of at most this many bytes is cut whatever its number of items.
const BLOCK_BYTES: usize = 4 << 20;

twinsplit_core::options! {
    /// How large a block is.
    pub struct BlockOpts {
        /// Postings in a block of a posting list, and fingerprints of those that meet in a table , of at most 4 MB
        pub posting_block: u64 = 1024, "N";
    }
}

/// The blocks that are complete: on disk, for they may be larger than memory.
#[derive(Default)]
struct Spilled {
    /// Made for the first key that needs it; those that follow write over it. A file for each key would keep a file system busier
    /// than its rows do.
    file: Option<File>,
    /// Where each begins, its bytes and its items; none where all items are in one block.
    blocks: Vec<(u64, usize, u64)>,
}

/// The items under one key.
pub struct Blocks {
    most: u64,
    /// The block that is being filled: its encoded items and their number.
    block: Vec<u8>,
    count: u64,
    items: u64,
    spilled: Spilled,
}

impl Blocks {
    /// No items.
    pub fn new(opts: &BlockOpts) -> Self {
        let most = opts.posting_block.max(1);
        Self { most, block: Vec::new(), count: 0, items: 0, spilled: Spilled::default() }
    }

    /// How many items there are.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// Appends an item, which `encode` writes, with a TAB before it where something stands there.
    pub fn push(&mut self, task: &Task<'_>, encode: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        if self.count == self.most || self.block.len() >= BLOCK_BYTES {
            self.spill(task)?;
        }
        encode(&mut self.block);
        self.count += 1;
        self.items += 1;
        Ok(())
    }

    fn spill(&mut self, task: &Task<'_>) -> Result<()> {
        self.spilled.write(&self.block, self.count, &task.folder)?;
        self.block.clear();
        self.count = 0;
        Ok(())
    }

    /// Hands on each two blocks, and each block with itself, if there are two items or more: the numbers of the two, how many
    /// items the left one has, and the items of both. Gives how many blocks there are beyond the first; nothing is left.
    pub fn each_pair(
        &mut self,
        task: &mut Task<'_>,
        mut visit: impl FnMut((u64, u64), u64, &[u8], &mut Task<'_>) -> Result<()>,
    ) -> Result<u64> {
        let mut more = 0;
        if !self.spilled.blocks.is_empty() {
            self.spill(task)?;
            more = self.spilled.blocks.len() as u64 - 1;
            self.spilled.each_pair(task, visit)?;
        } else if self.items > 1 {
            visit((0, 0), self.count, &self.block, task)?;
        }
        self.clear();
        Ok(more)
    }

    /// Leaves everything.
    pub fn clear(&mut self) {
        (self.count, self.items) = (0, 0);
        self.block.clear();
        self.spilled.blocks.clear();
    }
}

impl Spilled {
    /// Appends a block of so many items.
    fn write(&mut self, block: &[u8], items: u64, folder: &Path) -> Result<()> {
        let failed = || Error::io("spill in", folder);
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(folder).map_err(failed())?),
        };
        let end = self.blocks.last().map_or(0, |(start, length, _)| start + *length as u64);
        file.write_all_at(block, end).map_err(failed())?;
        self.blocks.push((end, block.len(), items));
        Ok(())
    }

    fn read(&self, block: usize, folder: &Path, out: &mut Vec<u8>) -> Result<()> {
        let (start, length, _) = self.blocks[block];
        let at = out.len();
        out.resize(at + length, 0);
        // Where there is a block there is a file.
        let read = self.file.as_ref().map_or(Ok(()), |file| file.read_exact_at(&mut out[at..], start));
        read.map_err(Error::io("read what was spilled in", folder))
    }

    fn each_pair(
        &self,
        task: &mut Task<'_>,
        mut visit: impl FnMut((u64, u64), u64, &[u8], &mut Task<'_>) -> Result<()>,
    ) -> Result<()> {
        let folder = task.folder.clone();
        let mut items = Vec::new();
        for left in 0..self.blocks.len() {
            let count = self.blocks[left].2;
            items.clear();
            self.read(left, &folder, &mut items)?;
            visit((left as u64, left as u64), count, &items, task)?;
            items.push(b'\t');
            let end = items.len();
            for right in left + 1..self.blocks.len() {
                items.truncate(end);
                self.read(right, &folder, &mut items)?;
                visit((left as u64, right as u64), count, &items, task)?;
            }
        }
        Ok(())
    }
}
