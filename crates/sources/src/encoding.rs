//! Texts in other encodings than UTF-8. Nothing is replaced in silence: bytes that are not of the encoding are an error, or, in a page
//! that is UTF-8 but for some of them, counted.

mod page;

pub use page::Decoding;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use twinsplit_io::error::FieldError;

/// An encoding. That of a file which holds many documents is one in which the bytes of ASCII stand for nothing else, so that lines and
/// marks are found before anything is decoded; a page that is decoded as a whole may have any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl FromStr for Encoding {
    type Err = String;

    fn from_str(label: &str) -> Result<Self, String> {
        let found = encoding_rs::Encoding::for_label_no_replacement(label.as_bytes()).ok_or_else(|| {
            "expected a name of the WHATWG Encoding Standard, such as utf-8, latin1, gb18030, big5 or shift_jis"
                .to_owned()
        })?;
        match found.is_ascii_compatible() {
            true => Ok(Self(found)),
            false => Err(format!(
                "in {} a line end is not the byte that it is in ASCII; make UTF-8 of the files with iconv",
                found.name()
            )),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl Default for Encoding {
    fn default() -> Self {
        Self(encoding_rs::UTF_8)
    }
}

impl Encoding {
    /// Whether it is UTF-8, which needs no decoding.
    pub fn is_utf_8(self) -> bool {
        self.0 == encoding_rs::UTF_8
    }

    /// The text of these bytes; borrowed where they are UTF-8 already.
    pub fn decode(self, raw: &[u8]) -> Result<Cow<'_, str>, FieldError> {
        self.0.decode_without_bom_handling_and_without_replacement(raw).ok_or_else(|| self.wrong(raw))
    }

    /// The bytes of a text in this encoding; nothing where it lacks some of the characters.
    pub fn encode(self, text: &str) -> Option<Cow<'_, [u8]>> {
        let (bytes, _, lacks_some) = self.0.encode(text);
        (!lacks_some).then_some(bytes)
    }

    /// The error about bytes that are not of this encoding.
    fn wrong(self, raw: &[u8]) -> FieldError {
        let at = self.first_wrong(raw);
        let mut error = FieldError::new("document", "bytes of its encoding (--encoding names another)", raw);
        let byte = raw.get(at).copied().unwrap_or_default();
        error.found = format!("{} (its byte {at}, {byte:#04x}, is not {self})", error.found).into();
        error
    }

    /// Where the first bytes stand that are not of this encoding.
    fn first_wrong(self, raw: &[u8]) -> usize {
        let mut decoder = self.0.new_decoder_without_bom_handling();
        let room = decoder.max_utf8_buffer_length_without_replacement(raw.len()).unwrap_or(raw.len());
        let mut text = String::with_capacity(room);
        match decoder.decode_to_string_without_replacement(raw, &mut text, true) {
            (encoding_rs::DecoderResult::Malformed(length, after), read) => {
                read.saturating_sub(usize::from(length) + usize::from(after))
            }
            (_, read) => read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(label: &str) -> Encoding {
        label.parse().unwrap()
    }

    #[test]
    fn labels_are_those_of_the_standard() {
        for (label, name) in
            [("utf-8", "UTF-8"), ("Latin1", "windows-1252"), ("gbk", "GBK"), ("GB2312", "GBK")]
        {
            assert_eq!(of(label).to_string(), name);
        }
        for label in ["", "utf8x", "utf-16le", "utf-16", "iso-2022-jp", "hz-gb-2312"] {
            assert!(label.parse::<Encoding>().is_err(), "{label}");
        }
    }

    #[test]
    fn the_first_wrong_byte_is_named() {
        for (label, raw, at) in [
            ("utf-8", &b"caf\xe9 noir"[..], 3),
            ("utf-8", b"\xe4\xb8\xad\xe4\xb8", 3),
            ("gb18030", b"\xd6\xd0\xff", 2),
            ("shift_jis", b"ab\x81 ", 2),
        ] {
            let found = of(label).decode(raw).unwrap_err().found;
            assert!(found.contains(&format!("its byte {at}, {:#04x}", raw[at])), "{label}: {found}");
        }
        assert_eq!(of("latin1").decode(b"caf\xe9").unwrap(), "café");
        assert_eq!(of("gb2312").decode(b"\xd6\xd0\xce\xc4").unwrap(), "中文");
    }

    proptest! {
        #[test]
        fn utf_8_is_what_the_language_takes_for_it(raw in proptest::collection::vec(any::<u8>(), 0..40)) {
            let expected = std::str::from_utf8(&raw);
            let found = of("utf-8").decode(&raw);
            prop_assert_eq!(found.as_deref().ok(), expected.ok());
            if let Err(error) = expected {
                prop_assert_eq!(of("utf-8").first_wrong(&raw), error.valid_up_to());
            }
        }
    }
}
