//! A line of the quarantine: a bad document as it was, after what is wrong with it.

use super::{Fields, Record, id, push_number};
use std::borrow::Cow;
use twinsplit_io::error::{FieldError, Place};

/// A line that is no document. `cut -f5-` of such rows gives the lines back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine<'a> {
    /// The file it stands in, escaped like an id; `-` is standard input.
    pub file: Cow<'a, [u8]>,
    /// The number of the line in that file, from 1.
    pub line: u64,
    /// The field that is wrong.
    pub field: &'a [u8],
    /// What was expected there and what was found, without control characters.
    pub expected: Cow<'a, [u8]>,
    /// The line, byte for byte, without its LF. It may hold TABs.
    pub text: &'a [u8],
}

impl<'a> BadLine<'a> {
    /// The row of a line at a place.
    pub fn of(text: &'a [u8], place: &Place, error: &FieldError) -> Self {
        let (mut file, name) = (Vec::new(), place.name());
        id::escape_place(if place.file.is_empty() { b"-" } else { name.as_bytes() }, &mut file);
        let expected = format!("expected {}, found {}", error.expected, error.found);
        let expected = expected.replace(|c: char| c.is_ascii_control(), " ").into_bytes();
        let (file, expected) = (file.into(), expected.into());
        Self { file, line: place.line, field: error.field.as_bytes(), expected, text }
    }
}

impl<'a> Record<'a> for BadLine<'a> {
    const FIELDS: &'static str = "file⇥line⇥field⇥expected⇥the line as it was";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let file = fields.id("file")?.into();
        let number = fields.number("line")?;
        let field = fields.next("field", "the name of a field")?;
        let expected = fields.next("expected", "what was expected")?.into();
        if fields.is_done() {
            return Err(FieldError::missing("text", "the line as it was"));
        }
        Ok(Self { file, line: number, field, expected, text: fields.rest() })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.file);
        out.push(b'\t');
        push_number(out, self.line);
        for field in [self.field, &self.expected, self.text] {
            out.push(b'\t');
            out.extend_from_slice(field);
        }
    }
}
