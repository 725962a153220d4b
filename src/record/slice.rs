//! Documents on their way to the Doc-Split slice that indexes them.

use super::count::SIZE_WIDTH;
use super::set::Doc;
use super::{Fields, Keys, Record, push_padded};
use crate::error::FieldError;

/// A document under its slice, smaller sets first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlicedDoc<'a> {
    /// Number of the slice.
    pub slice: u64,
    /// Size of the set.
    pub size: u64,
    /// The document.
    pub doc: Doc<'a>,
}

impl<'a> Record<'a> for SlicedDoc<'a> {
    const FIELDS: &'static str = "slice⇥size⇥id⇥features";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 3 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let slice = fields.number("slice")?;
        let size = fields.number("size")?;
        Ok(Self { slice, size, doc: Doc::decode(fields.rest())? })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_padded(out, self.slice, 5);
        out.push(b'\t');
        push_padded(out, self.size, SIZE_WIDTH);
        out.push(b'\t');
        self.doc.encode(out);
    }
}
