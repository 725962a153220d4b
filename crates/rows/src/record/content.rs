//! The rows that bring what is compared of two texts to the pair of their fingerprints: a join on one id, then on the other.

use super::near::{AnyPair, Near};
use super::{Fields, Keys, Record, push_number, second_field, set, tag};
use twinsplit_core::similarity::text::{Content, TextMeasure};
use twinsplit_io::error::FieldError;

const KEYS: Keys = Keys { partition: 1, sort: 2 };

/// Appends what is compared of a text: features in hex with how often they occur, where that is more than once, or the text.
pub fn push_content(content: &Content, out: &mut Vec<u8>) {
    match content {
        Content::Text(text) => out.extend_from_slice(text.as_bytes()),
        Content::Counts(counts) => {
            for (at, (feature, count)) in counts.iter().enumerate() {
                if at > 0 {
                    out.push(b' ');
                }
                set::push_feature(out, *feature);
                if *count != 1 {
                    out.push(b':');
                    push_number(out, *count);
                }
            }
        }
    }
}

/// Reads what was written for a measure.
pub fn read_content(measure: TextMeasure, bytes: &[u8]) -> Result<Content, FieldError> {
    if measure == TextMeasure::Edit {
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|_| FieldError::new("content", "a text in UTF-8", bytes))?;
        return Ok(Content::Text(text.to_owned()));
    }
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for field in bytes.split(|byte| *byte == b' ').filter(|_| !bytes.is_empty()) {
        let (feature, count) = match field.split_at_checked(16) {
            Some((feature, [])) => (feature, Some(1)),
            Some((feature, [b':', count @ ..])) => (feature, super::parse_number(count)),
            _ => (field, None),
        };
        let follows = |feature: &u64| counts.last().is_none_or(|last| last.0 < *feature);
        let feature = set::parse_feature(feature).filter(follows);
        let row = feature.zip(count.filter(|count| *count > 0));
        let expected =
            "features of 16 lower-case hex digits, ascending, each with a colon and a count above 1";
        counts.push(row.ok_or_else(|| FieldError::new("content", expected, field))?);
    }
    Ok(Content::Counts(counts))
}

/// A document and what is compared of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentRow<'a> {
    /// The document.
    pub id: &'a [u8],
    /// What is compared, in the form that a measure has.
    pub content: &'a [u8],
}

impl<'a> Record<'a> for ContentRow<'a> {
    const FIELDS: &'static str = "id⇥0⇥content";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        fields.exactly("tag", b"0", "0, or that of a pair that waits for a content")?;
        Ok(Self { id, content: fields.rest() })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.id);
        out.extend_from_slice(b"\t0\t");
        out.extend_from_slice(self.content);
    }
}

/// Rows of the first join: under each id its content, then the pairs that it is the smaller id of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftRow<'a> {
    /// A content.
    Content(ContentRow<'a>),
    /// A pair whose texts are to be compared.
    Near(Near<'a>),
}

impl<'a> Record<'a> for LeftRow<'a> {
    const FIELDS: &'static str = r"id⇥0⇥content; a⇥\d⇥b⇥distance";
    const KEYS: Option<Keys> = Some(KEYS);

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        if second_field(line) != Some(tag::NEAR) {
            return ContentRow::decode(line).map(LeftRow::Content);
        }
        match AnyPair::decode(line)? {
            AnyPair::Fingerprints(near) => Ok(LeftRow::Near(near)),
            AnyPair::Sets(pair) => Err(FieldError::new("tag", r"\d", pair.b)),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LeftRow::Content(content) => content.encode(out),
            LeftRow::Near(near) => AnyPair::Fingerprints(*near).encode(out),
        }
    }
}

/// A pair that carries the content of its smaller id to the larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfNear<'a> {
    /// The larger id, where the row goes.
    pub b: &'a [u8],
    /// The smaller id.
    pub a: &'a [u8],
    /// The bits in which their fingerprints differ.
    pub distance: u32,
    /// The content of a.
    pub content: &'a [u8],
}

impl<'a> Record<'a> for HalfNear<'a> {
    const FIELDS: &'static str = "b⇥1⇥a⇥distance⇥content of a";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let b = fields.id("b")?;
        fields.exactly("tag", b"1", "1")?;
        let (a, distance) = (fields.id("a")?, fields.distance()?);
        Ok(Self { b, a, distance, content: fields.rest() })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.b);
        out.extend_from_slice(b"\t1\t");
        out.extend_from_slice(self.a);
        out.push(b'\t');
        push_number(out, self.distance.into());
        out.push(b'\t');
        out.extend_from_slice(self.content);
    }
}

/// Rows of the second join: under each id its content, then the pairs that wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightRow<'a> {
    /// A content.
    Content(ContentRow<'a>),
    /// A pair with its other content.
    Half(HalfNear<'a>),
}

impl<'a> Record<'a> for RightRow<'a> {
    const FIELDS: &'static str = "id⇥0⇥content; b⇥1⇥a⇥distance⇥content of a";
    const KEYS: Option<Keys> = Some(KEYS);

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        if second_field(line) == Some(b"1") {
            HalfNear::decode(line).map(RightRow::Half)
        } else {
            ContentRow::decode(line).map(RightRow::Content)
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RightRow::Content(content) => content.encode(out),
            RightRow::Half(half) => half.encode(out),
        }
    }
}
