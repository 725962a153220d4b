//! Places of features in a text, written small for the page.
//!
//! Near-duplicates have the same features in nearly the same order. Numbered by first occurrence, the features of a
//! document mostly count up by one, and a place mostly lies a step behind the one before, so differences are
//! written, and equal ones once with their number:
//!
//! ```text
//! step,length            the number is one more than the last (the first one is 0)
//! step,length,difference any other number
//! …xTIMES                so many times one after the other
//! ```
//!
//! A step is from start to start, the first from 0; all are in UTF-16 code units, in which the page counts.

use std::fmt::Write as _;

/// A numbered stretch of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The feature's number.
    pub number: u32,
    /// Its first code unit.
    pub start: u32,
    /// The one after its last.
    pub end: u32,
}

/// Writes marks whose starts never decrease.
pub fn encode(marks: impl Iterator<Item = Mark>) -> String {
    let mut text = String::new();
    let mut run: Option<((u32, u32, i64), u64)> = None;
    let (mut number, mut start) = (-1, 0);
    for mark in marks {
        let token = (mark.start - start, mark.end - mark.start, i64::from(mark.number) - number);
        (number, start) = (i64::from(mark.number), mark.start);
        match &mut run {
            Some((last, times)) if *last == token => *times += 1,
            _ => push(&mut text, run.replace((token, 1))),
        }
    }
    push(&mut text, run);
    text
}

/// Writes stretches that stand in order and do not touch.
pub fn encode_stretches(stretches: &[(u32, u32)]) -> String {
    let marks = stretches.iter().zip(0..);
    encode(marks.map(|(&(start, end), number)| Mark { number, start, end }))
}

/// Adds a stretch that starts at or behind the start of the last one; what touches becomes one.
pub fn cover(stretches: &mut Vec<(u32, u32)>, start: u32, end: u32) {
    match stretches.last_mut() {
        _ if start == end => {}
        Some(last) if start <= last.1 => last.1 = last.1.max(end),
        _ => stretches.push((start, end)),
    }
}

fn push(text: &mut String, run: Option<((u32, u32, i64), u64)>) {
    let Some(((step, length, difference), times)) = run else { return };
    let space = if text.is_empty() { "" } else { " " };
    // Writing to a string cannot fail.
    let _ = write!(text, "{space}{step},{length}");
    if difference != 1 {
        let _ = write!(text, ",{difference}");
    }
    if times > 1 {
        let _ = write!(text, "x{times}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(all: &[(u32, u32, u32)]) -> String {
        encode(all.iter().map(|&(number, start, end)| Mark { number, start, end }))
    }

    #[test]
    fn equal_steps_are_written_once() {
        assert_eq!(marks(&[]), "");
        assert_eq!(marks(&[(0, 0, 3)]), "0,3");
        assert_eq!(marks(&[(0, 0, 9), (1, 1, 10), (2, 2, 11), (3, 3, 12)]), "0,9 1,9x3");
        assert_eq!(marks(&[(7, 2, 4), (3, 2, 5), (3, 6, 9), (4, 9, 12)]), "2,2,8 0,3,-4 4,3,0 3,3");
        assert_eq!(marks(&[(5, 8, 8), (6, 8, 8), (7, 8, 8)]), "8,0,6 0,0x2");
    }

    #[test]
    fn stretches_that_touch_are_one() {
        let mut stretches = Vec::new();
        for (start, end) in [(0, 4), (0, 2), (3, 6), (6, 7), (9, 9), (9, 12)] {
            cover(&mut stretches, start, end);
        }
        assert_eq!(stretches, [(0, 7), (9, 12)]);
        assert_eq!(encode_stretches(&stretches), "0,7 9,3");
    }
}
