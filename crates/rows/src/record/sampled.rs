//! The rows of a sample of documents: those with the smallest hashes of their ids.

use super::{Fields, Keys, Record, set};
use std::borrow::Cow;
use twinsplit_io::error::FieldError;

/// A document of a sample. Rows come in the order of their hashes, then of their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampled<'a> {
    /// The hash by which the document is drawn.
    pub hash: u64,
    /// Its id.
    pub id: &'a [u8],
    /// Its line, as it is read: what is white space between the tokens of JSON and would end a field or a row is a space.
    pub line: Cow<'a, [u8]>,
}

impl<'a> Sampled<'a> {
    /// The document of a line.
    pub fn of(hash: u64, id: &'a [u8], line: &'a [u8]) -> Self {
        let ends = |byte: &u8| matches!(byte, b'\t' | b'\r' | b'\n');
        let line = match line.iter().any(ends) {
            true => line.iter().map(|byte| if ends(byte) { b' ' } else { *byte }).collect(),
            false => Cow::Borrowed(line),
        };
        Self { hash, id, line }
    }
}

impl<'a> Record<'a> for Sampled<'a> {
    const FIELDS: &'static str = "hash⇥id⇥JSON object with id and text";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let hash = fields.feature("hash")?;
        let id = fields.id("id")?;
        let line = fields.next("document", "a JSON object")?.into();
        fields.done()?;
        Ok(Self { hash, id, line })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        set::push_feature(out, self.hash);
        for field in [self.id, &self.line] {
            out.push(b'\t');
            out.extend_from_slice(field);
        }
    }
}
