//! `twinsplit convert`: documents of other formats as the JSON lines that every engine reads.
//!
//! One pass, one document in memory at a time. What was converted once is read as often as a chain needs it, is cut into shares by a
//! cluster, and stands on disk for `explain`, `report` and `--write-kept`.

mod in_front;

use super::inputs::InputOpts;
use super::options::{OUTPUT, Overwrite, QUIET, output_file_in_new_folder};
use super::progress::Display;
use super::quarantine;
use crate::args;
use crate::same_form::size;
use clap::{ArgMatches, Args, Command};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_core::visible;
use twinsplit_engine::progress::{Progress, Unit};
use twinsplit_io::MaxLine;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal::{self, plural};
use twinsplit_io::{AtomicFile, Target, pack};
use twinsplit_rows::bad_records::{BadRecords, MostBad};
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::IdField;
use twinsplit_rows::record::id;
use twinsplit_sources::{Decoding, PlaceIds, SourceOpts, UnitOpts};

pub use in_front::{InFront, UNIT, UNREAD};

const NAME: &str = "convert";

/// The options of `convert`.
#[derive(Args, Clone, Debug)]
pub struct ConvertOpts {
    /// Documents, plain or compressed by gzip, zstd, bzip2 or xz: files, folders with all below them, quoted patterns such as
    /// 'WTX*/B*.gz', or - for standard input
    #[arg(required = true, num_args = 1.., value_name = "FILE")]
    pub input: Vec<PathBuf>,
    /// The file of JSON lines, gzip when its name ends in .gz; - for standard output
    #[arg(short = OUTPUT, long, value_name = "FILE", value_parser = output_file_in_new_folder())]
    pub output: PathBuf,
    /// Whether a file may be replaced.
    #[command(flatten)]
    pub overwrite: Overwrite,
    /// Which files are read, and how.
    #[command(flatten)]
    inputs: InputOpts,
    /// How documents are found.
    #[command(flatten)]
    source: SourceArgs,
    /// Print only warnings and errors
    #[arg(short = QUIET, long)]
    pub quiet: bool,
}

/// How documents are found in files.
#[derive(Args, Clone, Debug)]
struct SourceArgs {
    /// What holds the id: a field of jsonl and json, a column of csv, tsv, parquet and arrow, an element of trec, a field of the records of warc and arc by its name in WARC. `auto` makes ids of the
    /// form FILE@OFFSET for trec, and asks for none where documents keep their fields; `row` gives every document the id FILE@NUMBER, which is the
    /// number of a line of jsonl, and else of the document in its file [default: id; DOCNO; WARC-Record-ID]
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// What holds the text: fields of jsonl and json, by names or paths such as meta.content; columns of csv, tsv, parquet and arrow or elements of trec, which are
    /// joined in their order [default: text; TEXT, or all that follows a DOCHDR]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    text: Vec<String>,
    /// What holds the date, if anything does, as for --keep newest
    #[arg(long, value_name = "NAME")]
    date: Option<String>,
    /// The column of csv and tsv that holds the score, as for --keep score: its cells become numbers
    #[arg(long, value_name = "NAME")]
    score: Option<String>,
    /// Leave web pages as they are, and do not make text of their HTML
    #[arg(long, conflicts_with = "html")]
    keep_markup: bool,
    /// Take the templates in scripts of web pages, such as text/x-handlebars-template, for text: there are pages that have
    /// most of theirs in them, and more that have names of variables
    #[arg(long, conflicts_with = "keep_markup")]
    script_templates: bool,
    /// Put up to N documents that cannot be read, or all of them, into FILE.quarantine.tsv beside the output, instead of stopping
    #[arg(long, default_value = "0", value_name = "N|all")]
    bad_records: MostBad,
    /// The longest document that is accepted: megabytes, or a number with the suffix B, K, M or G
    #[arg(long, default_value = "256M", value_name = "MB")]
    max_line: MaxLine,
}

impl ConvertOpts {
    /// How documents are found, and divided if they are.
    fn source(&self) -> Result<(SourceOpts, Option<UnitOpts>)> {
        let in_front = InFront::of(&self.inputs, &[]).filter(|_| self.inputs.unit.is_some());
        let Some(in_front) = in_front else { return Ok((self.source_of_documents(), None)) };
        // Units have the fields that a run gives them, whatever their documents are.
        let (args, mut params) = (&self.source, Params::default());
        let text = Some(args.text.join(",")).filter(|text| !text.is_empty());
        let given = [
            ("id", args.id.clone()),
            ("text", text),
            ("date", args.date.clone()),
            ("score", args.score.clone()),
        ];
        for (name, value) in given.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            params.set(name, value);
        }
        let source = SourceOpts {
            keep_markup: args.keep_markup,
            script_templates: args.script_templates,
            bad_records: args.bad_records,
            max_line: args.max_line,
            ..in_front.source(&params)?
        };
        Ok((source, in_front.units(&params)?))
    }

    fn source_of_documents(&self) -> SourceOpts {
        let (args, is_row) = (self.source.clone(), self.source.id.as_deref() == Some(IdField::Row.name()));
        SourceOpts {
            id: args.id.filter(|_| !is_row),
            text: args.text,
            date: args.date,
            score: args.score,
            place_ids: is_row.then(|| PlaceIds { field: "id".to_owned(), by_number: true }),
            encoding: self.inputs.encoding,
            html: self.inputs.html.unwrap_or_default(),
            keep_markup: args.keep_markup,
            script_templates: args.script_templates,
            bad_records: args.bad_records,
            max_line: args.max_line,
            ..SourceOpts::of(self.inputs.format)
        }
    }
}

/// The command line of `convert`.
pub fn command() -> Command {
    ConvertOpts::augment_args(Command::new(NAME))
        .about("Makes JSON lines of documents in another format")
        .long_about(None)
}

/// `twinsplit convert`.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let opts: ConvertOpts = args::read(matches)?;
    let (files, replaces) = (opts.inputs.files(&opts.input)?, opts.overwrite.overwrite);
    let (source, units) = opts.source()?;
    let reads = || files.iter().map(PathBuf::as_path);
    let output = Target::of(&opts.output, replaces, reads())?;
    let quarantine = quarantine::beside(&output, source.bad_records, reads())?;
    let converted = write(&files, &output, quarantine.as_ref(), (&source, units.as_ref()), opts.quiet)?;
    if let (Some(quarantine), 0) = (&quarantine, converted.bad) {
        // What an earlier call let pass is not this one's.
        quarantine::remove_old(quarantine)?;
    }
    converted.warnings(quarantine.as_ref().map(Target::path)).iter().for_each(terminal::warning);
    if !opts.quiet && opts.output != Path::new("-") {
        terminal::line(format_args!("{}: {}", converted.what(units.as_ref()), visible::path(&opts.output)));
    }
    Ok(())
}

/// What was read.
pub struct Converted {
    documents: u64,
    /// Their units, where these were written.
    units: u64,
    /// Documents that could not be read.
    bad: u64,
    /// Parts of the files that were no documents, such as the images of a crawl.
    passed_over: u64,
    pages: Pages,
}

impl Converted {
    /// What was written.
    fn what(&self, units: Option<&UnitOpts>) -> String {
        let documents = plural(self.documents, "document", "documents");
        match units.map(|units| units.unit.nouns()) {
            Some([one, several]) => format!("{} of {documents}", plural(self.units, one, several)),
            None => documents,
        }
    }

    /// What to say of it; `unread` is where documents lie that could not be read, if they are kept.
    pub fn warnings(&self, unread: Option<&Path>) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.bad > 0 {
            let what = plural(self.bad, "document", "documents");
            let see = unread.map(|unread| format!("; see {}", visible::path(unread)));
            warnings.push(format!("{what} could not be read{}", see.unwrap_or_default()));
        }
        if self.documents == 0 {
            warnings.push("no document was found".to_owned());
        }

        self.pages.warn(&mut warnings);
        warnings
    }
}

/// Says of a crawl how much of it is no page, unless nobody wants to know.
fn note_passed_over(passed_over: u64, quiet: bool) {
    if passed_over > 0 && !quiet {
        terminal::note(format_args!(
            "{} no page of HTML or plain text with status 200, such as requests, images and redirects",
            plural(passed_over, "record is", "records are")
        ));
    }
}

/// Converts all documents of files, or their units, into one file.
pub fn write(
    files: &[PathBuf],
    output: &Target,
    quarantine: Option<&Target>,
    (opts, units): (&SourceOpts, Option<&UnitOpts>),
    quiet: bool,
) -> Result<Converted> {
    let mut bad = BadRecords::kept_in(NAME, opts.bad_records, quarantine.cloned());
    let sizes = files.iter().map(|path| size(path));
    let progress = Arc::new(Progress::default());
    progress.start(NAME, "reading", Unit::Bytes, sizes.sum());
    let display = Display::start(&progress, 1, quiet);
    let _folders = output.make_folder()?;
    let converted =
        Lines::create(output).and_then(|out| convert(files, (opts, units), &mut bad, out, &progress));
    drop(display);
    let converted = Converted { bad: bad.finish()?, ..converted? };
    note_passed_over(converted.passed_over, quiet);
    Ok(converted)
}

/// Pages whose bytes and encoding do not fit, or whose text stands in scripts.
#[derive(Default)]
struct Pages {
    /// With bytes that were replaced, and how many sequences of them.
    replaced: (u64, u64),
    contradict: u64,
    guessed: u64,
    in_templates: u64,
}

impl Pages {
    fn add(&mut self, decoding: Decoding, in_templates: bool) {
        self.replaced.0 += u64::from(decoding.replaced > 0);
        self.replaced.1 += decoding.replaced;
        self.contradict += u64::from(decoding.contradicts);
        self.guessed += u64::from(decoding.guessed);
        self.in_templates += u64::from(in_templates);
    }

    fn warn(&self, warnings: &mut Vec<String>) {
        let pages = |number| plural(number, "page", "pages");
        if self.replaced.0 > 0 {
            warnings.push(format!(
                "{} with bytes that are not of their encoding: {} read as U+FFFD; --encoding names another encoding",
                pages(self.replaced.0),
                plural(self.replaced.1, "sequence", "sequences")
            ));
        }
        if self.contradict > 0 {
            warnings.push(format!(
                "{} with another encoding in the header or the meta element than that of the bytes; --encoding names one for all",
                pages(self.contradict)
            ));
        }
        if self.guessed > 0 {
            warnings.push(format!(
                "{} neither UTF-8 nor of an encoding that the header or the meta element says, read as windows-1252; --encoding names another",
                pages(self.guessed)
            ));
        }
        if self.in_templates > 0 {
            warnings.push(format!(
                "{} with more text in scripts that are templates than beside them; twinsplit convert --script-templates reads that text",
                pages(self.in_templates)
            ));
        }
    }
}

/// Writes the documents of all files, and counts them.
fn convert(
    files: &[PathBuf],
    (opts, units): (&SourceOpts, Option<&UnitOpts>),
    bad: &mut BadRecords,
    mut out: Lines,
    progress: &Progress,
) -> Result<Converted> {
    let (mut documents, mut of_documents, mut passed_over) = (0, 0, 0);
    let (mut pages, mut escaped) = (Pages::default(), Vec::new());
    for (number, path) in (0..).zip(files) {
        let mut source = opts.open(path, number)?;
        let mut read = 0;
        while let Some(found) = source.next_document()? {
            let written = match (found.line, units) {
                (Ok(line), None) => out.line(line).map(Ok)?,
                (Ok(line), Some(units)) => match units.divide(line, found.place) {
                    Ok(divided) => {
                        of_documents += divided.count();
                        units.each_line(&divided, |line| out.line(line))?
                    }
                    Err(error) => Err(error),
                },
                (Err(error), _) => Err(error),
            };
            match written {
                Ok(()) => {
                    documents += 1;
                    pages.add(found.decoding, found.in_templates);
                }
                Err(error) => {
                    // A document may have many lines, and its row in the quarantine has one.
                    escaped.clear();
                    id::escape(found.raw, &mut escaped);
                    bad.pass(&escaped, found.place, error)?;
                }
            }
            let now = source.raw_bytes();
            progress.add(now - read);
            read = now;
        }
        passed_over += source.passed_over();
    }
    out.finish()?;
    Ok(Converted { documents, units: of_documents, bad: 0, passed_over, pages })
}

/// Bytes that become a gzip member.
const MEMBER: usize = 1 << 20;

/// Where the lines go.
pub enum Lines {
    /// As it is.
    File(AtomicFile),
    /// With the lines that are not packed yet.
    Gzip(AtomicFile, Vec<u8>),
}

impl Lines {
    /// Starts a file.
    ///
    /// # Errors
    /// Its name says that it is packed in another form than gzip, or it cannot be made.
    pub fn create(output: &Target) -> Result<Self> {
        let extension = output.path().extension().unwrap_or_default();
        let others = ["zst", "zstd", "xz", "bz2", "lz4", "zip"];
        if let Some(other) = others.iter().find(|other| extension.eq_ignore_ascii_case(other)) {
            return Err(Error::Usage(format!(
                "{} is not written as its name says: JSON lines are plain, or gzip where the name ends in .gz; - writes them to standard output, for {other} or another program",
                visible::path(output.path())
            )));
        }
        let file = output.start()?;
        let is_gzip = extension.eq_ignore_ascii_case("gz");
        Ok(if is_gzip { Self::Gzip(file, Vec::new()) } else { Self::File(file) })
    }

    /// Writes a line, which gets its end.
    pub fn line(&mut self, line: &[u8]) -> Result<()> {
        match self {
            Self::File(file) => file.line(line),
            Self::Gzip(file, lines) => {
                lines.extend_from_slice(line);
                lines.push(b'\n');
                if lines.len() < MEMBER { Ok(()) } else { Self::member(file, lines) }
            }
        }
    }

    fn member(file: &mut AtomicFile, lines: &mut Vec<u8>) -> Result<()> {
        let mut packed = Vec::new();
        pack(lines, &mut packed)?;
        lines.clear();
        file.bytes(&packed)
    }

    /// Gives the file its name.
    pub fn finish(self) -> Result<()> {
        match self {
            Self::File(file) => file.finish(),
            Self::Gzip(mut file, mut lines) => {
                Self::member(&mut file, &mut lines)?;
                file.finish()
            }
        }
    }
}
