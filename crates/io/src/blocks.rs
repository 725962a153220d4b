//! Files as blocks of whole lines, each with its place, so that several threads can share the work.

use super::kind::{Kind, MARK};
use super::lines::{self, MaxLine, Rest};
use super::{Contents, Opened, Packed, Packing, Tally};
use crate::error::{Error, Place, Result};
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use twinsplit_core::visible;

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
    /// Whether it begins inside a line, whose number its place has; see [`Blocks::of_parts`].
    pub continues: bool,
    /// Whether its lines are documents; see [`Blocks::of_documents`].
    pub documents: bool,
}

/// Says how much of a block may be in memory.
pub trait Room {
    /// Makes room for so many bytes of a block beyond those that any block may have; false when there is none.
    fn take(&mut self, bytes: usize) -> Result<bool>;

    /// The error about a line of so many bytes at `place`, for which there was no room.
    fn refused(&self, place: &Place, bytes: u64) -> Error;
}

/// Room without end.
struct Unbounded;

impl Room for Unbounded {
    fn take(&mut self, _: usize) -> Result<bool> {
        Ok(true)
    }

    fn refused(&self, place: &Place, _: u64) -> Error {
        MaxLine::ROW.exceeded(place)
    }
}

/// Reads files one after the other as blocks of whole lines, so that several threads can share the work.
pub struct Blocks {
    files: std::vec::IntoIter<PathBuf>,
    /// The names of the files in places, where these are others.
    names: std::vec::IntoIter<Arc<str>>,
    /// How many files have been opened.
    opened: u32,
    /// A file that is open already, before the others.
    ready: Option<(PathBuf, Opened)>,
    current: Option<(PathBuf, Box<dyn BufRead + Send>)>,
    place: Place,
    number: u64,
    lines: u64,
    size: usize,
    read: Arc<AtomicU64>,
    /// Of the current file, where digests are asked for.
    tally: Option<Arc<Mutex<Tally>>>,
    /// Of the files that have been read to their end.
    contents: Vec<Contents>,
    bound: MaxLine,
    /// Whether the lines are documents.
    documents: bool,
    /// Where standard input begins when it is a share of a file.
    share: Option<Place>,
    /// Whether a long line may be spread over several blocks, and whether the last block ended inside one.
    parts: bool,
    inside: bool,
    /// Blocks that come from elsewhere.
    held: Box<dyn Iterator<Item = Result<Block>> + Send>,
}

impl Blocks {
    /// Blocks of about `size` bytes of `files`, in their order.
    pub fn new(files: Vec<PathBuf>, size: usize) -> Self {
        let (files, bound) = (files.into_iter(), MaxLine::ROW);
        Self {
            files,
            names: Vec::new().into_iter(),
            opened: 0,
            ready: None,
            current: None,
            place: Place::default(),
            number: 0,
            lines: 0,
            size,
            read: Arc::default(),
            tally: None,
            contents: Vec::new(),
            bound,
            documents: false,
            share: None,
            parts: false,
            inside: false,
            held: Box::new(std::iter::empty()),
        }
    }

    /// Blocks of a file that is open already, and whose bytes `read` counts.
    pub fn of_opened(path: PathBuf, opened: Opened, read: Arc<AtomicU64>, size: usize) -> Self {
        Self { ready: Some((path, opened)), read, ..Self::new(Vec::new(), size) }
    }

    /// Lines in memory, each with the place where it stands and without its end, as blocks of one line.
    pub fn of_lines(lines: &[(Place, Vec<u8>)]) -> Self {
        let block = |(number, (place, line)): (u64, &(Place, Vec<u8>))| Block {
            bytes: line.clone(),
            place: place.clone(),
            number,
            first: number,
            lines: 1,
            ..Block::default()
        };
        Self::of((0..).zip(lines).map(block).map(Ok).collect::<Vec<_>>().into_iter())
    }

    /// Blocks that someone else makes, numbered from 0. The first error is the last of them.
    pub fn of(blocks: impl Iterator<Item = Result<Block>> + Send + 'static) -> Self {
        Self { held: Box::new(blocks), ..Self::new(Vec::new(), 0) }
    }

    /// The same of files that have other names in their places.
    pub fn with_names(self, names: Vec<Arc<str>>) -> Self {
        Self { names: names.into_iter(), ..self }
    }

    /// How many bytes of the files have been read, as they stand on disk.
    pub fn raw_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// The same; takes digests of the files while they are read.
    pub fn with_digests(self) -> Self {
        Self { tally: Some(Arc::default()), ..self }
    }

    /// What was read of each file, where digests were asked for and there was no error.
    pub fn contents(&self) -> &[Contents] {
        &self.contents
    }

    /// The same of files of documents: no line may exceed `bound`, lines are taken as [`document_line`] says, and what begins as no
    /// JSON line does is refused. In rows between stages a byte order mark is the beginning of an id.
    pub fn of_documents(self, bound: MaxLine) -> Self {
        Self { bound, documents: true, ..self }
    }

    /// The same where standard input is a share of a file that a cluster hands to a task. The cluster has unpacked the file.
    pub fn of_split(self, file: &str, split: u64) -> Self {
        Self { share: Some(Place { file: file.into(), line: 1, split, ..Place::default() }), ..self }
    }

    /// The same where blocks may end inside a line, behind its second byte, so that none is much longer than asked for. Lines
    /// have no bound then.
    pub fn of_parts(self) -> Self {
        Self { parts: true, bound: MaxLine::ROW, ..self }
    }

    /// The next block, or `None` after the last line of the last file. An error is the end too: another thread must not
    /// read on in the middle of a line.
    pub fn next_block(&mut self) -> Result<Option<Block>> {
        self.next_within(&mut Unbounded)
    }

    /// The same; a line that makes the block longer than usual is read as far as there is room for it.
    pub fn next_within(&mut self, room: &mut dyn Room) -> Result<Option<Block>> {
        if let Some(block) = self.held.next() {
            return block.map(Some);
        }
        let block = self.next_of_files(room);
        if block.is_err() {
            self.stop();
        }
        block
    }

    /// No block comes any more.
    pub fn stop(&mut self) {
        self.files = Vec::new().into_iter();
        self.current = None;
    }

    fn next_of_files(&mut self, room: &mut dyn Room) -> Result<Option<Block>> {
        loop {
            if self.current.is_none() {
                let Some((path, mut opened)) = self.next_file()? else { return Ok(None) };
                let share = self.share.as_ref().filter(|_| path == Path::new("-"));
                if self.documents {
                    refuse_other_kinds(&mut opened, &path, share)?;
                }
                let number = Some(self.opened);
                self.opened = self.opened.saturating_add(1);
                let name = self.names.next().unwrap_or_else(|| name_of(&path));
                let whole = || Place { file: name, line: 1, number, ..Place::default() };
                self.inside = false;
                self.place = share.cloned().unwrap_or_else(whole);
                self.current = Some((path, opened.reader));
            }
            if let Some(block) = self.read_block(room)? {
                return Ok(Some(block));
            }
            self.current = None;
            let tally = self.tally.iter().map(|tally| tally.lock().unwrap_or_else(PoisonError::into_inner));
            self.contents.extend(tally.map(|tally| tally.contents()));
        }
    }

    /// Opens the next file.
    fn next_file(&mut self) -> Result<Option<(PathBuf, Opened)>> {
        if let Some(ready) = self.ready.take() {
            return Ok(Some(ready));
        }
        let Some(path) = self.files.next() else { return Ok(None) };
        if let Some(tally) = &mut self.tally {
            *tally = Arc::default();
        }
        let is_share = self.share.is_some() && path == Path::new("-");
        let packed = if is_share { Packed::Left } else { Packed::Taken };
        let opened = Opened::file(&path, Arc::clone(&self.read), self.tally.clone(), packed)?;
        Ok(Some((path, opened)))
    }

    fn read_block(&mut self, room: &mut dyn Room) -> Result<Option<Block>> {
        let Some((path, reader)) = &mut self.current else { return Ok(None) };
        let failed = || Error::io("read", &path);
        // No more than the bound and one byte, so that a line that exceeds it is never held whole.
        let size = (self.size as u64).min(self.bound.bytes() + 1);
        let mut bytes = Vec::with_capacity((size + (size >> 2)) as usize);
        reader.by_ref().take(size).read_to_end(&mut bytes).map_err(failed())?;
        refuse_long_lines(&bytes, &self.place, self.bound)?;
        let last = memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1);
        let before = bytes.len() - last;
        let rest = if self.parts {
            // A part shows whether its line is one.
            while bytes.len() > last && !(last == 0 && self.inside) && may_be_blank(&bytes[last..]) {
                let read = reader.by_ref().take(1).read_to_end(&mut bytes).map_err(failed())?;
                if read == 0 || bytes.last() == Some(&b'\n') {
                    break;
                }
            }
            Rest::Whole
        } else {
            let usual = bytes.capacity() - bytes.len();
            lines::read_rest_within(reader, path, &mut bytes, before as u64, self.bound, usual, room)?
        };
        let is_line = if self.documents { is_document } else { is_row };
        let (ends, mut lines) = count_lines(&bytes, is_line);
        let continues = std::mem::replace(&mut self.inside, bytes.last().is_some_and(|end| *end != b'\n'));
        // Its first line was counted where it began.
        lines -= u64::from(continues && lines > 0 && is_line(first_line(&bytes)));
        let place = self.place.clone();
        let (number, first, documents) = (self.number, self.lines, self.documents);
        let block = Block { bytes, place, number, first, lines, continues, documents };
        self.place.line += ends;
        match rest {
            Rest::Whole => {}
            Rest::Exceeds => return Err(self.bound.exceeded(&self.place)),
            Rest::NoRoom(length) => return Err(room.refused(&self.place, length)),
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

/// Refuses a file whose first bytes say that it holds no JSON lines. A share is looked at where it is the beginning of its file.
fn refuse_other_kinds(opened: &mut Opened, path: &Path, share: Option<&Place>) -> Result<()> {
    if share.is_some_and(|share| share.split > 0) {
        return Ok(());
    }
    let head = opened.head(path)?;
    let first = share.map_or(head.as_slice(), |_| without_key(&head));
    let name = share.map_or_else(|| name_of(path), |share| Arc::clone(&share.file));
    let packing = Packing::of(first).filter(|_| share.is_some());
    let problem = match (packing, Kind::of(without_marks(first))) {
        (Some(packing), _) => not_unpacked(packing),
        (None, Some(kind)) => kind.problem("JSON lines", &name, opened.packing, "documents.jsonl"),
        (None, None) => return Ok(()),
    };
    let path = if name.is_empty() { PathBuf::from("standard input") } else { PathBuf::from(&*name) };
    Err(Error::File { path, problem })
}

/// What is to be said of a compressed file that a cluster has handed to a task as it is.
fn not_unpacked(packing: Packing) -> String {
    let (name, ending) = (packing.name(), packing.ending());
    match packing {
        Packing::Xz => {
            format!(
                "this is {name}, for which Hadoop has no codec of its own; `{name} -dc < FILE | gzip > NEW.gz` makes what it reads"
            )
        }
        _ => format!(
            "this is {name}, and its name does not end in .{ending}: Hadoop unpacks by the name alone; rename the file"
        ),
    }
}

/// What follows the offset and the TAB that Hadoop may put before each line.
fn without_key(head: &[u8]) -> &[u8] {
    let digits = head.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 && head.get(digits) == Some(&b'\t') { &head[digits + 1..] } else { head }
}

/// How many line ends there are, and how many lines.
fn count_lines(bytes: &[u8], is_line: fn(&[u8]) -> bool) -> (u64, u64) {
    let (mut ends, mut lines, mut start) = (0, 0, 0);
    for end in memchr::memchr_iter(b'\n', bytes) {
        ends += 1;
        lines += u64::from(is_line(&bytes[start..end]));
        start = end + 1;
    }
    (ends, lines + u64::from(is_line(&bytes[start..])))
}

/// The first line, without its LF.
fn first_line(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())]
}

/// Whether a line, without its LF, is a row. Others are passed over.
fn is_row(line: &[u8]) -> bool {
    !line.is_empty() && line != b"\r"
}

/// Whether a line, without its LF, is taken for a document.
fn is_document(line: &[u8]) -> bool {
    document_line(line).is_some()
}

/// The line of a document without its LF and without byte order marks before it; nothing where it is blank. Marks stand at the beginning of
/// files, and where files were put one behind the other, plain or as members of gzip, in the midst of one.
pub fn document_line(line: &[u8]) -> Option<&[u8]> {
    let line = without_marks(line);
    if line.iter().all(|byte| is_blank(*byte)) { None } else { Some(line) }
}

/// How many bytes of marks and blanks stand before the first character of a text.
pub fn blank_start(text: &[u8]) -> usize {
    let mut rest = text;
    loop {
        let trimmed = without_marks(rest.trim_ascii_start());
        if trimmed.len() == rest.len() {
            return text.len() - rest.len();
        }
        rest = trimmed;
    }
}

fn without_marks(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_prefix(&MARK) {
        line = rest;
    }
    line
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Whether what begins like this may turn out as a blank line, or as a mark before a line.
fn may_be_blank(start: &[u8]) -> bool {
    let rest = without_marks(start);
    MARK.starts_with(rest) || rest.iter().all(|byte| is_blank(*byte))
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

/// The name of a file as messages and automatic ids have it, [`stored`](twinsplit_core::visible::stored); empty for standard input.
pub fn name_of(path: &Path) -> Arc<str> {
    if path == Path::new("-") { "".into() } else { visible::stored(path).into() }
}

/// Calls `visit` with each line of a block (without its LF; a CR before it is white space to JSON and stands in no row)
/// and the line's place. Empty lines are passed over, and of documents blank ones and marks.
pub fn each_line(block: &Block, mut visit: impl FnMut(&[u8], &Place) -> Result<()>) -> Result<()> {
    let mut place = block.place.clone();
    let mut rest = block.bytes.as_slice();
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        let taken =
            if block.documents { document_line(line) } else { Some(line).filter(|line| is_row(line)) };
        let marks = taken.map_or(0, |taken| line.len() - taken.len());
        place.offset += marks as u64;
        taken.map_or(Ok(()), |line| visit(line, &place))?;
        let step = (end + 1).min(rest.len());
        place.line += 1;
        place.offset += (step - marks) as u64;
        rest = &rest[step..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn blocks_hold_whole_lines_and_know_their_places() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "\u{feff}one\r\ntwo\n\nthree").unwrap();
        for size in 1..20 {
            let bound = MaxLine::ROW;
            let mut blocks = Blocks::new(vec![path.clone()], size).of_documents(bound);
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
                let mut blocks = Blocks::new(vec![path.clone()], size).of_documents(within);
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
                let marked = |at: usize| if at == 0 { mark.len() } else { 0 };
                let long = (0..lines.len()).find(|at| lines[*at].len() + marked(*at) > bound);
                match (end, long) {
                    (Ok(_), None) => assert_eq!(read, 5),
                    (Err(Error::LongLine { place, .. }), Some(at)) => assert_eq!(place.line, at as u64 + 1),
                    (end, long) => panic!("blocks of {size}, bound {bound}: {:?}, not {long:?}", end.err()),
                }
            }
        }
    }

    /// Parts put together are the lines, and each line is counted once, in the block that it begins in.
    #[test]
    fn lines_may_be_spread_over_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let texts = ["\u{feff}first\r\n\r\n\nx\n \t\n  the third line\r\n4", "other\n\u{feff} \n\r"];
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        paths.iter().zip(texts).for_each(|(path, text)| fs::write(path, text).unwrap());
        for size in 2..40 {
            let mut blocks = Blocks::new(paths.to_vec(), size).of_documents("3B".parse().unwrap()).of_parts();
            let (mut all, mut lines, mut last) = (Vec::new(), 0, None);
            while let Some(block) = blocks.next_block().unwrap() {
                assert!(block.bytes.len() <= size + 6, "{size}");
                let inside = last == Some((block.place.file.clone(), false));
                assert_eq!((block.first, block.continues), (lines, inside), "{size}");
                last = Some((block.place.file.clone(), block.bytes.last() == Some(&b'\n')));
                lines += block.lines;
                all.extend_from_slice(&block.bytes);
            }
            assert_eq!((String::from_utf8(all).unwrap(), lines), (texts.concat(), 5));
        }
    }

    /// Room for so many bytes more.
    struct Few(usize);

    impl Room for Few {
        fn take(&mut self, bytes: usize) -> Result<bool> {
            let fits = self.0 >= bytes;
            self.0 -= if fits { bytes } else { 0 };
            Ok(fits)
        }

        fn refused(&self, place: &Place, bytes: u64) -> Error {
            Error::Limit(format!("{}: {bytes}", place.line))
        }
    }

    #[test]
    fn a_line_without_room_is_measured_and_not_held() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let long = (7 << 20) + 3;
        fs::write(&path, format!("one\n{}\nthree\n", "x".repeat(long))).unwrap();
        for (room, bound, expected) in [
            (7 << 20, "8M", None),
            (3 << 20, "8M", Some(format!("2: {long}"))),
            (3 << 20, "5M", Some("5M".to_owned())),
        ] {
            let mut blocks = Blocks::new(vec![path.clone()], 1 << 20).of_documents(bound.parse().unwrap());
            let found = blocks.next_within(&mut Few(room)).map(|block| block.unwrap().lines);
            match expected {
                None => assert_eq!(found.unwrap(), 2),
                Some(expected) => assert!(found.unwrap_err().to_string().contains(&expected)),
            }
        }
    }

    /// What stands behind an error is not read as if a line began there.
    #[test]
    fn an_error_is_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        paths.iter().for_each(|path| fs::write(path, "a line that is too long\nb\n").unwrap());
        let mut blocks = Blocks::new(paths.to_vec(), 4).of_documents("5B".parse().unwrap());
        assert!(blocks.next_block().is_err());
        assert!(blocks.next_block().unwrap().is_none());
    }
}
