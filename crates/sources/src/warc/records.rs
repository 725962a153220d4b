//! The records of a crawl, whatever they are.

use super::arc;
use super::http::header;
use crate::input::Input;
use crate::too_long;
use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::path::PathBuf;
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_io::{MaxLine, read_rest};

/// The records of one file, from front to back.
pub struct Records {
    reader: Box<dyn BufRead + Send>,
    path: PathBuf,
    /// Where the record stands that was read last, and what is read next.
    pub place: Place,
    here: Place,
    /// Its line `WARC/1.0`, its fields and the empty line behind them, or its line of fields in ARC; and its content, where that was read.
    pub raw: Vec<u8>,
    form: Form,
}

/// What a record begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// WARC: a line with the version, and lines of named fields.
    Warc,
    /// ARC: a line of so many fields.
    Arc(usize),
}

impl Form {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warc => "WARC",
            Self::Arc(_) => "ARC",
        }
    }

    /// That of ARC in a file that begins with these bytes.
    pub fn of_arc(head: &[u8]) -> Self {
        Self::Arc(arc::count_of_fields(head))
    }

    /// The type that the record which begins with these bytes says its content has.
    pub fn content_type(self, fields: &[u8]) -> Option<&[u8]> {
        match self {
            Self::Warc => header(fields, "Content-Type"),
            Self::Arc(count) => arc::Line::of(fields, count).map(|line| line.kind),
        }
    }

    /// A field of the record that begins with these bytes, by its name in WARC, without the brackets of an address.
    pub fn field<'r>(self, fields: &'r [u8], name: &str) -> Option<Cow<'r, str>> {
        if let Self::Arc(count) = self {
            return arc::Line::of(fields, count)?.field(name);
        }
        let value = std::str::from_utf8(header(fields, name)?).ok()?;
        Some(value.strip_prefix('<').and_then(|value| value.strip_suffix('>')).unwrap_or(value).into())
    }
}

/// The longest part of a record before its content.
const MOST_FIELDS: u64 = 1 << 20;

impl Records {
    /// Those of an open file.
    pub fn of(input: Input, form: Form) -> Self {
        let place = input.place();
        let (reader, here) = (input.opened.reader, place.clone());
        Self { reader, path: input.path, here, place, raw: Vec::new(), form }
    }

    /// What they begin with.
    pub fn form(&self) -> Form {
        self.form
    }

    /// An error about the file at the record that is being read.
    fn broken(&self, problem: &str) -> Error {
        Error::File {
            path: self.path.clone(),
            problem: format!("the record that begins at byte {} (uncompressed) {problem}", self.place.offset),
        }
    }

    /// Reads a line into the record; false at the end of the file.
    fn line(&mut self) -> Result<bool> {
        let before = self.raw.len();
        let most = MaxLine::default();
        let is_whole = read_rest(&mut *self.reader, &mut self.raw, before as u64, most)
            .map_err(Error::io("read", &self.path))?;
        if !is_whole || self.raw.len() as u64 > MOST_FIELDS {
            let form = self.form.name();
            return Err(self
                .broken(&format!("has more than a megabyte of fields; the file is damaged, or no {form}")));
        }
        self.here.offset += (self.raw.len() - before) as u64;
        self.here.line += 1;
        Ok(self.raw.len() > before)
    }

    /// Reads the next record up to its content, and gives how long that is; nothing at the end.
    pub fn head(&mut self) -> Result<Option<u64>> {
        loop {
            self.raw.clear();
            self.place.clone_from(&self.here);
            self.place.line += 1;
            if !self.line()? {
                return Ok(None);
            }
            if !self.raw.trim_ascii().is_empty() {
                break;
            }
        }
        if let Form::Arc(count) = self.form {
            if !self.raw.ends_with(b"\n") {
                return Err(self.broken("ends before its content; the file is cut off"));
            }
            let line = arc::Line::of(&self.raw, count).map(|line| line.length);
            return line.map(Some).ok_or_else(|| {
                self.broken(
                    "does not begin with an address, the server's, a date, a type and a length; the file is damaged, or no ARC",
                )
            });
        }
        if !self.raw.starts_with(b"WARC/") {
            return Err(self.broken("does not begin with WARC/; the file is damaged, or no WARC"));
        }
        let mut before = self.raw.len();
        loop {
            if !self.line()? {
                return Err(self.broken("ends before its content; the file is cut off"));
            }
            if self.raw[before..].trim_ascii().is_empty() {
                break;
            }
            before = self.raw.len();
        }
        let length = header(&self.raw, "Content-Length")
            .and_then(|length| std::str::from_utf8(length).ok()?.parse().ok());
        length.map(Some).ok_or_else(|| self.broken("says no Content-Length; the file is damaged"))
    }

    /// Reads so many bytes of content behind the fields.
    pub fn content(&mut self, length: u64, bound: MaxLine) -> Result<()> {
        if length > bound.bytes() {
            return Err(too_long(&self.place, "record", bound));
        }
        let fields = self.raw.len();
        let taken = (&mut self.reader)
            .take(length)
            .read_to_end(&mut self.raw)
            .map_err(Error::io("read", &self.path))?;
        let lines = memchr::memchr_iter(b'\n', &self.raw[fields..]).count() as u64;
        self.count(lines, taken as u64);
        self.is_whole(taken as u64 == length)
    }

    /// Passes over so many bytes of content, of which `visit` is given each part.
    pub fn pass(&mut self, length: u64, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut left = length;
        while left > 0 {
            let some = self.reader.fill_buf().map_err(Error::io("read", &self.path))?;
            let some = &some[..some.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
            if some.is_empty() {
                return self.is_whole(false);
            }
            visit(some)?;
            let (lines, taken) = (memchr::memchr_iter(b'\n', some).count() as u64, some.len());
            self.reader.consume(taken);
            self.count(lines, taken as u64);
            left -= taken as u64;
        }
        Ok(())
    }

    /// Passes over the white space behind a record, which belongs to it; `visit` is given each part.
    pub fn pass_ends(&mut self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        loop {
            let some = self.reader.fill_buf().map_err(Error::io("read", &self.path))?;
            let ends = some.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if ends == 0 {
                return Ok(());
            }
            visit(&some[..ends])?;
            let lines = memchr::memchr_iter(b'\n', &some[..ends]).count() as u64;
            self.reader.consume(ends);
            self.count(lines, ends as u64);
        }
    }

    /// Takes note of so much that was read.
    fn count(&mut self, lines: u64, bytes: u64) {
        self.here.offset += bytes;
        self.here.line += lines;
    }

    fn is_whole(&self, is_whole: bool) -> Result<()> {
        match is_whole {
            true => Ok(()),
            false => Err(self.broken("ends in its content; the file is cut off")),
        }
    }
}
