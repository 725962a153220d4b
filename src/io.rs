//! The only place that touches standard streams, gzip, files and broken pipes.

use crate::error::{Error, FieldError, Place, Result};
use flate2::read::MultiGzDecoder;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Size of the buffers between the program and the operating system.
const BUFFER: usize = 256 << 10;

/// Opens `path` for reading (`-` is standard input); gzip is recognised by its first two bytes and read to the end
/// of its last member.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    open_counted(path, Arc::default())
}

/// The same, with a count of the bytes read from the file as it is stored.
fn open_counted(path: &Path, bytes: Arc<AtomicU64>) -> Result<Box<dyn BufRead + Send>> {
    let raw: Box<dyn Read + Send> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(Error::io("open", path))?)
    };
    let mut raw = BufReader::with_capacity(BUFFER, Counted { raw, bytes });
    let head = raw.fill_buf().map_err(Error::io("read", path))?;
    if head.starts_with(&[0x1f, 0x8b]) {
        Ok(Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(raw))))
    } else {
        Ok(Box::new(raw))
    }
}

/// Counts what is read.
struct Counted<R> {
    raw: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.raw.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A block of whole lines of one file, with the place of its first line.
#[derive(Debug, Default)]
pub struct Block {
    /// The lines, each ended by LF but perhaps the last one of a file.
    pub bytes: Vec<u8>,
    /// Where the first of them stands.
    pub place: Place,
    /// The block's number in the sequence of all blocks of all files, from 0.
    pub number: u64,
    /// How many lines that are not empty stand before it, in all files.
    pub first: u64,
    /// How many lines that are not empty it holds.
    pub lines: u64,
}

/// Reads files one after the other as blocks of whole lines, so that several threads can share the work.
pub struct Blocks {
    files: std::vec::IntoIter<PathBuf>,
    current: Option<(PathBuf, Box<dyn BufRead + Send>)>,
    place: Place,
    number: u64,
    lines: u64,
    size: usize,
    raw_bytes: Arc<AtomicU64>,
}

impl Blocks {
    /// Blocks of about `size` bytes of `files`, in their order.
    pub fn new(files: Vec<PathBuf>, size: usize) -> Self {
        Self {
            files: files.into_iter(),
            current: None,
            place: Place::default(),
            number: 0,
            lines: 0,
            size,
            raw_bytes: Arc::default(),
        }
    }

    /// How many bytes of the files, as they are stored, have been read so far.
    pub fn raw_bytes(&self) -> u64 {
        self.raw_bytes.load(Ordering::Relaxed)
    }

    /// The next block, or `None` after the last line of the last file.
    pub fn next_block(&mut self) -> Result<Option<Block>> {
        loop {
            if self.current.is_none() {
                let Some(path) = self.files.next() else { return Ok(None) };
                let mut reader = open_counted(&path, Arc::clone(&self.raw_bytes))?;
                let offset = skip_byte_order_mark(&mut reader, &path)?;
                self.place = Place { file: name_of(&path), line: 1, offset };
                self.current = Some((path, reader));
            }
            if let Some(block) = self.read_block()? {
                return Ok(Some(block));
            }
            self.current = None;
        }
    }

    fn read_block(&mut self) -> Result<Option<Block>> {
        let Some((path, reader)) = &mut self.current else { return Ok(None) };
        let mut bytes = Vec::with_capacity(self.size + (self.size >> 2));
        reader.by_ref().take(self.size as u64).read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        reader.read_until(b'\n', &mut bytes).map_err(Error::io("read", &path))?;
        let (ends, lines) = count_lines(&bytes);
        let block = Block { place: self.place.clone(), number: self.number, first: self.lines, lines, bytes };
        self.number += 1;
        self.lines += lines;
        self.place.line += ends;
        self.place.offset += block.bytes.len() as u64;
        Ok(Some(block))
    }
}

/// How many line ends there are, and how many lines that are not empty.
fn count_lines(bytes: &[u8]) -> (u64, u64) {
    let (mut ends, mut lines, mut start) = (0, 0, 0);
    for end in memchr::memchr_iter(b'\n', bytes) {
        ends += 1;
        lines += u64::from(!is_empty(&bytes[start..end]));
        start = end + 1;
    }
    (ends, lines + u64::from(!is_empty(&bytes[start..])))
}

/// Whether a line, without its LF, is passed over.
fn is_empty(line: &[u8]) -> bool {
    line.is_empty() || line == b"\r"
}

/// Passes over a byte order mark, and gives its length.
fn skip_byte_order_mark(reader: &mut Box<dyn BufRead + Send>, path: &Path) -> Result<u64> {
    let head = reader.fill_buf().map_err(Error::io("read", path))?;
    if !head.starts_with(b"\xef\xbb\xbf") {
        return Ok(0);
    }
    reader.consume(3);
    Ok(3)
}

/// The name of a file as messages and automatic ids show it; empty for standard input.
pub fn name_of(path: &Path) -> Arc<str> {
    if path == Path::new("-") { "".into() } else { path.to_string_lossy().into() }
}

/// Calls `see` with each line of a block (without its LF; a CR before it is white space to JSON and stands in no row)
/// and the line's place. Empty lines are passed over.
pub fn each_line(block: &Block, mut see: impl FnMut(&[u8], &Place) -> Result<()>) -> Result<()> {
    let mut place = block.place.clone();
    let mut rest = block.bytes.as_slice();
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        if !is_empty(line) {
            see(line, &place)?;
        }
        let step = (end + 1).min(rest.len());
        place.line += 1;
        place.offset += step as u64;
        rest = &rest[step..];
    }
    Ok(())
}

/// Calls `see` with each line of a file that holds rows.
pub fn each_row(path: &Path, mut see: impl FnMut(&[u8]) -> Result<(), FieldError>) -> Result<()> {
    let mut reader = open(path)?;
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).map_err(Error::io("read", path))? > 0 {
        see(line.strip_suffix(b"\n").unwrap_or(&line)).map_err(|error| Error::File {
            path: path.to_owned(),
            problem: format!("field {}: expected {}, found {}", error.field, error.expected, error.found),
        })?;
        line.clear();
    }
    Ok(())
}

/// A file that appears under its name only when it is complete.
pub struct AtomicFile {
    writer: BufWriter<File>,
    partial: PathBuf,
    path: PathBuf,
}

impl AtomicFile {
    /// Starts the file beside its final place, under its name with `.partial` added.
    pub fn create(path: &Path) -> Result<Self> {
        let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
        name.push(".partial");
        let partial = path.with_file_name(name);
        let file = File::create(&partial).map_err(Error::io("create", &partial))?;
        Ok(Self { writer: BufWriter::with_capacity(BUFFER, file), partial, path: path.to_owned() })
    }

    /// Writes a line and its end.
    pub fn line(&mut self, line: &[u8]) -> Result<()> {
        self.writer
            .write_all(line)
            .and_then(|()| self.writer.write_all(b"\n"))
            .map_err(Error::io("write", &self.path))
    }

    /// Makes the file complete: flushed, and under its own name.
    pub fn finish(mut self) -> Result<()> {
        self.writer.flush().map_err(Error::io("write", &self.path))?;
        fs::rename(&self.partial, &self.path).map_err(Error::io("rename", &self.path))
    }
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
        self.0.write_all(line).and_then(|()| self.0.write_all(b"\n")).map_err(Error::io("write", ""))
    }

    /// Hands everything written so far to the reader.
    pub fn flush(&mut self) -> Result<()> {
        self.0.flush().map_err(Error::io("write", ""))
    }
}

impl Default for Stdout {
    fn default() -> Self {
        Self::new()
    }
}

/// The files that `inputs` name: files as they are, folders as the files in them (names that begin with `_` or `.`
/// left out), each folder's in byte order of their names.
pub fn expand_inputs(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            files.push(input.clone());
            continue;
        }
        let mut inside = Vec::new();
        for entry in fs::read_dir(input).map_err(Error::io("read", input))? {
            let path = entry.map_err(Error::io("read", input))?.path();
            let hidden = path.file_name().is_none_or(|n| n.to_string_lossy().starts_with(['_', '.']));
            if path.is_file() && !hidden {
                inside.push(path);
            }
        }
        inside.sort();
        files.append(&mut inside);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_whole_lines_and_know_their_places() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "\u{feff}one\r\ntwo\n\nthree").unwrap();
        for size in 1..20 {
            let mut blocks = Blocks::new(vec![path.clone()], size);
            let mut lines = Vec::new();
            while let Some(block) = blocks.next_block().unwrap() {
                assert_eq!(block.first, lines.len() as u64);
                each_line(&block, |line, place| {
                    lines.push((String::from_utf8(line.to_vec()).unwrap(), place.line, place.offset));
                    Ok(())
                })
                .unwrap();
            }
            assert_eq!(blocks.raw_bytes(), 18);
            let expected = [("one\r", 1, 3), ("two", 2, 8), ("three", 4, 13)];
            assert_eq!(lines, expected.map(|(text, line, offset)| (text.to_owned(), line, offset)));
        }
    }

    #[test]
    fn a_file_appears_only_when_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.tsv");
        let mut file = AtomicFile::create(&path).unwrap();
        file.line(b"row").unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"row\n");
    }
}
