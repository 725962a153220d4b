//! Ids that are made of places, for documents that other formats give.

use super::{Found, Source, not_written};
use twinsplit_io::error::{FieldError, Result};
use twinsplit_rows::record::document::{FieldPath, string_field};

/// Ids of which form documents get, and in which field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceIds {
    /// The field.
    pub field: String,
    /// Whether it is FILE@NUMBER of the document, or else FILE@OFFSET.
    pub by_number: bool,
}

/// A source whose documents get ids of their places.
pub struct WithPlaceIds {
    source: Box<dyn Source>,
    ids: PlaceIds,
    /// Whether the number of a document is that of its line.
    by_line: bool,
    documents: u64,
    json: Vec<u8>,
}

impl WithPlaceIds {
    /// The same documents; with `by_line` the number of one is that of its line.
    pub fn new(source: Box<dyn Source>, ids: PlaceIds, by_line: bool) -> Self {
        Self { source, ids, by_line, documents: 0, json: Vec::new() }
    }
}

impl Source for WithPlaceIds {
    fn next_document(&mut self) -> Result<Option<Found<'_>>> {
        let Some(found) = self.source.next_document()? else { return Ok(None) };
        self.documents += 1;
        let number = match (self.ids.by_number, self.by_line) {
            (false, _) => found.place.offset,
            (true, true) => found.place.line,
            (true, false) => self.documents,
        };
        let line = match found.line {
            Ok(line) => {
                add(line, &self.ids.field, &format!("{}@{number}", found.place.file), &mut self.json)?
                    .map(|()| self.json.as_slice())
            }
            Err(error) => Err(error),
        };
        Ok(Some(Found { line, ..found }))
    }

    fn raw_bytes(&self) -> u64 {
        self.source.raw_bytes()
    }

    fn passed_over(&self) -> u64 {
        self.source.passed_over()
    }
}

/// Writes the object with a field before its others.
fn add(line: &[u8], field: &str, value: &str, out: &mut Vec<u8>) -> Result<Result<(), FieldError>> {
    // Any value will do: it is in the way.
    if !matches!(string_field(line, &FieldPath::new(field)), Ok(None)) {
        let mut wrong = FieldError::new("id", "no field of the name that ids of places get", line);
        let advice =
            format!("the document has a field {field:?} already; name it with --id {field}, or rename it");
        wrong.advice = Some(advice.into());
        return Ok(Err(wrong));
    }
    write(line, field, value, out).map_err(not_written)?;
    Ok(Ok(()))
}

fn write(line: &[u8], field: &str, value: &str, out: &mut Vec<u8>) -> serde_json::Result<()> {
    out.clear();
    out.push(b'{');
    serde_json::to_writer(&mut *out, field)?;
    out.push(b':');
    serde_json::to_writer(&mut *out, value)?;
    let inside = line.trim_ascii_start().strip_prefix(b"{").unwrap_or_default().trim_ascii_start();
    if !inside.starts_with(b"}") {
        out.push(b',');
    }
    out.extend_from_slice(inside);
    Ok(())
}
