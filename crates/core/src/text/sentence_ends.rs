//! `sentence-ends:K`: the characters before each full stop (CCDet: wei2013, section 2.2).
//!
//! Menus, headings and links of a page rarely end in a full stop, running text does; so CCDet represents a
//! page by what precedes its full stops. The paper's three rules, with K = 10 in its experiments:
//!
//! 1. The feature of a full stop is the K characters before it.
//! 2. Where the previous full stop is nearer than that, it is the characters between the two. The start
//!    of the text counts as a full stop.
//! 3. Two full stops with nothing between them: the later has no feature.
//!
//! What counts as a full stop:
//!
//! * `。` and its half-width form `｡`, always.
//! * `．` (full-width), except between two numeric characters, as in １．５.
//! * `.`, only where white space or the end of the text follows. The paper is about Chinese and leaves the
//!   ASCII one out as ambiguous; this rule keeps 3.5 and example.com whole.
//!
//! Any other `．` or `.` is an ordinary character. White space is left out of the feature and not
//! counted: between Chinese characters it carries no meaning, and a line break there must not make a new
//! feature. Characters are those of the normalised text. The span runs from the first character kept to
//! the last one before the full stop.

use std::ops::Range;

use super::normalise::Normaliser;
use super::normalised::{NormalisedText, Space};
use crate::hash;

/// Whether a character between these two is a full stop.
pub(super) fn is_full_stop(before: Option<char>, c: char, after: Option<char>) -> bool {
    match c {
        '。' | '｡' => true,
        '．' => !(before.is_some_and(char::is_numeric) && after.is_some_and(char::is_numeric)),
        '.' => after.is_none_or(char::is_whitespace),
        _ => false,
    }
}

/// The ranges that end at a character that `ends` takes for a sentence's end, with those around it, and begin after the one before, in
/// text order.
pub(super) fn sentences(
    text: &str,
    ends: impl Fn(Option<char>, char, Option<char>) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        while let Some((at, c)) = chars.next() {
            let after = chars.peek().map(|&(_, d)| d);
            if ends(before.replace(c), c, after) {
                let sentence = from..at;
                from = at + c.len_utf8();
                return Some(sentence);
            }
        }
        None
    })
}

/// Every feature in text order.
pub(crate) fn each(
    text: &str,
    k: usize,
    normalised: &mut NormalisedText,
    normaliser: Normaliser,
    visit: &mut impl FnMut(&str, Range<usize>),
) {
    for sentence in sentences(text, is_full_stop) {
        normalised.fill::<true>(&text[sentence.clone()], sentence.start, Space::Dropped, normaliser);
        let n = normalised.len();
        if n > 0 {
            visit(tail(normalised.text(), k), normalised.span(n - n.min(k), n - 1));
        }
    }
}

/// The hash of every feature, repeats included.
pub(crate) fn hashes(
    text: &str,
    k: usize,
    normalised: &mut NormalisedText,
    normaliser: Normaliser,
    out: &mut Vec<u64>,
) {
    for sentence in sentences(text, is_full_stop) {
        normalised.fill::<false>(&text[sentence.clone()], sentence.start, Space::Dropped, normaliser);
        if !normalised.text().is_empty() {
            out.push(hash::feature(tail(normalised.text(), k).as_bytes()));
        }
    }
}

/// The last K characters.
fn tail(text: &str, k: usize) -> &str {
    text.char_indices().rev().nth(k - 1).map_or(text, |(at, _)| &text[at..])
}
