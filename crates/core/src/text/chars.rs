//! `chars:K`: every K consecutive characters (character n-grams, manber1994).
//!
//! A character is a Unicode scalar value of the normalised text, in which every run of white space is one
//! space and white space at both ends is dropped. The span of a feature covers the original bytes of its
//! characters; a character that came from a base and marks stands for all of them.

use std::ops::Range;

use super::normalised::NormalisedText;
use crate::hash;

/// Every n-gram in text order; the text was filled with spans.
pub(crate) fn each(normalised: &mut NormalisedText, k: usize, visit: &mut impl FnMut(&str, Range<usize>)) {
    let (text, offsets, spans) = normalised.offsets();
    for (first, w) in offsets.windows(k + 1).enumerate() {
        visit(&text[w[0]..w[k]], spans[first].start..spans[first + k - 1].end);
    }
}

/// The hash of every n-gram but the first `skip`, repeats included.
pub(crate) fn hashes(normalised: &mut NormalisedText, k: usize, skip: usize, out: &mut Vec<u64>) {
    if normalised.text().is_ascii() {
        out.extend(normalised.text().as_bytes().windows(k).skip(skip).map(hash::feature));
        return;
    }
    let (text, offsets, _) = normalised.offsets();
    out.extend(offsets.windows(k + 1).skip(skip).map(|w| hash::feature(&text.as_bytes()[w[0]..w[k]])));
}
