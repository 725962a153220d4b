//! Rows `id⇥fingerprint`.

use super::STAGE;
use crate::error::{Error, FieldError, Place, Result};
use crate::hamming::Fingerprint;
use crate::io::{self, name_of, read_row};
use std::path::{Path, PathBuf};

/// Ids and fingerprints, by row.
pub struct Rows<F> {
    /// The fingerprints.
    pub fingerprints: Vec<F>,
    ids: Vec<u8>,
    ends: Vec<usize>,
}

impl<F> Rows<F> {
    /// The id of a row.
    pub fn id(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ids[start..self.ends[row]]
    }

    /// All ids, in order.
    pub fn ids(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|row| self.id(row))
    }
}

/// Rows of either width.
pub enum Read {
    /// 64 bits; no row is of these too.
    Short(Rows<u64>),
    /// 128 bits.
    Long(Rows<u128>),
}

/// Reads files one after the other; the first row says how many digits all have.
pub fn read(files: &[PathBuf]) -> Result<Read> {
    let mut first = Lines::of(files);
    let digits = match first.next_row()? {
        Some(row) => row.split(|byte| *byte == b'\t').nth(1).map_or(0, <[u8]>::len),
        None => 16,
    };
    if digits == 32 { first.rest(LONG).map(Read::Long) } else { first.rest(SHORT).map(Read::Short) }
}

/// The same, of a width that is known.
pub fn read_as<F: Fingerprint>(files: &[PathBuf]) -> Result<Rows<F>> {
    let mut lines = Lines::of(files);
    lines.next_row()?;
    lines.rest(if F::BITS == 128 { LONG } else { SHORT })
}

const SHORT: &str = "16 hex digits, as in all rows (or 32 in all)";
const LONG: &str = "32 hex digits, as in all rows (or 16 in all)";

/// Lines of files, one after the other.
struct Lines<'f> {
    files: std::slice::Iter<'f, PathBuf>,
    current: Option<(&'f Path, Box<dyn std::io::BufRead + Send>)>,
    line: Vec<u8>,
    number: u64,
    offset: u64,
    /// Whether a row has been read and not been taken.
    held: bool,
}

impl<'f> Lines<'f> {
    fn of(files: &'f [PathBuf]) -> Self {
        Self { files: files.iter(), current: None, line: Vec::new(), number: 0, offset: 0, held: false }
    }

    /// Reads the next line that is not empty.
    fn next_row(&mut self) -> Result<Option<&[u8]>> {
        loop {
            let Some((path, reader)) = &mut self.current else {
                let Some(path) = self.files.next() else { return Ok(None) };
                self.current = Some((path, io::open(path)?));
                (self.number, self.offset) = (0, 0);
                continue;
            };
            self.offset += if self.number > 0 { self.line.len() as u64 + 1 } else { 0 };
            self.number += 1;
            if !read_row(&mut **reader, &mut self.line, path, self.number)? {
                self.current = None;
                continue;
            }
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
                self.offset += 1;
            }
            if !self.line.is_empty() {
                self.held = true;
                return Ok(Some(&self.line));
            }
        }
    }

    /// All rows from the one that is held on.
    fn rest<F: Fingerprint>(mut self, expected: &'static str) -> Result<Rows<F>> {
        let mut rows = Rows { fingerprints: Vec::new(), ids: Vec::new(), ends: Vec::new() };
        while self.held {
            let (id, fingerprint) = decode(&self.line, expected).map_err(|error| {
                let file = self.current.as_ref().map_or(Path::new(""), |(path, _)| path);
                let place =
                    Place { file: name_of(file), line: self.number, offset: self.offset, ..Place::default() };
                Error::Record { stage: STAGE, place, error }
            })?;
            rows.ids.extend_from_slice(id);
            rows.ends.push(rows.ids.len());
            rows.fingerprints.push(fingerprint);
            self.held = false;
            self.next_row()?;
        }
        Ok(rows)
    }
}

fn decode<'l, F: Fingerprint>(line: &'l [u8], expected: &'static str) -> Result<(&'l [u8], F), FieldError> {
    let mut fields = line.split(|byte| *byte == b'\t');
    let id = fields.next().filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| FieldError::new("id", "an id", b""))?;
    let digits = fields.next().ok_or_else(|| FieldError::missing("fingerprint", expected))?;
    let fingerprint = F::from_hex(digits).ok_or_else(|| FieldError::new("fingerprint", expected, digits))?;
    match fields.next() {
        None => Ok((id, fingerprint)),
        Some(more) => Err(FieldError::new("end of the line", "no third field", more)),
    }
}
