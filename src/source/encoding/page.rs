//! The encoding of a page, as the HTML Standard has it found: by its first bytes, by what came with it, by its `meta` element.

use super::Encoding;
use crate::source::html::tokens::{self, Token, TokenReader};

/// Within so many bytes a page must say its encoding.
const HEAD: usize = 1024;

impl Encoding {
    /// The encoding of a page, and how many bytes of it are a byte order mark. `said`: what came with the page, such as a header of
    /// HTTP. A page that says nothing is UTF-8 where it can be, and else windows-1252, which all bytes are.
    pub fn of_page(page: &[u8], said: Option<Self>) -> (Self, usize) {
        if let Some((encoding, length)) = encoding_rs::Encoding::for_bom(page) {
            return (Self(encoding), length);
        }
        let by_content = || match std::str::from_utf8(page) {
            Ok(_) => Self(encoding_rs::UTF_8),
            Err(_) => Self(encoding_rs::WINDOWS_1252),
        };
        (said.or_else(|| of_meta(&page[..page.len().min(HEAD)])).unwrap_or_else(by_content), 0)
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

    #[test]
    fn a_page_says_its_encoding() {
        let of = |page: &[u8], said: Option<&str>| {
            let (encoding, mark) = Encoding::of_page(page, said.map(|said| said.parse().unwrap()));
            (encoding.to_string(), mark)
        };
        for (page, name, mark) in [
            (&b"\xef\xbb\xbf<meta charset=gbk>"[..], "UTF-8", 3),
            (b"\xff\xfe<\0", "UTF-16LE", 2),
            (
                b"<!-- <meta charset=koi8-r> --><META name=x><meta CharSet='GB2312'><meta charset=big5>",
                "GBK",
                0,
            ),
            (b"<meta http-equiv=Content-Type content=\"text/html; charset = 'shift_jis'\">", "Shift_JIS", 0),
            (
                b"<meta content=\"text/html;charset=ISO-8859-1; x\" http-equiv=CONTENT-TYPE>",
                "windows-1252",
                0,
            ),
            (b"<meta charset=utf-16>", "UTF-8", 0),
            (b"<meta charset=klingon><meta content='charset=big5'>caf\xc3\xa9", "UTF-8", 0),
            (b"caf\xe9", "windows-1252", 0),
            (b"", "UTF-8", 0),
        ] {
            assert_eq!(of(page, None), (name.to_owned(), mark), "{}", page.escape_ascii());
        }
        assert_eq!(of(b"<meta charset=gbk>", Some("big5")).0, "Big5");
        assert_eq!(of(b"\xef\xbb\xbf<meta charset=gbk>", Some("big5")).0, "UTF-8");
        let late = [&b" ".repeat(HEAD)[..], b"<meta charset=gbk>"].concat();
        assert_eq!(of(&late, None).0, "UTF-8");
    }
}
