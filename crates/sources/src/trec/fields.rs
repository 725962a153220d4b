//! The fields of a TREC document, by the elements that hold them.

use super::super::html::Markup;
use super::super::{Fields, SourceOpts};
use std::borrow::Cow;
use twinsplit_core::cluster::keep::{Date, EXPECTED_DATE};
use twinsplit_io::error::{FieldError, Place};

/// Which elements hold what.
pub struct Names {
    /// `auto` for ids of places.
    pub id: String,
    /// Empty where nothing was asked for.
    pub text: Vec<String>,
    date: Option<String>,
    markup: Markup,
}

const AN_ID: &str = "a DOCNO element that is not empty, or the one that --id names";
const A_TEXT: &str = "a TEXT element, or those that --text names, or a page behind a DOCHDR element";
const AN_END: &str = "the end of the element";

impl Names {
    /// Those that were asked for, with the usual name of the id.
    pub fn of(opts: &SourceOpts, id: &str) -> Self {
        Self {
            id: opts.id.clone().unwrap_or_else(|| id.to_owned()),
            text: opts.text.clone(),
            date: opts.date.clone(),
            markup: Markup::of(opts),
        }
    }

    /// The fields of a document, from its `<DOC>` to its `</DOC>`.
    pub fn fields<'a>(&self, document: &'a str, place: &Place) -> Result<Fields<'a>, FieldError> {
        let inside = inside(document);
        let id = if self.id == "auto" {
            Cow::Owned(format!("{}@{}", place.file, place.offset))
        } else {
            let id = marks::element(inside, &self.id).ok_or_else(|| FieldError::missing("id", AN_ID))?;
            Cow::Borrowed(closed(id, inside, "id")?.content.trim_ascii())
        };
        if id.is_empty() {
            return Err(FieldError::new("id", AN_ID, b""));
        }
        let header = match self.text.is_empty() {
            true => marks::element(inside, "DOCHDR"),
            false => None,
        };
        let header = header.map(|header| closed(header, inside, "text")).transpose()?;
        let url = header.as_ref().and_then(|header| header.content.split_ascii_whitespace().next());
        let text = match &header {
            Some(header) => self.page(header, inside),
            None => self.texts(inside)?,
        };
        Ok(Fields { id, url, date: self.date(inside)?.map(Cow::Borrowed), text })
    }

    /// The page behind its header.
    fn page<'a>(&self, header: &Closed<'_>, inside: &'a str) -> Cow<'a, str> {
        let page = Cow::Borrowed(inside[header.end..].trim_ascii());
        let is_html = content_type(header.content.as_bytes())
            .is_none_or(|name| name.to_ascii_lowercase().windows("html".len()).any(|part| part == b"html"));
        if is_html { self.markup.text(page).0 } else { page }
    }

    /// The elements that hold the text, in the order in which they stand, joined by line ends.
    pub fn texts<'a>(&self, inside: &'a str) -> Result<Cow<'a, str>, FieldError> {
        let default = ["TEXT".to_owned()];
        let names = if self.text.is_empty() { &default[..] } else { &self.text };
        let (mut found, mut rest): (Option<Cow<'a, str>>, _) = (None, inside);
        while let Some(element) = marks::first_of(rest, names) {
            let element = closed(element, rest, "text")?;
            let text = element.content.trim_ascii();
            found = Some(match found {
                None => Cow::Borrowed(text),
                Some(before) => Cow::Owned(before.into_owned() + "\n" + text),
            });
            rest = &rest[element.end..];
        }
        found.ok_or_else(|| FieldError::missing("text", A_TEXT))
    }

    fn date<'a>(&self, inside: &'a str) -> Result<Option<&'a str>, FieldError> {
        let element = self.date.as_ref().and_then(|name| marks::element(inside, name));
        let Some(element) = element else { return Ok(None) };
        let date = closed(element, inside, "date")?.content.trim_ascii();
        if date.is_empty() {
            return Ok(None);
        }
        // What a keep rule could not compare later is wrong here, where its place is known.
        date.parse::<Date>().map_err(|_| FieldError::new("date", EXPECTED_DATE, date.as_bytes()))?;
        Ok(Some(date))
    }
}

/// What the header of a page, as HTTP has it, says of the page's type.
pub fn content_type(header: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"content-type:";
    let named = |line: &&[u8]| {
        line.split_at_checked(NAME.len()).is_some_and(|(name, _)| name.eq_ignore_ascii_case(NAME))
    };
    header.split(|byte| *byte == b'\n').find(named).map(|line| &line[NAME.len()..])
}

/// What stands between `<DOC …>` and `</DOC>`.
fn inside(document: &str) -> &str {
    let start = memchr::memchr(b'>', document.as_bytes()).map_or(document.len(), |end| end + 1);
    let end = document.len() - "</DOC>".len().min(document.len());
    document.get(start..end).unwrap_or_default()
}

/// An element that has its end.
pub struct Closed<'a> {
    /// What stands in it.
    pub content: &'a str,
    /// Where what follows it begins.
    end: usize,
}

/// An element, which must have its end.
pub fn closed<'a>(
    element: marks::Element,
    text: &'a str,
    field: &'static str,
) -> Result<Closed<'a>, FieldError> {
    let wrong = || FieldError::new(field, AN_END, &text.as_bytes()[element.start..]);
    let (until, end) = element.end.ok_or_else(wrong)?;
    Ok(Closed { content: &text[element.content..until], end })
}

/// Marks such as `<TEXT>`, in capitals or not. What is around them need not be SGML. Their bytes are ASCII, so what stands
/// between them is whole in UTF-8.
pub mod marks {
    /// The first element of a name in a text; all are places in that text.
    pub struct Element {
        /// Where its first mark begins.
        pub start: usize,
        /// Where its content begins.
        pub content: usize,
        /// Where its content ends, and where its last mark does; nothing when that is missing.
        pub end: Option<(usize, usize)>,
    }

    /// Whether `text` begins with the mark that begins an element of this name, which may have attributes.
    pub fn begins(text: &[u8], name: &str) -> bool {
        let Some((mark, behind)) = text.split_at_checked(1 + name.len()) else { return false };
        mark[0] == b'<'
            && mark[1..].eq_ignore_ascii_case(name.as_bytes())
            && behind.first().is_some_and(|byte| *byte == b'>' || byte.is_ascii_whitespace())
    }

    /// Where the first mark that ends an element of this name begins and ends.
    pub fn end(text: &[u8], name: &str) -> Option<(usize, usize)> {
        let length = 3 + name.len();
        memchr::memchr_iter(b'<', text).map(|at| (at, at + length)).find(|(at, end)| {
            text.get(at + 1..*end).is_some_and(|mark| {
                mark[0] == b'/'
                    && mark[1..=name.len()].eq_ignore_ascii_case(name.as_bytes())
                    && mark.last() == Some(&b'>')
            })
        })
    }

    /// The first element of this name.
    pub fn element(text: &str, name: &str) -> Option<Element> {
        first_of(text, &[name])
    }

    /// The first element of one of these names.
    pub fn first_of(text: &str, names: &[impl AsRef<str>]) -> Option<Element> {
        let text = text.as_bytes();
        let begun = |at| names.iter().map(AsRef::as_ref).find(|name| begins(&text[at..], name));
        let (start, name) = memchr::memchr_iter(b'<', text).find_map(|at| Some((at, begun(at)?)))?;
        let content = memchr::memchr(b'>', &text[start..]).map_or(text.len(), |end| start + end + 1);
        let end = end(&text[content..], name).map(|(from, to)| (content + from, content + to));
        Some(Element { start, content, end })
    }
}
