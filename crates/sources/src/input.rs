//! A file that a source reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_io::{Kind, Opened, name_of};

/// An open file.
pub struct Input {
    /// Where it was found.
    pub path: PathBuf,
    /// Which input it is, counted from 0.
    pub number: u32,
    /// What it holds.
    pub opened: Opened,
    /// The first bytes of that.
    pub head: Vec<u8>,
    /// How many bytes have been read, as they stand on disk.
    pub read: Arc<AtomicU64>,
}

impl Input {
    /// Opens a file, and reads its first bytes.
    pub fn open(path: &Path, number: u32) -> Result<Self> {
        let read = Arc::default();
        let mut opened = Opened::to_count(path, Arc::clone(&read))?;
        let head = opened.head(path)?;
        Ok(Self { path: path.to_owned(), number, opened, head, read })
    }

    /// The place of its first byte, in no line yet.
    pub fn place(&self) -> Place {
        Place { file: name_of(&self.path), number: Some(self.number), ..Place::default() }
    }

    /// Refuses a file of another kind, and says what it is, unless it is of this format all the same; `expected` is what it should be, and
    /// `to` a name for what a command makes of it.
    pub fn refuse_other_kinds(
        &self,
        expected: &str,
        to: &str,
        is_own: impl FnOnce(&[u8]) -> bool,
    ) -> Result<()> {
        match Kind::of(&self.head).filter(|_| !is_own(&self.head)) {
            Some(kind) => {
                let problem = kind.problem(expected, &name_of(&self.path), self.opened.packing, to);
                Err(Error::File { path: self.path.clone(), problem })
            }
            None => Ok(()),
        }
    }
}
