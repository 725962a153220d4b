//! Documents out of files of several formats.
//!
//! Every engine and every stage reads JSON lines, for lines are what a cluster can cut files into. So a format is added here
//! and nowhere else: a [`Source`] finds the documents of a file, one after the other, and gives each as the JSON line that a
//! chain reads, together with where it stands and its bytes as they were. [`Format`] names all sources and opens files.
//!
//! A source holds one document at a time. A document that cannot be read is no end: the next one may be good, and the
//! caller decides how many may pass ([`twinsplit_rows::bad_records`]). What a source opens is a path, so that formats which are not read
//! from front to back can be sources, too.

#![deny(clippy::print_stderr)]

mod csv;
mod encoding;
mod html;
mod json_lines;
mod plain;
mod trec;
mod warc;

use crate::csv::Csv;
use html::Html;
use json_lines::JsonLines;
use plain::Plain;
use serde::Serialize;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use trec::Trec;
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_io::{Kind, MaxLine, Opened, name_of};
use warc::Warc;

pub use encoding::{Decoding, Encoding};

/// Finds the documents of one file.
pub trait Source {
    /// The next document, or nothing after the last one. Errors are those of the file: it cannot be read, its compressed data are
    /// damaged, or a document is longer than it may be.
    fn next_document(&mut self) -> Result<Option<Found<'_>>>;

    /// How many bytes of the file have been read, as they stand on disk.
    fn raw_bytes(&self) -> u64;

    /// How many parts of the file were no documents, by its format, and were passed over.
    fn passed_over(&self) -> u64 {
        0
    }
}

/// A document that a source has found.
#[derive(Debug)]
pub struct Found<'a> {
    /// Where it begins; lines and bytes are those of the file, uncompressed.
    pub place: &'a Place,
    /// Its bytes, as they stand there.
    pub raw: &'a [u8],
    /// The JSON line that a chain reads, without its end, or what is wrong with the document.
    pub line: Result<&'a [u8], FieldError>,
    /// How its bytes became characters.
    pub decoding: Decoding,
    /// Whether more of a page stands in scripts that are templates, and is left out, than its text has.
    pub in_templates: bool,
}

/// What the line of a document holds when its format is not JSON.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Fields<'a> {
    /// The id, not empty.
    pub id: Cow<'a, str>,
    /// The address of a web page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<&'a str>,
    /// The date, as it stands in the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<&'a str>,
    /// The text; it may be empty.
    pub text: Cow<'a, str>,
}

impl Fields<'_> {
    /// Writes the line into `out` in place of what is there.
    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        // What is written is memory, and strings are what JSON has.
        serde_json::to_writer(out, self).map_err(|error| Error::io("write", "documents")(error.into()))
    }
}

/// Opens a file, and reads its first bytes. One of another kind than these is told what it is, unless they are of this format all the same;
/// `expected` is what it should be, and `to` a name for what a command makes of it.
fn opened(
    path: &Path,
    read: Arc<AtomicU64>,
    (expected, to): (&str, &str),
    is_own: impl FnOnce(&[u8]) -> bool,
) -> Result<(Opened, Vec<u8>)> {
    let mut opened = Opened::to_count(path, read)?;
    let head = opened.head(path)?;
    match Kind::of(&head).filter(|_| !is_own(&head)) {
        Some(kind) => {
            let problem = kind.problem(expected, &name_of(path), opened.packing, to);
            Err(Error::File { path: path.to_owned(), problem })
        }
        None => Ok((opened, head)),
    }
}

/// The error about a document that is longer than it may be; `what` says what it is.
fn too_long(place: &Place, what: &str, bound: MaxLine) -> Error {
    Error::Limit(format!("{place}: the {what} is longer than {bound}; let it in with --max-line"))
}

/// Refuses options that say nothing to a format, and says why.
fn refuse(given: &[(&str, bool)], why: &str) -> Result<()> {
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Error::Usage(format!("{option}: {why}; leave {option} out"))),
        None => Ok(()),
    }
}

twinsplit_core::choice! {
    /// The formats of documents.
    pub enum Format {
        /// JSON lines: they are checked, and keep all their fields
        Jsonl = "jsonl",
        /// TREC: elements DOC with a DOCNO and a TEXT, or with a DOCHDR and a web page behind it
        Trec = "trec",
        /// Pages of HTML, one a file: the id is the file's name, the text that of the page
        Html = "html",
        /// A table with a first row of names, a row a document: cells parted by commas, semicolons or bars, quoted or not
        Csv = "csv",
        /// The same with cells parted by tabs
        Tsv = "tsv",
        /// Plain text, a file a document: the id is the file's name
        Text = "text",
        /// Plain text, a line a document: the id is the file's name and the line's offset
        Lines = "lines",
        /// Crawls: the pages of HTML and plain text in WARC files, and the texts of WET files; the id is that of the record
        Warc = "warc",
    }
}

/// How documents are found in files.
#[derive(Clone, Debug)]
pub struct SourceOpts {
    /// The format of the files
    pub format: Format,
    /// What holds the id: a field of jsonl, a column of csv, an element of trec, a field of the record of warc. `auto` makes ids of the form FILE@OFFSET for trec, and asks
    /// for none in jsonl, whose lines stay as they are; nothing for the usual one
    pub id: Option<String>,
    /// What holds the text: a field of jsonl, columns of csv and elements of trec, which are joined in the order in which they stand; nothing for the usual ones
    pub text: Vec<String>,
    /// What holds the date, if anything does
    pub date: Option<String>,
    /// The column of csv and tsv that holds the score, if one does: its cells become numbers
    pub score: Option<String>,
    /// The encoding of the files by a name of the WHATWG Encoding Standard, such as latin1, gb18030 or shift_jis; bytes
    /// that are not of it are errors; nothing for UTF-8, or what a web page says
    pub encoding: Option<Encoding>,
    /// Leave web pages as they are, and do not make text of their HTML
    pub keep_markup: bool,
    /// Take the templates in scripts of web pages, such as text/x-handlebars-template, for text: there are pages that have
    /// most of theirs in them, and more that have names of variables
    pub script_templates: bool,
    /// Put up to N documents that cannot be read into FILE.quarantine.tsv beside the output, instead of stopping
    pub bad_records: u64,
    /// The longest document that is accepted: megabytes, or a number with the suffix B, K, M or G
    pub max_line: MaxLine,
}

impl Format {
    /// Whether a document keeps the fields that its file has, under their names.
    pub fn keeps_fields(self) -> bool {
        matches!(self, Self::Jsonl | Self::Csv | Self::Tsv)
    }
}

impl SourceOpts {
    /// Those of a format alone.
    pub fn of(format: Format) -> Self {
        Self {
            format,
            id: None,
            text: Vec::new(),
            date: None,
            score: None,
            encoding: None,
            keep_markup: false,
            script_templates: false,
            bad_records: 0,
            max_line: MaxLine::default(),
        }
    }
}

impl SourceOpts {
    /// Opens a file (`-` is standard input), which is the input of this number, counted from 0. Gzip is recognised by its
    /// content.
    pub fn open(&self, path: &Path, number: u32) -> Result<Box<dyn Source>> {
        Ok(match self.format {
            Format::Jsonl => Box::new(JsonLines::open(self, path)?),
            Format::Trec => Box::new(Trec::open(self, path, number)?),
            Format::Html => Box::new(Html::open(self, path, number)?),
            Format::Csv => Box::new(Csv::open(self, path, number, false)?),
            Format::Tsv => Box::new(Csv::open(self, path, number, true)?),
            Format::Text => Box::new(Plain::open(self, path, number, false)?),
            Format::Lines => Box::new(Plain::open(self, path, number, true)?),
            Format::Warc => Box::new(Warc::open(self, path, number)?),
        })
    }
}
