//! Documents out of other formats: any bytes end in documents, in bad documents or in an error; what is given is what stands in the
//! file, in its order, and each line is a document that a run reads. The first byte chooses the options.

use serde_json::Value;
use std::path::Path;
use twinsplit_io::Packing;
use twinsplit_io::error::Place;
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_sources::{Format, HtmlText, SourceOpts};

/// Ways to read documents, by a number.
fn options(number: u8) -> SourceOpts {
    let of = SourceOpts::of;
    let encoding = |name: &str| Some(name.parse().expect("an encoding"));
    let bytes = |text: &str| text.parse().expect("a number of bytes");
    match number % 22 {
        0 => of(Format::Trec),
        1 => SourceOpts {
            id: Some("auto".to_owned()),
            encoding: encoding("latin1"),
            max_line: bytes("300B"),
            ..of(Format::Trec)
        },
        2 => SourceOpts {
            text: vec!["title".to_owned(), "text".to_owned()],
            date: Some("date".to_owned()),
            encoding: encoding("gb18030"),
            ..of(Format::Trec)
        },
        3 => of(Format::Jsonl),
        4 => SourceOpts { encoding: encoding("shift_jis"), max_line: bytes("50B"), ..of(Format::Jsonl) },
        5 => SourceOpts { encoding: encoding("big5"), ..of(Format::Trec) },
        6 => SourceOpts { script_templates: true, ..of(Format::Html) },
        7 => SourceOpts { encoding: encoding("gb18030"), max_line: bytes("300B"), ..of(Format::Html) },
        8 => SourceOpts { keep_markup: true, ..of(Format::Trec) },
        9 => of(Format::Csv),
        10 => SourceOpts { encoding: encoding("gb18030"), max_line: bytes("300B"), ..of(Format::Tsv) },
        11 => of(Format::Text),
        12 => SourceOpts { encoding: encoding("latin1"), max_line: bytes("50B"), ..of(Format::Lines) },
        13 => SourceOpts { max_line: bytes("300B"), ..of(Format::Warc) },
        14 => of(Format::Warc),
        15 => of(Format::Json),
        16 => SourceOpts { max_line: bytes("50B"), ..of(Format::Json) },
        17 => of(Format::Auto),
        18 => SourceOpts { max_line: bytes("300B"), ..of(Format::Arc) },
        19 => of(Format::Arc),
        20 => SourceOpts { encoding: encoding("latin1"), ..of(Format::Reuters) },
        _ => SourceOpts { html: HtmlText::Article, ..of(Format::Html) },
    }
}

/// One input.
pub fn run(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let opts = options(*first);
    // Their libraries end in panics over damaged files, which the sources catch and a fuzzer does not; Arrow has a target of its own.
    let format = Format::of(bytes, Path::new("x"));
    if opts.format == Format::Auto && matches!(format, Format::Parquet | Format::Arrow) {
        return;
    }
    let mut params = Params::default();
    if opts.date.is_some() {
        params.set("date", "date");
    }
    let line_opts: DocumentOpts = params.parse().expect("options");

    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("a file");
    let is_plain = Packing::of(bytes).is_none();
    let Ok(mut source) = opts.open(file.path(), 0) else { return };
    let mut before = 0;
    while let Ok(Some(found)) = source.next_document() {
        // A page and a file of text may be empty; nothing else may.
        assert!(!found.raw.is_empty() || matches!(opts.format, Format::Html | Format::Text | Format::Auto));
        // Fields of a record, and what is read ahead in a table, come on top of it.
        let more =
            if matches!(opts.format, Format::Jsonl | Format::Trec | Format::Html) { 0 } else { 1 << 20 };
        assert!(found.raw.len() as u64 <= opts.max_line.bytes() + more);
        if is_plain {
            let at = found.place.offset as usize;
            assert!(at >= before);
            before = at + found.raw.len();
            assert_eq!(&bytes[at..before], found.raw);
            assert_eq!(
                found.place.line,
                bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1
            );
        }
        let Ok(line) = found.line else { continue };
        assert!(!line.contains(&b'\n'));
        let document = line_opts.read(line, &Place::default()).expect("a document");
        if let Ok(Value::Object(fields)) = serde_json::from_slice::<Value>(line) {
            assert_eq!(fields["text"], *document.text);
        }
    }
}
