//! Checked files: order, document frequencies, plan and slice, raw or with a first and a last line that fit, read by
//! the stages that read them, which then take rows. The first byte says which, the lines after an empty one are rows.

use twinsplit_core::options::Values;
use twinsplit_io::checked_file::CheckedWriter;
use twinsplit_rows::stage::{Runner, Task};
use twinsplit_rows::stages::find;

/// A stage, the option that names its file, the kind of that file, and other options.
type Reader = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

const READERS: [Reader; 6] = [
    ("idf-filter", "order", "order", &[]),
    ("index-term", "order", "order", &[("pcp", "prefix")]),
    ("feature-order", "idf-table", "idf-table", &[("idf", "0.1,0.9")]),
    ("index-doc", "plan", "plan", &[]),
    ("docsplit-query", "index", "slice", &[("tau", "0.3")]),
    ("idf-left", "order", "order", &[]),
];

/// One input.
pub fn run(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let (stage, option, kind, more) = READERS[usize::from(first) % READERS.len()];
    let end = data.windows(2).position(|two| two == b"\n\n").unwrap_or(data.len());
    let (lines, rows) = (&data[..end], data.get(end + 2..).unwrap_or_default());
    let text = if first >= 128 { lines.to_vec() } else { checked(kind, lines) };
    let file = tempfile::NamedTempFile::new_in("/dev/shm").expect("a file");
    std::fs::write(file.path(), text).expect("a file");

    let entry = find(stage).expect("a stage");
    let mut values = Values::default();
    values.set(option, file.path());
    more.iter().for_each(|(option, value)| values.set(option, *value));
    let mut sink: Vec<Vec<u8>> = Vec::new();
    let mut task = Task::new(entry, 0, "/nowhere".into(), &mut sink);
    let Ok(mut runner) = Runner::open(entry, &values, &mut task) else { return };
    for row in rows.split(|byte| *byte == b'\n') {
        if runner.row(row, &mut task).is_err() {
            return;
        }
    }
    // The end of a slice's folder cannot be written, and nothing else fails here.
    let _ = runner.finish(&mut task);
}

fn checked(kind: &str, lines: &[u8]) -> Vec<u8> {
    let parameters = [
        ("tokenizer", "2"),
        ("features", "words:5"),
        ("normalise", "nfkc"),
        ("case-fold", "on"),
        ("marks", "drop"),
        ("documents", "29"),
        ("listed", if lines.len().is_multiple_of(2) { "kept" } else { "dropped" }),
    ];
    let (mut text, mut writer) =
        CheckedWriter::start(kind, &parameters.map(|(name, value)| (name, value.to_owned())));
    text.push(b'\n');
    for line in lines.split(|byte| *byte == b'\n') {
        writer.line(line);
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    text.extend_from_slice(&writer.end());
    text.push(b'\n');
    text
}
