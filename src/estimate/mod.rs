//! `twinsplit plan --estimate`: what a run over a whole collection will read, shuffle and write, before it is begun.
//!
//! The chain is run on a sample and on its quarters (`measure`). Each stage declares what its rows grow with, from which follows
//! what the collection has, and within which bounds (`growth`), and from the volumes the tasks, the cores' time and the memory (`volume`).

mod growth;
mod measure;
mod show;
mod volume;

use super::idf;
use super::inputs::InputOpts;
use super::options::{self, INPUT};
use super::recall::{self, Forecast};
use super::sample::Sample;
use clap::Args;
use growth::{Range, Scale};
use measure::Measured;
use std::path::PathBuf;
use twinsplit_core::idf::IdfRange;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{Megabytes, Stdout, WorkFolder};
use twinsplit_rows::plan::{Engine, Plan};
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_rows::stages::options::SimilarityOpts;
use twinsplit_rows::stages::reduce::REDUCE_TO;
use twinsplit_rows::stages::slice_plan::SlicesOpts;
use volume::{StepVolume, Target};

/// Options of an estimate.
#[derive(Args, Clone, Debug)]
pub struct EstimateOpts {
    /// Instead of the script, print an estimate from a sample: what each step will read, shuffle and write,
    /// tasks, core-hours, memory
    #[arg(long, requires = "input")]
    pub estimate: bool,
    /// For --estimate: the documents, or a part of them together with --documents; for --recall: those that bands are chosen by
    #[arg(short = INPUT, long, num_args = 1.., value_name = "FILE")]
    pub input: Vec<PathBuf>,
    /// Which of the files are read, and how.
    #[command(flatten)]
    pub inputs: InputOpts,
    /// For --estimate: number of documents in the collection; by default those of the input
    #[arg(long, value_name = "N", requires = "estimate")]
    pub documents: Option<u64>,
    /// For --estimate: number of documents in the sample
    #[arg(long, default_value_t = 20_000, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub sample: u32,
    /// For --estimate: number of reduce tasks of a step
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub reducers: u64,
    /// For --estimate: megabytes of a file that a map task reads, the block size of the file system
    #[arg(long, default_value_t = Megabytes::new(128), value_name = "MB")]
    pub block: Megabytes,
    /// Print JSON: the plan, which is the chain, every option and where its value comes from, and the steps;
    /// with --estimate the estimate
    #[arg(long)]
    pub json: bool,
}

/// The chain that finds all pairs.
const EXACT: &str = "doc-split";

/// What was found.
struct Estimate {
    /// Documents of the collection.
    documents: u64,
    /// Documents of the sample.
    sampled: u64,
    /// Bytes of the collection's documents.
    bytes: Range,
    /// Whether the sample is one of all documents, and not of some of their files.
    uniform: bool,
    /// The answer's pairs, and how many of them the sample has; none where the chain writes none.
    pairs: Option<(Range, u64)>,
    steps: Vec<StepVolume>,
    /// What bands are expected to do, and what the exact join takes instead; of chains that approximate by bands alone.
    bands: Option<Bands>,
}

/// MinHash beside the chain that finds all pairs.
struct Bands {
    /// Of the pairs that signatures estimate the similarity of.
    forecast: Option<Forecast>,
    /// The steps of the exact join.
    exact: Vec<StepVolume>,
}

impl Bands {
    /// Whether the exact join takes no more time.
    fn are_needless(&self, steps: &[StepVolume]) -> bool {
        let seconds = |steps: &[StepVolume]| steps.iter().map(|step| step.core_seconds.mid).sum::<f64>();
        seconds(&self.exact) <= seconds(steps)
    }
}

/// Prints the estimate of a plan.
pub fn run(mut plan: Plan, opts: &EstimateOpts) -> Result<()> {
    let inputs = opts.inputs.of(&opts.input)?;
    let given = plan.params.clone();
    inputs.settle(&mut plan.params);
    let params = &plan.params;
    if params.get("queries").is_some() {
        return Err(Error::Usage(
            "plan --estimate tells what a chain takes by a sample of its documents, and not what queries take; leave --queries out"
                .to_owned(),
        ));
    }
    if params.get(REDUCE_TO).is_some() {
        return Err(Error::Usage(
            "plan --estimate tells what a chain takes by a sample, of which other documents stay; --reduce-to costs hardly more than components: leave it out"
                .to_owned(),
        ));
    }
    let files = inputs.files.len() as u64;
    let inputs = inputs.read(&given, None, true)?;
    let document: DocumentOpts = params.parse()?;
    let threads = options::threads(None);
    let sample = Sample::take("plan", &inputs, &document, opts.sample as usize, 0, threads)?;
    let sampled = sample.lines.len() as u64;
    if sampled < 2 {
        return Err(Error::Usage(format!(
            "--input holds {sampled} documents; an estimate needs two at least"
        )));
    }
    let documents = opts.documents.unwrap_or(sample.documents);
    if documents < sampled {
        return Err(Error::Usage(format!(
            "--documents {documents} is less than the {sampled} of the sample; give a smaller --sample"
        )));
    }
    let work = WorkFolder::temporary()?;
    let mut of_sample = params.clone();
    let ranged = params
        .get("idf")
        .is_some_and(|range| range.parse().is_ok_and(|range: IdfRange| !range.is_everything()));
    if ranged && params.get("idf-table").is_none() {
        // A feature is rarer in a sample: what is out of the range is decided by all documents.
        let table = idf::table(&inputs, params, work.path())?;
        of_sample.set("idf-table", table.to_string_lossy());
    }
    let times = documents as f64 / sampled as f64;
    let drawn = |documents: u64| documents.min(params.number("order-sample")).max(1) as f64;
    let scale = Scale {
        times,
        read: sample.documents.min(documents) as f64 / sampled as f64,
        sampled,
        drawn: drawn(documents) / drawn(sampled),
    };
    // The way to the clusters is that of the collection's pairs.
    of_sample.set("graph", ((params.number("graph") as f64 / (times * scale.read)) as u64).to_string());
    let measured = Measured::of(&plan, of_sample.clone(), &sample, &work.path().join("chain"))?;
    let (similarity, slices): (SimilarityOpts, SlicesOpts) = (params.parse()?, params.parse()?);
    // Scripts that are told nothing take two tasks, or those that a step of Spark has after a shuffle.
    let tasks = if plan.engine == Engine::Spark { opts.reducers } else { 2 };
    let target = Target {
        engine: plan.engine,
        params,
        scale,
        bytes: Range::exactly(sample.bytes as f64 * documents as f64 / sample.documents as f64),
        files: opts.documents.map_or(files, |_| 1),
        split: opts.block.bytes() as f64,
        reducers: opts.reducers,
        slices: match params.is("partition", "by-task") {
            true => slices.slices.unwrap_or(tasks).max(1),
            false => measured.slices(similarity.0, &slices, times),
        },
    };
    let steps = target.steps(&plan.chain.steps(), &measured)?;
    let bands = match plan.family.name {
        "minhash" => {
            let exact = Plan::of(plan.of_chain(EXACT), &options::read_file)?;
            let measured = Measured::of(&exact, of_sample, &sample, &work.path().join("exact"))?;
            let exact = target.steps(&exact.chain.steps(), &measured)?;
            Some(Bands { forecast: recall::forecast(params, &sample, documents)?, exact })
        }
        _ => None,
    };
    let estimate = Estimate {
        documents,
        sampled,
        bytes: target.bytes,
        uniform: scale.is_uniform(),
        pairs: plan.chain.output.writes_pairs().then(|| {
            let expands = |step: &&String| ["expand-pairs", "expand-right"].contains(&step.as_str());
            let step = measured.steps.iter().find(expands).map_or("expand-pairs", String::as_str);
            let pairs = measured.counted(step, "pairs");
            (scale.pairs(pairs, pairs.whole), pairs.whole)
        }),
        steps,
        bands,
    };
    let mut out = Stdout::new();
    let text = if opts.json { show::json(&estimate) } else { show::table(&estimate) };
    out.line(text.trim_end().as_bytes())?;
    out.flush()
}
