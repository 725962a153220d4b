//! `twinsplit fingerprints query`.

use super::read::Rows;
use crate::args;
use crate::options::{thread_count, threads};
use clap::Args;
use std::path::{Path, PathBuf};
use twinsplit_core::threads::in_threads;
use twinsplit_hamming::{Fingerprint, Id, Index, Scratch, Verify, bits_of};
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{Stdout, Target};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::near::NearQuery;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Opts {
    /// The index file
    #[arg(value_name = "INDEX")]
    index: PathBuf,
    /// Rows of an id and a fingerprint, as wide as those of the index; plain or gzip, - for standard input
    #[arg(value_name = "ROWS", default_value = "-")]
    rows: Vec<PathBuf>,
    /// The most bits in which what is found may differ; that of the index by default, and at most that
    #[arg(long, value_name = "K")]
    distance: Option<u32>,
    /// How much of the file is compared with its checksums before it is asked
    #[arg(long, value_parser = args::choice::<Checked>(), default_value = "all")]
    verify: Checked,
    /// Threads; as many as there are cores by default
    #[arg(long, env = "TWINSPLIT_THREADS", value_name = "N", value_parser = thread_count)]
    threads: Option<usize>,
}

twinsplit_core::choice! {
    /// How much of a file is compared with its checksums.
    enum Checked {
        /// All of it, which reads it once
        All = "all",
        /// Its head and its length: for large files that were verified before
        Head = "head",
    }
}

/// Runs the command.
pub fn run(opts: &Opts) -> Result<()> {
    let reads = opts.rows.iter().chain([&opts.index]).map(PathBuf::as_path);
    Target::of(Path::new("-"), false, reads)?;
    if bits_of(&opts.index)? == 128 { query::<u128>(opts) } else { query::<u64>(opts) }
}

/// A query's row, a row that was found, and the distance.
type Found = (u32, u32, u32);

fn query<F: Fingerprint>(opts: &Opts) -> Result<()> {
    let threads = threads(opts.threads);
    let verify = match opts.verify {
        Checked::All => Verify::All { threads },
        Checked::Head => Verify::Head,
    };
    let index = Index::<F>::open(&opts.index, verify)?;
    let distance = index.within(opts.distance)?;
    let rows: Rows<F> = Rows::read(&opts.rows)?;
    let share = rows.fingerprints.len().div_ceil(threads).max(1);
    let shares: Vec<&[F]> = rows.fingerprints.chunks(share).collect();
    let found = in_threads(shares.len(), threads, |number| {
        let mut found: Vec<Found> = Vec::new();
        index.search_all(shares[number], &mut Scratch::default(), |query, one| {
            if one.distance <= distance {
                found.push(((number * share + query) as u32, one.row, one.distance));
            }
        });
        Ok::<_, Error>(found)
    })?;
    let mut found: Vec<Found> = found.into_iter().flatten().collect();
    let key = |&(query, row, _): &Found| (rows.id(query as usize), index.id(row), query, row);
    found.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
    let (mut out, mut line) = (Stdout::new(), Vec::new());
    for (query, row, distance) in found {
        let number;
        let id = match index.id(row) {
            Some(Id::Number(of)) => {
                number = of.to_string();
                number.as_bytes()
            }
            Some(Id::Name(name)) => name,
            None => b"",
        };
        line.clear();
        NearQuery { query: rows.id(query as usize), id, distance }.encode(&mut line);
        out.line(&line)?;
    }
    out.flush()
}
