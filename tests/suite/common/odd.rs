//! Documents and files that readers of lines, keys and JSON stumble over, and inputs that are none: one table, for all
//! engines take them, or refuse them, alike.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};

/// A member of gzip.
pub fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes.as_ref()).and_then(|()| encoder.finish()).expect("memory takes everything")
}

/// Ids as they stand in JSON, with the name of their file at `@`: TAB, CR, LF, other ends of lines, astral characters raw
/// and escaped, characters that UTF-16 sorts otherwise, a mark, blanks, what looks escaped, NUL, numbers.
const IDS: [&str; 17] = [
    r#""tab\there@""#,
    r#""cr\rhere@""#,
    r#""nl\nhere@""#,
    "\"ls\u{2028}here\u{85}@\"",
    "\"\u{1f600}@\"",
    r#""\ud83d\ude00 escaped@""#,
    "\"～@\"",
    "\"日本@\"",
    "\"\u{feff}mark@\"",
    r#"" blank@ ""#,
    r#""back\\slash@""#,
    r#""\\x09@""#,
    r##""#end@""##,
    r#""nul\u0000@""#,
    r#"" @""#,
    "70@",
    "7e1@",
];

/// Texts too short for a feature, as they stand in JSON: one text, in ways to write it.
const SHORT: [&str; 3] = [r"stra\u00dfe\u0301 ", r" STRASSE\u0301\u2028", "strass\u{e9} "];

/// Documents in a file.
const LINES: u64 = (IDS.len() + SHORT.len()) as u64 + 2;

/// Documents that are all alike, short ones that are equal, and an empty one; no id is in two files. Lines end in LF or CRLF, and some are empty; the
/// last one has no end.
pub fn lines(file: &str) -> String {
    let mut lines = String::new();
    for (at, id) in IDS.iter().enumerate() {
        let id = id.replace('@', file);
        // A CR between tokens is white space of JSON, and no end of a line.
        let (blank, end) = if at % 3 == 0 { ("\r", "\r\n\r\n\n") } else { ("  ", "\n") };
        let text =
            format!("one two\u{2028}three four\\tfive six\\rseven \u{1f600} eight nine ten {}", at / 4);
        let _ = write!(lines, "{{\"id\":{blank}{id},{blank}\"text\":\"{text}\"}}{end}");
    }
    for (at, text) in SHORT.into_iter().enumerate() {
        let _ = writeln!(lines, "{{\"id\":\"short {at}{file}\",\"text\":\"{text}\"}}");
    }
    let _ = writeln!(lines, "{{\"id\":\"empty{file}\",\"text\":\"\"}}");
    let _ =
        write!(lines, "{{\"id\":\"last{file}\",\"text\":\"one two three four five six seven eight nine\"}}");
    lines
}

/// Files that every engine takes, with their names.
pub fn accepted() -> [(&'static str, Vec<u8>); 4] {
    // A mark before the first line, as some systems write it, and before any other, as where files were put one behind the other.
    let marked = |file| format!("\u{feff}{}", lines(file)).into_bytes();
    let marks = |file| format!("\u{feff}\u{feff}{}", lines(file).replace("\n{", "\n\u{feff}{")).into_bytes();
    // Members that end within the mark, within a line, and at once.
    let packed = marked("2");
    let members = [&packed[..2], &packed[2..500], b"", &packed[500..]].map(gzip).concat();
    [
        ("plain odd.jsonl", lines("").into_bytes()),
        ("marked.jsonl", marks("1")),
        ("marked.jsonl.gz", members),
        ("blank.jsonl", "\u{feff}\r\n\n \t \r\n\u{feff}\n  ".into()),
    ]
}

/// How many documents [`accepted`] holds.
pub const ACCEPTED: u64 = EMPTY * LINES;

/// How many of them are copies by their texts alone: all short ones but one.
pub const EQUAL_TEXTS: u64 = EMPTY * SHORT.len() as u64 - 1;

/// How many of them are empty: one in each file that holds any.
pub const EMPTY: u64 = 3;

/// A file that no engine takes.
pub struct Refused {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// The stage that refuses it, or the beginning of its name.
    pub stage: &'static str,
    /// The line that is named.
    pub line: u64,
    /// What is said of it.
    pub words: &'static str,
}

/// Files that every engine refuses with the same words: bytes that are not UTF-8, a raw NUL, an id that stands twice. No document
/// is in two of them.
pub fn refused() -> [Refused; 3] {
    let good = |id: &str| {
        format!("{{\"id\":\"{id}\",\"text\":\"one two three four five six seven\"}}\n").into_bytes()
    };
    let no_document = |name, bytes: Vec<Vec<u8>>, line| Refused {
        name,
        bytes: bytes.concat(),
        stage: "tokenize",
        line,
        words: "field document: expected a JSON object in UTF-8 on one line, found ",
    };
    let bad_text = |text: &[u8]| [b"{\"id\":\"bad\",\"text\":\"", text, b"\"}\n"].concat();
    [
        no_document("bytes.jsonl", vec![good("b"), bad_text(b"\xff\xfe")], 2),
        no_document("nul.jsonl", vec![good("n"), bad_text(b"a\0b")], 2),
        Refused {
            name: "twice.jsonl",
            bytes: [good("t"), good("good"), good("good")].concat(),
            stage: "equal-sets",
            line: 3,
            words: "the id \"good\" stands at more than one document (",
        },
    ]
}
