//! TREC collections: many documents a file, each from `<DOC>` to `</DOC>`, in what looks like SGML and is not quite.
//!
//! ```text
//! <DOC>                              <DOC>
//! <DOCNO> FT911-3 </DOCNO>           <DOCNO>WTX001-B01-1</DOCNO>
//! <HEADLINE> … </HEADLINE>           <DOCHDR>
//! <TEXT>                             http://www.example.org/ 192.0.2.1 19970101
//! …                                  </DOCHDR>
//! </TEXT>                            <html> … </html>
//! </DOC>                             </DOC>
//! ```
//!
//! The left one is of the news collections, the right one of the web collections (WT10g, GOV2), whose text is a page as it was
//! fetched. Pages have stray `<` and `&`, so no parser of SGML or XML would read them: only the marks are looked for. Of a page that is
//! HTML, as it is where its header names no other type, the text is taken, by the encoding that header or page say.
//!
//! A document begins with `<DOC>` at the beginning of a line and ends with the first `</DOC>`. What stands between documents, and
//! what begins and does not end before the next one, is a bad document, so that nothing is lost in silence.

//!
//! Reuters-21578 ([`reuters`]) has elements REUTERS in the place of DOC, behind a line that names their type.

mod fields;
mod reuters;

use super::input::Input;
use super::{Decoding, Encoding, FieldNames, Fields, Found, Source, SourceOpts, refuse};
use fields::{Names, content_type, marks};
use std::borrow::Cow;
use std::io::BufRead;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_io::{MaxLine, read_rest};

/// The documents of one file.
pub struct Trec {
    reader: Box<dyn BufRead + Send>,
    path: PathBuf,
    read: Arc<AtomicU64>,
    element: Element,
    names: Names,
    field_names: FieldNames,
    encoding: Option<Encoding>,
    bound: MaxLine,
    /// The line that is being read, its end included, and how much of it belongs to documents before.
    line: Vec<u8>,
    at: usize,
    /// Where that rest stands.
    here: Place,
    /// The document, and where it begins.
    raw: Vec<u8>,
    place: Place,
    /// What is made of it.
    json: Vec<u8>,
}

/// A document in characters: by the encoding that was asked for, or a page by its own, or as UTF-8.
fn characters(document: &[u8], asked: Option<Encoding>) -> Result<(Cow<'_, str>, Decoding), FieldError> {
    match (asked, marks::end(document, "DOCHDR")) {
        (None, Some((_, end))) => {
            let (header, page) = document.split_at(end);
            let said = content_type(header).and_then(Encoding::of_content_type);
            // What is behind the header is a page, and the header is named by nothing but its own bytes.
            let (header, _) = Encoding::decode_page(header, None, None)?;
            let (page, decoding) = Encoding::decode_page(page.trim_ascii_start(), None, said)?;
            Ok((Cow::Owned(header.into_owned() + &page), decoding))
        }
        _ => asked.unwrap_or_default().decode(document).map(|text| (text, Decoding::default())),
    }
}

/// The elements that are documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// DOC, of TREC.
    Doc,
    /// REUTERS, of Reuters-21578.
    Reuters,
}

impl Element {
    fn name(self) -> &'static str {
        match self {
            Self::Doc => "DOC",
            Self::Reuters => "REUTERS",
        }
    }

    fn fields<'a>(self, names: &Names, document: &'a str, place: &Place) -> Result<Fields<'a>, FieldError> {
        match self {
            Self::Doc => names.fields(document, place),
            Self::Reuters => reuters::fields(names, document, place),
        }
    }

    /// What is expected of a piece that is no document.
    fn expected(self, piece: Piece) -> Option<&'static str> {
        match (piece, self) {
            (Piece::Document, _) => None,
            (Piece::Unclosed, Self::Doc) => {
                Some("</DOC> before the next <DOC> and before the end of the file")
            }
            (Piece::Stray, Self::Doc) => Some("<DOC> at the beginning of a line"),
            (Piece::Unclosed, Self::Reuters) => {
                Some("</REUTERS> before the next <REUTERS> and before the end of the file")
            }
            (Piece::Stray, Self::Reuters) => Some("<REUTERS> at the beginning of a line"),
        }
    }

    /// Whether a line says of which type the file is, and is no document.
    fn is_type(self, line: &[u8]) -> bool {
        self == Self::Reuters
            && line.get(..9).is_some_and(|start| start.eq_ignore_ascii_case(b"<!DOCTYPE"))
            && line.trim_ascii_end().ends_with(b">")
    }
}

/// What ends a piece of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// From `<DOC>` to `</DOC>`.
    Document,
    /// From `<DOC>` to the next one or to the end of the file.
    Unclosed,
    /// What stands between documents.
    Stray,
}

impl Trec {
    /// Opens a file.
    pub fn open(opts: &SourceOpts, input: Input, element: Element) -> Result<Self> {
        refuse(&[("--score", opts.score.is_some())], "of such elements none holds a score")?;
        let id = match element {
            Element::Doc => {
                input.refuse_other_kinds("TREC", "documents.trec", |_| false)?;
                "DOCNO"
            }
            Element::Reuters => {
                refuse(&[("--date", opts.date.is_some())], "with --format reuters the date is that of DATE")?;
                input.refuse_other_kinds("Reuters-21578", "documents.sgm", |_| false)?;
                "NEWID"
            }
        };
        Ok(Self {
            element,
            here: input.place(),
            reader: input.opened.reader,
            path: input.path,
            read: input.read,
            names: Names::of(opts, id),
            field_names: opts.names.clone(),
            encoding: opts.encoding,
            bound: opts.max_line,
            line: Vec::new(),
            at: 0,
            raw: Vec::new(),
            place: Place::default(),
            json: Vec::new(),
        })
    }

    /// Reads up to the end of the next piece.
    fn piece(&mut self) -> Result<Option<Piece>> {
        self.raw.clear();
        let mut inside = false;
        loop {
            if self.at == self.line.len() && !self.next_line()? {
                let is_empty = self.raw.is_empty();
                return Ok((!is_empty).then_some(if inside { Piece::Unclosed } else { Piece::Stray }));
            }
            let rest = &self.line[self.at..];
            let blank = rest.len() - rest.trim_ascii_start().len();
            if marks::begins(&rest[blank..], self.element.name()) {
                // A document is left to the next call where something else must be given first.
                match (inside, self.raw.is_empty()) {
                    (true, _) => return Ok(Some(Piece::Unclosed)),
                    (false, false) => return Ok(Some(Piece::Stray)),
                    (false, true) => {}
                }
                self.pass(blank);
                self.place.clone_from(&self.here);
                inside = true;
            } else if self.raw.is_empty() {
                let is_blank = blank == rest.len();
                if is_blank || self.element.is_type(&rest[blank..]) {
                    self.pass(rest.len());
                    continue;
                }
                self.pass(blank);
                self.place.clone_from(&self.here);
            }
            let rest = &self.line[self.at..];
            let end = if inside { marks::end(rest, self.element.name()).map(|(_, end)| end) } else { None };
            let taken = end.unwrap_or(rest.len());
            self.raw.extend_from_slice(&rest[..taken]);
            self.pass(taken);
            if self.raw.len() as u64 > self.bound.bytes() {
                return Err(self.too_long());
            }
            if end.is_some() {
                return Ok(Some(Piece::Document));
            }
        }
    }

    /// So much of the line is done.
    fn pass(&mut self, bytes: usize) {
        self.at += bytes;
        self.here.offset += bytes as u64;
    }

    /// Reads the next line; false at the end of the file.
    fn next_line(&mut self) -> Result<bool> {
        self.line.clear();
        self.at = 0;
        self.here.line += 1;
        let before = self.raw.len() as u64;
        let is_whole = read_rest(&mut *self.reader, &mut self.line, before, self.bound)
            .map_err(Error::io("read", &self.path))?;
        if !is_whole {
            if self.raw.is_empty() {
                self.place.clone_from(&self.here);
            }
            return Err(self.too_long());
        }
        if self.here.line == 1 && self.line.starts_with("\u{feff}".as_bytes()) {
            self.pass("\u{feff}".len());
        }
        Ok(!self.line.is_empty())
    }

    fn too_long(&self) -> Error {
        let (place, bound) = (&self.place, self.bound);
        Error::Limit(format!(
            "{place}: the document that begins here is longer than {bound}; if it is one, let it in with --max-line"
        ))
    }
}

impl Source for Trec {
    fn next_document(&mut self) -> Result<Option<Found<'_>>> {
        let Some(piece) = self.piece()? else { return Ok(None) };
        let expected = self.element.expected(piece);
        let (raw, place) = (&self.raw, &self.place);
        let mut decoding = Decoding::default();
        let line = match expected {
            Some(expected) => Err(FieldError::new("document", expected, raw)),
            None => match characters(raw, self.encoding) {
                Ok((text, how)) => match self.element.fields(&self.names, &text, place) {
                    Ok(fields) => {
                        decoding = how;
                        fields.write(&self.field_names, &mut self.json)?;
                        Ok(self.json.as_slice())
                    }
                    Err(error) => Err(error),
                },
                Err(error) => Err(error),
            },
        };
        Ok(Some(Found { place, raw, line, decoding, in_templates: false }))
    }

    fn raw_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
