//! Temporary files: written from the first byte to the last, then read at any place.
//!
//! They have no name, so nothing of them is left, whatever ends the process.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::mapped::{Bytes, Map};

/// Bytes that are written at a time.
const BUFFER: usize = 1 << 18;

/// What takes bytes, one after the other.
pub trait Sink {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// They cannot be written.
    fn put(&mut self, bytes: &[u8]) -> Result<()>;
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// A temporary file that is being written.
#[derive(Debug)]
pub struct TemporaryWriter {
    writer: BufWriter<File>,
    folder: PathBuf,
    bytes: u64,
}

impl TemporaryWriter {
    /// Creates one in a folder.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn create(folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(Error::io("create a temporary file in", folder))?;
        Ok(Self { writer: BufWriter::with_capacity(BUFFER, file), folder: folder.to_owned(), bytes: 0 })
    }

    /// The file, to be read.
    ///
    /// # Errors
    /// What is left cannot be written.
    pub fn finish(self) -> Result<Temporary> {
        let Self { writer, folder, bytes } = self;
        let file = writer.into_inner().map_err(|error| error.into_error());
        let file = file.map_err(Error::io("write a temporary file in", &folder))?;
        Ok(Temporary { file, folder, bytes })
    }
}

impl Sink for TemporaryWriter {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        // Only where there is an error is its text made.
        let written = self.writer.write_all(bytes);
        written.map_err(|error| Error::io("write a temporary file in", &self.folder)(error))
    }
}

/// How many pages of mapped files are in memory, so that these take no more of it than they may.
#[derive(Debug)]
pub struct Pages {
    most: usize,
    looked_at: usize,
}

/// What comes into memory with a byte that is looked at: the system maps sixteen pages at a time where it has them.
const AROUND: usize = 16 << 12;

impl Pages {
    /// An eighth of so many bytes.
    pub fn within(memory: usize) -> Self {
        Self { most: memory / 8 / AROUND, looked_at: 0 }
    }

    /// So many more places are going to be looked at; `forget` gives back what is there.
    #[inline]
    pub fn looked_at(&mut self, places: usize, forget: impl FnOnce()) {
        self.looked_at += places;
        if self.looked_at > self.most {
            forget();
            self.looked_at = 0;
        }
    }
}

/// A temporary file that is read.
#[derive(Debug)]
pub struct Temporary {
    file: File,
    folder: PathBuf,
    bytes: u64,
}

impl Temporary {
    /// How many bytes it has.
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Fills `out` with the bytes from a place on.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, at: u64, out: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(out, at).map_err(Error::io("read a temporary file in", &self.folder))
    }

    /// All of it, mapped: what is looked at comes into memory.
    ///
    /// # Errors
    /// The file cannot be mapped.
    pub fn map(&self) -> Result<Bytes> {
        let map = Map::of_file(&self.file, &self.folder)?;
        let all = 0..map.len();
        Ok(Bytes::Mapped(Arc::new(map), all))
    }
}
