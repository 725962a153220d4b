//! What a document brings to the choice of the one to keep.

use super::{Fields, Keys, Record, push_number, push_tagged, tag};
use crate::error::FieldError;

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
}

/// A document's place in the input, in two fields whose byte order is that of the input; both are empty where no rule
/// asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputPlace<'a> {
    /// The file: hex digits, see [`Place::input`](crate::error::Place::input).
    pub input: &'a [u8],
    /// The offset of the line in it: 16 hex digits.
    pub offset: &'a [u8],
}

impl<'a> Meta<'a> {
    /// Reads what follows the id.
    fn after_id(id: &'a [u8], fields: &mut Fields<'a>) -> Result<Self, FieldError> {
        Ok(Self {
            id,
            length: fields.number("length")?,
            date: fields.next("date", "a date or nothing")?,
            score: fields.next("score", "a number or nothing")?,
            script: fields.next("script", "a script's name")?,
            place: InputPlace {
                input: fields.next("input", "hex digits or nothing")?,
                offset: fields.next("offset", "hex digits or nothing")?,
            },
        })
    }
}

impl<'a> Record<'a> for Meta<'a> {
    const FIELDS: &'static str = r"id⇥\m⇥length⇥date⇥score⇥script⇥input⇥offset";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 1 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        fields.exactly("tag", tag::META, r"\m")?;
        let meta = Self::after_id(id, &mut fields)?;
        fields.done()?;
        Ok(meta)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_tagged(out, self.id, tag::META);
        self.push_after_id(out);
    }
}

impl Meta<'_> {
    /// Appends what follows the id and its tag.
    fn push_after_id(&self, out: &mut Vec<u8>) {
        push_number(out, self.length);
        for field in [self.date, self.score, self.script, self.place.input, self.place.offset] {
            out.push(b'\t');
            out.extend_from_slice(field);
        }
    }
}

/// A document's properties, and where its line stands, so that both of two documents with one id can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedMeta<'a> {
    /// The properties.
    pub meta: Meta<'a>,
    /// The file's name (escaped like an id); empty for standard input.
    pub file: &'a [u8],
    /// The line's number in it.
    pub line: u64,
}

impl<'a> Record<'a> for PlacedMeta<'a> {
    const FIELDS: &'static str = "id⇥length⇥date⇥score⇥script⇥input⇥offset⇥file⇥line";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 1 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        let meta = Meta::after_id(id, &mut fields)?;
        let file = fields.next("file", "a file's name or nothing")?;
        let number = fields.number("line")?;
        fields.done()?;
        Ok(Self { meta, file, line: number })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.meta.id);
        out.push(b'\t');
        self.meta.push_after_id(out);
        out.push(b'\t');
        out.extend_from_slice(self.file);
        out.push(b'\t');
        push_number(out, self.line);
    }
}
