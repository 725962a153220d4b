//! What a document brings to the choice of the one to keep.

use super::{Fields, Record, push_number, push_tagged, tag};
use twinsplit_io::error::FieldError;

/// What a document brings to the keep rules, and to the warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta<'a> {
    /// The document.
    pub id: &'a [u8],
    /// Unicode scalars of its text.
    pub length: u64,
    /// Its date in nanoseconds since 1970; empty when it has none.
    pub date: &'a [u8],
    /// Its score, a JSON number's literal; empty when it has none.
    pub score: &'a [u8],
    /// The script of most of its letters.
    pub script: &'a [u8],
    /// Where it stands in the input, for the rule that looks at it.
    pub place: InputPlace<'a>,
    /// The name of its file (escaped like an id), so that both of two documents with one id can be named; empty for
    /// standard input.
    pub file: &'a [u8],
    /// The line's number in it.
    pub line: u64,
}

/// A document's place in the input, in two fields whose byte order is that of the input; both are empty where no rule
/// asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputPlace<'a> {
    /// The file: hex digits, see [`Place::input`](twinsplit_io::error::Place::input).
    pub input: &'a [u8],
    /// The offset of the line in it: 16 hex digits.
    pub offset: &'a [u8],
}

impl<'a> Meta<'a> {
    /// Reads what follows the id.
    pub(super) fn after_id(id: &'a [u8], mut fields: Fields<'a>) -> Result<Self, FieldError> {
        let meta = Self {
            id,
            length: fields.number("length")?,
            date: fields.next("date", "a date or nothing")?,
            score: fields.next("score", "a number or nothing")?,
            script: fields.next("script", "a script's name")?,
            place: InputPlace {
                input: fields.next("input", "hex digits or nothing")?,
                offset: fields.next("offset", "hex digits or nothing")?,
            },
            file: fields.next("file", "a file's name or nothing")?,
            line: fields.number("line")?,
        };
        fields.done()?;
        Ok(meta)
    }
}

impl<'a> Record<'a> for Meta<'a> {
    const FIELDS: &'static str = r"id⇥\m⇥length⇥date⇥score⇥script⇥input⇥offset⇥file⇥line";
    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        fields.exactly("tag", tag::META, r"\m")?;
        Self::after_id(id, fields)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_tagged(out, self.id, tag::META);
        self.push_after_id(out);
    }
}

impl Meta<'_> {
    /// Appends what follows the id and its tag.
    pub(super) fn push_after_id(&self, out: &mut Vec<u8>) {
        push_number(out, self.length);
        for field in [self.date, self.score, self.script, self.place.input, self.place.offset, self.file] {
            out.push(b'\t');
            out.extend_from_slice(field);
        }
        out.push(b'\t');
        push_number(out, self.line);
    }
}
