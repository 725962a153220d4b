//! Documents out of other formats: any bytes end in documents, in bad documents or in an error; what is given is what stands in the
//! file, in its order, and each line is a document that a run reads. The first byte chooses the options.

use clap::{Args, Command, FromArgMatches};
use serde_json::Value;
use twinsplit::internal::error::Place;
use twinsplit::internal::params::Params;
use twinsplit::internal::record::document::DocumentOpts;
use twinsplit::internal::source::{Format, SourceOpts};

const OPTIONS: [&str; 9] = [
    "--format trec",
    "--format trec --id auto --encoding latin1 --max-line 300B",
    "--format trec --text title,text --date date --encoding gb18030",
    "--format jsonl",
    "--format jsonl --encoding shift_jis --max-line 50B",
    "--format trec --encoding big5",
    "--format html --script-templates",
    "--format html --encoding gb18030 --max-line 300B",
    "--format trec --keep-markup",
];

/// One input.
pub fn run(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let words = OPTIONS[usize::from(*first) % OPTIONS.len()].split(' ');
    let command = SourceOpts::augment_args(Command::new("convert")).no_binary_name(true);
    let matches = command.try_get_matches_from(words).expect("options");
    let opts = SourceOpts::from_arg_matches(&matches).expect("options");
    let mut params = Params::default();
    if opts.date.is_some() {
        params.set("date", "date");
    }
    let line_opts: DocumentOpts = params.parse().expect("options");

    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("a file");
    let is_plain = !bytes.starts_with(&[0x1f, 0x8b]);
    let Ok(mut source) = opts.open(file.path(), 0) else { return };
    let mut before = 0;
    while let Ok(Some(found)) = source.next_document() {
        // A page may be empty; nothing else may.
        assert!(!found.raw.is_empty() || opts.format == Format::Html);
        assert!(found.raw.len() as u64 <= opts.max_line.bytes());
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
