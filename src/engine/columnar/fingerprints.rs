//! The local engine's SimHash: fingerprints are made while documents are read, and joined in memory ([`crate::hamming::join`]), or in
//! temporary files where memory is too little ([`crate::hamming::Sorter`]).
//!
//! Of a document its fingerprint and its distance stay, in the columns in which MinHash keeps keys. Documents with both equal are
//! a group, as those of equal sets are; the different fingerprints are joined once, at the greatest distance of all, and a pair
//! is one where it is within the distances of both.

use super::documents::Documents;
use super::groups::Groups;
use super::join::Pairs;
use super::named;
use crate::engine::memory::Budget;
use crate::engine::progress::{Progress, Unit};
use crate::error::{Error, Result};
use crate::hamming::{self, JoinOptions, Sorter, SorterOptions};
use crate::join::kernel::JoinPair;
use crate::sketch::simhash::{Bits, Fingerprint};
use crate::sketch::{Idf, Sketcher};
use crate::stage::Counters;
use crate::stages::hamming::FINGERPRINTS;
use crate::stages::simhash::{DistanceOpts, FingerprintOpts};
use crate::threads::lock;
use std::path::Path;
use std::sync::Mutex;

/// Numbers of a document's column: whether it has a fingerprint, with its distance, and the two halves of that.
const WIDTH: usize = 3;

/// Pairs that are handed over at a time.
const BATCH: usize = 4096;

/// Makes the fingerprints of a thread's documents.
pub struct Printer {
    sketcher: Sketcher,
    distances: DistanceOpts,
}

impl Printer {
    /// One with these options and frequencies.
    pub fn new(opts: &FingerprintOpts, idf: Idf) -> Result<Self> {
        Ok(Self { sketcher: opts.sketch.sketcher(idf)?, distances: opts.distance.clone() })
    }

    /// Appends what is kept of a document, and says whether it has a fingerprint.
    pub fn of(&mut self, text: &str, out: &mut Vec<u64>) -> bool {
        let Some(Fingerprint { value, .. }) = self.sketcher.fingerprint(text) else {
            Self::none(out);
            return false;
        };
        let distance = self.distances.distance.of_text(text);
        out.extend([1 + u64::from(distance), (value >> 64) as u64, value as u64]);
        true
    }

    /// Appends what stands for a document without a fingerprint.
    pub fn none(out: &mut Vec<u64>) {
        out.extend([0; WIDTH]);
    }
}

/// The fingerprints of all documents.
pub struct Fingerprints<'a> {
    documents: &'a Documents,
    bits: Bits,
}

impl<'a> Fingerprints<'a> {
    /// Those that were made while documents were read.
    pub fn of(documents: &'a Documents, opts: &FingerprintOpts) -> Self {
        Self { documents, bits: opts.sketch.bits }
    }

    /// That of a document by its number, and the greatest distance of a pair that it is in.
    fn get(&self, number: u32) -> Option<(u128, u32)> {
        let place = self.documents.order[number as usize] as usize;
        let [distance, high, low] = *self.documents.keys.get(place * WIDTH..)?.first_chunk()?;
        let value = u128::from(high) << 64 | u128::from(low);
        Some((value, distance.checked_sub(1)? as u32))
    }

    /// In how many bits two documents differ, and whether a pair may.
    pub fn distance(&self, x: u32, y: u32) -> (u32, bool) {
        let ((a, most_a), (b, most_b)) = self.get(x).zip(self.get(y)).unwrap_or(((0, 0), (u128::MAX, 0)));
        let distance = (a ^ b).count_ones();
        (distance, distance <= most_a.min(most_b))
    }

    /// The documents with a fingerprint, in groups of those with the same one and the same distance.
    pub fn groups(&self, (budget, work): (&Budget, &Path), progress: &Progress) -> Result<Groups> {
        let documents = self.documents.count() as u32;
        progress.start("equal-fingerprints", "grouping", Unit::Sets, documents.into());
        let mut numbers: Vec<u32> = (0..documents).filter(|number| self.get(*number).is_some()).collect();
        numbers.sort_unstable_by_key(|number| (self.get(*number), *number));
        Groups::of_equal(numbers, |x, y| self.get(x) == self.get(y), (budget, work))
    }

    /// Joins the groups, hands their pairs to `pairs`, and gives counters.
    pub fn join(
        &self,
        groups: &Groups,
        most: u32,
        threads: usize,
        (budget, work): (&Budget, &Path),
        pairs: &mut Pairs<'_, '_>,
    ) -> Result<Counters> {
        let all = || (0..groups.count()).filter_map(|set| self.get(groups.members(set)[0]));
        let distances: Vec<u32> = all().map(|(_, distance)| distance).collect();
        let join = Join { distances, most, threads, budget, work, pairs: Mutex::new(pairs) };
        let spilled = match self.bits {
            Bits::B64 => join.run(all().map(|(value, _)| value as u64))?,
            Bits::B128 => join.run(all().map(|(value, _)| value))?,
        };
        Ok(named(&[(FINGERPRINTS, groups.count().into()), ("spilled_bytes", spilled)]))
    }
}

struct Join<'p, 's, 'b> {
    /// By group.
    distances: Vec<u32>,
    most: u32,
    threads: usize,
    budget: &'p Budget,
    /// The folder of temporary files.
    work: &'p Path,
    pairs: Mutex<&'p mut Pairs<'s, 'b>>,
}

/// The least memory of a join, beside the fingerprints where these are in it.
const LEAST: usize = 1 << 20;

impl Join<'_, '_, '_> {
    /// Joins fingerprints, one for each distance, and gives how many bytes went to temporary files.
    fn run<F: hamming::Fingerprint>(&self, mut values: impl Iterator<Item = F>) -> Result<u64> {
        let count = self.distances.len();
        let distances = 4 * count;
        // The fingerprints, and the same collapsed with their rows.
        let all = distances + count * (3 * size_of::<F>() + 12);
        let spills = self.budget.enough_for(all + LEAST).is_some();
        let held = if spills { distances } else { all };
        if let Some(enough) = self.budget.enough_for(held + LEAST) {
            return Err(Error::Limit(format!(
                "hamming-pairs: the distances of {count} fingerprints take {} MB beside their documents while they are joined; give \
                 at least --memory {}, or take --engine pipes",
                held.div_ceil(1 << 20),
                enough.div_ceil(1 << 20)
            )));
        }
        self.budget.hold(held);
        let memory = (self.budget.spare() / 2).max(LEAST);
        let (distance, threads) = (self.most, self.threads);
        let mut found = Vec::with_capacity(BATCH);
        let take = |a, b, distance| {
            let most = self.distances[a as usize].min(self.distances[b as usize]);
            if distance <= most {
                found.push(JoinPair { a, b, overlap: distance });
            }
            if found.len() == BATCH {
                lock(&self.pairs).take(&found)?;
                found.clear();
            }
            Ok(())
        };
        let done = if spills {
            let mut sorter = Sorter::new(SorterOptions { folder: self.work.to_owned(), memory, threads });
            let pushed = values.try_for_each(|value| sorter.push(value));
            pushed.and_then(|()| sorter.finish()).and_then(|sorted| {
                sorted.join(distance, take)?;
                Ok(sorted.spilled())
            })
        } else {
            let values: Vec<F> = values.collect();
            hamming::join(&values, JoinOptions { distance, threads, memory }, take).map(|()| 0)
        };
        self.budget.release(held);
        let spilled = done?;
        lock(&self.pairs).take(&found)?;
        Ok(spilled)
    }
}
