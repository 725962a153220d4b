//! `twinsplit fingerprints build`.

use super::STAGE;
use super::read::{Read, Rows, read};
use crate::cli::options::threads;
use crate::error::{Error, Result};
use crate::hamming::{Fingerprint, Index, IndexOptions, Layout, plan};
use crate::terminal;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Opts {
    /// Rows of an id and a fingerprint of 16 or 32 hex digits, with a TAB between; plain or gzip, - for standard input
    #[arg(value_name = "ROWS", required = true)]
    rows: Vec<PathBuf>,
    /// The index file
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// The most bits in which what queries find may differ from them, 0 to 8
    #[arg(long, default_value_t = 3, value_name = "K")]
    distance: u32,
    /// The tables: scan, multi-index:M (one for each of M blocks of bits, norouzi2012), block-pairs (one for each two of K + 2 blocks, manku2007); by default the fastest in --memory
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<Layout>,
    /// Megabytes that the tables may take
    #[arg(long, env = "TWINSPLIT_MEMORY", default_value_t = 4096, value_name = "MB")]
    memory: u64,
    /// How ids are stored
    #[arg(long, value_enum, default_value = "bytes")]
    ids: IdKind,
    /// Threads; as many as there are cores by default
    #[arg(long, env = "TWINSPLIT_THREADS", value_name = "N")]
    threads: Option<usize>,
}

/// How ids are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum IdKind {
    /// As they are
    Bytes,
    /// As numbers below 2^64, in eight bytes; other ids are refused
    Numbers,
    /// Not at all: queries print the numbers of the rows, from 0
    Rows,
}

/// Runs the command.
pub fn run(opts: &Opts) -> Result<()> {
    match read(&opts.rows)? {
        Read::Short(rows) => build(opts, &rows),
        Read::Long(rows) => build(opts, &rows),
    }
}

fn build<F: Fingerprint>(opts: &Opts, rows: &Rows<F>) -> Result<()> {
    let options = IndexOptions {
        distance: opts.distance,
        layout: opts.layout,
        memory: opts.memory.saturating_mul(1 << 20),
        threads: threads(opts.threads),
    };
    let count = rows.fingerprints.len();
    let plan = plan::<F>(count, options.distance, options.layout, options.memory)?;
    terminal::note(format_args!(
        "{count} fingerprints of {} bits, layout {}: at most {:.1} MB without ids",
        F::BITS,
        plan.layout,
        plan.memory as f64 / 1e6
    ));
    let index = Index::build(&rows.fingerprints, options)?;
    let index = match opts.ids {
        IdKind::Rows => index,
        IdKind::Bytes => index.with_names(rows.ids())?,
        IdKind::Numbers => index.with_numbers(&numbers(rows)?)?,
    };
    index.save(&opts.output)?;
    terminal::line(format_args!(
        "{}: {} of {count} fingerprints are different; {:.1} MB with ids",
        opts.output.display(),
        index.distinct(),
        index.memory() as f64 / 1e6
    ));
    Ok(())
}

fn numbers<F>(rows: &Rows<F>) -> Result<Vec<u64>> {
    let number = |(row, id): (usize, &[u8])| {
        let text = std::str::from_utf8(id).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        text.and_then(|text| text.parse().ok()).ok_or_else(|| {
            Error::Usage(format!(
                "{STAGE}: --ids numbers: the id {:?} of row {} is no whole number below 2^64; leave --ids out",
                String::from_utf8_lossy(id),
                row + 1
            ))
        })
    };
    rows.ids().enumerate().map(number).collect()
}
