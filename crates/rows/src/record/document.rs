//! Documents as they come: JSON lines.

mod fields;
mod key;
mod path;
mod text;

use super::{Record, id};
use crate::bad_records::MostBad;
use fields::field_of_objects;
use key::Key;
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

pub use fields::{field_names, raw_fields, string_field};
pub use path::{FieldPath, IdField, TextFields};
pub use text::{JOINT, RawParts, RawString, RawText};

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

    /// Whether the document's field of this name has to do with one that is read.
    fn wants(&self, key: &str) -> bool {
        let of = |path: &FieldPath| path.concerns(key);
        let is_id = matches!(&self.id, IdField::Named(path) if of(path));
        is_id
            || of(&self.text.first)
            || self.text.rest.iter().any(of)
            || [&self.date, &self.score].into_iter().flatten().any(of)
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
        while let Some(Key(key)) = map.next_key()? {
            if opts.wants(&key) {
                found.take(opts, &key, map.next_value()?)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

impl<'a> Found<'a> {
    /// Takes the value of a field of this name.
    fn take<E: serde::de::Error>(
        &mut self,
        opts: &DocumentOpts,
        key: &str,
        raw: &'a RawValue,
    ) -> Result<(), E> {
        self.text.take(&opts.text.first, key, raw)?;
        for (slot, path) in self.more.iter_mut().zip(&opts.text.rest) {
            slot.take(path, key, raw)?;
        }
        if let IdField::Named(path) = &opts.id {
            self.id.take(path, key, raw)?;
        }
        for (slot, path) in [(&mut self.date, &opts.date), (&mut self.score, &opts.score)] {
            path.as_ref().map_or(Ok(()), |path| slot.take(path, key, raw))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
