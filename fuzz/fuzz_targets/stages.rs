//! Every stage that needs no side file, fed with rows of any bytes: it takes them or refuses them, and what it
//! emits is what it declares. The first byte takes a stage from the table.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use twinsplit::stage::{Entry, Runner, Task};
use twinsplit::stages::STAGES;

/// Those that read or write files of their own are opened by the target `sealed`.
static OPEN: LazyLock<Vec<&'static Entry>> = LazyLock::new(|| {
    let others = ["idf-filter", "index-doc", "docsplit-query", "write-kept", "index-doc-reduce"];
    STAGES.iter().filter(|entry| !others.contains(&entry.decl.name)).collect()
});

fuzz_target!(|data: &[u8]| {
    let Some((&first, rows)) = data.split_first() else { return };
    let entry = OPEN[usize::from(first) % OPEN.len()];
    let matches = entry.command().try_get_matches_from([entry.decl.name]).expect("options");
    let mut sink: Vec<Vec<u8>> = Vec::new();
    let mut task = Task::new(entry, 0, "/nowhere".into(), &mut sink);
    let mut runner = Runner::open(entry, &matches, &mut task).expect("no side file is needed");
    let mut fed = rows.split(|byte| *byte == b'\n').filter(|row| !row.is_empty());
    if fed.try_for_each(|row| runner.row(row, &mut task)).is_ok() {
        let _ = runner.finish(&mut task);
    }
    for row in sink {
        assert_eq!((entry.output.decodes)(&row), Ok(()), "{}", entry.decl.name);
        assert!(!row.contains(&b'\n'));
    }
});
