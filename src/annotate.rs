//! `twinsplit annotate OUT`: all documents of a run with what the run says of them, for those who weigh copies instead of removing them.
//!
//! The answer of any engine will do. The clusters are held in memory ([`clusters`]), the documents are read again, and each line gets its
//! fields ([`fields`]). How much of a dropped document stands in the one that is kept is counted from their features ([`shares`]): to be similar is
//! one thing, to be safe to drop another.

mod clusters;
mod fields;
mod shares;

use super::convert::Lines;
use super::documents::{Inputs, PairOpts, RunFile, each_line_of_document};
use super::options::{INPUT, OUTPUT, Overwrite, QUIET, output_file_in_new_folder};
use super::progress::Display;
use crate::args;
use clap::{ArgMatches, Args, Command, ValueEnum};
use clusters::Clusters;
use fields::Names;
use shares::Shares;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_core::similarity::{Measure, Similarity};
use twinsplit_core::visible;
use twinsplit_engine::progress::{Progress, Unit};
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_io::terminal::{self, plural};
use twinsplit_io::{Megabytes, Target};
use twinsplit_rows::record::document::{Document, DocumentOpts};

const NAME: &str = "annotate";

/// The options.
#[derive(Args, Clone, Debug)]
struct AnnotateOpts {
    /// The output folder of a run
    #[arg(value_name = "OUT")]
    folder: PathBuf,
    /// The file of JSON lines, gzip when its name ends in .gz; - for standard output
    #[arg(short = OUTPUT, long, value_name = "FILE", value_parser = output_file_in_new_folder())]
    output: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Documents of the run, if they have moved or came from a stream: files, folders, quoted patterns such
    /// as 'crawl/*.gz', or - for standard input
    #[arg(short = INPUT, long, num_args = 1.., value_name = "FILE")]
    input: Vec<PathBuf>,
    /// Write only the documents that are kept, or only those that are dropped
    #[arg(long, value_enum, value_name = "WHICH")]
    only: Option<Only>,
    /// Drop a document only if at least this part of its features, in (0, 1], stands in the kept document of its cluster; one of fewer than
    /// 8 different features only if the texts are equal
    #[arg(long, value_name = "DECIMAL", value_parser = contained)]
    drop_if_contained: Option<Similarity>,
    /// What the names of the fields begin with
    #[arg(long, default_value = "dup_", value_name = "TEXT")]
    prefix: String,
    /// Bound of what is held of clusters and of the features of kept documents: megabytes, or such as 4G
    #[arg(long, env = "TWINSPLIT_MEMORY", default_value_t = Megabytes::new(2048), value_name = "MB")]
    memory: Megabytes,
    /// Print only warnings and errors
    #[arg(short = QUIET, long)]
    quiet: bool,
}

/// Which documents are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Only {
    Kept,
    Dropped,
}

/// The command line.
pub fn command() -> Command {
    AnnotateOpts::augment_args(Command::new(NAME))
        .about("Writes all documents with their clusters, for those who weigh")
        .long_about(None)
        .after_help(
            "Each line is that of the document with six fields behind its own: dup_kept, the id of the document that its cluster keeps; dup_size, how many \
             documents the cluster has; dup_rank, 1 for the kept one, then the most similar first; dup_drop; dup_similarity to the kept document (dup_distance \
             of fingerprints); dup_share, the part of its features that stands in the kept one. Documents of other formats are written as the JSON lines \
             that the run made of them.",
        )
}

/// How much of a document has to stand in another one.
fn contained(least: &str) -> std::result::Result<Similarity, String> {
    Measure::QueryContainment.reaching(least).map_err(|error| error.to_string())
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let opts: AnnotateOpts = args::read(matches)?;
    let (run, params) = RunFile::of_clusters(&opts.folder)?;
    let names = Names::new(&opts.prefix, run.compares_fingerprints())?;
    let pair: PairOpts = params.parse()?;
    let clusters = Clusters::read(&run, opts.memory)?;
    let inputs = run.documents(&opts.input, "")?;
    super::run::refuse_streams(&inputs, "documents are read more than once")?;
    let target = target(&opts, &run)?;
    let progress = Arc::new(Progress::default());
    let display = Display::start(&progress, 1, opts.quiet);
    let documents = Documents { inputs: &inputs, opts: &pair.document, progress: &progress };
    let room = opts.memory.bytes().saturating_sub(clusters.bytes());
    let shares = Shares::count(&documents, &pair, &clusters, room, opts.drop_if_contained)?;
    let written = write(&documents, &target, &opts, &names, &clusters, &shares);
    drop(display);
    let written = written?;
    if !opts.quiet && opts.output != Path::new("-") {
        written.say(&opts);
    }
    Ok(())
}

/// Where the documents are written: over nothing that they are made from.
fn target(opts: &AnnotateOpts, run: &RunFile) -> Result<Target> {
    let reads = run.reads(&opts.input)?;
    Target::of(&opts.output, opts.overwrite.overwrite, reads.iter().map(PathBuf::as_path))
}

/// The documents of the run, which are read several times.
struct Documents<'a> {
    inputs: &'a Inputs,
    opts: &'a DocumentOpts,
    progress: &'a Progress,
}

impl Documents<'_> {
    /// Calls `visit` with each document and its line, in the order of the input; bad lines pass as in the run. `doing` is what the
    /// progress says.
    fn each(
        &self,
        doing: &'static str,
        mut visit: impl FnMut(&Document<'_>, &[u8], &Place) -> Result<()>,
    ) -> Result<()> {
        let sizes = self.inputs.iter().map(|path| path.metadata().map_or(0, |meta| meta.len()));
        self.progress.start(NAME, doing, Unit::Bytes, sizes.sum());
        let read = |bytes| self.progress.set(bytes);
        each_line_of_document(self.inputs, self.opts, NAME, read, |document, line, place| {
            visit(&document, line, place)
        })
    }
}

/// What was written.
#[derive(Default)]
struct Written {
    kept: u64,
    dropped: u64,
    /// Dropped by the run, and kept for their own part.
    spared: u64,
    /// Of the dropped ones, those that have less than half of their features in the kept document.
    unlike: u64,
}

fn write(
    documents: &Documents<'_>,
    target: &Target,
    opts: &AnnotateOpts,
    names: &Names,
    clusters: &Clusters,
    shares: &Shares,
) -> Result<Written> {
    let mut written = Written::default();
    let _folders = target.make_folder()?;
    let mut out = Lines::create(target)?;
    let mut annotated = Vec::new();
    documents.each("writing", |document, line, place| {
        let member = clusters.member(&document.id);
        let share = member.and_then(|member| shares.of(member));
        let is_dropped = member.is_some_and(|member| clusters.is_dropped(member));
        let drops = is_dropped && share.is_none_or(|share| share.lets_drop);
        written.kept += u64::from(!drops);
        written.dropped += u64::from(drops);
        written.spared += u64::from(is_dropped && !drops);
        written.unlike += u64::from(drops && share.is_some_and(|share| 2 * share.overlap < share.size));
        if opts.only.is_some_and(|only| (only == Only::Dropped) != drops) {
            return Ok(());
        }
        let shown = clusters.show(member, &document.id);
        names.add(line, &shown, drops, share, &mut annotated).map_err(|taken| {
            Error::Usage(format!(
                "{place}: the document has a field {taken:?} already; give the new ones other names with --prefix"
            ))
        })?;
        out.line(&annotated)
    })?;
    out.finish()?;
    Ok(written)
}

impl Written {
    /// The last lines, and what to do next.
    fn say(&self, opts: &AnnotateOpts) {
        terminal::line(format_args!(
            "{}: {} to keep, {} to drop",
            visible::path(&opts.output),
            plural(self.kept, "document", "documents"),
            self.dropped
        ));
        match opts.drop_if_contained {
            Some(least) => terminal::line(format_args!(
                "{} of clusters stay, with less than {} of their features in the kept one, or short and different",
                plural(self.spared, "document", "documents"),
                least.threshold()
            )),
            None if self.unlike > 0 => terminal::line(format_args!(
                "{} to drop with less than half of the features in the kept one: --drop-if-contained 0.9 keeps such documents",
                plural(self.unlike, "document", "documents")
            )),
            None => {}
        }
    }
}
