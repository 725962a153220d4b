//! Documents as they come: JSON lines.

mod fields;
mod path;
mod text;

use super::{Record, id};
use crate::bad_records::MostBad;
use fields::field_of_objects;
use path::Slot;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use text::{A_STRING, TEXT, string};
use twinsplit_core::cluster::keep::{Date, EXPECTED_DATE, Score};
use twinsplit_core::visible::quote;
use twinsplit_io::error::{FieldError, Place};
use twinsplit_io::{Kind, MaxLine};

pub use fields::{field_names, string_field};
pub use path::{FieldPath, IdField, TextFields};
pub use text::RawText;

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
        /// Field that holds the id, a string or a number, by its name or by a path such as meta.id; `auto` makes ids of the form
        /// FILE@OFFSET, `row` of the form FILE@NUMBER with the number of the line
        pub id: IdField = "id", "FIELD|auto|row";
        /// Field that holds the text, by its name or by a path such as meta.content or parts.0.text; several with commas between them
        /// are joined by line ends, without those that are missing or null
        pub text: TextFields = "text", "FIELD,…";
        /// Field that holds the date for --keep newest: ISO 8601, with or without a time zone, or seconds or
        /// smaller units since 1970 as a number
        pub date: Option<FieldPath>, "FIELD";
        /// Field that holds the score, a number, for --keep score
        pub score: Option<FieldPath>, "FIELD";
        /// Put up to N lines that are not documents, or all of them, into a quarantine instead of stopping, in all tasks
        /// together
        pub bad_records: MostBad = "0", "N|all";
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
    id: Slot<'a>,
    text: Slot<'a>,
    /// Of the other fields that hold the text.
    more: Vec<Slot<'a>>,
    date: Slot<'a>,
    score: Slot<'a>,
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
        let broken = |error: &serde_json::Error| no_object(line, error);
        let value = |path: &FieldPath, slot: Slot<'a>| slot.value(path).map_err(|error| broken(&error));
        let texts = std::iter::once(found.text).chain(found.more.iter().copied());
        let text = path::text(&self.text, texts, broken)?;
        let mut id = Vec::new();
        match &self.id {
            IdField::Auto => id::escape_place(format!("{}@{}", place.file, place.offset).as_bytes(), &mut id),
            IdField::Row => id::escape_place(format!("{}@{}", place.file, place.line).as_bytes(), &mut id),
            IdField::Named(path) => {
                let raw = value(path, found.id)?
                    .ok_or_else(|| self.unnamed("id", (line, place), text.is_none()))?;
                match raw.as_bytes().first() {
                    Some(b'"') => id::escape(string(raw, "id", AN_ID)?.as_bytes(), &mut id),
                    Some(b'-' | b'0'..=b'9') => id.extend_from_slice(raw.as_bytes()),
                    _ => {}
                }
                if id.is_empty() {
                    return Err(FieldError::new("id", AN_ID, raw.as_bytes()));
                }
            }
        }
        let text = text.ok_or_else(|| self.unnamed(TEXT, (line, place), true))?;
        let of = |path: &Option<FieldPath>, slot| path.as_ref().map_or(Ok(None), |path| value(path, slot));
        let date = of(&self.date, found.date)?.map_or(Ok(None), date)?;
        // JSON's word for no value.
        let score = of(&self.score, found.score)?.filter(|score| *score != "null").unwrap_or_default();
        if !score.is_empty() {
            // What a keep rule could not compare later is wrong here, where its line is known.
            let expected = "a number with an exponent of at most 18 digits";
            score.parse::<Score>().map_err(|_| FieldError::new("score", expected, score.as_bytes()))?;
        }
        Ok((Document { id, text: Cow::Borrowed(""), surrogates: 0, date, score }, text))
    }

    /// The error about a line without one of the two fields that a document has; of the id, where the text may be missing, too.
    fn unnamed(&self, field: &'static str, (line, place): (&[u8], &Place), no_text: bool) -> FieldError {
        let (expected, name) = match field {
            TEXT => (A_STRING, self.text.names()),
            _ => (AN_ID, self.id.name().to_owned()),
        };
        let mut error = FieldError::missing(field, expected);
        let names = field_names(line);
        error.found = format!("nothing by the name {name:?}; the line has the fields {names}").into();
        let missing = [("id", field == "id"), (TEXT, no_text)];
        let options = missing.iter().filter(|(_, is_missing)| *is_missing);
        let options: Vec<_> = options.map(|(field, _)| format!("--{field} NAME")).collect();
        let mut advice = String::new();
        if let Some(name) = field_of_objects(line) {
            let (filter, file) = (
                quote(&format!(".[{name:?}][]")),
                if place.file.is_empty() { "FILE".to_owned() } else { quote(&place.file) },
            );
            advice = format!(
                "if the documents are the elements of {name:?}, `jq -c {filter} < {file} > documents.jsonl` takes them out; otherwise "
            );
        }
        let options = options.join(" and ");
        error.advice =
            Some(format!("{advice}name the field that holds it with {options}, correct the line").into());
        error
    }

    fn find<'a>(&self, line: &'a [u8], place: &Place) -> Result<Found<'a>, FieldError> {
        let whole = |error: &dyn fmt::Display| no_object(line, error);
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

/// The error about a line that is no object; the other one is JSON's.
fn no_object(line: &[u8], error: &dyn fmt::Display) -> FieldError {
    let mut wrong = FieldError::new("document", "a JSON object in UTF-8 on one line", line);
    wrong.found = format!("{} ({error})", wrong.found).into();
    wrong
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

const AN_ID: &str = "a string that is not empty, or a number";

/// Picks the wanted fields out of an object and passes over the others.
struct Wanted<'o>(&'o DocumentOpts);

impl<'de> Visitor<'de> for Wanted<'_> {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let opts = self.0;
        let mut found = Found { more: vec![Slot::default(); opts.text.rest.len()], ..Found::default() };
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let mut value: Option<&'de RawValue> = None;
            for place in found.places(opts, &key) {
                let raw = match value {
                    Some(raw) => raw,
                    None => *value.insert(map.next_value()?),
                };
                if place.replace(raw).is_some() {
                    return Err(path::twice(&key));
                }
            }
            if value.is_none() {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

impl<'a> Found<'a> {
    /// Where a field of this name belongs.
    fn places(&mut self, opts: &DocumentOpts, key: &str) -> impl Iterator<Item = &mut Option<&'a RawValue>> {
        let id = match &opts.id {
            IdField::Named(path) => Some(path),
            IdField::Auto | IdField::Row => None,
        };
        let paths = [Some(&opts.text.first), id, opts.date.as_ref(), opts.score.as_ref()];
        let slots = [&mut self.text, &mut self.id, &mut self.date, &mut self.score];
        let named = slots.into_iter().zip(paths).filter_map(move |(slot, path)| slot.place(path?, key));
        let more = self.more.iter_mut().zip(&opts.text.rest);
        named.chain(more.filter_map(move |(slot, path)| slot.place(path, key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opts() -> DocumentOpts {
        DocumentOpts {
            id: "id".parse().unwrap(),
            text: "text".parse().unwrap(),
            date: Some(FieldPath::new("day")),
            score: Some(FieldPath::new("s")),
            bad_records: MostBad(0),
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

    fn text_of(fields: &str, line: &str) -> Result<String, FieldError> {
        let opts = DocumentOpts { text: fields.parse().unwrap(), ..opts() };
        let read = opts.read(line.as_bytes(), &Place::default());
        let parts = opts.read_but_text(line.as_bytes(), &Place::default()).map(|(_, text)| {
            let mut parts = String::new();
            text.each_part(|part| {
                parts.push_str(part);
                Ok::<(), ()>(())
            })
            .unwrap()
            .map(|_| parts)
        });
        // Whole and part by part it is the same.
        if let (Ok(document), Ok(parts)) = (&read, parts) {
            assert_eq!(Ok(document.text.to_string()), parts);
        }
        read.map(|document| document.text.into_owned())
    }

    #[test]
    fn fields_are_named_by_paths() {
        let line = r#"{"id":1,"meta":{"content":"in","x":{"y":"deep"},"a.b":"dot"},"a":[{"b":"zero"},{"b":"one"},["x","y"]]}"#;
        for (path, text) in [("meta.content", "in"), ("meta.x.y", "deep"), ("a.1.b", "one"), ("a.2.0", "x")] {
            assert_eq!(text_of(path, line).as_deref(), Ok(text), "{path}");
        }
        // A way ends where the value is none to go on into, and members are named by single parts.
        for path in
            ["meta", "meta.x", "a.3.b", "a.b", "a.-1.b", "meta.content.x", "meta.a.b", "id.x", "meta."]
        {
            assert_eq!(text_of(path, line).unwrap_err().field, "text", "{path}");
        }
        let both = r#"{"id":1,"meta":{"content":"in"},"meta.content":"named"}"#;
        assert_eq!(text_of("meta.content", both).as_deref(), Ok("named"));
        let twice = r#"{"id":1,"meta":{"content":"a","content":"b"}}"#;
        assert!(text_of("meta.content", twice).unwrap_err().to_string().contains("stands twice"));
    }

    #[test]
    fn several_texts_are_joined_and_missing_ones_passed_over() {
        for (line, text) in [
            (r#"{"id":1,"title":"A","meta":{"body":"B\u0041"}}"#, "A\nBA"),
            (r#"{"id":1,"meta":{"body":"B"},"title":"A"}"#, "A\nB"),
            (r#"{"id":1,"title":null,"meta":{"body":"B"}}"#, "B"),
            (r#"{"id":1,"title":"A","meta":null}"#, "A"),
            (r#"{"id":1,"title":"","meta":{"body":""}}"#, "\n"),
        ] {
            assert_eq!(text_of("title,meta.body", line).as_deref(), Ok(text), "{line}");
        }
        for line in
            [r#"{"id":1}"#, r#"{"id":1,"title":null,"meta":{}}"#, r#"{"id":1,"title":"A","meta":{"body":7}}"#]
        {
            let wrong = text_of("title,meta.body", line).unwrap_err();
            assert_eq!(wrong.field, "text", "{line}");
        }
        assert!(text_of("title,body", r#"{"id":1}"#).unwrap_err().found.contains("\"title,body\""));
        for wrong in ["", "a,,b", "a,"] {
            assert!(wrong.parse::<TextFields>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn ids_are_paths_or_places() {
        let place = Place { file: "f".into(), line: 7, offset: 99, ..Place::default() };
        for (id, found) in [("meta.nr", "5"), ("auto", "f@99"), ("row", "f@7")] {
            let opts = DocumentOpts { id: id.parse().unwrap(), ..opts() };
            let read = opts.read(br#"{"meta":{"nr":5},"text":""}"#, &place).unwrap();
            assert_eq!(String::from_utf8(read.id).unwrap(), found);
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
