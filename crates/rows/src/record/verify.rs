//! The rows that bring the two sets of a candidate together: a join on one id, then on the other.

use super::pair::Candidate;
use super::set::{Doc, Features, Member};
use super::{Fields, Keys, Record, tag};
use twinsplit_io::error::FieldError;

const KEYS: Keys = Keys { partition: 1, sort: 3 };

fn push_set(out: &mut Vec<u8>, id: &[u8], features: &Features<'_>) {
    out.extend_from_slice(id);
    out.extend_from_slice(b"\t0\t");
    features.encode(out);
}

/// What `verify-left` reads: the candidates, and the documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LeftInput<'a> {
    /// A pair to be counted.
    Candidate(Candidate<'a>),
    /// A set, or a copy, which is passed over.
    Member(Member<'a>),
}

impl<'a> Record<'a> for LeftInput<'a> {
    const FIELDS: &'static str = r"a⇥\c⇥b; id⇥features; copies";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match super::second_field(line) {
            Some(tag::CANDIDATE) => Candidate::decode(line).map(LeftInput::Candidate),
            _ => Member::decode(line).map(LeftInput::Member),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LeftInput::Candidate(candidate) => candidate.encode(out),
            LeftInput::Member(member) => member.encode(out),
        }
    }
}

/// Rows of the first join: under each id its set, then the candidates it is the smaller id of. Repeated candidates
/// are neighbours here, and merge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LeftRow<'a> {
    /// A set.
    Set(Doc<'a>),
    /// A pair to be counted.
    Candidate(Candidate<'a>),
}

impl<'a> Record<'a> for LeftRow<'a> {
    const FIELDS: &'static str = r"id⇥0⇥features; a⇥\c⇥b";
    const KEYS: Option<Keys> = Some(KEYS);

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        if super::second_field(line) == Some(tag::CANDIDATE) {
            return Candidate::decode(line).map(LeftRow::Candidate);
        }
        decode_set(line).map(LeftRow::Set)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LeftRow::Set(doc) => push_set(out, doc.id, &doc.features),
            LeftRow::Candidate(candidate) => candidate.encode(out),
        }
    }
}

fn decode_set(line: &[u8]) -> Result<Doc<'_>, FieldError> {
    let mut fields = Fields::of(line);
    let id = fields.id("id")?;
    fields.exactly("tag", b"0", "0, or that of a row that waits for a set")?;
    let features = Features::Text(fields.rest());
    Ok(Doc { id, features })
}

/// A candidate that carries the set of its smaller id to the larger one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Half<'a> {
    /// The larger id, where the row goes.
    pub b: &'a [u8],
    /// The smaller id.
    pub a: &'a [u8],
    /// The set of a.
    pub features: Features<'a>,
}

impl<'a> Record<'a> for Half<'a> {
    const FIELDS: &'static str = "b⇥1⇥a⇥features of a";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let b = fields.id("b")?;
        fields.exactly("tag", b"1", "1")?;
        let a = fields.id("a")?;
        Ok(Self { b, a, features: Features::Text(fields.rest()) })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.b);
        out.extend_from_slice(b"\t1\t");
        out.extend_from_slice(self.a);
        out.push(b'\t');
        self.features.encode(out);
    }
}

/// What `verify-right` reads: the halves, and the documents again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RightInput<'a> {
    /// A candidate with one of its sets.
    Half(Half<'a>),
    /// A set, or a copy, which is passed over.
    Member(Member<'a>),
}

impl<'a> Record<'a> for RightInput<'a> {
    const FIELDS: &'static str = "b⇥1⇥a⇥features of a; id⇥features; copies";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        if super::second_field(line) == Some(b"1") {
            Half::decode(line).map(RightInput::Half)
        } else {
            Member::decode(line).map(RightInput::Member)
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RightInput::Half(half) => half.encode(out),
            RightInput::Member(member) => member.encode(out),
        }
    }
}

/// Rows of the second join: under each id its set, then the halves that wait for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RightRow<'a> {
    /// A set.
    Set(Doc<'a>),
    /// A candidate with its other set.
    Half(Half<'a>),
}

impl<'a> Record<'a> for RightRow<'a> {
    const FIELDS: &'static str = "id⇥0⇥features; b⇥1⇥a⇥features of a";
    const KEYS: Option<Keys> = Some(KEYS);

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        if super::second_field(line) == Some(b"1") {
            Half::decode(line).map(RightRow::Half)
        } else {
            decode_set(line).map(RightRow::Set)
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RightRow::Set(doc) => push_set(out, doc.id, &doc.features),
            RightRow::Half(half) => half.encode(out),
        }
    }
}
