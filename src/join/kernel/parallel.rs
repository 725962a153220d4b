//! The self-join of a whole collection: slice by slice, and on several threads.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{Index, Purpose, Scratch};
use crate::join::sets::Sets;
use crate::join::tau::Tau;

/// A pair of the answer: the numbers of two sets, `a < b`, and how many tokens they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JoinPair {
    /// The earlier set, which is not the larger one.
    pub a: u32,
    /// The later set.
    pub b: u32,
    /// The number of tokens in both.
    pub overlap: u32,
}

/// Queries that a thread takes at a time: enough to make the counter cheap, few enough to share out
/// the large sets at the end of the collection.
const BLOCK: usize = 64;

/// Once a round has found so many pairs, its threads finish their blocks and hand over.
const ROUND_PAIRS: usize = 1 << 20;

/// Every pair of `sets` that `tau` accepts, once, sorted by (`b`, `a`), for any number of threads.
pub fn self_join(sets: &Sets, tau: Tau, threads: usize) -> Vec<JoinPair> {
    // An index counts its postings in 32 bits; only a collection beyond that needs a second slice.
    let mut slices = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for set in 0..sets.len() {
        if tokens + sets.size(set) > u32::MAX as usize {
            slices.push(start..set);
            (start, tokens) = (set, 0);
        }
        tokens += sets.size(set);
    }
    slices.push(start..sets.len());

    let mut pairs = Vec::new();
    self_join_slices(sets, &slices, tau, threads, &mut |pair| pairs.push(pair));
    if slices.len() > 1 {
        pairs.sort_unstable_by_key(|pair| (pair.b, pair.a));
    }
    pairs
}

/// Hands every pair of `sets` that `tau` accepts to `sink`, once, with an index over one slice at a time.
///
/// The slices are disjoint ranges that together cover all sets. The pairs come sorted by (slice of `a`,
/// `b`, `a`), for any number of threads. `sink` runs on the calling thread. With one thread nothing is
/// held back; with more, about two million pairs may wait for it, and for each thread those of two
/// blocks of 64 queries.
///
/// # Panics
/// When a slice holds 2^32 prefix tokens or more, and when `sink` panics.
pub fn self_join_slices(
    sets: &Sets,
    slices: &[Range<usize>],
    tau: Tau,
    threads: usize,
    sink: &mut dyn FnMut(JoinPair),
) {
    let mut scratches: Vec<Scratch> = (0..threads.max(1)).map(|_| Scratch::default()).collect();
    for slice in slices.iter().filter(|slice| !slice.is_empty()) {
        let index = Index::build(sets, slice.clone(), tau, Purpose::SelfJoin);
        // The first set of a slice has no earlier partner in it; sets far larger than all have none.
        let largest = tau.max_partner(sets.size(slice.end - 1) as u64);
        let queries = slice.start + 1..sets.count_up_to(largest).max(slice.start + 1);
        match &mut scratches[..] {
            [scratch] => queries.for_each(|x| query(&index, x, scratch, &mut *sink)),
            scratches => in_rounds(&index, queries, scratches, sink),
        }
    }
}

/// All partners of set `x` in the index that are numbered below it.
fn query(index: &Index<&Sets>, x: usize, scratch: &mut Scratch, mut found: impl FnMut(JoinPair)) {
    index.query(index.sets().get(x), x, scratch, |y, overlap| {
        found(JoinPair { a: y as u32, b: x as u32, overlap: overlap as u32 });
    });
}

/// The queries on a thread for each scratch, the pairs in the order of one thread.
///
/// The threads take blocks of queries from a counter until the round has found enough. While the next
/// round runs, the calling thread puts the blocks of the last one in order and empties them.
fn in_rounds(
    index: &Index<&Sets>,
    queries: Range<usize>,
    scratches: &mut [Scratch],
    sink: &mut dyn FnMut(JoinPair),
) {
    let blocks = queries.len().div_ceil(BLOCK);
    let taken = AtomicUsize::new(0);
    let mut done: Vec<(usize, Vec<JoinPair>)> = Vec::new();
    while taken.load(Ordering::Relaxed) < blocks {
        let found = AtomicUsize::new(0);
        let work = |scratch: &mut Scratch| {
            let mut mine = Vec::new();
            while found.load(Ordering::Relaxed) < ROUND_PAIRS {
                let block = taken.fetch_add(1, Ordering::Relaxed);
                if block >= blocks {
                    break;
                }
                let first = queries.start + block * BLOCK;
                let mut pairs = Vec::new();
                for x in first..(first + BLOCK).min(queries.end) {
                    query(index, x, scratch, |pair| pairs.push(pair));
                }
                found.fetch_add(pairs.len(), Ordering::Relaxed);
                mine.push((block, pairs));
            }
            mine
        };
        done = thread::scope(|scope| {
            let work = &work;
            let workers: Vec<_> =
                scratches.iter_mut().map(|scratch| scope.spawn(move || work(scratch))).collect();
            emit(std::mem::take(&mut done), sink);
            let outputs = workers.into_iter().map(|worker| worker.join());
            outputs.flat_map(|output| output.unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
    }
    emit(done, sink);
}

/// Hands over the pairs of some blocks in the order of the blocks.
fn emit(mut blocks: Vec<(usize, Vec<JoinPair>)>, sink: &mut dyn FnMut(JoinPair)) {
    blocks.sort_unstable_by_key(|&(block, _)| block);
    blocks.into_iter().flat_map(|(_, pairs)| pairs).for_each(sink);
}
