//! `twinsplit join`: the join kernel on a file of integer sets, one a line.
//!
//! It reads lines as sets (`read`), brings them into the order that the kernel asks for
//! ([`Collection`]), joins them, and writes the pairs (`write`), or only how many there are.

mod read;
mod write;

use super::options::{MEMORY, OUTPUT, Overwrite, output_file, thread_count, threads};
use crate::args::{self, OptionsArgs};
use clap::{ArgMatches, Args, Command};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use twinsplit_core::join::integers::Collection;
use twinsplit_core::join::kernel::{Asked, JoinPair, Sink, index_shards, join_shards, whole};
use twinsplit_core::similarity::{Measure, SetSimilarity, Similarity};
use twinsplit_engine::memory::{PROGRAM, THREAD};
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{Megabytes, Stdout, Target};
use twinsplit_rows::stages::options::MaxPairsOpts;

/// Options.
#[derive(Args, Clone, Debug)]
struct JoinOpts {
    /// File of sets, one a line: whole numbers up to 2^64 - 1 separated by spaces; plain or gzip, - for
    /// standard input
    #[arg(value_name = "SETS")]
    sets: PathBuf,
    /// Least similarity of a pair: a decimal in (0, 1] with at most 9 places; with overlap a whole number
    #[arg(long, visible_alias = "threshold", value_name = "T")]
    tau: String,
    /// How the similarity of two sets A and B is computed
    #[arg(long, value_parser = args::choice_but(&[Measure::QueryContainment]), default_value = "jaccard")]
    similarity: Measure,
    /// Print only the number of pairs
    #[arg(long, conflicts_with = "output")]
    count: bool,
    /// File for the pairs; - is standard output
    #[arg(short = OUTPUT, long, value_name = "FILE", default_value = "-", value_parser = output_file())]
    output: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Threads; by default the number of cores
    #[arg(long, env = "TWINSPLIT_THREADS", value_name = "N", value_parser = thread_count)]
    threads: Option<usize>,
    /// Megabytes to hold at one time: the sets, which always are in memory, and pairs that are sorted, which go to disk when there
    /// are more
    #[arg(long, env = "TWINSPLIT_MEMORY", default_value_t = MEMORY, value_name = "MB")]
    memory: Megabytes,
    #[command(flatten)]
    max_pairs: OptionsArgs<MaxPairsOpts>,
}

/// The least in which pairs are sorted.
const LEAST: usize = 1 << 20;

/// The command line.
pub fn command() -> Command {
    JoinOpts::augment_args(Command::new("join"))
        .about("Joins integer sets, one a line: every similar pair")
        .long_about(None)
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let opts: JoinOpts = args::read(matches)?;
    let similarity =
        opts.similarity.reaching(&opts.tau).map_err(|error| Error::Usage(format!("join: --tau: {error}")))?;
    let output = Target::of(&opts.output, opts.overwrite.overwrite, [&*opts.sets])?;
    let threads = threads(opts.threads);
    let memory = opts.memory.bytes();
    let program = PROGRAM + threads * THREAD;
    let held = AtomicUsize::new(0);
    let (parts, lines) = read::read(&opts.sets, threads, memory.saturating_sub(program), &held)?;
    let held = held.into_inner();
    // And some to sort pairs in.
    if memory < program + held + LEAST {
        return Err(Error::Limit(format!(
            "join: the sets take {} MB, which must stay in memory; --memory {} is too small: give at least {} MB",
            held.div_ceil(1 << 20),
            opts.memory,
            (program + held + LEAST).div_ceil(1 << 20)
        )));
    }
    let collection = Collection::new(parts, similarity, threads);
    if opts.count {
        let count = AtomicU64::new(0);
        each_some(&collection, similarity, threads, &|pairs| {
            count.fetch_add(pairs.iter().map(|pair| pairs_of(&collection, pair)).sum(), Ordering::Relaxed);
            Ok(())
        })?;
        let mut out = Stdout::new();
        out.line(count.into_inner().to_string().as_bytes())?;
        return out.flush();
    }
    let write = write::Writing {
        collection: &collection,
        lines,
        similarity,
        threads,
        memory: memory - held,
        most: opts.max_pairs.0.max_pairs,
    };
    write.to(&output)
}

/// How many pairs there are of a line of a set and one of another; of one with another when they are the lines of one set.
fn pairs_of(collection: &Collection, pair: &JoinPair) -> u64 {
    let [x, y] = [pair.a, pair.b].map(|set| collection.members(set).len() as u64);
    if pair.a == pair.b { x * (x - 1) / 2 } else { x * y }
}

/// Calls `visit` with each two sets that are similar, and with a set of equal lines and itself, some at a time; ends soon
/// after an error of `visit`.
fn each_some(
    collection: &Collection,
    similarity: Similarity,
    threads: usize,
    visit: &Sink<'_, Error>,
) -> Result<()> {
    let sets = &collection.sets;
    let accepts = |size: usize| similarity.accepts(size as u64, size as u64, size as u64);
    let equal = (0..sets.len() as u32).filter(|set| collection.members(*set).len() > 1);
    let equal = equal.map(|set| JoinPair { a: set, b: set, overlap: sets.size(set as usize) as u32 });
    let equal: Vec<JoinPair> = equal.filter(|pair| accepts(pair.overlap as usize)).collect();
    visit(&equal)?;
    let Ok(parts) = index_shards(sets, &whole(sets), similarity, threads);
    join_shards(sets, &parts, similarity, Asked::Pairs, threads, &|_| (), visit)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use twinsplit_core::join::integers::RawSets;

    /// Pairs come a few thousand at a time: nearly all of these sets need never be looked at.
    #[test]
    fn a_join_whose_pairs_are_refused_ends_soon() {
        let mut lines = RawSets::default();
        for line in 0..2_000 {
            (0..20).for_each(|token| lines.push(token));
            lines.push(100 + line % 1_000);
            lines.end_set();
        }
        let similarity = Measure::Jaccard.reaching("0.8").unwrap();
        let collection = Collection::new(vec![lines], similarity, 1);
        let sets = &collection.sets;
        assert_eq!(sets.len(), 1_000);
        for threads in [1, 2] {
            let seen = AtomicUsize::new(0);
            let hear = |more| {
                seen.fetch_add(more, Ordering::Relaxed);
            };
            let refuse = || Err(Error::Limit("enough".to_owned()));
            let result =
                join_shards(sets, &whole(sets), similarity, Asked::Pairs, threads, &hear, &|_| refuse());
            assert_eq!(result.unwrap_err().to_string(), "enough");
            assert!(seen.into_inner() < 500);
        }
    }
}
