//! What each step of a chain reads, shuffles and writes, how many tasks and how much memory it needs.

use super::measure::Measured;
use std::collections::BTreeMap;
use twinsplit_engine::hadoop::{HEAP, QUERY_SPLIT, megabytes_beside_heap};
use twinsplit_engine::memory::tasks::stage_megabytes;
use twinsplit_io::error::Result;
use twinsplit_rows::chains::{DOCUMENTS, Data, PAIRS, Step, Tasks};
use twinsplit_rows::params::Params;
use twinsplit_rows::plan::Engine;
use twinsplit_rows::stage::Entry;

/// A step of the collection's run.
pub struct StepVolume {
    /// Its name; in rounds it ends in the round's number.
    pub name: String,
    /// Bytes that its tasks read; of Doc-Split's queries, in all jobs together.
    pub read: f64,
    /// Bytes of the rows between mappers and reducers, as they are before the engine compresses them.
    pub shuffled: f64,
    /// Bytes that it writes.
    pub written: f64,
    /// Jobs, one but for Doc-Split's queries.
    pub jobs: u64,
    /// Map tasks of all jobs.
    pub maps: u64,
    /// Reduce tasks.
    pub reduces: u64,
    /// Seconds of one core.
    pub core_seconds: f64,
    /// Megabytes that a map and a reduce task need.
    pub memory: [Option<usize>; 2],
    /// What the step's guards count, and what they allow: the option, the count, the limit.
    pub guards: Vec<(&'static str, f64, u64)>,
}

/// The collection and the cluster.
pub struct Target<'a> {
    /// Who runs it.
    pub engine: Engine,
    /// The options.
    pub params: &'a Params,
    /// How many times the sample's documents it has.
    pub times: f64,
    /// Files of documents.
    pub files: u64,
    /// Bytes of a file that a map task takes.
    pub split: f64,
    /// Reduce tasks of a step.
    pub reducers: u64,
    /// Slices of Doc-Split, where the map tasks that make them are not more.
    pub slices: u64,
}

/// Bytes and files of a data set.
#[derive(Clone, Copy)]
struct Size {
    bytes: f64,
    parts: u64,
}

impl Target<'_> {
    /// The steps of a run, in their order.
    pub fn steps(&self, chain: &[Step], measured: &Measured) -> Result<Vec<StepVolume>> {
        let mut sizes: BTreeMap<Data, Size> = BTreeMap::new();
        sizes.insert(
            DOCUMENTS,
            Size { bytes: measured.document_bytes as f64 * self.times, parts: self.files },
        );
        let mut volumes = Vec::new();
        for name in &measured.steps {
            let step = chain.iter().find(|step| is_step(name, step.name));
            let Some(step) = step else { continue };
            volumes.push(self.step(name, step, measured, &mut sizes)?);
        }
        Ok(volumes)
    }

    fn step(
        &self,
        name: &str,
        step: &Step,
        measured: &Measured,
        sizes: &mut BTreeMap<Data, Size>,
    ) -> Result<StepVolume> {
        let (map, reduce) = step.stages()?;
        let counter = |role: &str, what: &str| measured.growth(name, &format!("{role}_bytes_{what}"));
        let (first, last) =
            (if map.is_empty() { "reduce" } else { "map" }, if reduce.is_some() { "reduce" } else { "map" });
        let each_slice = matches!(step.tasks, Tasks::EachFile(..));
        let (jobs, read) = match step.tasks {
            // The sample and its halves may have other numbers of slices, so what they read says nothing of one job.
            Tasks::EachFile(_, slices) => {
                let jobs = sizes.get(slices).map_or(1, |size| size.parts);
                let once = step.inputs.iter().filter_map(|data| sizes.get(data)).map(|size| size.bytes);
                (jobs, once.sum::<f64>() * jobs as f64)
            }
            _ => (1, counter(first, "in").at(self.times)),
        };
        let written = counter(last, "out");
        // Every row of the answer's pairs belongs to a pair.
        let written =
            if step.output == PAIRS { written.of_pairs(self.times) } else { written.at(self.times) };
        let shuffled = if reduce.is_some() { counter("reduce", "in").at(self.times) } else { 0.0 };

        let reduces = match (reduce, step.tasks) {
            (None, _) => 0,
            (Some(_), Tasks::One) => 1,
            (Some(_), Tasks::Slices(_)) => self.slices,
            (Some(_), _) => self.reducers,
        };
        let maps = match step.tasks {
            // For Hadoop the number is a wish: a task takes no more than a split.
            Tasks::Option(_) if self.engine == Engine::Hadoop => {
                self.slices.max(self.maps(step, sizes, self.split))
            }
            Tasks::Option(_) => self.slices,
            _ if reduce.is_none() && step.tasks == Tasks::One && self.engine == Engine::Pipes => 1,
            _ => self.maps(step, sizes, if each_slice { QUERY_SPLIT as f64 } else { self.split }) * jobs,
        };
        let parts = if reduces > 0 {
            reduces
        } else if each_slice {
            jobs
        } else {
            maps
        };
        sizes.insert(step.output, Size { bytes: written, parts });

        // A stage works through its rows, and what starts a task costs the same for any.
        let sample: u64 =
            [counter(first, "in"), counter(last, "out")].iter().map(|growth| growth.whole).sum();
        let sample = sample + if reduce.is_some() { counter("reduce", "in").whole } else { 0 };
        let work = measured.seconds(name) * (read + shuffled + written) / (sample.max(1)) as f64;
        let memory = [map, reduce.into_iter().collect()]
            .map(|stages| (!stages.is_empty()).then(|| self.memory(&stages)));
        Ok(StepVolume {
            name: name.to_owned(),
            read,
            shuffled,
            written,
            jobs,
            maps,
            reduces,
            core_seconds: work + self.starting(jobs, maps + reduces),
            memory,
            guards: step
                .guards
                .iter()
                .map(|guard| {
                    let count = measured.growth(name, guard.counter).at(self.times);
                    (guard.option, count, self.params.number(guard.option))
                })
                .collect(),
        })
    }

    /// Map tasks of one job: each part of its input is cut into splits, and there are two at least.
    fn maps(&self, step: &Step, sizes: &BTreeMap<Data, Size>, split: f64) -> u64 {
        let known = step.inputs.iter().filter_map(|data| sizes.get(data));
        let splits = known.map(|size| size.parts.max((size.bytes / split).ceil() as u64));
        splits.sum::<u64>().max(if self.engine == Engine::Spark { 1 } else { 2 })
    }

    fn memory(&self, stages: &[&Entry]) -> usize {
        match self.engine {
            Engine::Hadoop => HEAP + megabytes_beside_heap(stages, self.params),
            _ => stage_megabytes(stages, self.params),
        }
    }

    /// Seconds of a core that starting jobs and tasks takes, measured on the engines with empty input: a container of
    /// Hadoop is a JVM, a job has two more, its client and its master; executors of Spark stay. Hadoop's lie between those of a
    /// quiet machine, 7 and 3, and of a busy one, 11 and 5.
    fn starting(&self, jobs: u64, tasks: u64) -> f64 {
        let (job, task) = match self.engine {
            Engine::Local | Engine::Pipes => (0.0, 0.02),
            Engine::Hadoop => (9.0, 4.0),
            Engine::Spark => (0.1, 0.1),
        };
        jobs as f64 * job + tasks as f64 * task
    }
}

/// Whether a step of a run is that of a chain, in whatever round.
fn is_step(name: &str, step: &str) -> bool {
    match name.strip_prefix(step) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('-').is_some_and(|round| round.parse::<u32>().is_ok()),
        None => false,
    }
}
