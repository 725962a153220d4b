//! The local engine's MinHash: keys of bands are made while documents are read, where their features are at hand; sets that share
//! a key are compared at once.
//!
//! Of a signature only its keys stay, eight bytes for each band of a document, in memory or in a file ([`band_keys`]). Band after band they are sorted with the numbers
//! of their sets; two neighbours with one key are a candidate in the first band in which they meet, and nowhere else, for the
//! keys of the earlier bands are there to be looked at.
//!
//! Where clusters alone are asked for, most candidates are not looked at ([`clusters`]).
//!
//! What the bands have lost here, the audit of [`audit`] finds out.

pub mod audit;
pub mod band_keys;
mod clusters;

use super::documents::Documents;
use super::groups::Groups;
use super::join::Pairs;
use super::{ColumnarRun, named};
use crate::memory::Budget;
use crate::progress::Unit;
use twinsplit_core::join::kernel::{JoinPair, Source, overlap_of_sets};
use twinsplit_core::join::sets::Sets;
use twinsplit_core::similarity::{SetSimilarity, Similarity};
use twinsplit_core::threads::{in_threads, lock};
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stage::Counters;
use twinsplit_rows::stages::minhash::sizes_fit;

use band_keys::{BandKeys, KeyBuffer};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pairs that a thread holds before it hands them over.
const BATCH: usize = 4096;

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

impl Met {
    /// Counts what a thread has compared.
    fn add(&self, by: &Comparer) {
        self.unlike.fetch_add(by.unlike, Ordering::Relaxed);
        self.candidates.fetch_add(by.candidates, Ordering::Relaxed);
    }

    fn counters(&self) -> Counters {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        named(&[
            ("shared_keys", of(&self.keys)),
            ("pairs_of_postings", of(&self.pairs)),
            ("pairs_of_unlike_sizes", of(&self.unlike)),
            ("candidate_pairs", of(&self.candidates)),
        ])
    }
}

/// What a thread reads sets into, and what it has compared.
#[derive(Default)]
struct Comparer {
    sets: [Sets; 2],
    keys: KeyBuffer,
    unlike: u64,
    candidates: u64,
}

impl MinHashJoin<'_> {
    /// Hands the pairs of the answer to `pairs`, and gives counters.
    pub fn run(&self, pairs: &mut Pairs<'_, '_>) -> Result<Counters> {
        let met = Met::default();
        if let Some((forest, joined)) = pairs.forest_alone() {
            *joined += self.connect(forest, &met)?;
        } else {
            let taker = Mutex::new(pairs);
            self.bands(0..self.band_count(), |band| self.band(band, &met, &taker))?;
        }
        let mut counters = met.counters();
        counters.extend(self.audit()?);
        Ok(counters)
    }

    fn similarity(&self) -> Similarity {
        self.run.opts.similarity.0
    }

    fn band_count(&self) -> usize {
        self.run.opts.bands.bands as usize
    }

    /// The place of a set's first document, which has its keys.
    fn place(&self, set: u32) -> usize {
        self.documents.order[self.groups.members(set)[0] as usize] as usize
    }

    fn keys(&self) -> &BandKeys {
        &self.documents.keys
    }

    /// Calls `work` with each of some bands, in as many threads as there is memory for; each may sort the keys of a band.
    fn bands<T: Send>(
        &self,
        bands: Range<usize>,
        work: impl Fn(usize) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let sets = self.groups.count() as usize;
        let of_a_thread = sets * size_of::<(u64, u32)>() + self.keys().column_bytes();
        if let Some(enough) = self.budget.enough_for(of_a_thread) {
            return Err(Error::Limit(format!(
                "lsh-bands: the keys of {sets} sets take {} MB beside their documents while those of a band are sorted; give at \
                 least --memory {}",
                of_a_thread.div_ceil(1 << 20),
                enough.div_ceil(1 << 20)
            )));
        }
        let fit = self.budget.spare() / of_a_thread.max(1);
        let threads = fit.clamp(1, self.run.threads.min(bands.len()).max(1));
        let bytes = threads * of_a_thread;
        self.budget.hold(bytes);
        self.run.progress.start("lsh-bands", "pairing", Unit::Sets, (sets * bands.len()) as u64);
        let done = in_threads(bands.len(), threads, |at| {
            let of_band = work(bands.start + at)?;
            self.run.progress.add(sets as u64);
            Ok(of_band)
        });
        self.budget.release(bytes);
        done
    }

    /// Calls `visit` with the sets that share a key of a band, key by key.
    fn buckets(
        &self,
        band: usize,
        met: &Met,
        mut visit: impl FnMut(&[(u64, u32)]) -> Result<()>,
    ) -> Result<()> {
        let column = self.keys().column(band)?;
        let mut keyed: Vec<(u64, u32)> =
            (0..self.groups.count()).map(|set| (column.get(self.place(set)), set)).collect();
        drop(column);
        keyed.sort_unstable();
        for same in keyed.chunk_by(|x, y| x.0 == y.0).filter(|same| same.len() > 1) {
            met.keys.fetch_add(1, Ordering::Relaxed);
            visit(same)?;
        }
        Ok(())
    }

    /// Counts pairs that share a key and are looked at; an error where there are too many.
    fn admit(&self, pairs: u64, met: &Met) -> Result<()> {
        let most = self.run.opts.max_pairs.max_pairs;
        if met.pairs.fetch_add(pairs, Ordering::Relaxed) + pairs > most {
            return Err(Error::Limit(format!(
                "lsh-bands: more than {most} pairs of documents with a common key; more --rows have fewer, or raise \
                 --max-pairs"
            )));
        }
        Ok(())
    }

    /// What two sets that share a key share, where that is enough. Those that share a key of one of the `earlier` bands have been compared.
    fn compare(&self, (x, y): (u32, u32), earlier: usize, by: &mut Comparer) -> Result<Option<u32>> {
        let store = &self.groups.store;
        let [size_x, size_y] = [x, y].map(|set| store.size_of(set as usize) as u64);
        if !sizes_fit(self.similarity(), size_x, size_y) {
            by.unlike += 1;
            return Ok(None);
        }
        if self.keys().meet((self.place(x), self.place(y)), earlier, &mut by.keys)? {
            return Ok(None);
        }
        by.candidates += 1;
        let [first, second] = &mut by.sets;
        let needed = self.similarity().overlap_needed(size_x, size_y) as usize;
        let (tokens_x, tokens_y) = (store.get(x as usize, first)?, store.get(y as usize, second)?);
        Ok(overlap_of_sets(tokens_x, tokens_y, needed))
    }

    /// Pairs the sets that share a key of a band.
    fn band(&self, band: usize, met: &Met, taker: &Mutex<&mut Pairs<'_, '_>>) -> Result<()> {
        let (mut by, mut found) = (Comparer::default(), Vec::with_capacity(BATCH));
        self.buckets(band, met, |same| {
            for (at, (_, a)) in same.iter().enumerate() {
                let later = &same[at + 1..];
                self.admit(later.len() as u64, met)?;
                for (_, b) in later {
                    let overlap = self.compare((*a, *b), band, &mut by)?;
                    found.extend(overlap.map(|overlap| JoinPair { a: *a, b: *b, overlap }));
                    if found.len() >= BATCH {
                        lock(taker).take(&found)?;
                        found.clear();
                    }
                }
            }
            Ok(())
        })?;
        met.add(&by);
        lock(taker).take(&found)
    }
}
