//! The script a text is mostly written in.

use std::sync::OnceLock;

use unicode_script::UnicodeScript;

pub use unicode_script::Script;

use super::segment::first_non_ascii;

/// By character of the Basic Multilingual Plane what [`letter`] says: its searches would cost more than all the words of a
/// Chinese text.
static LETTERS: OnceLock<Box<[Option<Script>]>> = OnceLock::new();

fn letters() -> Box<[Option<Script>]> {
    (0..=0xffff).map(|c| char::from_u32(c).and_then(letter)).collect()
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
    let bytes = text.as_bytes();
    if text.is_ascii() {
        let latin = bytes.iter().any(u8::is_ascii_alphabetic);
        return if latin { Script::Latin } else { Script::Common }.full_name();
    }
    // Few enough at a time for a byte to count them, so that many bytes are looked at at once.
    let latin = |some: &[u8]| some.iter().map(|b| u8::from(b.is_ascii_alphabetic())).sum::<u8>();
    let latin = bytes.chunks(u8::MAX.into()).map(|some| usize::from(latin(some))).sum();
    let letters = LETTERS.get_or_init(letters);
    let mut counts = vec![(Script::Latin, latin)];
    let mut last = 0;
    let mut at = 0;
    while let Some(odd) = first_non_ascii(bytes, at) {
        at = odd;
        for c in text[odd..].chars().take_while(|c| !c.is_ascii()) {
            at += c.len_utf8();
            let known = letters.get(c as usize).copied();
            let Some(script) = known.unwrap_or_else(|| letter(c)) else {
                continue;
            };
            if counts[last].0 != script {
                last = counts.iter().position(|(s, _)| *s == script).unwrap_or(counts.len());
                if last == counts.len() {
                    counts.push((script, 0));
                }
            }
            counts[last].1 += c.len_utf8();
        }
    }
    counts
        .into_iter()
        .filter(|&(_, n)| n > 0)
        .map(|(script, n)| (std::cmp::Reverse(n), script.full_name()))
        .min()
        .map_or(Script::Common.full_name(), |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_what_is_looked_up() {
        let table = letters();
        assert_eq!(table.len(), 1 << 16);
        assert_eq!(table[0x6587], Some(Script::Han));
        assert_eq!((table[0x3002], table[0x301], table[0xd800]), (None, None, None));
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
    }
}
