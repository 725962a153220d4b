//! The shares of the tasks of stages.
//!
//! Of its share a task takes no more than half for the line of a document that it reads, and an eighth for a row: it reads
//! one, decodes it into half as much, and makes another; or it reads as many at once as take half of the share, to merge
//! them.

use super::{Budget, STAGES};
use twinsplit_core::text::DICTIONARY;
use twinsplit_io::Room;
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_rows::params::Params;
use twinsplit_rows::stage::{Entry, RowLimit};
use twinsplit_rows::stages::number_by_default;

/// What a stage takes as a process of its own: code, buffers of files, the dictionary for Chinese.
pub const PROGRAM: usize = super::PROGRAM + (8 << 20) + DICTIONARY;

/// Options that bound a table of a stage, and the bytes of an entry.
const TABLES: [(&str, usize); 5] =
    [("combine", 80), ("combine-pairs", 160), ("ranked", 64), ("forest", 80), ("graph", 250)];

/// The option that bounds the index of queries, in megabytes.
const QUERIES_MEMORY: &str = "queries-memory";

/// Megabytes that a task of these stages may hold as a process of its own: the program, the tables that their options bound,
/// the slice or the index of queries that is a side file, and a filter of keys. Without a stage there is no such process.
pub fn stage_megabytes(stages: &[&Entry], params: &Params) -> usize {
    let number = |option: &str| params.number(option) as usize;
    let of = |entry: &&Entry| {
        let known = TABLES.iter().filter(|(option, _)| entry.knows(option));
        known.map(|(option, bytes)| number(option) * bytes).sum::<usize>()
    };
    let slices = stages.iter().filter(|entry| entry.knows("index")).count();
    let indexes = stages.iter().filter(|entry| entry.knows(QUERIES_MEMORY)).count();
    let filtered = |entry: &&&Entry| ["bloom", "band-filter"].iter().any(|name| entry.knows(name));
    let filters = if params.get("bloom").is_some() { stages.iter().filter(filtered).count() } else { 0 };
    let program = if stages.is_empty() { 0 } else { PROGRAM };
    (program + stages.iter().map(of).sum::<usize>()).div_ceil(1 << 20)
        + slices * number("slice-memory")
        + indexes * number(QUERIES_MEMORY)
        + filters * number("bloom")
}

/// Room for the line of a document in the share of a task.
pub struct TaskRoom<'b> {
    budget: &'b Budget,
    left: usize,
}

impl Room for TaskRoom<'_> {
    fn take(&mut self, bytes: usize) -> Result<bool> {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(self.left);
        Ok(left.is_some())
    }

    fn refused(&self, place: &Place, bytes: u64) -> Error {
        let enough = STAGES + (bytes as usize + (1 << 20)) * 4 * self.budget.threads;
        Error::Limit(format!(
            "{place}: the line has {} MB; --memory {} is too small for {} tasks at once to read such lines: give at least {} \
             MB, or fewer --threads, or correct the file (--max-line bounds the length of a line; --bad-records lets none \
             pass that cannot be held)",
            bytes >> 20,
            self.budget.memory >> 20,
            self.budget.threads,
            enough.div_ceil(1 << 20)
        ))
    }
}

impl Budget {
    /// Bytes that one task may hold.
    fn task(&self) -> usize {
        self.tasks() / self.threads
    }

    /// Bytes of the longest rows that a task may have before it at once, to merge them.
    pub fn merged_rows(&self) -> usize {
        self.task() / 2
    }

    /// Room for a block of documents, beside what any block may have.
    pub fn task_room(&self) -> TaskRoom<'_> {
        TaskRoom { budget: self, left: self.task() / 2 }
    }

    /// The longest row.
    pub fn row_limit(&self) -> RowLimit {
        RowLimit { bytes: self.task() / 8, memory: self.memory >> 20, factor: 16 * self.threads }
    }

    /// Stops where the filters of keys that tasks of these stages hold at once (`--bloom`) do not fit.
    pub fn admit_filters(&self, params: &Params) -> Result<()> {
        if params.get("bloom").is_none() {
            return Ok(());
        }
        let megabytes = params.number("bloom") as usize;
        if (megabytes << 20) * self.threads <= self.tasks() {
            return Ok(());
        }
        Err(Error::Limit(format!(
            "--bloom {megabytes}: each of {} tasks at once counts in a filter of {megabytes} MB, for which --memory {} is too small: give at \
             least {} MB, fewer --threads, or a smaller --bloom",
            self.threads,
            self.memory >> 20,
            (STAGES >> 20) + 1 + 2 * self.threads * megabytes
        )))
    }

    /// Lowers the bounds that tables of stages have by default, where the user has set none. They decide how often
    /// rows are combined, or how an index is laid out, and nothing about the answer.
    pub fn fit(&self, params: &mut Params) {
        for (option, bytes) in TABLES {
            if params.get(option).is_none() {
                let entries = number_by_default(option).min((self.task() / bytes) as u64).max(1000);
                params.set(option, entries.to_string());
            }
        }
        if params.get(QUERIES_MEMORY).is_none() {
            // The tasks of a process hold one index together.
            let most = number_by_default(QUERIES_MEMORY).min((self.tasks() >> 21) as u64).max(1);
            params.set(QUERIES_MEMORY, most.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twinsplit_rows::stage::Task;

    #[test]
    fn shares_stay_inside_the_bound() {
        for (megabytes, threads) in [(80, 1), (256, 2), (2048, 16)] {
            let budget = Budget::of_stages(megabytes << 20, threads).unwrap();
            let rows = threads * budget.row_buffer() + budget.spare();
            assert!(rows > 0 && STAGES + rows + threads * budget.task() <= megabytes << 20);
            let mut params = Params::default();
            params.set("forest", "7");
            budget.fit(&mut params);
            assert_eq!(params.get("forest"), Some("7"));
            let index = params.get(QUERIES_MEMORY).unwrap().parse::<usize>().unwrap();
            assert!((1..=256).contains(&index) && (index == 1 || index << 20 <= budget.tasks() / 2));
            let mut room = budget.task_room();
            assert!(room.take(budget.task() / 2).unwrap() && !room.take(1).unwrap());
            assert!(params.get("combine").unwrap().parse::<usize>().unwrap() <= 1_000_000);
        }
        assert!(Budget::of_stages(1 << 20, 1).is_err());
    }

    #[test]
    fn filters_of_keys_have_to_fit() {
        let mut params = Params::default();
        let of = |memory: usize| Budget::of_stages(memory << 20, 3).unwrap();
        of(80).admit_filters(&params).unwrap();
        params.set("bloom", "64");
        let error = of(400).admit_filters(&params).unwrap_err().to_string();
        let (_, enough) = error.split_once("give at least ").unwrap();
        let enough: usize = enough.split(' ').next().unwrap().parse().unwrap();
        of(enough).admit_filters(&params).unwrap();
        assert!(of(enough - 2).admit_filters(&params).is_err(), "{error}");
    }

    /// What errors ask for suffices.
    #[test]
    fn enough_is_enough() {
        let enough = |error: Error| {
            let text = error.to_string();
            let words: Vec<_> = text.split(' ').collect();
            let at = words.windows(2).position(|two| two == ["at", "least"]).unwrap();
            Budget::of_stages(words[at + 2].parse::<usize>().unwrap() << 20, 3).unwrap()
        };
        let budget = Budget::of_stages(100 << 20, 3).unwrap();
        let long = enough(budget.task_room().refused(&Place::default(), 30 << 20));
        assert!(long.task_room().take(30 << 20).unwrap());
        let entry = twinsplit_rows::stages::get("tokenize").unwrap();
        let mut rows = Vec::new();
        let mut task = Task::new(entry, 0, "".into(), &mut rows);
        task.row_limit = Some(budget.row_limit());
        task.admit_row(budget.task() / 8).unwrap();
        let row = 20 << 20;
        assert!(enough(task.admit_row(row).unwrap_err()).row_limit().bytes >= row);
    }
}
