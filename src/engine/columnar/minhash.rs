//! The local engine's MinHash: keys of bands are made while documents are read, where their features are at hand; sets that share
//! a key are compared at once.
//!
//! Of a signature only its keys stay, eight bytes for each band of a document. Band after band they are sorted with the numbers
//! of their sets; two neighbours with one key are a candidate in the first band in which they meet, and nowhere else, for the
//! keys of the earlier bands are there to be looked at.
//!
//! The audit joins some of the sets with all others exactly, every so many-th in the order of sizes, and counts how many of the
//! pairs have a key in common: the recall that the bands have reached here. Equal sets are found without a key, and do not count.

use super::documents::Documents;
use super::groups::Groups;
use super::join::Pairs;
use super::{ColumnarRun, named};
use crate::engine::memory::Budget;
use crate::engine::progress::Unit;
use crate::error::{Error, Result};
use crate::join::kernel::{Asked, JoinPair, Shard, Source, join_shards, overlap_of_sets, queries};
use crate::join::sets::Sets;
use crate::similarity::{SetSimilarity, Similarity};
use crate::sketch::bands::Bands;
use crate::sketch::minhash::Signer;
use crate::stage::Counters;
use crate::stages::minhash::sizes_fit;
use crate::threads::{in_threads, lock};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pairs that a thread holds before it hands them over.
const BATCH: usize = 4096;

/// Sets that an audit joins exactly, at least, where there are so many.
const AUDIT_SETS: usize = 1000;

/// Counters of an audit: the pairs of the exact join that it looked at, and those of them that have a key in common.
pub const AUDITED: &str = "audit_pairs";
/// See [`AUDITED`].
pub const AUDIT_FOUND: &str = "audit_pairs_found";

/// Makes the keys of documents.
pub struct Keys {
    bands: Bands,
    signer: Signer,
    values: Vec<u32>,
}

impl Keys {
    /// Of signatures that a signer makes.
    pub fn new(bands: Bands, signer: Signer) -> Self {
        Self { bands, signer, values: Vec::new() }
    }

    /// Appends the keys of a set.
    pub fn of(&mut self, features: &[u64], out: &mut Vec<u64>) {
        self.values.clear();
        self.signer.sign(features, &mut self.values);
        self.bands.keys(&self.values, out);
    }

    /// Appends what stands for the keys of a line that is in no join.
    pub fn none(&self, out: &mut Vec<u64>) {
        out.resize(out.len() + self.bands.bands, 0);
    }

    /// Makes the keys of a set whose features come one by one, by [`add`](Self::add).
    pub fn start(&mut self) {
        self.signer.start();
    }

    /// Takes a feature.
    pub fn add(&mut self, feature: u64) {
        self.signer.add(feature);
    }

    /// Appends the keys of all that was added, more than a document has whose features are held.
    pub fn finish(&mut self, out: &mut Vec<u64>) -> Result<()> {
        self.values.clear();
        if !self.signer.finish(&mut self.values) {
            return Err(Error::Limit(
                "minhash: a signature has more values than its many features fill; give fewer --hashes"
                    .to_owned(),
            ));
        }
        self.bands.keys(&self.values, out);
        Ok(())
    }
}

/// The join of a run, by the keys of its documents.
pub struct MinHashJoin<'a> {
    /// The run.
    pub run: &'a ColumnarRun<'a>,
    /// The documents, with their keys.
    pub documents: &'a Documents,
    /// Their sets.
    pub groups: &'a Groups,
    /// What may be held in memory.
    pub budget: &'a Budget,
}

/// What was met.
#[derive(Default)]
struct Met {
    keys: AtomicU64,
    pairs: AtomicU64,
    unlike: AtomicU64,
    candidates: AtomicU64,
}

impl MinHashJoin<'_> {
    /// Hands the pairs of the answer to `pairs`, and gives counters.
    pub fn run(&self, pairs: &mut Pairs<'_, '_>) -> Result<Counters> {
        let bands = self.run.opts.bands.bands as usize;
        let sets = self.groups.count() as usize;
        let threads = self.run.threads.min(bands).max(1);
        let bytes = threads * sets * size_of::<(u64, u32)>();
        if let Some(enough) = self.budget.enough_for(bytes) {
            return Err(Error::Limit(format!(
                "lsh-bands: the keys of {sets} sets take {} MB beside their documents while they are sorted; give at least \
                 --memory {}, or fewer --threads",
                bytes.div_ceil(1 << 20),
                enough.div_ceil(1 << 20)
            )));
        }
        self.budget.hold(bytes);
        let met = Met::default();
        self.run.progress.start("lsh-bands", "pairing", Unit::Sets, (sets * bands) as u64);
        let taker = Mutex::new(pairs);
        let done = in_threads(bands, threads, |band| {
            self.band(band, &met, &taker)?;
            self.run.progress.add(sets as u64);
            Ok(())
        });
        self.budget.release(bytes);
        done?;
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut counters = named(&[
            ("shared_keys", of(&met.keys)),
            ("pairs_of_postings", of(&met.pairs)),
            ("pairs_of_unlike_sizes", of(&met.unlike)),
            ("candidate_pairs", of(&met.candidates)),
        ]);
        counters.extend(self.audit()?);
        Ok(counters)
    }

    fn similarity(&self) -> Similarity {
        self.run.opts.similarity.0
    }

    fn keys(&self, set: u32) -> &[u64] {
        let place = self.documents.order[self.groups.members(set)[0] as usize] as usize;
        let bands = self.run.opts.bands.bands as usize;
        &self.documents.keys[place * bands..(place + 1) * bands]
    }

    /// Pairs the sets that share a key of a band.
    fn band(&self, band: usize, met: &Met, taker: &Mutex<&mut Pairs<'_, '_>>) -> Result<()> {
        let mut keyed: Vec<(u64, u32)> =
            (0..self.groups.count()).map(|set| (self.keys(set)[band], set)).collect();
        keyed.sort_unstable();
        let most = self.run.opts.max_pairs.max_pairs;
        let (mut first, mut second) = (Sets::default(), Sets::default());
        let mut found = Vec::with_capacity(BATCH);
        let store = &self.groups.store;
        let add = |count: &AtomicU64, number: u64| count.fetch_add(number, Ordering::Relaxed) + number;
        for same in keyed.chunk_by(|x, y| x.0 == y.0).filter(|same| same.len() > 1) {
            add(&met.keys, 1);
            let (mut unlike, mut candidates) = (0, 0);
            for (at, (_, x)) in same.iter().enumerate() {
                let later = &same[at + 1..];
                let all = add(&met.pairs, later.len() as u64);
                if all > most {
                    return Err(Error::Limit(format!(
                        "lsh-bands: more than {most} pairs of documents with a common key; more --rows have fewer, or raise \
                         --max-pairs"
                    )));
                }
                let size_x = store.size_of(*x as usize) as u64;
                let keys_x = &self.keys(*x)[..band];
                let tokens_x = if later.is_empty() { &[] } else { store.get(*x as usize, &mut first)? };
                for (_, y) in later {
                    let size_y = store.size_of(*y as usize) as u64;
                    if !sizes_fit(self.similarity(), size_x, size_y) {
                        unlike += 1;
                        continue;
                    }
                    if keys_x.iter().zip(self.keys(*y)).any(|(x, y)| x == y) {
                        continue;
                    }
                    candidates += 1;
                    let needed = self.similarity().overlap_needed(size_x, size_y) as usize;
                    let overlap = overlap_of_sets(tokens_x, store.get(*y as usize, &mut second)?, needed);
                    found.extend(overlap.map(|overlap| JoinPair { a: *x, b: *y, overlap }));
                    if found.len() >= BATCH {
                        lock(taker).take(&found)?;
                        found.clear();
                    }
                }
            }
            add(&met.unlike, unlike);
            add(&met.candidates, candidates);
        }
        lock(taker).take(&found)
    }

    /// Joins some sets exactly, and counts the pairs with a common key.
    fn audit(&self) -> Result<Counters> {
        let store = &self.groups.store;
        let all = store.sets();
        if all == 0 {
            return Ok(Counters::new());
        }
        let step = (all / AUDIT_SETS).max(1);
        let part = Shard { first: step / 2, end: all, step };
        self.run.progress.start(
            "audit",
            "joining",
            Unit::Sets,
            queries(store, &[part], self.similarity()) as u64,
        );
        let on_progress = |sets| self.run.progress.add(sets as u64);
        let (pairs, met) = (AtomicU64::new(0), AtomicU64::new(0));
        let take = |found: &[JoinPair]| {
            let meet =
                |pair: &&JoinPair| self.keys(pair.a).iter().zip(self.keys(pair.b)).any(|(x, y)| x == y);
            pairs.fetch_add(found.len() as u64, Ordering::Relaxed);
            met.fetch_add(found.iter().filter(meet).count() as u64, Ordering::Relaxed);
            Ok::<(), Error>(())
        };
        let threads = store.readers(1, 0, self.run.threads, self.budget);
        join_shards(store, &[part], self.similarity(), Asked::Pairs, threads, &on_progress, &take)?;
        Ok(named(&[
            ("audit_sets", (part.first..all).step_by(step).len() as u64),
            (AUDITED, pairs.into_inner()),
            (AUDIT_FOUND, met.into_inner()),
        ]))
    }
}
