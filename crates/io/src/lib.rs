//! The only place that touches standard streams, compressed files, files and broken pipes.

#![deny(clippy::print_stderr)]

mod ahead;
mod atomic;
mod blocks;
pub mod checked_file;
pub mod checked_parts;
pub mod error;
mod inputs;
mod kind;
mod lines;
pub mod mapped;
mod megabytes;
mod new_folder;
mod packed_file;
mod packing;
pub mod parts_file;
mod target;
pub mod terminal;
mod unpack;
mod work_folder;

pub use atomic::AtomicFile;
pub use blocks::{Block, Blocks, Room, blank_start, document_line, each_line, name_of};
pub use inputs::{Selection, document_files, expand_inputs, matches_name, selected_files};
pub use kind::{HEAD, Kind, MARK};
pub use lines::{MaxLine, parse_bytes, read_rest, read_row};
pub use megabytes::Megabytes;
pub use new_folder::NewFolder;
pub use packed_file::PackedFile;
pub use packing::Packing;
pub use target::Target;
pub use work_folder::{MadeFolders, WorkFolder, has_name};

use crate::error::{Error, FieldError, Result};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use twinsplit_core::hash::Checksum;

use unpack::Unpacker;

/// Size of the buffers between the program and the operating system.
const BUFFER: usize = 256 << 10;

/// What was read of a file to its end, as it stands there, compressed or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// How many bytes.
    pub bytes: u64,
    /// Their XXH3, 16 hex digits.
    pub xxh3: String,
}

/// [`Contents`] of what has been read so far.
#[derive(Default)]
struct Tally {
    bytes: u64,
    checksum: Checksum,
}

impl Tally {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.checksum.bytes(bytes);
    }

    fn contents(&self) -> Contents {
        Contents { bytes: self.bytes, xxh3: self.checksum.hex() }
    }
}

/// Counts the bytes that are read from a file or stream as they stand there, compressed or not.
struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
    /// Where a digest is asked for.
    tally: Option<Arc<Mutex<Tally>>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        if let Some(tally) = &self.tally {
            tally.lock().unwrap_or_else(PoisonError::into_inner).add(&buffer[..read]);
        }
        Ok(read)
    }
}

/// Opens `path` for reading (`-` is standard input); a compression is recognised by its first bytes and read to the end
/// of its last part.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    Ok(Opened::file(path, Arc::default(), None, Packed::Taken)?.reader)
}

/// A file that is being read.
pub struct Opened {
    /// What it holds, unpacked.
    pub reader: Box<dyn BufRead + Send>,
    /// The compression that is taken off.
    pub packing: Option<Packing>,
}

/// What is done about a compression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packed {
    /// It is taken off.
    Taken,
    /// It stays.
    Left,
}

impl Opened {
    /// As [`open`] does; adds to `read` how many bytes are read, as they stand on disk.
    pub fn to_count(path: &Path, read: Arc<AtomicU64>) -> Result<Self> {
        Self::file(path, read, None, Packed::Taken)
    }

    /// The first bytes of a file that is read later: [`HEAD`] of them unpacked, or all. Of standard input nothing is lost by that; of
    /// another stream, which could not be read again, there are none.
    pub fn peek(path: &Path) -> Result<Vec<u8>> {
        ahead::peek(path)
    }

    /// The first bytes, which are read all the same; `path` is for messages.
    pub fn head(&mut self, path: &Path) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        let reader = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        let mut first = reader.take(HEAD as u64);
        first.read_to_end(&mut head).map_err(Error::io("read", path))?;
        self.reader = Box::new(io::Cursor::new(head.clone()).chain(first.into_inner()));
        Ok(head)
    }

    /// As [`Opened::to_count`]; adds what is read of the file to `tally`, too.
    fn file(
        path: &Path,
        read: Arc<AtomicU64>,
        tally: Option<Arc<Mutex<Tally>>>,
        packed: Packed,
    ) -> Result<Self> {
        let raw: Box<dyn Read + Send> = if path == Path::new("-") {
            Box::new(ahead::standard_input())
        } else {
            Box::new(File::open(path).map_err(Error::io("open", path))?)
        };
        let raw = BufReader::with_capacity(BUFFER, Counted { inner: raw, read, tally });
        Self::unpacking(raw, packed).map_err(Error::io("read", path))
    }

    /// What stands behind a reader, without its compression.
    fn unpacking(mut raw: impl BufRead + Send + 'static, packed: Packed) -> io::Result<Self> {
        // A pipe may give its first byte alone, so what is read to tell a compression is put back in front.
        let mut head = Vec::new();
        raw.by_ref().take(Packing::HEAD as u64).read_to_end(&mut head)?;
        let packing = if packed == Packed::Taken { Packing::of(&head) } else { None };
        let whole = io::Cursor::new(head).chain(raw);
        let reader: Box<dyn BufRead + Send> = match packing {
            Some(packing) => Box::new(BufReader::with_capacity(BUFFER, Unpacker::new(packing, whole))),
            None => Box::new(whole),
        };
        Ok(Self { reader, packing })
    }
}

/// Reads a file to its end for what it holds.
pub fn contents(path: &Path) -> Result<Contents> {
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let (mut tally, mut buffer) = (Tally::default(), vec![0; 1 << 20]);
    loop {
        let read = file.read(&mut buffer).map_err(Error::io("read", path))?;
        if read == 0 {
            return Ok(tally.contents());
        }
        tally.add(&buffer[..read]);
    }
}

/// What gzip data in memory hold; `name` is what messages call them.
pub fn unpacked(packed: &[u8], name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Unpacker::new(Packing::Gzip, packed).read_to_end(&mut bytes).map_err(Error::io("read", name))?;
    Ok(bytes)
}

/// Appends to `out` the bytes as a gzip member of their own; members one after the other are gzip too.
pub fn pack(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish().map(drop)).map_err(Error::io("pack", ""))
}

/// Calls `visit` with each line of a file that holds rows.
pub fn each_row(path: &Path, mut visit: impl FnMut(&[u8]) -> Result<(), FieldError>) -> Result<()> {
    let mut reader = open(path)?;
    let (mut line, mut number) = (Vec::new(), 1);
    while read_row(&mut *reader, &mut line, path, number)? {
        visit(&line).map_err(|error| Error::File {
            path: path.to_owned(),
            problem: format!(
                "line {number}, field {}: expected {}, found {}; make it again with the stage that wrote it",
                error.field, error.expected, error.found
            ),
        })?;
        number += 1;
    }
    Ok(())
}

/// Buffered standard output for rows.
pub struct Stdout(BufWriter<io::Stdout>);

impl Stdout {
    /// Standard output with a large buffer: a write for each row would be a system call for each row.
    pub fn new() -> Self {
        Self(BufWriter::with_capacity(BUFFER, io::stdout()))
    }

    /// Writes a row and its end.
    pub fn line(&mut self, line: &[u8]) -> Result<()> {
        self.0.write_all(line).and_then(|()| self.0.write_all(b"\n")).map_err(stdout_failed)
    }

    /// Writes a whole file as it is.
    pub fn file(mut self, path: &Path) -> Result<()> {
        let mut reader = File::open(path).map_err(Error::io("open", path))?;
        io::copy(&mut reader, &mut self.0).map_err(Error::io("write", ""))?;
        self.flush()
    }

    /// Hands everything written so far to the reader.
    pub fn flush(&mut self) -> Result<()> {
        self.0.flush().map_err(stdout_failed)
    }
}

fn stdout_failed(source: io::Error) -> Error {
    Error::io("write", standard_output())(source)
}

/// The file that standard output goes to; empty where there is none.
fn standard_output() -> PathBuf {
    fs::read_link("/proc/self/fd/1").ok().filter(|path| path.is_file()).unwrap_or_default()
}

impl Default for Stdout {
    fn default() -> Self {
        Self::new()
    }
}
