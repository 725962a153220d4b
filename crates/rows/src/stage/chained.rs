//! Stages that run one after another in one task: the rows of each are the next one's, without a file or a process between
//! them. A step whose rows only one other step reads rides in that step's mappers this way.

use super::partition::Partition;
use super::{Counters, Entry, RowLimit, Runner, Sink, Task};
use crate::record::second_field;
use std::path::PathBuf;
use twinsplit_core::options::Values;
use twinsplit_io::error::{Place, Result};

/// What all stages of a task share.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// See [`Task::number`].
    pub number: u32,
    /// See [`Task::folder`].
    pub folder: PathBuf,
    /// See [`Task::row_limit`].
    pub row_limit: Option<RowLimit>,
    /// See [`Task::partition`].
    pub partition: Option<Partition>,
}

/// The first stage of a task, to which rows are given.
pub struct First<'r, 's> {
    runner: &'r mut Runner,
    /// Its place is where the row that is given next stands.
    pub task: &'r mut Task<'s>,
    /// The tag of its rows, where it stands before a stage that reads other rows, too.
    tag: Option<&'static [u8]>,
}

impl First<'_, '_> {
    /// Takes one row: the stage's own, or one that is for the next stage and goes on as it is.
    pub fn row(&mut self, row: &[u8]) -> Result<()> {
        match self.tag {
            Some(tag) if second_field(row) != Some(tag) => self.task.sink.row(row),
            _ => self.runner.row(row, self.task),
        }
    }
}

/// A stage that takes the rows of the one before it.
struct Next<'r, 's> {
    runner: &'r mut Runner,
    task: &'r mut Task<'s>,
}

impl Sink for Next<'_, '_> {
    fn row(&mut self, row: &[u8]) -> Result<()> {
        self.task.place.line += 1;
        self.runner.row(row, self.task)
    }
}

/// Runs a task of stages, each with its options: what `feed` gives to the first comes out of the last into `sink`. Gives
/// their counters: volumes are those of the rows that come in and go out, all else is added up.
pub fn run(
    stages: &[(&Entry, Values)],
    around: &Surroundings,
    sink: &mut dyn Sink,
    feed: &mut dyn FnMut(&mut First<'_, '_>) -> Result<()>,
) -> Result<Counters> {
    let mut counters = Counters::new();
    if let Some((last, before)) = stages.split_last() {
        run_before(before, last, around, sink, feed, &mut counters)?;
    }
    Ok(counters)
}

fn run_before(
    before: &[(&Entry, Values)],
    (entry, values): &(&Entry, Values),
    around: &Surroundings,
    sink: &mut dyn Sink,
    feed: &mut dyn FnMut(&mut First<'_, '_>) -> Result<()>,
    counters: &mut Counters,
) -> Result<()> {
    let mut task = Task::new(entry, around.number, around.folder.clone(), sink);
    task.row_limit = around.row_limit;
    task.partition.clone_from(&around.partition);
    let mut runner = Runner::open(entry, values, &mut task)?;
    match before.split_last() {
        None => feed(&mut First { runner: &mut runner, task: &mut task, tag: None })?,
        Some((previous, before)) => {
            task.place =
                Place { file: format!("the rows of {}", previous.0.decl.name).into(), ..Place::default() };
            let mut next = Next { runner: &mut runner, task: &mut task };
            let tag = before.is_empty().then_some(previous.0.tag).flatten();
            let mut tagged = |first: &mut First<'_, '_>| {
                first.tag = first.tag.or(tag);
                feed(first)
            };
            run_before(before, previous, around, &mut next, &mut tagged, counters)?;
        }
    }
    runner.finish(&mut task)?;
    merge(counters, std::mem::take(&mut task.counters));
    Ok(())
}

/// Adds the counters of a stage to those of the stages before it.
fn merge(counters: &mut Counters, of_next: Counters) {
    let first = counters.is_empty();
    for (name, count) in of_next {
        if !first && matches!(&*name, "map_records_in" | "map_bytes_in") {
            continue;
        }
        match counters.get_mut(&name) {
            Some(sum) if matches!(&*name, "map_records_out" | "map_bytes_out") => *sum = count,
            Some(sum) => *sum += count,
            None => {
                counters.insert(name, count);
            }
        }
    }
}
