//! The only place that touches standard streams, gzip, files and broken pipes.

mod gzip;
mod inputs;
mod lines;

pub use inputs::{document_files, expand_inputs};
pub use lines::{MaxLine, read_row};

use crate::error::{Error, FieldError, Place, Result};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gzip::Gzip;

/// Size of the buffers between the program and the operating system.
const BUFFER: usize = 256 << 10;

/// Counts the bytes that are read from a file or stream as they stand there, compressed or not.
struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Opens `path` for reading (`-` is standard input); gzip is recognised by its first two bytes and read to the end
/// of its last member.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    open_counted(path, Arc::default())
}

/// The same; adds what is read of the file to `read`.
fn open_counted(path: &Path, read: Arc<AtomicU64>) -> Result<Box<dyn BufRead + Send>> {
    let raw: Box<dyn Read + Send> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(Error::io("open", path))?)
    };
    let mut raw = BufReader::with_capacity(BUFFER, Counted { inner: raw, read });
    // A pipe may give its first byte alone, so what is read to tell gzip is put back in front.
    let mut head = Vec::new();
    raw.by_ref().take(gzip::MAGIC.len() as u64).read_to_end(&mut head).map_err(Error::io("read", path))?;
    let is_gzip = head == gzip::MAGIC;
    let whole = io::Cursor::new(head).chain(raw);
    if is_gzip {
        Ok(Box::new(BufReader::with_capacity(BUFFER, Gzip::new(whole))))
    } else {
        Ok(Box::new(whole))
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
    read: Arc<AtomicU64>,
    bound: MaxLine,
    /// Blocks that are in memory already.
    held: std::vec::IntoIter<Block>,
}

impl Blocks {
    /// Blocks of about `size` bytes of `files`, in their order.
    pub fn new(files: Vec<PathBuf>, size: usize) -> Self {
        let (files, bound) = (files.into_iter(), MaxLine::ROW);
        Self {
            files,
            current: None,
            place: Place::default(),
            number: 0,
            lines: 0,
            size,
            read: Arc::default(),
            bound,
            held: Vec::new().into_iter(),
        }
    }

    /// Lines in memory, each with the place where it stands and without its end, as blocks of one line.
    pub fn of_lines(lines: &[(Place, Vec<u8>)]) -> Self {
        let block = |(number, (place, line)): (u64, &(Place, Vec<u8>))| Block {
            bytes: line.clone(),
            place: place.clone(),
            number,
            first: number,
            lines: 1,
        };
        let lines = (0..).zip(lines).map(block).collect::<Vec<_>>().into_iter();
        Self { held: lines, ..Self::new(Vec::new(), 0) }
    }

    /// How many bytes of the files have been read, as they stand on disk.
    pub fn raw_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// The same of files in which no line may exceed `bound`.
    pub fn within(self, bound: MaxLine) -> Self {
        Self { bound, ..self }
    }

    /// The next block, or `None` after the last line of the last file.
    pub fn next_block(&mut self) -> Result<Option<Block>> {
        if let Some(block) = self.held.next() {
            return Ok(Some(block));
        }
        loop {
            if self.current.is_none() {
                let Some(path) = self.files.next() else { return Ok(None) };
                let reader = open_counted(&path, Arc::clone(&self.read))?;
                self.place = Place { file: name_of(&path), line: 1, offset: 0 };
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
        let failed = || Error::io("read", &path);
        // No more than the bound and one byte, so that a line that exceeds it is never held whole.
        let size = (self.size as u64).min(self.bound.bytes() + 1);
        let mut bytes = Vec::with_capacity((size + (size >> 2)) as usize);
        if self.place.offset == 0 {
            reader.by_ref().take(MARK.len() as u64).read_to_end(&mut bytes).map_err(failed())?;
            if bytes == MARK {
                self.place.offset = MARK.len() as u64;
                bytes.clear();
            }
        }
        let missing = size.saturating_sub(bytes.len() as u64);
        reader.by_ref().take(missing).read_to_end(&mut bytes).map_err(failed())?;
        refuse_long_lines(&bytes, &self.place, self.bound)?;
        let last = memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1);
        let before = (bytes.len() - last) as u64;
        let whole = lines::read_rest(reader, &mut bytes, before, self.bound).map_err(failed())?;
        let (ends, lines) = count_lines(&bytes);
        let block = Block { place: self.place.clone(), number: self.number, first: self.lines, lines, bytes };
        self.place.line += ends;
        if !whole {
            return Err(self.bound.exceeded(&self.place));
        }
        if block.bytes.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        self.lines += lines;
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

/// Finds lines that are longer than the bound among those of a block that starts at `place`.
fn refuse_long_lines(bytes: &[u8], place: &Place, bound: MaxLine) -> Result<()> {
    if bytes.len() as u64 <= bound.bytes() {
        return Ok(());
    }
    let long = bytes.split(|byte| *byte == b'\n').position(|line| line.len() as u64 > bound.bytes());
    long.map_or(Ok(()), |before| {
        Err(bound.exceeded(&Place { line: place.line + before as u64, ..place.clone() }))
    })
}

/// A byte order mark, which some systems put before the first line of a file.
const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

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
    let (mut line, mut number) = (Vec::new(), 1);
    while read_row(&mut *reader, &mut line, path, number)? {
        see(&line).map_err(|error| Error::File {
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

/// A file that appears under its name only when it is complete. One that is given up leaves nothing.
pub struct AtomicFile {
    writer: BufWriter<File>,
    partial: PathBuf,
    path: PathBuf,
    complete: bool,
}

impl AtomicFile {
    /// Starts the file beside its final place, under its name with `.partial` added.
    pub fn create(path: &Path) -> Result<Self> {
        let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
        name.push(".partial");
        let partial = path.with_file_name(name);
        let file = File::create(&partial).map_err(Error::io("create", &partial))?;
        let writer = BufWriter::with_capacity(BUFFER, file);
        Ok(Self { writer, partial, path: path.to_owned(), complete: false })
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
        fs::rename(&self.partial, &self.path).map_err(Error::io("rename", &self.path))?;
        self.complete = true;
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.complete {
            // The error that gave the file up says more than one in removing it.
            let _ = fs::remove_file(&self.partial);
        }
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

/// The error names the file that standard output goes to, where there is one.
fn stdout_failed(source: io::Error) -> Error {
    let file = fs::read_link("/proc/self/fd/1").ok().filter(|path| path.is_file());
    Error::io("write", file.unwrap_or_default())(source)
}

impl Default for Stdout {
    fn default() -> Self {
        Self::new()
    }
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
    fn a_bound_refuses_exactly_the_lines_that_exceed_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let lines = ["one", "", "three", "2", "seventeen", "end"];
        for mark in ["", "\u{feff}"] {
            fs::write(&path, format!("{mark}{}", lines.join("\n"))).unwrap();
            for (size, bound) in (1..40).flat_map(|size| (1..12).map(move |bound| (size, bound))) {
                let within = format!("{bound}B").parse().unwrap();
                let mut blocks = Blocks::new(vec![path.clone()], size).within(within);
                let mut read = 0;
                let end = loop {
                    match blocks.next_block() {
                        Ok(Some(block)) => each_line(&block, |_, _| {
                            read += 1;
                            Ok(())
                        })
                        .unwrap(),
                        end => break end,
                    }
                };
                let long = lines.iter().position(|line| line.len() > bound);
                match (end, long) {
                    (Ok(_), None) => assert_eq!(read, 5),
                    (Err(Error::LongLine { place, .. }), Some(at)) => assert_eq!(place.line, at as u64 + 1),
                    (end, long) => panic!("blocks of {size}, bound {bound}: {:?}, not {long:?}", end.err()),
                }
            }
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
        let mut given_up = AtomicFile::create(&folder.path().join("other")).unwrap();
        given_up.line(b"row").unwrap();
        drop(given_up);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
