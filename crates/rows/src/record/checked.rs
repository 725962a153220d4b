//! Lines of files that must arrive whole ([`checked_file`](twinsplit_io::checked_file)).

use super::Record;
use twinsplit_io::error::FieldError;

/// A line of a checked file, as the stages that write one emit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedLine<'a>(pub &'a [u8]);

impl<'a> Record<'a> for CheckedLine<'a> {
    const FIELDS: &'static str = "lines of a checked file";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        Ok(Self(line))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0);
    }
}
