//! How many rows Term-Split writes in between, counted without writing one.
//!
//! `cargo bench --bench volume -- --idf LOW,HIGH --tau TAU [--threads N] DOCUMENTS` reads JSON lines and counts what
//! `pcp-map` would write of them with SpotSigs: of plain posting lists a row for every pair of each list (before any are added
//! up), of prefix lists a row for every pair that passes `may_pair`. It also counts the candidates, which are the different
//! pairs among these. Equal sets are in lists once. That tells which sizes a disk can hold: the shortest row
//! there could be is two numbers of 32 bits.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Args, Collection};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use twinsplit_core::similarity::tau::Tau;
use twinsplit_core::similarity::{SetSimilarity, Similarity};

/// The least that a pair takes: two numbers of 32 bits.
const PAIR: u64 = 8;

fn main() {
    let Some(args) = Args::read() else {
        eprintln!("volume: nothing to count is given");
        return;
    };
    let collection = Collection::read(&args);
    let sets = Sets::of(&collection);
    println!("different sets: {}; features in them: {}", sets.starts.len() - 1, sets.tokens.len());
    let lengths = sets.tokens.iter().fold(vec![0_u64; sets.features], |mut lengths, token| {
        lengths[*token as usize] += 1;
        lengths
    });
    print("rows of plain lists", lengths.iter().map(|n| n * n.saturating_sub(1) / 2).sum());
    let (rows, candidates) = prefix_rows(&sets, args.tau.parse().unwrap(), args.threads);
    print("rows of prefix lists", rows);
    print("candidates", candidates);
}

fn print(what: &str, count: u64) {
    println!("{what}: {count}; {:.1} GB at {PAIR} bytes each", (count * PAIR) as f64 / 1e9);
}

/// Different sets by ascending size, their features numbered from rare to frequent.
struct Sets {
    starts: Vec<usize>,
    tokens: Vec<u32>,
    features: usize,
    /// By size: how many sets are smaller.
    smaller: Vec<u32>,
}

impl Sets {
    fn of(collection: &Collection) -> Self {
        let features = collection.tokens.iter().max().map_or(0, |token| *token as usize + 1);
        let mut frequencies = vec![0_u32; features];
        collection.tokens.iter().for_each(|token| frequencies[*token as usize] += 1);
        let mut by_frequency: Vec<u32> = (0..features as u32).collect();
        by_frequency.sort_by_key(|token| frequencies[*token as usize]);
        let mut ranks = vec![0; features];
        (0..).zip(&by_frequency).for_each(|(rank, token)| ranks[*token as usize] = rank);

        let mut firsts: Vec<u32> =
            collection.firsts().filter(|two| two.0 == two.1).map(|two| two.0).collect();
        firsts.sort_by_key(|document| collection.set(*document).len());
        let (mut starts, mut tokens) = (vec![0], Vec::new());
        for document in firsts {
            let start = tokens.len();
            tokens.extend(collection.set(document).iter().map(|token| ranks[*token as usize]));
            tokens[start..].sort_unstable();
            starts.push(tokens.len());
        }
        let mut smaller = vec![0];
        for (set, bounds) in (0..).zip(starts.windows(2)) {
            smaller.resize((bounds[1] - bounds[0] + 1).max(smaller.len()), set);
        }
        Self { starts, tokens, features, smaller }
    }

    fn smaller_than(&self, size: u64) -> u32 {
        self.smaller.get(size as usize).copied().unwrap_or(self.starts.len() as u32 - 1)
    }

    fn get(&self, set: usize) -> &[u32] {
        &self.tokens[self.starts[set]..self.starts[set + 1]]
    }
}

/// A place in an index prefix: the set, and the largest set with which `may_pair` lets it pair.
struct Posting {
    set: u32,
    largest: u32,
}

/// Pairs of postings that pass `may_pair`, and how many different pairs of sets they are of.
fn prefix_rows(sets: &Sets, tau: Tau, threads: usize) -> (u64, u64) {
    let jaccard = Similarity::from(tau);
    let count = sets.starts.len() - 1;
    let mut lists: Vec<Vec<Posting>> = (0..sets.features).map(|_| Vec::new()).collect();
    for set in 0..count {
        let tokens = sets.get(set);
        let size = tokens.len() as u64;
        for (left, token) in (1..=size).rev().zip(&tokens[..jaccard.index_prefix(size) as usize]) {
            // min(left, left of the other) >= the overlap needed is a bound on the other's size, for each of both.
            let largest = jaccard.max_partner_sharing(size, left) as u32;
            lists[*token as usize].push(Posting { set: set as u32, largest });
        }
    }
    let next = AtomicUsize::new(0);
    let (rows, candidates) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        // The query that met a set last.
        let mut met = vec![0_u32; count];
        let (mut own_rows, mut own_candidates) = (0, 0);
        loop {
            let x = next.fetch_add(1, Ordering::Relaxed);
            if x >= count {
                rows.fetch_add(own_rows, Ordering::Relaxed);
                candidates.fetch_add(own_candidates, Ordering::Relaxed);
                return;
            }
            let tokens = sets.get(x);
            let size = tokens.len() as u64;
            let first = sets.smaller_than(jaccard.min_partner(size));
            let prefix = &tokens[..jaccard.probe_prefix(size) as usize];
            for (left, token) in (1..=size).rev().zip(prefix) {
                let end = sets.smaller_than(jaccard.max_partner_sharing(size, left) + 1).min(x as u32);
                let list = &lists[*token as usize];
                let from = list.partition_point(|posting| posting.set < first);
                for posting in list[from..].iter().take_while(|posting| posting.set < end) {
                    let passes = size <= u64::from(posting.largest);
                    own_rows += u64::from(passes);
                    let met = &mut met[posting.set as usize];
                    own_candidates += u64::from(passes && *met != x as u32);
                    *met = if passes { x as u32 } else { *met };
                }
            }
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    (rows.into_inner(), candidates.into_inner())
}
