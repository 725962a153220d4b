//! The local engine's steps: mappers and reducers in threads of one process, rows shuffled in memory.

use super::params::Params;
use super::shuffle::{Partitioner, Runs, merge};
use crate::chains::{DOCUMENTS, Data, Step, Tasks};
use crate::error::{Error, Result};
use crate::io::{AtomicFile, Blocks, each_line, expand_inputs};
use crate::record::Keys;
use crate::record::document::DocumentOpts;
use crate::stage::{Counters, Entry, Runner, Sink, Task};
use crate::stages;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of input that a thread takes at a time.
const BLOCK: usize = 256 << 10;

/// Runs steps; each data set is a folder of part files below `work`.
pub struct LocalSteps<'a> {
    /// The input documents.
    pub inputs: &'a [PathBuf],
    /// Folder of the data sets.
    pub work: &'a Path,
    /// Options by name.
    pub params: &'a Params,
    /// Threads, and reducers of a step.
    pub threads: usize,
    /// Bytes that all rows in memory may take together.
    pub memory: usize,
}

/// Rows into a part file.
struct PartFile(AtomicFile);

impl Sink for PartFile {
    fn row(&mut self, row: &[u8]) -> Result<()> {
        self.0.line(row)
    }
}

/// Adds the counters of one task to the sum.
pub fn add_counters(sum: &mut Counters, more: &Counters) {
    for (name, value) in more {
        *sum.entry(name.clone()).or_default() += value;
    }
}

/// Runs `work` with 0, 1, … `count - 1` in `threads` threads; the results in that order, or the first error.
pub fn in_threads<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(count) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let result = work(number);
                    if result.is_err() {
                        next.store(count, Ordering::Relaxed);
                    }
                    lock(&results).push((number, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Locks a mutex whose data stays sound when a holder panics: the panic ends the scope anyway.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl LocalSteps<'_> {
    /// Runs one step and gives the sum of its tasks' counters.
    pub fn run(&self, step: &Step) -> Result<Counters> {
        let output = self.work.join(step.output);
        fs::create_dir_all(&output).map_err(Error::io("create", &output))?;
        let side = self.side_files(step)?;
        let side: Vec<_> = side.iter().map(|(option, path)| (*option, path.as_path())).collect();
        let mut counters = Counters::new();
        let Some(reduce) = step.reduce.map(entry).transpose()? else {
            for counts in self.map_to_files(step, &output, &side)? {
                add_counters(&mut counters, &counts);
            }
            return Ok(counters);
        };
        let keys = reduce.input.keys.unwrap_or(Keys { partition: 0, sort: 0 });
        let partitions = if step.tasks == Tasks::One { 1 } else { self.threads };
        let spill = self.work.join(format!("_{}", step.name));
        fs::create_dir_all(&spill).map_err(Error::io("create", &spill))?;
        let mut runs = Vec::new();
        for (run, counts) in self.map_to_runs(step, keys, partitions, &spill, &side)? {
            runs.push(run);
            add_counters(&mut counters, &counts);
        }
        let reduced = in_threads(partitions, self.threads, |number| {
            let mut part = PartFile(AtomicFile::create(&part_path(&output, number))?);
            let mut task = Task::new(reduce, number as u32, spill.clone(), &mut part);
            let mut runner = Runner::open(reduce, &self.params.matches_for(reduce, &side)?, &mut task)?;
            task.place.file = format!("sorted rows of {}", step.name).into();
            merge(&runs, number, |row| {
                task.place.line += 1;
                runner.row(row, &mut task)
            })?;
            runner.finish(&mut task)?;
            let counts = std::mem::take(&mut task.counters);
            part.0.finish()?;
            Ok(counts)
        })?;
        reduced.iter().for_each(|counts| add_counters(&mut counters, counts));
        fs::remove_dir_all(&spill).map_err(Error::io("remove", &spill))?;
        Ok(counters)
    }

    fn side_files(&self, step: &Step) -> Result<Vec<(&'static str, PathBuf)>> {
        step.side
            .iter()
            .map(|(option, data)| {
                let mut parts = self.parts(data)?;
                // A side file of one task is that task's part; of many, their folder.
                let path = if parts.len() == 1 { parts.remove(0) } else { self.work.join(data) };
                Ok((*option, path))
            })
            .collect()
    }

    fn parts(&self, data: Data) -> Result<Vec<PathBuf>> {
        if data == DOCUMENTS { Ok(self.inputs.to_vec()) } else { expand_inputs(&[self.work.join(data)]) }
    }

    fn blocks(&self, step: &Step) -> Result<Mutex<Blocks>> {
        let mut files = Vec::new();
        for data in &step.inputs {
            files.extend(self.parts(data)?);
        }
        let blocks = Blocks::new(files, BLOCK);
        let documents = step.inputs.contains(&DOCUMENTS);
        Ok(Mutex::new(if documents {
            blocks.within(self.params.parse::<DocumentOpts>()?.max_line)
        } else {
            blocks
        }))
    }

    fn map_to_files(
        &self,
        step: &Step,
        output: &Path,
        side: &[(&'static str, &Path)],
    ) -> Result<Vec<Counters>> {
        let blocks = self.blocks(step)?;
        let tasks = if step.tasks == Tasks::One { 1 } else { self.threads };
        in_threads(tasks, tasks, |number| {
            let mut part = PartFile(AtomicFile::create(&part_path(output, number))?);
            let counts = self.map(step, number, &blocks, &mut part, side)?;
            part.0.finish()?;
            Ok(counts)
        })
    }

    fn map_to_runs(
        &self,
        step: &Step,
        keys: Keys,
        partitions: usize,
        spill: &Path,
        side: &[(&'static str, &Path)],
    ) -> Result<Vec<(Runs, Counters)>> {
        let blocks = self.blocks(step)?;
        let limit = self.memory / self.threads;
        in_threads(self.threads, self.threads, |number| {
            let mut sink = Partitioner::new(keys, partitions, limit, spill, &format!("spill-{number:05}"));
            let mut counts = self.map(step, number, &blocks, &mut sink, side)?;
            counts.insert("spills".to_owned(), sink.spills() as u64);
            Ok((sink.finish(), counts))
        })
    }

    /// One map task: takes blocks until there are none. Which task takes which block decides nothing, for what is
    /// shuffled is sorted, and what is not is sorted later.
    fn map(
        &self,
        step: &Step,
        number: usize,
        blocks: &Mutex<Blocks>,
        sink: &mut dyn Sink,
        side: &[(&'static str, &Path)],
    ) -> Result<Counters> {
        let mapper = step.map.map(entry).transpose()?;
        let mut open = None;
        if let Some(mapper) = mapper {
            let mut task = Task::new(mapper, number as u32, self.work.to_owned(), &mut *sink);
            let runner = Runner::open(mapper, &self.params.matches_for(mapper, side)?, &mut task)?;
            open = Some((runner, task));
        } else {
            while let Some(block) = next(blocks)? {
                each_line(&block, |line, _| sink.row(line))?;
            }
        }
        let Some((mut runner, mut task)) = open else { return Ok(Counters::new()) };
        while let Some(block) = next(blocks)? {
            each_line(&block, |line, place| {
                task.place.clone_from(place);
                runner.row(line, &mut task)
            })?;
        }
        runner.finish(&mut task)?;
        Ok(std::mem::take(&mut task.counters))
    }
}

fn next(blocks: &Mutex<Blocks>) -> Result<Option<crate::io::Block>> {
    lock(blocks).next_block()
}

fn part_path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("part-{number:05}"))
}

fn entry(name: &'static str) -> Result<&'static Entry> {
    stages::find(name).ok_or_else(|| Error::Usage(format!("{name} is not a stage")))
}

/// Sorts all rows of a data set's parts into one file, within `memory` bytes.
pub fn sort_parts(parts: &[PathBuf], to: &Path, memory: usize, spill: &Path) -> Result<u64> {
    fs::create_dir_all(spill).map_err(Error::io("create", spill))?;
    let keys = Keys { partition: 0, sort: 0 };
    let mut sorter = Partitioner::new(keys, 1, memory, spill, "sort");
    let mut blocks = Blocks::new(parts.to_vec(), BLOCK);
    while let Some(block) = blocks.next_block()? {
        each_line(&block, |line, _| sorter.row(line))?;
    }
    let mut file = AtomicFile::create(to)?;
    let mut lines = 0;
    merge(&[sorter.finish()], 0, |row| {
        lines += 1;
        file.line(row)
    })?;
    file.finish()?;
    fs::remove_dir_all(spill).map_err(Error::io("remove", spill))?;
    Ok(lines)
}
