//! The line formats: one file for each family of records, encode and decode and nothing else.
//!
//! A record is one line: fields separated by TAB, key fields first. Ids have no byte below 0x20 (see
//! [`id`]), so TAB is the smallest byte of any row, and a sort of whole lines is also a sort by key.
//! Numbers that sort have a fixed width. A record that travels through a shuffle declares its [`Keys`] here,
//! once: the mapper's partitioner, the sort line and the reducer's groups all follow from them.

pub mod bad;
pub mod band_filter;
pub mod checked;
pub mod cluster;
pub mod compared;
pub mod content;
pub mod count;
pub mod cut;
pub mod document;
pub mod expand;
pub mod fingerprint;
pub mod hamming;
pub mod id;
pub mod lookup;
pub mod meta;
pub mod near;
pub mod pair;
pub mod posting;
pub mod query;
pub mod round;
pub mod sampled;
pub mod set;
pub mod signature;
pub mod site;
pub mod slice;
pub mod star;
pub mod star_sets;
pub mod tokenized;
pub mod unit;
pub mod verify;

use twinsplit_core::choice::Choice;
use twinsplit_core::similarity::{Measure, Score};
use twinsplit_io::error::FieldError;

/// How a record is shuffled: equal first `partition` fields meet in one task and form one group, sorted by the
/// first `sort` fields. `partition` 0 is one task and one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// Leading fields that choose the task and form the group.
    pub partition: usize,
    /// Leading fields that the task's rows are sorted by, in unsigned byte order.
    pub sort: usize,
}

/// A line format. `decode(encode(x)) == x` for every value.
pub trait Record<'a>: Sized {
    /// The fields, as `docs/stages.md` shows them.
    const FIELDS: &'static str;
    /// How the record is shuffled; `None` for one that never is.
    const KEYS: Option<Keys> = None;

    /// Reads a line without its end.
    fn decode(line: &'a [u8]) -> Result<Self, FieldError>;

    /// Appends the line, without its end, to `out`.
    fn encode(&self, out: &mut Vec<u8>);
}

/// Reads a line's fields from left to right.
#[derive(Clone)]
pub struct Fields<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    /// The fields of `line`.
    pub fn of(line: &'a [u8]) -> Self {
        Self { rest: Some(line) }
    }

    /// The next field, or an error that it is missing.
    pub fn next(&mut self, field: &'static str, expected: &'static str) -> Result<&'a [u8], FieldError> {
        let rest = self.rest.ok_or_else(|| FieldError::missing(field, expected))?;
        let (head, tail) = match memchr::memchr(b'\t', rest) {
            Some(tab) => (&rest[..tab], Some(&rest[tab + 1..])),
            None => (rest, None),
        };
        self.rest = tail;
        Ok(head)
    }

    /// Passes over the next field, which must be `value`; `expected` says what it may be in rows of this kind.
    pub fn exactly(
        &mut self,
        field: &'static str,
        value: &[u8],
        expected: &'static str,
    ) -> Result<(), FieldError> {
        let found = self.next(field, expected)?;
        if found == value { Ok(()) } else { Err(FieldError::new(field, expected, found)) }
    }

    /// The next field as a document id.
    pub fn id(&mut self, field: &'static str) -> Result<&'a [u8], FieldError> {
        let found = self.next(field, "a document id")?;
        if found.is_empty() { Err(FieldError::new(field, "a document id", found)) } else { Ok(found) }
    }

    /// The next field as a decimal number; leading zeros are allowed (fixed width).
    pub fn number(&mut self, field: &'static str) -> Result<u64, FieldError> {
        let expected = "a number without sign";
        let found = self.next(field, expected)?;
        parse_number(found).ok_or_else(|| FieldError::new(field, expected, found))
    }

    /// The next field as a feature of 16 lower-case hex digits.
    pub fn feature(&mut self, field: &'static str) -> Result<u64, FieldError> {
        let found = self.next(field, set::FEATURE)?;
        set::parse_feature(found).ok_or_else(|| FieldError::new(field, set::FEATURE, found))
    }

    /// The name of a measure, if there is a field more; Jaccard has none.
    pub fn measure(&mut self) -> Result<Measure, FieldError> {
        if self.is_done() {
            return Ok(Measure::Jaccard);
        }
        let expected = "containment, cosine, dice or overlap";
        let found = self.next("similarity's name", expected)?;
        let named = Measure::values().find(|measure| measure.name().as_bytes() == found);
        let measure = named.filter(|measure| *measure != Measure::Jaccard);
        measure.ok_or_else(|| FieldError::new("similarity's name", expected, found))
    }

    /// Everything after the last field that was read, TABs included; empty at the end of the line.
    pub fn rest(self) -> &'a [u8] {
        self.rest.unwrap_or_default()
    }

    /// Whether the line is used up.
    pub fn is_done(&self) -> bool {
        self.rest.is_none()
    }

    /// An error unless the line is used up.
    pub fn done(self) -> Result<(), FieldError> {
        match self.rest {
            None | Some([]) => Ok(()),
            Some(rest) => Err(FieldError::new("end of line", "no further field", rest)),
        }
    }
}

/// A decimal number of at most 20 digits that fits 64 bits.
pub fn parse_number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 20 {
        return None;
    }
    digits.iter().try_fold(0u64, |n, digit| {
        let value = digit.wrapping_sub(b'0');
        if value > 9 { None } else { n.checked_mul(10)?.checked_add(u64::from(value)) }
    })
}

/// Appends a number in decimal.
pub fn push_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a number in decimal, filled with zeros on the left to `width` digits.
pub fn push_padded(out: &mut Vec<u8>, number: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number).as_bytes();
    out.resize(out.len() + width.saturating_sub(digits.len()), b'0');
    out.extend_from_slice(digits);
}

/// Appends a field with the name of a measure; nothing for Jaccard.
pub fn push_measure(out: &mut Vec<u8>, measure: Measure) {
    if measure != Measure::Jaccard {
        out.push(b'\t');
        out.extend_from_slice(measure.name().as_bytes());
    }
}

/// What a field with a similarity must hold.
const SCORE: &str = "six decimals, or a number of features";

/// Appends a similarity: a share in six decimals, or a number of features.
pub fn push_score(out: &mut Vec<u8>, score: Score) {
    match score {
        Score::Share(millionths) => {
            let millionths = u64::from(millionths);
            push_number(out, millionths / 1_000_000);
            out.push(b'.');
            push_padded(out, millionths % 1_000_000, 6);
        }
        Score::Count(count) => push_number(out, count),
    }
}

/// A similarity from its six decimals, or a number of features.
pub fn parse_score(text: &[u8]) -> Option<Score> {
    match text.split_at_checked(1) {
        Some((whole, [b'.', decimals @ ..])) if decimals.len() == 6 => {
            let millionths = parse_number(whole)? * 1_000_000 + parse_number(decimals)?;
            Score::share(u32::try_from(millionths).ok()?)
        }
        _ => parse_number(text).map(Score::Count),
    }
}

/// Where the first `fields` fields of a line end (the TAB after them not included).
pub fn key_end(line: &[u8], fields: usize) -> usize {
    if fields == 0 {
        return 0;
    }
    memchr::memchr_iter(b'\t', line).nth(fields - 1).unwrap_or(line.len())
}

/// The second fields that tell rows of several kinds in one stream apart. None of them is an id, in which a backslash is
/// followed by `x` and two digits, and so a row with an id there is none of these kinds.
pub(crate) mod tag {
    /// The row of a copy.
    pub const COPY: &[u8] = br"\=";
    /// A fingerprint.
    pub const FINGERPRINT: &[u8] = br"\#";
    /// A fingerprint that is a copy of another one.
    pub const EQUAL_FINGERPRINT: &[u8] = br"\#=";
    /// A set with the hash of its text.
    pub const TEXT: &[u8] = br"\~";
    /// A document with the document that its cluster keeps.
    pub const CLUSTERED: &[u8] = br"\k";
    /// A document's label.
    pub const LABEL: &[u8] = br"\>";
    /// A document's properties.
    pub const META: &[u8] = br"\m";
    /// A member of a component.
    pub const MEMBER: &[u8] = br"\s";
    /// A candidate; it sorts behind the 0 of a set.
    pub const CANDIDATE: &[u8] = br"\c";
    /// A pair of fingerprints.
    pub const NEAR: &[u8] = br"\d";
    /// A posting list, or the documents of a band's key.
    pub const LIST: &[u8] = br"\l";
    /// A signature.
    pub const SIGNATURE: &[u8] = br"\h";
}

/// Appends an id and a tag, with a TAB behind each.
pub(crate) fn push_tagged(out: &mut Vec<u8>, id: &[u8], tag: &[u8]) {
    out.extend_from_slice(id);
    out.push(b'\t');
    out.extend_from_slice(tag);
    out.push(b'\t');
}

/// Whether a line is a set, a fingerprint or a copy, in a stream of these and of pairs: of the rows without a tag, a set ends
/// with its second field, behind which a pair has what the two share.
pub(crate) fn is_member(line: &[u8]) -> bool {
    use tag::{COPY, EQUAL_FINGERPRINT, FINGERPRINT, META, TEXT};
    matches!(second_field(line), Some(COPY | TEXT | FINGERPRINT | EQUAL_FINGERPRINT | META))
        || key_end(line, 2) == line.len()
}

/// The second field of a line.
pub(crate) fn second_field(line: &[u8]) -> Option<&[u8]> {
    let start = memchr::memchr(b'\t', line)? + 1;
    let end = memchr::memchr(b'\t', &line[start..]).map_or(line.len(), |tab| start + tab);
    Some(&line[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_and_keep_their_width() {
        for number in [0, 1, 9, 10, 12_345, u64::MAX] {
            let mut plain = Vec::new();
            push_number(&mut plain, number);
            assert_eq!(plain, number.to_string().into_bytes());
            assert_eq!(parse_number(&plain), Some(number));
            let mut padded = Vec::new();
            push_padded(&mut padded, number, 10);
            assert_eq!(padded, format!("{number:010}").into_bytes());
        }
        assert_eq!(parse_number(b"18446744073709551616"), None);
        assert_eq!(parse_number(b"-1"), None);
        assert_eq!(parse_number(b""), None);
    }

    #[test]
    fn a_key_ends_before_its_tab() {
        assert_eq!(key_end(b"a\tbc\td", 0), 0);
        assert_eq!(key_end(b"a\tbc\td", 1), 1);
        assert_eq!(key_end(b"a\tbc\td", 2), 4);
        assert_eq!(key_end(b"a\tbc\td", 3), 6);
        assert_eq!(key_end(b"a\tbc\td", 4), 6);
    }
}
