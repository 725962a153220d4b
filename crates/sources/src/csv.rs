//! Tables as text: CSV and TSV, a row a document (RFC 4180: cells may be quoted, and hold line ends then).
//!
//! The first row names the columns. A row becomes a JSON object of all its cells, as texts, so that options name columns as they name the
//! fields of JSON lines. A CSV file's delimiter is the comma, the semicolon or the bar that parts the first row into most columns.

use super::input::Input;
use super::{Decoding, Encoding, Found, Source, SourceOpts, not_written, too_long};
use csv::{ByteRecord, ReaderBuilder};
use memchr::memchr;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_core::cluster::keep::Score;
use twinsplit_io::MaxLine;
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_rows::record::document::{DocumentOpts, IdField, TextFields};

/// The rows of one file.
pub struct Csv {
    reader: csv::Reader<Tee>,
    /// How rows are read.
    builder: ReaderBuilder,
    path: PathBuf,
    read: Arc<AtomicU64>,
    encoding: Encoding,
    bound: MaxLine,
    delimiter: u8,
    columns: Vec<String>,
    /// Where the first row ends, without its line end, if there is one.
    first_row_end: Option<u64>,
    /// Columns that are joined to a text, where there are several.
    joined: Vec<usize>,
    opts: DocumentOpts,
    record: ByteRecord,
    place: Place,
    raw: Vec<u8>,
    json: Vec<u8>,
}

/// A file whose bytes are kept as they are read, until they are taken.
struct Tee {
    inner: Box<dyn BufRead + Send>,
    bytes: Vec<u8>,
    /// Where they begin.
    start: u64,
    /// How many may be kept: the longest row, and what is read ahead.
    most: u64,
    is_at_end: bool,
}

/// What is said of a row that is longer than it may be, in the place of more bytes.
const TOO_LONG: &str = "the row is too long";

impl Read for Tee {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes.len() as u64 > self.most {
            return Err(io::Error::other(TOO_LONG));
        }
        let read = self.inner.read(buffer)?;
        self.bytes.extend_from_slice(&buffer[..read]);
        self.is_at_end |= read == 0;
        Ok(read)
    }
}

impl Tee {
    /// Moves what stands between two places into `out`, and forgets all before.
    fn take(&mut self, from: u64, to: u64, out: &mut Vec<u8>) {
        let at = |place: u64| (place.saturating_sub(self.start) as usize).min(self.bytes.len());
        let (from, to) = (at(from), at(to));
        out.clear();
        out.extend_from_slice(&self.bytes[from..to]);
        self.bytes.drain(..to);
        self.start += to as u64;
    }
}

/// The column that joined ones become.
const TEXT: &str = "text";

/// Bytes that the reader of rows holds ahead.
const AHEAD: usize = 64 << 10;

/// The delimiter of a table by its first bytes: the one that parts the first row, outside of quotation marks, most often.
fn delimiter(head: &[u8]) -> u8 {
    let mut quoted = false;
    let blank = head.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    let head = &head[blank..];
    let mut counts = [(b',', 0), (b';', 0), (b'|', 0)];
    for byte in head.iter().take_while(|byte| **byte != b'\n') {
        quoted ^= *byte == b'"';
        let count = counts.iter_mut().find(|(delimiter, _)| delimiter == byte && !quoted);
        if let Some((_, count)) = count {
            *count += 1;
        }
    }
    // The comma, where others are no more frequent.
    let most = counts.iter().map(|(_, count)| *count).max();
    counts.iter().find(|(_, count)| Some(*count) == most).map_or(b',', |(delimiter, _)| *delimiter)
}

/// Where in a row something else than a delimiter or the row's end stands behind a quotation mark that closes a cell (RFC 4180, 2.5 to 2.7), if anywhere.
fn behind_quotation(row: &[u8], delimiter: u8) -> Option<usize> {
    let mut at = if row.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    loop {
        if row.get(at) == Some(&b'"') {
            at += 1;
            loop {
                at += memchr(b'"', row.get(at..)?)? + 1;
                match row.get(at)? {
                    b'"' => at += 1,
                    byte if *byte == delimiter => break,
                    _ => return Some(at),
                }
            }
            at += 1;
        } else {
            at += memchr(delimiter, row.get(at..)?)? + 1;
        }
    }
}

impl Csv {
    /// Opens a file whose cells are parted by TAB, or else by what its first row says.
    pub fn open(opts: &SourceOpts, input: Input, tabs: bool) -> Result<Self> {
        let what = if tabs { "TSV" } else { "CSV" };
        input.refuse_other_kinds(what, "table.csv", |_| false)?;
        let delimiter = if tabs { b'\t' } else { delimiter(&input.head) };
        let most = opts.max_line.bytes().saturating_add(2 * AHEAD as u64);
        let place = input.place();
        let kept = Tee { inner: input.opened.reader, bytes: Vec::new(), start: 0, most, is_at_end: false };
        let mut builder = ReaderBuilder::new();
        builder.delimiter(delimiter).flexible(true).has_headers(false).buffer_capacity(AHEAD);
        let mut table = Self {
            reader: builder.from_reader(kept),
            builder,
            path: input.path,
            read: input.read,
            encoding: opts.encoding.unwrap_or_default(),
            bound: opts.max_line,
            delimiter,
            columns: Vec::new(),
            first_row_end: None,
            joined: Vec::new(),
            opts: opts.document()?,
            record: ByteRecord::new(),
            place,
            raw: Vec::new(),
            json: Vec::new(),
        };
        table.read_columns(opts, what)?;
        Ok(table)
    }

    /// What parts its cells.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// The names of its columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str)
    }

    /// Where its first row ends, without the line end, if there is one.
    pub fn first_row_end(&self) -> Option<u64> {
        self.first_row_end
    }

    /// Takes the names of the columns from the first row.
    fn read_columns(&mut self, opts: &SourceOpts, what: &str) -> Result<()> {
        let wrong = |path: &Path, problem: String| Error::File { path: path.to_owned(), problem };
        if !self.next_row()? {
            return Ok(());
        }
        if self.is_open() {
            let problem = "first row: a quotation mark opens a cell, and none closes it until the file ends";
            return Err(wrong(&self.path, problem.to_owned()));
        }
        if let Some(problem) = self.behind_quotation() {
            return Err(wrong(&self.path, format!("first row: {problem}")));
        }
        self.first_row_end = Some(self.place.offset + self.raw.len() as u64);
        for cell in &self.record {
            let name = self
                .encoding
                .decode(cell)
                .map_err(|error| wrong(&self.path, format!("first row: {error}")))?;
            self.columns.push(name.trim().to_owned());
        }
        let distinct: BTreeSet<&String> = self.columns.iter().collect();
        let listed = || self.columns.join(", ");
        if distinct.len() < self.columns.len() {
            return Err(wrong(&self.path, format!("its first row names a column twice: {}", listed())));
        }
        let column = |name: &str, option: &str| {
            let missing = || {
                format!(
                    "no column is named {name:?}; the first row of {what} names the columns, here {}; --{option} says which one is meant",
                    listed()
                )
            };
            self.columns.iter().position(|known| known == name).ok_or_else(|| wrong(&self.path, missing()))
        };
        if let IdField::Named(id) = &self.opts.id {
            column(id.name(), "id")?;
        }
        for (path, option) in [(&self.opts.date, "date"), (&self.opts.score, "score")] {
            path.as_ref().map(|path| column(path.name(), option)).transpose()?;
        }
        let texts =
            self.opts.text.all().map(|path| column(path.name(), "text")).collect::<Result<Vec<_>>>()?;
        if opts.joins_columns && texts.len() > 1 {
            let is_there = |name: &str| self.columns.iter().any(|column| column == name);
            if is_there(TEXT) && !self.opts.text.all().any(|path| path.name() == TEXT) {
                let problem = "columns that are joined become one called text, and there is such a column; name it among them";
                return Err(wrong(&self.path, problem.to_owned()));
            }
            self.joined = texts;
            self.opts.text = TextFields::one(TEXT);
        }
        Ok(())
    }

    /// Reads the next row that is not empty, and its bytes; false at the end.
    fn next_row(&mut self) -> Result<bool> {
        let more = self.reader.read_byte_record(&mut self.record).map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) if error.to_string() == TOO_LONG => {
                let (place, bound) = (&self.place, self.bound);
                Error::Limit(format!(
                    "{place}: the row behind this one is longer than {bound}; if a quotation mark is not missing there, let it in with --max-line"
                ))
            }
            csv::ErrorKind::Io(error) => Error::io("read", &self.path)(error),
            other => Error::File { path: self.path.clone(), problem: format!("{other:?}") },
        })?;
        let end = self.reader.position().byte();
        if let Some(start) = self.record.position() {
            (self.place.line, self.place.offset) = (start.line(), start.byte());
        }
        let (start, raw) = (self.place.offset, &mut self.raw);
        self.reader.get_mut().take(start, end, raw);
        // Line ends of the row before, and of empty rows, are counted to this one.
        let blank = raw.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        self.place.line += raw[..blank].iter().filter(|byte| **byte == b'\n').count() as u64;
        self.place.offset += blank as u64;
        let end = raw.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(blank, |last| last + 1);
        raw.truncate(end);
        raw.drain(..blank);
        if raw.len() as u64 > self.bound.bytes() {
            return Err(too_long(&self.place, "row", self.bound));
        }
        Ok(more)
    }

    /// Whether a quotation mark opens a cell that nothing closes, so that the rest of the file is taken for its text: then a row that follows would be a part of it,
    /// too.
    fn is_open(&self) -> bool {
        // What was not read to the end is not the last row.
        if !self.reader.get_ref().is_at_end {
            return false;
        }
        let with_another = self.raw.as_slice().chain(&b"\nx"[..]);
        let mut rows = self.builder.from_reader(with_another);
        rows.byte_records().map_while(std::result::Result::ok).count() == 1
    }

    /// What is wrong where something stands behind a quotation mark that closes a cell: the mark that opens it may be a part of the text, and the rows up to the
    /// next one were taken for that text.
    fn behind_quotation(&self) -> Option<String> {
        let at = behind_quotation(&self.raw, self.delimiter)?;
        let byte = self.place.offset + at as u64;
        Some(format!(
            "behind the quotation mark that closes a cell, at byte {byte}, stands neither a delimiter nor a line end; double quotation marks that belong to the text, and quote the cell"
        ))
    }

    /// The row as a JSON line.
    fn line(&mut self) -> Result<Result<(), FieldError>> {
        if self.is_open() {
            let mut wrong = FieldError::new("row", "a quotation mark that closes the cell", &self.raw);
            wrong.advice = Some("one opens a cell, and none closes it until the file ends; close it, or double it and quote the cell".into());
            return Ok(Err(wrong));
        }
        if let Some(problem) = self.behind_quotation() {
            let mut wrong = FieldError::new("row", "cells that are quoted as a whole", &self.raw);
            wrong.advice = Some(problem.into());
            return Ok(Err(wrong));
        }
        let (found, expected) = (self.record.len(), self.columns.len());
        if found != expected {
            let mut wrong = FieldError::new("row", "as many cells as the first row has", &self.raw);
            wrong.advice = Some(
                format!("{found} cells where there are {expected} columns; quote cells that hold delimiters")
                    .into(),
            );
            return Ok(Err(wrong));
        }
        let mut object: BTreeMap<&str, Box<RawValue>> = BTreeMap::new();
        let mut texts = vec![String::new(); self.joined.len()];
        for (at, (name, cell)) in self.columns.iter().zip(&self.record).enumerate() {
            let text = match self.encoding.decode(cell) {
                Ok(text) => text,
                Err(error) => return Ok(Err(error)),
            };
            if let Some(place) = self.joined.iter().position(|column| *column == at) {
                texts[place] = text.to_string();
            }
            // A score is a number, as it is written; what is none is an error, for it stays a text.
            let number = match self.opts.score.as_ref().is_some_and(|score| score.name() == name) {
                true if text.is_empty() => continue,
                true => text.parse::<Score>().ok().and_then(|_| RawValue::from_string(text.to_string()).ok()),
                false => None,
            };
            object.insert(name, number.map_or_else(|| json(&text), Ok)?);
        }
        if !self.joined.is_empty() {
            object.insert(TEXT, json(&texts.join("\n"))?);
        }
        self.json.clear();
        serde_json::to_writer(&mut self.json, &object).map_err(not_written)?;
        Ok(self.opts.read(&self.json, &self.place).map(drop))
    }
}

/// A text as JSON.
fn json(text: &str) -> Result<Box<RawValue>> {
    to_raw_value(text).map_err(not_written)
}

impl Source for Csv {
    fn next_document(&mut self) -> Result<Option<Found<'_>>> {
        if !self.next_row()? {
            return Ok(None);
        }
        let line = self.line()?;
        let (place, raw) = (&self.place, self.raw.as_slice());
        let line = line.map(|()| self.json.as_slice());
        Ok(Some(Found { place, raw, line, decoding: Decoding::default(), in_templates: false }))
    }

    fn raw_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
