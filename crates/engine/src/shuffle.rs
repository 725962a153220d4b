//! The local engine's shuffle: rows are partitioned by their key, sorted in memory, appended to a [log](super::spill) when the
//! buffer is full, and merged for each reducer.
//!
//! Rows are compared whole. TAB is below every byte of an id, so that is also the order by key, and equal keys come
//! in an order of their own that no stage may rely on.

use super::spill::{Appender, Chunk, Log};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};
use twinsplit_core::hash;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::record::{Keys, key_end};
use twinsplit_rows::stage::Sink;

/// A row in memory: its partition, its first bytes as a number, so that most comparisons touch no other memory, and
/// where it stands.
#[derive(Clone, Copy)]
struct Entry {
    partition: u32,
    length: u32,
    head: u64,
    start: usize,
}

/// The rows in memory of one map task. The room for them is taken once, for a growing buffer would need up to three
/// times its size while it moves.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

impl Rows {
    /// Room for about `limit` bytes, as for rows of 50 bytes.
    fn with_room(limit: usize) -> Self {
        let entries = limit / 3 / size_of::<Entry>();
        Self { bytes: Vec::with_capacity(limit - limit / 3), entries: Vec::with_capacity(entries) }
    }

    fn has_room(&self, row: &[u8]) -> bool {
        self.entries.len() < self.entries.capacity() && self.bytes.len() + row.len() <= self.bytes.capacity()
    }

    fn push(&mut self, partition: usize, row: &[u8]) -> Result<()> {
        let length = u32::try_from(row.len())
            .map_err(|_| Error::Limit(format!("a row of {} bytes; rows may have 4 GB", row.len())))?;
        let mut head = [0; 8];
        let known = row.len().min(8);
        head[..known].copy_from_slice(&row[..known]);
        let (head, start) = (u64::from_be_bytes(head), self.bytes.len());
        self.entries.push(Entry { partition: partition as u32, length, head, start });
        self.bytes.extend_from_slice(row);
        Ok(())
    }

    fn row(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.start..entry.start + entry.length as usize]
    }

    /// Sorts by partition, then by row.
    fn sort(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        let key = |entry: &Entry| (entry.partition, entry.head);
        entries.sort_unstable_by(|x, y| key(x).cmp(&key(y)).then_with(|| self.row(x).cmp(self.row(y))));
        self.entries = entries;
    }

    /// The rows of a partition, once all are sorted.
    fn partition(&self, partition: usize) -> &[Entry] {
        let start = self.entries.partition_point(|entry| (entry.partition as usize) < partition);
        let end = self.entries.partition_point(|entry| entry.partition as usize <= partition);
        &self.entries[start..end]
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }
}

/// A sorted run of one partition in a log. A row is behind its length in four bytes, little endian, and in one chunk.
#[derive(Clone, Default)]
struct Segment {
    chunks: Vec<Chunk>,
    /// Bytes of its longest row.
    longest: usize,
}

/// Appends a sorted run to a log.
struct RunWriter<'l, 'b> {
    log: Appender<'l, 'b>,
    chunk: Vec<u8>,
    segment: Segment,
}

impl<'l, 'b> RunWriter<'l, 'b> {
    fn new(log: &'l Log<'b>) -> Self {
        Self { log: log.appender(), chunk: Vec::new(), segment: Segment::default() }
    }

    fn push(&mut self, row: &[u8]) -> Result<()> {
        if !self.chunk.is_empty() && self.chunk.len() + 4 + row.len() > CHUNK {
            self.append()?;
        }
        // No row is longer than 4 GB: see `Rows::push`.
        self.chunk.extend_from_slice(&(row.len() as u32).to_le_bytes());
        self.chunk.extend_from_slice(row);
        self.segment.longest = self.segment.longest.max(row.len());
        Ok(())
    }

    fn append(&mut self) -> Result<()> {
        self.segment.chunks.push(self.log.append(&self.chunk)?);
        self.chunk.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<Segment> {
        if !self.chunk.is_empty() {
            self.append()?;
        }
        Ok(self.segment)
    }
}

/// What one map task leaves for the reducers.
#[derive(Default)]
pub struct Runs {
    /// The rows that stayed in the buffer, sorted.
    buffer: Rows,
    /// For each partition, its runs in the log.
    log: Vec<Vec<Segment>>,
    rows: u64,
}

impl Runs {
    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

/// Takes the rows of one map task.
pub struct Partitioner<'l, 'b> {
    keys: Keys,
    runs: Runs,
    log: &'l Log<'b>,
    spills: usize,
}

impl<'l, 'b> Partitioner<'l, 'b> {
    /// A partitioner for `partitions` reducers that gathers rows in a buffer of at most `limit` bytes (or one row, if that is
    /// larger), and appends sorted runs of them to a log.
    pub fn new(keys: Keys, partitions: usize, limit: usize, log: &'l Log<'b>) -> Self {
        let runs = Runs { buffer: Rows::with_room(limit), log: vec![Vec::new(); partitions], rows: 0 };
        Self { keys, runs, log, spills: 0 }
    }

    /// How often the buffer was full.
    pub fn spills(&self) -> usize {
        self.spills
    }

    fn spill(&mut self) -> Result<()> {
        self.runs.buffer.sort();
        for (partition, segments) in self.runs.log.iter_mut().enumerate() {
            let entries = self.runs.buffer.partition(partition);
            if entries.is_empty() {
                continue;
            }
            let mut run = RunWriter::new(self.log);
            entries.iter().try_for_each(|entry| run.push(self.runs.buffer.row(entry)))?;
            segments.push(run.finish()?);
        }
        self.runs.buffer.clear();
        self.spills += 1;
        Ok(())
    }

    /// The task is over: what is in the buffer is sorted and stays there.
    pub fn finish(mut self) -> Runs {
        self.runs.buffer.sort();
        self.runs
    }
}

impl Sink for Partitioner<'_, '_> {
    fn row(&mut self, row: &[u8]) -> Result<()> {
        let partition = match self.keys.partition {
            0 => 0,
            fields => hash::partition(&row[..key_end(row, fields)], self.runs.log.len()),
        };
        if !self.runs.buffer.has_room(row) && !self.runs.buffer.entries.is_empty() {
            self.spill()?;
        }
        self.runs.rows += 1;
        self.runs.buffer.push(partition, row)
    }
}

/// A sorted run as the merge reads it.
enum Reader<'r> {
    Buffer { rows: &'r Rows, entries: std::slice::Iter<'r, Entry> },
    Log { log: &'r Log<'r>, chunks: std::slice::Iter<'r, Chunk>, chunk: Vec<u8>, at: usize },
}

impl<'r> Reader<'r> {
    fn of(log: &'r Log<'r>, segment: &'r Segment) -> Self {
        Reader::Log { log, chunks: segment.chunks.iter(), chunk: Vec::new(), at: 0 }
    }

    /// Replaces `row` by the next row; false at the end. A row in a buffer is not copied.
    fn next(&mut self, row: &mut Cow<'r, [u8]>) -> Result<bool> {
        match self {
            Reader::Buffer { rows, entries } => {
                let Some(entry) = entries.next() else { return Ok(false) };
                *row = Cow::Borrowed(rows.row(entry));
            }
            Reader::Log { log, chunks, chunk, at } => {
                let row = row.to_mut();
                if *at == chunk.len() {
                    let Some(next) = chunks.next() else { return Ok(false) };
                    if next.length() > CHUNK {
                        // A row of its own, which is not held twice.
                        log.copy(*next, row)?;
                        row.drain(..4);
                        return Ok(true);
                    }
                    log.copy(*next, chunk)?;
                    *at = 0;
                }
                let length =
                    chunk[*at..].first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
                row.clear();
                row.extend_from_slice(&chunk[*at + 4..][..length]);
                *at += 4 + length;
            }
        }
        Ok(true)
    }
}

/// Runs that are read at once, so that their chunks take a few megabytes whatever the number of runs.
const FAN_IN: usize = 48;
/// Bytes of a run's chunk, where no row is longer.
const CHUNK: usize = 64 << 10;

/// Calls `visit` with every row of a partition in sorted order. When there are more runs in the log than are read at once,
/// some are merged to longer ones first. Runs that are read at once have no more bytes in their longest rows
/// than `most`, but for two.
pub fn merge(
    (runs, log): (&[Runs], &Log<'_>),
    partition: usize,
    most: usize,
    visit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut segments: VecDeque<Cow<'_, Segment>> =
        runs.iter().flat_map(|run| &run.log[partition]).map(Cow::Borrowed).collect();
    loop {
        let at_once = at_once(segments.iter().map(|segment| segment.longest), most);
        if at_once == segments.len() {
            break;
        }
        let first: Vec<_> = segments.drain(..at_once).collect();
        let readers = first.iter().map(|segment| Reader::of(log, segment)).collect();
        let mut longer = RunWriter::new(log);
        merge_readers(readers, |row| longer.push(row))?;
        segments.push_back(Cow::Owned(longer.finish()?));
    }
    let mut readers: Vec<_> = segments.iter().map(|segment| Reader::of(log, segment)).collect();
    for run in runs {
        readers.push(Reader::Buffer { rows: &run.buffer, entries: run.buffer.partition(partition).iter() });
    }
    merge_readers(readers, visit)
}

/// How many of the first runs, whose longest rows have so many bytes, are read at once.
fn at_once(longest: impl Iterator<Item = usize>, most: usize) -> usize {
    let mut sum = 0;
    let fits = |(at, longest): &(usize, usize)| {
        sum += longest;
        *at < 2 || (*at < FAN_IN && sum <= most)
    };
    longest.enumerate().take_while(fits).count()
}

fn merge_readers(mut readers: Vec<Reader<'_>>, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut heap = BinaryHeap::new();
    for (at, reader) in readers.iter_mut().enumerate() {
        let mut row = Cow::Borrowed(&[][..]);
        if reader.next(&mut row)? {
            heap.push(Reverse((row, at)));
        }
    }
    while let Some(mut top) = heap.peek_mut() {
        let Reverse((row, at)) = &mut *top;
        visit(row)?;
        if !readers[*at].next(row)? {
            PeekMut::pop(top);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Budget;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_come_back_sorted_and_by_key(
            rows in prop::collection::vec("[ab]{0,3}\t[a-c]{0,12}", 0..200), tasks in 1usize..4, limit in 0usize..900,
            most in 0usize..40, spare in prop_oneof![Just(0usize), 0usize..600],
        ) {
            let folder = tempfile::tempdir().unwrap();
            let budget = Budget::of_stages(80 << 20, 1).unwrap();
            // Nothing of the log has room in memory, or some of it.
            budget.hold(budget.spare().saturating_sub(spare));
            let before = budget.spare();
            let log = Log::new(&budget, folder.path());
            let keys = Keys { partition: 1, sort: 1 };
            let mut runs = Vec::new();
            for task in 0..tasks {
                let mut partitioner = Partitioner::new(keys, 3, limit, &log);
                for row in rows.iter().skip(task).step_by(tasks) {
                    partitioner.row(row.as_bytes()).unwrap();
                }
                runs.push(partitioner.finish());
            }
            let mut all = Vec::new();
            for partition in 0..3 {
                let mut part = Vec::new();
                merge((&runs, &log), partition, most, |row| { part.push(String::from_utf8(row.to_vec()).unwrap()); Ok(()) }).unwrap();
                prop_assert!(part.is_sorted());
                for row in &part {
                    let key = row.split('\t').next().unwrap();
                    prop_assert_eq!(hash::partition(key.as_bytes(), 3), partition);
                }
                all.extend(part);
            }
            let mut expected = rows.clone();
            expected.sort();
            all.sort();
            prop_assert_eq!(all, expected);
            drop(log);
            prop_assert_eq!(budget.spare(), before);
        }
    }

    /// Rows longer than a chunk, among others, more runs than are read at once.
    #[test]
    fn rows_of_any_length_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let budget = Budget::of_stages(80 << 20, 1).unwrap();
        budget.hold(budget.spare());
        let log = Log::new(&budget, folder.path());
        let mut partitioner = Partitioner::new(Keys { partition: 0, sort: 0 }, 1, 100, &log);
        let row = |at: usize| format!("{:03}{}", at * 37 % 101, "x".repeat([0, 5, CHUNK, 3 * CHUNK][at % 4]));
        let mut expected: Vec<String> = (0..101).map(row).collect();
        expected.iter().try_for_each(|row| partitioner.row(row.as_bytes())).unwrap();
        assert!(partitioner.spills() > FAN_IN);
        let mut found = Vec::new();
        let visit = |row: &[u8]| {
            found.push(String::from_utf8(row.to_vec()).unwrap());
            Ok(())
        };
        merge((&[partitioner.finish()], &log), 0, 1 << 20, visit).unwrap();
        expected.sort();
        assert!(found == expected);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file has no name");
    }

    #[test]
    fn long_rows_are_merged_few_at_a_time() {
        assert_eq!(at_once([5; 100].into_iter(), 1000), FAN_IN);
        assert_eq!(at_once([5, 5, 5, 5, 5, 5].into_iter(), 17), 3);
        assert_eq!(at_once([100, 100, 100].into_iter(), 17), 2);
        assert_eq!(at_once([100].into_iter(), 17), 1);
        assert_eq!(at_once([].into_iter(), 17), 0);
    }
}
