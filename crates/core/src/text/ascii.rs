//! UAX 29 words of pure ASCII text.
//!
//! Within ASCII the word rules reduce to this: letters, digits and `_` join (WB5, WB8 to WB10, WB13a,
//! WB13b); one of `' . :` joins two letters (WB6, WB7) and one of `' . , ;` joins two digits (WB11, WB12);
//! everything else stands alone. A word must hold a letter or a digit.

use crate::mask::{self, BLOCK, eight, padded, within};

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const UNDERSCORE: u8 = 4;
const JOINS_LETTERS: u8 = 8;
const JOINS_DIGITS: u8 = 16;

static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 128 {
        table[b] = match b as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b'\'' | b'.' => JOINS_LETTERS | JOINS_DIGITS,
            b':' => JOINS_LETTERS,
            b',' | b';' => JOINS_DIGITS,
            _ => 0,
        };
        b += 1;
    }
    table
}

/// Shows where each word of ASCII text starts and ends.
///
/// Bytes are looked at 64 at a time: which of them are letters, digits and `_` is a word of 64 bits, whose edges are
/// where words begin and end. So the work is by the word, not by the byte, and has few branches to guess.
#[inline]
pub(crate) fn each_word(text: &[u8], mut visit: impl FnMut(usize, usize)) {
    let mut start = 0;
    // Whether a word has begun, in this block or before it; whether the one that begins next is joined to the one before.
    let (mut open, mut joined) = (false, false);
    // Behind the text nothing is inside a word, so that a last block, empty or not, ends the last word.
    for base in (0..=text.len()).step_by(BLOCK) {
        let core = core(&padded(&text[base..]));
        let mut edges = core ^ (core << 1 | u64::from(open));
        while edges != 0 {
            let at = base + edges.trailing_zeros() as usize;
            edges &= edges - 1;
            open = !open;
            if open {
                start = if joined { start } else { at };
                continue;
            }
            joined = joins(text, at);
            if !joined && has_letter_or_digit(&text[start..at]) {
                visit(start, at);
            }
        }
    }
}

/// Whether one of `' . : , ;` at `at` joins what stands before and behind it.
#[inline]
fn joins(text: &[u8], at: usize) -> bool {
    let class = |i: usize| text.get(i).map_or(0, |&b| CLASS[b as usize]);
    let here = class(at);
    if here == 0 {
        return false;
    }
    let both = class(at - 1) & class(at + 1);
    (here & JOINS_LETTERS != 0 && both & LETTER != 0) || (here & JOINS_DIGITS != 0 && both & DIGIT != 0)
}

#[inline]
fn has_letter_or_digit(word: &[u8]) -> bool {
    // The first of nearly all words is one.
    word.iter().any(|b| CLASS[*b as usize] & (LETTER | DIGIT) != 0)
}

/// Which of the bytes, all ASCII, are letters, digits or `_`: the first byte is the lowest bit.
#[inline]
fn core(block: &[u8; BLOCK]) -> u64 {
    mask::of(block, |x| within(x | eight(0x20), b'a', b'z') | within(x, b'0', b'9') | within(x, b'_', b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    const CORE: u8 = LETTER | DIGIT | UNDERSCORE;

    fn ours(s: &str) -> Vec<(usize, &str)> {
        let mut words = Vec::new();
        each_word(s.as_bytes(), |start, end| words.push((start, &s[start..end])));
        words
    }

    #[test]
    fn classes_agree() {
        for b in 0..128 {
            for at in 0..BLOCK {
                let mut block = [if at % 2 == 0 { b' ' } else { b'a' }; BLOCK];
                let others = core(&block) & !(1 << at);
                block[at] = b;
                assert_eq!(
                    core(&block),
                    others | u64::from(CLASS[b as usize] & CORE != 0) << at,
                    "{b} at {at}"
                );
            }
        }
    }

    #[test]
    fn joins_inside_words_and_numbers() {
        let words: Vec<_> =
            ours("Don't pay $3,000.5; a_b ___ e.g. x.1 10:30 'tis a:b").into_iter().map(|w| w.1).collect();
        let expected = ["Don't", "pay", "3,000.5", "a_b", "e.g", "x", "1", "10", "30", "tis", "a:b"];
        assert_eq!(words, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        /// The general algorithm is reached by putting a non-ASCII character that joins nothing in front.
        #[test]
        fn equals_unicode_segmentation(s in "[\\x00-\\x7f]{0,200}|[a1_'.,:; ]{0,200}") {
            let fast = ours(&s);
            prop_assert_eq!(&fast, &s.unicode_word_indices().collect::<Vec<_>>());
            let general = format!("\u{2028}{s}");
            let slow: Vec<_> = general.unicode_word_indices().map(|(i, w)| (i - 3, w)).collect();
            prop_assert_eq!(fast, slow);
        }
    }
}
