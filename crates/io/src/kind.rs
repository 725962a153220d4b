//! What a file holds that holds no JSON lines, told by how it begins, and the command that makes JSON lines of it.
//!
//! A file is known by its name, and a name may be wrong: what was left packed, a table or a page would be read as lines that are no
//! documents, and the error would quote bytes. The first bytes tell them apart. [`Kind::of`] knows what no line of JSON
//! begins with, so that such a file is refused before it is read. [`Kind::of_line`] knows forms of text; there one line is no proof, and
//! what it says is advice about a line that is wrong already.

use crate::Packing;
use std::fmt::Write as _;
use std::path::Path;
use twinsplit_core::visible::quote;

/// So many bytes of a file are enough to tell its kind.
pub const HEAD: usize = 512;

/// A byte order mark in UTF-8.
pub const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// What people call it.
    pub name: &'static str,
    command: Command,
}

/// What makes documents of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    /// A program that reads standard input and writes standard output.
    Filter(&'static str),
    /// One that reads a file, whose name comes in place of each `{}`, and writes standard output.
    File(&'static str),
    /// `convert` with this format.
    Convert(&'static str),
    /// The same of a file that is not packed.
    ConvertUnpacked(&'static str),
    /// None that is known.
    None,
}

const fn filter(name: &'static str, command: &'static str) -> Kind {
    Kind { name, command: Command::Filter(command) }
}

const fn file(name: &'static str, command: &'static str) -> Kind {
    Kind { name, command: Command::File(command) }
}

const fn alone(name: &'static str) -> Kind {
    Kind { name, command: Command::None }
}

/// UTF-16 with a byte order mark, which pages of HTML may be.
const UTF_16: Kind = filter("UTF-16", "iconv -f UTF-16 -t UTF-8");
const UTF_16LE: Kind = filter("UTF-16 without a byte order mark", "iconv -f UTF-16LE -t UTF-8");
const UTF_16BE: Kind = filter("UTF-16 without a byte order mark", "iconv -f UTF-16BE -t UTF-8");
const UTF_32: Kind = filter("UTF-32", "iconv -f UTF-32 -t UTF-8");
const UTF_32LE: Kind = filter("UTF-32 without a byte order mark", "iconv -f UTF-32LE -t UTF-8");
const UTF_32BE: Kind = filter("UTF-32 without a byte order mark", "iconv -f UTF-32BE -t UTF-8");
const ARROW: Kind = Kind { name: "Arrow", command: Command::Convert("arrow") };
const TAR: Kind = filter("a tar archive", "tar -xO");

/// The first bytes of kinds that no line of JSON begins with; where one begins as another does, the longer stands first.
const MAGIC: [(&[u8], Kind); 24] = [
    (b"\x1f\x8b", filter("gzip", "gzip -dc")),
    (b"\x28\xb5\x2f\xfd", filter("packed by zstd", "zstd -dc")),
    (b"\xfd7zXZ\0", filter("packed by xz", "xz -dc")),
    (b"\x04\x22\x4d\x18", filter("packed by lz4", "lz4 -dc")),
    (b"\x1f\x9d", filter("packed by compress", "gzip -dc")),
    (b"7z\xbc\xaf\x27\x1c", file("a 7z archive", "7z x -so {}")),
    (b"PK\x03\x04", file("a zip archive", "unzip -p {}")),
    (b"PK\x05\x06", alone("an empty zip archive")),
    (b"ARROW1\0", ARROW),
    (b"Obj\x01", file("Avro", "fastavro {}")),
    (b"SQLite format 3\0", alone("an SQLite database")),
    (b"WARC/", Kind { name: "WARC", command: Command::Convert("warc") }),
    (b"filedesc://", Kind { name: "ARC", command: Command::Convert("arc") }),
    (b"\xff\xfe\0\0", UTF_32),
    (b"\0\0\xfe\xff", UTF_32),
    (b"\xff\xfe", UTF_16),
    (b"\xfe\xff", UTF_16),
    (b"\x89PNG\r\n\x1a\n", alone("an image")),
    (b"\xff\xd8\xff", alone("an image")),
    (b"GIF89a", alone("an image")),
    (b"\x7fELF", alone("a program")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", alone("a document of an office program")),
    (b"wOFF", alone("a font")),
    (b"wOF2", alone("a font")),
];

/// The same of kinds whose first bytes could be the beginning of a text, so that others must follow.
const MAGIC_AND_BYTES: [(&[u8], Kind); 5] = [
    (b"BZh", filter("packed by bzip2", "bzip2 -dc")),
    (b"PAR1", Kind { name: "Parquet", command: Command::ConvertUnpacked("parquet") }),
    (b"FEA1", file("Feather of version 1", FEATHER)),
    (b"ORC", file("ORC", DATASET_ORC)),
    (b"%PDF-", file("PDF", "pdftotext {} - | jq -cRs --arg id {} '{id: $id, text: .}'")),
];

const DATASET_ORC: &str = r#"python3 -c 'import json, sys, pyarrow.dataset; [print(json.dumps(row, default=str)) for part in pyarrow.dataset.dataset(sys.argv[1], format="orc").to_batches() for row in part.to_pylist()]' {}"#;
const FEATHER: &str = r#"python3 -c 'import json, sys, pyarrow.feather; [print(json.dumps(row, default=str)) for part in pyarrow.feather.read_table(sys.argv[1]).to_batches() for row in part.to_pylist()]' {}"#;

const HTML: Kind = Kind { name: "HTML", command: Command::Convert("html") };
const TREC: Kind = Kind { name: "TREC", command: Command::Convert("trec") };
const XML: Kind = alone("XML");
const JSON: Kind = alone("JSON");
const ARRAY: Kind = Kind { name: "a JSON array", command: Command::Convert("json") };
const SPREAD: Kind = Kind { name: "JSON with objects over several lines", command: Command::Convert("json") };
const SGML: Kind = alone("SGML");
const CSV: Kind = Kind { name: "CSV", command: Command::Convert("csv") };
const TSV: Kind = Kind { name: "TSV", command: Command::Convert("tsv") };

impl Kind {
    /// The kind of a file that begins with these bytes, where no line of JSON does; they are the first [`HEAD`] of it, or all.
    pub fn of(head: &[u8]) -> Option<Self> {
        let begins = |(magic, kind): &(&[u8], Self)| head.starts_with(magic).then_some(*kind);
        let by_magic = || MAGIC.iter().find_map(begins);
        let by_more = || MAGIC_AND_BYTES.iter().find_map(begins).filter(|_| has_bytes(head));
        let stream = || begins_with_schema(head).then_some(ARROW);
        let tar = || (head.get(257..262) == Some(b"ustar")).then_some(TAR);
        by_magic().or_else(by_more).or_else(stream).or_else(tar).or_else(|| without_mark(head))
    }

    /// The form of text that a line is of which is no document, and the first of its file or not.
    pub fn of_line(line: &[u8], is_first: bool) -> Option<Self> {
        if let Some(kind) = Self::of(line) {
            return Some(kind);
        }
        let text = std::str::from_utf8(line).ok()?.trim();
        let begins =
            |word: &str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        match text.bytes().next()? {
            b'[' => Some(ARRAY),
            b'{' => Some(SPREAD),
            b'<' if begins("<doc>") => Some(TREC),
            b'<' if begins("<?xml") && !text.to_ascii_lowercase().contains("<html") => Some(XML),
            b'<' if begins("<!doctype ") && !begins("<!doctype html") => Some(SGML),
            b'<' if text[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "!?/".contains(c)) => {
                Some(HTML)
            }
            _ if !is_first => None,
            _ if text.contains('\t') => Some(TSV),
            _ if text.contains([',', ';']) => Some(CSV),
            _ => None,
        }
    }

    /// The kind of a file where a page of HTML is expected, if it is none: a page is text, and may be without any markup.
    pub fn of_page(page: &[u8]) -> Option<Self> {
        let head = &page[..page.len().min(HEAD)];
        if let Some(kind) = Self::of(head) {
            return Some(kind).filter(|kind| *kind != UTF_16);
        }
        let page = page.strip_prefix(&MARK).unwrap_or(page).trim_ascii_start();
        let start = page[..page.len().min(HEAD)].to_ascii_lowercase();
        let has = |word: &str| memchr::memmem::find(&start, word.as_bytes()).is_some();
        match start.first()? {
            b'{' | b'[' => {
                let mut values =
                    serde_json::Deserializer::from_slice(page).into_iter::<serde::de::IgnoredAny>();
                let is_value = values.next().is_some_and(|value| value.is_ok());
                // Another value, or nothing, comes behind it.
                (is_value && values.next().is_none_or(|value| value.is_ok())).then_some(JSON)
            }
            b'<' if start.starts_with(b"<doc>") && has("<docno>") => Some(TREC),
            b'<' if start.starts_with(b"<?xml") && !has("<html") && !has("<!doctype html") => Some(XML),
            _ => None,
        }
    }

    /// The format in which `convert` reads it, if it reads it.
    pub fn format(self) -> Option<&'static str> {
        match self.command {
            Command::Convert(format) | Command::ConvertUnpacked(format) => Some(format),
            Command::Filter(_) | Command::File(_) | Command::None => None,
        }
    }

    /// What is wrong with a file of this kind where another was `expected`, and what makes `to` of it. `packing` was taken off
    /// before its kind was seen.
    pub fn problem(self, expected: &str, name: &str, packing: Option<Packing>, to: &str) -> String {
        let inside = packing.map_or(String::new(), |packing| format!(" inside {}", packing.name()));
        let before = packing.map_or(String::new(), Packing::command);
        let to = &other_than(name, to);
        let mut problem = format!("this is {}{inside}, not {expected}", self.name);
        // A string takes everything.
        let _ = match self.line(name, &before, to) {
            Some(command) => write!(problem, "; `{command}` makes {to} of it"),
            None => write!(problem, "; leave it out, or make {expected} of it"),
        };
        problem
    }

    /// The same as advice about a line, of which the file may be packed by gzip or not.
    pub fn advice(self, name: &str) -> String {
        let named = self.name;
        match self.line(name, "gzip -dcf", &other_than(name, "documents.jsonl")) {
            Some(command) => {
                format!(
                    "if the file is {named}, `{command}` makes JSON lines of it; otherwise correct the line"
                )
            }
            None => format!("if the file is {named}, make JSON lines of it; otherwise correct the line"),
        }
    }

    /// The line for a shell; `before` is what unpacks the file, where that is needed.
    fn line(self, name: &str, before: &str, to: &str) -> Option<String> {
        let name = if name.is_empty() { "FILE".to_owned() } else { quote(name) };
        Some(match (self.command, before) {
            (Command::Filter(command), "") => format!("{command} < {name} > {to}"),
            (Command::Filter(command), before) => format!("{before} < {name} | {command} > {to}"),
            (Command::File(command), "") => format!("{} > {to}", command.replace("{}", &name)),
            (Command::File(command), before) => {
                format!("{before} < {name} > unpacked && {} > {to}", command.replace("{}", "unpacked"))
            }
            (Command::ConvertUnpacked(format), before) if !before.is_empty() => {
                format!(
                    "{before} < {name} > unpacked && twinsplit convert unpacked --format {format} --output {to}"
                )
            }
            (Command::Convert(format) | Command::ConvertUnpacked(format), _) => {
                format!("twinsplit convert {name} --format {format} --output {to}")
            }
            (Command::None, _) => return None,
        })
    }
}

/// Whether a stream of Arrow begins so: its first message is a schema. Before its length stands a mark, but for the first versions; it is a flat
/// buffer, whose table says in its second field which kind of message it is.
fn begins_with_schema(head: &[u8]) -> bool {
    let message = head.strip_prefix(&[0xff; 4]).unwrap_or(head);
    let kind = || {
        let word = |at: usize| Some(u32::from_le_bytes(*message.get(at..)?.first_chunk()?) as usize);
        let half = |at: usize| Some(u16::from_le_bytes(*message.get(at..)?.first_chunk()?) as usize);
        let (length, table) = (word(0)?, word(4)?.checked_add(4)?);
        let fields = table.checked_sub(word(table)?)?;
        let is_message = length > 0 && length <= i32::MAX as usize && half(fields)? >= 8;
        is_message.then_some(*message.get(table + half(fields + 6)?)?)
    };
    kind() == Some(1)
}

/// Whether there are bytes that are no text.
fn has_bytes(head: &[u8]) -> bool {
    head.iter().any(|byte| !byte.is_ascii() || byte.is_ascii_control() && !byte.is_ascii_whitespace())
}

/// Units of two or four bytes: characters of ASCII are one byte of each, and the others are zero. The text may begin with any of ASCII.
fn without_mark(head: &[u8]) -> Option<Kind> {
    let is_zero = |at: usize| head.get(at).map(|byte| *byte == 0);
    match [0, 1, 2, 3].map(is_zero) {
        [Some(false), Some(true), Some(true), Some(true)] => Some(UTF_32LE),
        [Some(true), Some(true), Some(true), Some(false)] => Some(UTF_32BE),
        [Some(false), Some(true), Some(false), Some(true)] => Some(UTF_16LE),
        [Some(true), Some(false), Some(true), Some(false)] => Some(UTF_16BE),
        _ => None,
    }
}

/// A name for what a command makes of a file of another name: a shell empties what it writes to before anything is read.
fn other_than(name: &str, to: &str) -> String {
    let is_same = Path::new(name).file_name().is_some_and(|name| name == to);
    if is_same { format!("converted-{to}") } else { to.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(head: &[u8]) -> Option<&'static str> {
        Kind::of(head).map(|kind| kind.name)
    }

    #[test]
    fn first_bytes_tell_a_kind() {
        let mut tar = vec![b'a'; 257];
        tar.extend_from_slice(b"ustar\0");
        for (head, name) in [
            (&b"\x1f\x8b\x08\0"[..], Some("gzip")),
            (b"\x28\xb5\x2f\xfd\x04", Some("packed by zstd")),
            (b"BZh91AY&SY\xb5", Some("packed by bzip2")),
            (b"BZhang, Lin", None),
            (b"PAR1\x15\x04", Some("Parquet")),
            (b"PAR1,PAR2", None),
            (b"ORC\x0a\x06\x12", Some("ORC")),
            (b"ORCHID,ROSE", None),
            (b"%PDF-1.7\n%\xe2\xe3", Some("PDF")),
            (b"WARC/1.0\r\n", Some("WARC")),
            (b"filedesc://a.arc 0.0.0.0", Some("ARC")),
            (b"ARROW1\0\0", Some("Arrow")),
            (b"\xff\xff\xff\xff\x98\0\0\0\x10\0\0\0\0\0\x0a\0\x0c\0\x06\0\x05\0\x08\0\x0a\0\0\0\0\x01\x04\0", Some("Arrow")),
            (b"\x98\0\0\0\x10\0\0\0\0\0\x0a\0\x0c\0\x06\0\x05\0\x08\0\x0a\0\0\0\0\x01\x04\0", Some("Arrow")),
            (b"\xff\xff\xff\xff\x98\0\0\0\x10\0\0\0\0\0\x0a\0\x0c\0\x06\0\x05\0\x08\0\x0a\0\0\0\0\x03\x04\0", None),
            (b"\xff\xff\xff\xff", None),
            (b"FEA1\0\0", Some("Feather of version 1")),
            (&tar, Some("a tar archive")),
            (b"\xff\xfe{\0", Some("UTF-16")),
            (b"\xfe\xff\0{", Some("UTF-16")),
            (b"\xff\xfe\0\0{\0\0\0", Some("UTF-32")),
            (b"\0\0\xfe\xff\0\0\0{", Some("UTF-32")),
            (b"{\0\"\0", Some("UTF-16 without a byte order mark")),
            (b"\0{\0\"", Some("UTF-16 without a byte order mark")),
            (b"{\0\0\0\"\0\0\0", Some("UTF-32 without a byte order mark")),
            (b"\0\0\0{\0\0\0\"", Some("UTF-32 without a byte order mark")),
            (b"{\"id\":1}", None),
            (b"a\0b", None),
            (b"", None),
            (b"\n", None),
        ] {
            assert_eq!(named(head), name, "{}", head.escape_ascii());
        }
    }

    #[test]
    fn a_line_of_text_tells_a_form() {
        for (line, is_first, name) in [
            (" [{\"id\":1},", false, Some("a JSON array")),
            ("{", true, Some("JSON with objects over several lines")),
            ("<DOC>", true, Some("TREC")),
            ("<!DOCTYPE html>", true, Some("HTML")),
            ("<p>a < b", false, Some("HTML")),
            ("<!DOCTYPE lewis SYSTEM \"lewis.dtd\">", true, Some("SGML")),
            ("<?xml version='1.0'?><html>", true, Some("HTML")),
            ("<?xml version='1.0'?>", true, Some("XML")),
            ("id\ttext, and more", true, Some("TSV")),
            ("id,text", true, Some("CSV")),
            ("id,text", false, None),
            ("not json", true, None),
            ("< 3", true, None),
            ("", true, None),
        ] {
            assert_eq!(Kind::of_line(line.as_bytes(), is_first).map(|kind| kind.name), name, "{line}");
        }
    }

    #[test]
    fn what_is_no_page_is_known() {
        for (page, name) in [
            (&b"WARC/1.0\r\n"[..], Some("WARC")),
            (b"{\"url\": \"x\"}", Some("JSON")),
            (b"\xef\xbb\xbf [{\"a\": \"<p>\"}]\n", Some("JSON")),
            (b"{\"id\":1}\n{\"id\":2}\n", Some("JSON")),
            (b"<DOC>\n<DOCNO>1</DOCNO>", Some("TREC")),
            (b"<?xml version='1.0'?><rss>", Some("XML")),
            (b"<?xml version='1.0'?><!DOCTYPE html PUBLIC", None),
            (b"{% block %}<p>a", None),
            (b"[1] a note", None),
            (b"\xff\xfe<\0p\0", None),
            (b"<\0p\0>\0", Some("UTF-16 without a byte order mark")),
            (b"a text", None),
            (b"", None),
        ] {
            assert_eq!(Kind::of_page(page).map(|kind| kind.name), name, "{}", page.escape_ascii());
        }
    }

    #[test]
    fn commands_name_the_file_as_a_shell_reads_it() {
        let zstd = Kind::of(b"\x28\xb5\x2f\xfd").unwrap();
        assert_eq!(
            zstd.problem("JSON lines", "a b.zst", None, "documents.jsonl"),
            "this is packed by zstd, not JSON lines; `zstd -dc < 'a b.zst' > documents.jsonl` makes documents.jsonl of it"
        );
        let same = zstd.problem("JSON lines", "x/documents.jsonl", None, "documents.jsonl");
        assert!(same.ends_with("`zstd -dc < x/documents.jsonl > converted-documents.jsonl` makes converted-documents.jsonl of it"), "{same}");
        let packed = zstd.problem("JSON lines", "", Some(Packing::Gzip), "d");
        assert!(
            packed.contains("inside gzip") && packed.contains("`gzip -dc < FILE | zstd -dc > d`"),
            "{packed}"
        );
        let zip = Kind::of(b"PK\x03\x04").unwrap().problem("JSON lines", "z", Some(Packing::Gzip), "d");
        assert!(zip.contains("`gzip -dc < z > unpacked && unzip -p unpacked > d`"), "{zip}");
        let image = Kind::of(b"\xff\xd8\xff").unwrap().problem("HTML", "z", None, "d");
        assert_eq!(image, "this is an image, not HTML; leave it out, or make HTML of it");
        let html = Kind::of_line(b"<html>", true).unwrap().advice("p");
        assert!(html.contains("`twinsplit convert p --format html --output documents.jsonl`"), "{html}");
    }
}
