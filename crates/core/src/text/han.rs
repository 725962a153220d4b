//! Words of runs of Han characters, by jieba's dictionary and hidden Markov model.
//!
//! UAX 29 makes every ideograph a segment of its own and points to dictionaries for better. A *run* is a
//! Han character (Unicode script `Han`, so 々 and 〇 too) followed by more of them; marks and variation
//! selectors after a Han character belong to the run but not to the word's text.
//! The run is segmented alone, so its words do not depend on what stands around it.

use std::sync::OnceLock;

use jieba_rs::Jieba;
use unicode_normalization::{UnicodeNormalization, char::canonical_combining_class};
use unicode_script::{Script, UnicodeScript};

static JIEBA: OnceLock<Jieba> = OnceLock::new();

/// Bytes that the dictionary takes in memory, measured.
pub const DICTIONARY: usize = 36 << 20;

/// Bytes that it takes now: nothing until a text with Han characters is cut into words.
pub fn dictionary_memory() -> usize {
    if JIEBA.get().is_some() { DICTIONARY } else { 0 }
}

/// The dictionary, which is read when it is first asked for.
pub(crate) fn jieba() -> &'static Jieba {
    JIEBA.get_or_init(Jieba::new)
}

/// Bytes of a character of the blocks that [`is_ideograph`] knows.
pub(super) const BYTES: usize = 3;

/// Whether `c` is of the two blocks that nearly all Han characters are of, and which hold letters alone.
#[inline]
pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}')
}

/// Whether `c` is a Han character.
#[inline]
pub(crate) fn is_han(c: char) -> bool {
    match c {
        _ if is_ideograph(c) => true,
        '\u{0}'..='\u{2e7f}'
        | '\u{3040}'..='\u{33ff}'
        | '\u{a000}'..='\u{f8ff}'
        | '\u{fe00}'..='\u{ffff}' => false,
        _ => c.script() == Script::Han,
    }
}

/// The byte length of the run that starts `text`, whose first character is Han.
pub(crate) fn run_length(text: &str) -> usize {
    let quick = ideographs_length(text.as_bytes());
    text[quick..].find(|c| !is_han(c) && !belongs(c)).map_or(text.len(), |end| quick + end)
}

/// The byte length of the characters from U+4E00 to U+9FFF that some UTF-8 starts with. Of these three bytes each the first two say enough.
#[inline]
pub(super) fn ideographs_length(text: &[u8]) -> usize {
    let is_ideograph = |c: &&[u8]| matches!(c, [0xe4, 0xb8..=0xff, _] | [0xe5..=0xe9, ..]);
    BYTES * text.chunks_exact(BYTES).take_while(is_ideograph).count()
}

/// Whether `c` belongs to what stands before it: it takes the script of that, or is a mark that a normal form may bring before or behind one that
/// does. What ends nearly all runs needs no look-up.
#[inline]
fn belongs(c: char) -> bool {
    match c {
        '\0'..='\u{2ff}' | '\u{3000}'..='\u{3029}' | '\u{ff01}'..='\u{ff60}' => false,
        _ => c.script() == Script::Inherited || canonical_combining_class(c) != 0,
    }
}

/// Whether the run must be copied before jieba sees it: it holds a mark to leave out, or a compatibility
/// ideograph that NFC replaces by the unified one.
fn needs_copy(run: &str, nfc: bool) -> bool {
    run.chars()
        .any(|c| !is_han(c) || (nfc && matches!(c, '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')))
}

/// Hands each word of the run to `visit` in order: its text and its bytes in `run`. Han symbols that are
/// not letters or numbers (radicals) are no words.
pub(crate) fn each_word(run: &str, nfc: bool, mut visit: impl FnMut(&str, std::ops::Range<usize>)) {
    let jieba = jieba();
    let is_word = |word: &str| word.chars().any(|c| is_ideograph(c) || c.is_alphanumeric());
    if !needs_copy(run, nfc) {
        for token in jieba.cut(run, true).into_iter().filter(|t| is_word(t.word)) {
            visit(token.word, token.byte_start..token.byte_end);
        }
        return;
    }
    let mut clean = String::with_capacity(run.len());
    let mut starts = Vec::new(); // of each kept character: the byte in `run` where it begins
    for (at, c) in run.char_indices().filter(|&(_, c)| is_han(c)) {
        starts.push(at);
        // NFC maps a Han character to exactly one Han character, so characters can be counted across.
        clean.push(if nfc { std::iter::once(c).nfc().next().unwrap_or(c) } else { c });
    }
    starts.push(run.len());
    for token in jieba.cut(&clean, true).into_iter().filter(|t| is_word(t.word)) {
        visit(token.word, starts[token.start]..starts[token.end]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(run: &str) -> Vec<(String, std::ops::Range<usize>)> {
        let mut out = Vec::new();
        each_word(run, true, |w, r| out.push((w.to_string(), r)));
        out
    }

    #[test]
    fn the_quick_ranges_agree_with_the_script_property() {
        for c in '\0'..=char::MAX {
            let belonging = c.script() == Script::Inherited || canonical_combining_class(c) != 0;
            assert_eq!(belongs(c), belonging, "{c:?}");
            // Unassigned positions of the two large blocks count as Han here; none is ever met.
            let unassigned = is_ideograph(c) && c.script() == Script::Unknown;
            assert!(unassigned || !is_ideograph(c) || c.is_alphanumeric(), "{c:?}");
            assert!(unassigned || is_han(c) == (c.script() == Script::Han), "{c:?}");
        }
    }

    #[test]
    fn leading_ideographs_are_those_of_one_block() {
        for c in '\0'..=char::MAX {
            let expected = if ('\u{4e00}'..='\u{9fff}').contains(&c) { BYTES } else { 0 };
            assert_eq!(ideographs_length(c.encode_utf8(&mut [0; 4]).as_bytes()), expected, "{c:?}");
        }
        assert_eq!(ideographs_length("北京x清".as_bytes()), 6);
    }

    #[test]
    fn one_character_for_one_under_nfc() {
        for c in ('\0'..=char::MAX).filter(|&c| is_han(c)) {
            let mut nfc = std::iter::once(c).nfc();
            assert!(nfc.next().is_some_and(is_han) && nfc.next().is_none(), "{c:?}");
        }
    }

    #[test]
    fn words_of_a_plain_run() {
        let found = words("我来到北京清华大学");
        let texts: Vec<_> = found.iter().map(|w| w.0.as_str()).collect();
        assert_eq!(texts, ["我", "来到", "北京", "清华大学"]);
        assert_eq!(found[2].1, 9..15);
    }

    #[test]
    fn selectors_and_compatibility_ideographs_do_not_matter() {
        let plain: Vec<_> = words("北京清华大学").into_iter().map(|w| w.0).collect();
        let marked = words("北\u{fe00}京清华大学\u{e0100}");
        assert_eq!(marked.iter().map(|w| w.0.clone()).collect::<Vec<_>>(), plain);
        assert_eq!(marked[0].1, 0..9);
        // Of another script, and where NFC has it.
        assert_eq!((run_length("北\u{653}\u{94d}京x"), run_length("北\u{94d}\u{653}京x")), (11, 11));
        assert_eq!(words("\u{f90a}"), [("金".to_string(), 0..3)]);
    }
}
