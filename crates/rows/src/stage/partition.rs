//! Whether a job of Hadoop Streaming brings the rows of a key to one task. Its partitioner decides that and not the stage: by
//! default it hashes the whole key, and where rows are sorted by more fields than they meet by, each of two reducers gets some of
//! the rows of a key, and what only all of them show is lost without a word.
//!
//! The job's settings stand in a task's environment. They name one function of the leading fields, which is computed again here
//! for each key: a key whose rows are in two tasks has one of them where it does not belong, and that task fails. So no such
//! key is missed, and settings that cannot be right are refused before the first row.

use super::{Entry, Role};
use crate::record::{Keys, key_end};
use std::ops::RangeInclusive;
use twinsplit_io::error::{Error, Place, Result};

/// The variable that names the class of a user's own partitioner, which brings equal leading fields to one task by a function
/// that is not known here.
pub const PARTITIONER: &str = "TWINSPLIT_PARTITIONER";

/// Hadoop's partitioner by leading fields of the key, which the jobs of the engine `hadoop` have.
const BY_FIELDS: &str = "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner";
/// Hadoop's partitioner by the whole key, which a job has when none is named.
const BY_KEY: &str = "org.apache.hadoop.mapred.lib.HashPartitioner";
/// The option of jobs that says which fields count.
const FIELDS: &str = "mapreduce.partition.keypartitioner.options";
/// The option of jobs that says how many fields are the key, by which rows are sorted.
const KEY_FIELDS: &str = "stream.num.map.output.key.fields";
/// The option of jobs that says how many reducers there are.
const REDUCES: &str = "mapreduce.job.reduces";

/// Which task of a job a key belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    task: u32,
    tasks: u32,
    /// The fields that are hashed.
    fields: usize,
    /// What the hash of nothing is: 1 of Hadoop's texts, 0 of its keys by fields.
    start: i32,
    /// What the job should have.
    keys: Keys,
}

impl Partition {
    /// The partition of a reduce task by the settings of its job, dots as in Hadoop's names; nothing outside Hadoop, of one
    /// task, and where the user answers for the partitioner.
    pub fn of_job(entry: &Entry, setting: impl Fn(&str) -> Option<String>) -> Result<Option<Self>> {
        let is_map = setting("mapreduce.task.ismap");
        let (Some(keys), Some(is_map)) =
            ((entry.decl.role == Role::Reduce).then_some(entry.input.keys).flatten(), is_map)
        else {
            return Ok(None);
        };
        let job = Job { entry, keys, setting: &setting };
        if is_map == "true" {
            return Err(job.refused(
                "it is run by a map task, which sees some of the rows of a key; it can be a job's -reducer, and neither its \
                 -mapper nor its -combiner",
            ));
        }
        let (tasks, task) = (job.number(REDUCES, 1)?, job.number("mapreduce.task.partition", 0)?);
        if tasks <= 1 {
            return Ok(None);
        }
        if entry.one_task || keys.partition == 0 {
            return Err(job.refused(&format!(
                "it needs all rows in one task, and the job has {tasks}; give it -D {REDUCES}=1"
            )));
        }
        let Some((start, fields)) = job.hashed()? else { return Ok(None) };
        Ok(Some(Self { task, tasks, fields, start, keys }))
    }

    /// Refuses the key of a row that belongs to another task.
    pub fn check(&self, row: &[u8], stage: &str, place: &Place) -> Result<()> {
        let key = &row[..key_end(row, self.fields)];
        let task = self.task_of(key);
        // Bytes that are no UTF-8 are others while Hadoop hashes them.
        if task == self.task || std::str::from_utf8(key).is_err() {
            return Ok(());
        }
        let key = String::from_utf8_lossy(key);
        Err(Error::Partition {
            stage: stage.to_owned(),
            problem: format!(
                "{place}: the key {key:?} belongs to task {task} of {}, and this is task {}: the rows of a key are not all in one \
                 task, and what they have in common would be lost; give the job {}",
                self.tasks,
                self.task,
                options(self.keys)
            ),
        })
    }

    /// `(hash & Integer.MAX_VALUE) % tasks` of Java, over signed bytes.
    fn task_of(&self, key: &[u8]) -> u32 {
        let hash = key.iter().fold(self.start, |hash, &byte| {
            hash.wrapping_mul(31).wrapping_add(i32::from(byte.cast_signed()))
        });
        // Without its sign it is a number of 31 bits.
        hash.cast_unsigned() % (1 << 31) % self.tasks
    }
}

/// The options of a job whose rows are shuffled by `keys`.
pub fn options(keys: Keys) -> String {
    format!("{} -D {FIELDS}=-k1,{} -partitioner {BY_FIELDS}", key_fields(keys), keys.partition)
}

/// The option of a job whose rows are sorted by `keys`.
pub fn key_fields(keys: Keys) -> String {
    format!("-D {KEY_FIELDS}={}", keys.sort)
}

/// The settings of a reduce task's job.
struct Job<'a, S> {
    entry: &'a Entry,
    keys: Keys,
    setting: &'a S,
}

impl<S: Fn(&str) -> Option<String>> Job<'_, S> {
    fn refused(&self, problem: &str) -> Error {
        Error::Partition { stage: self.entry.decl.name.to_owned(), problem: problem.to_owned() }
    }

    fn number(&self, name: &str, default: u32) -> Result<u32> {
        let Some(value) = (self.setting)(name) else { return Ok(default) };
        value
            .trim()
            .parse()
            .map_err(|_| self.refused(&format!("the job's {name} is {value:?}, where a number is expected")))
    }

    /// What the hash begins with, and how many leading fields are hashed; nothing where the user answers for them.
    fn hashed(&self) -> Result<Option<(i32, usize)>> {
        let class = (self.setting)("mapred.partitioner.class").unwrap_or_else(|| BY_KEY.to_owned());
        if (self.setting)(PARTITIONER).is_some_and(|own| own == class) {
            return Ok(None);
        }
        let key = self.number(KEY_FIELDS, 1)? as usize;
        let allowed = 1..=self.keys.partition;
        let (start, fields, how) = match &*class {
            BY_KEY => (1, key, format!("-D {KEY_FIELDS}={key}")),
            BY_FIELDS => {
                let option = (self.setting)(FIELDS);
                let fields = option.as_deref().map_or(Some(key), leading_fields);
                let how = format!("-D {FIELDS}={}", option.as_deref().unwrap_or_default());
                // More fields than the key has are those that it has.
                (0, fields.unwrap_or(0).min(key), how)
            }
            _ => {
                return Err(self.refused(&format!(
                    "the job's partitioner is {class}, and it is not known here whether it brings the rows of a key to one task; give the \
                     job {}, or where the class does so by no more than the first {} fields -cmdenv {PARTITIONER}={class}",
                    options(self.keys),
                    self.keys.partition
                )));
            }
        };
        match allowed.contains(&fields) {
            true => Ok(Some((start, fields))),
            false => Err(self.refused(&self.apart(&class, &how, &allowed))),
        }
    }

    /// Why a partitioner divides keys.
    fn apart(&self, class: &str, how: &str, allowed: &RangeInclusive<usize>) -> String {
        let class = class.rsplit('.').next().unwrap_or(class);
        format!(
            "rows with equal first {} fields must meet in one task, and the job's partitioner, {class} with {how}, sends them to \
             several; what they have in common would be lost. Give the job {}",
            allowed.end(),
            options(self.keys)
        )
    }
}

/// How many fields `-k1,N` names; nothing for what is not of that form.
fn leading_fields(option: &str) -> Option<usize> {
    option.trim().strip_prefix("-k")?.trim_start().strip_prefix("1,")?.parse().ok()
}

#[cfg(test)]
mod tests;
