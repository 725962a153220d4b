//! What feeds rows to a stage: it finds the groups of a reduce stage, and holds its rows to their order and their task.

use super::{DynStage, Entry, Role, SideFile, Task, partition, sort_line};
use crate::bad_records::{self, BadRecords, MostBad};
use crate::record::{Keys, key_end};
use std::ffi::OsString;
use twinsplit_core::options::{Given, Values};
use twinsplit_io::error::{Error, Result};

/// Says of a side file that is not there what it is and which option names it.
fn missing_side_file(entry: &Entry, values: &Values, error: Error) -> Error {
    let Error::Io { path, source, .. } = &error else { return error };
    let default = |side: &SideFile| {
        let field = (entry.fields)().into_iter().find(|field| field.name == side.option);
        field.and_then(|field| field.default).map(OsString::from)
    };
    let named = |side: &&SideFile| match values.value(side.option) {
        Some(value) => value == path.as_os_str(),
        None => default(side).is_some_and(|value| value == path.as_os_str()),
    };
    match entry.decl.side.iter().find(named) {
        Some(side) if source.kind() == std::io::ErrorKind::NotFound => Error::File {
            path: path.clone(),
            problem: format!(
                "{} does not find this file; --{} names it: {}",
                entry.decl.name, side.option, side.about
            ),
        },
        _ => error,
    }
}

/// Feeds rows to a stage, and for a reduce stage ends its groups and checks its order.
pub struct Runner {
    stage: Box<dyn DynStage>,
    bad: BadRecords,
    keys: Option<Keys>,
    last: Vec<u8>,
    started: bool,
}

impl Runner {
    /// A runner of one task of a stage.
    pub fn open(entry: &Entry, values: &Values, task: &mut Task<'_>) -> Result<Self> {
        let keys = (entry.decl.role == Role::Reduce).then_some(entry.input.keys).flatten();
        let stage = (entry.open)(values, task).map_err(|error| missing_side_file(entry, values, error))?;
        // Stages that read documents declare how many bad ones may pass; to the others every row must be right.
        let allowed = values.get("bad-records").filter(|_| entry.knows("bad-records")).unwrap_or(MostBad(0));
        let bad = match entry.keeps_bad_records {
            true => BadRecords::kept(task.stage, allowed, &task.folder, task.number)?,
            false => BadRecords::counted(task.stage, allowed),
        };
        Ok(Self { stage, bad, keys, last: Vec::new(), started: false })
    }

    /// Takes one row; [`Task::place`] says where it stands.
    pub fn row(&mut self, row: &[u8], task: &mut Task<'_>) -> Result<()> {
        task.rows_in += 1;
        task.bytes_in += row.len() as u64 + 1;
        if let Some(keys) = self.keys {
            self.follow(row, keys, task)?;
        }
        match self.stage.row(row, task) {
            Err(Error::Document { place, error, .. }) => self.bad.pass(row, &place, error),
            result => result,
        }
    }

    /// Ends the group before a row that begins another, and refuses a row that does not belong behind the last one or in this task.
    fn follow(&mut self, row: &[u8], keys: Keys, task: &mut Task<'_>) -> Result<()> {
        let key = &row[..key_end(row, keys.sort)];
        if self.started && key < self.last.as_slice() {
            return Err(Error::Unsorted {
                stage: task.stage.to_owned(),
                place: task.place.clone(),
                sort: sort_line(keys),
                option: partition::key_fields(keys),
            });
        }
        let goes_on = self.started
            && row[..key_end(row, keys.partition)] == self.last[..key_end(&self.last, keys.partition)];
        if !goes_on {
            if self.started {
                self.stage.end_group(task)?;
            }
            if let Some(partition) = &task.partition {
                partition.check(row, task.stage, &task.place)?;
            }
        }
        self.last.clear();
        self.last.extend_from_slice(key);
        self.started = true;
        Ok(())
    }

    /// Ends the last group and the task.
    pub fn finish(&mut self, task: &mut Task<'_>) -> Result<()> {
        if self.started {
            self.stage.end_group(task)?;
        }
        self.stage.finish(task)?;
        let passed = self.bad.finish()?;
        if passed > 0 {
            task.count(bad_records::COUNTER, passed);
        }
        task.close();
        Ok(())
    }
}
