//! Reuters-21578: elements REUTERS with attributes, of which NEWID is the id, and in TEXT a TITLE and a BODY.
//!
//! The files are SGML, so `&lt;` and its like are characters. The news came over a wire whose control characters stand as `&#3;`; these
//! are left out.

use super::fields::{Closed, Names, closed, marks};
use crate::Fields;
use std::borrow::Cow;
use twinsplit_io::error::{FieldError, Place};

const AN_ID: &str = "an attribute NEWID of the element REUTERS, or the one that --id names";
const A_TEXT: &str = "a TEXT element, or those that --text names";

/// The fields of a document, from its `<REUTERS …>` to its `</REUTERS>`.
pub fn fields<'a>(names: &Names, document: &'a str, place: &Place) -> Result<Fields<'a>, FieldError> {
    let (mark, inside) = document.split_at(memchr::memchr(b'>', document.as_bytes()).unwrap_or(0));
    let id = match names.id.as_str() {
        "auto" => Cow::Owned(format!("{}@{}", place.file, place.offset)),
        name => attribute(mark, name).map(Cow::Borrowed).ok_or_else(|| FieldError::missing("id", AN_ID))?,
    };
    if id.is_empty() {
        return Err(FieldError::new("id", AN_ID, b""));
    }
    let text = if names.text.is_empty() { text(inside)? } else { names.texts(inside)?.into_owned() };
    let date = find(inside, "DATE", "date")?.and_then(|date| moment(date.content.trim_ascii()));
    Ok(Fields { id, url: None, date: date.map(Cow::Owned), text: Cow::Owned(characters(&text)) })
}

/// An attribute of a mark such as `<REUTERS NEWID="1">`.
fn attribute<'a>(mark: &'a str, name: &str) -> Option<&'a str> {
    mark.split('"').collect::<Vec<_>>().chunks_exact(2).find_map(|pair| {
        let named = pair[0].trim_ascii_end().strip_suffix('=')?.trim_ascii_end();
        let last = named.rsplit(|c: char| c.is_ascii_whitespace()).next()?;
        last.eq_ignore_ascii_case(name).then(|| pair[1].trim_ascii())
    })
}

fn find<'a>(text: &'a str, name: &str, field: &'static str) -> Result<Option<Closed<'a>>, FieldError> {
    marks::element(text, name).map(|element| closed(element, text, field)).transpose()
}

/// Title and body, or all of a text that has no body, without its marks.
fn text(inside: &str) -> Result<String, FieldError> {
    let text = find(inside, "TEXT", "text")?.ok_or_else(|| FieldError::missing("text", A_TEXT))?.content;
    let title = find(text, "TITLE", "text")?.map(|title| title.content.trim_ascii());
    if let Some(body) = find(text, "BODY", "text")? {
        let body = body.content.trim_ascii();
        return Ok(title.map_or_else(|| body.to_owned(), |title| format!("{title}\n{body}")));
    }
    // Less-than signs of the text are entities.
    let parts = text.split('<').enumerate().filter_map(|(at, part)| match at {
        0 => Some(part),
        _ => part.split_once('>').map(|(_, behind)| behind),
    });
    Ok(parts.collect())
}

/// The text with characters instead of entities, and without control characters of the wire.
fn characters(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = rest.get(1..).and_then(|rest| rest.split_once(';')).map(|(entity, _)| entity);
        let Some((entity, shown)) = entity.and_then(|entity| Some((entity, character(entity)?))) else {
            out.push('&');
            rest = &rest[1..];
            continue;
        };
        out.extend(shown);
        rest = &rest[entity.len() + 2..];
    }
    out.push_str(rest);
    out.trim_ascii().to_owned()
}

/// What an entity stands for, which is nothing for control characters; nothing at all where it is none.
fn character(entity: &str) -> Option<Option<char>> {
    let found = match entity {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        _ => char::from_u32(entity.strip_prefix('#')?.parse().ok()?)?,
    };
    Some(Some(found).filter(|found| !found.is_control() || found.is_whitespace()))
}

/// A date such as `26-FEB-1987 15:01:01.79` in the order of ISO 8601; nothing where it is another.
fn moment(date: &str) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
    let (day, time) = date.split_once(' ')?;
    let mut parts = day.splitn(3, '-');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? + 1;
    let day: u8 = day.parse().ok()?;
    let found = format!("{year}-{month:02}-{day:02}T{}", time.trim_ascii());
    found.parse::<twinsplit_core::cluster::keep::Date>().ok().map(|_| found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_characters() {
        for (text, shown) in [
            ("a &lt;b> &amp;lt; &#3;c &#127;&#65;", "a <b> &lt; c A"),
            ("&#2;\nx\n&#3;", "x"),
            ("R&D; AT&T &unknown; &#xx; &", "R&D; AT&T &unknown; &#xx; &"),
            ("&#9999999999; &#10;y", "&#9999999999; \ny"),
        ] {
            assert_eq!(characters(text), shown, "{text}");
        }
    }

    #[test]
    fn dates_are_those_of_the_standard() {
        assert_eq!(moment("26-FEB-1987 15:01:01.79").as_deref(), Some("1987-02-26T15:01:01.79"));
        assert_eq!(moment("1-mar-1987 09:22:57.75").as_deref(), Some("1987-03-01T09:22:57.75"));
        for wrong in
            ["", "26-FEB-1987", "99-FEB-1987 15:01:01.79", "26-FOO-1987 15:01:01", "yesterday at-noon-x"]
        {
            assert_eq!(moment(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_attribute_is_one_by_its_whole_name() {
        let mark = "<REUTERS TOPICS=\"YES\" OLDID = \"5544\" NEWID=\"1\"";
        for (name, value) in [("NEWID", Some("1")), ("oldid", Some("5544")), ("ID", None), ("YES", None)] {
            assert_eq!(attribute(mark, name), value, "{name}");
        }
    }
}
