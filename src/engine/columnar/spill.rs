//! Bytes dealt out to buckets: in memory while the budget lasts, after that in a file.
//!
//! Threads fill a chunk for each bucket, and a full one is appended to a log, whose first part is in memory and whose
//! rest is a file; the bucket keeps the place. So there is one way of doing it, and nothing is written that would
//! have fitted. The file has no name, and goes with the spill file, whatever ends it.
//!
//! The part in memory is made of large segments, not of chunks: memory that is freed in small pieces
//! stays with the process, and what counts is what the process holds.

use super::budget::{BUCKETS, Budget};
use crate::error::{Error, Result};
use crate::threads::lock;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

/// Allocators give a block of this size back to the system when it is freed. Memory that was not touched yet is
/// not taken from it.
const SEGMENT: usize = 33 << 20;

/// The size of a chunk while all is in memory: those of a thread stay in its cache. Reading a file back pays for larger
/// ones.
const CACHED: usize = 8 << 10;

/// A part of the log that is, or was, in memory.
enum Segment {
    Memory(Vec<u8>),
    /// Moved to the file, at this place.
    Moved(u64),
}

/// Where a chunk is.
#[derive(Clone, Copy)]
enum Chunk {
    Memory { segment: usize, at: usize, length: usize },
    Disk { at: u64, length: usize },
}

/// The chunks of a bucket in the order in which they were handed over.
#[derive(Default)]
struct Bucket {
    chunks: Vec<Chunk>,
    bytes: usize,
}

/// Buckets of bytes.
pub struct SpillFile<'b> {
    budget: &'b Budget,
    folder: &'b Path,
    segments: RwLock<Vec<Segment>>,
    file: OnceLock<File>,
    end: AtomicU64,
    buckets: Vec<Mutex<Bucket>>,
}

impl<'b> SpillFile<'b> {
    /// An empty spill file that has its file, if it comes to one, in `folder`.
    pub fn new(budget: &'b Budget, folder: &'b Path) -> Self {
        let buckets = (0..BUCKETS).map(|_| Mutex::default()).collect();
        let segments = RwLock::default();
        Self { budget, folder, segments, file: OnceLock::new(), end: AtomicU64::new(0), buckets }
    }

    /// The budget that its memory counts against.
    pub fn budget(&self) -> &'b Budget {
        self.budget
    }

    /// The folder of its file.
    pub fn folder(&self) -> &'b Path {
        self.folder
    }

    /// A thread's chunks.
    pub fn writer(&self) -> Writer<'_, 'b> {
        Writer { spill: self, open: (0..BUCKETS).map(|_| Open::default()).collect() }
    }

    /// Bytes written to the file so far.
    pub fn spilled(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// The size of a bucket.
    pub fn bytes(&self, bucket: usize) -> usize {
        lock(&self.buckets[bucket]).bytes
    }

    fn file(&self) -> Result<&File> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = tempfile::tempfile_in(self.folder).map_err(Error::io("make a file in", self.folder))?;
        Ok(self.file.get_or_init(|| file))
    }

    /// Appends to the file, and gives the place there.
    fn write(&self, bytes: &[u8]) -> Result<u64> {
        let file = self.file()?;
        let at = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        file.write_all_at(bytes, at).map_err(Error::io("spill to a file in", self.folder))?;
        Ok(at)
    }

    /// Takes a chunk.
    fn hand_over(&self, bucket: usize, bytes: &[u8]) -> Result<()> {
        let chunk = if self.budget.try_hold(bytes.len()) {
            self.keep(bytes)
        } else {
            if self.budget.is_over() {
                self.make_room()?;
            }
            Chunk::Disk { at: self.write(bytes)?, length: bytes.len() }
        };
        let mut bucket = lock(&self.buckets[bucket]);
        bucket.bytes += bytes.len();
        bucket.chunks.push(chunk);
        Ok(())
    }

    /// Appends to the part in memory.
    fn keep(&self, bytes: &[u8]) -> Chunk {
        let mut segments = self.segments.write().unwrap_or_else(PoisonError::into_inner);
        let fits = |segment: &Segment| match segment {
            Segment::Memory(own) => own.capacity() - own.len() >= bytes.len(),
            Segment::Moved(_) => false,
        };
        if !segments.last().is_some_and(fits) {
            segments.push(Segment::Memory(Vec::with_capacity(SEGMENT.max(bytes.len()))));
        }
        let segment = segments.len() - 1;
        let mut at = 0;
        if let Some(Segment::Memory(own)) = segments.last_mut() {
            at = own.len();
            own.extend_from_slice(bytes);
        }
        Chunk::Memory { segment, at, length: bytes.len() }
    }

    /// Something that must stay in memory has grown: the last segment goes to the file. Says whether there was one.
    pub fn make_room(&self) -> Result<bool> {
        let mut segments = self.segments.write().unwrap_or_else(PoisonError::into_inner);
        let last = segments.iter_mut().rev().find(|segment| matches!(segment, Segment::Memory(_)));
        if let Some(segment) = last
            && let Segment::Memory(bytes) = segment
        {
            let (at, length) = (self.write(bytes)?, bytes.len());
            *segment = Segment::Moved(at);
            self.budget.release(length);
            return Ok(true);
        }
        Ok(false)
    }

    /// Empties a bucket: calls `visit` with each of its chunks, in the order in which they were handed over.
    pub fn drain(&self, bucket: usize, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let Bucket { chunks, .. } = std::mem::take(&mut *lock(&self.buckets[bucket]));
        let segments = self.segments.read().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = Vec::new();
        for chunk in chunks {
            let (place, length) = match chunk {
                Chunk::Disk { at, length } => (at, length),
                Chunk::Memory { segment, at, length } => match &segments[segment] {
                    Segment::Memory(bytes) => {
                        visit(&bytes[at..at + length])?;
                        continue;
                    }
                    Segment::Moved(place) => (place + at as u64, length),
                },
            };
            buffer.resize(length, 0);
            self.read(&mut buffer, place)?;
            visit(&buffer)?;
        }
        Ok(())
    }

    fn read(&self, buffer: &mut [u8], at: u64) -> Result<()> {
        self.file()?.read_exact_at(buffer, at).map_err(Error::io("read what was spilled to", self.folder))
    }
}

impl Drop for SpillFile<'_> {
    fn drop(&mut self) {
        let segments = self.segments.get_mut().unwrap_or_else(PoisonError::into_inner);
        for segment in segments.drain(..) {
            if let Segment::Memory(bytes) = segment {
                self.budget.release(bytes.len());
            }
        }
    }
}

/// A chunk that is being filled.
#[derive(Default)]
struct Open {
    bytes: Vec<u8>,
    filled: usize,
}

/// One thread's open chunks of a spill file. What is not [finished](Writer::finish) is lost.
pub struct Writer<'s, 'b> {
    spill: &'s SpillFile<'b>,
    open: Vec<Open>,
}

impl Writer<'_, '_> {
    /// Has `write` put at most `most` bytes into the open chunk of a bucket and say how many; it is told whether they are the
    /// first of a chunk.
    #[inline]
    pub fn put(
        &mut self,
        bucket: usize,
        most: usize,
        write: impl FnOnce(&mut [u8], bool) -> usize,
    ) -> Result<()> {
        let open = &self.open[bucket];
        if open.bytes.len() - open.filled < most {
            self.next_chunk(bucket, most)?;
        }
        let open = &mut self.open[bucket];
        let written = write(&mut open.bytes[open.filled..][..most], open.filled == 0);
        open.filled += written;
        Ok(())
    }

    #[cold]
    fn next_chunk(&mut self, bucket: usize, most: usize) -> Result<()> {
        self.finish_bucket(bucket)?;
        let largest = self.spill.budget.chunk();
        let size = if self.spill.spilled() > 0 { largest } else { largest.min(CACHED) };
        let open = &mut self.open[bucket];
        if open.bytes.len() < size.max(most) {
            open.bytes = vec![0; size.max(most)];
        }
        Ok(())
    }

    /// Hands over what is in the chunk of one bucket.
    pub fn finish_bucket(&mut self, bucket: usize) -> Result<()> {
        let open = &mut self.open[bucket];
        if open.filled > 0 {
            self.spill.hand_over(bucket, &open.bytes[..open.filled])?;
            open.filled = 0;
        }
        Ok(())
    }

    /// Hands over what is in the chunks.
    pub fn finish(mut self) -> Result<()> {
        (0..BUCKETS).try_for_each(|bucket| self.finish_bucket(bucket))
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget::{PROGRAM, THREAD};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever fits into memory, each bucket gives back what each writer put into it, in its order, and nothing
        /// stays held.
        #[test]
        fn gives_back_what_it_was_given(
            words in prop::collection::vec((0usize..BUCKETS, 1usize..40), 0..3000), held in 0usize..60, writers in 1usize..4,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let budget = Budget::new(PROGRAM + THREAD + (70 << 10), 1).unwrap();
            let before = budget.spare();
            let spill = SpillFile::new(&budget, folder.path());
            let mut expected: Vec<Vec<(u8, Vec<u8>)>> = vec![Vec::new(); BUCKETS];
            let mut open: Vec<_> = (0..writers).map(|_| spill.writer()).collect();
            for (at, &(bucket, length)) in words.iter().enumerate() {
                let bucket = if at % 3 == 0 { 7 } else { bucket };
                let writer = at % writers;
                let word = vec![at as u8; length];
                let write = |out: &mut [u8], _| {
                    out[..2].copy_from_slice(&[writer as u8, length as u8]);
                    out[2..].copy_from_slice(&word);
                    length + 2
                };
                open[writer].put(bucket, length + 2, write).unwrap();
                expected[bucket].push((writer as u8, word));
                if at == words.len() / 2 {
                    budget.hold(held << 10);
                }
            }
            open.into_iter().for_each(|writer| writer.finish().unwrap());
            for (bucket, expected) in expected.iter_mut().enumerate() {
                let bytes = spill.bytes(bucket);
                let (mut found, mut seen) = (Vec::new(), 0);
                spill.drain(bucket, |mut chunk| {
                    seen += chunk.len();
                    while let [writer, length, rest @ ..] = chunk {
                        let (word, rest) = rest.split_at(*length as usize);
                        found.push((*writer, word.to_vec()));
                        chunk = rest;
                    }
                    Ok(())
                }).unwrap();
                prop_assert_eq!(bytes, seen);
                found.sort_by_key(|(writer, _)| *writer);
                expected.sort_by_key(|(writer, _)| *writer);
                prop_assert_eq!(&found, expected);
            }
            if words.len() > 2 {
                budget.release(held << 10);
            }
            drop(spill);
            prop_assert!(words.len() <= 2 || budget.spare() == before);
        }
    }

    #[test]
    fn what_does_not_fit_is_on_disk_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let budget = Budget::new(PROGRAM + THREAD + 1, 1).unwrap();
        let spill = SpillFile::new(&budget, folder.path());
        let mut writer = spill.writer();
        writer
            .put(3, 9, |out, first| {
                assert!(first);
                out[..5].copy_from_slice(b"abcde");
                5
            })
            .unwrap();
        writer.finish().unwrap();
        assert_eq!((spill.spilled(), spill.bytes(3)), (5, 5));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        spill
            .drain(3, |chunk| {
                assert_eq!(chunk, b"abcde");
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn a_folder_that_takes_no_file_is_named() {
        let budget = Budget::new(PROGRAM + THREAD + 1, 1).unwrap();
        let spill = SpillFile::new(&budget, Path::new("/nowhere"));
        let mut writer = spill.writer();
        writer.put(0, 2, |_, _| 2).unwrap();
        assert!(writer.finish().unwrap_err().to_string().contains("/nowhere"));
    }
}
