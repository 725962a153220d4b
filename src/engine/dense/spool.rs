//! Bytes dealt out to buckets: in memory while the budget lasts, after that in a file.
//!
//! Threads fill a chunk for each bucket and hand it over when it is full. A chunk that the budget has room for stays
//! where it is; one that it has not is written to the end of the file, and only its place is kept. So memory keeps
//! the first part of what comes and the disk the rest: there is one way of doing it, and nothing is written that
//! would have fitted. The file has no name, and goes with the spool, whatever ends it.

use super::budget::{BUCKETS, Budget};
use crate::engine::steps::lock;
use crate::error::{Error, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// A part of a bucket.
enum Chunk {
    Memory(Vec<u8>),
    Disk { at: u64, length: usize },
}

/// The chunks of a bucket in the order in which they were handed over.
#[derive(Default)]
struct Bucket {
    chunks: Vec<Chunk>,
    bytes: usize,
}

/// Buckets of bytes.
pub struct Spool<'b> {
    budget: &'b Budget,
    folder: &'b Path,
    file: OnceLock<File>,
    end: AtomicU64,
    buckets: Vec<Mutex<Bucket>>,
}

impl<'b> Spool<'b> {
    /// An empty spool that has its file, if it comes to one, in `folder`.
    pub fn new(budget: &'b Budget, folder: &'b Path) -> Self {
        let buckets = (0..BUCKETS).map(|_| Mutex::default()).collect();
        Self { budget, folder, file: OnceLock::new(), end: AtomicU64::new(0), buckets }
    }

    /// The budget that its chunks count against.
    pub fn budget(&self) -> &'b Budget {
        self.budget
    }

    /// The folder of its file.
    pub fn folder(&self) -> &'b Path {
        self.folder
    }

    /// A thread's chunks.
    pub fn writer(&self) -> Writer<'_, 'b> {
        Writer { spool: self, open: (0..BUCKETS).map(|_| Vec::new()).collect(), chunk: self.budget.chunk() }
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

    fn write(&self, bytes: &[u8]) -> Result<Chunk> {
        let at = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let file = self.file()?;
        file.write_all_at(bytes, at).map_err(Error::io("spill to a file in", self.folder))?;
        Ok(Chunk::Disk { at, length: bytes.len() })
    }

    /// Takes a full chunk; `bytes` is empty after that.
    fn hand_over(&self, bucket: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let length = bytes.len();
        let chunk = if self.budget.try_hold(bytes.capacity()) {
            Chunk::Memory(std::mem::take(bytes))
        } else {
            let chunk = self.write(bytes)?;
            bytes.clear();
            chunk
        };
        let mut bucket = lock(&self.buckets[bucket]);
        bucket.bytes += length;
        bucket.chunks.push(chunk);
        if self.budget.is_over() {
            // Something that must stay in memory has grown: an older chunk makes room.
            let in_memory = bucket.chunks.iter_mut().rev().find(|chunk| matches!(chunk, Chunk::Memory(_)));
            if let Some(chunk) = in_memory {
                let moved = match chunk {
                    Chunk::Memory(bytes) => self.write(bytes)?,
                    Chunk::Disk { .. } => return Ok(()),
                };
                self.free(std::mem::replace(chunk, moved));
            }
        }
        Ok(())
    }

    fn free(&self, chunk: Chunk) {
        if let Chunk::Memory(bytes) = chunk {
            self.budget.release(bytes.capacity());
        }
    }

    /// Empties a bucket: calls `see` with each of its chunks, in the order in which they were handed over.
    pub fn drain(&self, bucket: usize, mut see: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let Bucket { chunks, .. } = std::mem::take(&mut *lock(&self.buckets[bucket]));
        let mut buffer = Vec::new();
        let mut result = Ok(());
        for chunk in chunks {
            if result.is_ok() {
                result = match &chunk {
                    Chunk::Memory(bytes) => see(bytes),
                    Chunk::Disk { at, length } => {
                        buffer.resize(*length, 0);
                        self.read(&mut buffer, *at).and_then(|()| see(&buffer))
                    }
                };
            }
            self.free(chunk);
        }
        result
    }

    fn read(&self, buffer: &mut [u8], at: u64) -> Result<()> {
        self.file()?.read_exact_at(buffer, at).map_err(Error::io("read what was spilled to", self.folder))
    }
}

impl Drop for Spool<'_> {
    fn drop(&mut self) {
        for bucket in &self.buckets {
            let Bucket { chunks, .. } = std::mem::take(&mut *lock(bucket));
            chunks.into_iter().for_each(|chunk| self.free(chunk));
        }
    }
}

/// One thread's open chunks of a spool. What is not [finished](Writer::finish) is lost.
pub struct Writer<'s, 'b> {
    spool: &'s Spool<'b>,
    open: Vec<Vec<u8>>,
    chunk: usize,
}

impl Writer<'_, '_> {
    /// The open chunk of a bucket, with room for `most` bytes; empty when it is a new one.
    #[inline]
    pub fn room(&mut self, bucket: usize, most: usize) -> Result<&mut Vec<u8>> {
        if self.open[bucket].capacity() - self.open[bucket].len() < most {
            self.next_chunk(bucket, most)?;
        }
        Ok(&mut self.open[bucket])
    }

    #[cold]
    fn next_chunk(&mut self, bucket: usize, most: usize) -> Result<()> {
        let open = &mut self.open[bucket];
        if !open.is_empty() {
            self.spool.hand_over(bucket, open)?;
        }
        if open.capacity() < most {
            *open = Vec::with_capacity(self.chunk.max(most));
        }
        Ok(())
    }

    /// Hands over what is in the chunk of one bucket.
    pub fn finish_bucket(&mut self, bucket: usize) -> Result<()> {
        let open = &mut self.open[bucket];
        if !open.is_empty() {
            open.shrink_to_fit();
            self.spool.hand_over(bucket, open)?;
        }
        *open = Vec::new();
        Ok(())
    }

    /// Hands over what is in the chunks.
    pub fn finish(mut self) -> Result<()> {
        (0..BUCKETS).try_for_each(|bucket| self.finish_bucket(bucket))
    }
}

#[cfg(test)]
mod tests {
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
            let budget = Budget::new(super::super::budget::PROGRAM + super::super::budget::THREAD + (70 << 10), 1);
            let before = budget.spare();
            let spool = Spool::new(&budget, folder.path());
            let mut expected: Vec<Vec<(u8, Vec<u8>)>> = vec![Vec::new(); BUCKETS];
            let mut open: Vec<_> = (0..writers).map(|_| spool.writer()).collect();
            for (at, &(bucket, length)) in words.iter().enumerate() {
                let bucket = if at % 3 == 0 { 7 } else { bucket };
                let writer = at % writers;
                let word = vec![at as u8; length];
                let chunk = open[writer].room(bucket, length + 2).unwrap();
                chunk.extend_from_slice(&[writer as u8, length as u8]);
                chunk.extend_from_slice(&word);
                expected[bucket].push((writer as u8, word));
                if at == words.len() / 2 {
                    budget.hold(held << 10);
                }
            }
            open.into_iter().for_each(|writer| writer.finish().unwrap());
            for (bucket, expected) in expected.iter_mut().enumerate() {
                let bytes = spool.bytes(bucket);
                let (mut found, mut seen) = (Vec::new(), 0);
                spool.drain(bucket, |mut chunk| {
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
            drop(spool);
            prop_assert!(words.len() <= 2 || budget.spare() == before);
        }
    }

    #[test]
    fn what_does_not_fit_is_on_disk_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let budget = Budget::new(0, 1);
        let spool = Spool::new(&budget, folder.path());
        let mut writer = spool.writer();
        writer.room(3, 5).unwrap().extend_from_slice(b"abcde");
        writer.finish().unwrap();
        assert_eq!((spool.spilled(), spool.bytes(3)), (5, 5));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        spool
            .drain(3, |chunk| {
                assert_eq!(chunk, b"abcde");
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn a_folder_that_takes_no_file_is_named() {
        let budget = Budget::new(0, 1);
        let spool = Spool::new(&budget, Path::new("/nowhere"));
        let mut writer = spool.writer();
        writer.room(0, 1).unwrap().push(1);
        assert!(writer.finish().unwrap_err().to_string().contains("/nowhere"));
    }
}
