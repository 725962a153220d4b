//! WARC files of a crawl (ISO 28500, versions 0.17 to 1.1), and WET files, which hold the text of pages already.
//!
//! A file is records, one after the other: a line `WARC/1.0`, named fields, an empty line, as many bytes as `Content-Length` says, two line
//! ends. Most files are gzip, a member a record. Documents are the pages among them: a `response` of HTTP with status 200 that is HTML or
//! plain text, a `resource` of such a type, or a `conversion`. All others, such as requests, images and redirects, are passed over and
//! counted. A file that ends in the midst of a record is an error, and not the end of it.

mod http;

use super::html::Markup;
use super::input::Input;
use super::{Decoding, Encoding, FieldNames, Fields, Found, Source, SourceOpts, refuse, too_long};
use http::{Payload, header};
use std::borrow::Cow;
use std::io::{self, BufRead, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_io::{MaxLine, read_rest};

/// The records of one file.
pub struct Warc {
    reader: Box<dyn BufRead + Send>,
    path: PathBuf,
    read: Arc<AtomicU64>,
    /// The field that is the id.
    id: String,
    names: FieldNames,
    encoding: Option<Encoding>,
    markup: Markup,
    bound: MaxLine,
    passed_over: u64,
    /// Where the record stands that was read last, and what is read next.
    place: Place,
    here: Place,
    /// The record, and how much of it is fields.
    raw: Vec<u8>,
    fields: usize,
    json: Vec<u8>,
}

/// The longest part of a record before its content.
const MOST_FIELDS: u64 = 1 << 20;

/// RecordType a record is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordType {
    /// An answer of HTTP.
    Response,
    /// Content as it is, which says its type.
    Resource,
    /// Text that was made of a page.
    Conversion,
}

impl RecordType {
    fn of(fields: &[u8]) -> Option<Self> {
        match header(fields, "WARC-Type")? {
            b"response" => Some(Self::Response),
            b"resource" => Some(Self::Resource),
            b"conversion" => Some(Self::Conversion),
            _ => None,
        }
    }
}

impl Warc {
    /// Opens a file.
    pub fn open(opts: &SourceOpts, input: Input) -> Result<Self> {
        let given = [
            ("--text", !opts.text.is_empty()),
            ("--date", opts.date.is_some()),
            ("--score", opts.score.is_some()),
        ];
        refuse(&given, "with --format warc the text is that of the page, and the date that of the record")?;
        input.refuse_other_kinds("WARC", "documents.warc", |head| head.starts_with(b"WARC/"))?;
        let place = input.place();
        Ok(Self {
            reader: input.opened.reader,
            path: input.path,
            read: input.read,
            names: opts.names.clone(),
            id: opts.id.clone().unwrap_or_else(|| "WARC-Record-ID".to_owned()),
            encoding: opts.encoding,
            markup: Markup::of(opts),
            bound: opts.max_line,
            passed_over: 0,
            here: place.clone(),
            place,
            raw: Vec::new(),
            fields: 0,
            json: Vec::new(),
        })
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
            return Err(self.broken("has more than a megabyte of fields; the file is damaged, or no WARC"));
        }
        self.here.offset += (self.raw.len() - before) as u64;
        self.here.line += 1;
        Ok(self.raw.len() > before)
    }

    /// Reads the next record that may be a page; nothing at the end.
    fn record(&mut self) -> Result<Option<RecordType>> {
        loop {
            self.raw.clear();
            self.place.clone_from(&self.here);
            self.place.line += 1;
            if !self.line()? {
                return Ok(None);
            }
            if self.raw.trim_ascii().is_empty() {
                continue;
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
            self.fields = self.raw.len();
            let length = header(&self.raw, "Content-Length")
                .and_then(|length| std::str::from_utf8(length).ok()?.parse().ok());
            let length: u64 =
                length.ok_or_else(|| self.broken("says no Content-Length; the file is damaged"))?;
            let what = RecordType::of(&self.raw);
            if let Some(what) = what.filter(|what| *what != RecordType::Response || is_page(&self.raw)) {
                self.content(length)?;
                return Ok(Some(what));
            }
            self.pass(length)?;
        }
    }

    /// Reads so many bytes of content.
    fn content(&mut self, length: u64) -> Result<()> {
        if length > self.bound.bytes() {
            return Err(too_long(&self.place, "record", self.bound));
        }
        let taken = (&mut self.reader)
            .take(length)
            .read_to_end(&mut self.raw)
            .map_err(Error::io("read", &self.path))?;
        let lines = memchr::memchr_iter(b'\n', &self.raw[self.fields..]).count() as u64;
        self.count(lines, taken as u64, length)
    }

    /// Passes over so many bytes of content.
    fn pass(&mut self, length: u64) -> Result<()> {
        self.passed_over += 1;
        let mut lines = LineCounter(0);
        let passed = io::copy(&mut (&mut self.reader).take(length), &mut lines)
            .map_err(Error::io("read", &self.path))?;
        self.count(lines.0, passed, length)
    }

    /// Takes note of content of so many lines that was read, of which there should be so much.
    fn count(&mut self, lines: u64, read: u64, length: u64) -> Result<()> {
        self.here.offset += read;
        self.here.line += lines;
        match read == length {
            true => Ok(()),
            false => Err(self.broken("ends in its content; the file is cut off")),
        }
    }

    /// The text of the record, how its bytes became characters and whether more of it stands in templates; nothing where it is no page.
    fn text(&self, what: RecordType) -> Result<Option<(Cow<'_, str>, Decoding, bool)>, FieldError> {
        let (fields, content) = self.raw.split_at(self.fields);
        let payload = match what {
            RecordType::Conversion => {
                let text = self.encoding.unwrap_or_default().decode(content)?;
                return Ok(Some((text, Decoding::default(), false)));
            }
            RecordType::Resource => Payload::of(header(fields, "Content-Type"), Cow::Borrowed(content)),
            RecordType::Response => Payload::of_response(content, self.bound.bytes())?,
        };
        let Some(Payload { body, said, is_html }) = payload else { return Ok(None) };
        let said = self.encoding.or_else(|| said.and_then(Encoding::of_content_type));
        let (page, decoding) = Encoding::decode_page(&body, said)?;
        let page = Cow::Owned(page.into_owned());
        let (text, in_templates) = if is_html { self.markup.text(page) } else { (page, false) };
        Ok(Some((text, decoding, in_templates)))
    }

    /// A field of the record, without the brackets of an address.
    fn field(&self, name: &str) -> Option<&str> {
        let value = std::str::from_utf8(header(&self.raw[..self.fields], name)?).ok()?;
        Some(value.strip_prefix('<').and_then(|value| value.strip_suffix('>')).unwrap_or(value))
    }
}

/// Counts the ends of lines, and forgets what it is given.
struct LineCounter(u64);

impl io::Write for LineCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += memchr::memchr_iter(b'\n', bytes).count() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a record of a response is one of HTTP.
fn is_page(fields: &[u8]) -> bool {
    header(fields, "Content-Type").is_none_or(|kind| kind.starts_with(b"application/http"))
}

impl Source for Warc {
    fn next_document(&mut self) -> Result<Option<Found<'_>>> {
        let (made, decoding, in_templates) = loop {
            let Some(what) = self.record()? else { return Ok(None) };
            let (mut json, mut decoding, mut in_templates) =
                (std::mem::take(&mut self.json), Decoding::default(), false);
            let made = match self.text(what) {
                Ok(Some((text, how, templates))) => {
                    (decoding, in_templates) = (how, templates);
                    match self.field(&self.id).filter(|id| !id.is_empty()) {
                        Some(id) => {
                            let (id, url) = (Cow::Borrowed(id), self.field("WARC-Target-URI"));
                            Fields { id, url, date: self.field("WARC-Date"), text }
                                .write(&self.names, &mut json)?;
                            Some(Ok(()))
                        }
                        None => Some(Err(FieldError::missing(
                            "id",
                            "a field of the record, the one that --id names",
                        ))),
                    }
                }
                Ok(None) => None,
                Err(error) => Some(Err(error)),
            };
            self.json = json;
            match made {
                Some(made) => break (made, decoding, in_templates),
                None => self.passed_over += 1,
            }
        };
        let (place, raw) = (&self.place, self.raw.as_slice());
        let line = made.map(|()| self.json.as_slice());
        Ok(Some(Found { place, raw, line, decoding, in_templates }))
    }

    fn raw_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    fn passed_over(&self) -> u64 {
        self.passed_over
    }
}

#[cfg(test)]
mod tests;
