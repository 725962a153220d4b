//! A file again, with some of its documents alone, or with more fields: in its own format and compression.
//!
//! What is written is what was read, without the bytes of the documents that are left out. So a row keeps its quotes, a table its first
//! row, a crawl its other records, and a file of which nothing is left out is the same file but for how it was packed. Five ways
//! do this, by what separates documents: bytes alone ([`spans`]), lines ([`lines`]), records of a crawl ([`records`]), the columns of Parquet
//! ([`columns`]), and the batches of Arrow ([`batches`]). Documents with fields can get more of them, behind those they have
//! ([`SourceOpts::write_annotated`]): JSON lines, tables of text, Parquet and Arrow.

mod added;
mod arrow_schema;
mod batches;
mod columns;
mod lines;
mod records;
mod spans;

use crate::cells::{Cell, Column};
use crate::input::Input;
use crate::warc::Form;
use crate::{Format, Found, SourceOpts};
use added::Added;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use twinsplit_io::error::{Error, Place, Result};

/// Says whether a document is written, by its JSON line, its place, and how many bytes of the file have been read, as they stand on disk.
pub type Keeps<'k> = dyn FnMut(&[u8], &Place, u64) -> Result<bool> + 'k;

/// The same, and gives the cells of the document.
pub type Annotates<'a> = dyn FnMut(&[u8], &Place, u64, &mut Vec<Cell<'static>>) -> Result<bool> + 'a;

impl SourceOpts {
    /// Writes those documents of a file that `keeps` says into another file, as they stand there; those that cannot be read are left out, too. A
    /// file that is one document, such as a page, is written or not; every other one is, even when none of its documents is. `number` is
    /// that of [`SourceOpts::open`].
    ///
    /// # Errors
    /// Those of the file, which is read twice at the same time, so that it is no stream; those of writing; and that arrays of JSON have
    /// no form without some of their elements.
    pub fn write_subset(&self, path: &Path, number: u32, to: &Path, keeps: &mut Keeps<'_>) -> Result<()> {
        self.write_annotated(path, number, to, &[], &mut |line, place, read, _| keeps(line, place, read))
    }

    /// The same with more columns: each document that is written gets the cells that `annotates` gives, behind its own fields.
    ///
    /// # Errors
    /// Those of [`SourceOpts::write_subset`]; that the format has no fields ([`SourceOpts::refuse_no_fields`]); that a document has a
    /// field of such a name; and that a cell has characters that the encoding of the file lacks.
    pub fn write_annotated(
        &self,
        path: &Path,
        number: u32,
        to: &Path,
        columns: &[Column],
        annotates: &mut Annotates<'_>,
    ) -> Result<()> {
        let input = Input::open(path, number)?;
        let (format, read) = (self.format_of(&input.head, path), Arc::clone(&input.read));
        if !columns.is_empty() {
            must_have_fields(format, path)?;
        }
        // Which documents there are is told by the fields that make one.
        let mut source = self.clone().needing(&[]).open(path, number)?;
        let mut takes = |found: &Found<'_>, cells: &mut Vec<Cell<'static>>| match found.line {
            Ok(line) => annotates(line, found.place, read.load(Ordering::Relaxed), cells),
            Err(_) => Ok(false),
        };
        match format {
            Format::Warc => records::write(&mut *source, input, Form::Warc, to, &mut takes),
            Format::Arc => {
                let form = Form::of_arc(&input.head);
                records::write(&mut *source, input, form, to, &mut takes)
            }
            Format::Arrow => batches::write(&mut *source, input, self.max_line, to, columns, &mut takes),
            Format::Parquet => columns::write(&mut *source, path, to, columns, &mut takes),
            Format::Text | Format::Html => match source.next_document()? {
                Some(found) if takes(&found, &mut Vec::new())? => whole(path, to),
                _ => Ok(()),
            },
            Format::Json => Err(Error::File { path: path.to_owned(), problem: NO_ARRAYS.to_owned() }),
            Format::Lines => lines::write(&mut *source, input, self.max_line, to, &mut takes),
            Format::Auto | Format::Jsonl | Format::Trec | Format::Reuters | Format::Csv | Format::Tsv => {
                let added = Added::of(self, format, path, columns)?;
                spans::write(&mut *source, input, to, added.as_ref(), &mut takes)
            }
        }
    }

    /// Refuses a file whose documents have no fields that more could be added to, before anything is made of it.
    ///
    /// # Errors
    /// Says so of the file.
    pub fn refuse_no_fields(&self, path: &Path) -> Result<()> {
        must_have_fields(self.format_by_content(path), path)
    }

    /// Refuses a file that has no form without some of its documents, before anything is made of it.
    pub fn refuse_no_subset(&self, path: &Path) -> Result<()> {
        match self.format_by_content(path) {
            Format::Json => Err(Error::File { path: path.to_owned(), problem: NO_ARRAYS.to_owned() }),
            _ => Ok(()),
        }
    }

    fn format_by_content(&self, path: &Path) -> Format {
        match self.format {
            Format::Auto => Format::of_file(path),
            given => given,
        }
    }
}

/// Refuses a format whose documents have no fields.
fn must_have_fields(format: Format, path: &Path) -> Result<()> {
    match format {
        Format::Jsonl | Format::Csv | Format::Tsv | Format::Parquet | Format::Arrow => Ok(()),
        other => Err(Error::File {
            path: path.to_owned(),
            problem: format!(
                "{} has no fields to which more could be added in its own form; leave --form same out, for one file of JSON lines",
                other.name()
            ),
        }),
    }
}

/// What is said of JSON that is no JSON lines.
const NO_ARRAYS: &str = "JSON that is no JSON lines is not written in its own form; leave =same out, for kept.jsonl, or make JSON lines of it first \
                         with twinsplit convert";

/// Says whether a document is written, and gives the cells that it gets.
type Takes<'t> = dyn FnMut(&Found<'_>, &mut Vec<Cell<'static>>) -> Result<bool> + 't;

/// Copies a file, byte for byte.
fn whole(path: &Path, to: &Path) -> Result<()> {
    let mut file = twinsplit_io::AtomicFile::create(to)?;
    let mut from = std::fs::File::open(path).map_err(Error::io("open", path))?;
    std::io::copy(&mut from, &mut file).map_err(Error::io("write", to))?;
    file.finish()
}

#[cfg(test)]
mod tests;
