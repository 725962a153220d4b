//! MinHash signatures, and the rows that bring the two signatures of a candidate together: a join on one id, then on the
//! other, as that of sets in [`verify`](super::verify).

use super::pair::Candidate;
use super::{Fields, Keys, Record, push_number, push_tagged, tag};
use crate::error::FieldError;

const KEYS: Keys = Keys { partition: 1, sort: 3 };

/// How many hex digits a value has.
const VALUE_DIGITS: usize = 2 * size_of::<u32>();
const VALUES: &str = "values of 8 lower-case hex digits each, one or more, nothing between";

/// The values of a signature, as they stand in a line; checked when they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values<'a>(&'a [u8]);

impl<'a> Values<'a> {
    /// The values in a text that [`push_values`] has made.
    pub fn of(text: &'a [u8]) -> Self {
        Self(text)
    }

    /// The text.
    pub fn text(&self) -> &'a [u8] {
        self.0
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len() / VALUE_DIGITS
    }

    /// Replaces `out` by the values.
    pub fn read(&self, out: &mut Vec<u32>) -> Result<(), FieldError> {
        out.clear();
        for digits in self.0.chunks(VALUE_DIGITS) {
            let value = digits.iter().try_fold(0, |value, digit| match digit {
                b'0'..=b'9' => Some(value << 4 | u32::from(digit - b'0')),
                b'a'..=b'f' => Some(value << 4 | u32::from(digit - b'a' + 10)),
                _ => None,
            });
            let value = value.filter(|_| digits.len() == VALUE_DIGITS);
            out.push(value.ok_or_else(|| FieldError::new("values", VALUES, digits))?);
        }
        Ok(())
    }

    fn decode(text: &'a [u8]) -> Result<Self, FieldError> {
        match text.is_empty() || !text.len().is_multiple_of(VALUE_DIGITS) {
            true => Err(FieldError::new("values", VALUES, text)),
            false => Ok(Self(text)),
        }
    }
}

/// Appends values as the field of a line.
pub fn push_values(out: &mut Vec<u8>, values: &[u32]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let digits = |value: &u32| {
        let value = *value;
        (0..VALUE_DIGITS).rev().map(move |at| HEX[(value >> (4 * at) & 15) as usize])
    };
    out.extend(values.iter().flat_map(digits));
}

/// A signature, and what it was made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    /// The document.
    pub id: &'a [u8],
    /// How many features its set has.
    pub size: u64,
    /// Version, method and tokenizer.
    pub made: &'a [u8],
    /// The values.
    pub values: Values<'a>,
}

impl<'a> Record<'a> for Signature<'a> {
    const FIELDS: &'static str = r"id⇥\h⇥size⇥made by⇥values";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        fields.exactly("tag", tag::SIGNATURE, r"\h")?;
        let size = fields.number("size")?;
        let made = fields.next("made by", "what made the signature")?;
        Ok(Self { id, size, made, values: Values::decode(fields.rest())? })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_tagged(out, self.id, tag::SIGNATURE);
        push_number(out, self.size);
        out.push(b'\t');
        out.extend_from_slice(self.made);
        out.push(b'\t');
        out.extend_from_slice(self.values.text());
    }
}

/// What `match-left` reads: the candidates, and the signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftInput<'a> {
    /// A pair to be compared.
    Candidate(Candidate<'a>),
    /// A signature.
    Signature(Signature<'a>),
}

impl<'a> Record<'a> for LeftInput<'a> {
    const FIELDS: &'static str = r"a⇥\c⇥b; id⇥\h⇥size⇥made by⇥values";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match super::second_field(line) {
            Some(tag::CANDIDATE) => Candidate::decode(line).map(LeftInput::Candidate),
            _ => Signature::decode(line).map(LeftInput::Signature),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LeftInput::Candidate(candidate) => candidate.encode(out),
            LeftInput::Signature(signature) => signature.encode(out),
        }
    }
}

/// A signature under its id, before the rows that wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// The document.
    pub id: &'a [u8],
    /// How many features its set has.
    pub size: u64,
    /// The values.
    pub values: Values<'a>,
}

impl<'a> Signed<'a> {
    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        fields.exactly("tag", b"0", "0, or that of a row that waits for a signature")?;
        let size = fields.number("size")?;
        Ok(Self { id, size, values: Values::decode(fields.rest())? })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_tagged(out, self.id, b"0");
        push_number(out, self.size);
        out.push(b'\t');
        out.extend_from_slice(self.values.text());
    }
}

/// Rows of the first join: under each id its signature, then the candidates it is the smaller id of. Repeated candidates are
/// neighbours here, and merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftRow<'a> {
    /// A signature.
    Signed(Signed<'a>),
    /// A pair to be compared.
    Candidate(Candidate<'a>),
}

impl<'a> Record<'a> for LeftRow<'a> {
    const FIELDS: &'static str = r"id⇥0⇥size⇥values; a⇥\c⇥b";
    const KEYS: Option<Keys> = Some(KEYS);

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match super::second_field(line) {
            Some(tag::CANDIDATE) => Candidate::decode(line).map(LeftRow::Candidate),
            _ => Signed::decode(line).map(LeftRow::Signed),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LeftRow::Signed(signed) => signed.encode(out),
            LeftRow::Candidate(candidate) => candidate.encode(out),
        }
    }
}

/// A candidate that carries the signature of its smaller id to the larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfSigned<'a> {
    /// The larger id, where the row goes.
    pub b: &'a [u8],
    /// The smaller id.
    pub a: &'a [u8],
    /// How many features the set of a has.
    pub size: u64,
    /// The signature of a.
    pub values: Values<'a>,
}

impl<'a> Record<'a> for HalfSigned<'a> {
    const FIELDS: &'static str = "b⇥1⇥a⇥size of a⇥values of a";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let b = fields.id("b")?;
        fields.exactly("tag", b"1", "1")?;
        let a = fields.id("a")?;
        let size = fields.number("size of a")?;
        Ok(Self { b, a, size, values: Values::decode(fields.rest())? })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_tagged(out, self.b, b"1");
        out.extend_from_slice(self.a);
        out.push(b'\t');
        push_number(out, self.size);
        out.push(b'\t');
        out.extend_from_slice(self.values.text());
    }
}

/// What `match-right` reads: the halves, and the signatures again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightInput<'a> {
    /// A candidate with one of its signatures.
    Half(HalfSigned<'a>),
    /// A signature.
    Signature(Signature<'a>),
}

impl<'a> Record<'a> for RightInput<'a> {
    const FIELDS: &'static str = r"b⇥1⇥a⇥size of a⇥values of a; id⇥\h⇥size⇥made by⇥values";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match super::second_field(line) {
            Some(b"1") => HalfSigned::decode(line).map(RightInput::Half),
            _ => Signature::decode(line).map(RightInput::Signature),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RightInput::Half(half) => half.encode(out),
            RightInput::Signature(signature) => signature.encode(out),
        }
    }
}

/// Rows of the second join: under each id its signature, then the halves that wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightRow<'a> {
    /// A signature.
    Signed(Signed<'a>),
    /// A candidate with its other signature.
    Half(HalfSigned<'a>),
}

impl<'a> Record<'a> for RightRow<'a> {
    const FIELDS: &'static str = "id⇥0⇥size⇥values; b⇥1⇥a⇥size of a⇥values of a";
    const KEYS: Option<Keys> = Some(KEYS);

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match super::second_field(line) {
            Some(b"1") => HalfSigned::decode(line).map(RightRow::Half),
            _ => Signed::decode(line).map(RightRow::Signed),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RightRow::Signed(signed) => signed.encode(out),
            RightRow::Half(half) => half.encode(out),
        }
    }
}
