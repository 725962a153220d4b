//! Documents and their units: each becomes a document of its own, and a document is written again without some of them.
//!
//! Where the text is that of several fields, each of them is divided by itself, so that a title and what stands below it are two units. Units are counted through
//! all fields, and so are characters, as if the fields were joined, which they are where documents are compared.

use std::borrow::Cow;
use std::ops::Range;
use twinsplit_core::text::units::{Unit, units, without};
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_rows::record::document::{DocumentOpts, FieldPath, IdField, JOINT, RawString, raw_fields};
use twinsplit_rows::record::{id, unit};

use crate::not_written;

/// How documents are divided into units.
#[derive(Clone, Debug)]
pub struct UnitOpts {
    /// Into which ones.
    pub unit: Unit,
    /// How the documents are read.
    document: DocumentOpts,
    /// Other fields that units have from their documents: those that a keep rule or a chain looks at.
    others: Vec<FieldPath>,
}

impl UnitOpts {
    /// Those of documents that are read so; `site` is one more field that a chain looks at.
    ///
    /// # Errors
    /// When two fields of units would have one name.
    pub fn new(unit: Unit, document: DocumentOpts, site: Option<FieldPath>) -> Result<Self> {
        let mut others: Vec<FieldPath> = Vec::new();
        for path in [&document.date, &document.score, &site].into_iter().flatten() {
            if !others.contains(path) {
                others.push(path.clone());
            }
        }
        let opts = Self { unit, document, others };
        let mut names = vec![opts.id(), opts.text()];
        names.extend(unit::SPAN);
        names.extend(opts.others.iter().map(FieldPath::name));
        names.sort_unstable();
        match names.windows(2).find(|two| two[0] == two[1]) {
            None => Ok(opts),
            Some(two) => Err(Error::Usage(format!(
                "--unit gives each unit fields of its own for the id, the text, start, end, and what --date, --score and --site name, and two of them \
                 would be called {:?}; rename that field of the documents",
                two[0]
            ))),
        }
    }

    /// The name of the field with the id of a unit.
    fn id(&self) -> &str {
        match &self.document.id {
            IdField::Named(path) => path.name(),
            IdField::Auto | IdField::Row => "id",
        }
    }

    /// The name of the field with its text.
    fn text(&self) -> &str {
        self.document.text.first.name()
    }

    /// The id of the document in a line, escaped.
    pub fn document_id(&self, line: &[u8], place: &Place) -> Result<Vec<u8>, FieldError> {
        self.document.read_but_text(line, place).map(|(document, _)| document.id)
    }

    /// Divides the document in a line.
    pub fn divide<'a>(&self, line: &'a [u8], place: &Place) -> Result<Divided<'a>, FieldError> {
        let (document, text) = self.document.read_but_text(line, place)?;
        let (mut fields, mut first, mut from) = (Vec::new(), 1, 0);
        for string in text.strings() {
            let text = string.text()?;
            let mut found = Vec::new();
            units(&text, self.unit, &mut found);
            let (count, characters) = (found.len() as u64, text.chars().count());
            fields.push(TextField { string, text, units: found, first, from });
            first += count;
            from += (characters + JOINT.len()) as u64;
        }
        Ok(Divided { id: document.id, line, fields })
    }

    /// Calls `visit` with the line of each unit of a document.
    pub fn each_line(
        &self,
        divided: &Divided<'_>,
        mut visit: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<Result<(), FieldError>> {
        let others = match raw_fields(divided.line, &self.others.iter().collect::<Vec<_>>()) {
            Ok(values) => values,
            Err(wrong) => return Ok(Err(wrong)),
        };
        let others = self.others.iter().zip(others).filter_map(|(path, value)| Some((path.name(), value?)));
        let others: Vec<_> = others.collect();
        let (document, mut line) = (id::unescape(&divided.id), Vec::new());
        for field in &divided.fields {
            let mut parts = field.string.parts();
            for (number, span, bytes) in field.spans() {
                let (id, text) = (unit::id(&document, number), (self.text(), parts.part(bytes)));
                unit::write((self.id(), &id), text, span, &others, &mut line).map_err(not_written)?;
                visit(&line)?;
            }
        }
        Ok(Ok(()))
    }
}

/// A document and its units.
#[derive(Debug)]
pub struct Divided<'a> {
    /// The document's id, escaped.
    pub id: Vec<u8>,
    line: &'a [u8],
    fields: Vec<TextField<'a>>,
}

/// A field of a text.
#[derive(Debug)]
struct TextField<'a> {
    string: RawString<'a>,
    text: Cow<'a, str>,
    units: Vec<Range<usize>>,
    /// The number of its first unit, and of its first character.
    first: u64,
    from: u64,
}

impl TextField<'_> {
    /// Of each unit its number, its characters, and its bytes in the field.
    fn spans(&self) -> impl Iterator<Item = (u64, unit::Span, Range<usize>)> {
        let (mut at, mut character) = (0, self.from);
        let mut go_to = move |to: usize| {
            character += self.text[at..to].chars().count() as u64;
            at = to;
            character
        };
        (self.first..).zip(&self.units).map(move |(number, bytes)| {
            let span = unit::Span { start: go_to(bytes.start), end: go_to(bytes.end) };
            (number, span, bytes.clone())
        })
    }
}

impl Divided<'_> {
    /// How many units there are.
    pub fn count(&self) -> u64 {
        self.fields.iter().map(|field| field.units.len() as u64).sum()
    }

    /// Of each unit its number and where it stands.
    pub fn spans(&self) -> impl Iterator<Item = (u64, unit::Span)> {
        self.fields.iter().flat_map(TextField::spans).map(|(number, span, _)| (number, span))
    }

    /// Writes the document's line without the units whose numbers `is_cut` says, in place of what is in `out`. All but the strings of
    /// the text stays as it is, and so do their escapes.
    pub fn without(&self, is_cut: impl Fn(u64) -> bool, out: &mut Vec<u8>) {
        out.clear();
        let place = |raw: &str| raw.as_ptr() as usize - self.line.as_ptr() as usize;
        let mut fields: Vec<_> = self.fields.iter().collect();
        fields.sort_by_key(|field| place(field.string.raw()));
        let mut written = 0;
        for field in fields {
            let raw = field.string.raw();
            let start = place(raw);
            out.extend_from_slice(&self.line[written..start]);
            written = start + raw.len();
            let is_cut = |at: usize| is_cut(field.first + at as u64);
            if !(0..field.units.len()).any(is_cut) {
                out.extend_from_slice(raw.as_bytes());
                continue;
            }
            let mut parts = field.string.parts();
            out.push(b'"');
            for rest in without(&field.text, &field.units, is_cut) {
                out.extend_from_slice(parts.part(rest).as_bytes());
            }
            out.push(b'"');
        }
        out.extend_from_slice(&self.line[written..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use twinsplit_rows::params::Params;

    fn opts(unit: Unit, params: &[(&str, &str)]) -> UnitOpts {
        let mut all = Params::default();
        params.iter().for_each(|(name, value)| all.set(name, *value));
        UnitOpts::new(unit, all.parse().unwrap(), None).unwrap()
    }

    fn lines(opts: &UnitOpts, line: &str) -> Vec<Value> {
        let divided = opts.divide(line.as_bytes(), &Place::default()).unwrap();
        let mut lines = Vec::new();
        let visit = |line: &[u8]| {
            lines.push(serde_json::from_slice(line).unwrap());
            Ok(())
        };
        opts.each_line(&divided, visit).unwrap().unwrap();
        assert_eq!(lines.len() as u64, divided.count());
        lines
    }

    fn rest(opts: &UnitOpts, line: &str, cut: &[u64]) -> String {
        let (divided, mut out) = (opts.divide(line.as_bytes(), &Place::default()).unwrap(), Vec::new());
        divided.without(|number| cut.contains(&number), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn units_are_documents_with_the_fields_that_are_asked_for() {
        let opts = opts(Unit::Paragraph, &[("date", "meta.day"), ("score", "score"), ("id", "nr")]);
        let line = r#"{"nr":7,"meta":{"day":"2024"},"text":"\u00e9a\nb\n\n\ud83d\ude00","more":[1]}"#;
        let expected = [
            json!({"nr": "7#1", "text": "éa\nb", "start": 0, "end": 4, "meta.day": "2024"}),
            json!({"nr": "7#2", "text": "😀", "start": 6, "end": 7, "meta.day": "2024"}),
        ];
        assert_eq!(lines(&opts, line), expected);
        // They are read by the same options.
        let first = expected[0].to_string();
        let read = opts.document.read(first.as_bytes(), &Place::default()).unwrap();
        assert!(read.date.is_some() && read.id == b"7#1" && read.text == "éa\nb");
        assert_eq!(lines(&opts, r##"{"nr":"#3","text":" \n"}"##), Vec::<Value>::new());
    }

    #[test]
    fn several_fields_are_divided_each_by_itself() {
        let opts = opts(Unit::Paragraph, &[("text", "title,body")]);
        let line = r#"{"body":"One.\n\nTwo.","x": 1 ,"title":"A","id":"d"}"#;
        let found = lines(&opts, line);
        let at = |number: usize| {
            let line = &found[number];
            (line["id"].as_str().unwrap(), line["title"].as_str().unwrap(), line["start"].as_u64().unwrap())
        };
        assert_eq!([at(0), at(1), at(2)], [("d#1", "A", 0), ("d#2", "One.", 2), ("d#3", "Two.", 8)]);
        assert_eq!(rest(&opts, line, &[1, 2]), r#"{"body":"Two.","x": 1 ,"title":"","id":"d"}"#);
        let divided = opts.divide(line.as_bytes(), &Place::default()).unwrap();
        let spans: Vec<_> = divided.spans().map(|(number, span)| (number, span.start, span.end)).collect();
        assert_eq!(spans, [(1, 0, 1), (2, 2, 6), (3, 8, 12)]);
    }

    #[test]
    fn what_is_not_cut_stays_byte_for_byte() {
        let opts = opts(Unit::Line, &[]);
        let line = "{ \"text\" : \"a\\u00e9\\r\\n\\\"b\\\"\\nc\\/\\ud800\" , \"id\":1.50 }\r";
        assert_eq!(rest(&opts, line, &[]), line);
        assert_eq!(rest(&opts, line, &[2]), "{ \"text\" : \"a\\u00e9\\r\\nc\\/\\ud800\" , \"id\":1.50 }\r");
        assert_eq!(rest(&opts, line, &[1, 2, 3]), "{ \"text\" : \"\" , \"id\":1.50 }\r");
    }

    #[test]
    fn two_fields_of_one_name_are_refused() {
        for (name, value) in [("text", "start"), ("id", "text"), ("score", "id"), ("date", "end")] {
            let params = Params::default().with(name, value);
            let wrong = UnitOpts::new(Unit::Line, params.parse().unwrap(), None).unwrap_err().to_string();
            assert!(wrong.contains("--unit") && wrong.contains(&format!("{value:?}")), "{wrong}");
        }
        let same = Params::default().with("date", "day").with("score", "day");
        assert!(UnitOpts::new(Unit::Line, same.parse().unwrap(), Some(FieldPath::new("day"))).is_ok());
    }
}
