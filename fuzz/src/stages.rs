//! Every stage that opens without a side file, fed with rows of any bytes: it takes them or refuses them, and what it
//! emits is what it declares. The first byte takes a stage from the table.

use std::sync::LazyLock;
use twinsplit_core::options::Values;
use twinsplit_rows::stage::{Entry, Runner, Task};
use twinsplit_rows::stages::STAGES;

/// The target `checked_file` opens those that read a side file. `index-doc-reduce` alone writes a folder of its own.
static OPEN: LazyLock<Vec<&'static Entry>> = LazyLock::new(|| {
    let mut entries: Vec<&'static Entry> = STAGES.iter().collect();
    entries.retain(|entry| entry.decl.name != "index-doc-reduce" && open(entry, &mut Vec::new()).is_some());
    entries
});

/// A task of a stage with its default options, as far as it starts.
fn open<'a>(entry: &'static Entry, sink: &'a mut Vec<Vec<u8>>) -> Option<(Runner, Task<'a>)> {
    let mut task = Task::new(entry, 0, "/nowhere".into(), sink);
    let runner = Runner::open(entry, &Values::default(), &mut task).ok()?;
    Some((runner, task))
}

/// One input.
pub fn run(data: &[u8]) {
    let Some((&first, rows)) = data.split_first() else { return };
    let entry = OPEN[usize::from(first) % OPEN.len()];
    let mut sink: Vec<Vec<u8>> = Vec::new();
    let (mut runner, mut task) = open(entry, &mut sink).expect("it opened before");
    let mut fed = rows.split(|byte| *byte == b'\n').filter(|row| !row.is_empty());
    if fed.try_for_each(|row| runner.row(row, &mut task)).is_ok() {
        let _ = runner.finish(&mut task);
    }
    drop(task);
    for row in sink {
        assert_eq!((entry.output.decodes)(&row), Ok(()), "{}", entry.decl.name);
        assert!(!row.contains(&b'\n'));
    }
}
