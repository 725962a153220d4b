//! Documents on their way to the Doc-Split slice that indexes them, and the lines of slices.

use super::checked::CheckedLine;
use super::count::SIZE_WIDTH;
use super::set::Doc;
use super::{Fields, Keys, Record, push_padded};
use twinsplit_io::error::FieldError;

/// A document under its slice, smaller sets first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlicedDoc<'a> {
    /// The slice: its number with five digits or more, and a salt ([`twinsplit_core::hash::slice_key`]).
    pub slice: &'a [u8],
    /// Size of the set.
    pub size: u64,
    /// The document.
    pub doc: Doc<'a>,
}

impl SlicedDoc<'_> {
    /// The number of the slice.
    pub fn number(&self) -> &str {
        let digits = self.slice.iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(&self.slice[..digits]).unwrap_or_default()
    }
}

impl<'a> Record<'a> for SlicedDoc<'a> {
    const FIELDS: &'static str = "slice⇥size⇥id⇥features";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 3 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let slice = fields.next("slice", "a slice's key")?;
        let size = fields.number("size")?;
        let sliced = Self { slice, size, doc: Doc::decode(fields.rest())? };
        match sliced.number().len() {
            5.. => Ok(sliced),
            _ => Err(FieldError::new("slice", "a number of five digits or more, and a salt", slice)),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.slice);
        out.push(b'\t');
        push_padded(out, self.size, SIZE_WIDTH);
        out.push(b'\t');
        self.doc.encode(out);
    }
}

/// What `index-doc` writes: documents for the slices of a plan, or the lines of the slice that is the task's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SliceRow<'a> {
    /// With `--partition by-size`.
    Doc(SlicedDoc<'a>),
    /// With `--partition by-task`.
    Line(CheckedLine<'a>),
}

impl<'a> Record<'a> for SliceRow<'a> {
    const FIELDS: &'static str = "slice⇥size⇥id⇥features; by task lines of a slice";
    const KEYS: Option<Keys> = SlicedDoc::KEYS;

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        // The first line of a slice names its file, and no other has both a size and an id.
        match SlicedDoc::decode(line) {
            Ok(doc) if !line.starts_with(b"#twinsplit\t") => Ok(SliceRow::Doc(doc)),
            _ => CheckedLine::decode(line).map(SliceRow::Line),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            SliceRow::Doc(doc) => doc.encode(out),
            SliceRow::Line(line) => line.encode(out),
        }
    }
}
