//! The driver's options: those of all stages, declared there, and a few of its own.

mod unset;

use super::args;
use super::inputs::InputOpts;
use super::recall::{self, SampleThere};
use super::run::{AndField, TableForm};
use super::store::StoreOpts;
use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use std::path::{Path, PathBuf};
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{Megabytes, terminal};
use twinsplit_rows::chains::FAMILIES;
use twinsplit_rows::config::Config;
use twinsplit_rows::plan::{Asked, Engine, Given, KeptForm, Origin, Plan};
use twinsplit_rows::stages;
use unset::{Caller, must_be_given};

/// What stands for `--input` of every command that reads documents.
pub const INPUT: char = 'i';
/// What stands for `--output`.
pub const OUTPUT: char = 'o';
/// What stands for `--quiet`.
pub const QUIET: char = 'q';

/// The value of an option that says how many threads there are.
pub fn thread_count(text: &str) -> std::result::Result<usize, &'static str> {
    let count = text.parse().ok().filter(|&count| count > 0);
    count.ok_or("expected a whole number, at least 1; without the option it is the number of cores")
}

/// What every command has that writes where the user says.
#[derive(Args, Clone, Copy, Debug)]
pub struct Overwrite {
    /// Replace what is there already, once the new one is complete; never what the command reads
    #[arg(long)]
    pub overwrite: bool,
}

/// A command with [`Overwrite`]. What is said of that would take the place of what the command says of itself.
pub fn with_overwrite(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    Overwrite::augment_args(command).about(about).long_about(None)
}

/// The value of an option that names a file to write, or - for standard output: what cannot be written under that name is
/// refused before the work.
pub fn output_file() -> impl TypedValueParser<Value = PathBuf> {
    output_file_in_new_folder().try_map(|path| match path.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => {
            Err(format!("there is no folder {}", visible::path(folder)))
        }
        _ => Ok(path),
    })
}

/// The same where the folder of the file is made if it is not there.
pub fn output_file_in_new_folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.is_dir() {
        true => Err("it is a folder; expected the name of a file"),
        false => Ok(path),
    })
}

twinsplit_core::choice! {
    /// The settings of a published experiment, by its key in docs/bibliography.md.
    pub enum Preset {
        /// Zhang et al. 2011: SpotSigs, tau 0.4
        Zhang2011 = "zhang2011",
        /// An article on web corpora: MinHash of runs of 3 characters, 128 values in 16 bands of 8, estimate above 0.8
        Webcorpora = "webcorpora",
        /// SimHash of Yan Lan: jieba's keywords by tf-idf, 64 bits, distance 3
        Yanlan = "yanlan",
        /// SimHash of the article on web corpora: 3 characters, weight 1, MD5, 128 bits
        WebcorporaSimhash = "webcorpora-simhash",
        /// SimHash of Zhuang: words by their frequency, 64 bits, distance 3
        Zhuang = "zhuang",
    }
}

impl Preset {
    /// Options and their values.
    fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Preset::Zhang2011 => &[("features", "spotsigs"), ("tau", "0.4")],
            // Of 128 values 103 are the least above 0.8, as they are the least that reach it.
            Preset::Webcorpora => &[
                ("features", "chars:3"),
                ("tau", "0.8"),
                ("hashes", "128"),
                ("bands", "16"),
                ("rows", "8"),
                ("check", "signature"),
            ],
            Preset::Yanlan => &[
                ("features", "jieba"),
                ("normalise", "none"),
                ("case-fold", "off"),
                ("marks", "keep"),
                ("weights", "tf-idf"),
                ("weights-idf", "jieba"),
                ("bits", "64"),
                ("distance", "3"),
            ],
            Preset::WebcorporaSimhash => {
                &[("features", "chars:3"), ("weights", "1"), ("hash", "md5"), ("bits", "128"), ("tie", "one")]
            }
            Preset::Zhuang => {
                &[("features", "words:1"), ("weights", "tf"), ("bits", "64"), ("distance", "3")]
            }
        }
    }
}

/// What a run may hold by default.
pub const MEMORY: Megabytes = Megabytes::new(2048);

/// Options of a run that are no stage's.
#[derive(Args, Clone, Debug)]
pub struct RunOpts {
    /// Documents, plain or compressed by gzip, zstd, bzip2 or xz: files, folders with all below them, quoted patterns such as
    /// 'crawl/**/*.gz', or - for standard input
    #[arg(short = INPUT, long, required = true, num_args = 1.., value_name = "FILE")]
    pub input: Vec<PathBuf>,
    /// Which of the files are read, and how.
    #[command(flatten)]
    pub inputs: InputOpts,
    /// Folder for pairs.tsv, clusters.tsv and run.json
    #[arg(short = OUTPUT, long, value_name = "FOLDER")]
    pub output: PathBuf,
    /// What runs the chain; the pairs and clusters are the same
    #[arg(long, env = "TWINSPLIT_ENGINE", value_parser = args::choice::<Engine>(), default_value = "local")]
    pub engine: Engine,
    /// Threads, or processes that run at the same time; by default the number of cores
    #[arg(long, env = "TWINSPLIT_THREADS", value_name = "N", value_parser = thread_count)]
    pub threads: Option<usize>,
    /// Memory that the whole run may hold, in megabytes or such as 4G; what does not fit goes to disk
    #[arg(long, env = "TWINSPLIT_MEMORY", default_value_t = MEMORY, value_name = "MB")]
    pub memory: Megabytes,
    /// On a cluster: the number of reduce tasks of a step
    #[arg(long, env = "TWINSPLIT_REDUCERS", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub reducers: Option<u32>,
    /// On a cluster: a setting of all jobs; may be repeated
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", value_parser = setting)]
    pub settings: Vec<String>,
    /// The store that the documents are compared with.
    #[command(flatten)]
    pub store: StoreOpts,
    /// Write the kept documents: their lines to kept.jsonl, or with =same, of each file those that are kept to a file of its name in the folder kept
    #[arg(long, value_parser = args::choice::<KeptForm>(), value_name = "FORM", num_args = 0..=1, require_equals = true,
        default_missing_value = "jsonl")]
    pub write_kept: Option<KeptForm>,
    /// With --unit: of a unit that stands in at least N documents leave none, not even the first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub cut_all: Option<u32>,
    /// Keep only the pairs whose documents reach TAU in another field, too, such as title:0.8; its features are those of the text, or given behind it as in
    /// title:0.8:words:1. Clusters are stars
    #[arg(long, value_name = "FIELD:TAU")]
    pub and: Option<AndField>,
    /// Write pairs and clusters, and what --unit cuts, as tables of named columns, too: pairs.jsonl and clusters.jsonl, or pairs.parquet and clusters.parquet
    #[arg(long, value_parser = args::choice::<TableForm>(), value_name = "FORM", value_delimiter = ',')]
    pub tables: Vec<TableForm>,
    /// Replace the output of an earlier run in this folder, when the new one is complete
    #[arg(long)]
    pub overwrite: bool,
    /// Continue a run that was stopped after its last finished step; options and input must be the same
    #[arg(long, conflicts_with = "overwrite")]
    pub resume: bool,
    /// Keep the data sets between steps in the output folder's _work
    #[arg(long)]
    pub keep_work: bool,
    /// Print what would be done and what would be refused, and do nothing
    #[arg(long, conflicts_with_all = ["resume", "json"])]
    pub dry_run: bool,
    /// Print only warnings and errors
    #[arg(short = QUIET, long)]
    pub quiet: bool,
    /// Print a table of the steps at the end, too: rows, bytes between them, seconds, memory
    #[arg(short = 'v', long, conflicts_with_all = ["quiet", "json"])]
    pub verbose: bool,
    /// Print run.json on standard output at the end instead of what was found
    #[arg(long)]
    pub json: bool,
}

impl RunOpts {
    /// The bound on memory.
    pub fn memory_bytes(&self) -> usize {
        self.memory.bytes()
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

/// The argument that names the chain.
pub fn chain() -> Arg {
    let names = FAMILIES.map(|family| PossibleValue::new(family.name).help(family.about));
    Arg::new("chain").value_name("CHAIN").value_parser(PossibleValuesParser::new(names)).help(
        "How pairs are found: doc-split and term-split find the same ones, all of them; minhash and simhash may miss \
         some; i-match has a likeness of its own. By default doc-split, or the chain that alone has an option that is given",
    )
}

/// The options of stages that a user chooses first, by heading; all others come after these.
const GROUPS: [(&str, &[&str]); 3] = [
    (
        "What is compared",
        &[
            "features",
            "similarity",
            "tau",
            "min-features",
            "idf",
            "idf-table",
            "site",
            "normalise",
            "case-fold",
            "marks",
            "counts",
            "equal-texts",
        ],
    ),
    ("Fields and lines of the input", &["id", "text", "date", "score", "bad-records", "max-line"]),
    ("Clusters and output", &["cluster", "keep", "reduce-to", "write", "max-pairs"]),
];

/// The options of all stages, as a command shows them.
pub fn stage_options() -> Vec<Arg> {
    let place = |arg: &Arg| {
        let name = arg.get_long().unwrap_or_default();
        let own = |(_, names): &(&str, &[&str])| names.iter().position(|known| *known == name);
        let groups = (0..).zip(&GROUPS);
        groups.filter_map(|(at, group)| Some((at, own(group)?))).next().unwrap_or((GROUPS.len(), 0))
    };
    let mut options: Vec<Arg> = args::args_of(stages::all_options()).collect();
    options.sort_by_key(place);
    let heading = |arg: &Arg| {
        GROUPS.get(place(arg).0).map_or("How pairs are found, and limits of tasks", |group| group.0)
    };
    let placed = |(number, arg): (usize, Arg)| {
        let heading = heading(&arg);
        arg.help_heading(heading).display_order(number)
    };
    options.into_iter().enumerate().map(placed).collect()
}

/// Adds the options of all stages, `--config` and `--preset`.
pub fn with_stage_options(command: Command) -> Command {
    let preset = Arg::new("preset").long("preset").value_name("NAME").help(
        "For options that are not given, take the settings of a published experiment: zhang2011 is SpotSigs with tau 0.4; \
         webcorpora is MinHash of 3 characters, 128 values in 16 bands of 8, by estimates above 0.8",
    );
    let config = Arg::new("config").long("config").value_name("FILE").value_parser(PathBufValueParser::new()).help(
        "For options that are not given, take those of this file: TOML such as `tau = 0.7`, or what plan --json and run.json have",
    );
    command.args(stage_options()).arg(config).arg(preset.value_parser(args::choice::<Preset>()))
}

/// The option by which bands are chosen.
pub fn recall() -> Arg {
    Arg::new("recall").long("recall").value_name("SHARE").value_parser(recall::parse).help(
        "Choose --bands, --rows and --hashes of minhash so that this share of the pairs at or above tau is found, by the \
         similarities in a sample of the input",
    )
}

/// What a command line asks for. `there` samples documents that lie in a cluster's file system.
pub fn asked(
    matches: &ArgMatches,
    engine: Engine,
    inputs: &[PathBuf],
    write_kept: Option<KeptForm>,
    there: Option<&SampleThere<'_>>,
) -> Result<Asked> {
    let (given, of_file) = with_config_and_preset(matches, Caller::Runs)?;
    let chain = matches.get_one::<String>("chain").cloned().or(of_file);
    let mut asked =
        Asked { chain, engine, given, inputs: inputs.to_vec(), write_kept, recall: None, notes: Vec::new() };
    if let Some(recall) = matches.get_one::<f64>("recall") {
        recall::choose(*recall, &mut asked, there)?;
    }
    Ok(asked)
}

/// The plan of what a command line asks for; what it decides by itself is said unless `quiet`.
pub fn plan(asked: Asked, quiet: bool) -> Result<Plan> {
    let plan = Plan::of(asked, &read_file)?;
    if !quiet {
        plan.notes.iter().for_each(terminal::note);
    }
    Ok(plan)
}

/// The stages' options that were given, by the command line, the environment, a file or a preset, and what follows from them; and the
/// chain that the file names.
pub fn settled(matches: &ArgMatches) -> Result<(Given, Option<String>)> {
    let (mut given, chain) = with_config_and_preset(matches, Caller::ReadsDocuments)?;
    given.settle_features(&read_file)?;
    Ok((given, chain))
}

/// The text of a file that describes features.
pub fn read_file(path: &str) -> std::result::Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

/// The stages' options that were given, by the command line, the environment, a file or a preset; and the chain that the file names. The
/// file may be a stream, so it is read once.
fn with_config_and_preset(matches: &ArgMatches, caller: Caller) -> Result<(Given, Option<String>)> {
    let mut given = given(matches, &stage_options())?;
    let config = matches.get_one::<PathBuf>("config").map(|path| Config::read(path)).transpose()?;
    let Config { chain, options, beside } = config.unwrap_or_default();
    must_be_given(matches, &beside, caller)?;
    for (name, value) in options {
        given.set_missing(&name, value, Origin::Config);
    }
    refuse_table_from_stream(&given)?;
    let preset = matches.get_one::<Preset>("preset").map_or(&[][..], |preset| preset.settings());
    for (name, value) in preset {
        given.set_missing(name, *value, Origin::Preset);
    }
    Ok((given, chain))
}

/// Those of `options` that were given, by the command line or the environment.
pub fn given(matches: &ArgMatches, options: &[Arg]) -> Result<Given> {
    let mut given = Given::default();
    for arg in options {
        let id = arg.get_id().as_str();
        let origin = match matches.value_source(id) {
            Some(ValueSource::CommandLine) => Origin::CommandLine,
            Some(ValueSource::EnvVariable) => Origin::Environment,
            _ => continue,
        };
        let value = matches.get_raw(id).and_then(|mut values| values.next());
        if let (Some(value), Some(long)) = (value, arg.get_long()) {
            let text = value.to_str().ok_or_else(|| Error::Usage(format!("--{long} is not UTF-8")))?;
            given.set(long, text, origin);
        }
    }
    refuse_table_from_stream(&given)?;
    Ok(given)
}

fn refuse_table_from_stream(given: &Given) -> Result<()> {
    match given.params.is("idf-table", "-") {
        true => Err(Error::Usage(
            "--idf-table is read by more than one step, so it cannot be standard input; write it to a file first"
                .to_owned(),
        )),
        false => Ok(()),
    }
}
