//! `twinsplit report OUT`: the answer of a run as one page to look at.
//!
//! The page is self-contained and asks nothing of anywhere. The files of the answer are streamed: `clusters.tsv`
//! twice, to find the clusters that come first (`answer`) and then to gather their members, `pairs.tsv` once, for its
//! similarities (`bins`). Which clusters lose most is counted from all their documents, as `annotate` counts it (`risk`). The texts of the members
//! are read again from the inputs (`texts`), which must be as the
//! run read them, and their features are made once more as the run made them. What two documents share follows from
//! those features alone (`marks`); the page only intersects their numbers, so that any two documents can be chosen. Of a run of
//! fingerprints it holds these too (`printed`), and counts the bits in which two differ.

mod bins;
mod marks;
mod output;
pub(crate) mod page;
mod printed;
mod risk;
mod texts;

use super::documents::{Inputs, PairOpts, RunFile};
use super::options::{INPUT, Overwrite, QUIET, output_file};
use super::output::owned::{REPORT, is_page};
use super::run::refuse_streams;
use crate::args;
use clap::{ArgMatches, Args, Command};
use output::{Answer, Bounds};
use page::Page;
use printed::Printed;
use risk::{Order, Risks, Scripts};
use std::path::{Path, PathBuf};
use texts::Texts;
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal;
use twinsplit_io::{Megabytes, Target};
use twinsplit_rows::params::Params;
use twinsplit_rows::stages::options::IdfOpts;
use twinsplit_rows::stages::simhash::FingerprintOpts;

/// The options.
#[derive(Args, Clone, Debug)]
struct ReportOpts {
    /// The output folder of a run
    #[arg(value_name = "OUT")]
    folder: PathBuf,
    /// File for the page; by default report.html in OUT; - is standard output
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    to: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Documents of the run, if they have moved or came from a stream: files, folders, quoted patterns such
    /// as 'crawl/*.gz', or - for standard input
    #[arg(short = INPUT, long, num_args = 1.., value_name = "FILE")]
    input: Vec<PathBuf>,
    /// Which clusters come first on the page, and have their texts there [default: risk, or size where no texts are read]
    #[arg(long, value_parser = args::choice::<Order>(), value_name = "ORDER")]
    order: Option<Order>,
    /// Number of the clusters that are shown with their texts
    #[arg(long, default_value_t = 100, value_name = "N")]
    clusters: usize,
    /// Most documents of a cluster that are shown: the kept one, and others in the order of their ids
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(2..))]
    members: usize,
    /// Bytes of each document's text that are shown; with 0 no text is shown and no input is read
    #[arg(long, default_value_t = 20_000, value_name = "BYTES")]
    text: usize,
    /// Most ids of documents without text that the page holds, so that its search finds their clusters
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    ids: usize,
    /// Bound of what is held of clusters and of the features of kept documents: megabytes, or such as 4G
    #[arg(long, env = "TWINSPLIT_MEMORY", default_value_t = Megabytes::new(2048), value_name = "MB")]
    memory: Megabytes,
    /// Print only errors
    #[arg(short = QUIET, long)]
    quiet: bool,
}

/// The command line.
pub fn command() -> Command {
    ReportOpts::augment_args(Command::new("report"))
        .about("Writes a page that shows a run and its clusters")
        .long_about(None)
        .after_help(
            "The page is one HTML file that works without a network. The texts are read again from the inputs of \
             the run, which must be as the run read them; where they have moved, name them with --input.",
        )
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let opts: ReportOpts = args::read(matches)?;
    let (run, params) = RunFile::of_clusters(&opts.folder)?;
    let pair: PairOpts = params.parse()?;
    let by_fingerprints = run.compares_fingerprints();
    let fingerprints = by_fingerprints.then(|| params.parse::<FingerprintOpts>()).transpose()?;
    let target = target(&opts, &run, &params)?;
    let inputs = inputs(&opts, &run, &pair.idf)?;
    if let (Some(_), Some(site)) = (&inputs, params.get("site")) {
        return Err(Error::Usage(format!(
            "the run left out what the pages of a site share (--site {site}), which the report would mark as compared; --text 0 makes the page without texts"
        )));
    }
    let bounds = Bounds { clusters: opts.clusters, members: opts.members, ids: opts.ids };
    let risks = match &inputs {
        Some(inputs) => Risks::count(&run, inputs, &pair, opts.order, opts.memory)?,
        None => None,
    };
    let order = Order::of(opts.order, risks.is_some())?;
    let answer = Answer::read(&run, by_fingerprints, bounds, (order, risks.as_ref()))?;
    let mut scripts = Scripts::of(&answer);
    let texts = match &inputs {
        None => None,
        Some(inputs) => Some(Texts::read(inputs, &pair, &answer.shown, opts.text, &mut scripts)?),
    };
    let mut printed = None;
    match (&texts, &fingerprints, &inputs) {
        (Some(_), Some(opts), Some(inputs)) => {
            printed = Some(Printed::read(inputs, &pair.document, opts, &answer.shown)?);
        }
        (Some(texts), ..) => texts.check(&answer.shown, pair.similarity.0.measure(), &opts.folder)?,
        (None, ..) => {}
    }
    if let Some(printed) = &printed {
        printed.check(&answer.shown, &opts.folder)?;
    }
    let page = Page {
        folder: &opts.folder,
        run: &run,
        pair: &pair,
        fingerprints: fingerprints.as_ref(),
        printed: printed.as_ref(),
        answer: &answer,
        bounds,
        order,
        scripts: &scripts,
    };
    let mut file = target.start()?;
    let bytes = page.write(texts, opts.text, |line| file.line(line))?;
    file.finish()?;
    if !opts.quiet && target.path() != Path::new("-") {
        terminal::line(format_args!(
            "{}: {} of {} clusters, {}.{} MB",
            visible::path(target.path()),
            answer.shown.len(),
            answer.clusters,
            bytes / 1_000_000,
            bytes / 100_000 % 10
        ));
    }
    Ok(())
}

/// Where the page is written: over nothing that it is made from.
fn target(opts: &ReportOpts, run: &RunFile, params: &Params) -> Result<Target> {
    let path = opts.to.clone().unwrap_or_else(|| opts.folder.join(REPORT));
    if opts.to.is_none() && path.symlink_metadata().is_ok() && !is_page(&path) {
        return Err(Error::Usage(format!(
            "{} was not written by twinsplit report, so it is not replaced; move it, or give another file with --to",
            visible::path(&path)
        )));
    }
    let reads = run.reads(&opts.input)?;
    let side = params.named_files().into_iter().map(|(_, file)| Path::new(file));
    let reads = reads.iter().map(PathBuf::as_path).chain(side);
    Target::of(&path, opts.overwrite.overwrite, reads)
}

/// The files that texts are read from, if any are shown: those given, or else those of the run, each as the run read it.
fn inputs(opts: &ReportOpts, run: &RunFile, idf: &IdfOpts) -> Result<Option<Inputs>> {
    if opts.text == 0 {
        return Ok(None);
    }
    let inputs = run.documents(&opts.input, "; --text 0 makes the page without texts")?;
    if !idf.idf.is_everything() && idf.table.idf_table.is_none() {
        refuse_streams(&inputs, "document frequencies for --idf are counted again")?;
    }
    Ok(Some(inputs))
}
