//! Documents as they come: JSON lines.

mod fields;

use super::{Record, id};
use serde::Deserializer as _;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use twinsplit_core::cluster::keep::{Date, EXPECTED_DATE, Score};
use twinsplit_io::error::{FieldError, Place};
use twinsplit_io::{Kind, MaxLine};

pub use fields::{field_names, string_field};

/// A document's line, not yet taken apart: its field names are options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a>(pub &'a [u8]);

impl<'a> Record<'a> for Line<'a> {
    const FIELDS: &'static str = "JSON object with id and text";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        Ok(Self(line))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0);
    }
}

twinsplit_core::options! {
    /// How documents are read.
    pub struct DocumentOpts {
        /// Field that holds the id, a string or a number; `auto` makes ids of the form FILE@OFFSET
        pub id: String = "id", "FIELD|auto";
        /// Field that holds the text
        pub text: String = "text", "FIELD";
        /// Field that holds the date for --keep newest: ISO 8601, with or without a time zone, or seconds or
        /// smaller units since 1970 as a number
        pub date: Option<String>, "FIELD";
        /// Field that holds the score, a number, for --keep score
        pub score: Option<String>, "FIELD";
        /// Put up to N lines that are not documents into a quarantine instead of stopping, in all tasks
        /// together
        pub bad_records: u64 = 0, "N";
        /// The longest line that is accepted: megabytes, or a number with the suffix B, K, M or G
        pub max_line: MaxLine = "256M", "MB";
    }
}

/// A document.
#[derive(Debug)]
pub struct Document<'a> {
    /// The id, escaped: see [`super::id`].
    pub id: Vec<u8>,
    /// The text; empty is allowed.
    pub text: Cow<'a, str>,
    /// How many escapes of it are halves of a surrogate pair without the other half. Each is read as U+FFFD.
    pub surrogates: u64,
    /// The date, if there is one.
    pub date: Option<Date>,
    /// The score, a JSON number's literal; empty when there is none.
    pub score: &'a str,
}

/// The fields that were found, still as JSON.
#[derive(Default)]
struct Found<'a> {
    id: Option<&'a RawValue>,
    text: Option<&'a RawValue>,
    date: Option<&'a RawValue>,
    score: Option<&'a RawValue>,
}

impl DocumentOpts {
    /// Reads the document in `line`, which stands at `place`.
    pub fn read<'a>(&self, line: &'a [u8], place: &Place) -> Result<Document<'a>, FieldError> {
        let (mut document, text) = self.read_but_text(line, place)?;
        (document.text, document.surrogates) = text.whole()?;
        Ok(document)
    }

    /// The same, but the text, which is empty in the document, is left as it stands in the line.
    pub fn read_but_text<'a>(
        &self,
        line: &'a [u8],
        place: &Place,
    ) -> Result<(Document<'a>, RawText<'a>), FieldError> {
        let found = self.find(line, place)?;
        let mut id = Vec::new();
        if self.id == "auto" {
            id::escape_place(format!("{}@{}", place.file, place.offset).as_bytes(), &mut id);
        } else {
            let expected = "a string that is not empty, or a number";
            let raw = found.id.ok_or_else(|| self.unnamed("id", expected, line, &found))?.get();
            match raw.as_bytes().first() {
                Some(b'"') => id::escape(string(raw, "id", expected)?.as_bytes(), &mut id),
                Some(b'-' | b'0'..=b'9') => id.extend_from_slice(raw.as_bytes()),
                _ => {}
            }
            if id.is_empty() {
                return Err(FieldError::new("id", expected, raw.as_bytes()));
            }
        }
        let raw = found.text.ok_or_else(|| self.unnamed(TEXT, A_STRING, line, &found))?.get();
        inside(raw).ok_or_else(|| FieldError::new(TEXT, A_STRING, raw.as_bytes()))?;
        let date = found.date.map_or(Ok(None), |raw| date(raw.get()))?;
        let score = found.score.map_or("", RawValue::get);
        // JSON's word for no value.
        let score = if score == "null" { "" } else { score };
        if !score.is_empty() {
            // What a keep rule could not compare later is wrong here, where its line is known.
            let expected = "a number with an exponent of at most 18 digits";
            score.parse::<Score>().map_err(|_| FieldError::new("score", expected, score.as_bytes()))?;
        }
        Ok((Document { id, text: Cow::Borrowed(""), surrogates: 0, date, score }, RawText(raw)))
    }

    /// The error about a line without one of the two fields that a document has.
    fn unnamed(
        &self,
        field: &'static str,
        expected: &'static str,
        line: &[u8],
        found: &Found<'_>,
    ) -> FieldError {
        let mut error = FieldError::missing(field, expected);
        let names = field_names(line);
        error.found =
            format!("nothing by the name {:?}; the line has the fields {names}", self.named(field)).into();
        let missing = [("id", found.id.is_none() && self.id != "auto"), (TEXT, found.text.is_none())];
        let options = missing.iter().filter(|(_, is_missing)| *is_missing);
        let options: Vec<_> = options.map(|(field, _)| format!("--{field} NAME")).collect();
        error.advice = Some(
            format!("name the field that holds it with {}, correct the line", options.join(" and ")).into(),
        );
        error
    }

    /// What the options call one of the two.
    fn named(&self, field: &str) -> &str {
        if field == TEXT { &self.text } else { &self.id }
    }

    fn find<'a>(&self, line: &'a [u8], place: &Place) -> Result<Found<'a>, FieldError> {
        let whole = |error: &dyn fmt::Display| {
            let mut wrong = FieldError::new("document", "a JSON object in UTF-8 on one line", line);
            wrong.found = format!("{} ({error})", wrong.found).into();
            wrong
        };
        let of_kind = |mut wrong: FieldError| {
            let kind = Kind::of_line(line, place.line == 1 && place.split == 0);
            wrong.advice = kind.map(|kind| kind.advice(&place.file).into());
            wrong
        };
        let text = std::str::from_utf8(line).map_err(|error| {
            let mut wrong = of_kind(whole(&error));
            if wrong.advice.is_none() {
                wrong.advice = Some(
                    "if the file is in another encoding, `twinsplit convert` reads it with --encoding NAME; otherwise correct the line"
                        .into(),
                );
            }
            wrong
        })?;
        let mut reader = serde_json::Deserializer::from_str(text);
        let found = reader.deserialize_map(Wanted(self)).map_err(|error| {
            let is_object = text.trim_start().starts_with('{');
            let wrong = whole(&error);
            // An object that is wrong in itself is no other form.
            if is_object && !error.is_eof() { wrong } else { of_kind(wrong) }
        })?;
        reader.end().map_err(|error| whole(&error))?;
        Ok(found)
    }
}

/// Reads a date, a string or a number; `null` and the empty string are none.
fn date(raw: &str) -> Result<Option<Date>, FieldError> {
    let date = match raw.as_bytes().first() {
        _ if raw == "null" => return Ok(None),
        Some(b'"') => match string(raw, "date", EXPECTED_DATE)? {
            text if text.is_empty() => return Ok(None),
            text => text.parse(),
        },
        _ => Date::of_number(raw),
    };
    date.map(Some).map_err(|_| FieldError::new("date", EXPECTED_DATE, raw.as_bytes()))
}

/// The counter of [`Document::surrogates`].
pub const SURROGATES: &str = "lone_surrogates";

const TEXT: &str = "text";
const A_STRING: &str = "a string";

/// A text as it stands in its line: a JSON string with its quotes.
#[derive(Clone, Copy, Debug)]
pub struct RawText<'a>(&'a str);

impl<'a> RawText<'a> {
    /// The text, and how many lone surrogates are in it.
    fn whole(self) -> Result<(Cow<'a, str>, u64), FieldError> {
        if let Some(plain) =
            inside(self.0).filter(|inside| memchr::memchr(b'\\', inside.as_bytes()).is_none())
        {
            return Ok((Cow::Borrowed(plain), 0));
        }
        match inside(self.0).and_then(unescape) {
            Some((text, surrogates)) => Ok((Cow::Owned(text), surrogates)),
            None => string(self.0, TEXT, A_STRING).map(|text| (text, 0)),
        }
    }

    /// Calls `visit` with the text, part by part, so that it is nowhere whole. Gives the number of lone surrogates. The inner error is about
    /// the text.
    pub fn each_part<E>(
        self,
        mut visit: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Result<u64, FieldError>, E> {
        let mut surrogates = 0;
        let mut rest = inside(self.0).unwrap_or_default();
        while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
            visit(&rest[..at])?;
            let Some((c, length)) = escape(&rest[at..]) else {
                let mut wrong = FieldError::new(TEXT, A_STRING, self.0.as_bytes());
                let behind = self.0.len() - rest.len() + at;
                wrong.found =
                    format!("{} (at its byte {behind} an escape that is no character)", wrong.found).into();
                return Ok(Err(wrong));
            };
            surrogates += u64::from(c.is_none());
            visit(c.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]))?;
            rest = &rest[at + length..];
        }
        visit(rest)?;
        Ok(Ok(surrogates))
    }
}

/// What stands between the quotes of a JSON string.
fn inside(raw: &str) -> Option<&str> {
    raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
}

/// Decodes a raw JSON value that must be a string.
fn string<'a>(raw: &'a str, field: &'static str, expected: &'static str) -> Result<Cow<'a, str>, FieldError> {
    let wrong = || FieldError::new(field, expected, raw.as_bytes());
    let inside = inside(raw).ok_or_else(wrong)?;
    if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(inside));
    }
    let because = |reason: &dyn fmt::Display| {
        let mut wrong = wrong();
        wrong.found = format!("{} ({reason})", wrong.found).into();
        wrong
    };
    match unescape(inside) {
        Some((text, 0)) => Ok(Cow::Owned(text)),
        Some(_) => Err(because(&"half of a surrogate pair is no character")),
        None => serde_json::from_str(raw).map(Cow::Owned).map_err(|error| because(&error)),
    }
}

/// Undoes the escapes of a JSON string in a single allocation: most texts have line breaks, and decoding them anew
/// grows a string piece by piece. Gives the number of lone surrogates with it. Nothing where it meets what is no escape: the
/// decoder of JSON says what is wrong.
fn unescape(inside: &str) -> Option<(String, u64)> {
    let mut surrogates = 0;
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let (c, length) = escape(&rest[at..])?;
        surrogates += u64::from(c.is_none());
        text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    Some((text, surrogates))
}

/// The character that the escape at the front of `text` stands for, none for a lone surrogate, and the escape's bytes.
fn escape(text: &str) -> Option<(Option<char>, usize)> {
    let c = match text.as_bytes().get(1)? {
        escape @ (b'"' | b'/' | b'\\') => char::from(*escape),
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\x08',
        b'f' => '\x0c',
        b'u' => return utf16(text),
        _ => return None,
    };
    Some((Some(c), 2))
}

/// The same of one unit of UTF-16, or of two that are one character.
fn utf16(text: &str) -> Option<(Option<char>, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok()).flatten()
    };
    let first = unit(0)?;
    let is_half = (0xd800..0xdc00).contains(&first);
    let second = if is_half { unit(6).filter(|unit| (0xdc00..0xe000).contains(unit)) } else { None };
    let c = char::decode_utf16([first].into_iter().chain(second)).next()?.ok();
    Some((c, if second.is_some() { 12 } else { 6 }))
}

/// Picks the wanted fields out of an object and passes over the others.
struct Wanted<'o>(&'o DocumentOpts);

impl<'de> Visitor<'de> for Wanted<'_> {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut found = Found::default();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let slot = if key == self.0.text {
                &mut found.text
            } else if key == self.0.id {
                &mut found.id
            } else if self.0.date.as_deref() == Some(&*key) {
                &mut found.date
            } else if self.0.score.as_deref() == Some(&*key) {
                &mut found.score
            } else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if slot.is_some() {
                return Err(M::Error::custom(format_args!("the field {key:?} stands twice")));
            }
            *slot = Some(map.next_value::<&'de RawValue>()?);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn opts() -> DocumentOpts {
        DocumentOpts {
            id: "id".into(),
            text: "text".into(),
            date: Some("day".into()),
            score: Some("s".into()),
            bad_records: 0,
            max_line: "256".parse().unwrap(),
        }
    }

    fn read(line: &str) -> Result<(String, String, String, String), FieldError> {
        opts().read(line.as_bytes(), &Place::default()).map(|d| {
            let date = d.date.map(|date| date.to_string()).unwrap_or_default();
            (String::from_utf8(d.id).unwrap(), d.text.into_owned(), date, d.score.to_owned())
        })
    }

    #[test]
    fn wanted_fields_are_read_and_others_passed_over() {
        let line = r#" {"x":[{"id":3}],"id":"a\tb","s":-1.50e3,"text":"a\u00e9 \ud83d\ude00","day":"2020"} "#;
        let expected = ("a\\x09b".into(), "aé 😀".into(), "1577836800000000000".into(), "-1.50e3".into());
        assert_eq!(read(line), Ok(expected));
    }

    #[test]
    fn dates_are_strings_or_numbers_and_may_be_missing() {
        for (value, date) in [
            (r#""2020""#, "1577836800000000000"),
            (r#""2020-01-01\u005400:00Z""#, "1577836800000000000"),
            ("1577836800", "1577836800000000000"),
            ("1577836800.5", "1577836800500000000"),
            ("null", ""),
            (r#""""#, ""),
        ] {
            let line = format!(r#"{{"id":1,"text":"a","day":{value},"s":null}}"#);
            let (_, _, read_date, score) = read(&line).unwrap();
            assert_eq!((read_date.as_str(), score.as_str()), (date, ""), "{line}");
        }
    }

    proptest! {
        #[test]
        fn unescaping_equals_decoding(
            text in "([\\x00-\\x7f]|\\\\|\\PC|\n|\"|/){0,40}", slashes: bool, ascii: bool,
        ) {
            let raw = serde_json::to_string(&text).unwrap();
            let raw = if slashes { raw.replace('/', "\\/") } else { raw };
            let units = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04X}")).collect::<String>();
            let escaped = |c: char| if c.is_ascii() { c.to_string() } else { units(c) };
            let raw: String = if ascii { raw.chars().map(escaped).collect() } else { raw };
            prop_assert_eq!(unescape(&raw[1..raw.len() - 1]), Some((text.clone(), 0)));
            let mut parts = String::new();
            let visit = |part: &str| { parts.push_str(part); Ok::<(), ()>(()) };
            prop_assert_eq!(RawText(&raw).each_part(visit), Ok(Ok(0)));
            prop_assert_eq!(parts, text);
        }

        /// Whatever the decoder of JSON refuses is refused, but for lone surrogates.
        #[test]
        fn no_other_escapes_are_undone(inside in "([a-f]|\\\\[\"/bfnrtux0]|\\\\ud8[0-9]{2}|\\\\ude[0-9]{2}|\\\\u00[+e][0-9]){0,5}") {
            let raw = format!("\"{inside}\"");
            let (read, decoded) = (unescape(&inside), serde_json::from_str::<String>(&raw));
            match &read {
                Some((_, surrogates)) if *surrogates > 0 => prop_assert!(decoded.is_err()),
                _ => prop_assert_eq!(read.clone().map(|(text, _)| text), decoded.ok()),
            }
            let mut parts = String::new();
            let visit = |part: &str| { parts.push_str(part); Ok::<(), ()>(()) };
            let surrogates = RawText(&raw).each_part(visit).unwrap().ok();
            prop_assert_eq!(surrogates.map(|surrogates| (parts, surrogates)), read);
        }

        /// As the language reads UTF-16 whose halves may be alone.
        #[test]
        fn lone_surrogates_are_replaced(units in proptest::collection::vec(
            prop_oneof![0xd7fe_u16..0xe002, 0xd83d_u16..0xd83f, 0xde00_u16..0xde02, 0x61_u16..0x64], 0..8,
        )) {
            let inside: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let text = String::from_utf16_lossy(&units);
            let alone = char::decode_utf16(units.iter().copied()).filter(Result::is_err).count();
            prop_assert_eq!(unescape(&inside), Some((text, alone as u64)));
        }
    }

    #[test]
    fn a_number_as_id_keeps_its_literal() {
        assert_eq!(read(r#"{"id":1.50,"text":""}"#).unwrap().0, "1.50");
    }

    #[test]
    fn errors_name_the_field() {
        for (line, field) in [
            ("[1]", "document"),
            ("{\"id\":1,\"text\":\"a\"", "document"),
            (r#"{"id":1,"text":"a"} x"#, "document"),
            (r#"{"id":1,"id":2,"text":"a"}"#, "document"),
            (r#"{"text":"a"}"#, "id"),
            (r#"{"id":"","text":"a"}"#, "id"),
            (r#"{"id":null,"text":"a"}"#, "id"),
            (r#"{"id":1}"#, "text"),
            (r#"{"id":1,"text":null}"#, "text"),
            (r#"{"id":1,"text":7}"#, "text"),
            (r#"{"id":"\ud800","text":""}"#, "id"),
            (r#"{"id":1,"text":"\ud800\u"}"#, "document"),
            (r#"{"id":1,"text":"a","day":"yesterday"}"#, "date"),
            (r#"{"id":1,"text":"a","day":"20200101"}"#, "date"),
            (r#"{"id":1,"text":"a","day":[3]}"#, "date"),
            (r#"{"id":1,"text":"a","day":true}"#, "date"),
            (r#"{"id":1,"text":"a","s":"3"}"#, "score"),
            (r#"{"id":1,"text":"a","s":1e1234567890123456789}"#, "score"),
        ] {
            assert_eq!(read(line).unwrap_err().field, field, "{line}");
        }
    }
}
