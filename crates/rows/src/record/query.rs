//! Rows of queries, whatever a chain has made of these.

use super::{Fields, Keys, Record};
use twinsplit_io::error::FieldError;

/// A row under the id of its query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfQuery<'a> {
    /// The query.
    pub id: &'a [u8],
    /// All other fields.
    pub rest: &'a [u8],
}

impl<'a> Record<'a> for OfQuery<'a> {
    const FIELDS: &'static str = "id⇥what the chain compares of the query";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 1 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        Ok(Self { id, rest: fields.rest() })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.id);
        out.push(b'\t');
        out.extend_from_slice(self.rest);
    }
}
