//! The script a text is mostly written in.

use std::sync::OnceLock;

use unicode_script::UnicodeScript;

pub use unicode_script::Script;

use super::han::ideographs_length;
use super::segment::first_non_ascii;

/// By character of the Basic Multilingual Plane what [`letter`] says: its searches would cost more than all the words of a
/// Chinese text. A page is made when a text needs it: all of them would cost more than all the words of a short one.
static PAGES: [OnceLock<[Option<Script>; PAGE]>; PAGE] = [const { OnceLock::new() }; PAGE];
const PAGE: usize = 256;

/// What [`letter`] says.
fn known_letter(c: char) -> Option<Script> {
    let (page, at) = (c as usize / PAGE, c as usize % PAGE);
    let Some(known) = PAGES.get(page) else {
        return letter(c);
    };
    let make = || std::array::from_fn(|at| char::from_u32((page * PAGE + at) as u32).and_then(letter));
    known.get_or_init(make)[at]
}

/// The script of a letter that belongs to one; nothing for other characters.
fn letter(c: char) -> Option<Script> {
    let script = c.script();
    (c.is_alphabetic() && !matches!(script, Script::Common | Script::Inherited)).then_some(script)
}

/// The name of the script that most of `text` is written in ("Latin", "Han", "Arabic", …), for warnings by
/// script: letters are counted by their bytes in UTF-8, because an ideograph says about as much as three
/// Latin letters. Ties go to the first name in the alphabet. "Common" when there are no letters.
pub fn dominant_script(text: &str) -> &'static str {
    if text.is_ascii() {
        let latin = text.bytes().any(|b| b.is_ascii_alphabetic());
        return if latin { Script::Latin } else { Script::Common }.full_name();
    }
    let mut letters = Letters::default();
    letters.add(text);
    letters.dominant()
}

/// The letters of a text by script, as [`dominant_script`] counts them, for a text that comes piece by piece.
#[derive(Debug, Default)]
pub struct Letters {
    counts: Vec<(Script, usize)>,
    /// Where the script of the last letter stands.
    last: usize,
}

impl Letters {
    /// Counts the letters of a piece.
    pub fn add(&mut self, text: &str) {
        let bytes = text.as_bytes();
        // Few enough at a time for a byte to count them, so that many bytes are looked at at once.
        let latin = |some: &[u8]| some.iter().map(|b| u8::from(b.is_ascii_alphabetic())).sum::<u8>();
        let latin = bytes.chunks(u8::MAX.into()).map(|some| usize::from(latin(some))).sum();
        self.count(Script::Latin, latin);
        let mut at = 0;
        while let Some(odd) = first_non_ascii(bytes, at) {
            let ideographs = ideographs_length(&bytes[odd..]);
            if ideographs > 0 {
                self.count(Script::Han, ideographs);
            }
            at = odd + ideographs;
            for c in text[at..].chars().take_while(|c| !c.is_ascii()) {
                at += c.len_utf8();
                if let Some(script) = known_letter(c) {
                    self.count(script, c.len_utf8());
                }
            }
        }
    }

    #[inline]
    fn count(&mut self, script: Script, bytes: usize) {
        if self.counts.get(self.last).is_none_or(|(last, _)| *last != script) {
            let known = self.counts.iter().position(|(known, _)| *known == script);
            self.last = known.unwrap_or_else(|| {
                self.counts.push((script, 0));
                self.counts.len() - 1
            });
        }
        self.counts[self.last].1 += bytes;
    }

    /// The script of most of the letters so far.
    pub fn dominant(&self) -> &'static str {
        let counts = self.counts.iter().filter(|(_, bytes)| *bytes > 0);
        counts
            .map(|&(script, bytes)| (std::cmp::Reverse(bytes), script.full_name()))
            .min()
            .map_or(Script::Common.full_name(), |(_, name)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_what_is_looked_up() {
        for c in '\0'..=char::MAX {
            assert_eq!(known_letter(c), letter(c), "{c:?}");
        }
        assert_eq!([known_letter('文'), known_letter('。')], [Some(Script::Han), None]);
        // What is counted without a look-up.
        assert!(('\u{4e00}'..='\u{9fff}').all(|c| letter(c) == Some(Script::Han)));
    }

    #[test]
    fn most_letters_win() {
        assert_eq!(dominant_script("plain text"), "Latin");
        assert_eq!(dominant_script("用 iPhone 拍照"), "Han");
        assert_eq!(dominant_script("用手机拍照 a"), "Han");
        assert_eq!(dominant_script("مرحبا ok"), "Arabic");
        assert_eq!(dominant_script("Ελλάδα é"), "Greek");
        assert_eq!(dominant_script("12 + 3 😀"), "Common");
        assert_eq!(dominant_script(""), "Common");
        assert_eq!(dominant_script("文abc"), "Han"); // a tie
        let mut pieces = Letters::default();
        ["用", "", " iPh", "one拍", "照"].iter().for_each(|piece| pieces.add(piece));
        assert_eq!(pieces.dominant(), "Han");
    }
}
