//! Term-Split with the prefix filter (zhang2011, section 4): candidates are made and put down, then each is verified.
//!
//! It finds what Doc-Split finds, and differs in what it has in between: the row of each candidate, which is the method's
//! price and what its runs are compared by. In the chain of stages such a row is two ids, sorted to meet two sets in
//! turn. Here it is a step from the row before it, a byte or two; the sets are arrays that any row can look into, so nothing
//! else is written, and nothing has to be sorted.

use super::join::{Found, Pairs, neighbours};
use super::sorter::{FrameOfReference, Row, Sorter, pack, unpack};
use super::store::Store;
use super::{ColumnarRun, counters_of};
use crate::memory::{BUCKETS, Budget};
use crate::progress::Unit;
use std::sync::Mutex;
use twinsplit_core::join::kernel::{
    Asked, JoinPair, Shard, Source, Work, join_shards, overlap_of_candidate, queries,
};
use twinsplit_core::join::sets::Sets;
use twinsplit_core::similarity::{SetSimilarity, Similarity};
use twinsplit_core::threads::{in_threads, lock, unlocked};
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stage::Counters;

/// Pairs that a thread holds before it hands them over.
const BATCH: usize = 4096;

/// A candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Candidate {
    /// The later set and the earlier one, as [`pack`] makes one key of them.
    sets: u64,
    /// How many tokens their prefixes share, less one.
    more: u32,
}

/// The step from the candidate before, twice, plus one where `more` follows, which is nothing for most. Both are written with
/// seven bits to a byte, the lowest first: a thread's candidates ascend, and the partners of a set are near one another.
impl Row for Candidate {
    const MOST: usize = 15;

    #[inline]
    fn least(_: FrameOfReference) -> usize {
        1
    }

    #[inline]
    fn key(&self) -> u64 {
        self.sets
    }

    #[inline]
    fn put(&self, before: &Self, _: FrameOfReference, out: &mut [u8]) -> usize {
        // The batches of several threads alternate: a step back, from one to the next, wraps around.
        let step = self.sets.wrapping_sub(before.sets);
        let length = put_number(u128::from(step) << 1 | u128::from(self.more > 0), out);
        if self.more == 0 { length } else { length + put_number(self.more.into(), &mut out[length..]) }
    }

    #[inline]
    fn get(bytes: &mut &[u8], before: &Self, _: FrameOfReference) -> Option<Self> {
        let number = get_number(bytes)?;
        let more = if number & 1 == 0 { 0 } else { get_number(bytes)? };
        Some(Self { sets: before.sets.wrapping_add((number >> 1) as u64), more: more as u32 })
    }
}

#[inline]
fn put_number(mut number: u128, out: &mut [u8]) -> usize {
    let mut length = 0;
    while number >= MORE.into() {
        out[length] = number as u8 | MORE;
        number >>= 7;
        length += 1;
    }
    out[length] = number as u8;
    length + 1
}

#[inline]
fn get_number(bytes: &mut &[u8]) -> Option<u128> {
    let mut number = 0;
    for shift in (0..70).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u128::from(byte & !MORE) << shift;
        if byte < MORE {
            return Some(number);
        }
    }
    None
}

/// Says that another byte follows.
const MORE: u8 = 0x80;

/// What there was in between.
#[derive(Default)]
struct Volume {
    /// Pairs of postings that pass the prefix filter, which is what `pcp-map` counts.
    pairs_of_postings: u64,
    /// The join, whose candidates are the different pairs of sets among them.
    work: Work,
    /// Bytes of the candidates' rows.
    bytes: u64,
    /// How many of these went to the disk.
    spilled: u64,
}

/// The join of a run, by candidates.
pub struct TermSplit<'a> {
    /// The run.
    pub run: &'a ColumnarRun<'a>,
    /// The sets.
    pub store: &'a Store,
    /// What may be held in memory.
    pub budget: &'a Budget,
}

impl TermSplit<'_> {
    /// Hands the pairs of the answer to `pairs`, and gives counters. With more pairs of postings than the limit nothing more is
    /// written or verified; they are counted to the end, so that the error says how many there are.
    pub fn run(&self, pairs: &mut Pairs<'_, '_>) -> Result<Counters> {
        let limit = self.run.opts.max_pairs.max_pairs;
        let (parts, held) =
            neighbours(self.store, 1, (self.similarity(), Found::Candidates), self.run.threads, self.budget);
        let threads = self.store.readers(1, held, self.run.threads, self.budget);
        let mut volume = Volume::default();
        for part in &parts {
            self.budget.hold(held);
            let rows = self.candidates((*part, threads), limit, &mut volume)?;
            volume.bytes += rows.bytes();
            volume.spilled += rows.spilled();
            if volume.pairs_of_postings <= limit {
                self.verify((*part, threads), &rows, pairs)?;
            }
            self.budget.release(held);
        }
        let Volume { pairs_of_postings, work, bytes, spilled } = volume;
        if pairs_of_postings > limit {
            return Err(Error::Limit(format!(
                "pcp-map: {pairs_of_postings} pairs of postings in {} candidates (the limit is {limit}); a higher \
                 tau has fewer, doc-split has none, or raise --max-pairs",
                work.candidates
            )));
        }
        let mut counters = counters_of(work);
        let own = [
            ("slices", parts.len() as u64),
            ("pairs_of_postings", pairs_of_postings),
            ("candidate_bytes", bytes),
            ("spilled_bytes", spilled),
        ];
        counters.extend(own.map(|(name, count)| (name.to_owned(), count)));
        Ok(counters)
    }

    fn similarity(&self) -> Similarity {
        self.run.opts.similarity.0
    }

    /// Puts down the candidates whose earlier set is in a part, as long as there are no more than the limit.
    fn candidates(
        &self,
        (part, threads): (Shard, usize),
        limit: u64,
        volume: &mut Volume,
    ) -> Result<Sorter<'_, Candidate>> {
        let Self { run: ColumnarRun { progress, work, .. }, store, budget } = *self;
        let last = pack(store.sets().saturating_sub(1) as u32, u32::MAX);
        let rows = Sorter::new(budget, work, 0, last);
        let state = Mutex::new((rows.writer(), volume));
        progress.start("pcp-map", "pairing", Unit::Sets, queries(store, &[part], self.similarity()) as u64);
        let on_progress = |sets| progress.add(sets as u64);
        let asked = Asked::Candidates;
        let work = join_shards(store, &[part], self.similarity(), asked, threads, &on_progress, &|found| {
            let (writer, volume) = &mut *lock(&state);
            volume.pairs_of_postings += found.iter().map(|pair| u64::from(pair.overlap)).sum::<u64>();
            if volume.pairs_of_postings > limit {
                return Ok(());
            }
            found.iter().try_for_each(|pair| {
                writer.push(Candidate { sets: pack(pair.b, pair.a), more: pair.overlap - 1 })
            })
        })?;
        let (writer, volume) = unlocked(state);
        volume.work += work;
        writer.finish()?;
        Ok(rows)
    }

    /// Compares the sets of each candidate.
    fn verify(
        &self,
        (part, threads): (Shard, usize),
        rows: &Sorter<'_, Candidate>,
        pairs: &mut Pairs<'_, '_>,
    ) -> Result<()> {
        let Self { run: ColumnarRun { progress, .. }, store, .. } = *self;
        let mut buffer = Sets::default();
        let (earlier, base) = store.load(part.first..part.end, &mut buffer)?;
        progress.start("pcp-map", "verifying", Unit::Bytes, rows.bytes());
        let pairs = Mutex::new(pairs);
        in_threads(BUCKETS, threads, |bucket| {
            let bytes = rows.bytes_of(bucket);
            let (mut found, mut buffer) = (Vec::with_capacity(BATCH), Sets::default());
            // The partners of one set, which is looked up once for them all, and what is known of each.
            let (mut later, mut partners) = (0, Vec::new());
            let mut compare = |b: u32, partners: &mut Vec<(u32, u32)>| -> Result<()> {
                if partners.is_empty() {
                    return Ok(());
                }
                let (sets, first) = store.load(b as usize..b as usize + 1, &mut buffer)?;
                let tokens = sets.get(b as usize - first);
                for (a, known) in partners.drain(..) {
                    let overlap = self.overlap((b, tokens), (a, earlier.get(a as usize - base)), known);
                    found.extend(overlap.map(|overlap| JoinPair { a, b, overlap }));
                }
                if found.len() >= BATCH {
                    lock(&pairs).take(&found)?;
                    found.clear();
                }
                Ok(())
            };
            rows.each(bucket, |candidate| {
                let (b, a) = unpack(candidate.sets);
                if b != later {
                    compare(later, &mut partners)?;
                    later = b;
                }
                partners.push((a, candidate.more + 1));
                Ok(())
            })?;
            compare(later, &mut partners)?;
            lock(&pairs).take(&found)?;
            progress.add(bytes);
            Ok::<_, Error>(())
        })?;
        Ok(())
    }

    /// How many tokens two sets share, if that is enough; so many are in their prefixes.
    #[inline]
    fn overlap(&self, (x, x_tokens): (u32, &[u32]), (y, y_tokens): (u32, &[u32]), known: u32) -> Option<u32> {
        let size = |set: u32| self.store.size_of(set as usize) as u64;
        let needed = self.similarity().overlap_needed(size(x), size(y));
        overlap_of_candidate(x_tokens, y_tokens, known, needed as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Candidates are written as steps, whatever their bucket.
    const FRAME: FrameOfReference = FrameOfReference { first: 0, bytes: 7 };

    proptest! {
        /// Steps of every width, and back.
        #[test]
        fn rows_come_back(keys in prop::collection::vec((any::<u64>(), 0u32..64, 0u32..3, any::<u32>()), 1..50)) {
            let row = |(key, shift, kind, more)| Candidate { sets: key >> shift, more: [0, 1, more][kind as usize] };
            let rows: Vec<Candidate> = keys.into_iter().map(row).collect();
            let (mut bytes, mut before) = (Vec::new(), Candidate::default());
            for row in &rows {
                let mut out = [0; Candidate::MOST];
                let length = row.put(&before, FRAME, &mut out);
                prop_assert!(length >= Candidate::least(FRAME));
                bytes.extend_from_slice(&out[..length]);
                before = *row;
            }
            let (mut bytes, mut before) = (bytes.as_slice(), Candidate::default());
            for row in &rows {
                before = Candidate::get(&mut bytes, &before, FRAME).unwrap();
                prop_assert_eq!(&before, row);
            }
            prop_assert!(bytes.is_empty());
        }
    }
}
