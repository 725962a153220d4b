//! `words:K`: every K consecutive words, joined by one space (w-shingling, broder1997).
//!
//! A text of n words has n - K + 1 of them; fewer than K words make none.

use std::ops::Range;

use super::segment::Words;
use crate::hash;

/// Every shingle in text order.
pub(crate) fn each(words: &Words, k: usize, visit: &mut impl FnMut(&str, Range<usize>)) {
    for last in k - 1..words.len() {
        let first = last + 1 - k;
        visit(&String::from_utf8_lossy(words.text(first, last)), words.span(first, last));
    }
}

/// The hash of every shingle, repeats included.
pub(crate) fn hashes(words: &Words, k: usize, out: &mut Vec<u64>) {
    out.reserve((words.len() + 1).saturating_sub(k));
    // A loop, which is compiled as one whatever stands in the same unit of code; an iterator's closure may be a function of its own.
    for last in k - 1..words.len() {
        out.push(hash::feature(words.text(last + 1 - k, last)));
    }
}
