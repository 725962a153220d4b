//! `lines`: each line of the text, as boilerplate removers and line-level deduplication see it.
//!
//! A line ends at LF, CR, CR LF, VT, FF, NEL (U+0085), LS (U+2028) or PS (U+2029), the newline functions
//! of the Unicode Standard (section 5.8). The feature is the line normalised, without white space at its
//! ends, every inner run of white space being one space; lines with nothing left are skipped.

use std::ops::Range;

use super::normalise::Normaliser;
use super::normalised::{NormalisedText, Space};
use crate::hash;

pub(super) fn is_newline(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The lines with the byte each starts at; CR LF only makes an additional empty one.
fn split(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(is_newline).map(|line| (line.as_ptr() as usize - text.as_ptr() as usize, line))
}

/// Every line in text order.
pub(crate) fn each(
    text: &str,
    normalised: &mut NormalisedText,
    normaliser: Normaliser,
    visit: &mut impl FnMut(&str, Range<usize>),
) {
    for (at, line) in split(text) {
        normalised.fill::<true>(line, at, Space::One, normaliser);
        if normalised.len() > 0 {
            visit(normalised.text(), normalised.span(0, normalised.len() - 1));
        }
    }
}

/// The hash of every line, repeats included.
pub fn hashes(text: &str, normalised: &mut NormalisedText, normaliser: Normaliser, out: &mut Vec<u64>) {
    for (at, line) in split(text) {
        normalised.fill::<false>(line, at, Space::One, normaliser);
        if !normalised.text().is_empty() {
            out.push(hash::feature(normalised.text().as_bytes()));
        }
    }
}
