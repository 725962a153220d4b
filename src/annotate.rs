//! `twinsplit annotate OUT`: all documents of a run with what the run says of them, for those who weigh copies instead of removing them.
//!
//! The answer of any engine will do. The clusters are held in memory ([`clusters`]), the documents are read again, and each line gets its
//! fields ([`fields`]). How much of a dropped document stands in the one that is kept is counted from their features ([`shares`]): to be similar is
//! one thing, to be safe to drop another. They are written as one file of JSON lines ([`write()`]), or each file of the input again in its own form
//! ([`same`]).

mod clusters;
mod fields;
mod same;
mod shares;

use super::convert::Lines;
use super::documents::{Inputs, PairOpts, RunFile, each_line_of_document};
use super::options::{INPUT, OUTPUT, Overwrite, QUIET};
use super::progress::Display;
use crate::args;
use crate::same_form::size;
use clap::{ArgMatches, Args, Command, ValueEnum};
pub use clusters::Clusters;
use same::Originals;
pub use shares::Shares;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_core::similarity::{Measure, Similarity};
use twinsplit_core::visible;
use twinsplit_engine::progress::{Progress, Unit};
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_io::terminal::{self, plural};
use twinsplit_io::{Megabytes, Target};
use twinsplit_rows::record::document::{Document, DocumentOpts};
use twinsplit_sources::cells::{Cell, Column, Members, end, is_taken};

const NAME: &str = "annotate";

/// The options.
#[derive(Args, Clone, Debug)]
struct AnnotateOpts {
    /// The output folder of a run
    #[arg(value_name = "OUT")]
    folder: PathBuf,
    /// The file of JSON lines, gzip when its name ends in .gz; - for standard output. With --form same a folder that is new or empty
    #[arg(short = OUTPUT, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// What is written: jsonl, one file of JSON lines, or same, a file for each file of the input, in its own format and compression: for JSON lines, CSV,
    /// TSV, Parquet and Arrow
    #[arg(long, value_parser = args::choice::<Form>(), default_value = "jsonl")]
    form: Form,
    /// Documents of the run, if they have moved or came from a stream: files, folders, quoted patterns such
    /// as 'crawl/*.gz'
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

twinsplit_core::choice! {
    /// In which form documents are written.
    enum Form {
        /// One file of JSON lines
        Jsonl = "jsonl",
        /// A file for each file of the input, in its own format and compression
        Same = "same",
    }
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
             that the run made of them, or with --form same in their own form, with six columns more.",
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
    let pair: PairOpts = params.parse()?;
    let measure = (!run.compares_fingerprints()).then(|| pair.similarity.0.measure());
    let columns = fields::columns(&opts.prefix, measure)?;
    let clusters = Clusters::read(&run, opts.memory)?;
    let form = match opts.form {
        Form::Jsonl => Destination::Lines(target(&opts, &run)?),
        Form::Same => Destination::Same(Box::new(Originals::of(&run, &params, &pair.document, &opts)?)),
    };
    let inputs = form.documents(&run, &opts.input)?;
    super::run::refuse_streams(&inputs, "documents are read more than once")?;
    let progress = Arc::new(Progress::default());
    let display = Display::start(&progress, 1, opts.quiet);
    let documents = Documents { inputs: &inputs, opts: &pair.document, progress: &progress };
    let room = opts.memory.bytes().saturating_sub(clusters.bytes());
    let shares = Shares::count(&documents, &pair, &clusters, room, opts.drop_if_contained)?;
    let must_be_contained = opts.drop_if_contained.is_some();
    let annotations =
        Annotations { clusters: &clusters, shares: &shares, must_be_contained, only: opts.only };
    let written = match form {
        Destination::Lines(target) => write(&documents, &target, &columns, &annotations),
        Destination::Same(originals) => originals.write(&documents, &columns, &annotations),
    };
    drop(display);
    let written = written?;
    if !opts.quiet && opts.output != Path::new("-") {
        written.say(&opts);
    }
    Ok(())
}

/// What the documents are written into.
enum Destination {
    Lines(Target),
    Same(Box<Originals>),
}

impl Destination {
    /// The documents as the run has read them, which are in its answer where it has converted them. Those that are written again were compared with
    /// their digests before, and are named instead of what was made of them.
    fn documents(&self, run: &RunFile, given: &[PathBuf]) -> Result<Inputs> {
        match self {
            Self::Lines(_) => run.documents(given, ""),
            Self::Same(_) if run.has_converted() => run.documents(&[], ""),
            Self::Same(originals) => Ok(originals.inputs.clone()),
        }
    }
}

/// Where the documents are written: over nothing that they are made from.
fn target(opts: &AnnotateOpts, run: &RunFile) -> Result<Target> {
    if opts.output.is_dir() {
        return Err(Error::Usage(format!(
            "{} is a folder; name a file, or give --form same as well for a folder",
            visible::path(&opts.output)
        )));
    }
    let reads = run.reads(&opts.input)?;
    Target::of(&opts.output, opts.overwrite.overwrite, reads.iter().map(PathBuf::as_path))
}

/// The documents of the run, which are read several times.
pub struct Documents<'a> {
    /// The files.
    pub inputs: &'a Inputs,
    /// How they are read.
    pub opts: &'a DocumentOpts,
    /// Who is told how far they are read.
    pub progress: &'a Progress,
}

impl Documents<'_> {
    /// Calls `visit` with each document and its line, in the order of the input; bad lines pass as in the run. `doing` is what the
    /// progress says.
    fn each(
        &self,
        doing: &'static str,
        mut visit: impl FnMut(&Document<'_>, &[u8], &Place) -> Result<()>,
    ) -> Result<()> {
        let sizes = self.inputs.iter().map(|path| size(path));
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
    /// Those of them of which the kept document is not among the documents.
    unknown: u64,
    /// Documents of clusters.
    members: u64,
    /// Of the dropped ones, those that have less than half of their features in the kept document.
    unlike: u64,
}

/// What documents are annotated with.
struct Annotations<'a> {
    clusters: &'a Clusters,
    shares: &'a Shares,
    /// Whether a document is dropped only for one that holds so much of it.
    must_be_contained: bool,
    only: Option<Only>,
}

impl Annotations<'_> {
    /// The cells of the document of this id, if it is to be written; it is counted in any case.
    fn of(&self, id: &[u8], written: &mut Written) -> Option<[Cell<'static>; 6]> {
        let member = self.clusters.member(id);
        let share = member.and_then(|member| self.shares.of(member));
        let is_dropped = member.is_some_and(|member| self.clusters.is_dropped(member));
        // Of a store the kept document may not be among those that are read: nobody knows what would be lost.
        let drops = is_dropped && share.map_or(!self.must_be_contained, |share| share.lets_drop);
        written.members += u64::from(member.is_some());
        written.kept += u64::from(!drops);
        written.dropped += u64::from(drops);
        written.spared += u64::from(is_dropped && !drops);
        written.unknown += u64::from(is_dropped && !drops && share.is_none());
        written.unlike += u64::from(drops && share.is_some_and(|share| 2 * share.overlap < share.size));
        let is_written = self.only.is_none_or(|only| (only == Only::Dropped) == drops);
        is_written.then(|| fields::cells(self.clusters.show(member, id), drops, share))
    }

    /// Refuses documents that are not those of the run: of a stream nobody knows what it was.
    fn check(&self, inputs: &Inputs, written: &Written) -> Result<()> {
        let missing = (self.clusters.members() as u64).saturating_sub(written.members);
        // Those of a store are where it is.
        if missing == 0 || !inputs.elsewhere().is_empty() {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "{} of clusters.tsv not among the documents that were read; name those of the run with --input",
            plural(missing, "document is", "documents are")
        )))
    }
}

/// Writes the lines of all documents.
fn write(
    documents: &Documents<'_>,
    target: &Target,
    columns: &[Column],
    annotations: &Annotations<'_>,
) -> Result<Written> {
    let members = Members::of(columns);
    let mut written = Written::default();
    let _folders = target.make_folder()?;
    let mut out = Lines::create(target)?;
    let mut annotated = Vec::new();
    documents.each("writing", |document, line, place| {
        let Some(cells) = annotations.of(&document.id, &mut written) else { return Ok(()) };
        if let Some(taken) = members.taken(line) {
            return Err(Error::Usage(format!("{place}: the document {}", is_taken("field", taken))));
        }
        annotated.clear();
        annotated.extend_from_slice(line[..end(line)].trim_ascii_end());
        members.write(&cells, false, &mut annotated).map_err(Error::io("write", target.path()))?;
        annotated.push(b'}');
        out.line(&annotated)
    })?;
    annotations.check(documents.inputs, &written)?;
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
            Some(least) => {
                terminal::line(format_args!(
                    "{} of clusters stay, with less than {} of their features in the kept one, or short and different",
                    plural(self.spared - self.unknown, "document", "documents"),
                    least.threshold()
                ));
                if self.unknown > 0 {
                    terminal::line(format_args!(
                        "{}, for the kept document is in the store, which has no texts",
                        plural(self.unknown, "document of clusters stays", "documents of clusters stay")
                    ));
                }
            }
            None if self.unlike > 0 => terminal::line(format_args!(
                "{} to drop with less than half of the features in the kept one: --drop-if-contained 0.9 keeps such documents",
                plural(self.unlike, "document", "documents")
            )),
            None => {}
        }
    }
}
