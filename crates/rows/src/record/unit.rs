//! Units of documents, such as their paragraphs, as documents of their own: their ids, and the JSON lines that a chain reads.
//!
//! The id of the third unit of the document `en-05` is `en-05#3`. The last `#` of an id separates the two, whatever the document's id holds,
//! for no number holds one: so two units never have one id, and each id says which unit of which document it is. An answer has ids of units or ids of documents,
//! never both.

use twinsplit_io::error::FieldError;

/// What stands between the document's id and the number of the unit, from 1.
const MARK: u8 = b'#';

/// The id of a unit of a document.
pub fn id(document: &str, number: u64) -> String {
    format!("{document}{}{number}", char::from(MARK))
}

/// The document's id and the number of the unit, out of the unit's id.
pub fn parts(id: &[u8]) -> Result<(&[u8], u64), FieldError> {
    let wrong = || FieldError::new("id", "the id of a unit: that of its document, # and a number from 1", id);
    let mark = memchr::memrchr(MARK, id).ok_or_else(wrong)?;
    let (document, digits) = (&id[..mark], &id[mark + 1..]);
    let is_number =
        digits.first().is_some_and(|first| *first != b'0') && digits.iter().all(u8::is_ascii_digit);
    let number =
        std::str::from_utf8(digits).ok().filter(|_| is_number).and_then(|digits| digits.parse().ok());
    number.filter(|_| !document.is_empty()).map(|number| (document, number)).ok_or_else(wrong)
}

/// Where a unit stands in the text of its document, in characters of Unicode from 0: from `start` up to and without `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Span {
    /// Its first character.
    pub start: u64,
    /// The first one behind it.
    pub end: u64,
}

/// The names of the fields of [`Span`].
pub const SPAN: [&str; 2] = ["start", "end"];

impl Span {
    /// That in the line of a unit.
    pub fn read(line: &[u8]) -> Result<Self, FieldError> {
        serde_json::from_slice(line)
            .map_err(|_| FieldError::new("start", "a unit with the fields start and end", line))
    }
}

/// The line of a unit, written into `out` in place of what is there. `id` and `text` are the names of these fields, `raw` is the text as it
/// stands in a JSON string, and `others` are more fields with their values as JSON.
pub fn write(
    (id, id_value): (&str, &str),
    (text, raw): (&str, &str),
    span: Span,
    others: &[(&str, &str)],
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    out.clear();
    let string = |before: u8, value: &str, out: &mut Vec<u8>| {
        out.push(before);
        serde_json::to_writer(out, value)
    };
    string(b'{', id, out)?;
    string(b':', id_value, out)?;
    string(b',', text, out)?;
    out.extend_from_slice(b":\"");
    out.extend_from_slice(raw.as_bytes());
    out.push(b'"');
    for (name, value) in SPAN.into_iter().zip([span.start, span.end]) {
        out.extend_from_slice(format!(",\"{name}\":{value}").as_bytes());
    }
    for (name, value) in others {
        string(b',', name, out)?;
        out.push(b':');
        out.extend_from_slice(value.as_bytes());
    }
    out.push(b'}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    proptest! {
        #[test]
        fn ids_say_what_they_are_made_of(document in "[#0-9a\\\\x]{1,6}", number in 1_u64.., other in "[#0-9a\\\\x]{1,6}", another in 1_u64..20) {
            let made = id(&document, number);
            prop_assert_eq!(parts(made.as_bytes()), Ok((document.as_bytes(), number)));
            let is_same = (&document, number) == (&other, another);
            prop_assert_eq!(made == id(&other, another), is_same);
            // In the form that answers have, too: escapes hold no mark.
            let mut escaped = Vec::new();
            super::super::id::escape(made.as_bytes(), &mut escaped);
            let (of, found) = parts(&escaped).unwrap();
            prop_assert_eq!((super::super::id::unescape(of), found), (document, number));
        }
    }

    #[test]
    fn what_is_no_id_of_a_unit_is_refused() {
        for wrong in ["", "a", "a#", "#1", "a#0", "a#01", "a#-1", "a#1b", "a#99999999999999999999"] {
            assert!(parts(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_line_has_its_fields() {
        let mut line = Vec::new();
        let span = Span { start: 3, end: 9 };
        write(
            ("i\"d", "a\t#1"),
            ("body", "x\\u00e9\\n"),
            span,
            &[("date", "2024"), ("meta.url", "\"h\"")],
            &mut line,
        )
        .unwrap();
        let read: serde_json::Value = serde_json::from_slice(&line).unwrap();
        let expected =
            json!({"i\"d": "a\t#1", "body": "xé\n", "start": 3, "end": 9, "date": 2024, "meta.url": "h"});
        assert_eq!(read, expected);
        assert_eq!(Span::read(&line), Ok(span));
        assert!(Span::read(b"{\"start\":1}").is_err());
    }
}
