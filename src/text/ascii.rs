//! UAX 29 words of pure ASCII text, byte by byte.
//!
//! Within ASCII the word rules reduce to this: letters, digits and `_` join (WB5, WB8 to WB10, WB13a,
//! WB13b); one of `' . :` joins two letters (WB6, WB7) and one of `' . , ;` joins two digits (WB11, WB12);
//! everything else stands alone. A word must hold a letter or a digit.

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const UNDERSCORE: u8 = 4;
const JOINS_LETTERS: u8 = 8;
const JOINS_DIGITS: u8 = 16;
const CORE: u8 = LETTER | DIGIT | UNDERSCORE;

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

/// The next word at or after byte `from` of ASCII text, as start and end.
#[inline]
pub(crate) fn next_word(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let class = |i: usize| text.get(i).map_or(0, |&b| CLASS[b as usize]);
    let mut at = from;
    loop {
        while CLASS[*text.get(at)? as usize] & CORE == 0 {
            at += 1;
        }
        let start = at;
        let mut seen = 0;
        let mut last = 0;
        loop {
            let here = class(at);
            if here & CORE != 0 {
                seen |= here;
                last = here;
                at += 1;
            } else if (here & JOINS_LETTERS != 0 && last & class(at + 1) & LETTER != 0)
                || (here & JOINS_DIGITS != 0 && last & class(at + 1) & DIGIT != 0)
            {
                at += 1;
            } else {
                break;
            }
        }
        if seen & (LETTER | DIGIT) != 0 {
            return Some((start, at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    fn ours(s: &str) -> Vec<(usize, &str)> {
        let mut at = 0;
        std::iter::from_fn(|| {
            let (start, end) = next_word(s.as_bytes(), at)?;
            at = end;
            Some((start, &s[start..end]))
        })
        .collect()
    }

    #[test]
    fn joins_inside_words_and_numbers() {
        let words: Vec<_> =
            ours("Don't pay $3,000.5; a_b ___ e.g. x.1 10:30 'tis a:b").into_iter().map(|w| w.1).collect();
        let expected = ["Don't", "pay", "3,000.5", "a_b", "e.g", "x", "1", "10", "30", "tis", "a:b"];
        assert_eq!(words, expected);
    }

    proptest! {
        #![proptest_config(crate::cases(2000))]
        /// The general algorithm is reached by putting a non-ASCII character that joins nothing in front.
        #[test]
        fn equals_unicode_segmentation(s in "[\\x00-\\x7f]{0,60}|[a1_'.,:; ]{0,60}") {
            let fast = ours(&s);
            prop_assert_eq!(&fast, &s.unicode_word_indices().collect::<Vec<_>>());
            let general = format!("\u{2028}{s}");
            let slow: Vec<_> = general.unicode_word_indices().map(|(i, w)| (i - 3, w)).collect();
            prop_assert_eq!(fast, slow);
        }
    }
}
