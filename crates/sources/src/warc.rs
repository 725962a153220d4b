//! WARC files of a crawl (ISO 28500, versions 0.17 to 1.1), WET files, which hold the text of pages already, and ARC files, which came before.
//!
//! A file is records, one after the other: a line `WARC/1.0`, named fields, an empty line, as many bytes as `Content-Length` says, two line
//! ends. Most files are gzip, a member a record. Documents are the pages among them: a `response` of HTTP with status 200 that is HTML or
//! plain text, a `resource` of such a type, or a `conversion`. All others, such as requests, images and redirects, are passed over and
//! counted. A file that ends in the midst of a record is an error, and not the end of it. ARC ([`arc`]) has no types of records: one whose
//! content begins as an answer of HTTP is a response, and any other one a resource.

mod arc;
mod http;
mod records;

use super::html::Markup;
use super::input::Input;
use super::{Decoding, Encoding, FieldNames, Fields, Found, Source, SourceOpts, refuse};
use http::{Payload, header};
pub use records::{Form, Records};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_io::MaxLine;
use twinsplit_io::error::{FieldError, Result};

/// The records of one file.
pub struct Warc {
    records: Records,
    read: Arc<AtomicU64>,
    /// The field that is the id.
    id: String,
    names: FieldNames,
    encoding: Option<Encoding>,
    markup: Markup,
    bound: MaxLine,
    passed_over: u64,
    /// How much of the record is fields.
    fields: usize,
    json: Vec<u8>,
}

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
    fn of(fields: &[u8], form: Form) -> Option<Self> {
        if form != Form::Warc {
            // What it is shows in its content.
            return (!fields.starts_with(arc::BEGINNING)).then_some(Self::Response);
        }
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
    pub fn open(opts: &SourceOpts, input: Input, form: Form) -> Result<Self> {
        let given = [
            ("--text", !opts.text.is_empty()),
            ("--date", opts.date.is_some()),
            ("--score", opts.score.is_some()),
        ];
        refuse(&given, "of a crawl the text is that of the page, and the date that of the record")?;
        let (beginning, to): (&[u8], _) = match form {
            Form::Warc => (b"WARC/", "documents.warc"),
            Form::Arc(_) => (arc::BEGINNING, "documents.arc"),
        };
        input.refuse_other_kinds(form.name(), to, |head| head.starts_with(beginning))?;
        Ok(Self {
            read: Arc::clone(&input.read),
            records: Records::of(input, form),
            names: opts.names.clone(),
            id: opts.id.clone().unwrap_or_else(|| "WARC-Record-ID".to_owned()),
            encoding: opts.encoding,
            markup: Markup::of(opts),
            bound: opts.max_line,
            passed_over: 0,
            fields: 0,
            json: Vec::new(),
        })
    }

    /// Reads the next record that may be a page; nothing at the end.
    fn record(&mut self) -> Result<Option<RecordType>> {
        while let Some(length) = self.records.head()? {
            let fields = &self.records.raw;
            let form = self.records.form();
            let what = RecordType::of(fields, form);
            if let Some(what) = what.filter(|what| *what != RecordType::Response || is_page(fields, form)) {
                self.fields = fields.len();
                self.records.content(length, self.bound)?;
                return Ok(Some(what));
            }
            self.passed_over += 1;
            self.records.pass(length, &mut |_| Ok(()))?;
        }
        Ok(None)
    }

    /// The text of the record, how its bytes became characters and whether more of it stands in templates; nothing where it is no page.
    fn text(&self, what: RecordType) -> Result<Option<(Cow<'_, str>, Decoding, bool)>, FieldError> {
        let (fields, content) = self.records.raw.split_at(self.fields);
        let form = self.records.form();
        let is_of_http =
            what == RecordType::Response && (form == Form::Warc || content.starts_with(b"HTTP/"));
        let payload = match what {
            RecordType::Conversion => {
                // Such texts are UTF-8.
                let said = Some(Encoding::default());
                let (text, decoding) = Encoding::decode_page(content, self.encoding, said)?;
                return Ok(Some((text, decoding, false)));
            }
            _ if is_of_http => Payload::of_response(content, self.bound.bytes())?,
            _ => Payload::of(form.content_type(fields), Cow::Borrowed(content)),
        };
        let Some(Payload { body, said, is_html }) = payload else { return Ok(None) };
        let said = said.and_then(Encoding::of_content_type);
        let (page, decoding) = Encoding::decode_page(&body, self.encoding, said)?;
        let page = Cow::Owned(page.into_owned());
        let (text, in_templates) = if is_html { self.markup.text(page) } else { (page, false) };
        Ok(Some((text, decoding, in_templates)))
    }

    /// A field of the record, by its name in WARC.
    fn field(&self, name: &str) -> Option<Cow<'_, str>> {
        self.records.form().field(&self.records.raw[..self.fields], name)
    }
}

/// Whether a record of a response is one of HTTP.
fn is_page(fields: &[u8], form: Form) -> bool {
    form != Form::Warc
        || header(fields, "Content-Type").is_none_or(|kind| kind.starts_with(b"application/http"))
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
                            let (url, date) = (self.field("WARC-Target-URI"), self.field("WARC-Date"));
                            Fields { id, url: url.as_deref(), date, text }.write(&self.names, &mut json)?;
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
        let (place, raw) = (&self.records.place, self.records.raw.as_slice());
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
