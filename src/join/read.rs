//! Lines of integers, read by several threads a block at a time.
//!
//! Which of 64 bytes are digits is a word of 64 bits, so that where tokens end is known ahead; and what number eight digits are takes a few
//! operations on one word. There is no branch for each byte.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use twinsplit_core::join::integers::RawSets;
use twinsplit_core::mask::{self, BLOCK, eight, padded};
use twinsplit_core::threads::{in_threads, lock};
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_io::{Block, Blocks};

/// Bytes that a thread reads at a time.
const READ: usize = 1 << 20;

/// Reads the sets of a file, in parts that follow one another; and how many lines there are. `held` counts what they ask of memory; those
/// beyond `most` are counted and not kept.
pub fn read(path: &Path, threads: usize, most: usize, held: &AtomicUsize) -> Result<(Vec<RawSets>, u32)> {
    let blocks = Mutex::new(Blocks::new(vec![path.to_owned()], READ));
    let failed: Mutex<Option<(u64, Error)>> = Mutex::new(None);
    let parts = in_threads(threads, threads, |_| {
        let mut parts = Vec::new();
        while lock(&failed).is_none() {
            let block = lock(&blocks).next_block();
            let (number, sets) = match block {
                Ok(None) => break,
                Ok(Some(block)) => (block.number, parse(block)),
                Err(error) => (u64::MAX, Err(error)),
            };
            match sets {
                Ok(sets) => {
                    if held.fetch_add(sets.bytes(), Ordering::Relaxed) + sets.bytes() <= most {
                        parts.push((number, sets));
                    }
                }
                Err(error) => {
                    // Blocks are given out in order: the first bad line of all is in one that somebody has.
                    let mut failed = lock(&failed);
                    if failed.as_ref().is_none_or(|(first, _)| number < *first) {
                        *failed = Some((number, error));
                    }
                }
            }
        }
        Ok::<_, Error>(parts)
    })?;
    if let Some((_, error)) = lock(&failed).take() {
        return Err(error);
    }
    let mut parts: Vec<_> = parts.into_iter().flatten().collect();
    parts.sort_unstable_by_key(|(number, _)| *number);
    let parts: Vec<RawSets> = parts.into_iter().map(|(_, sets)| sets).collect();
    let lines: usize = parts.iter().map(RawSets::len).sum();
    match u32::try_from(lines) {
        Ok(lines) if lines < u32::MAX => Ok((parts, lines)),
        _ => Err(Error::Limit(format!("join: {lines} sets, more than the {} that fit", u32::MAX - 1))),
    }
}

/// What is not a token: where it starts.
struct Bad {
    at: usize,
}

fn parse(block: Block) -> Result<RawSets> {
    let mut sets = RawSets::with_capacity(block.bytes.len() / 4);
    tokens(&block.bytes, &mut sets).map_err(|bad| place(&block.bytes, bad.at, &block.place))?;
    Ok(sets)
}

const ZEROS: u64 = eight(b'0');

/// Reads tokens.
fn tokens(bytes: &[u8], sets: &mut RawSets) -> Result<(), Bad> {
    let (mut start, end) = (0, bytes.len());
    // Behind the text no byte is a digit, so that a last chunk, empty or not, ends the last token.
    for base in (0..=end).step_by(BLOCK) {
        let mut others = non_digits(&padded(&bytes[base..]));
        while others != 0 {
            let stop = base + others.trailing_zeros() as usize;
            others &= others - 1;
            match stop - start {
                0 => {}
                digits @ 1..=8 => {
                    let word = u64::from_le_bytes(padded(&bytes[start..])) ^ ZEROS;
                    sets.push_small(value(word << (64 - 8 * digits)));
                }
                _ => sets.push(long(&bytes[start..stop]).ok_or(Bad { at: start })?),
            }
            // Nearly all end with a blank.
            if bytes.get(stop) != Some(&b' ') && !end_token(bytes, stop, sets).ok_or(Bad { at: start })? {
                break;
            }
            start = stop + 1;
        }
    }
    if bytes.last().is_some_and(|last| *last != b'\n') {
        sets.end_set();
    }
    Ok(())
}

/// Whether there is more behind this byte, which is no digit and no blank; `None` where no token ends with it.
#[inline(never)]
fn end_token(bytes: &[u8], at: usize, sets: &mut RawSets) -> Option<bool> {
    match bytes.get(at) {
        Some(b'\n') => sets.end_set(),
        Some(b'\t') => {}
        Some(b'\r') if bytes.get(at + 1).is_none_or(|next| *next == b'\n') => {}
        Some(_) => return None,
        None => return Some(false),
    }
    Some(true)
}

/// Which of the bytes are no digits: the first byte is the lowest bit.
#[inline]
fn non_digits(bytes: &[u8; BLOCK]) -> u64 {
    // Digits become 0 to 9; every other byte has its high bit set.
    mask::of(bytes, |word| {
        let word = word ^ ZEROS;
        ((word & eight(0x7f)) + eight(0x80 - 10)) | word
    })
}

/// The number of eight digits, one a byte, the first in the lowest byte.
#[inline]
fn value(word: u64) -> u32 {
    let pairs = (word * 10) + (word >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    (low.wrapping_add(high) >> 32) as u32
}

/// The number of more than eight digits; `None` when it is too large.
fn long(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

/// The error at a token of a block.
fn place(bytes: &[u8], at: usize, block: &Place) -> Error {
    let before = &bytes[..at];
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
    let token = bytes[at..].split(is_blank).next().unwrap_or_default();
    let token = token.strip_suffix(b"\r").unwrap_or(token);
    let nth = bytes[start..at].split(is_blank).filter(|token| !token.is_empty()).count() + 1;
    let mut error =
        FieldError::new("token", "whole numbers up to 18446744073709551615 with spaces between", token);
    error.found = format!("{} as token {nth} of the line", error.found).into();
    let line = block.line + memchr::memchr_iter(b'\n', before).count() as u64;
    let place = Place { line, offset: block.offset + start as u64, ..block.clone() };
    Error::Record { stage: "twinsplit join", place, error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(text: &str) -> Result<Vec<Vec<u64>>> {
        let place = Place { line: 1, ..Place::default() };
        let block = Block { bytes: text.into(), place, ..Block::default() };
        parse(block).map(|sets| sets.to_lines())
    }

    #[test]
    fn reads_what_people_write() {
        for (text, expected) in [
            ("", vec![]),
            ("\n", vec![vec![]]),
            ("1 2 3", vec![vec![1, 2, 3]]),
            (" 1\t 2 \r\n\r\n3\r", vec![vec![1, 2], vec![], vec![3]]),
            ("0 00 007 12345678 123456789\n", vec![vec![0, 0, 7, 12_345_678, 123_456_789]]),
            ("18446744073709551615 2147483648\n5", vec![vec![u64::MAX, 1 << 31], vec![5]]),
        ] {
            assert_eq!(lines(text).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn names_what_is_no_number() {
        for (text, found) in [
            (
                "1 2\n3 x 4\n",
                r#", line 2, field token: expected whole numbers up to 18446744073709551615 with spaces between, found "x" as token 2"#,
            ),
            ("12a", r#"line 1, field token"#),
            ("1 -2", r#"found "-2" as token 2"#),
            ("1.5", r#"found "1.5" as token 1"#),
            ("18446744073709551616", r#"found "18446744073709551616""#),
            ("123456789x", r#"found "123456789x""#),
            ("1\r2 3\r\n", r#"found "1\r2" as token 1"#),
            ("1 x\r\n", r#"found "x" as token 2"#),
            ("1\n\n\u{2003}1", r#"line 3"#),
        ] {
            let error = lines(text).unwrap_err().to_string();
            assert!(error.contains(found), "{text:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn numbers_come_back(sets in prop::collection::vec(prop::collection::vec((any::<u64>(), 0u32..64), 0..9), 0..9)) {
            let sets: Vec<Vec<u64>> = sets.iter().map(|set| set.iter().map(|(n, shift)| n >> shift).collect()).collect();
            let text: String = sets
                .iter()
                .map(|set| set.iter().map(u64::to_string).collect::<Vec<_>>().join(" ") + "\n")
                .collect();
            prop_assert_eq!(lines(&text).unwrap(), sets);
        }
    }
}
