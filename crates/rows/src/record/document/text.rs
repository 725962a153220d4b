//! Texts as they stand in JSON, and their escapes.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use twinsplit_io::error::FieldError;

pub(super) const TEXT: &str = "text";
pub(super) const A_STRING: &str = "a string";

/// A text as it stands in its line: a JSON string with its quotes, or several that are joined by a line end.
#[derive(Clone, Debug)]
pub struct RawText<'a> {
    first: &'a str,
    rest: Vec<&'a str>,
}

/// What stands between texts that are joined.
pub const JOINT: &str = "\n";

/// One JSON string of a text, as it stands in its line.
#[derive(Clone, Copy, Debug)]
pub struct RawString<'a>(&'a str);

impl<'a> RawString<'a> {
    /// With its quotes, as a part of the line.
    pub fn raw(self) -> &'a str {
        self.0
    }

    /// Its text.
    pub fn text(self) -> Result<Cow<'a, str>, FieldError> {
        decoded(self.0).map(|(text, _)| text)
    }

    /// The parts of it that stand for parts of its text, with escapes as they are.
    pub fn parts(self) -> RawParts<'a> {
        RawParts { inside: inside(self.0).unwrap_or_default(), raw: 0, text: 0 }
    }
}

/// Goes through a JSON string beside its text.
#[derive(Debug)]
pub struct RawParts<'a> {
    inside: &'a str,
    /// Where it is, and how many bytes of the text stand before.
    raw: usize,
    text: usize,
}

impl<'a> RawParts<'a> {
    /// What stands for these bytes of the text, which begin and end between characters, and not before those of the call before.
    pub fn part(&mut self, of_text: Range<usize>) -> &'a str {
        let from = self.go_to(of_text.start);
        &self.inside[from..self.go_to(of_text.end)]
    }

    fn go_to(&mut self, to: usize) -> usize {
        while self.text < to {
            let rest = &self.inside.as_bytes()[self.raw..];
            let rest = &rest[..rest.len().min(to - self.text)];
            let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            self.raw += plain;
            self.text += plain;
            if plain == rest.len() {
                if rest.is_empty() {
                    break;
                }
                continue;
            }
            let Some((c, length)) = escape(&self.inside[self.raw..]) else { break };
            self.raw += length;
            self.text += c.unwrap_or(char::REPLACEMENT_CHARACTER).len_utf8();
        }
        self.raw
    }
}

impl<'a> RawText<'a> {
    /// The text of one JSON string.
    pub(super) fn new(raw: &'a str) -> Result<Self, FieldError> {
        checked(raw).map(|first| Self { first, rest: Vec::new() })
    }

    /// The same with another one behind it.
    pub(super) fn push(&mut self, raw: &'a str) -> Result<(), FieldError> {
        checked(raw).map(|raw| self.rest.push(raw))
    }

    /// The strings that it is made of, in their order.
    pub fn strings(&self) -> impl Iterator<Item = RawString<'a>> {
        std::iter::once(self.first).chain(self.rest.iter().copied()).map(RawString)
    }

    /// The text, and how many lone surrogates are in it.
    pub(super) fn whole(&self) -> Result<(Cow<'a, str>, u64), FieldError> {
        let (mut text, mut surrogates) = decoded(self.first)?;
        for raw in &self.rest {
            let (more, halves) = decoded(raw)?;
            text.to_mut().push_str(JOINT);
            text.to_mut().push_str(&more);
            surrogates += halves;
        }
        Ok((text, surrogates))
    }

    /// Calls `visit` with the text, part by part, so that it is nowhere whole. Gives the number of lone surrogates. The inner error is about
    /// the text.
    pub fn each_part<E>(
        &self,
        mut visit: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Result<u64, FieldError>, E> {
        let mut surrogates = 0;
        match each_part_of(self.first, &mut visit)? {
            Ok(halves) => surrogates += halves,
            wrong => return Ok(wrong),
        }
        for raw in &self.rest {
            visit(JOINT)?;
            match each_part_of(raw, &mut visit)? {
                Ok(halves) => surrogates += halves,
                wrong => return Ok(wrong),
            }
        }
        Ok(Ok(surrogates))
    }
}

/// A raw JSON value that looks like a string.
fn checked(raw: &str) -> Result<&str, FieldError> {
    inside(raw).map(|_| raw).ok_or_else(|| FieldError::new(TEXT, A_STRING, raw.as_bytes()))
}

/// The text of one string, and how many lone surrogates are in it.
fn decoded(raw: &str) -> Result<(Cow<'_, str>, u64), FieldError> {
    if let Some(plain) = inside(raw).filter(|inside| memchr::memchr(b'\\', inside.as_bytes()).is_none()) {
        return Ok((Cow::Borrowed(plain), 0));
    }
    match inside(raw).and_then(unescape) {
        Some((text, surrogates)) => Ok((Cow::Owned(text), surrogates)),
        None => string(raw, TEXT, A_STRING).map(|text| (text, 0)),
    }
}

/// As [`RawText::each_part`], of one string.
fn each_part_of<E>(
    raw: &str,
    visit: &mut impl FnMut(&str) -> Result<(), E>,
) -> Result<Result<u64, FieldError>, E> {
    let mut surrogates = 0;
    let mut rest = inside(raw).unwrap_or_default();
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        visit(&rest[..at])?;
        let Some((c, length)) = escape(&rest[at..]) else {
            let mut wrong = FieldError::new(TEXT, A_STRING, raw.as_bytes());
            let behind = raw.len() - rest.len() + at;
            wrong.found =
                format!("{} (at its byte {behind} an escape that is no character)", wrong.found).into();
            return Ok(Err(wrong));
        };
        surrogates += u64::from(c.is_none());
        visit(c.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]))?;
        rest = &rest[at + length..];
    }
    visit(rest)?;
    Ok(Ok(surrogates))
}

/// What stands between the quotes of a JSON string.
fn inside(raw: &str) -> Option<&str> {
    raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
}

/// Decodes a raw JSON value that must be a string.
pub(super) fn string<'a>(
    raw: &'a str,
    field: &'static str,
    expected: &'static str,
) -> Result<Cow<'a, str>, FieldError> {
    let wrong = || FieldError::new(field, expected, raw.as_bytes());
    let inside = inside(raw).ok_or_else(wrong)?;
    if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(inside));
    }
    let because = |reason: &dyn fmt::Display| {
        let mut wrong = wrong();
        wrong.found = format!("{} ({reason})", wrong.found).into();
        wrong
    };
    match unescape(inside) {
        Some((text, 0)) => Ok(Cow::Owned(text)),
        Some(_) => Err(because(&"half of a surrogate pair is no character")),
        None => serde_json::from_str(raw).map(Cow::Owned).map_err(|error| because(&error)),
    }
}

/// Undoes the escapes of a JSON string in a single allocation: most texts have line breaks, and decoding them anew
/// grows a string piece by piece. Gives the number of lone surrogates with it. Nothing where it meets what is no escape: the
/// decoder of JSON says what is wrong.
fn unescape(inside: &str) -> Option<(String, u64)> {
    let mut surrogates = 0;
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let (c, length) = escape(&rest[at..])?;
        surrogates += u64::from(c.is_none());
        text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    Some((text, surrogates))
}

/// The character that the escape at the front of `text` stands for, none for a lone surrogate, and the escape's bytes.
fn escape(text: &str) -> Option<(Option<char>, usize)> {
    let c = match text.as_bytes().get(1)? {
        escape @ (b'"' | b'/' | b'\\') => char::from(*escape),
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\x08',
        b'f' => '\x0c',
        b'u' => return utf16(text),
        _ => return None,
    };
    Some((Some(c), 2))
}

/// The same of one unit of UTF-16, or of two that are one character.
fn utf16(text: &str) -> Option<(Option<char>, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok()).flatten()
    };
    let first = unit(0)?;
    let is_half = (0xd800..0xdc00).contains(&first);
    let second = if is_half { unit(6).filter(|unit| (0xdc00..0xe000).contains(unit)) } else { None };
    let c = char::decode_utf16([first].into_iter().chain(second)).next()?.ok();
    Some((c, if second.is_some() { 12 } else { 6 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn unescaping_equals_decoding(
            text in "([\\x00-\\x7f]|\\\\|\\PC|\n|\"|/){0,40}", slashes: bool, ascii: bool,
        ) {
            let raw = serde_json::to_string(&text).unwrap();
            let raw = if slashes { raw.replace('/', "\\/") } else { raw };
            let units = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04X}")).collect::<String>();
            let escaped = |c: char| if c.is_ascii() { c.to_string() } else { units(c) };
            let raw: String = if ascii { raw.chars().map(escaped).collect() } else { raw };
            prop_assert_eq!(unescape(&raw[1..raw.len() - 1]), Some((text.clone(), 0)));
            let mut parts = String::new();
            let visit = |part: &str| { parts.push_str(part); Ok::<(), ()>(()) };
            prop_assert_eq!(RawText::new(&raw).unwrap().each_part(visit), Ok(Ok(0)));
            prop_assert_eq!(parts, text);
        }

        /// The parts of a string that stand for parts of its text are strings of these.
        #[test]
        fn parts_stand_for_parts(text in "([\\x00-\\x7f]|\\\\|\\PC|\n|\"){0,20}", ascii: bool, ends in proptest::collection::vec(0_usize..40, 0..5)) {
            let raw = serde_json::to_string(&text).unwrap();
            let units = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04X}")).collect::<String>();
            let raw: String = if ascii { raw.chars().map(|c| if c.is_ascii() { c.to_string() } else { units(c) }).collect() } else { raw };
            let mut ends: Vec<usize> = ends.into_iter().filter(|end| text.is_char_boundary(*end)).collect();
            ends.sort_unstable();
            let string = RawText::new(&raw).unwrap().strings().next().unwrap();
            prop_assert_eq!(string.text().unwrap(), text.as_str());
            let mut parts = string.parts();
            for two in ends.windows(2) {
                let part = parts.part(two[0]..two[1]);
                let read: String = serde_json::from_str(&format!("\"{part}\"")).unwrap();
                prop_assert_eq!(read, &text[two[0]..two[1]]);
            }
        }

        /// Whatever the decoder of JSON refuses is refused, but for lone surrogates.
        #[test]
        fn no_other_escapes_are_undone(inside in "([a-f]|\\\\[\"/bfnrtux0]|\\\\ud8[0-9]{2}|\\\\ude[0-9]{2}|\\\\u00[+e][0-9]){0,5}") {
            let raw = format!("\"{inside}\"");
            let (read, decoded) = (unescape(&inside), serde_json::from_str::<String>(&raw));
            match &read {
                Some((_, surrogates)) if *surrogates > 0 => prop_assert!(decoded.is_err()),
                _ => prop_assert_eq!(read.clone().map(|(text, _)| text), decoded.ok()),
            }
            let mut parts = String::new();
            let visit = |part: &str| { parts.push_str(part); Ok::<(), ()>(()) };
            let surrogates = RawText::new(&raw).unwrap().each_part(visit).unwrap().ok();
            prop_assert_eq!(surrogates.map(|surrogates| (parts, surrogates)), read);
        }

        /// As the language reads UTF-16 whose halves may be alone.
        #[test]
        fn lone_surrogates_are_replaced(units in proptest::collection::vec(
            prop_oneof![0xd7fe_u16..0xe002, 0xd83d_u16..0xd83f, 0xde00_u16..0xde02, 0x61_u16..0x64], 0..8,
        )) {
            let inside: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let text = String::from_utf16_lossy(&units);
            let alone = char::decode_utf16(units.iter().copied()).filter(Result::is_err).count();
            prop_assert_eq!(unescape(&inside), Some((text, alone as u64)));
        }
    }
}
