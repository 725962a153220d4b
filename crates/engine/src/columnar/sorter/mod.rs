//! Rows in the order of their keys, however many there are.
//!
//! Rows are dealt out to the buckets of a [spill file](crate::spill) by the leading bits of their keys, so that the buckets
//! are in order and threads can sort them on their own. A bucket that is too large for a sort buffer is dealt out again
//! by the next bits. That ends: rows of one key are at most one for each document. Within the sort buffer the next bits deal rows
//! to parts that a cache holds, so that nothing waits for memory, and within a part the next ones say nearly where each row stands, so that
//! little is compared (an MSD radix sort with insertion at its end).

mod part;
mod rows;

pub use rows::{FrameOfReference, Packing, Row, pack, unpack};

use crate::memory::{BUCKETS, Budget};
use crate::spill::{FreeSegments, SpillFile, Writer};
use part::PartSort;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, Mutex};
use twinsplit_core::threads::{in_order, lock};
use twinsplit_io::error::Result;

/// A bucket in memory is dealt out to parts of about so many rows, and to at most so many parts (of which each has a page of
/// memory and a line of a cache open). Tests sort a few.
const PART: usize = if cfg!(test) { 2 } else { 1 << 9 };
const PART_BITS: u32 = 10;

/// Which bucket a key belongs to.
#[derive(Clone, Copy)]
struct Buckets {
    low: u64,
    shift: u32,
}

impl Buckets {
    /// For keys from `low` to `high`.
    fn new(low: u64, high: u64) -> Self {
        let bits = u64::BITS - (high - low).leading_zeros();
        Self { low, shift: bits.saturating_sub(BUCKETS.ilog2()) }
    }

    #[inline]
    fn of(self, key: u64) -> usize {
        ((key - self.low) >> self.shift) as usize
    }

    #[inline]
    fn frame(self, bucket: usize) -> FrameOfReference {
        let first = self.low + ((bucket as u64) << self.shift);
        FrameOfReference { first, bytes: self.shift.div_ceil(8).max(1) as usize }
    }
}

/// Sorts rows.
pub struct Sorter<'b, R> {
    spill: SpillFile<'b>,
    buckets: Buckets,
    /// Buffers of buckets that have been visited: memory that is used again costs less than what is new. They are those of the sorters of too large
    /// buckets as well.
    buffers: Arc<Mutex<Vec<Vec<R>>>>,
}

impl<'b, R: Row> Sorter<'b, R> {
    /// A sorter of rows with keys from `low` to `high`; what does not fit in memory goes to a file in `folder`.
    pub fn new(budget: &'b Budget, folder: &'b Path, low: u64, high: u64) -> Self {
        let (spill, buckets) = (SpillFile::new(budget, folder), Buckets::new(low, high));
        Self { spill, buckets, buffers: Arc::default() }
    }

    /// See [`Log::reuse`](crate::spill::Log::reuse).
    pub fn reuse(&self, segments: FreeSegments) {
        self.spill.reuse(segments);
    }

    /// See [`Log::into_free_segments`](crate::spill::Log::into_free_segments).
    pub fn into_free_segments(self) -> FreeSegments {
        self.spill.into_free_segments()
    }

    /// One thread's way in.
    pub fn writer(&self) -> SortWriter<'_, 'b, R> {
        SortWriter { writer: self.spill.writer(), before: vec![R::default(); BUCKETS], buckets: self.buckets }
    }

    /// Bytes written to the file.
    pub fn spilled(&self) -> u64 {
        self.spill.spilled()
    }

    /// Moves some of what is in memory to the file; says whether there was anything.
    pub fn make_room(&self) -> Result<bool> {
        self.spill.make_room()
    }

    /// Calls `visit` with the rows of a bucket, sorted and by the bufferful; equal keys are in one of them.
    /// Gives how many bytes were dealt out again on disk.
    pub fn drain(&self, bucket: usize, visit: &mut dyn FnMut(&[R]) -> Result<()>) -> Result<u64> {
        self.drain_within(bucket, self.room(size_of::<R>()), &mut |rows| self.visit(rows, visit))
    }

    /// How many rows a buffer holds of which each takes so many bytes.
    fn room(&self, bytes: usize) -> usize {
        self.spill.budget().sort_buffer() / bytes
    }

    fn drain_within(
        &self,
        bucket: usize,
        room: usize,
        visit: &mut dyn FnMut(Vec<R>) -> Result<()>,
    ) -> Result<u64> {
        if self.rows(bucket) <= room || self.buckets.shift == 0 {
            return self.sorted(bucket, room).and_then(visit).map(|()| 0);
        }
        let low = self.buckets.frame(bucket).first;
        let high = low + ((1 << self.buckets.shift) - 1);
        let finer = Self {
            buffers: self.buffers.clone(),
            ..Sorter::new(self.spill.budget(), self.spill.folder(), low, high)
        };
        let mut writer = finer.writer();
        self.each(bucket, |row| writer.push(row))?;
        writer.finish()?;
        let mut spilled = 0;
        for part in 0..BUCKETS {
            spilled += finer.drain_within(part, room, visit)?;
        }
        Ok(spilled + finer.spilled())
    }

    /// Calls `visit` with rows, if there are any.
    fn visit(&self, rows: Vec<R>, visit: &mut dyn FnMut(&[R]) -> Result<()>) -> Result<()> {
        if !rows.is_empty() {
            visit(&rows)?;
        }
        lock(&self.buffers).push(rows);
        Ok(())
    }

    /// Calls `visit` with all rows, sorted and by the bufferful; buckets are sorted in `threads` threads, `visit` runs on the
    /// calling one. Gives how many bytes were dealt out again on disk.
    pub fn drain_all(&self, threads: usize, visit: &mut dyn FnMut(&[R]) -> Result<()>) -> Result<u64> {
        let room = self.room(size_of::<R>());
        self.drain_in_order(threads, room, |rows| rows, &mut |rows| self.visit(rows, visit))
    }

    /// Calls `visit` with what `work` makes of all rows, which it is given sorted and by the bufferful; `work` runs in `threads` threads, and what it
    /// makes takes no more memory than the rows. `visit` runs on the calling one. Gives how many bytes were dealt out again on disk.
    pub fn drain_mapped<T: Send>(
        &self,
        threads: usize,
        work: impl Fn(&[R]) -> T + Sync,
        visit: &mut dyn FnMut(T) -> Result<()>,
    ) -> Result<u64> {
        let work = |rows: Vec<R>| {
            let made = work(&rows);
            lock(&self.buffers).push(rows);
            made
        };
        self.drain_in_order(threads, self.room(2 * size_of::<R>()), work, visit)
    }

    fn drain_in_order<T: Send>(
        &self,
        threads: usize,
        room: usize,
        work: impl Fn(Vec<R>) -> T + Sync,
        visit: &mut dyn FnMut(T) -> Result<()>,
    ) -> Result<u64> {
        let most = threads.max(1) * room;
        // One for each thread and the one that is visited; more of small ones, for which threads would wait longer than they sort.
        let held: Vec<usize> = (0..BUCKETS).map(|bucket| self.rows(bucket)).collect();
        let fits = |buckets: RangeInclusive<usize>| {
            let rows: usize = held[buckets.clone()].iter().sum();
            rows <= if buckets.count() <= threads + 1 { most } else { most / 8 }
        };
        // A bucket that is too large is sorted when its turn comes.
        let sort = |bucket| {
            if held[bucket] <= room { self.sorted(bucket, room).map(&work).map(Some) } else { Ok(None) }
        };
        let mut spilled = 0;
        in_order(BUCKETS, threads, fits, sort, |bucket, made| {
            match made {
                Some(made) => visit(made)?,
                None => spilled += self.drain_within(bucket, room, &mut |rows| visit(work(rows)))?,
            }
            Ok(())
        })?;
        Ok(spilled)
    }

    /// Bytes of all rows, in memory and in the file.
    pub fn bytes(&self) -> u64 {
        (0..BUCKETS).map(|bucket| self.bytes_of(bucket)).sum()
    }

    /// Bytes of a bucket's rows.
    pub fn bytes_of(&self, bucket: usize) -> u64 {
        self.spill.bytes(bucket) as u64
    }

    /// How many rows a bucket has at most.
    fn rows(&self, bucket: usize) -> usize {
        self.spill.bytes(bucket) / R::least(self.buckets.frame(bucket))
    }

    /// The rows of a bucket: counted by part, put into the places that the counts say, and each part sorted on its own. A buffer holds
    /// so many, but for a bucket of more.
    fn sorted(&self, bucket: usize, room: usize) -> Result<Vec<R>> {
        let shift = self.buckets.shift;
        let bits = (self.rows(bucket) / PART).checked_ilog2().unwrap_or(0).min(PART_BITS).min(shift);
        let first = self.buckets.frame(bucket).first;
        let part = |row: &R| ((row.key() - first) >> (shift - bits)) as usize;
        let mut ends = vec![0; 1 << bits];
        self.each(bucket, |row| {
            ends[part(&row)] += 1;
            Ok(())
        })?;
        let mut total = 0;
        for end in &mut ends {
            total += std::mem::replace(end, total);
        }
        let mut rows = lock(&self.buffers).pop().unwrap_or_default();
        rows.truncate(total);
        if rows.capacity() < total {
            // Room for the largest bucket as well, for they may come in the order of their sizes.
            let largest = (0..BUCKETS).map(|bucket| self.rows(bucket)).filter(|rows| *rows <= room).max();
            rows = Vec::with_capacity(largest.unwrap_or(0).max(total));
        }
        rows.resize(total, R::default());
        self.each(bucket, |row| {
            let at = &mut ends[part(&row)];
            rows[*at] = row;
            *at += 1;
            Ok(())
        })?;
        let (mut start, mut sort) = (0, PartSort::default());
        for end in ends {
            sort.sort(&mut rows[start..end], first, shift - bits);
            start = end;
        }
        Ok(rows)
    }

    /// Calls `visit` with each row of a bucket, in any order.
    #[inline]
    pub fn each(&self, bucket: usize, mut visit: impl FnMut(R) -> Result<()>) -> Result<()> {
        let frame = self.buckets.frame(bucket);
        self.spill.each(bucket, |mut chunk| {
            let mut before = R::default();
            while let Some(row) = R::get(&mut chunk, &before, frame) {
                visit(row)?;
                before = row;
            }
            Ok(())
        })
    }
}

/// One thread's way into a sorter. What is not [finished](SortWriter::finish) is lost.
pub struct SortWriter<'s, 'b, R> {
    writer: Writer<'s, 'b>,
    before: Vec<R>,
    buckets: Buckets,
}

impl<R: Row> SortWriter<'_, '_, R> {
    /// Takes a row.
    #[inline]
    pub fn push(&mut self, row: R) -> Result<()> {
        let bucket = self.buckets.of(row.key());
        let frame = self.buckets.frame(bucket);
        let before = &mut self.before[bucket];
        self.writer.put(bucket, R::MOST, |out, first| {
            let last = if first { R::default() } else { *before };
            *before = row;
            row.put(&last, frame, out)
        })
    }

    /// Hands over what is left.
    pub fn finish(self) -> Result<()> {
        self.writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::documents::FeatureRow;
    use super::*;
    use crate::memory::{PROGRAM, THREAD};
    use proptest::prelude::*;

    /// A few hundred bytes of sort buffer, and room for a few chunks.
    fn tiny(threads: usize) -> Budget {
        Budget::new(PROGRAM + threads * THREAD + (16 << 10), threads).unwrap()
    }

    proptest! {
        /// Numbers with some common leading bits, so that buckets are dealt out again.
        #[test]
        fn numbers_come_back_in_order(
            numbers in prop::collection::vec((0u64..4, 0u64..300, any::<bool>()), 0..2000), shift in 0u32..60,
            threads in 1usize..4, low in 0u64..9,
        ) {
            let numbers: Vec<u64> =
                numbers.iter().map(|&(x, y, high)| low + (x << shift) + y + u64::from(high && shift > 40) * 77).collect();
            let folder = tempfile::tempdir().unwrap();
            let mut expected = numbers.clone();
            expected.sort_unstable();
            let high = numbers.iter().copied().max().unwrap_or(low);
            for budget in [tiny(threads), Budget::new(1 << 30, threads).unwrap()] {
                for way in 0..3 {
                    let sorter = Sorter::new(&budget, folder.path(), low, high);
                    let mut writers: Vec<_> = (0..threads).map(|_| sorter.writer()).collect();
                    for (at, number) in numbers.iter().enumerate() {
                        writers[at % threads].push(*number).unwrap();
                    }
                    writers.into_iter().for_each(|writer| writer.finish().unwrap());
                    let mut found: Vec<u64> = Vec::new();
                    let mut visit = |rows: &[u64]| {
                        assert!(found.last().is_none_or(|last| *last < rows[0]), "equal keys apart");
                        found.extend_from_slice(rows);
                        Ok(())
                    };
                    match way {
                        0 => (0..BUCKETS).for_each(|bucket| {
                            sorter.drain(bucket, &mut visit).unwrap();
                        }),
                        1 => drop(sorter.drain_all(threads, &mut visit).unwrap()),
                        _ => drop(sorter.drain_mapped(threads, <[u64]>::to_vec, &mut |rows: Vec<u64>| {
                            if rows.is_empty() { Ok(()) } else { visit(&rows) }
                        }).unwrap()),
                    }
                    // One bucket at a time needs one buffer, however often it is dealt out again.
                    prop_assert!(way > 0 || lock(&sorter.buffers).len() == 1);
                    prop_assert_eq!(&found, &expected);
                }
            }
        }

        /// Features with their documents, as far apart as can be, and all features alike.
        #[test]
        fn features_keep_their_documents(
            rows in prop::collection::vec((any::<u64>(), any::<u32>()), 0..60), one in any::<bool>(),
        ) {
            let rows: Vec<FeatureRow> = rows
                .iter()
                .map(|&(feature, document)| FeatureRow {
                    feature: if one { 0xab << 56 | 5 } else { feature & (0xff << 56 | 0xf) },
                    document: document >> (feature % 32),
                })
                .collect();
            let folder = tempfile::tempdir().unwrap();
            let budget = Budget::new(PROGRAM + THREAD + 1, 1).unwrap();
            let sorter = Sorter::new(&budget, folder.path(), 0, u64::MAX);
            let mut writer = sorter.writer();
            rows.iter().for_each(|row| writer.push(*row).unwrap());
            writer.finish().unwrap();
            let mut found = Vec::new();
            let again = sorter.drain_all(2, &mut |rows| { found.extend_from_slice(rows); Ok(()) }).unwrap();
            prop_assert!(found.is_sorted_by_key(|row| row.feature));
            prop_assert!(!one || rows.is_empty() || again > 0, "dealt out again");
            let order = |rows: &[FeatureRow]| {
                let mut rows: Vec<_> = rows.iter().map(|row| (row.feature, row.document)).collect();
                rows.sort_unstable();
                rows
            };
            prop_assert_eq!(order(&found), order(&rows));
        }
    }
}
