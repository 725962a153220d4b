//! JSON that is no JSON lines: arrays of objects, and objects over any number of lines, one behind the other.
//!
//! An element is found by its brackets alone, so that one is in memory at a time, and becomes a line without the white space between its parts.
//! Whether it is right JSON and a document is told by the reader of lines. Where the brackets leave off, the rest of the file cannot be
//! told apart: that is an error of the file, and so is an array without its end.

use super::input::Input;
use super::{Decoding, Found, Source, SourceOpts, refuse, too_long};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_io::{MARK, MaxLine};
use twinsplit_rows::record::document::DocumentOpts;

/// The elements of one file.
pub struct Json {
    reader: Box<dyn BufRead + Send>,
    path: PathBuf,
    read: Arc<AtomicU64>,
    opts: DocumentOpts,
    bound: MaxLine,
    expects: Expects,
    /// Where the element stands that was given last, and what is read next.
    place: Place,
    here: Place,
    raw: Vec<u8>,
    json: Vec<u8>,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
    /// An object or an array, or the end of the file.
    Top,
    /// An element of an array, or its end where none came before.
    Element { is_first: bool },
    /// A comma, or the end of the array.
    Comma,
}

impl Json {
    /// Opens a file.
    pub fn open(opts: &SourceOpts, input: Input) -> Result<Self> {
        let is_other = opts.encoding.is_some_and(|encoding| !encoding.is_utf_8());
        refuse(&[("--encoding", is_other)], "a JSON file is UTF-8; `iconv` makes UTF-8 of others")?;
        input.refuse_other_kinds("JSON", "documents.json", |_| false)?;
        let place = Place { line: 1, ..input.place() };
        Ok(Self {
            opts: opts.document()?,
            reader: input.opened.reader,
            path: input.path,
            read: input.read,
            bound: opts.max_line,
            expects: Expects::Top,
            here: place.clone(),
            place,
            raw: Vec::new(),
            json: Vec::new(),
        })
    }

    /// An error about the file at a place.
    fn broken(path: &Path, place: &Place, problem: &str) -> Error {
        let (offset, line) = (place.offset, place.line);
        Error::File {
            path: path.to_owned(),
            problem: format!("at byte {offset} (unpacked; line {line}) {problem}"),
        }
    }

    /// The next byte, which stays; nothing at the end of the file.
    fn peek(&mut self) -> Result<Option<u8>> {
        let some = self.reader.fill_buf().map_err(Error::io("read", &self.path))?;
        Ok(some.first().copied())
    }

    /// Passes over a byte.
    fn pass(&mut self, byte: u8) {
        self.reader.consume(1);
        self.here.offset += 1;
        self.here.line += u64::from(byte == b'\n');
    }

    /// Goes on to the first byte of the next element; nothing at the end of the file.
    fn next_element(&mut self) -> Result<Option<u8>> {
        loop {
            let Some(byte) = self.peek()? else {
                return match self.expects {
                    Expects::Top => Ok(None),
                    _ => Err(Self::broken(
                        &self.path,
                        &self.here,
                        "the file ends, and its array does not: it is truncated",
                    )),
                };
            };
            // Files of which each has a mark may stand one behind the other.
            let is_mark = self.expects == Expects::Top && MARK.contains(&byte);
            self.expects = match (self.expects, byte) {
                (expects, b' ' | b'\t' | b'\r' | b'\n') => expects,
                (Expects::Top, _) if is_mark => Expects::Top,
                (Expects::Top, b'[') => Expects::Element { is_first: true },
                (Expects::Comma, b',') => Expects::Element { is_first: false },
                (Expects::Comma | Expects::Element { is_first: true }, b']') => Expects::Top,
                (Expects::Top, b'{') => return Ok(Some(byte)),
                (Expects::Element { .. }, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                    return Ok(Some(byte));
                }
                (expects, other) => {
                    let what = match expects {
                        Expects::Top => "an object or an array should begin, or the file end",
                        Expects::Element { .. } => "an element of the array should begin",
                        Expects::Comma => "a comma or the end of the array should stand",
                    };
                    let problem =
                        format!("{what}, and there is {:?}; correct the file there", char::from(other));
                    return Err(Self::broken(&self.path, &self.here, &problem));
                }
            };
            self.pass(byte);
        }
    }

    /// Reads an element to its end. `first` is its first byte.
    fn element(&mut self, first: u8) -> Result<()> {
        self.raw.clear();
        self.json.clear();
        self.place.clone_from(&self.here);
        let mut scan = Scan { is_plain: !matches!(first, b'{' | b'[' | b'"'), ..Scan::default() };
        loop {
            let some = self.reader.fill_buf().map_err(Error::io("read", &self.path))?;
            if some.is_empty() {
                let problem = "begins an element that the file does not end: it is truncated";
                return Err(Self::broken(&self.path, &self.place, problem));
            }
            let (taken, is_end) = scan.take(some, &mut self.json);
            self.raw.extend_from_slice(&some[..taken]);
            self.here.line += memchr::memchr_iter(b'\n', &some[..taken]).count() as u64;
            self.here.offset += taken as u64;
            self.reader.consume(taken);
            if self.raw.len() as u64 > self.bound.bytes() {
                return Err(too_long(&self.place, "element", self.bound));
            }
            if is_end {
                if self.expects != Expects::Top {
                    self.expects = Expects::Comma;
                }
                return Ok(());
            }
        }
    }
}

/// Finds the end of an element.
#[derive(Default)]
struct Scan {
    /// Whether the element is a number or a word, which has no end of its own.
    is_plain: bool,
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl Scan {
    /// Takes bytes of the element, and puts them into `out` without white space between its parts. Gives how many there are, and whether
    /// the element ends with them.
    fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> (usize, bool) {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string && !self.escaped {
                let length = memchr::memchr2(b'"', b'\\', &bytes[at..]).unwrap_or(bytes.len() - at);
                out.extend_from_slice(&bytes[at..at + length]);
                at += length;
            }
            let Some(byte) = bytes.get(at).copied() else { break };
            if self.is_plain && matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n') {
                return (at, true);
            }
            at += 1;
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                self.escaped = byte == b'\\';
                self.in_string = byte != b'"';
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    b' ' | b'\t' | b'\r' | b'\n' => continue,
                    _ => {}
                }
            }
            out.push(byte);
            if !self.is_plain && self.depth == 0 && !self.in_string {
                return (at, true);
            }
        }
        (at, false)
    }
}

impl Source for Json {
    fn next_document(&mut self) -> Result<Option<Found<'_>>> {
        let Some(first) = self.next_element()? else { return Ok(None) };
        self.element(first)?;
        let (place, raw) = (&self.place, self.raw.as_slice());
        // One behind the other may stand on one line, so its number alone says little.
        let line = self.opts.read(&self.json, place).map(|_| self.json.as_slice()).map_err(|mut wrong| {
            wrong.found =
                format!("{} in the element that begins at byte {}", wrong.found, place.offset).into();
            wrong
        });
        Ok(Some(Found { place, raw, line, decoding: Decoding::default(), in_templates: false }))
    }

    fn raw_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
