//! Text as people may be shown it. A document, an id or the name of a file can hold characters that steer a terminal,
//! turn the direction of what stands after them, or are not seen at all: these are written as `\x1b` or `\u{202e}`.
//! What programs read (rows, `run.json`, `--json`) holds them as they are.

use std::borrow::Cow;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether a character steers, turns or hides: controls, line ends of Unicode, marks and overrides of direction, and
/// what has neither width nor form. Joiners belong to words and emoji, and stay.
pub fn hides(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
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

fn shown(text: &str, hides: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hides) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        // A string takes everything.
        let _ = match c {
            c if !hides(c) => out.write_char(c),
            c if c.is_ascii() => write!(out, "\\x{:02x}", u32::from(c)),
            c => write!(out, "\\u{{{:x}}}", u32::from(c)),
        };
    }
    Cow::Owned(out)
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Whatever the text, nothing that hides is left, nothing else is changed, and to show it again changes nothing.
        #[test]
        fn nothing_that_hides_is_left(text in any::<String>(), bytes in any::<Vec<u8>>()) {
            let once = line(&text);
            prop_assert!(!once.contains(hides));
            prop_assert_eq!(&line(&once), &once);
            let kept: String = text.chars().filter(|c| !hides(*c)).collect();
            let mut rest = once.chars();
            prop_assert!(kept.chars().all(|c| rest.any(|other| other == c)), "a part of {once} is {kept}");
            let several = lines(&text);
            prop_assert!(several.chars().all(|c| !hides(c) || c == '\n' || c == '\t'));
            prop_assert_eq!(several.matches('\n').count(), text.matches('\n').count());
            prop_assert!(!path(Path::new(OsStr::from_bytes(&bytes))).contains(hides));
        }
    }
}
