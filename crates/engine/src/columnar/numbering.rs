//! Features become tokens: numbers in ascending order of document frequency, by sorting and not by hashing. A table
//! of all distinct features would be visited at random; a sort reads and writes memory in order.
//!
//! **Counting.** Features come dealt out to buckets by their first byte, so threads sort buckets on their own.
//! In a sorted bucket equal features are neighbours, and the length of a run is the document frequency. A feature
//! outside of the IDF range is taken out of the size and the hash of its documents' sets. One of a single document is
//! a *singleton*: it counts in the size and matches nothing, so it needs no number. In natural text that is most of them. The
//! others leave a list of their documents, in the order of the features.
//!
//! **Choosing.** A pair of the answer with a set of size `a` shares at least so many features as `a` needs with its
//! smallest partner ([`SetSimilarity::least_overlap`]; `ceil(tau·a)` for Jaccard), which are no singletons. A document that has fewer cannot be in a pair, nor equal another
//! one's set; it is left alone from here on. In a web crawl that is again most of them.
//!
//! **Numbering.** Those that remain, the *candidates*, stand in order of (size, hash, id): equal sets are neighbours.
//! Lists are read again; one that holds two candidates and more gets a number, and each of its candidates a row (place
//! among candidates, token). Sorted, these rows are the sets.

use super::documents::{Documents, FeatureRow, Sites};
use super::sorter::{Packing, SortWriter, Sorter};
use crate::memory::{BUCKETS, Budget};
use crate::progress::{Progress, Unit};
use crate::spill::{FreeSegments, SpillFile};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use twinsplit_core::similarity::{SetSimilarity, Similarity};
use twinsplit_core::threads::in_threads_with;
use twinsplit_io::error::{Error, Result};

/// How many distinct features there were, how many of them were left out, and how many two documents and more have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Distinct features.
    pub features: u64,
    /// Left out, as they are out of the IDF range.
    pub out_of_range: LeftOut,
    /// In how many documents those are that are in the IDF range, in all.
    pub in_range: u64,
    /// Left out, as only several documents of one site have them; not among the distinct ones.
    pub of_one_site: LeftOut,
    /// Of those that are not, the ones in two documents and more.
    pub shared: u64,
    /// Bytes written to files.
    pub spilled: u64,
}

/// Features that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many.
    pub features: u64,
    /// In how many documents, in all.
    pub postings: u64,
}

impl LeftOut {
    fn add(&mut self, other: Self) {
        self.features += other.features;
        self.postings += other.postings;
    }
}

/// Features that two documents and more have.
pub struct Lists<'b> {
    /// In each bucket, by ascending feature: document frequency, then the documents, by place; 4 bytes each.
    spill: SpillFile<'b>,
    /// For each bucket how many features have a document frequency.
    frequencies: Vec<ByFrequency>,
    /// By place: how many of these features a document has.
    shared: Vec<u32>,
    /// Memory in which the features were.
    free: FreeSegments,
}

/// What happens to a feature's rows.
struct Counting<'a, 'b> {
    lists: &'a SpillFile<'b>,
    progress: &'a Progress,
    sites: Option<Sites>,
    sizes: Vec<AtomicU32>,
    hashes: Vec<AtomicU64>,
    shared: Vec<AtomicU32>,
}

/// Counts features, sorted in `threads` threads. `keeps` is asked for each feature and its document frequency.
pub fn count<'b>(
    features: Sorter<'b, FeatureRow>,
    documents: &mut Documents,
    keeps: impl Fn(u64, u64) -> bool + Sync,
    threads: usize,
    (budget, folder): (&'b Budget, &'b Path),
    progress: &Progress,
) -> Result<(Lists<'b>, Counted)> {
    let lists = SpillFile::new(budget, folder);
    let rows = documents.sizes.iter().map(|size| u64::from(*size)).sum();
    progress.start("feature-order", "counting", Unit::Rows, rows);
    let counting = Counting {
        lists: &lists,
        progress,
        sites: documents.sites.take(),
        sizes: std::mem::take(&mut documents.sizes).into_iter().map(AtomicU32::new).collect(),
        hashes: std::mem::take(&mut documents.hashes).into_iter().map(AtomicU64::new).collect(),
        shared: (0..documents.places()).map(|_| AtomicU32::new(0)).collect(),
    };
    let shared = || SharedCounts::new(&counting.shared, budget);
    let bucket = |shared: &mut _, bucket| counting.bucket(&features, bucket, &keeps, shared);
    let buckets = in_threads_with(BUCKETS, threads, shared, bucket, |_| Ok(()))?;
    let Counting { sizes, hashes, shared, sites, .. } = counting;
    let free = features.into_free_segments();
    budget.release_documents(sites.map_or(0, |sites| sites.bytes()));
    documents.sizes = sizes.into_iter().map(AtomicU32::into_inner).collect();
    documents.hashes = hashes.into_iter().map(AtomicU64::into_inner).collect();
    let shared = shared.into_iter().map(AtomicU32::into_inner).collect();
    let mut counted = Counted { spilled: lists.spilled(), ..Counted::default() };
    let mut frequencies = Vec::with_capacity(BUCKETS);
    for (own, of) in buckets {
        counted.features += own.features;
        counted.in_range += own.in_range;
        counted.out_of_range.add(own.out_of_range);
        counted.of_one_site.add(own.of_one_site);
        counted.shared += own.shared;
        counted.spilled += own.spilled;
        frequencies.push(of);
    }
    if counted.shared >= u64::from(u32::MAX) {
        return Err(Error::Limit(format!(
            "feature-order: {} features in two documents and more; {} is the most for one process. Split the \
             collection, or take doc-split --engine pipes",
            counted.shared,
            u32::MAX - 1
        )));
    }
    Ok((Lists { spill: lists, frequencies, shared, free }, counted))
}

impl Counting<'_, '_> {
    /// Counts the features of a bucket; how many have which document frequency.
    fn bucket(
        &self,
        features: &Sorter<'_, FeatureRow>,
        bucket: usize,
        keeps: &impl Fn(u64, u64) -> bool,
        shared: &mut SharedCounts<'_>,
    ) -> Result<(Counted, ByFrequency)> {
        let mut counted = Counted::default();
        let mut frequencies = ByFrequency::default();
        let mut writer = self.lists.writer();
        let mut put = |word: u32| -> Result<()> {
            let word = word.to_le_bytes();
            writer.put(bucket, word.len(), |out, _| {
                out.copy_from_slice(&word);
                word.len()
            })
        };
        counted.spilled = features.drain(bucket, &mut |rows| {
            self.progress.add(rows.len() as u64);
            for run in rows.chunk_by(|x, y| x.feature == y.feature) {
                if self.sites.as_ref().is_some_and(|sites| sites.is_template(run)) {
                    counted.of_one_site.add(self.leave_out(run));
                    continue;
                }
                counted.features += 1;
                if !keeps(run[0].feature, run.len() as u64) {
                    counted.out_of_range.add(self.leave_out(run));
                    continue;
                }
                counted.in_range += run.len() as u64;
                if run.len() > 1 {
                    counted.shared += 1;
                    *frequencies.of(run.len() as u32) += 1;
                    put(run.len() as u32)?;
                    for row in run {
                        shared.add(row.document);
                        put(row.document)?;
                    }
                }
            }
            Ok(())
        })?;
        writer.finish_bucket(bucket)?;
        Ok((counted, frequencies))
    }

    /// Takes a feature out of the documents that have it.
    fn leave_out(&self, run: &[FeatureRow]) -> LeftOut {
        for row in run {
            let document = row.document as usize;
            self.sizes[document].fetch_sub(1, Ordering::Relaxed);
            self.hashes[document].fetch_sub(row.feature, Ordering::Relaxed);
        }
        LeftOut { features: 1, postings: run.len() as u64 }
    }
}

/// One thread's counts of shared features, by place of a document. Most are added here, in a byte each: where threads add to the
/// same numbers, each addition waits for the one before.
struct SharedCounts<'a> {
    all: &'a [AtomicU32],
    own: Vec<u8>,
    budget: &'a Budget,
}

impl<'a> SharedCounts<'a> {
    fn new(all: &'a [AtomicU32], budget: &'a Budget) -> Self {
        budget.hold(all.len());
        Self { all, own: vec![0; all.len()], budget }
    }

    #[inline]
    fn add(&mut self, document: u32) {
        let own = &mut self.own[document as usize];
        *own = own.wrapping_add(1);
        if *own == 0 {
            self.all[document as usize].fetch_add(1 << u8::BITS, Ordering::Relaxed);
        }
    }
}

impl Drop for SharedCounts<'_> {
    fn drop(&mut self) {
        for (all, own) in self.all.iter().zip(&self.own) {
            all.fetch_add((*own).into(), Ordering::Relaxed);
        }
        self.budget.release(self.all.len());
    }
}

/// Documents whose sets may pair, in order of (size, hash, number).
pub struct Candidates {
    /// Their numbers.
    pub numbers: Vec<u32>,
    /// By place of a document: where it stands among the candidates; [`NONE`] for one that is none.
    positions: Vec<u32>,
    /// How many tokens their sets have in all, equal ones counted once.
    pub tokens: u64,
    /// How many different sets there are at most.
    pub sets: usize,
    /// The document that shares the most of its features with others, by number, and how many these are.
    pub largest: (u32, usize),
}

/// Rows (place among candidates, token): sorted, they are the candidates' sets.
pub struct SetRows<'b> {
    /// The rows, each as one key.
    pub rows: Sorter<'b, u64>,
    /// How they are packed.
    pub packing: Packing,
}

/// Stands for a document that is no candidate.
const NONE: u32 = u32::MAX;

impl Candidates {
    /// Chooses the documents that may be in a pair of the answer, of those whose set's size `admits`.
    pub fn choose(
        documents: &Documents,
        lists: &Lists<'_>,
        similarity: Similarity,
        admits: impl Fn(u64) -> bool,
    ) -> Self {
        let mut sorted: Vec<(u64, u32, u32)> = Vec::new();
        for (number, &place) in (0..).zip(&documents.order) {
            let size = documents.sizes[place as usize];
            let shared = lists.shared[place as usize];
            if size > 0 && admits(size.into()) && u64::from(shared) >= similarity.least_overlap(size.into()) {
                sorted.push((documents.hashes[place as usize], size, number));
            }
        }
        sorted.sort_unstable_by_key(|&(hash, size, number)| (size, hash, number));
        let (mut tokens, mut sets, mut last) = (0, 0, None);
        for &(hash, size, number) in &sorted {
            let shared = lists.shared[documents.order[number as usize] as usize];
            if shared < size || last != Some((hash, size)) {
                tokens += u64::from(shared);
                sets += 1;
            }
            last = Some((hash, size));
        }
        let numbers: Vec<u32> = sorted.iter().map(|(_, _, number)| *number).collect();
        let shared = |number: u32| lists.shared[documents.order[number as usize] as usize] as usize;
        let largest =
            numbers.iter().map(|number| (*number, shared(*number))).max_by_key(|(_, shared)| *shared);
        drop(sorted);
        let mut positions = vec![NONE; documents.places()];
        for (position, number) in (0..).zip(&numbers) {
            positions[documents.order[*number as usize] as usize] = position;
        }
        Self { numbers, positions, tokens, sets, largest: largest.unwrap_or_default() }
    }

    /// The rows that make their sets.
    pub fn rows<'b>(
        &self,
        lists: Lists<'_>,
        threads: usize,
        (budget, folder): (&'b Budget, &'b Path),
        progress: &Progress,
    ) -> Result<SetRows<'b>> {
        let last = (self.numbers.len() as u32).saturating_sub(1);
        let (starts, tokens) = first_tokens(&lists.frequencies);
        let last_token = tokens.saturating_sub(1);
        let packing = Packing::new(last_token);
        let rows = Sorter::new(budget, folder, 0, packing.pack(last, last_token));
        rows.reuse(lists.free);
        let shared = lists.shared.iter().map(|shared| u64::from(*shared)).sum();
        progress.start("equal-sets", "numbering", Unit::Rows, shared);
        let own = || (rows.writer(), Vec::new());
        let bucket = |(writer, holders): &mut (SortWriter<'_, '_, u64>, Vec<u32>), bucket: usize| {
            let mut tokens = starts[bucket].clone();
            let (mut frequency, mut left) = (0, 0);
            lists.spill.each(bucket, |bytes| {
                progress.add(bytes.len() as u64 / 4);
                for word in bytes.chunks_exact(4) {
                    let word = word.try_into().map_or(0, u32::from_le_bytes);
                    if left == 0 {
                        (frequency, left) = (word, word);
                        continue;
                    }
                    left -= 1;
                    let position = self.positions[word as usize];
                    if position != NONE {
                        holders.push(position);
                    }
                    if left > 0 {
                        continue;
                    }
                    let token = tokens.of(frequency);
                    if holders.len() > 1 {
                        holders.iter().try_for_each(|holder| writer.push(packing.pack(*holder, *token)))?;
                    }
                    *token += 1;
                    holders.clear();
                }
                Ok(())
            })
        };
        in_threads_with(BUCKETS, threads, own, bucket, |(writer, _)| writer.finish())?;
        // What was not needed is freed before sets are stored.
        rows.reuse(FreeSegments::default());
        Ok(SetRows { rows, packing })
    }
}

/// A number for each document frequency.
#[derive(Clone, Debug, Default)]
struct ByFrequency {
    /// Nearly all features are rare.
    rare: Vec<u32>,
    others: BTreeMap<u32, u32>,
}

impl ByFrequency {
    const RARE: usize = 256;

    /// The number of a document frequency, 0 at first.
    #[inline]
    fn of(&mut self, frequency: u32) -> &mut u32 {
        let at = frequency as usize;
        if at >= Self::RARE {
            return self.others.entry(frequency).or_default();
        }
        if self.rare.len() <= at {
            self.rare.resize(at + 1, 0);
        }
        &mut self.rare[at]
    }

    /// Document frequencies, ascending, with their numbers, where these are not 0.
    fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let rare = (0..).zip(self.rare.iter().copied());
        let others = self.others.iter().map(|(frequency, number)| (*frequency, *number));
        rare.chain(others).filter(|(_, number)| *number > 0)
    }
}

/// For each bucket and document frequency the first token: ascending by document frequency, then by bucket. And how many tokens there are.
fn first_tokens(buckets: &[ByFrequency]) -> (Vec<ByFrequency>, u32) {
    let mut sums: BTreeMap<u32, u32> = BTreeMap::new();
    for (frequency, features) in buckets.iter().flat_map(ByFrequency::iter) {
        *sums.entry(frequency).or_default() += features;
    }
    let mut start = 0;
    let mut next = ByFrequency::default();
    for (frequency, features) in sums {
        *next.of(frequency) = start;
        start += features;
    }
    let of = |own: &ByFrequency| {
        let mut first = ByFrequency::default();
        for (frequency, features) in own.iter() {
            let token = next.of(frequency);
            *first.of(frequency) = *token;
            *token += features;
        }
        first
    };
    (buckets.iter().map(of).collect(), start)
}
