//! Rows `id⇥fingerprint`.

use super::STAGE;
use std::path::{Path, PathBuf};
use twinsplit_hamming::Fingerprint;
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_io::{self as io, name_of, read_row};

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

    /// Reads files one after the other, of fingerprints as wide as these.
    pub fn read(files: &[PathBuf]) -> Result<Self>
    where
        F: Fingerprint,
    {
        let (_, lines) = Lines::open(files)?;
        let mut rows = Self { fingerprints: Vec::new(), ids: Vec::new(), ends: Vec::new() };
        lines.each(|id, fingerprint| {
            rows.ids.extend_from_slice(id);
            rows.ends.push(rows.ids.len());
            rows.fingerprints.push(fingerprint);
            Ok(())
        })?;
        Ok(rows)
    }
}

const SHORT: &str = "16 hex digits, as in all rows";
const LONG: &str = "32 hex digits, as in all rows";

/// Lines of files, one after the other.
pub struct Lines<'f> {
    files: std::slice::Iter<'f, PathBuf>,
    current: Option<(&'f Path, Box<dyn std::io::BufRead + Send>)>,
    line: Vec<u8>,
    number: u64,
    offset: u64,
    /// Whether a row has been read and not been taken.
    held: bool,
}

impl<'f> Lines<'f> {
    /// Opens files that are read one after the other, and says how many bits their fingerprints have: the first row tells for all.
    pub fn open(files: &'f [PathBuf]) -> Result<(u32, Self)> {
        let files = files.iter();
        let mut lines = Self { files, current: None, line: Vec::new(), number: 0, offset: 0, held: false };
        let digits =
            lines.next_row()?.and_then(|row| row.split(|byte| *byte == b'\t').nth(1)).map(<[u8]>::len);
        Ok((if digits == Some(32) { 128 } else { 64 }, lines))
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

    /// Hands id and fingerprint of each row to `visit`.
    pub fn each<F: Fingerprint>(mut self, mut visit: impl FnMut(&[u8], F) -> Result<()>) -> Result<()> {
        let expected = if F::BITS == 128 { LONG } else { SHORT };
        while self.held {
            let (id, fingerprint) = decode(&self.line, expected).map_err(|error| {
                let file = self.current.as_ref().map_or(Path::new(""), |(path, _)| path);
                let place =
                    Place { file: name_of(file), line: self.number, offset: self.offset, ..Place::default() };
                Error::Record { stage: STAGE, place, error }
            })?;
            visit(id, fingerprint)?;
            self.held = false;
            self.next_row()?;
        }
        Ok(())
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
