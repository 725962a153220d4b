//! How the stages join: each chain is a list of steps over named data sets.
//!
//! A step reads data sets, runs a mapper, a reducer or both, and writes one data set. Engines take the steps as they
//! are: `local` runs them in one process, `pipes` as processes and sorts, `hadoop` as jobs. Read a chain from
//! top to bottom: it is the paper's section 4.
//!
//! One thing takes more than a list of steps: the connected components of a graph that no task holds. They come of
//! a [`Repeat`], whose steps are run in rounds.

mod steps;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::stage::Entry;
use crate::stages;
use crate::stages::keep_field::KeepField;
pub use steps::idf_steps;

/// A data set between steps.
pub type Data = &'static str;

/// The input documents of a chain.
pub const DOCUMENTS: Data = "documents";
/// The answer's pairs.
pub const PAIRS: Data = "pairs";
/// The answer's clusters.
pub const CLUSTERS: Data = "clusters";
/// The kept documents' lines.
pub const KEPT: Data = "kept";
/// The table that the chain `idf` makes.
pub const IDF_TABLE: Data = "idf-table";

/// How many tasks a step has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tasks {
    /// As many as the engine likes.
    Many,
    /// One, which sees everything.
    One,
    /// As many mappers as the option says.
    Option(&'static str),
    /// As many reducers as there are slices in the plan that is this data set: each makes one slice
    /// ([`crate::hash::slice_key`]).
    Slices(Data),
    /// One map-only job for each part of a data set that holds something, which is the side file that the option names.
    EachFile(&'static str, Data),
}

/// A step of a chain.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name: that of its mapper, or of its reducer where it has none.
    pub name: &'static str,
    /// What it does, and why its rows are sorted, in a sentence.
    pub why: &'static str,
    /// The mapper; without one rows go to the shuffle as they are.
    pub map: Option<&'static str>,
    /// The reducer; without one the step is map only.
    pub reduce: Option<&'static str>,
    /// What it reads.
    pub inputs: Vec<Data>,
    /// What it writes.
    pub output: Data,
    /// Side files: the option that names the file, and the data set that is the file.
    pub side: Vec<(&'static str, Data)>,
    /// How many tasks.
    pub tasks: Tasks,
    /// A counter that must not exceed an option's value when the step has ended, and what to do then.
    pub guard: Option<Guard>,
    /// A field that at least one document must have when the step has ended.
    pub field: Option<KeepField>,
}

impl Step {
    /// Its mapper and its reducer.
    pub fn stages(&self) -> Result<(Option<&'static Entry>, Option<&'static Entry>)> {
        Ok((self.map.map(stages::get).transpose()?, self.reduce.map(stages::get).transpose()?))
    }
}

/// See [`Step::guard`].
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    /// The counter.
    pub counter: &'static str,
    /// The option.
    pub option: &'static str,
    /// What the counter counts and what to do when there is too much of it.
    pub advice: &'static str,
}

/// A part of a chain.
#[derive(Clone, Debug)]
pub enum Part {
    /// A step, run once.
    Step(Step),
    /// Steps that are run in rounds.
    Repeat(Repeat),
}

/// Steps that are run in rounds until the first of them counts 0 of something: there the last round ends. In round R,
/// counted from 1, a step is named `NAME-R` and a data set that it makes `DATA-R`.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// What the rounds make.
    pub name: &'static str,
    /// What happens in a round, and why they end, in a sentence or two.
    pub why: &'static str,
    /// What the first step reads in the first round; later it reads [`again`](Self::again).
    pub from: Vec<Data>,
    /// The steps of a round.
    pub steps: Vec<Step>,
    /// What the rounds are for: when they are over, this is the name of what the first step wrote.
    pub to: Data,
    /// The first step's counter.
    pub until_zero: &'static str,
}

impl Repeat {
    /// What the first step reads in later rounds: what the last step of the round before wrote.
    pub fn again(&self) -> Data {
        self.steps.last().map_or(self.to, |last| last.output)
    }

    /// Whether a data set is made in each round.
    pub fn makes(&self, data: Data) -> bool {
        self.steps.iter().any(|step| step.output == data)
    }
}

impl Part {
    /// The part's steps, those of rounds once.
    pub fn steps(&self) -> &[Step] {
        match self {
            Part::Step(step) => std::slice::from_ref(step),
            Part::Repeat(repeat) => &repeat.steps,
        }
    }
}

/// What shapes a chain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shape {
    /// Features out of an IDF range are left out.
    pub idf: bool,
    /// They are looked up by a shuffle, and not in a list that each task holds.
    pub idf_shuffle: bool,
    /// Term-Split with the prefix filter.
    pub prefix: bool,
    /// Doc-Split in the paper's own form.
    pub by_task: bool,
    /// Star clusters.
    pub star: bool,
    /// The field of documents that the keep rule looks at.
    pub field: Option<KeepField>,
    /// Clusters are wanted and pairs are not.
    pub clusters_only: bool,
    /// The kept documents' lines are wanted.
    pub write_kept: bool,
    /// Clusters are made in rounds of many tasks, and not in one task that holds the graph.
    pub rounds: bool,
}

impl Shape {
    /// Every shape that there is.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..256u32).map(|bits| {
            let bit = |n: u32| bits >> n & 1 == 1;
            Self {
                idf: bit(0),
                prefix: bit(1),
                by_task: bit(2),
                star: bit(3),
                field: KeepField::named(if bit(3) { "newest" } else { "first" }),
                write_kept: bit(4),
                clusters_only: bit(5),
                rounds: bit(6),
                idf_shuffle: bit(7),
            }
        })
    }

    /// The data sets of the answer. The clusters come last: an answer that has them is complete.
    pub fn answers(self) -> Vec<Data> {
        let all = [(PAIRS, !self.clusters_only), (KEPT, self.write_kept), (CLUSTERS, true)];
        all.into_iter().filter(|(_, wanted)| *wanted).map(|(data, _)| data).collect()
    }
}

/// The chains by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Chain {
    /// Term-Split: posting lists by feature, pairs by counting (000, section 2.3.1)
    TermSplit,
    /// Doc-Split: slices of documents, each queried by all (000, section 2.3.2)
    DocSplit,
}

impl Chain {
    /// The chain's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Chain::TermSplit => "term-split",
            Chain::DocSplit => "doc-split",
        }
    }

    /// The parts.
    pub fn parts(self, shape: Shape) -> Vec<Part> {
        steps::parts(self, shape)
    }

    /// The steps of all parts, those of rounds once.
    pub fn steps(self, shape: Shape) -> Vec<Step> {
        self.parts(shape).iter().flat_map(Part::steps).cloned().collect()
    }
}
