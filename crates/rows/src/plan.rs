//! The plan of a run: the chain, every option resolved with where its value comes from, the input and what is written.
//!
//! [`Plan::of`] makes it once, from what was asked for alone: it touches no file and looks at no clock. Commands print it
//! (`twinsplit plan --json`), engines follow it, `run.json` keeps it, and `--resume` compares it with that of the run that was
//! stopped. Nothing later asks the options again which way to go.

mod refused;
#[cfg(test)]
mod tests;
mod unused;

use crate::chains::{Chain, Columnar, Data, FAMILIES, Family, Step, Tasks, Wanted};
use crate::params::Params;
use crate::stage::Entry;
use crate::stages;
use crate::stages::minhash::{BandOpts, SignerOpts};
use crate::stages::options::{FEATURES, SimilarityOpts};
use crate::stages::reduce::REDUCE_TO;
use refused::{refuse_check, refuse_lookup, refuse_with_queries, refuse_with_reduction};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;
use twinsplit_core::similarity::Similarity;
use twinsplit_core::similarity::overlap::Overlap;
use twinsplit_core::text::FeatureKind;
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
pub use unused::refuse_unused;

twinsplit_core::choice! {
    /// Ways to run a chain.
    pub enum Engine {
        /// One process
        Local = "local",
        /// The stages as processes, with files and sort between them
        Pipes = "pipes",
        /// The stages as jobs of Hadoop Streaming, on data in HDFS or any file system that Hadoop reads
        Hadoop = "hadoop",
        /// The stages in a Spark program, on data in any file system that Hadoop reads
        Spark = "spark",
    }
}

twinsplit_core::choice! {
    /// In which form the kept documents are written.
    pub enum KeptForm {
        /// Their lines in kept.jsonl; documents of other formats are the JSON lines that the run makes of them
        Jsonl = "jsonl",
        /// A file for each one of the input in the folder kept, in its own format and compression
        Same = "same",
    }
}

impl Engine {
    /// Whether input and output are addresses in a cluster's file system.
    pub fn is_remote(self) -> bool {
        matches!(self, Engine::Hadoop | Engine::Spark)
    }
}

/// Where the value of an option comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The stage's declaration.
    Default,
    /// The command line.
    CommandLine,
    /// The environment.
    Environment,
    /// The file of options that was named.
    Config,
    /// The preset that was named.
    Preset,
    /// A program that uses the crate.
    Program,
    /// The family of chains, which has its own default.
    Family,
    /// Another option, which asks for it.
    Follows(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::CommandLine => f.write_str("command line"),
            Origin::Environment => f.write_str("environment"),
            Origin::Config => f.write_str("config"),
            Origin::Preset => f.write_str("preset"),
            Origin::Program => f.write_str("program"),
            Origin::Family => f.write_str("chain"),
            Origin::Follows(option) => write!(f, "--{option}"),
        }
    }
}

/// Options of stages that have another value than their default, and why.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Their values.
    pub params: Params,
    origins: BTreeMap<String, Origin>,
}

impl Given {
    /// Sets an option.
    pub fn set(&mut self, name: &str, value: impl Into<String>, origin: Origin) {
        self.params.set(name, value);
        self.origins.insert(name.to_owned(), origin);
    }

    /// Sets an option that was not given.
    pub fn set_missing(&mut self, name: &str, value: impl Into<String>, origin: Origin) {
        if self.params.get(name).is_none() {
            self.set(name, value, origin);
        }
    }

    /// Takes the least number of features from what the features ask for, unless it was given, and from the similarity. `read` gives the text of a
    /// file that describes features.
    pub fn settle_features(&mut self, read: &ReadFile<'_>) -> Result<()> {
        if self.params.get("min-features").is_none() {
            let kind = FeatureKind::parse(self.params.get("features").unwrap_or(FEATURES), read)
                .map_err(|error| Error::Usage(error.to_string()))?;
            if kind.min_features_default() != 1 {
                let least = kind.min_features_default().to_string();
                self.set("min-features", least, Origin::Follows("features"));
            }
        }
        self.settle_similarity()?;
        self.settle_bands()
    }

    /// Takes as many values of a signature as its bands need, unless their number was given, and refuses too few.
    fn settle_bands(&mut self) -> Result<()> {
        let bands: BandOpts = self.params.parse()?;
        if self.params.get("hashes").is_none() && bands.values() > self.params.number("hashes") {
            self.set("hashes", bands.values().to_string(), Origin::Follows("bands"));
        }
        let hashes = self.params.parse::<SignerOpts>()?.hashes;
        bands.bands(hashes).map(drop)
    }

    /// Refuses a threshold that does not fit its similarity. Sets that are smaller than an overlap are in no pair, so the
    /// least number of features is no smaller.
    fn settle_similarity(&mut self) -> Result<()> {
        let SimilarityOpts(similarity) = self.params.parse()?;
        if let Similarity::Overlap(Overlap(least)) = similarity
            && self.params.number("min-features") < least
        {
            self.set("min-features", least.to_string(), Origin::Follows("similarity"));
        }
        Ok(())
    }

    fn origin(&self, name: &str) -> Origin {
        self.origins.get(name).copied().unwrap_or(Origin::Default)
    }
}

/// Gives the text of a file that options name, or why it cannot be read.
pub type ReadFile<'r> = dyn Fn(&str) -> std::result::Result<String, String> + 'r;

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The name of the family of chains, where one was given.
    pub chain: Option<String>,
    /// The engine.
    pub engine: Engine,
    /// The options of stages.
    pub given: Given,
    /// The input as it was named.
    pub inputs: Vec<PathBuf>,
    /// In which form the kept documents are written, if they are.
    pub write_kept: Option<KeptForm>,
    /// The share of the pairs that was asked for, where bands were chosen by it.
    pub recall: Option<f64>,
    /// What was decided before, a sentence each.
    pub notes: Vec<String>,
}

/// See the module.
pub struct Plan {
    /// The family of the chain.
    pub family: &'static Family,
    /// What is run.
    pub chain: Chain,
    /// What runs it.
    pub engine: Engine,
    /// The options of stages that have another value than their default.
    pub params: Params,
    /// Every option of every stage, with where its value comes from.
    options: BTreeMap<String, (String, Origin)>,
    /// The input as it was named.
    pub inputs: Vec<PathBuf>,
    /// In which form the kept documents are written, if they are.
    pub write_kept: Option<KeptForm>,
    /// The share of the pairs that was asked for, where bands were chosen by it.
    pub recall: Option<f64>,
    /// What was decided that nobody has asked for, a sentence each.
    pub notes: Vec<String>,
}

/// Options that bound a run or a task and decide nothing about the answer: a run may go on with others.
pub const BOUNDS: [&str; 5] = ["max-pairs", "combine", "combine-pairs", "forest", "ranked"];

/// What a note says of the clusters that `--write-kept` asks for.
const STAR_NOTE: &str = "with --write-kept clusters are stars, so that each dropped document is in a pair with the one \
                         that is kept; --cluster components joins chains";

/// What is said of every run that compares fingerprints, with queries too.
const APPROXIMATE: &str = "APPROXIMATE: simhash compares fingerprints, so it may miss similar documents and pair others; doc-split \
                           compares what texts share";

impl Plan {
    /// The plan of what was asked for. `read` gives the text of a file that describes features.
    ///
    /// # Errors
    /// When no family has the name, and when the features are not what they should be.
    pub fn of(asked: Asked, read: &ReadFile<'_>) -> Result<Self> {
        let Asked { chain, engine, mut given, inputs, write_kept, recall, notes: decided } = asked;
        let (family, mut notes) = match chain {
            Some(name) => {
                let unknown = || Error::Usage(format!("there is no chain {name}"));
                (Family::named(&name).ok_or_else(unknown)?, Vec::new())
            }
            None => {
                let (family, why) = suitable(&given);
                (family, vec![format!("no chain is named, so {} is taken{why}", family.name)])
            }
        };
        notes.extend(decided);
        family.defaults.iter().for_each(|(name, value)| given.set_missing(name, *value, Origin::Family));
        given.settle_features(read)?;
        refuse_with_reduction(&given.params)?;
        let is_reduced = given.params.get(REDUCE_TO).is_some();
        if write_kept.is_some() && !is_reduced && given.params.get("cluster").is_none() {
            // Documents go for good then, so each must reach tau with the one that stays.
            given.set("cluster", "star", Origin::Follows("write-kept"));
            notes.push(STAR_NOTE.to_owned());
        }
        let lines = write_kept == Some(KeptForm::Jsonl);
        let wanted = Wanted { kept: lines, rounds: engine != Engine::Local };
        let chain = family.chain(&given.params, wanted);
        refuse_with_queries(family, &given.params, write_kept.is_some())?;
        refuse_check(family, &chain, &given.params)?;
        refuse_lookup(&given.params)?;
        let unused = refuse_unused(family, &given.params, &given, lines)?;
        notes.extend(unused.iter().map(|name| {
            format!("{} does not use --{name}, which the {} gives", family.name, given.origin(name))
        }));
        let options = resolved(&given);
        let params = given.params.clone();
        let mut plan = Self { family, chain, engine, params, options, inputs, write_kept, recall, notes };
        if family.name == "simhash" {
            plan.notes.push(APPROXIMATE.to_owned());
        }
        let of_tasks = unused::of_tasks(&plan, &given).into_iter().map(|name| {
            format!(
                "--{name} is for the tasks of other engines; {} does the work in one process",
                engine.name()
            )
        });
        plan.notes.extend(of_tasks.collect::<Vec<_>>());
        Ok(plan)
    }

    /// The same asked of another chain: every option that has another value than its default is given, by nobody's command line.
    pub fn of_chain(&self, chain: &str) -> Asked {
        let mut given = Given::default();
        self.params.iter().for_each(|(name, value)| given.set(name, value, Origin::Program));
        Asked {
            chain: Some(chain.to_owned()),
            engine: self.engine,
            given,
            inputs: self.inputs.clone(),
            write_kept: self.write_kept,
            recall: None,
            notes: Vec::new(),
        }
    }

    /// The same chain on another engine, with options that make the same steps.
    pub fn on(&self, engine: Engine, params: Params) -> Self {
        let wanted = Wanted { kept: self.writes_lines(), rounds: engine != Engine::Local };
        Self {
            family: self.family,
            chain: self.family.chain(&params, wanted),
            engine,
            params,
            options: self.options.clone(),
            inputs: self.inputs.clone(),
            write_kept: self.write_kept,
            recall: self.recall,
            notes: Vec::new(),
        }
    }

    /// Whether somebody has given an option: it has no default, and follows from no other one.
    pub fn is_given(&self, name: &str) -> bool {
        let origin = self.options.get(name).map(|(_, origin)| *origin);
        !matches!(origin, None | Some(Origin::Default | Origin::Family | Origin::Follows(_)))
    }

    /// What does the whole chain in one process, where the engine is one and there is such a thing.
    pub fn columnar(&self) -> Option<[Columnar; 4]> {
        self.chain.columnar().filter(|_| self.engine == Engine::Local)
    }

    /// Whether the input is read once, so that it may be a stream.
    pub fn reads_once(&self) -> bool {
        self.columnar().is_some() && self.write_kept.is_none()
    }

    /// Whether the chain writes the lines of kept documents.
    pub fn writes_lines(&self) -> bool {
        self.write_kept == Some(KeptForm::Jsonl)
    }

    /// The names of the program, the chain and the engine, and every option with its value, as `run.json` has them.
    pub fn fields(&self) -> Map<String, Value> {
        let mut parameters: Map<String, Value> =
            self.options.iter().map(|(name, (value, _))| (name.clone(), value.as_str().into())).collect();
        let write_kept = match self.write_kept {
            Some(KeptForm::Same) => KeptForm::Same.name().into(),
            form => form.is_some().into(),
        };
        parameters.insert("write-kept".to_owned(), write_kept);
        parameters.extend(self.recall.map(|recall| ("recall".to_owned(), recall.to_string().into())));
        let origins = self.options.iter().filter(|(_, (_, origin))| *origin != Origin::Default);
        let origins: Map<String, Value> =
            origins.map(|(name, (_, origin))| (name.clone(), origin.to_string().into())).collect();
        let fields = json!({
            "twinsplit": env!("CARGO_PKG_VERSION"),
            "chain": self.family.name,
            "engine": self.engine.name(),
            "parameters": parameters,
            "origins": origins,
        });
        fields.as_object().cloned().unwrap_or_default()
    }

    /// The whole plan, for programs.
    pub fn json(&self) -> Value {
        let mut fields = self.fields();
        let inputs: Vec<_> = self.inputs.iter().map(|path| visible::stored(path)).collect();
        let [front, candidates, check, output] = self
            .chain
            .parts_of_components()
            .map(|parts| parts.iter().flat_map(|part| part.steps()).map(step_json).collect::<Vec<_>>());
        fields.insert("inputs".to_owned(), json!(inputs));
        fields.insert("outputs".to_owned(), json!(self.chain.output.data()));
        fields.insert("in_process".to_owned(), self.columnar().is_some().into());
        let steps = json!({ "front": front, "candidates": candidates, "check": check, "output": output });
        fields.insert("steps".to_owned(), steps);
        fields.into()
    }
}

fn step_json(step: &Step) -> Value {
    let side: BTreeMap<&str, Data> = step.side.iter().copied().collect();
    let mut options: BTreeMap<&str, String> =
        step.options.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    options.extend(step.counted.map(|counted| {
        (counted.option, format!("the counter {} of the step that writes {}", counted.counter, counted.data))
    }));
    let tasks = match step.tasks {
        Tasks::Many => "many".to_owned(),
        Tasks::One => "one".to_owned(),
        Tasks::Option(option) => format!("--{option}"),
        Tasks::Slices(plan) => format!("one for each slice of {plan}"),
        Tasks::EachFile(_, data) => format!("a job for each part of {data}"),
    };
    json!({
        "name": step.name, "why": step.why, "map": step.map, "reduce": step.reduce,
        "reads": step.inputs, "beside": side, "sets": options, "writes": step.output, "tasks": tasks,
    })
}

/// The family that alone has an option that was given, or else the first one; and why, for a note. A variable of the environment, which whoever calls a command
/// may have forgotten, chooses none.
pub fn suitable(given: &Given) -> (&'static Family, String) {
    let [first, others @ ..] = FAMILIES;
    let is_asked = |name: &str| given.origin(name) != Origin::Environment;
    // Most options are those of the first one as well, and then no other family is looked at.
    let not_of_first =
        || given.params.iter().filter(|(name, _)| is_asked(name) && !options_of(first).contains(*name));
    for family in others {
        if let Some((name, _)) = not_of_first().find(|(name, _)| own_options(family).contains(*name)) {
            return (family, format!(", for it alone has --{name}"));
        }
    }
    (first, String::new())
}

/// The options that the chains of one family have, and those of another one have not.
pub fn options_beyond(family: &Family, other: &Family) -> BTreeSet<String> {
    options_of(family).difference(options_of(other)).cloned().collect()
}

/// The options that the chains of a family have, and those of no other family.
pub fn own_options(family: &Family) -> BTreeSet<String> {
    let others = || FAMILIES.into_iter().filter(|other| other.name != family.name);
    let own =
        options_of(family).iter().filter(|name| !others().any(|other| options_of(other).contains(*name)));
    own.cloned().collect()
}

/// The options of all stages of a family's chains. To compose every chain takes milliseconds, so each family's is done once.
fn options_of(family: &Family) -> &'static BTreeSet<String> {
    static OPTIONS: [OnceLock<BTreeSet<String>>; FAMILIES.len()] =
        [const { OnceLock::new() }; FAMILIES.len()];
    static NONE: BTreeSet<String> = BTreeSet::new();
    let at = FAMILIES.iter().position(|known| known.name == family.name);
    at.map_or(&NONE, |at| {
        OPTIONS[at].get_or_init(|| {
            let ignored = |name: &String| family.ignored.contains(&name.as_str());
            known_options(&family.steps()).into_iter().filter(|name| !ignored(name)).collect()
        })
    })
}

/// The options of the steps: those of their stages, and those that say how many tasks they have.
fn known_options(steps: &[Step]) -> BTreeSet<String> {
    let names: BTreeSet<&str> = steps.iter().flat_map(Step::names).collect();
    let of_stages = names.into_iter().filter_map(stages::find).flat_map(Entry::options);
    let of_tasks = steps.iter().filter_map(|step| match step.tasks {
        Tasks::Option(option) => Some(option.to_owned()),
        _ => None,
    });
    of_stages.chain(of_tasks).collect()
}

/// Every option of every stage with its value, and where that comes from.
fn resolved(given: &Given) -> BTreeMap<String, (String, Origin)> {
    let mut all = BTreeMap::new();
    for field in stages::all_options() {
        if let Some(value) = given.params.get(&field.name).map(str::to_owned).or(field.default) {
            let origin = given.origin(&field.name);
            all.insert(field.name, (value, origin));
        }
    }
    all
}
