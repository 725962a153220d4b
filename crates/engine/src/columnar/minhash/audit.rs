//! The audit of a MinHash run: what its bands have found of the pairs that an exact join finds.
//!
//! Every so many-th set, in the order of sizes, is joined exactly with the sets that come after it, and the pairs with a common key
//! are counted: the recall that the bands have reached here. A pair belongs to the earlier of its two sets, so the audit draws sets and
//! takes all pairs of each, as a cluster sample does (cochran1977, chapter 9). Pairs of one set are found and lost together, so their
//! number alone says little of how far the recall may lie from that of the sample: the squares of what each set has are counted as well,
//! from which the command line makes the interval. Equal sets are found without a key, and do not count.

use super::MinHashJoin;
use super::band_keys::KeyBuffer;
use crate::columnar::named;
use crate::progress::Unit;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_core::join::kernel::{Asked, JoinPair, Shard, Source, join_shards, queries};
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stage::Counters;

/// Sets that an audit draws, at least, where there are so many; of fewer than twice as many it counts all.
const SETS: usize = 4000;

/// Counter: the sets of the run.
pub const OF_SETS: &str = "audit_of_sets";
/// Counter: the sets that were drawn.
pub const DRAWN: &str = "audit_sets";
/// Counter: pairs of the exact join that belong to sets that were drawn.
pub const PAIRS: &str = "audit_pairs";
/// Counter: those of them that have a key in common.
pub const FOUND: &str = "audit_pairs_found";
/// Counter: the sum over the sets of the square of a set's pairs.
pub const PAIRS_SQUARED: &str = "audit_pairs_squared";
/// Counter: the sum over the sets of the product of a set's pairs and of those of them that were found.
pub const PAIRS_TIMES_FOUND: &str = "audit_pairs_times_found";
/// Counter: the sum over the sets of the square of a set's pairs that were found.
pub const FOUND_SQUARED: &str = "audit_found_squared";

/// What a set that was drawn has.
#[derive(Default)]
struct OfSet {
    pairs: AtomicU64,
    found: AtomicU64,
}

impl MinHashJoin<'_> {
    /// Joins some sets exactly, and counts the pairs with a common key.
    pub fn audit(&self) -> Result<Counters> {
        let store = &self.groups.store;
        let all = store.sets();
        if all == 0 {
            return Ok(Counters::new());
        }
        let step = (all / SETS).max(1);
        let part = Shard { first: step / 2, end: all, step };
        let similarity = self.similarity();
        self.run.progress.start("audit", "joining", Unit::Sets, queries(store, &[part], similarity) as u64);
        let on_progress = |sets| self.run.progress.add(sets as u64);
        let drawn: Vec<OfSet> = (part.first..all).step_by(step).map(|_| OfSet::default()).collect();
        let take = |pairs: &[JoinPair]| {
            let mut buffer = KeyBuffer::default();
            for pair in pairs {
                let set = &drawn[(pair.a.min(pair.b) as usize - part.first) / step];
                let places = (self.place(pair.a), self.place(pair.b));
                let is_met = self.keys().meet(places, self.band_count(), &mut buffer)?;
                set.pairs.fetch_add(1, Ordering::Relaxed);
                set.found.fetch_add(is_met.into(), Ordering::Relaxed);
            }
            Ok::<(), Error>(())
        };
        let threads = store.readers(1, 0, self.run.threads, self.budget);
        join_shards(store, &[part], similarity, Asked::Pairs, threads, &on_progress, &take)?;
        let drawn: Vec<[u64; 2]> =
            drawn.into_iter().map(|set| [set.pairs.into_inner(), set.found.into_inner()]).collect();
        let sum = |of: fn(&[u64; 2]) -> u64| drawn.iter().map(of).sum();
        Ok(named(&[
            (OF_SETS, all as u64),
            (DRAWN, drawn.len() as u64),
            (PAIRS, sum(|[pairs, _]| *pairs)),
            (FOUND, sum(|[_, found]| *found)),
            (PAIRS_SQUARED, sum(|[pairs, _]| pairs * pairs)),
            (PAIRS_TIMES_FOUND, sum(|[pairs, found]| pairs * found)),
            (FOUND_SQUARED, sum(|[_, found]| found * found)),
        ]))
    }
}
