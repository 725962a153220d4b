//! Lines within a bound: a file without line ends, or one that is no text, must not fill the memory.

use super::Room;
use crate::error::{Error, Place, Result};
use std::fmt;
use std::io::{BufRead, Read};
use std::path::Path;
use std::str::FromStr;

/// The most bytes that a line may have, its end not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxLine(u64);

impl MaxLine {
    /// The bound of rows between stages. A document of n bytes can have n features of 17 bytes each, so their rows
    /// are longer than its line, and what bounds them is what a shuffle can carry.
    pub const ROW: Self = Self(u32::MAX as u64);

    /// In bytes.
    pub fn bytes(self) -> u64 {
        self.0
    }

    /// An error about the line at `place`, which is longer.
    pub fn exceeded(self, place: &Place) -> Error {
        Error::LongLine { place: place.clone(), bound: self }
    }
}

impl fmt::Display for MaxLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = SUFFIXES.iter().find(|(_, size)| self.0.is_multiple_of(*size));
        let (suffix, size) = unit.unwrap_or(&SUFFIXES[3]);
        write!(f, "{}{suffix}", self.0 / size)
    }
}

/// Largest first.
const SUFFIXES: [(char, u64); 4] = [('G', 1 << 30), ('M', 1 << 20), ('K', 1 << 10), ('B', 1)];

/// A number of bytes with one of the suffixes, or of `units` without; `None` for any other text, and from 2^64 on.
pub fn parse_bytes(text: &str, units: u64) -> Option<u64> {
    let found = SUFFIXES.iter().find_map(|(suffix, size)| Some((text.strip_suffix(*suffix)?, *size)));
    let (digits, size) = found.unwrap_or((text, units));
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<u64>().ok().filter(|_| plain)?.checked_mul(size)
}

impl Default for MaxLine {
    /// 256 MB.
    fn default() -> Self {
        Self(256 << 20)
    }
}

twinsplit_core::read_from_text!(MaxLine);

impl FromStr for MaxLine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_bytes(text, 1 << 20).filter(|bytes| (1..=Self::ROW.0).contains(bytes)).map(Self).ok_or_else(
            || {
                "expected megabytes, or a number with the suffix B, K, M or G, above 0 and below 4G"
                    .to_owned()
            },
        )
    }
}

/// Appends the rest of a line, its end included, to `line`, which holds `before` bytes of that line already. At most
/// the bound and one byte more are held; false says that the line is longer.
pub fn read_rest(
    reader: &mut dyn BufRead,
    line: &mut Vec<u8>,
    before: u64,
    bound: MaxLine,
) -> std::io::Result<bool> {
    let room = bound.0.saturating_sub(before).saturating_add(1);
    let read = reader.take(room).read_until(b'\n', line)?;
    Ok((read as u64) < room || line.last() == Some(&b'\n'))
}

/// How much of the rest of a line was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// All.
    Whole,
    /// The line is longer than the bound.
    Exceeds,
    /// There was no room for the line, which has so many bytes without its end.
    NoRoom(u64),
}

/// Bytes of a long line for which room is asked at a time.
const STEP: usize = 1 << 20;
/// Allocators give a block of this size back to the system when it is freed. Memory that was not touched yet is not taken
/// from it.
const MAPPED: usize = 33 << 20;

/// As [`read_rest`], and room is asked for what exceeds the first `usual` bytes. Of a line without room nothing is left.
pub(super) fn read_rest_within(
    reader: &mut dyn BufRead,
    path: &Path,
    line: &mut Vec<u8>,
    before: u64,
    bound: MaxLine,
    usual: usize,
    room: &mut dyn Room,
) -> Result<Rest> {
    let (start, mut before, mut step) = (line.len() - before as usize, before, usual.max(1));
    loop {
        // What the bound leaves and one byte, which says that the line is longer.
        let least = bound.0.saturating_sub(before).saturating_add(1).min(step as u64);
        let from = line.len();
        let read = reader.take(least).read_until(b'\n', line).map_err(Error::io("read", path))? as u64;
        before += read;
        if read < least || line[from..].last() == Some(&b'\n') {
            return Ok(Rest::Whole);
        }
        if before > bound.0 {
            return Ok(Rest::Exceeds);
        }
        step = STEP;
        if !room.take(step)? {
            line.truncate(start);
            line.shrink_to_fit();
            before += pass_over_line(reader, bound.0.saturating_sub(before).saturating_add(1))
                .map_err(Error::io("read", path))?;
            return Ok(if before > bound.0 { Rest::Exceeds } else { Rest::NoRoom(before) });
        }
        line.reserve(if line.len() > 4 * STEP { MAPPED } else { step });
    }
}

/// Reads to the end of a line without keeping it, but no more than so many bytes; how many, the end not counted.
fn pass_over_line(reader: &mut dyn BufRead, most: u64) -> std::io::Result<u64> {
    let mut passed = 0;
    while passed < most {
        let some = reader.fill_buf()?;
        if some.is_empty() {
            break;
        }
        let end = memchr::memchr(b'\n', some);
        let length = end.unwrap_or(some.len());
        reader.consume(length + usize::from(end.is_some()));
        passed += length as u64;
        if end.is_some() {
            break;
        }
    }
    Ok(passed)
}

/// Reads the next row of a file that holds rows into `line`, without its end; false at the end of the file.
pub fn read_row(reader: &mut dyn BufRead, line: &mut Vec<u8>, path: &Path, number: u64) -> Result<bool> {
    line.clear();
    let whole = read_rest(reader, line, 0, MaxLine::ROW).map_err(Error::io("read", path))?;
    if !whole {
        let place = Place { file: super::name_of(path), line: number, ..Place::default() };
        return Err(MaxLine::ROW.exceeded(&place));
    }
    let read = !line.is_empty();
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_megabytes_or_have_a_suffix() {
        for (text, bytes, shown) in [
            ("256", 256 << 20, "256M"),
            ("1B", 1, "1B"),
            ("1025B", 1025, "1025B"),
            ("2048B", 2048, "2K"),
            ("3K", 3072, "3K"),
            ("1024M", 1 << 30, "1G"),
            ("3G", 3 << 30, "3G"),
        ] {
            let bound: MaxLine = text.parse().unwrap();
            assert_eq!((bound.bytes(), bound.to_string().as_str()), (bytes, shown), "{text}");
            assert_eq!(bound.to_string().parse(), Ok(bound), "{text}");
        }
        for text in ["", "0", "0K", "-1", "+1", "1k", "1 M", "M", "4G", "4096", "1.5", "99999999999999999999"]
        {
            assert!(text.parse::<MaxLine>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_rest_of_a_line_stays_within_its_bound() {
        for bound in 1..8u64 {
            for before in 0..=bound {
                for length in 0..10usize {
                    for end in ["", "\n", "\nmore"] {
                        let text = format!("{}{end}", "x".repeat(length));
                        let mut line = Vec::new();
                        let whole =
                            read_rest(&mut text.as_bytes(), &mut line, before, MaxLine(bound)).unwrap();
                        assert_eq!(whole, before + length as u64 <= bound, "{bound} {before} {length}");
                        assert!(before + line.len() as u64 <= bound + 1);
                    }
                }
            }
        }
    }
}
