//! What stands under one key, cut into blocks, and a line for each two of them: no line outgrows a JVM, and the quadratic part
//! of a key that many have is spread over many mappers.

use crate::error::{Error, Result};
use crate::stage::Task;
use clap::Args;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

/// A block of at most this many bytes is cut whatever its number of items.
const BLOCK_BYTES: usize = 4 << 20;

/// How large a block is.
#[derive(Args, Clone, Debug)]
pub struct BlockOpts {
    /// Postings in a block of a posting list, and fingerprints of those that meet in a table , of at most 4 MB
    #[arg(long, env = "TWINSPLIT_POSTING_BLOCK", default_value_t = 1024, value_name = "N")]
    pub posting_block: u64,
}

/// The blocks that are complete: on disk, for they may be larger than memory.
struct Spilled {
    file: File,
    /// Where each begins, its bytes and its items.
    blocks: Vec<(u64, usize, u64)>,
    end: u64,
}

/// The items under one key.
pub struct Blocks {
    most: u64,
    /// The block that is being filled: its encoded items and their number.
    block: Vec<u8>,
    count: u64,
    items: u64,
    spilled: Option<Spilled>,
}

impl Blocks {
    /// No items.
    pub fn new(opts: &BlockOpts) -> Self {
        Self { most: opts.posting_block.max(1), block: Vec::new(), count: 0, items: 0, spilled: None }
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
        let failed = || Error::io("spill in", &task.folder);
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            None => {
                let file = tempfile::tempfile_in(&task.folder).map_err(failed())?;
                self.spilled.insert(Spilled { file, blocks: Vec::new(), end: 0 })
            }
        };
        spilled.file.write_all(&self.block).map_err(failed())?;
        spilled.blocks.push((spilled.end, self.block.len(), self.count));
        spilled.end += self.block.len() as u64;
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
        let items = std::mem::take(&mut self.items);
        let mut more = 0;
        if self.spilled.is_some() {
            self.spill(task)?;
            if let Some(spilled) = self.spilled.take() {
                more = spilled.blocks.len() as u64 - 1;
                spilled.each_pair(task, visit)?;
            }
        } else if items > 1 {
            visit((0, 0), self.count, &self.block, task)?;
        }
        self.block.clear();
        self.count = 0;
        Ok(more)
    }

    /// Leaves everything.
    pub fn clear(&mut self) {
        (self.count, self.items, self.spilled) = (0, 0, None);
        self.block.clear();
    }
}

impl Spilled {
    fn read(&mut self, block: usize, folder: &std::path::Path, out: &mut Vec<u8>) -> Result<()> {
        let (start, length, _) = self.blocks[block];
        let at = out.len();
        out.resize(at + length, 0);
        self.file
            .seek(SeekFrom::Start(start))
            .and_then(|_| self.file.read_exact(&mut out[at..]))
            .map_err(Error::io("read what was spilled in", folder))
    }

    fn each_pair(
        mut self,
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
