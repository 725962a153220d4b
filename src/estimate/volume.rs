//! What each step of a chain reads, shuffles and writes, how many tasks and how much memory it needs.

use super::growth::{Bytes, Counted, Growth, Range, Scale, Written};
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
    pub read: Range,
    /// Bytes of the rows between mappers and reducers, as they are before the engine compresses them.
    pub shuffled: Range,
    /// Bytes that it writes.
    pub written: Range,
    /// Jobs, one but for Doc-Split's queries.
    pub jobs: u64,
    /// Map tasks of all jobs.
    pub maps: u64,
    /// Reduce tasks.
    pub reduces: u64,
    /// Seconds of one core.
    pub core_seconds: Range,
    /// Megabytes that a map and a reduce task need.
    pub memory: [Option<usize>; 2],
    /// What the step's guards count, and what they allow: the option, the count, the limit.
    pub guards: Vec<(&'static str, Range, u64)>,
    /// What no sample tells of it.
    pub unknown: Option<&'static str>,
}

/// The collection and the cluster.
pub struct Target<'a> {
    /// Who runs it.
    pub engine: Engine,
    /// The options.
    pub params: &'a Params,
    /// Its documents beside those of the sample.
    pub scale: Scale,
    /// Bytes of its documents.
    pub bytes: Range,
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
#[derive(Clone, Copy, Default)]
struct Size {
    bytes: Bytes,
    parts: u64,
}

/// Map tasks of a step of the sample, which the engine pipes runs.
const MAPPERS: f64 = 2.0;

impl Target<'_> {
    /// The steps of a run, in their order.
    pub fn steps(&self, chain: &[Step], measured: &Measured) -> Result<Vec<StepVolume>> {
        let mut sizes: BTreeMap<Data, Size> = BTreeMap::new();
        let bytes = Bytes::of_documents(measured.document_bytes as f64, self.bytes);
        sizes.insert(DOCUMENTS, Size { bytes, parts: self.files });
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
        let from: Bytes = step.inputs.iter().filter_map(|data| sizes.get(data)).map(|size| size.bytes).sum();
        let each_slice = matches!(step.tasks, Tasks::EachFile(..));
        let jobs = match step.tasks {
            Tasks::EachFile(_, slices) => sizes.get(slices).map_or(1, |size| size.parts),
            _ => 1,
        };
        let maps = self.map_tasks(step, sizes, jobs, reduce.is_some());
        let reduces = match (reduce, step.tasks) {
            (None, _) => 0,
            (Some(_), Tasks::One) => 1,
            (Some(_), Tasks::Slices(_)) => self.slices,
            (Some(_), _) => self.reducers,
        };

        let counter = |role: &str, what: &str| measured.counted(name, &format!("{role}_{what}"));
        let role = |role: &str, growth, passing| Written {
            growth,
            passing,
            bytes: counter(role, "bytes_out"),
            rows: counter(role, "records_out"),
            read: counter(role, "bytes_in"),
            tasks: (MAPPERS, maps as f64),
        };
        let mapped = match growth_of(&map, step.inputs.len()) {
            Some((growth, passing)) => self.scale.written(role("map", growth, passing), from),
            None => from,
        };
        let written =
            reduce.map_or(mapped, |entry| self.scale.written(role("reduce", entry.growth, false), mapped));
        // Every row of the answer's pairs belongs to a pair.
        let written = match step.output == PAIRS {
            true => {
                let last = if reduce.is_some() { "reduce" } else { "map" };
                self.scale.written(role(last, Growth::Pairs, false), from)
            }
            false => written,
        };
        let parts = match reduces {
            0 if each_slice => jobs,
            0 => maps,
            reduces => reduces,
        };
        sizes.insert(step.output, Size { bytes: written, parts });

        let [read, written] = [from.all().times(jobs as f64), written.all()];
        let shuffled = if reduce.is_some() { mapped.all() } else { Range::default() };
        let of_sample =
            [("map", "bytes_in"), ("map", "bytes_out"), ("reduce", "bytes_in"), ("reduce", "bytes_out")];
        let of_sample = of_sample.map(|(role, what)| counter(role, what));
        let memory = [map.clone(), reduce.into_iter().collect()]
            .map(|stages| (!stages.is_empty()).then(|| self.memory(&stages)));
        let stages: Vec<_> = map.iter().copied().chain(reduce).collect();
        Ok(StepVolume {
            name: name.to_owned(),
            read,
            shuffled,
            written,
            jobs,
            maps,
            reduces,
            core_seconds: self.core_seconds(
                measured.seconds(name),
                &of_sample,
                [read, shuffled, written].into_iter().sum(),
                stages.iter().any(|stage| stage.growth == Growth::Pairs),
            ) + Range::exactly(self.starting(jobs, maps + reduces)),
            memory,
            guards: step
                .guards
                .iter()
                .map(|guard| {
                    let counted = measured.counted(name, guard.counter);
                    // Pairs of the answer grow as the answer does; what else is counted, as documents meet.
                    let count = match step.output == PAIRS {
                        true => self.scale.pairs(counted, counted.whole),
                        false => self.scale.contacts(counted),
                    };
                    (guard.option, count, self.params.number(guard.option))
                })
                .collect(),
            unknown: unknown(name, step, &stages),
        })
    }

    /// Map tasks of all jobs of a step.
    fn map_tasks(&self, step: &Step, sizes: &BTreeMap<Data, Size>, jobs: u64, reduces: bool) -> u64 {
        match step.tasks {
            // For Hadoop the number is a wish: a task takes no more than a split.
            Tasks::Option(_) if self.engine == Engine::Hadoop => {
                self.slices.max(self.maps(step, sizes, self.split))
            }
            Tasks::Option(_) => self.slices,
            _ if !reduces && step.tasks == Tasks::One && self.engine == Engine::Pipes => 1,
            _ => {
                let each_slice = matches!(step.tasks, Tasks::EachFile(..));
                self.maps(step, sizes, if each_slice { QUERY_SPLIT as f64 } else { self.split }) * jobs
            }
        }
    }

    /// A stage works through its rows, and one that compares documents may have to look at every pair of them.
    fn core_seconds(&self, seconds: f64, of_sample: &[Counted], volume: Range, compares: bool) -> Range {
        // What goes through a shuffle is counted on both sides of it.
        let sample: u64 = of_sample.iter().map(|counted| counted.whole).sum::<u64>() - of_sample[2].whole;
        let work = volume.times(seconds / sample.max(1) as f64);
        if !compares {
            return work;
        }
        let all_pairs = seconds * self.scale.times * self.scale.read;
        Range { mid: (work.mid * all_pairs.max(work.mid)).sqrt(), ..work.or(all_pairs) }
    }

    /// Map tasks of one job: each part of its input is cut into splits, and there are two at least.
    fn maps(&self, step: &Step, sizes: &BTreeMap<Data, Size>, split: f64) -> u64 {
        let known = step.inputs.iter().filter_map(|data| sizes.get(data));
        let splits = known.map(|size| size.parts.max((size.bytes.all().mid / split).ceil() as u64));
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

/// What the rows of a step's mappers grow with, and whether rows of other kinds pass by the stage that decides it; nothing where they go to
/// the shuffle as they are.
fn growth_of(map: &[&Entry], inputs: usize) -> Option<(Growth, bool)> {
    let deciding = map.iter().rev().find(|entry| entry.growth != Growth::Input);
    let passing = deciding.is_some_and(|entry| entry.tag.is_some() && inputs > 1);
    Some((deciding.or(map.last())?.growth, passing))
}

/// What no sample tells of a step, in words for those that read the estimate.
fn unknown(name: &str, step: &Step, stages: &[&Entry]) -> Option<&'static str> {
    if name != step.name {
        return Some("the rounds of larger components are more than those of the sample");
    }
    match stages.iter().map(|stage| stage.growth).find(|growth| *growth != Growth::Input)? {
        Growth::Members => Some("how many documents are in clusters, which a sample tears apart"),
        Growth::Repeated => Some("features that are in few documents, of which a sample has one"),
        _ => None,
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
