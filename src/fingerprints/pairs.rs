//! `twinsplit fingerprints pairs`.

use super::read::Lines;
use crate::options::{self, threads};
use crate::progress::Display;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_engine::progress::{Progress, Unit};
use twinsplit_hamming::{Fingerprint, Id, IdWriter, Pages, Sorter, SorterOptions, check_distance};
use twinsplit_io::error::Result;
use twinsplit_io::{Megabytes, Stdout, Target};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::near::Near;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Opts {
    /// Rows of an id and a fingerprint of 16 or 32 hex digits, with a TAB between; plain or gzip, - for standard input
    #[arg(value_name = "ROWS", required = true)]
    rows: Vec<PathBuf>,
    /// The most bits in which the fingerprints of a pair differ
    #[arg(long, default_value_t = 3, value_name = "K")]
    distance: u32,
    /// Megabytes to hold at one time; what does not fit goes to temporary files
    #[arg(long, env = "TWINSPLIT_MEMORY", default_value_t = options::MEMORY, value_name = "MB")]
    memory: Megabytes,
    /// The folder of temporary files; by default that of TMPDIR
    #[arg(long, value_name = "FOLDER")]
    temp: Option<PathBuf>,
    /// Threads; as many as there are cores by default
    #[arg(long, env = "TWINSPLIT_THREADS", value_name = "N", value_parser = options::thread_count)]
    threads: Option<usize>,
}

/// Runs the command.
pub fn run(opts: &Opts) -> Result<()> {
    Target::of(Path::new("-"), false, opts.rows.iter().map(PathBuf::as_path))?;
    let (bits, lines) = Lines::open(&opts.rows)?;
    if bits == 128 { pairs::<u128>(opts, lines) } else { pairs::<u64>(opts, lines) }
}

fn pairs<F: Fingerprint>(opts: &Opts, lines: Lines<'_>) -> Result<()> {
    // Before the rows are read.
    check_distance::<F>(opts.distance)?;
    let folder = opts.temp.clone().unwrap_or_else(std::env::temp_dir);
    let progress = Arc::new(Progress::default());
    let display = Display::start(&progress, PHASES.len(), false);
    let [read, sort, join] = PHASES;
    progress.start("fingerprints", read, Unit::Rows, 0);
    let mut ids = IdWriter::names(&folder)?;
    let memory = opts.memory.bytes();
    let options = SorterOptions { folder, memory, threads: threads(opts.threads) };
    let mut sorter = Sorter::<F>::new(options);
    lines.each(|id, fingerprint| {
        progress.add(1);
        sorter.push(fingerprint)?;
        ids.push(Id::Name(id))
    })?;
    progress.start("fingerprints", sort, Unit::Rows, 0);
    let sorted = sorter.finish()?;
    let ids = ids.map(sorted.len())?;
    let name = |row| match ids.id(row) {
        Some(Id::Name(name)) => name,
        _ => b"",
    };
    progress.start("fingerprints", join, Unit::Rows, 0);
    let (mut out, mut line, mut pages) = (Stdout::new(), Vec::new(), Pages::within(memory));
    sorted.join(opts.distance, |a, b, distance| {
        pages.looked_at(6, || ids.forget());
        line.clear();
        Near::of(name(a), name(b), distance, None).encode(&mut line);
        progress.add(1);
        out.line(&line)
    })?;
    drop(display);
    out.flush()
}

/// What is shown while one waits.
const PHASES: [&str; 3] = ["reading", "sorting", "pairs found"];
