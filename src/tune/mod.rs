//! `twinsplit tune`: what each threshold would merge, on a sample, for a person to look at.
//!
//! A threshold cannot be derived: it says what the user calls alike. So a sample is taken ([`Sample`]), joined once
//! for each kind of features a little below the smallest threshold (`measure`), and for each threshold the pairs and
//! clusters are counted and the pairs at its edge are shown, with the place where their texts part (`excerpt`). Distances of
//! fingerprints are looked at in the same way (`distance`). What was found is shown as
//! a table for people (`show`) or as JSON for programs (`json`).

mod distance;
mod excerpt;
mod json;
mod measure;
mod show;
mod threshold;

use super::inputs::InputOpts;
use super::options::{self, Overwrite, RunOpts, output_file};
use super::run;
use super::sample::Sample;
use crate::args;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use measure::Measured;
use std::path::{Path, PathBuf};
use std::time::Instant;
use threshold::{Kind as Compared, Threshold};
use twinsplit_core::similarity::overlap::Overlap;
use twinsplit_core::similarity::{Measure, Similarity};
use twinsplit_core::text::FeatureKind;
use twinsplit_engine::columnar::ColumnarOpts;
use twinsplit_engine::script::{quote, quote_name};
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal;
use twinsplit_io::{Stdout, Target};
use twinsplit_rows::chains::Family;
use twinsplit_rows::params::Params;
use twinsplit_rows::plan::{Given, Origin, refuse_unused};
use twinsplit_rows::stages::simhash::FingerprintOpts;

/// What `run` has too, from its declaration.
const OF_RUN: [&str; 9] = [
    "input",
    InputOpts::NAMES[0],
    InputOpts::NAMES[1],
    InputOpts::NAMES[2],
    InputOpts::NAMES[3],
    InputOpts::NAMES[4],
    InputOpts::NAMES[5],
    "threads",
    "quiet",
];
/// What stages have too, from their declarations.
const OF_STAGES: [&str; 22] = [
    "bad-records",
    "max-line",
    "id",
    "text",
    "date",
    "score",
    "normalise",
    "case-fold",
    "marks",
    "counts",
    "min-features",
    "equal-texts",
    "idf",
    "idf-table",
    "cluster",
    "keep",
    "similarity",
    SKETCH[0],
    SKETCH[1],
    SKETCH[2],
    SKETCH[3],
    SKETCH[4],
];
/// Of these, how fingerprints are made.
const SKETCH: [&str; 5] = ["weights", "weights-idf", "bits", "tie", "hash"];

/// The chains whose runs give what is shown of sets, and of fingerprints.
const OF_SETS: &str = "doc-split";
/// See [`OF_SETS`].
const OF_FINGERPRINTS: &str = "simhash";

/// Thresholds to look at, where none is given: shares, and numbers of shared features.
const SHARES: &str = "0.3,0.4,0.5,0.6,0.65,0.7,0.8,0.9";
const COUNTS: &str = "5,10,20,50,100";

/// Options that only this command has.
#[derive(Args, Clone, Debug)]
struct TuneOpts {
    /// Thresholds to compare, decimals in (0, 1]; with --similarity overlap whole numbers, by default
    /// 5,10,20,50,100
    #[arg(long, value_name = "TAU,…", default_value = SHARES)]
    taus: String,
    /// Distances to compare, 0 to 32: fingerprints as the chain simhash makes them, and not sets by --taus
    #[arg(long, value_name = "K,…", value_delimiter = ',', conflicts_with_all = ["taus", "similarity"],
        value_parser = clap::value_parser!(u32).range(0..=32))]
    distances: Vec<u32>,
    /// Kinds of features to compare, each in the form of --features
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "KIND,…",
        default_value = "words:3,words:5,chars:5,sentence-ends:10,spotsigs,spotsigs:zh"
    )]
    kinds: Vec<String>,
    /// Number of documents in the sample
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
    /// Seed of the sample; another seed gives another sample
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
    /// Pairs that are shown on each side of each threshold
    #[arg(long, default_value_t = 2, value_name = "K")]
    examples: usize,
    /// Write the lines of the sampled documents to this file, in byte order of their ids
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    write_sample: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// The command line.
pub fn command() -> Command {
    let run = RunOpts::augment_args(Command::new("run"));
    let of_run = run.get_arguments().filter(|arg| OF_RUN.contains(&arg.get_long().unwrap_or_default()));
    let command = Command::new("tune").args(of_run.cloned().collect::<Vec<_>>());
    TuneOpts::augment_args(command)
        .args(shared())
        .about("Shows what each of several thresholds would merge")
        .long_about(None)
}

fn shared() -> Vec<Arg> {
    let known = |arg: &Arg| OF_STAGES.contains(&arg.get_long().unwrap_or_default());
    options::stage_options().into_iter().filter(known).collect()
}

/// A kind of features with all options that go with it.
struct Kind {
    name: String,
    opts: ColumnarOpts,
    /// How they become fingerprints.
    fingerprints: FingerprintOpts,
}

/// All that was found.
struct Report<'a> {
    sample: &'a Sample,
    seed: u64,
    inputs: &'a [PathBuf],
    /// How they are read.
    read_by: &'a InputOpts,
    params: &'a Params,
    compared: Compared,
    kinds: &'a [Measured],
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let opts: TuneOpts = args::read(matches)?;
    let mut shared = options::given(matches, &shared())?;
    let given: Vec<PathBuf> = matches.get_many::<PathBuf>("input").into_iter().flatten().cloned().collect();
    let read_by: InputOpts = args::read(matches)?;
    let inputs = read_by.of(&given)?;
    if read_by.unit.is_some() {
        run::settle_units(&mut shared);
    }
    let mut settled = shared.clone();
    inputs.settle(&mut settled.params);
    let chosen = matches.value_source("taus") != Some(ValueSource::DefaultValue);
    let similarities = similarities(&shared.params, chosen.then_some(&opts.taus))?;
    let kinds = kinds(&opts.kinds, &settled, &similarities)?;
    let mut distances = opts.distances.clone();
    distances.sort_unstable();
    distances.dedup();
    let own = SKETCH.into_iter().find(|name| distances.is_empty() && shared.params.get(name).is_some());
    if let Some(name) = own {
        return Err(Error::Usage(format!("--{name} is for the fingerprints that --distances compares")));
    }
    let chain = if distances.is_empty() { OF_SETS } else { OF_FINGERPRINTS };
    if let Some(family) = Family::named(chain) {
        refuse_unused(family, &shared.params, &shared, false)?;
    }
    let measure = similarities.first().map_or_else(Measure::default, |first| first.measure());
    let compared = if distances.is_empty() { Compared::Sets(measure) } else { Compared::Fingerprints };
    let Some(first) = kinds.first() else { return Err(Error::Usage("--kinds names no kind".to_owned())) };
    let threads = options::threads(matches.get_one::<usize>("threads").copied());
    let write_sample =
        opts.write_sample.as_ref().map(|path| sample_target(path, &opts, &shared.params, &inputs.files));
    let write_sample = write_sample.transpose()?;
    // A sample that is written has documents as they are.
    let inputs = if write_sample.is_some() { inputs } else { inputs.of_needed_fields() };
    let inputs = inputs.read(&shared.params, None, matches.get_flag("quiet"))?;
    let mut start = Instant::now();
    let mut on_progress = |what: &str| {
        if !matches.get_flag("quiet") {
            terminal::line(format_args!("{what:<16} {:>8.2} s", start.elapsed().as_secs_f64()));
        }
        start = Instant::now();
    };

    let mut sample =
        Sample::take("tune", &inputs, &first.opts.document, opts.sample as usize, opts.seed, threads)?;
    if shared.params.is("keep", "first") {
        sample.in_order_of_input();
    }
    if sample.lines.is_empty() {
        return Err(Error::Usage(
            "the input holds no document, so there is nothing to choose a threshold by".to_owned(),
        ));
    }
    if let Some(target) = &write_sample {
        sample.write(target)?;
    }
    on_progress("sample");
    let mut measured = Vec::new();
    for kind in &kinds {
        measured.push(match compared {
            Compared::Sets(_) => measure::measure(&sample, kind, &similarities, opts.examples, threads)?,
            Compared::Fingerprints => {
                distance::measure(&sample, kind, &kind.fingerprints, &distances, opts.examples, threads)?
            }
        });
        on_progress(&kind.name);
    }
    let report = Report {
        sample: &sample,
        seed: opts.seed,
        inputs: &given,
        read_by: &read_by,
        params: &shared.params,
        compared,
        kinds: &measured,
    };
    let text = if opts.json { format!("{:#}", json::object(&report)) } else { show::text(&report) };
    let mut out = Stdout::new();
    out.line(text.trim_end().as_bytes())?;
    out.flush()
}

/// Where the sample is written: to no file that is read.
fn sample_target(path: &Path, opts: &TuneOpts, params: &Params, inputs: &[PathBuf]) -> Result<Target> {
    let files = params.named_files().into_iter().map(|(_, file)| file);
    let files = files.chain(opts.kinds.iter().filter_map(|kind| FeatureKind::file_of(kind))).map(Path::new);
    Target::of(path, opts.overwrite.overwrite, inputs.iter().map(PathBuf::as_path).chain(files))
}

/// The similarity that is asked for at each threshold, ascending, each once.
fn similarities(params: &Params, taus: Option<&String>) -> Result<Vec<Similarity>> {
    let named = params.get("similarity").unwrap_or(Measure::Jaccard.name()).parse::<Measure>();
    let measure = named.map_err(|error| Error::Usage(format!("--similarity: {error}")))?;
    let usual = if measure == Measure::Overlap { COUNTS } else { SHARES };
    let taus = taus.map_or(usual, String::as_str);
    let at = |tau| {
        measure
            .reaching(tau)
            .map_err(|error| Error::Usage(format!("invalid value '{tau}' for '--taus': {error}")))
    };
    let mut all = taus.split(',').map(at).collect::<Result<Vec<Similarity>>>()?;
    all.sort_unstable_by_key(|similarity| match similarity {
        Similarity::Overlap(Overlap(least)) => *least,
        shares => shares.tau().map_or(0, |tau| tau.billionths().into()),
    });
    all.dedup();
    Ok(all)
}

/// The kinds asked for, by their canonical names, each once.
fn kinds(wanted: &[String], given: &Given, similarities: &[Similarity]) -> Result<Vec<Kind>> {
    let read = |path: &str| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let mut kinds: Vec<Kind> = Vec::new();
    for text in wanted {
        let kind = FeatureKind::parse(text, &read)
            .map_err(|error| Error::Usage(format!("--kinds {text}: {error}")))?;
        let name = kind.to_string();
        if kinds.iter().any(|known| known.name == name) {
            continue;
        }
        let mut given = given.clone();
        given.set("features", name.as_str(), Origin::CommandLine);
        let least = similarities.first().map_or_else(String::new, |least| least.threshold());
        given.set("tau", least, Origin::CommandLine);
        given.settle_features(&options::read_file)?;
        kinds.push(Kind { name, opts: given.params.parse()?, fingerprints: given.params.parse()? });
    }
    Ok(kinds)
}

impl Report<'_> {
    /// The command that runs the whole input as one row says.
    fn command(&self, kind: &str, at: Threshold) -> String {
        let chain = if self.compared == Compared::Fingerprints { OF_FINGERPRINTS } else { OF_SETS };
        let mut words = vec![format!("twinsplit run {chain} --input")];
        words.extend(self.inputs.iter().map(|path| quote_name(path.as_os_str())));
        words.extend(self.read_by.words().iter().map(|(name, value)| format!("--{name} {}", quote(value))));
        let (option, at) = (at.option(), at.shown());
        words.push(format!("--output out --features {} --{option} {at}", quote(kind)));
        words.extend(self.params.iter().map(|(name, value)| format!("--{name} {}", quote(value))));
        words.join(" ")
    }
}
