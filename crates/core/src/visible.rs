//! Text as people may be shown it. A document, an id or the name of a file can hold characters that steer a terminal,
//! turn the direction of what stands after them, or are not seen at all: these are written as `\x1b` or `\u{202e}`.
//! What programs read (rows, `run.json`, `--json`) holds them as they are, but for the names of files: these may be of bytes that
//! are no text, so they have one escape wherever they are stored or shown, from which [`named`] gets the name back.

use crate::text::ignorable::{is_ignorable, is_pictograph, is_seen};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
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

/// The name of a file, of any bytes, as people are shown it.
pub fn path(path: &Path) -> String {
    line(&stored(path)).into_owned()
}

/// The name of a file as programs read it: bytes that are no UTF-8, and the backslash itself, are written as `\xff`.
pub fn stored(path: &Path) -> String {
    let mut out = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        out.push_str(&chunk.valid().replace('\\', r"\x5c"));
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
    format!("$'{}'", escaped(word))
}

/// The same of the name of a file, of any bytes.
pub fn quote_name(name: &OsStr) -> String {
    if let Some(word) = name.to_str() {
        return quote(word);
    }
    let chunks = name.as_bytes().utf8_chunks();
    let chunks = chunks.map(|chunk| escaped(chunk.valid()) + &in_hex(chunk.invalid()));
    format!("$'{}'", chunks.collect::<String>())
}

fn escaped(word: &str) -> String {
    let escaped = word.chars().map(|c| match c {
        '\'' | '\\' => format!("\\{c}"),
        // Bytes mean the same in every locale; a number of a character does not.
        c if hides(c) => in_hex(c.encode_utf8(&mut [0; 4]).as_bytes()),
        c => c.to_string(),
    });
    escaped.collect()
}

fn in_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect()
}

/// The file whose name was [`stored`] or shown.
pub fn named(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at..];
        let byte = || {
            let (digits, behind) = rest.strip_prefix(r"\x")?.split_at_checked(2)?;
            Some((vec![u8::from_str_radix(digits, 16).ok()?], behind))
        };
        let character = || {
            let (digits, behind) = rest.strip_prefix(r"\u{")?.split_once('}')?;
            let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            Some((c.to_string().into_bytes(), behind))
        };
        let (meant, behind) = byte().or_else(character).unwrap_or_else(|| (vec![b'\\'], &rest[1..]));
        bytes.extend(meant);
        rest = behind;
    }
    bytes.extend_from_slice(rest.as_bytes());
    OsString::from_vec(bytes).into()
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
            let name = Path::new(OsStr::from_bytes(&bytes));
            prop_assert!(!path(name).contains(hides));
            for name in [name, Path::new(&text), &name.join(&text), &Path::new(&*once).join(r"a\x5c\u{")] {
                prop_assert_eq!(named(&path(name)), name);
                prop_assert_eq!(named(&stored(name)), name);
            }
        }
    }
}
