//! The encoding of a page, as the HTML Standard has it found: by its first bytes, by what came with it, by its `meta` element.
//!
//! The bytes have a say, too. Few texts in another encoding have bytes that are UTF-8 by chance: in 499 Chinese texts in any of 14 other
//! encodings, at least 72 of 100 sequences are none, and in 27 pages of UTF-8 with stray bytes, at most 13 of 100 are
//! none. So a page is UTF-8 where there are twice as many sequences that are characters as there are others
//! (docs/decisions/html-and-encodings.md).

use super::Encoding;
use std::borrow::Cow;
use twinsplit_html::tokens::{self, Token, TokenReader};
use twinsplit_io::error::FieldError;

/// Within so many bytes a page must say its encoding.
const HEAD: usize = 1024;

/// A page with so many characters beyond ASCII for each sequence that is none is UTF-8.
const FOR_ONE: u64 = 2;

/// How the bytes of a page became characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decoding {
    /// Sequences of bytes that are none of its encoding, each read as U+FFFD.
    pub replaced: u64,
    /// Whether the page, or what came with it, says another encoding than that of its bytes.
    pub contradicts: bool,
    /// Whether the page is read as windows-1252 because it is neither UTF-8 nor of an encoding that it says.
    pub guessed: bool,
}

/// What the bytes of a page say of UTF-8.
struct Evidence {
    /// Characters beyond ASCII.
    characters: u64,
    /// Sequences that are none.
    others: u64,
}

impl Evidence {
    fn of(page: &[u8]) -> Self {
        let mut evidence = Self { characters: 0, others: 0 };
        for chunk in page.utf8_chunks() {
            evidence.characters += chunk.valid().chars().filter(|c| !c.is_ascii()).count() as u64;
            evidence.others += u64::from(!chunk.invalid().is_empty());
        }
        evidence
    }

    fn is_utf_8(&self) -> bool {
        self.characters > 0 && self.characters >= FOR_ONE * self.others
    }
}

/// The text of a page where it is UTF-8, but for some sequences.
fn nearly_utf_8(page: &[u8]) -> Option<(Cow<'_, str>, Decoding)> {
    if let Ok(text) = std::str::from_utf8(page) {
        return Some((Cow::Borrowed(text), Decoding::default()));
    }
    let evidence = Evidence::of(page);
    let replaced = Decoding { replaced: evidence.others, ..Decoding::default() };
    evidence.is_utf_8().then(|| (String::from_utf8_lossy(page), replaced))
}

fn count_of_replaced(text: &str) -> u64 {
    text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count() as u64
}

/// The text of a page of which nothing tells the encoding; windows-1252 has all bytes.
fn guess(page: &[u8]) -> (Cow<'_, str>, Decoding) {
    let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(page);
    (text, Decoding { guessed: true, ..Decoding::default() })
}

impl Encoding {
    /// A page in characters. `asked`: what somebody asked for, whose bytes the page must have; `said`: what came with the page, such as a
    /// header of HTTP. A page that is not what it says is what its bytes are, and is counted.
    ///
    /// # Errors
    /// Bytes that are not of the encoding that was asked for.
    pub fn decode_page(
        page: &[u8],
        asked: Option<Self>,
        said: Option<Self>,
    ) -> Result<(Cow<'_, str>, Decoding), FieldError> {
        if let Some((encoding, length)) = encoding_rs::Encoding::for_bom(page) {
            let page = &page[length..];
            if encoding == encoding_rs::UTF_8 {
                return Ok(Self(encoding).read(page, None));
            }
            let (text, has_others) = encoding.decode_without_bom_handling(page);
            let replaced = if has_others { count_of_replaced(&text) } else { 0 };
            return Ok((text, Decoding { replaced, ..Decoding::default() }));
        }
        if let Some(asked) = asked {
            return asked.decode(page).map(|text| (text, Decoding::default()));
        }
        let of_meta = of_meta(&page[..page.len().min(HEAD)]);
        Ok(match (said, of_meta) {
            (Some(said), of_meta) => said.read(page, of_meta),
            (None, Some(of_meta)) => of_meta.read(page, None),
            (None, None) => nearly_utf_8(page).unwrap_or_else(|| guess(page)),
        })
    }

    /// The text of a page that says this encoding, or else another one.
    fn read(self, page: &[u8], other: Option<Self>) -> (Cow<'_, str>, Decoding) {
        let contradicting = |(text, decoding)| (text, Decoding { contradicts: true, ..decoding });
        // All bytes are of an encoding of single bytes, so that its decoder never says that it is another.
        let is_in_doubt = self.0.is_single_byte() && Evidence::of(page).is_utf_8();
        if let (false, Ok(text)) = (is_in_doubt, self.decode(page)) {
            return (text, Decoding::default());
        }
        if let Some(read) = nearly_utf_8(page) {
            return if self.is_utf_8() { read } else { contradicting(read) };
        }
        let other = other.filter(|other| *other != self).and_then(|other| other.decode(page).ok());
        if let Some(text) = other {
            return contradicting((text, Decoding::default()));
        }
        let (text, _) = self.0.decode_without_bom_handling(page);
        let replaced = count_of_replaced(&text);
        let others = text.chars().filter(|c| !c.is_ascii()).count() as u64 - replaced;
        if others > 0 && others >= FOR_ONE * replaced {
            return (text, Decoding { replaced, ..Decoding::default() });
        }
        guess(page)
    }

    /// That which a content type names, as in `text/html; charset=gb2312`.
    pub fn of_content_type(value: &[u8]) -> Option<Self> {
        let value = value.to_ascii_lowercase();
        let behind = |at: usize| value[at + "charset".len()..].trim_ascii_start();
        let value =
            memchr::memmem::find_iter(&value, "charset").find_map(|at| behind(at).strip_prefix(b"="))?;
        let value = value.trim_ascii_start();
        let label = match value.first()? {
            quote @ (b'"' | b'\'') => value[1..].split(|byte| byte == quote).next(),
            _ => value.split(|byte| byte.is_ascii_whitespace() || *byte == b';').next(),
        };
        Self::of_label(label?)
    }

    /// That of a label in a page.
    fn of_label(label: &[u8]) -> Option<Self> {
        let found = encoding_rs::Encoding::for_label_no_replacement(label)?;
        // Who reads this label in bytes of ASCII is not reading UTF-16.
        let is_other = found == encoding_rs::UTF_16LE || found == encoding_rs::UTF_16BE;
        Some(Self(if is_other { encoding_rs::UTF_8 } else { found }))
    }
}

/// What the first `meta` element that says it says.
fn of_meta(head: &[u8]) -> Option<Encoding> {
    let mut meta = Meta::default();
    tokens::read(head, &mut meta);
    meta.found
}

/// The start tag that is being read.
#[derive(Default)]
struct Meta {
    is_meta: bool,
    attribute: Vec<u8>,
    charset: Option<Encoding>,
    content: Option<Encoding>,
    /// Its `content` is a content type.
    is_type: bool,
    /// What a `meta` element before it said.
    found: Option<Encoding>,
}

impl TokenReader for Meta {
    fn read(&mut self, token: Token<'_>) {
        match token {
            Token::OpenStartTag { name } => {
                self.is_meta = name == b"meta";
                (self.charset, self.content, self.is_type) = (None, None, false);
            }
            Token::AttributeName { name } => name.clone_into(&mut self.attribute),
            Token::AttributeValue { value } => match &*self.attribute {
                b"charset" => self.charset = Encoding::of_label(value),
                b"content" => self.content = Encoding::of_content_type(value),
                b"http-equiv" => self.is_type = value.eq_ignore_ascii_case(b"content-type"),
                _ => {}
            },
            Token::CloseStartTag { .. } if self.is_meta && self.found.is_none() => {
                self.found = self.charset.or(self.content.filter(|_| self.is_type));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(page: &[u8], said: Option<&str>) -> (String, Decoding) {
        let (text, decoding) =
            Encoding::decode_page(page, None, said.map(|said| said.parse().unwrap())).unwrap();
        (text.into_owned(), decoding)
    }

    /// The last two bytes tell encodings apart.
    #[test]
    fn a_page_says_its_encoding() {
        let plain = Decoding::default();
        for (page, end) in [
            (&b"<!-- <meta charset=koi8-r> --><META name=x><meta CharSet='GB2312'><meta charset=big5>\xd6\xd0"[..], "中"),
            (b"<meta http-equiv=Content-Type content=\"text/html; charset = 'shift_jis'\">\x93\xfa", "日"),
            (b"<meta content=\"text/html;charset=ISO-8859-1; x\" http-equiv=CONTENT-TYPE>caf\xe9", "é"),
            (b"<meta charset=utf-16>\xc3\xa9", "é"),
            (b"<meta charset=klingon><meta content='charset=big5'>caf\xc3\xa9", "é"),
            (b"\xef\xbb\xbf<meta charset=gbk>\xc3\xa9", "é"),
            (b"\xff\xfe<\0", "<"),
        ] {
            let (text, decoding) = read(page, None);
            assert!(text.ends_with(end) && decoding == plain, "{text}: {decoding:?}");
        }
        assert_eq!(read(b"", None), (String::new(), plain));
        assert_eq!(read(b"<meta charset=gbk>\xa4\xa4", Some("big5")).0, "<meta charset=gbk>中");
        assert_eq!(read(b"\xef\xbb\xbf\xc3\xa9", Some("big5")).0, "é");
        let late = [&b" ".repeat(HEAD)[..], b"<meta charset=gbk>caf\xe9"].concat();
        assert!(read(&late, None).0.ends_with("café"));
    }

    #[test]
    fn bytes_have_a_say() {
        let of = |replaced, contradicts, guessed| Decoding { replaced, contradicts, guessed };
        for (page, text, decoding) in [
            // Says nothing: UTF-8 with stray bytes, or windows-1252.
            ("中文".as_bytes(), "中文", of(0, false, false)),
            (b"caf\xe9", "café", of(0, false, true)),
            (b"\xe4\xb8\xad\xff", "\u{e4}\u{b8}\u{ad}ÿ", of(0, false, true)),
            (b"\xe4\xb8\xad\xe6\x96\x87\xff", "中文\u{fffd}", of(1, false, false)),
            (b"\xe4\xb8\xad\xe6\x96\x87\xe6\x96a\xff\xff", "\u{e4}\u{b8}\u{ad}æ–‡æ–aÿÿ", of(0, false, true)),
            // Says what it is not.
            (b"<meta charset=latin1>\xc2\xa9", "<meta charset=latin1>©", of(0, true, false)),
            (b"<meta charset=latin1>\xe9 \xc3\xa9", "<meta charset=latin1>é Ã©", of(0, false, false)),
            (
                b"<meta charset=gbk>\xe4\xb8\xad\xe6\x96\x87\xe3\x80\x82",
                "<meta charset=gbk>中文。",
                of(0, true, false),
            ),
            (
                b"<meta charset=utf-8>\xe4\xb8\xad\xe6\x96\x87\xff",
                "<meta charset=utf-8>中文\u{fffd}",
                of(1, false, false),
            ),
            (b"<meta charset=utf-8>caf\xe9", "<meta charset=utf-8>café", of(0, false, true)),
            (b"<meta charset=gbk>\xd6\xd0\xff", "<meta charset=gbk>ÖÐÿ", of(0, false, true)),
        ] {
            assert_eq!(read(page, None), (text.to_owned(), decoding), "{}", page.escape_ascii());
        }
        // What was asked for is taken at its word.
        for (page, asked) in
            [(&b"caf\xe9"[..], "utf-8"), (b"\xd6\xd0\xff", "gbk"), ("中文".as_bytes(), "big5")]
        {
            assert!(Encoding::decode_page(page, Some(asked.parse().unwrap()), None).is_err(), "{asked}");
        }
    }

    /// A page of a crawl has a header, and no page stops a run.
    #[test]
    fn a_page_that_is_not_what_its_header_says_is_what_its_bytes_are() {
        let of = |replaced, contradicts, guessed| Decoding { replaced, contradicts, guessed };
        let cases: [(&[u8], &str, &str, Decoding); 9] = [
            (b"caf\xe9 \x97", "utf-8", "café —", of(0, false, true)),
            (b"\xe4\xb8\xad\xe6\x96\x87\xff", "utf-8", "中文\u{fffd}", of(1, false, false)),
            (b"\xe4\xb8\xad\xe6\x96\x87", "iso-8859-1", "中文", of(0, true, false)),
            (b"\xe4\xb8\xad\xe6\x96\x87\xe3\x80\x82", "gbk", "中文。", of(0, true, false)),
            (b"<meta charset=gbk>\xd6\xd0\xce\xc4", "utf-8", "<meta charset=gbk>中文", of(0, true, false)),
            (b"<meta charset=gbk>\xd6\xd0", "gb2312", "<meta charset=gbk>中", of(0, false, false)),
            (b"\xd6\xd0\xce\xc4\xff a", "gbk", "中文\u{fffd} a", of(1, false, false)),
            (b"<meta charset=klingon>\xff", "big5", "<meta charset=klingon>ÿ", of(0, false, true)),
            (b"\xff\xfe\x2d\x4e\x87\x65\x00\xd8", "utf-8", "中文\u{fffd}", of(1, false, false)),
        ];
        for (page, said, text, decoding) in cases {
            assert_eq!(read(page, Some(said)), (text.to_owned(), decoding), "{}", page.escape_ascii());
        }
    }
}
