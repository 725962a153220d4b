//! Text as people may be shown it. A document, an id or the name of a file can hold characters that steer a terminal,
//! turn the direction of what stands after them, or are not seen at all: these are written as `\x1b` or `\u{202e}`.
//! What programs read (rows, `run.json`, `--json`) holds them as they are.

use crate::text::ignorable::{is_ignorable, is_pictograph, is_seen};
use std::borrow::Cow;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use unicode_normalization::char::is_combining_mark;

/// Whether a character steers, turns or hides wherever it stands alone: controls, line ends of Unicode, format characters but those
/// that are signs of their own, ignorable characters and code points that are no characters.
pub fn hides(c: char) -> bool {
    c.is_control()
        || is_ignorable(c)
        || matches!(c, '\u{2028}'..='\u{2029}' | '\u{fff9}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}')
        || matches!(c, '\u{fdd0}'..='\u{fdef}')
        || u32::from(c) & 0xfffe == 0xfffe
}

/// A text of one line: a line end in it is shown as well.
pub fn line(text: &str) -> Cow<'_, str> {
    shown(text, hides)
}

/// A text of several lines: their ends and TABs stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    shown(text, |c| hides(c) && c != '\n' && c != '\t')
}

/// The name of a file, of any bytes.
pub fn path(path: &Path) -> String {
    let mut out = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        out.push_str(&line(chunk.valid()));
        for byte in chunk.invalid() {
            // A string takes everything.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// A word as a shell reads it back, on one line and with nothing in it that people would not see.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:/=+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.contains(hides) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    // Bytes mean the same in every locale; a number of a character does not.
    let escaped = word.chars().map(|c| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if hides(c) => c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
        c => c.to_string(),
    });
    format!("$'{}'", escaped.collect::<String>())
}

/// Writes out what hides where it stands, and marks with nothing before them, which would be seen on what stands around the text.
fn shown(text: &str, hides: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.is_ascii() && !text.contains(&hides) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut is_alone = true;
    for (at, c) in text.char_indices() {
        let stays = if hides(c) {
            !is_alone && is_shown(&out, c, &text[at + c.len_utf8()..])
        } else {
            !is_alone || !is_combining_mark(c)
        };
        // A string takes everything.
        let _ = match c {
            c if stays => out.write_char(c),
            c if c.is_ascii() => write!(out, "\\x{:02x}", u32::from(c)),
            c => write!(out, "\\u{{{:x}}}", u32::from(c)),
        };
        is_alone = !stays || matches!(c, '\n' | '\t');
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Whether a character that hides is a part of what is seen: a joiner between the right letters or emoji, and the selector of an
/// emoji's colour.
fn is_shown(before: &str, c: char, after: &str) -> bool {
    match c {
        '\u{fe0e}' | '\u{fe0f}' => before.chars().next_back().is_some_and(is_pictograph),
        c => is_seen(before, c, after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ffi::OsStr;

    #[test]
    fn what_steers_is_written_out() {
        assert_eq!(line("a\u{1b}[2Jb\u{7f}\u{9b}c\n\td"), r"a\x1b[2Jb\x7f\u{9b}c\x0a\x09d");
        assert_eq!(line("\u{202e}txt\u{2069}\u{200f}\u{61c}"), r"\u{202e}txt\u{2069}\u{200f}\u{61c}");
        assert_eq!(line("a\u{2028}b\u{feff}\u{200b}\u{e0041}"), r"a\u{2028}b\u{feff}\u{200b}\u{e0041}");
        assert_eq!(
            line("fi\u{ad}ve 3\u{fe0f} a\u{200d}b\u{3164}"),
            r"fi\u{ad}ve 3\u{fe0f} a\u{200d}b\u{3164}"
        );
        assert_eq!(line("\u{301}e\u{301} \u{ad}\u{301}"), "\\u{301}e\u{301} \\u{ad}\\u{301}");
        assert_eq!(lines("a\n\u{301}"), "a\n\\u{301}");
        assert_eq!(lines("one\n\ttwo\r\n\u{7}"), "one\n\ttwo\\x0d\n\\x07");
        assert_eq!(path(Path::new(OsStr::from_bytes(b"caf\xe9\n\xe2\x80\xae"))), r"caf\xe9\x0a\u{202e}");
    }

    #[test]
    fn what_people_write_stays() {
        for text in [
            "The quick — “brown” fox’s naïve café, e\u{301}, a\\b",
            "南京市长江大桥，全角　空格",
            "👩\u{200d}👩\u{200d}👧 👍🏽 ❤\u{fe0f} 🇩🇪",
            "السلام عليكم می\u{200c}خواهم שָׁלוֹם",
            "क्ष க\u{bcd} ไทย ᠮᠣᠩᠭᠣᠯ",
        ] {
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    /// What is written out in the middle of a word is what another table of the properties says.
    #[test]
    fn what_hides_is_a_property() {
        let class = r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}--\p{Prepended_Concatenation_Mark}]";
        let class = regex_syntax::parse(class).unwrap();
        let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) = class.kind() else {
            panic!("a class");
        };
        let hidden: std::collections::HashSet<char> =
            class.ranges().iter().flat_map(|range| range.start()..=range.end()).collect();
        assert!(hidden.len() > 4000);
        for c in '\0'..=char::MAX {
            let word = format!("thr{c}ee");
            let is_written = line(&word) != word;
            assert_eq!(is_written, hidden.contains(&c), "{c:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Whatever the text, nothing that hides is left, nothing else is changed, and to show it again changes nothing.
        #[test]
        fn nothing_that_hides_is_left(text in any::<String>(), bytes in any::<Vec<u8>>()) {
            let once = line(&text);
            prop_assert!(once.char_indices().all(|(at, c)| !hides(c) || is_shown(&once[..at], c, &once[at + c.len_utf8()..])));
            prop_assert_eq!(&line(&once), &once);
            let kept: String = text.chars().filter(|c| !hides(*c) && !is_combining_mark(*c)).collect();
            let mut rest = once.chars();
            prop_assert!(kept.chars().all(|c| rest.any(|other| other == c)), "a part of {once} is {kept}");
            let several = lines(&text);
            prop_assert!(several.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
            prop_assert_eq!(several.matches('\n').count(), text.matches('\n').count());
            prop_assert!(!path(Path::new(OsStr::from_bytes(&bytes))).contains(hides));
        }
    }
}
