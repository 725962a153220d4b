//! What `tokenize` makes of a document: its set, and, where that is too small to be compared, a hash of the text.

use super::meta::Meta;
use super::set::{Doc, FEATURE_DIGITS, FEATURES, Features, parse_feature, push_feature};
use super::{Fields, Record, second_field, tag};
use twinsplit_io::error::FieldError;

const HASH: &str = "a hash of 32 lower-case hex digits";

/// A document as a set, which may be empty, and what else may be compared of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tokenized<'a> {
    /// The document and its set.
    pub doc: Doc<'a>,
    /// [`twinsplit_core::hash::text`] of its text, where the set has fewer features than a join asks for, or may have when some are left out.
    pub text: Option<u128>,
}

impl<'a> Tokenized<'a> {
    /// A document that its set alone stands for.
    pub fn of_set(doc: Doc<'a>) -> Self {
        Self { doc, text: None }
    }

    /// Reads what follows an id.
    pub(super) fn after_id(id: &'a [u8], mut fields: Fields<'a>) -> Result<Self, FieldError> {
        let mut features = if fields.is_done() { &[] } else { fields.next("features", FEATURES)? };
        let mut text = None;
        if features == tag::TEXT {
            let digits = fields.next("text", HASH)?;
            text = Some(parse_hash(digits).ok_or_else(|| FieldError::new("text", HASH, digits))?);
            // Hadoop may take the last TAB of a row, and with it the field of a set without features.
            features = if fields.is_done() { &[] } else { fields.next("features", FEATURES)? };
        }
        fields.done()?;
        Ok(Self { doc: Doc { id, features: Features::decode(features)? }, text })
    }

    /// Appends what follows the id and a TAB.
    pub(super) fn push_after_id(&self, out: &mut Vec<u8>) {
        if let Some(text) = self.text {
            out.extend_from_slice(tag::TEXT);
            out.push(b'\t');
            push_hash(out, text);
            out.push(b'\t');
        }
        self.doc.features.encode(out);
    }
}

impl<'a> Record<'a> for Tokenized<'a> {
    const FIELDS: &'static str = r"id⇥features, or id⇥\~⇥hash of the text⇥features";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        Self::after_id(id, fields)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.doc.id);
        out.push(b'\t');
        self.push_after_id(out);
    }
}

/// What stages that read documents write for a chain: sets, and what the keep rule needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetRow<'a> {
    /// A document's set.
    Set(Tokenized<'a>),
    /// What the keep rule needs of a document.
    Meta(Meta<'a>),
}

impl<'a> Record<'a> for SetRow<'a> {
    const FIELDS: &'static str = r"id⇥features, or id⇥\~⇥hash of the text⇥features; id⇥\m⇥length⇥date⇥score⇥script⇥input⇥offset⇥file⇥line";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match second_field(line) {
            Some(tag::META) => Meta::decode(line).map(SetRow::Meta),
            _ => Tokenized::decode(line).map(SetRow::Set),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            SetRow::Set(row) => row.encode(out),
            SetRow::Meta(meta) => meta.encode(out),
        }
    }
}

/// A hash of a text from its 32 lower-case hex digits.
pub(super) fn parse_hash(digits: &[u8]) -> Option<u128> {
    let (high, low) = digits.split_at_checked(FEATURE_DIGITS)?;
    Some(u128::from(parse_feature(high)?) << 64 | u128::from(parse_feature(low)?))
}

/// Appends a hash of a text as 32 lower-case hex digits.
pub(super) fn push_hash(out: &mut Vec<u8>, hash: u128) {
    push_feature(out, (hash >> 64) as u64);
    push_feature(out, hash as u64);
}
