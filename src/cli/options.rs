//! The driver's options: those of all stages, declared there, and a few of its own.

use crate::engine::params::Params;
use crate::error::{Error, Result};
use crate::stages::STAGES;
use crate::text::FeatureKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, ValueEnum};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Ways to run a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// One process.
    Local,
    /// The stage binaries joined by files and sort.
    Pipes,
    /// The stage binaries as jobs of Hadoop Streaming, on data in HDFS or wherever Hadoop reads.
    Hadoop,
    /// The stage binaries under Spark, on data wherever Hadoop reads.
    Spark,
}

impl Engine {
    /// Whether input and output are addresses in a cluster's file system.
    pub fn is_remote(self) -> bool {
        matches!(self, Engine::Hadoop | Engine::Spark)
    }
}

/// A paper's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Paper {
    /// Zhang et al.: SpotSigs, tau 0.4
    #[value(name = "000")]
    P000,
}

/// Megabytes that a run may hold by default.
pub const MEMORY: usize = 2048;

/// Options of a run that are no stage's.
#[derive(Args, Clone, Debug)]
pub struct RunOpts {
    /// Documents: JSON lines, plain or gzip; files, folders with all below them, quoted patterns such as
    /// 'crawl/**/*.gz', or - for standard input
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub input: Vec<PathBuf>,
    /// Folder for pairs.tsv, clusters.tsv and run.json
    #[arg(long, value_name = "FOLDER")]
    pub output: PathBuf,
    /// One process, the stage binaries as processes, or as jobs on a cluster
    #[arg(long, env = "TWINSPLIT_ENGINE", value_enum, default_value = "local")]
    pub engine: Engine,
    /// Threads, or processes at once; as many as there are cores by default
    #[arg(long, env = "TWINSPLIT_THREADS", value_name = "N")]
    pub threads: Option<usize>,
    /// Megabytes that the whole run may hold in memory; what does not fit goes to disk
    #[arg(long, env = "TWINSPLIT_MEMORY", default_value_t = MEMORY, value_name = "MB")]
    pub memory: usize,
    /// With a cluster: how many reduce tasks a step has
    #[arg(long, env = "TWINSPLIT_REDUCERS", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub reducers: Option<u32>,
    /// With a cluster: a setting for all its jobs, as NAME=VALUE; may be repeated
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", value_parser = setting)]
    pub settings: Vec<String>,
    /// Write the lines of kept documents to kept.jsonl
    #[arg(long)]
    pub write_kept: bool,
    /// Replace the answer that a run left in the output folder, when the new one is complete
    #[arg(long)]
    pub overwrite: bool,
    /// Go on after the last finished step of a run that was stopped; the options and the input must be the same
    #[arg(long, conflicts_with = "overwrite")]
    pub resume: bool,
    /// Keep the data sets between steps in the output folder's _work
    #[arg(long)]
    pub keep_work: bool,
    /// Say nothing but warnings and errors
    #[arg(long)]
    pub quiet: bool,
    /// Print run.json on standard output when the run is over, and no table
    #[arg(long)]
    pub json: bool,
}

impl RunOpts {
    /// The bound on memory.
    pub fn memory_bytes(&self) -> usize {
        self.memory.saturating_mul(1 << 20)
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        threads(self.threads)
    }
}

/// A setting of a cluster's jobs: scripts hand them on as quoted words of one line.
fn setting(text: &str) -> std::result::Result<String, String> {
    let named = text.split_once('=').is_some_and(|(name, _)| !name.is_empty());
    match named && !text.contains('\n') {
        true => Ok(text.to_owned()),
        false => Err("expected NAME=VALUE on one line".to_owned()),
    }
}

/// The number of threads: what was asked for, or as many as there are cores.
pub fn threads(wanted: Option<usize>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    wanted.unwrap_or_else(cores).clamp(1, 1024)
}

/// All options of all stages but side files that the chain itself makes, each once.
pub fn stage_options() -> Vec<Arg> {
    let mut seen = BTreeSet::new();
    let mut options = Vec::new();
    for entry in STAGES.iter() {
        for arg in entry.command().get_arguments() {
            let Some(long) = arg.get_long() else { continue };
            // A side file with a default name comes from an earlier step; one without is the user's.
            let made = entry.has_side(long) && !arg.get_default_values().is_empty();
            if !made && seen.insert(long.to_owned()) {
                options.push(arg.clone().help_heading("Options of the stages"));
            }
        }
    }
    options
}

/// Adds the options of all stages, and `--paper`.
pub fn with_stage_options(command: Command) -> Command {
    command.args(stage_options()).arg(
        Arg::new("paper").long("paper").value_name("PAPER").value_parser(clap::value_parser!(Paper)).help(
            "Take the settings of a paper for options that are not given: 000 is SpotSigs with tau 0.4",
        ),
    )
}

/// The stages' options that were given, by the command line, the environment or a paper.
pub fn params(matches: &ArgMatches) -> Result<Params> {
    let mut params = given(matches, &stage_options())?;
    if let Some(Paper::P000) = matches.get_one::<Paper>("paper") {
        for (name, value) in [("features", "spotsigs"), ("tau", "0.4")] {
            if params.get(name).is_none() {
                params.set(name, value);
            }
        }
    }
    settle_min_features(&mut params)?;
    Ok(params)
}

/// With `--write-kept` documents go for good, so each must reach tau with the one that stays: clusters are stars, unless
/// their kind was given. Says whether that was decided here.
pub fn settle_cluster(params: &mut Params, write_kept: bool) -> bool {
    let settled = write_kept && params.get("cluster").is_none();
    if settled {
        params.set("cluster", "star");
    }
    settled
}

/// What a note says of that.
pub const STAR_NOTE: &str = "with --write-kept clusters are stars, so that each dropped document reaches tau with the one \
                             that is kept; --cluster components joins chains";

/// Those of `options` that were given, by the command line or the environment.
pub fn given(matches: &ArgMatches, options: &[Arg]) -> Result<Params> {
    let mut params = Params::default();
    for arg in options {
        let id = arg.get_id().as_str();
        let given =
            matches!(matches.value_source(id), Some(ValueSource::CommandLine | ValueSource::EnvVariable));
        let value = matches.get_raw(id).and_then(|mut values| values.next());
        if let (true, Some(value), Some(long)) = (given, value, arg.get_long()) {
            let text = value.to_str().ok_or_else(|| Error::Usage(format!("--{long} is not UTF-8")))?;
            params.set(long, text);
        }
    }
    if params.get("idf-table") == Some("-") {
        return Err(Error::Usage(
            "--idf-table is read by more than one step, so it cannot be standard input; write it to a file first"
                .to_owned(),
        ));
    }
    Ok(params)
}

/// Takes the least number of features from what the features ask for, unless it was given.
pub fn settle_min_features(params: &mut Params) -> Result<()> {
    if params.get("min-features").is_none() {
        let read = |path: &str| std::fs::read_to_string(path).map_err(|error| error.to_string());
        let kind = FeatureKind::parse(params.get("features").unwrap_or("words:5"), &read)
            .map_err(|error| Error::Usage(error.to_string()))?;
        if kind.min_features_default() != 1 {
            params.set("min-features", kind.min_features_default().to_string());
        }
    }
    Ok(())
}

/// Options that bound a run or a task and decide nothing about the answer: a run may go on with others.
pub const BOUNDS: [&str; 5] = ["max-pairs", "combine", "combine-pairs", "forest", "ranked"];

/// Every option of every stage with its value in this run, defaults included, for `run.json`.
pub fn resolved(params: &Params) -> Params {
    let mut all = Params::default();
    for arg in stage_options() {
        let Some(long) = arg.get_long() else { continue };
        let default = arg.get_default_values().first().map(|value| value.to_string_lossy().into_owned());
        if let Some(value) = params.get(long).map(str::to_owned).or(default) {
            all.set(long, value);
        }
    }
    all
}
