//! The local engine's shuffle: rows are partitioned by their key, sorted in memory, spilled to disk when the memory
//! bound is reached, and merged for each reducer.
//!
//! Rows are compared whole. TAB is below every byte of an id, so that is also the order by key, and equal keys come
//! in an order of their own that no stage may rely on.

use crate::error::{Error, Result};
use crate::hash;
use crate::record::{Keys, key_end};
use crate::stage::Sink;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A row in a bucket: its first bytes as a number, so that most comparisons touch no memory, and where it stands.
#[derive(Clone, Copy)]
struct Entry {
    head: u64,
    start: usize,
    length: u32,
}

/// The rows of one partition that are in memory.
#[derive(Default)]
struct Bucket {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

impl Bucket {
    fn push(&mut self, row: &[u8]) -> Result<()> {
        let length = u32::try_from(row.len())
            .map_err(|_| Error::Limit(format!("a row of {} bytes; 4 GB is the most", row.len())))?;
        let mut head = [0; 8];
        let known = row.len().min(8);
        head[..known].copy_from_slice(&row[..known]);
        let entry = Entry { head: u64::from_be_bytes(head), start: self.bytes.len(), length };
        self.entries.push(entry);
        self.bytes.extend_from_slice(row);
        Ok(())
    }

    fn row(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.start..entry.start + entry.length as usize]
    }

    fn sort(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by(|x, y| match x.head.cmp(&y.head) {
            Ordering::Equal => self.row(x).cmp(self.row(y)),
            unequal => unequal,
        });
        self.entries = entries;
    }

    fn size(&self) -> usize {
        self.bytes.len() + self.entries.len() * size_of::<Entry>()
    }
}

/// A sorted run of one partition on disk.
struct Segment {
    path: PathBuf,
    start: u64,
    rows: u64,
}

/// What one map task leaves for the reducers.
#[derive(Default)]
pub struct Runs {
    /// For each partition, the rows that stayed in memory, sorted.
    memory: Vec<Bucket>,
    /// For each partition, its spilled runs.
    disk: Vec<Vec<Segment>>,
}

/// Takes the rows of one map task.
pub struct Partitioner {
    keys: Keys,
    runs: Runs,
    size: usize,
    limit: usize,
    folder: PathBuf,
    name: String,
    spills: usize,
}

impl Partitioner {
    /// A partitioner for `partitions` reducers that holds at most about `limit` bytes in memory and spills to files
    /// in `folder` whose names begin with `name`.
    pub fn new(keys: Keys, partitions: usize, limit: usize, folder: &Path, name: &str) -> Self {
        let runs = Runs {
            memory: (0..partitions).map(|_| Bucket::default()).collect(),
            disk: (0..partitions).map(|_| Vec::new()).collect(),
        };
        let (folder, name) = (folder.to_owned(), name.to_owned());
        Self { keys, runs, size: 0, limit, folder, name, spills: 0 }
    }

    /// How often memory was full.
    pub fn spills(&self) -> usize {
        self.spills
    }

    fn spill(&mut self) -> Result<()> {
        let path = self.folder.join(format!("{}-{:05}", self.name, self.spills));
        let failed = || Error::io("spill rows to", &path);
        let mut file = BufWriter::with_capacity(256 << 10, File::create(&path).map_err(failed())?);
        let mut at = 0;
        for (bucket, segments) in self.runs.memory.iter_mut().zip(&mut self.runs.disk) {
            bucket.sort();
            segments.push(Segment { path: path.clone(), start: at, rows: bucket.entries.len() as u64 });
            for entry in &bucket.entries {
                file.write_all(&entry.length.to_le_bytes())
                    .and_then(|()| file.write_all(bucket.row(entry)))
                    .map_err(failed())?;
                at += 4 + u64::from(entry.length);
            }
            *bucket = Bucket::default();
        }
        file.flush().map_err(failed())?;
        self.spills += 1;
        self.size = 0;
        Ok(())
    }

    /// The task is over: what is in memory is sorted and stays there.
    pub fn finish(mut self) -> Runs {
        self.runs.memory.iter_mut().for_each(Bucket::sort);
        self.runs
    }
}

impl Sink for Partitioner {
    fn row(&mut self, row: &[u8]) -> Result<()> {
        let partition = match self.keys.partition {
            0 => 0,
            fields => hash::partition(&row[..key_end(row, fields)], self.runs.memory.len()),
        };
        let bucket = &mut self.runs.memory[partition];
        let before = bucket.size();
        bucket.push(row)?;
        self.size += bucket.size() - before;
        if self.size > self.limit { self.spill() } else { Ok(()) }
    }
}

/// A sorted run as the merge reads it.
enum Reader<'r> {
    Memory { bucket: &'r Bucket, next: usize },
    Disk { file: BufReader<File>, rows: u64, path: &'r Path },
}

impl Reader<'_> {
    /// Replaces `row` by the next row; false at the end.
    fn next(&mut self, row: &mut Vec<u8>) -> Result<bool> {
        row.clear();
        match self {
            Reader::Memory { bucket, next } => {
                let Some(entry) = bucket.entries.get(*next) else { return Ok(false) };
                row.extend_from_slice(bucket.row(entry));
                *next += 1;
            }
            Reader::Disk { rows: 0, .. } => return Ok(false),
            Reader::Disk { file, rows, path } => {
                let path = *path;
                let mut length = [0; 4];
                file.read_exact(&mut length).map_err(Error::io("read spilled rows from", path))?;
                row.resize(u32::from_le_bytes(length) as usize, 0);
                file.read_exact(row).map_err(Error::io("read spilled rows from", path))?;
                *rows -= 1;
            }
        }
        Ok(true)
    }
}

/// Calls `see` with every row of a partition in sorted order.
pub fn merge(runs: &[Runs], partition: usize, mut see: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut readers = Vec::new();
    for run in runs {
        readers.push(Reader::Memory { bucket: &run.memory[partition], next: 0 });
        for segment in &run.disk[partition] {
            let path = segment.path.as_path();
            let mut file = File::open(path).map_err(Error::io("open", path))?;
            file.seek(SeekFrom::Start(segment.start)).map_err(Error::io("read spilled rows from", path))?;
            let file = BufReader::with_capacity(64 << 10, file);
            readers.push(Reader::Disk { file, rows: segment.rows, path });
        }
    }
    let mut heap = BinaryHeap::new();
    for (at, reader) in readers.iter_mut().enumerate() {
        let mut row = Vec::new();
        if reader.next(&mut row)? {
            heap.push(Reverse((row, at)));
        }
    }
    while let Some(mut top) = heap.peek_mut() {
        let Reverse((row, at)) = &mut *top;
        see(row)?;
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
            rows in prop::collection::vec("[ab]{0,3}\t[a-c]{0,12}", 0..200), tasks in 1usize..4, limit in 0usize..3000,
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
                merge(&runs, partition, |row| { part.push(String::from_utf8(row.to_vec()).unwrap()); Ok(()) }).unwrap();
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
}
