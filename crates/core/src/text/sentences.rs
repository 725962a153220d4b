//! `sentences:K`: each sentence as its K longest words.
//!
//! A whole sentence is a feature that one changed word destroys. Small words are changed most easily and say least, and long ones
//! are rare, so the longest words stand for the sentence: another order, other small words and other punctuation leave them as
//! they are. Which words are rare in a collection is not known while a document is read; length is.
//!
//! 1. A sentence ends at a full stop, as [`sentence_ends`](super::sentence_ends) tells them, or at `！`, `？`, and `!` or `?` before
//!    white space or the end of the text. It begins behind the one before, or behind the last empty line. What nothing ends is no
//!    sentence: menus and headings are left out.
//! 2. Its feature is its K longest different words, by the number of their characters; the smaller word in byte order is taken
//!    first where two are equally long. They stand in this order, with a space between. A sentence without a word has none.
//!
//! Words are those of [`words`](super::words). The span runs from the first word of the sentence to its last.

use std::cmp::Reverse;
use std::ops::Range;

use super::normalise::Normaliser;
use super::segment::Words;
use super::sentence_ends::{is_full_stop, sentences};
use crate::hash;

fn ends(before: Option<char>, c: char, after: Option<char>) -> bool {
    match c {
        '！' | '？' => true,
        '!' | '?' => after.is_none_or(char::is_whitespace),
        _ => is_full_stop(before, c, after),
    }
}

/// What stands behind the last empty line of a sentence.
fn behind_empty_lines(text: &str, sentence: Range<usize>) -> Range<usize> {
    let (mut from, mut is_blank) = (sentence.start, false);
    for (at, c) in text[sentence.clone()].char_indices() {
        if c == '\n' && is_blank {
            from = sentence.start + at + 1;
        }
        is_blank = c == '\n' || is_blank && c.is_whitespace();
    }
    from..sentence.end
}

/// Puts the sentence's longest words into `feature`; false when it has no word.
fn longest(words: &Words, k: usize, feature: &mut Vec<u8>) -> bool {
    feature.clear();
    // Of the bytes of a character the first alone is no continuation, 0b10xxxxxx.
    let characters = |word: &[u8]| word.iter().filter(|byte| (**byte as i8) >= -0x40).count();
    let mut all: Vec<_> =
        (0..words.len()).map(|at| words.text(at, at)).map(|word| (Reverse(characters(word)), word)).collect();
    all.sort_unstable();
    all.dedup();
    for (_, word) in all.into_iter().take(k) {
        if !feature.is_empty() {
            feature.push(b' ');
        }
        feature.extend_from_slice(word);
    }
    !feature.is_empty()
}

/// Every feature in text order.
pub(crate) fn each(
    text: &str,
    k: usize,
    words: &mut Words,
    normaliser: Normaliser,
    visit: &mut impl FnMut(&str, Range<usize>),
) {
    let mut feature = Vec::new();
    for sentence in sentences(text, ends) {
        let sentence = behind_empty_lines(text, sentence);
        words.fill::<true>(&text[sentence.clone()], normaliser, &|_| true);
        if longest(words, k, &mut feature) {
            let span = words.span(0, words.len() - 1);
            visit(&String::from_utf8_lossy(&feature), sentence.start + span.start..sentence.start + span.end);
        }
    }
}

/// The hash of every feature, repeats included.
pub(crate) fn hashes(text: &str, k: usize, words: &mut Words, normaliser: Normaliser, out: &mut Vec<u64>) {
    let mut feature = Vec::new();
    for sentence in sentences(text, ends) {
        words.fill::<false>(&text[behind_empty_lines(text, sentence)], normaliser, &|_| true);
        if longest(words, k, &mut feature) {
            out.push(hash::feature(&feature));
        }
    }
}
