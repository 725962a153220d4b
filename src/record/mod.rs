//! The line formats: one file for each family of records, encode and decode and nothing else.
//!
//! A record is one line: fields separated by TAB, key fields first. Ids have no byte below 0x20 (see
//! [`id`]), so TAB is the smallest byte of any row, and a sort of whole lines is also a sort by key.
//! Numbers that sort have a fixed width. A record that travels through a shuffle declares its [`Keys`] here,
//! once: the mapper's partitioner, the sort line and the reducer's groups all follow from them.

pub mod bad;
pub mod cluster;
pub mod count;
pub mod document;
pub mod expand;
pub mod id;
pub mod lookup;
pub mod meta;
pub mod pair;
pub mod posting;
pub mod round;
pub mod set;
pub mod slice;
pub mod star;
pub mod tokenized;
pub mod verify;

use crate::error::FieldError;
use crate::join::tau::Jaccard6;

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

/// Appends a similarity in six decimals.
pub fn push_jaccard(out: &mut Vec<u8>, jaccard: Jaccard6) {
    let millionths = u64::from(jaccard.millionths());
    push_number(out, millionths / 1_000_000);
    out.push(b'.');
    push_padded(out, millionths % 1_000_000, 6);
}

/// A similarity from its six decimals.
pub fn parse_jaccard(text: &[u8]) -> Option<Jaccard6> {
    let (whole, decimals) = text.split_at_checked(1)?;
    let decimals = decimals.strip_prefix(b".").filter(|decimals| decimals.len() == 6)?;
    let millionths = parse_number(whole)? * 1_000_000 + parse_number(decimals)?;
    Jaccard6::from_millionths(u32::try_from(millionths).ok()?)
}

/// Where the first `fields` fields of a line end (the TAB after them not included).
pub fn key_end(line: &[u8], fields: usize) -> usize {
    if fields == 0 {
        return 0;
    }
    memchr::memchr_iter(b'\t', line).nth(fields - 1).unwrap_or(line.len())
}

/// The first field of a line, which tells the records of a mapper with two inputs apart, and the second.
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
