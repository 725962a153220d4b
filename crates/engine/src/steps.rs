//! The local engine's steps: mappers and reducers in threads of one process, rows shuffled in memory. It runs the parts of
//! any plan: jobs for each slice, as many reducers as there are slices, and rounds, too.

use super::memory::Budget;
use super::peak::StepPeak;
use super::progress::{Done, Progress, Unit, add_counters};
use super::shuffle::{Partitioner, Runs, merge};
use super::spill::Log;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;
use twinsplit_core::threads::{in_threads, lock};
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{AtomicFile, Block, Blocks, document_files, each_line, expand_inputs};
use twinsplit_rows::chains::{DOCUMENTS, Data, KEPT, Names, PAIRS, Part, QUERIES, Repeat, Step, Tasks};
use twinsplit_rows::params::Params;
use twinsplit_rows::plan::Plan;
use twinsplit_rows::record::Keys;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_rows::stage::chained::{self, Surroundings};
use twinsplit_rows::stage::{Counters, Entry, Runner, Sink, Task};
use twinsplit_rows::stages;
use twinsplit_rows::stages::options::FeatureOpts;
use twinsplit_rows::stages::slice_plan::load_plan;

/// Bytes of input that a thread takes at a time.
const BLOCK: usize = 256 << 10;
/// Rows after which a reducer says how far it is.
const ROWS_SHOWN: u64 = 4096;
/// How a step went, in the folder of its data set.
const REPORT: &str = "_counters.json";

/// Runs steps. Each data set is a folder of part files below `work`, which has its name when it is complete.
pub struct LocalSteps<'a> {
    /// The input documents.
    inputs: &'a [PathBuf],
    /// Folder of the data sets.
    work: &'a Path,
    /// Options by name.
    params: Params,
    /// Threads, and reducers of a step.
    threads: usize,
    budget: Budget,
    progress: &'a Progress,
    /// The data sets that rounds were for: the name, and that of what the last round made.
    made_in_rounds: BTreeMap<Data, String>,
}

/// Rows into a part file.
struct PartFile(AtomicFile);

impl Sink for PartFile {
    fn row(&mut self, row: &[u8]) -> Result<()> {
        self.0.line(row)
    }
}

impl<'a> LocalSteps<'a> {
    /// An engine for documents of `inputs` with data sets in `work`, so many threads and, in all, `memory` bytes.
    pub fn new(
        inputs: &'a [PathBuf],
        work: &'a Path,
        params: &Params,
        threads: usize,
        memory: usize,
        progress: &'a Progress,
    ) -> Result<Self> {
        let budget = Budget::of_stages(memory, threads)?;
        budget.admit_filters(params)?;
        let mut params = params.clone();
        budget.fit(&mut params);
        Ok(Self { inputs, work, params, threads, budget, progress, made_in_rounds: BTreeMap::new() })
    }

    /// Runs the parts of a chain, each step once; what a step made already is not made again. `fields` says which fields
    /// the documents have, for the message of a keep rule that finds none of its own.
    pub fn run_parts(&mut self, parts: &[Part], fields: &str) -> Result<Vec<Done>> {
        let mut done = Vec::new();
        self.run_some(parts, parts, fields, &mut done)?;
        Ok(done)
    }

    /// Runs the chain of a plan, and writes its answer into a folder. What a run that was stopped has made already is not made again.
    pub fn run_plan(&mut self, plan: &Plan, fields: &str, folder: &Path) -> Result<Vec<Done>> {
        let done = self.run_parts(&plan.chain.parts(), fields)?;
        for data in plan.chain.output.data() {
            let file = folder.join(answer_file(data));
            if data != KEPT && !file.exists() {
                self.sort(data, &file)?;
            }
        }
        let kept = self.work.join(KEPT).join("part-00000");
        if plan.writes_lines() && kept.exists() {
            fs::rename(&kept, folder.join(answer_file(KEPT))).map_err(Error::io("rename", &kept))?;
        }
        Ok(done)
    }

    fn run_some(&mut self, parts: &[Part], chain: &[Part], fields: &str, done: &mut Vec<Done>) -> Result<()> {
        for part in parts {
            match part {
                Part::Step(step) => {
                    if let Some(counted) = step.counted {
                        let ended = done.iter().find(|ended| Some(&*ended.name) == counted.step(chain));
                        let counter = ended.and_then(|ended| ended.counters.get(counted.counter));
                        self.params.set(counted.option, counter.copied().unwrap_or(0).to_string());
                    }
                    done.push(self.guarded(step, &Names::of(step), fields)?);
                }
                Part::Repeat(repeat) => self.rounds(repeat, fields, done)?,
                Part::Choice(choice) => {
                    let counted = |(counter, step): &(&str, &str)| {
                        let ended = done.iter().find(|ended| ended.name == *step);
                        ended.and_then(|ended| ended.counters.get(*counter).copied()).unwrap_or(0)
                    };
                    let sum: u64 = choice.counters(chain).iter().map(counted).sum();
                    let few = sum <= self.params.number(choice.option);
                    self.run_some(if few { &choice.few } else { &choice.many }, chain, fields, done)?;
                }
            }
        }
        Ok(())
    }

    /// Runs steps in rounds, until the first of them counts nothing any more.
    fn rounds(&mut self, repeat: &Repeat, fields: &str, done: &mut Vec<Done>) -> Result<()> {
        let mut from: Vec<String> = repeat.from.iter().map(|data| (*data).to_owned()).collect();
        for round in 1u32.. {
            for (number, step) in repeat.steps.iter().enumerate() {
                let names = Names::in_round(step, repeat, &round.to_string(), &from);
                let ended = self.guarded(step, &names, fields)?;
                let left = ended.counters.get(repeat.until_zero).copied().unwrap_or(0);
                done.push(ended);
                if number == 0 && left == 0 {
                    self.made_in_rounds.insert(repeat.to, names.output);
                    return Ok(());
                }
            }
            from = vec![format!("{}-{round}", repeat.again())];
        }
        Ok(())
    }

    fn guarded(&self, step: &Step, names: &Names, fields: &str) -> Result<Done> {
        let done = self.run(step, names)?;
        guard(step, &done.counters, &self.params, fields)?;
        Ok(done)
    }

    /// Runs one step, or, when its data set is there already, reads how it went.
    fn run(&self, step: &Step, names: &Names) -> Result<Done> {
        let output = self.work.join(&names.output);
        let report = output.join(REPORT);
        if output.exists() {
            return read_report(&report);
        }
        let start = Instant::now();
        let peak = StepPeak::start();
        let partial = partial(&output);
        remove_folder(&partial)?;
        fs::create_dir_all(&partial).map_err(Error::io("create", &partial))?;
        let mut counters = self.run_into(step, names, &partial)?;
        counters.extend(peak.end().map(|bytes| ("peak_memory".to_owned(), bytes)));
        let done = Done { name: names.step.clone(), seconds: start.elapsed().as_secs_f64(), counters };
        write_report(&partial.join(REPORT), &done)?;
        fs::rename(&partial, &output).map_err(Error::io("rename", &partial))?;
        Ok(done)
    }

    /// Runs one step, whose parts go to `output`, and gives the sum of its tasks' counters.
    fn run_into(&self, step: &Step, names: &Names, output: &Path) -> Result<Counters> {
        let side = self.side_files(step)?;
        let side: Vec<_> = side.iter().map(|(option, path)| (*option, path.as_path())).collect();
        let mut counters = Counters::new();
        let Some(reduce) = step.reduce.map(stages::get).transpose()? else {
            let mut counts = Vec::new();
            match step.tasks {
                Tasks::EachFile(option, data) => {
                    for file in self.parts(data)?.into_iter().filter(|file| holds_something(file)) {
                        let side = [&side[..], &[(option, file.as_path())]].concat();
                        counts.extend(self.map_to_files(step, names, (output, counts.len()), &side)?);
                    }
                }
                _ => counts = self.map_to_files(step, names, (output, 0), &side)?,
            }
            counts.iter().for_each(|counts| add_counters(&mut counters, counts));
            return Ok(counters);
        };
        let keys = reduce.input.keys.unwrap_or(Keys { partition: 0, sort: 0 });
        let partitions = match step.tasks {
            Tasks::One => 1,
            Tasks::Option(option) => self.params.number(option).max(1) as usize,
            // A plan without slices is that of a collection without sets.
            Tasks::Slices(plan) => self.slices(plan)?.max(1),
            _ => self.threads,
        };
        let spill = output.join("_spill");
        fs::create_dir_all(&spill).map_err(Error::io("create", &spill))?;
        let mut runs = Vec::new();
        let mut rows = 0;
        let log = Log::new(&self.budget, &spill);
        for (run, counts) in self.map_to_runs(step, names, (keys, partitions), (output, &log), &side)? {
            rows += run.rows();
            runs.push(run);
            add_counters(&mut counters, &counts);
        }
        self.progress.start(&names.step, "reducing", Unit::Rows, rows);
        let params = step.params(&self.params);
        let reduced = in_threads(partitions, self.threads, |number| {
            let mut part = PartFile(AtomicFile::create(&part_path(output, number))?);
            let mut task = Task::new(reduce, number as u32, spill.clone(), &mut part);
            task.row_limit = Some(self.budget.row_limit());
            let mut runner = Runner::open(reduce, &params.values_for(reduce, &side), &mut task)?;
            task.place.file = format!("sorted rows of {}", step.name).into();
            merge((&runs, &log), number, self.budget.merged_rows(), |row| {
                task.place.line += 1;
                if task.place.line.is_multiple_of(ROWS_SHOWN) {
                    self.progress.add(ROWS_SHOWN);
                }
                runner.row(row, &mut task)
            })?;
            runner.finish(&mut task)?;
            let counts = std::mem::take(&mut task.counters);
            part.0.finish()?;
            Ok::<_, Error>(counts)
        })?;
        reduced.iter().for_each(|counts| add_counters(&mut counters, counts));
        drop(log);
        remove_folder(&spill)?;
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

    /// How many slices a plan has.
    fn slices(&self, plan: Data) -> Result<usize> {
        let features: FeatureOpts = self.params.parse()?;
        let plans = self.parts(plan)?;
        plans.iter().map(|path| Ok(load_plan(path, &features)?.len())).sum()
    }

    fn parts(&self, data: &str) -> Result<Vec<PathBuf>> {
        let data = self.made_in_rounds.get(data).map_or(data, String::as_str);
        match data {
            DOCUMENTS => Ok(self.inputs.to_vec()),
            QUERIES => queries(&self.params),
            made => expand_inputs(&[self.work.join(made)]),
        }
    }

    fn blocks(&self, step: &Step, names: &Names) -> Result<Mutex<Blocks>> {
        let mut files = Vec::new();
        for data in &names.inputs {
            files.extend(self.parts(data)?);
        }
        let bytes = files.iter().map(|file| fs::metadata(file).map_or(0, |meta| meta.len())).sum();
        self.progress.start(&names.step, "reading", Unit::Bytes, bytes);
        let blocks = Blocks::new(files, BLOCK);
        let documents = [DOCUMENTS, QUERIES].iter().any(|data| step.inputs.contains(data));
        Ok(Mutex::new(if documents {
            blocks.of_documents(self.params.parse::<DocumentOpts>()?.max_line)
        } else {
            blocks
        }))
    }

    fn map_to_files(
        &self,
        step: &Step,
        names: &Names,
        (output, first): (&Path, usize),
        side: &[(&'static str, &Path)],
    ) -> Result<Vec<Counters>> {
        let blocks = self.blocks(step, names)?;
        let tasks = match step.tasks {
            Tasks::One => Some(1),
            Tasks::Option(option) => self.params.get(option).and_then(|tasks| tasks.parse().ok()),
            _ => None,
        };
        let tasks = tasks.unwrap_or(self.threads);
        in_threads(tasks, self.threads, |number| {
            let mut part = PartFile(AtomicFile::create(&part_path(output, first + number))?);
            let counts = self.map(step, number, &blocks, output, &mut part, side)?;
            part.0.finish()?;
            Ok(counts)
        })
    }

    fn map_to_runs(
        &self,
        step: &Step,
        names: &Names,
        (keys, partitions): (Keys, usize),
        (output, log): (&Path, &Log<'_>),
        side: &[(&'static str, &Path)],
    ) -> Result<Vec<(Runs, Counters)>> {
        let blocks = self.blocks(step, names)?;
        in_threads(self.threads, self.threads, |number| {
            let mut sink = Partitioner::new(keys, partitions, self.budget.row_buffer(), log);
            // Bad lines of documents stay beside the rows.
            let mut counts = self.map(step, number, &blocks, output, &mut sink, side)?;
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
        folder: &Path,
        sink: &mut dyn Sink,
        side: &[(&'static str, &Path)],
    ) -> Result<Counters> {
        let (mapper, _) = step.stages()?;
        if mapper.is_empty() {
            while let Some(block) = self.next(blocks)? {
                each_line(&block, |line, _| sink.row(line))?;
            }
            return Ok(Counters::new());
        }
        let params = step.params(&self.params);
        let with_options = |entry: &'static Entry| Ok((entry, params.values_for(entry, side)));
        let mapper = mapper.into_iter().map(with_options).collect::<Result<Vec<_>>>()?;
        let row_limit = Some(self.budget.row_limit());
        let around =
            Surroundings { number: number as u32, folder: folder.to_owned(), row_limit, partition: None };
        chained::run(&mapper, &around, sink, &mut |first| {
            while let Some(block) = self.next(blocks)? {
                each_line(&block, |line, place| {
                    first.task.place.clone_from(place);
                    first.row(line)
                })?;
            }
            Ok(())
        })
    }

    fn next(&self, blocks: &Mutex<Blocks>) -> Result<Option<Block>> {
        let mut blocks = lock(blocks);
        let block = blocks.next_within(&mut self.budget.task_room());
        self.progress.set(blocks.raw_bytes());
        block
    }

    /// Sorts all rows of a data set into one file.
    pub fn sort(&self, data: Data, to: &Path) -> Result<u64> {
        let spill = self.work.join("_sort");
        remove_folder(&spill)?;
        fs::create_dir_all(&spill).map_err(Error::io("create", &spill))?;
        let parts = self.parts(data)?;
        let keys = Keys { partition: 0, sort: 0 };
        let log = Log::new(&self.budget, &spill);
        let mut sorter = Partitioner::new(keys, 1, self.budget.row_buffer(), &log);
        let mut blocks = Blocks::new(parts, BLOCK);
        while let Some(block) = blocks.next_block()? {
            each_line(&block, |line, _| sorter.row(line))?;
        }
        let mut file = AtomicFile::create(to)?;
        let mut lines = 0;
        merge((&[sorter.finish()], &log), 0, self.budget.merged_rows(), |row| {
            lines += 1;
            file.line(row)
        })?;
        file.finish()?;
        remove_folder(&spill)?;
        Ok(lines)
    }
}

/// The name of the file that holds a part of an answer.
pub fn answer_file(data: Data) -> &'static str {
    match data {
        PAIRS => "pairs.tsv",
        KEPT => "kept.jsonl",
        _ => "clusters.tsv",
    }
}

/// Stops when a step counted more than its option allows, or met no document with a field that the keep rule looks at;
/// `fields` says which there are.
fn guard(step: &Step, counters: &Counters, params: &Params, fields: &str) -> Result<()> {
    if let Some(field) = step.field {
        let count = |name| counters.get(name).copied().unwrap_or(0);
        if count(field.with) == 0 && count(field.without) > 0 {
            let nowhere = field.nowhere(params.get(field.option).unwrap_or_default());
            return Err(Error::Usage(format!("{nowhere}; {fields}")));
        }
    }
    for guard in &step.guards {
        let limit = params.number(guard.option);
        let sum = counters.get(guard.counter).copied().unwrap_or(0);
        if sum > limit {
            return Err(Error::Limit(format!(
                "{}: {sum} {} (the limit is {limit})",
                step.name, guard.advice
            )));
        }
    }
    Ok(())
}

/// The files of the queries that options name; none where they name none.
pub fn queries(params: &Params) -> Result<Vec<PathBuf>> {
    params.get(QUERIES).map_or(Ok(Vec::new()), |queries| document_files(&[PathBuf::from(queries)]))
}

fn holds_something(file: &Path) -> bool {
    file.metadata().is_ok_and(|file| file.len() > 0)
}

/// The folder that a data set is written into before it has its name.
pub fn partial(output: &Path) -> PathBuf {
    output.with_extension("partial")
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", folder)(error)),
        _ => Ok(()),
    }
}

fn write_report(path: &Path, done: &Done) -> Result<()> {
    let report = serde_json::json!({ "step": done.name, "seconds": done.seconds, "counters": done.counters });
    let mut file = AtomicFile::create(path)?;
    file.line(report.to_string().as_bytes())?;
    file.finish()
}

fn read_report(path: &Path) -> Result<Done> {
    let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
    let problem = |problem: String| Error::File { path: path.to_owned(), problem };
    let report: Report = serde_json::from_str(&text).map_err(|error| problem(error.to_string()))?;
    Ok(Done { name: report.step, seconds: report.seconds, counters: report.counters })
}

#[derive(serde::Deserialize)]
struct Report {
    step: String,
    seconds: f64,
    counters: Counters,
}

fn part_path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("part-{number:05}"))
}
