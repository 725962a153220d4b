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

mod arrow;
pub mod cells;
mod csv;
mod detect;
mod encoding;
mod guard;
mod html;
mod input;
mod json;
mod json_lines;
mod parquet;
mod place_ids;
mod plain;
mod subset;
mod trec;
mod units;
mod warc;

use crate::arrow::Arrow;
use crate::csv::Csv;
use crate::parquet::Parquet;
use html::Html;
use input::Input;
use json::Json;
use json_lines::JsonLines;
use place_ids::WithPlaceIds;
use plain::Plain;
use serde::Serializer as _;
use serde::ser::SerializeMap as _;
use std::borrow::Cow;
use std::path::Path;
use trec::{Element, Trec};
use twinsplit_io::MaxLine;
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_rows::bad_records::MostBad;
use twinsplit_rows::record::document::{DocumentOpts, FieldPath, IdField, TextFields};
use warc::{Form, Warc};

pub use detect::ENDINGS;
pub use encoding::{Decoding, Encoding};
pub use place_ids::PlaceIds;
pub use subset::{Annotates, Keeps};
pub use units::{Divided, UnitOpts};

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

/// What the line of a document holds when its format has no fields that are kept.
#[derive(Debug, PartialEq, Eq)]
pub struct Fields<'a> {
    /// The id, not empty.
    pub id: Cow<'a, str>,
    /// The address of a web page.
    pub url: Option<&'a str>,
    /// The date, as it stands in the document, or in the order of ISO 8601.
    pub date: Option<Cow<'a, str>>,
    /// The text; it may be empty.
    pub text: Cow<'a, str>,
}

/// The names that the fields of such a document get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldNames {
    /// Of the id; nothing where the line is to have none.
    pub id: Option<String>,
    /// Of the text.
    pub text: String,
}

impl Default for FieldNames {
    fn default() -> Self {
        Self { id: Some("id".to_owned()), text: "text".to_owned() }
    }
}

impl Fields<'_> {
    /// Writes the line into `out` in place of what is there.
    fn write(&self, names: &FieldNames, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        self.serialize(names, out).map_err(not_written)
    }

    fn serialize(&self, names: &FieldNames, out: &mut Vec<u8>) -> serde_json::Result<()> {
        let mut writer = serde_json::Serializer::new(out);
        let mut line = writer.serialize_map(None)?;
        if let Some(id) = &names.id {
            line.serialize_entry(id, &self.id)?;
        }
        for (name, value) in [("url", self.url), ("date", self.date.as_deref())] {
            if let Some(value) = value {
                line.serialize_entry(name, value)?;
            }
        }
        line.serialize_entry(&names.text, &self.text)?;
        line.end()
    }
}

/// What is written is memory, and strings are what JSON has.
fn not_written(error: serde_json::Error) -> Error {
    Error::io("write", "documents")(error.into())
}

/// The error about a document that is longer than it may be; `what` says what it is.
fn too_long(place: &Place, what: &str, bound: MaxLine) -> Error {
    Error::Limit(format!("{place}: the {what} is longer than {bound}; let it in with --max-line"))
}

/// A row of a table that is made into a JSON object.
fn found_row<'a>(
    opts: &DocumentOpts,
    place: &'a Place,
    raw: &'a [u8],
    bound: MaxLine,
) -> Result<Option<Found<'a>>> {
    if raw.len() as u64 > bound.bytes() {
        return Err(too_long(place, "row", bound));
    }
    let line = opts.read(raw, place).map(|_| raw);
    Ok(Some(Found { place, raw, line, decoding: Decoding::default(), in_templates: false }))
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
        /// Of each file the one that its first bytes say, or else the end of its name: docs/formats.md has the rule
        Auto = "auto",
        /// JSON lines: they are checked, and keep all their fields
        Jsonl = "jsonl",
        /// JSON arrays of objects, or objects over several lines: they are checked, and keep all their fields
        Json = "json",
        /// TREC: elements DOC with a DOCNO and a TEXT, or with a DOCHDR and a web page behind it
        Trec = "trec",
        /// Reuters-21578: elements REUTERS with a NEWID, a TITLE and a BODY
        Reuters = "reuters",
        /// Pages of HTML, one a file: the id is the file's name, the text that of the page
        Html = "html",
        /// A table with a first row of names, a row a document: cells parted by commas, semicolons or bars, quoted or not
        Csv = "csv",
        /// The same with cells parted by tabs
        Tsv = "tsv",
        /// Parquet, a row a document, with all its columns
        Parquet = "parquet",
        /// Arrow, files and streams, and Feather of version 2: a row a document, with all its columns
        Arrow = "arrow",
        /// Plain text, a file a document: the id is the file's name
        Text = "text",
        /// Plain text, a line a document: the id is the file's name and the line's offset
        Lines = "lines",
        /// Crawls: the pages of HTML and plain text in WARC files, and the texts of WET files; the id is that of the record
        Warc = "warc",
        /// Crawls in ARC files, which came before WARC; the id is the date and the address of the page
        Arc = "arc",
    }
}

twinsplit_core::choice! {
    /// What of a web page is its text.
    #[derive(Default)]
    pub enum HtmlText {
        /// All that a browser shows without style sheets and scripts
        Visible = "visible"; default,
        /// The main content: an article without menus, notices and links to others, or what a page of another kind is there for
        Article = "article",
    }
}

/// How documents are found in files.
#[derive(Clone, Debug)]
pub struct SourceOpts {
    /// The format of the files
    pub format: Format,
    /// What holds the id: a field of jsonl and json, a column of csv, tsv, parquet and arrow, an element of trec, a field of the record of warc. `auto` makes ids of the
    /// form FILE@OFFSET for trec, and asks for none where documents keep their fields; nothing for the usual one
    pub id: Option<String>,
    /// What holds the text: fields of jsonl and json, columns of csv, tsv, parquet and arrow, elements of trec; nothing for the usual ones
    pub text: Vec<String>,
    /// What holds the date, if anything does
    pub date: Option<String>,
    /// The field or column that holds the score, if one does: cells of a table become numbers
    pub score: Option<String>,
    /// Ids that are made of places, for every document of every format, if these are wanted
    pub place_ids: Option<PlaceIds>,
    /// Under which names documents without fields of their own get their id and text
    pub names: FieldNames,
    /// Join the columns of a table that hold the text into one more, called text
    pub joins_columns: bool,
    /// The fields and columns that are needed, by names or paths, where others may be left out of the lines; nothing for all
    pub fields_needed: Option<Vec<String>>,
    /// The encoding of the files by a name of the WHATWG Encoding Standard, such as latin1, gb18030 or shift_jis; bytes
    /// that are not of it are errors; nothing for UTF-8, or what a web page says
    pub encoding: Option<Encoding>,
    /// What of a web page is its text
    pub html: HtmlText,
    /// Leave web pages as they are, and do not make text of their HTML
    pub keep_markup: bool,
    /// Take the templates in scripts of web pages, such as text/x-handlebars-template, for text: there are pages that have
    /// most of theirs in them, and more that have names of variables
    pub script_templates: bool,
    /// Put an empty line between the blocks of a web page, so that each is a paragraph
    pub blocks_apart: bool,
    /// How many documents that cannot be read may pass
    pub bad_records: MostBad,
    /// The longest document that is accepted: megabytes, or a number with the suffix B, K, M or G
    pub max_line: MaxLine,
}

impl Format {
    /// Whether files of this format can hold web pages.
    pub fn has_pages(self) -> bool {
        matches!(self, Self::Auto | Self::Html | Self::Trec | Self::Warc | Self::Arc)
    }

    /// Whether a document keeps the fields that its file has, under their names.
    pub fn keeps_fields(self) -> bool {
        matches!(self, Self::Jsonl | Self::Json | Self::Csv | Self::Tsv | Self::Parquet | Self::Arrow)
    }

    /// Whether a document has elements, which options may name.
    pub fn has_elements(self) -> bool {
        matches!(self, Self::Trec | Self::Reuters)
    }
}

/// Whether a name is that of an element of TREC, in capital letters, and not of a field of other formats as they usually are.
pub fn is_element(name: &str) -> bool {
    name.bytes().any(|byte| byte.is_ascii_uppercase()) && !name.bytes().any(|byte| byte.is_ascii_lowercase())
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
            place_ids: None,
            names: FieldNames::default(),
            joins_columns: true,
            fields_needed: None,
            encoding: None,
            html: HtmlText::Visible,
            keep_markup: false,
            script_templates: false,
            blocks_apart: false,
            bad_records: MostBad(0),
            max_line: MaxLine::default(),
        }
    }

    /// Opens a file (`-` is standard input), which is the input of this number, counted from 0. Its compression is recognised by its
    /// content.
    pub fn open(&self, path: &Path, number: u32) -> Result<Box<dyn Source>> {
        let input = Input::open(path, number)?;
        let format = self.format_of(&input.head, path);
        let opts = &self.of_one(format);
        let source: Box<dyn Source> = match format {
            Format::Auto | Format::Jsonl => Box::new(JsonLines::open(opts, input)?),
            Format::Json => Box::new(Json::open(opts, input)?),
            Format::Trec => Box::new(Trec::open(opts, input, Element::Doc)?),
            Format::Reuters => Box::new(Trec::open(opts, input, Element::Reuters)?),
            Format::Html => Box::new(Html::open(opts, input)?),
            Format::Csv => Box::new(Csv::open(opts, input, false)?),
            Format::Tsv => Box::new(Csv::open(opts, input, true)?),
            Format::Parquet => Box::new(Parquet::open(opts, input)?),
            Format::Arrow => Box::new(Arrow::open(opts, input)?),
            Format::Text => Box::new(Plain::open(opts, input, false)?),
            Format::Lines => Box::new(Plain::open(opts, input, true)?),
            Format::Warc => Box::new(Warc::open(opts, input, Form::Warc)?),
            Format::Arc => {
                let form = Form::of_arc(&input.head);
                Box::new(Warc::open(opts, input, form)?)
            }
        };
        Ok(match &self.place_ids {
            Some(ids) => Box::new(WithPlaceIds::new(source, ids.clone(), format == Format::Jsonl)),
            None => source,
        })
    }

    /// The format of a file that begins with these bytes, unpacked.
    fn format_of(&self, head: &[u8], path: &Path) -> Format {
        match self.format {
            Format::Auto => Format::of(head, path),
            given => given,
        }
    }

    /// The options for a file of one format. Where each file has its own, names say something to the formats that have such names, and
    /// others have their usual ones.
    fn of_one(&self, format: Format) -> Self {
        let mut opts = self.clone();
        if self.format == Format::Auto && !format.keeps_fields() {
            // A field of a record has a name that no other format has.
            let is_crawl = matches!(format, Format::Warc | Format::Arc);
            let of_record = |id: &String| is_crawl && id.starts_with("WARC-");
            let has_elements = format.has_elements();
            let element = |name: &String| has_elements && is_element(name);
            let id = opts.id.filter(|id| of_record(id) || element(id));
            let text = if opts.text.iter().all(element) { opts.text } else { Vec::new() };
            opts = Self { id, text, date: None, score: None, ..opts };
        }
        if self.place_ids.is_some() {
            opts.id = format.keeps_fields().then(|| IdField::Auto.name().to_owned());
            opts.names.id = None;
        }
        opts
    }

    /// The same, and lines may lack all fields but those that these options and `more` name: columns of Parquet and Arrow that are not
    /// needed are not decoded.
    #[must_use]
    pub fn needing(self, more: &[String]) -> Self {
        let id = self.id.clone().unwrap_or_else(|| "id".to_owned());
        let usual = self.text.is_empty().then(|| "text".to_owned());
        let is_place = self.place_ids.is_some() || id == IdField::Auto.name();
        let id = (!is_place).then_some(id);
        let named = id.into_iter().chain(self.text.iter().cloned()).chain(usual);
        let named = named.chain(self.date.clone()).chain(self.score.clone());
        Self { fields_needed: Some(named.chain(more.iter().cloned()).collect()), ..self }
    }

    /// The columns that must be decoded, of those of these names. Where one that is named is not among them, all are: the error that
    /// follows lists them.
    fn columns_needed<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> Vec<usize> {
        let is_of = |field: &str, column: &str| {
            field.strip_prefix(column).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let needed = self.fields_needed.as_deref();
        let are_there =
            |needed: &&[String]| needed.iter().all(|field| names.clone().any(|name| is_of(field, name)));
        match needed.filter(are_there) {
            Some(needed) => {
                let is_needed = |name: &str| needed.iter().any(|field| is_of(field, name));
                (0..).zip(names).filter(|(_, name)| is_needed(name)).map(|(at, _)| at).collect()
            }
            None => (0..names.count()).collect(),
        }
    }

    /// How the lines are read that a document with fields becomes.
    fn document(&self) -> Result<DocumentOpts> {
        let field = |name: &Option<String>| name.as_deref().map(FieldPath::new);
        let mut texts = self.text.iter().map(FieldPath::new);
        let first = texts.next().unwrap_or_else(|| FieldPath::new("text"));
        let id = self.id.as_deref().unwrap_or("id").parse().map_err(Error::Usage)?;
        Ok(DocumentOpts {
            id,
            text: TextFields { first, rest: texts.collect() },
            date: field(&self.date),
            score: field(&self.score),
            bad_records: self.bad_records,
            max_line: self.max_line,
        })
    }
}
