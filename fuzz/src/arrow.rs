//! Documents out of Arrow: any bytes end in rows, in bad rows or in an error; each line is a document, and a file that is written again without some of its
//! rows has the others. The first byte chooses what is read.

use serde_json::Value;
use std::path::Path;
use twinsplit_io::error::Place;
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_sources::{Format, SourceOpts};

/// A damaged file may say that it has any number of rows without a byte in them.
const MOST_ROWS: usize = 2000;

fn lines(opts: &SourceOpts, path: &Path) -> Option<Vec<Vec<u8>>> {
    let line_opts: DocumentOpts = Params::default().parse().expect("options");
    let mut source = opts.open(path, 0).ok()?;
    let mut lines = Vec::new();
    for row in 1.. {
        let Some(found) = source.next_document().ok()? else { break };
        assert_eq!((found.place.line, found.place.offset), (row, row - 1));
        if row as usize > MOST_ROWS {
            return None;
        }
        let Ok(line) = found.line else { continue };
        let document = line_opts.read(line, &Place::default()).expect("a document");
        if let Ok(Value::Object(fields)) = serde_json::from_slice::<Value>(line) {
            assert_eq!(fields["text"], *document.text);
        }
        lines.push(line.to_vec());
    }
    Some(lines)
}

/// One input.
pub fn run(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let opts = SourceOpts { max_line: "100K".parse().expect("a bound"), ..SourceOpts::of(Format::Arrow) };
    let folder = tempfile::tempdir().expect("a folder");
    let (file, part) = (folder.path().join("file"), folder.path().join("part"));
    std::fs::write(&file, bytes).expect("a file");
    let Some(all) = lines(&opts, &file) else { return };
    // What is not needed is not there.
    let needed = lines(&opts.clone().needing(&[]), &file).map(|lines| lines.len());
    assert!(needed.is_none_or(|needed| needed == all.len()));
    // Which of the rows are written that are documents.
    let keeps = |row: usize| row & usize::from(*first) == 0;
    let mut row = 0;
    let mut take = |_: &[u8], _: &Place, _: u64| {
        row += 1;
        Ok(keeps(row))
    };
    if opts.write_subset(&file, 0, &part, &mut take).is_ok() {
        let left: Vec<_> =
            (1..).zip(&all).filter(|(row, _)| keeps(*row)).map(|(_, line)| line.clone()).collect();
        assert_eq!(lines(&opts, &part).expect("a file that was written is one"), left);
    }
}
