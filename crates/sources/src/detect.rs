//! Which format a file has: by its first bytes, and where these leave it open, by its name.
//!
//! | what | format |
//! |---|---|
//! | begins with `WARC/` | `warc` |
//! | begins with `filedesc://` | `arc` |
//! | begins with `PAR1` and bytes that are no text | `parquet` |
//! | begins with `ARROW1` and a zero byte, or with four bytes 0xff, a length and a message that is a schema | `arrow` |
//! | begins with `{` and then `"` or `}` on the same line | `jsonl` |
//! | begins with `{` or `[`, and then, over any white space, as an object, an array of objects or an empty array does | `json` |
//! | begins with `<DOC>` | `trec` |
//! | begins with `<!DOCTYPE lewis` or `<REUTERS` | `reuters` |
//! | begins with `<!DOCTYPE html` or `<html`, or with `<?xml` and `<html` soon after | `html` |
//! | has a name that ends in one of [`ENDINGS`], before that of a compression | that one |
//! | anything else | `jsonl`, whose reader names what is none |
//!
//! Byte order marks and blanks before the first character are passed over. This table is that of docs/formats.md.

use super::Format;
use std::path::Path;
use twinsplit_io::{Kind, Opened, Packing, blank_start};

/// Endings of names, and what they say.
pub const ENDINGS: [(&str, Format); 21] = [
    ("jsonl", Format::Jsonl),
    ("ndjson", Format::Jsonl),
    ("jl", Format::Jsonl),
    ("json", Format::Json),
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("tab", Format::Tsv),
    ("parquet", Format::Parquet),
    ("arrow", Format::Arrow),
    ("arrows", Format::Arrow),
    ("feather", Format::Arrow),
    ("txt", Format::Text),
    ("text", Format::Text),
    ("md", Format::Text),
    ("html", Format::Html),
    ("htm", Format::Html),
    ("xhtml", Format::Html),
    ("warc", Format::Warc),
    ("wet", Format::Warc),
    ("arc", Format::Arc),
    ("trec", Format::Trec),
];

/// What the names of formats mean that are told by bytes alone.
const OF_BYTES: [(&str, Format); 4] =
    [("warc", Format::Warc), ("arc", Format::Arc), ("parquet", Format::Parquet), ("arrow", Format::Arrow)];

impl Format {
    /// The format of a file of this name that begins with these bytes, unpacked.
    pub fn of(head: &[u8], path: &Path) -> Self {
        let of_kind = Kind::of(head).and_then(Kind::format);
        if let Some((_, format)) = of_kind.and_then(|name| OF_BYTES.iter().find(|(of, _)| *of == name)) {
            return *format;
        }
        let text = &head[blank_start(head)..];
        Self::of_text(text).or_else(|| Self::of_name(path)).unwrap_or(Self::Jsonl)
    }

    /// The format of a file on disk. A stream that cannot be read again, but for standard input, is taken for JSON lines, and so is what
    /// cannot be opened, which its reader names.
    pub fn of_file(path: &Path) -> Self {
        Opened::peek(path).map_or(Self::Jsonl, |head| Self::of(&head, path))
    }

    fn of_text(text: &[u8]) -> Option<Self> {
        let begins = |word: &str| {
            text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
        };
        let has_html = || {
            let lower = text.to_ascii_lowercase();
            ["<html", "<!doctype html"]
                .iter()
                .any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
        };
        let rest = text.get(1..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let (is_spread, next) = (rest[..blanks].contains(&b'\n'), rest.get(blanks).copied());
        match (text.first()?, next) {
            (b'{', Some(b'"' | b'}')) if !is_spread => Some(Self::Jsonl),
            (b'{', Some(b'"' | b'}')) | (b'[', Some(b'{' | b']')) => Some(Self::Json),
            (b'<', _) if begins("<doc>") => Some(Self::Trec),
            (b'<', _) if begins("<!doctype lewis ") || begins("<reuters ") => Some(Self::Reuters),
            (b'<', _) if begins("<!doctype html") || begins("<html") => Some(Self::Html),
            (b'<', _) if begins("<?xml") && has_html() => Some(Self::Html),
            _ => None,
        }
    }

    /// The format that the name of a file says, that of its compression left aside.
    fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let packed = |name: &str| {
            let stem =
                |packing: Packing| name.strip_suffix(packing.ending())?.strip_suffix('.').map(str::to_owned);
            Packing::ALL.into_iter().find_map(stem)
        };
        let name = packed(&name).unwrap_or(name);
        let (_, ending) = name.rsplit_once('.')?;
        ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, format)| *format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_and_then_the_name() {
        let cases: [(&[u8], &str, Format); 47] = [
            (b"{\"id\":1}", "a.txt", Format::Jsonl),
            (b"\xef\xbb\xbf \n{ \"id\":1}", "a", Format::Jsonl),
            (b"{}\n", "a.json", Format::Jsonl),
            (b"{\n  \"id\": 1}", "a.jsonl", Format::Json),
            (b"[{\"id\":1}]", "a", Format::Json),
            (b"[\n\n {", "a", Format::Json),
            (b"[]", "a.txt", Format::Json),
            (b"[1] a note", "a.txt", Format::Text),
            (b"[1]", "a.json", Format::Json),
            (b"[1]", "a", Format::Jsonl),
            (b"{% block %}<p>", "a.html", Format::Html),
            (b"WARC/1.0\r\n", "a.txt", Format::Warc),
            (b"<DOC>\n<DOCNO>", "a.html", Format::Trec),
            (b"<doc>", "a", Format::Trec),
            (b"<!DOCTYPE HTML PUBLIC", "a", Format::Html),
            (b"\n<html lang=en>", "a.txt", Format::Html),
            (b"<?xml version='1.0'?>\n<!DOCTYPE html", "a", Format::Html),
            (b"<?xml version='1.0'?>\n<rss>", "a", Format::Jsonl),
            (b"<!DOCTYPE lewis SYSTEM", "a.sgm", Format::Reuters),
            (b"<REUTERS TOPICS=", "a.txt", Format::Reuters),
            (b"<!DOCTYPE book SYSTEM", "a.sgm", Format::Jsonl),
            (b"<p>a", "a.HTM", Format::Html),
            (b"<p>a", "a", Format::Jsonl),
            (b"id,text\n", "b/a.csv", Format::Csv),
            (b"id,text\n", "a.csv.gz", Format::Csv),
            (b"id,text\n", "a.CSV.zst", Format::Csv),
            (b"id,text\n", "a.csv.bz2", Format::Csv),
            (b"id,text\n", "a.csv.xz", Format::Csv),
            (b"id,text\n", "a.gz", Format::Jsonl),
            (b"id,text\n", "csv", Format::Jsonl),
            (b"id\ttext\n", "a.tsv", Format::Tsv),
            (b"a text", "a.txt", Format::Text),
            (b"# a text", "a.md", Format::Text),
            (b"", "a.wet", Format::Warc),
            (b"", "-", Format::Jsonl),
            (b"not json", "a.jsonl", Format::Jsonl),
            (b"not json", "a.json", Format::Json),
            (b"PAR1\x15\x04", "a.txt", Format::Parquet),
            (b"PAR1 is", "a.txt", Format::Text),
            (b"", "a.parquet", Format::Parquet),
            (b"ARROW1\0\0\xff\xff", "a.txt", Format::Arrow),
            (b"ARROW1 is", "a.txt", Format::Text),
            (b"\xff\xff\xff\xff\x98\0\0\0\x10\0\0\0\0\0\x0a\0\x0c\0\x06\0\x05\0\x08\0\x0a\0\0\0\0\x01\x04\0", "a", Format::Arrow),
            (b"", "a.feather", Format::Arrow),
            (b"", "a.arrows.zst", Format::Arrow),
            (b"filedesc://a.arc 0.0.0.0", "a.txt", Format::Arc),
            (b"", "a.arc.gz", Format::Arc),
        ];
        for (head, name, format) in cases {
            assert_eq!(Format::of(head, Path::new(name)), format, "{name} {}", head.escape_ascii());
        }
    }
}
