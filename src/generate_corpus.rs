//! `twinsplit generate-corpus`: a corpus of any size to measure with, and the truth about its copies.

use super::documents::{Inputs, each_document};
use super::options::{OUTPUT, Overwrite, QUIET, thread_count, threads};
use super::progress::Display;
use crate::args;
use clap::{ArgMatches, Args, Command};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use twinsplit_core::corpus::{Corpus, Models, ModelsBuilder, Scratch, Shape};
use twinsplit_core::threads::in_threads;
use twinsplit_core::visible;
use twinsplit_engine::progress::{Progress, Unit};
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_io::terminal;
use twinsplit_io::{MadeFolders, MaxLine, Target, document_files, pack, parse_bytes, unpacked};
use twinsplit_rows::bad_records::MostBad;
use twinsplit_rows::record::document::{DocumentOpts, IdField, TextFields};

/// Documents that a thread makes at a time.
const BLOCK: u64 = 64;
/// Blocks that are made before they are written, for each thread.
const BLOCKS: u64 = 16;
/// The most documents: ids have nine digits.
const MOST: u64 = 1_000_000_000;
/// The real text that the model is made of when none is named.
const SHIPPED: [(&str, &[u8]); 2] = [
    ("en.jsonl.gz", include_bytes!("../hdfs-fixtures/documents/en.jsonl.gz")),
    ("zh.jsonl.gz", include_bytes!("../hdfs-fixtures/documents/zh.jsonl.gz")),
];

/// Options.
#[derive(Args, Clone, Debug)]
struct CorpusOpts {
    /// Number of documents
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST))]
    documents: u64,
    /// Size of all documents together, approximately: bytes, or a number with the suffix K, M or G
    #[arg(long, value_name = "BYTES")]
    bytes: Bytes,
    /// Seed of the random numbers; the same seed gives the same bytes
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Folder for documents.jsonl and _truth.tsv; a line of _truth.tsv is id, source's
    /// id, edit, words edited, words, first source's id
    #[arg(short = OUTPUT, long, value_name = "FOLDER")]
    output: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Real documents to take words and their sequences from: JSON lines, plain or gzip; files, folders or
    /// quoted patterns. By default documents that come with twinsplit
    #[arg(long, num_args = 1.., value_name = "FILE")]
    model: Vec<PathBuf>,
    /// Field of the model's documents that holds the text
    #[arg(long, default_value = "text", value_name = "FIELD")]
    text: TextFields,
    /// Share of documents that are edited copies of earlier ones
    #[arg(long, default_value = "0.3", value_name = "SHARE", value_parser = share)]
    copies: f64,
    /// Share of documents in Chinese
    #[arg(long, default_value = "0.25", value_name = "SHARE", value_parser = share)]
    chinese: f64,
    /// Write documents.jsonl.gz instead of documents.jsonl
    #[arg(long)]
    gzip: bool,
    /// Threads; by default the number of cores. The bytes do not depend on it
    #[arg(long, env = "TWINSPLIT_THREADS", value_name = "N", value_parser = thread_count)]
    threads: Option<usize>,
    /// Print only warnings and errors
    #[arg(short = QUIET, long)]
    quiet: bool,
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bytes(u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_bytes(text, 1).filter(|bytes| *bytes > 0).map(Self).ok_or_else(|| {
            "expected a number of bytes above 0, with the suffix B, K, M or G or without".to_owned()
        })
    }
}

fn share(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| (0.0..=1.0).contains(value));
    value.ok_or_else(|| "expected a share from 0 to 1, such as 0.3".to_owned())
}

/// The command line.
pub fn command() -> Command {
    CorpusOpts::augment_args(Command::new("generate-corpus"))
        .about("Makes a corpus of any size to measure with")
        .long_about(None)
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let opts: CorpusOpts = args::read(matches)?;
    let mean = opts.bytes.0 / opts.documents;
    if !MEANS.contains(&mean) {
        return Err(Error::Usage(format!(
            "--bytes over --documents is {mean}; a document has {} to {} bytes in the mean",
            MEANS.start(),
            MEANS.end()
        )));
    }
    let files = document_files(&opts.model)?;
    let targets = targets(&opts, &files)?;
    let models = models(&opts, &files)?;
    let shape = Shape {
        seed: opts.seed,
        mean: opts.bytes.0 as f64 / opts.documents as f64,
        copies: opts.copies,
        chinese: opts.chinese,
    };
    let _folders = MadeFolders::make(&opts.output)?;
    let progress = Arc::new(Progress::default());
    let display = Display::start(&progress, 1, opts.quiet);
    let written = write(&Corpus::new(shape, &models), &opts, &targets, &progress);
    drop(display);
    let written = written?;
    if !opts.quiet {
        terminal::line(format_args!(
            "{} documents, {} of them copies, {} bytes: {}",
            opts.documents,
            written.copies,
            written.bytes,
            visible::path(&opts.output.join(opts.name()))
        ));
    }
    Ok(())
}

/// The names of what a corpus is written to.
const FILES: [&str; 3] = ["documents.jsonl", "documents.jsonl.gz", "_truth.tsv"];

/// What the corpus is written to: documents and the truth. A folder that holds a corpus, or anything by its names, may have taken
/// hours, or be somebody's documents.
fn targets(opts: &CorpusOpts, models: &[PathBuf]) -> Result<[Target; 2]> {
    let target = |name| {
        let reads = models.iter().map(PathBuf::as_path);
        Target::of(&opts.output.join(name), opts.overwrite.overwrite, reads)
    };
    let ours = [opts.name(), FILES[2]];
    // Beside the truth of this corpus the documents of another one would be taken for its own.
    let others = FILES.into_iter().filter(|name| !ours.contains(name));
    others.map(|name| Target::of(&opts.output.join(name), false, [])).collect::<Result<Vec<_>>>()?;
    Ok([target(ours[0])?, target(ours[1])?])
}

/// Mean bytes of a document that make sense: a line is more than its fields, and fits into what a run reads.
const MEANS: std::ops::RangeInclusive<u64> = 300..=1 << 20;

impl CorpusOpts {
    fn name(&self) -> &'static str {
        if self.gzip { FILES[1] } else { FILES[0] }
    }
}

/// The models of the documents named, or of those shipped.
fn models(opts: &CorpusOpts, files: &[PathBuf]) -> Result<Models> {
    let document = DocumentOpts {
        id: IdField::Auto,
        text: opts.text.clone(),
        date: None,
        score: None,
        bad_records: MostBad(0),
        max_line: MaxLine::from_str("256").map_err(Error::Usage)?,
    };
    let mut builder = ModelsBuilder::default();
    if opts.model.is_empty() {
        for (name, packed) in SHIPPED {
            let lines = unpacked(packed, name)?;
            for (number, line) in
                (1..).zip(lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()))
            {
                let place = Place { file: name.into(), line: number, ..Place::default() };
                let read = document.read(line, &place);
                let failed =
                    |error| Error::Document { stage: "generate-corpus", place: place.clone(), error };
                builder.text(&read.map_err(failed)?.text);
            }
        }
    } else {
        each_document(&Inputs::of(files.to_vec()), &document, "generate-corpus", |document| {
            builder.text(&document.text);
            Ok(())
        })?;
    }
    builder.models(opts.chinese > 0.0).map_err(|language| {
        Error::Usage(format!(
            "no document of --model is in {language}; name files that have some{}",
            if language == "Chinese" { ", or ask for none with --chinese 0" } else { "" }
        ))
    })
}

/// What was written.
struct Written {
    copies: u64,
    bytes: u64,
}

/// Makes all documents and writes them in the order of their numbers.
fn write(
    corpus: &Corpus<'_>,
    opts: &CorpusOpts,
    [documents, truth]: &[Target; 2],
    progress: &Progress,
) -> Result<Written> {
    let (mut documents, mut truth) = (documents.start()?, truth.start()?);
    let threads = threads(opts.threads);
    progress.start("generate-corpus", "writing", Unit::Rows, opts.documents);
    let mut written = Written { copies: 0, bytes: 0 };
    let round = BLOCK * BLOCKS * threads as u64;
    for start in (0..opts.documents).step_by(round as usize) {
        let end = (start + round).min(opts.documents);
        let blocks = (end - start).div_ceil(BLOCK) as usize;
        let made = in_threads(blocks, threads, |block| {
            let first = start + block as u64 * BLOCK;
            let block = Block::make(corpus, first..(first + BLOCK).min(end), opts.gzip)?;
            progress.add(block.documents);
            Ok::<_, Error>(block)
        })?;
        for block in made {
            documents.bytes(&block.lines)?;
            truth.bytes(&block.truth)?;
            written.bytes += block.bytes;
            written.copies += memchr::memchr_iter(b'\n', &block.truth).count() as u64;
        }
    }
    truth.finish()?;
    documents.finish()?;
    Ok(written)
}

/// Documents one after the other.
struct Block {
    lines: Vec<u8>,
    truth: Vec<u8>,
    bytes: u64,
    documents: u64,
}

impl Block {
    fn make(corpus: &Corpus<'_>, numbers: std::ops::Range<u64>, gzip: bool) -> Result<Self> {
        let documents = numbers.end - numbers.start;
        let (mut lines, mut truth, mut scratch) = (Vec::new(), Vec::new(), Scratch::default());
        numbers.for_each(|number| corpus.document(number, &mut scratch, &mut lines, &mut truth));
        let bytes = lines.len() as u64;
        if gzip {
            let mut packed = Vec::new();
            pack(&lines, &mut packed)?;
            lines = packed;
        }
        Ok(Self { lines, truth, bytes, documents })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_a_suffix_or_none() {
        for (text, bytes) in [("1", 1), ("5B", 5), ("7K", 7168), ("3M", 3 << 20), ("10G", 10 << 30)] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "0", "G", "1.5G", "-1", "+1", "1T", "99999999999G"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }
}
