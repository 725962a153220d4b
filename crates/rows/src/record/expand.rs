//! The rows that turn pairs of representatives into pairs of all documents with those sets.

use super::near::{AnyPair, Checked, push_checked, push_text_measure};
use super::set::Member;
use super::{Fields, Keys, Record, is_member, push_number, tag};
use twinsplit_core::similarity::Measure;
use twinsplit_core::similarity::text::TextMeasure;
use twinsplit_io::error::FieldError;

/// What `expand-left` reads: pairs of representatives, and the stream with the copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LeftInput<'a> {
    /// A pair of representatives.
    Pair(AnyPair<'a>),
    /// A copy; sets are passed over.
    Member(Member<'a>),
}

impl<'a> Record<'a> for LeftInput<'a> {
    const FIELDS: &'static str = "pairs; copies; sets";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        if is_member(line) {
            Member::decode(line).map(LeftInput::Member)
        } else {
            AnyPair::decode(line).map(LeftInput::Pair)
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LeftInput::Pair(pair) => pair.encode(out),
            LeftInput::Member(member) => member.encode(out),
        }
    }
}

/// What `expand-right` reads: the half-expanded pairs, and the stream with the copies again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RightInput<'a> {
    /// A pair under the representative that is still to be expanded.
    Row(ExpandRow<'a>),
    /// A copy; sets are passed over.
    Member(Member<'a>),
}

impl<'a> Record<'a> for RightInput<'a> {
    const FIELDS: &'static str = "key⇥1⇥other⇥overlap⇥size_key⇥size_other; copies; sets";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        if is_member(line) {
            Member::decode(line).map(RightInput::Member)
        } else {
            ExpandRow::decode(line).map(RightInput::Row)
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RightInput::Row(row) => row.encode(out),
            RightInput::Member(member) => member.encode(out),
        }
    }
}

/// Under each representative its copies first, then its pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpandRow<'a> {
    /// A copy of the representative.
    Copy {
        /// The representative.
        representative: &'a [u8],
        /// The copy.
        id: &'a [u8],
        /// Size of their set.
        size: u64,
    },
    /// A pair of the representative with another document.
    Pair {
        /// The representative.
        key: &'a [u8],
        /// The other document.
        other: &'a [u8],
        /// Shared features.
        overlap: u64,
        /// Size of the representative's set.
        size_key: u64,
        /// Size of the other's set.
        size_other: u64,
        /// What their similarity is.
        measure: Measure,
    },
    /// A document with the representative's fingerprint.
    EqualFingerprint {
        /// The representative.
        representative: &'a [u8],
        /// The document.
        id: &'a [u8],
        /// What is compared of texts, in which both are equal then.
        measure: Option<TextMeasure>,
    },
    /// A pair of the representative by fingerprints.
    Near {
        /// The representative.
        key: &'a [u8],
        /// The other document.
        other: &'a [u8],
        /// The bits in which their fingerprints differ.
        distance: u32,
        /// How alike their texts are, where these were compared.
        checked: Option<Checked>,
    },
}

impl<'a> Record<'a> for ExpandRow<'a> {
    const FIELDS: &'static str = "representative⇥0⇥copy⇥size; key⇥1⇥other⇥overlap⇥size_key⇥size_other, with another \
                                  --similarity ⇥its name; of fingerprints representative⇥0⇥copy⇥\\#, key⇥1⇥other⇥\\#⇥distance, \
                                  with --check of texts ⇥its name, ⇥similarity⇥its name";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let key = fields.id("key")?;
        let kind = fields.next("tag", "0 or 1")?;
        let other = fields.id("id")?;
        let mut after = fields.clone();
        if after.next("size or tag", r"a number or \#").is_ok_and(|found| found == tag::FINGERPRINT) {
            let row = match kind {
                b"0" => {
                    let measure = if after.is_done() { None } else { Some(after.text_measure()?) };
                    ExpandRow::EqualFingerprint { representative: key, id: other, measure }
                }
                b"1" => {
                    let (distance, checked) = (after.distance()?, after.checked()?);
                    ExpandRow::Near { key, other, distance, checked }
                }
                _ => return Err(FieldError::new("tag", "0 or 1", kind)),
            };
            after.done()?;
            return Ok(row);
        }
        let row = match kind {
            b"0" => ExpandRow::Copy { representative: key, id: other, size: fields.number("size")? },
            b"1" => ExpandRow::Pair {
                key,
                other,
                overlap: fields.number("overlap")?,
                size_key: fields.number("size_key")?,
                size_other: fields.number("size_other")?,
                measure: fields.measure()?,
            },
            _ => return Err(FieldError::new("tag", "0 or 1", kind)),
        };
        fields.done()?;
        if let ExpandRow::Pair { overlap, size_key, size_other, .. } = row
            && overlap > size_key.min(size_other)
        {
            let found = overlap.to_string();
            return Err(FieldError::new("overlap", "at most the smaller size", found.as_bytes()));
        }
        Ok(row)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let mut row = |key: &[u8], tag: &[u8], id: &[u8], numbers: &[u64]| {
            out.extend_from_slice(key);
            out.extend_from_slice(tag);
            out.extend_from_slice(id);
            for number in numbers {
                out.push(b'\t');
                push_number(out, *number);
            }
        };
        match *self {
            ExpandRow::EqualFingerprint { representative, id, measure } => {
                row(representative, b"\t0\t", id, &[]);
                out.push(b'\t');
                out.extend_from_slice(tag::FINGERPRINT);
                push_text_measure(out, measure);
            }
            ExpandRow::Near { key, other, distance, checked } => {
                row(key, b"\t1\t", other, &[]);
                out.push(b'\t');
                out.extend_from_slice(tag::FINGERPRINT);
                out.push(b'\t');
                push_number(out, distance.into());
                push_checked(out, checked);
            }
            ExpandRow::Copy { representative, id, size } => row(representative, b"\t0\t", id, &[size]),
            ExpandRow::Pair { key, other, overlap, size_key, size_other, measure } => {
                row(key, b"\t1\t", other, &[overlap, size_key, size_other]);
                super::push_measure(out, measure);
            }
        }
    }
}
