//! The local engine's shuffle: rows are partitioned by their key, sorted in memory, spilled to disk when the memory
//! bound is reached, and merged for each reducer.
//!
//! Rows are compared whole. TAB is below every byte of an id, so that is also the order by key, and equal keys come
//! in an order of their own that no stage may rely on.

use crate::error::{Error, Result};
use crate::hash;
use crate::record::{Keys, key_end};
use crate::stage::Sink;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

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

/// A sorted run of one partition on disk.
#[derive(Clone)]
struct Segment {
    path: PathBuf,
    start: u64,
    rows: u64,
    /// Bytes of its longest row.
    longest: usize,
}

/// What one map task leaves for the reducers.
#[derive(Default)]
pub struct Runs {
    /// The rows that stayed in memory, sorted.
    memory: Rows,
    /// For each partition, its spilled runs.
    disk: Vec<Vec<Segment>>,
    rows: u64,
}

impl Runs {
    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

/// Takes the rows of one map task.
pub struct Partitioner {
    keys: Keys,
    runs: Runs,
    folder: PathBuf,
    name: String,
    spills: usize,
}

impl Partitioner {
    /// A partitioner for `partitions` reducers that holds at most `limit` bytes in memory (or one row, if that is
    /// larger) and spills to files in `folder` whose names begin with `name`.
    pub fn new(keys: Keys, partitions: usize, limit: usize, folder: &Path, name: &str) -> Self {
        let disk = (0..partitions).map(|_| Vec::new()).collect();
        let runs = Runs { memory: Rows::with_room(limit), disk, rows: 0 };
        Self { keys, runs, folder: folder.to_owned(), name: name.to_owned(), spills: 0 }
    }

    /// How often memory was full.
    pub fn spills(&self) -> usize {
        self.spills
    }

    fn spill(&mut self) -> Result<()> {
        let path = self.folder.join(format!("{}-{:05}", self.name, self.spills));
        let failed = || Error::io("spill rows to", &path);
        let mut file = BufWriter::with_capacity(256 << 10, File::create(&path).map_err(failed())?);
        self.runs.memory.sort();
        let mut start = 0;
        for (partition, segments) in self.runs.disk.iter_mut().enumerate() {
            let entries = self.runs.memory.partition(partition);
            if entries.is_empty() {
                continue;
            }
            let longest = entries.iter().map(|entry| entry.length as usize).max().unwrap_or(0);
            segments.push(Segment { path: path.clone(), start, rows: entries.len() as u64, longest });
            for entry in entries {
                file.write_all(&entry.length.to_le_bytes())
                    .and_then(|()| file.write_all(self.runs.memory.row(entry)))
                    .map_err(failed())?;
                start += 4 + u64::from(entry.length);
            }
        }
        file.flush().map_err(failed())?;
        self.runs.memory.clear();
        self.spills += 1;
        Ok(())
    }

    /// The task is over: what is in memory is sorted and stays there.
    pub fn finish(mut self) -> Runs {
        self.runs.memory.sort();
        self.runs
    }
}

impl Sink for Partitioner {
    fn row(&mut self, row: &[u8]) -> Result<()> {
        let partition = match self.keys.partition {
            0 => 0,
            fields => hash::partition(&row[..key_end(row, fields)], self.runs.disk.len()),
        };
        if !self.runs.memory.has_room(row) && !self.runs.memory.entries.is_empty() {
            self.spill()?;
        }
        self.runs.rows += 1;
        self.runs.memory.push(partition, row)
    }
}

/// A sorted run as the merge reads it.
enum Reader<'r> {
    Memory { rows: &'r Rows, entries: std::slice::Iter<'r, Entry> },
    Disk { file: BufReader<File>, rows: u64, path: &'r Path },
}

impl<'r> Reader<'r> {
    /// Replaces `row` by the next row; false at the end. A row in memory is not copied.
    fn next(&mut self, row: &mut Cow<'r, [u8]>) -> Result<bool> {
        match self {
            Reader::Memory { rows, entries } => {
                let Some(entry) = entries.next() else { return Ok(false) };
                *row = Cow::Borrowed(rows.row(entry));
            }
            Reader::Disk { rows: 0, .. } => return Ok(false),
            Reader::Disk { file, rows, path } => {
                let path = *path;
                let mut length = [0; 4];
                file.read_exact(&mut length).map_err(Error::io("read spilled rows from", path))?;
                let row = row.to_mut();
                row.resize(u32::from_le_bytes(length) as usize, 0);
                file.read_exact(row).map_err(Error::io("read spilled rows from", path))?;
                *rows -= 1;
            }
        }
        Ok(true)
    }
}

/// Runs that are read at once, so that their buffers take a few megabytes whatever the number of runs.
const FAN_IN: usize = 48;
/// Bytes of a run's buffer.
const RUN_BUFFER: usize = 64 << 10;

impl Segment {
    fn open(&self) -> Result<Reader<'_>> {
        let path = self.path.as_path();
        let mut file = File::open(path).map_err(Error::io("open", path))?;
        file.seek(SeekFrom::Start(self.start)).map_err(Error::io("read spilled rows from", path))?;
        Ok(Reader::Disk { file: BufReader::with_capacity(RUN_BUFFER, file), rows: self.rows, path })
    }
}

/// Calls `visit` with every row of a partition in sorted order. When there are more spilled runs than are read at once,
/// some are merged to longer ones first, in `folder`. Runs that are read at once have no more bytes in their longest rows
/// than `most`, but for two.
pub fn merge(
    runs: &[Runs],
    partition: usize,
    (folder, most): (&Path, usize),
    visit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut segments: VecDeque<Cow<'_, Segment>> =
        runs.iter().flat_map(|run| &run.disk[partition]).map(Cow::Borrowed).collect();
    let mut merged = 0;
    loop {
        let at_once = at_once(segments.iter().map(|segment| segment.longest), most);
        if at_once == segments.len() {
            break;
        }
        let path = folder.join(format!("merged-{partition:05}-{merged:05}"));
        merged += 1;
        let first: Vec<_> = segments.drain(..at_once).collect();
        let longer = merge_to_disk(&first, path)?;
        for segment in first {
            // A run of the spill files goes with its file, which holds other partitions too.
            if let Cow::Owned(segment) = segment {
                fs::remove_file(&segment.path).map_err(Error::io("remove", &segment.path))?;
            }
        }
        segments.push_back(Cow::Owned(longer));
    }
    let mut readers = segments.iter().map(|segment| segment.open()).collect::<Result<Vec<_>>>()?;
    for run in runs {
        readers.push(Reader::Memory { rows: &run.memory, entries: run.memory.partition(partition).iter() });
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

fn merge_to_disk(segments: &[Cow<'_, Segment>], path: PathBuf) -> Result<Segment> {
    let failed = || Error::io("merge spilled rows to", &path);
    let mut file = BufWriter::with_capacity(256 << 10, File::create(&path).map_err(failed())?);
    let (mut rows, mut longest) = (0, 0);
    let readers = segments.iter().map(|segment| segment.open()).collect::<Result<Vec<_>>>()?;
    merge_readers(readers, |row| {
        rows += 1;
        longest = longest.max(row.len());
        // No row is longer than 4 GB: see `Rows::push`.
        file.write_all(&(row.len() as u32).to_le_bytes()).and_then(|()| file.write_all(row)).map_err(failed())
    })?;
    file.flush().map_err(failed())?;
    Ok(Segment { path, start: 0, rows, longest })
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
            std::collections::binary_heap::PeekMut::pop(top);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_come_back_sorted_and_by_key(
            rows in prop::collection::vec("[ab]{0,3}\t[a-c]{0,12}", 0..200), tasks in 1usize..4, limit in 0usize..900,
            most in 0usize..40,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let keys = Keys { partition: 1, sort: 1 };
            let mut runs = Vec::new();
            for task in 0..tasks {
                let mut partitioner = Partitioner::new(keys, 3, limit, folder.path(), &format!("t{task}"));
                for row in rows.iter().skip(task).step_by(tasks) {
                    partitioner.row(row.as_bytes()).unwrap();
                }
                runs.push(partitioner.finish());
            }
            let mut all = Vec::new();
            for partition in 0..3 {
                let mut part = Vec::new();
                merge(&runs, partition, (folder.path(), most), |row| { part.push(String::from_utf8(row.to_vec()).unwrap()); Ok(()) }).unwrap();
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
        }
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
