//! `twinsplit fingerprints build`.

use super::STAGE;
use super::read::Lines;
use crate::args;
use crate::options::{OUTPUT, Overwrite, output_file, thread_count, threads};
use crate::progress::Display;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;
use twinsplit_core::visible;
use twinsplit_engine::progress::{Progress, Unit};
use twinsplit_hamming::{
    Fingerprint, Id, IdWriter, Index, IndexOptions, Layout, Sorter, SorterOptions, Verify, plan,
};
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{Megabytes, Target, terminal};

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Opts {
    /// Rows of an id and a fingerprint of 16 or 32 hex digits, with a TAB between; plain or gzip, - for standard input
    #[arg(value_name = "ROWS", required = true)]
    rows: Vec<PathBuf>,
    /// The index file
    #[arg(short = OUTPUT, long, value_name = "FILE", value_parser = output_file())]
    output: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// The most bits in which what queries find may differ from them, 0 to 8
    #[arg(long, default_value_t = 3, value_name = "K")]
    distance: u32,
    /// The tables: scan, multi-index:M (one for each of M blocks of bits, norouzi2012), block-pairs (one for each two of K + 2 blocks, manku2007); by default the fastest in --memory
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<Layout>,
    /// Megabytes that the tables may take
    #[arg(long, env = "TWINSPLIT_MEMORY", default_value_t = Megabytes::new(4096), value_name = "MB")]
    memory: Megabytes,
    /// Megabytes that building may hold; what does not fit goes to temporary files beside the index
    #[arg(long, default_value_t = Megabytes::new(1024), value_name = "MB")]
    build_memory: Megabytes,
    /// How ids are stored
    #[arg(long, value_parser = args::choice::<IdKind>(), default_value = "bytes")]
    ids: IdKind,
    /// Threads; as many as there are cores by default
    #[arg(long, env = "TWINSPLIT_THREADS", value_name = "N", value_parser = thread_count)]
    threads: Option<usize>,
}

twinsplit_core::choice! {
    /// How ids are stored.
    enum IdKind {
        /// As they are
        Bytes = "bytes",
        /// As numbers below 2^64, in eight bytes; other ids are refused
        Numbers = "numbers",
        /// Not at all: queries print the numbers of the rows, from 0
        Rows = "rows",
    }
}

/// Runs the command.
pub fn run(opts: &Opts) -> Result<()> {
    let output = Target::of(&opts.output, opts.overwrite.overwrite, opts.rows.iter().map(PathBuf::as_path))?;
    let (bits, lines) = Lines::open(&opts.rows)?;
    if bits == 128 { build::<u128>(opts, &output, lines) } else { build::<u64>(opts, &output, lines) }
}

fn build<F: Fingerprint>(opts: &Opts, output: &Target, lines: Lines<'_>) -> Result<()> {
    let options = IndexOptions {
        distance: opts.distance,
        layout: opts.layout,
        memory: opts.memory.bytes() as u64,
        threads: threads(opts.threads),
    };
    // What is wrong for any rows is said before they are read.
    plan::<F>(1, options.distance, options.layout, options.memory)?;
    let folder = &output.folder();
    let progress = Arc::new(Progress::default());
    let display = Display::start(&progress, PHASES.len(), false);
    let [read, sort, write] = PHASES;
    progress.start("fingerprints", read, Unit::Rows, 0);
    let memory = opts.build_memory.bytes();
    let mut sorter =
        Sorter::<F>::new(SorterOptions { folder: folder.to_owned(), memory, threads: options.threads });
    let mut ids = match opts.ids {
        IdKind::Bytes => IdWriter::names(folder)?,
        IdKind::Numbers => IdWriter::numbers(folder)?,
        IdKind::Rows => IdWriter::rows(),
    };
    lines.each(|id, fingerprint| {
        sorter.push(fingerprint)?;
        progress.add(1);
        match opts.ids {
            IdKind::Numbers => ids.push(Id::Number(number(id, sorter.len())?)),
            _ => ids.push(Id::Name(id)),
        }
    })?;
    let count = sorter.len();
    progress.start("fingerprints", sort, Unit::Rows, 0);
    let sorted = sorter.finish()?;
    let plan = sorted.plan(options)?;
    terminal::note(format_args!(
        "{count} fingerprints of {} bits, layout {}: at most {:.1} MB without ids",
        F::BITS,
        plan.layout,
        plan.memory as f64 / 1e6
    ));
    progress.start("fingerprints", write, Unit::Rows, 0);
    let work = output.work_folder()?;
    let made = work.path().join("index");
    sorted.save_index(options, ids, &made).map_err(|error| output.name(error))?;
    let index = Index::<F>::open(&made, Verify::Head)?;
    output.take(&made)?;
    drop(display);
    terminal::line(format_args!(
        "{}: {} of {count} fingerprints are different; {:.1} MB with ids",
        visible::path(output.path()),
        index.distinct(),
        index.memory() as f64 / 1e6
    ));
    Ok(())
}

/// What is shown while one waits.
const PHASES: [&str; 3] = ["reading", "sorting", "writing tables"];

/// The id of a row, counted from 1, as a number.
fn number(id: &[u8], row: usize) -> Result<u64> {
    let text = std::str::from_utf8(id).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    text.and_then(|text| text.parse().ok()).ok_or_else(|| {
        Error::Usage(format!(
            "{STAGE}: --ids numbers: the id {:?} of row {row} is no whole number below 2^64; leave --ids out",
            String::from_utf8_lossy(id),
        ))
    })
}
