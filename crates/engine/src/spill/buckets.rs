//! A log with buckets, into which threads deal rows.

use super::{Appender, Chunk, FreeSegments, Log};
use crate::memory::{BUCKETS, Budget};
use std::path::Path;
use std::sync::Mutex;
use twinsplit_core::threads::lock;
use twinsplit_io::error::Result;

/// The size of a chunk while all is in memory: those of a thread stay in its cache. Reading a file back pays for larger
/// ones.
const CACHED: usize = 8 << 10;

/// The chunks of a bucket in the order in which they were handed over.
#[derive(Default)]
struct Bucket {
    chunks: Vec<Chunk>,
    bytes: usize,
}

/// A log with buckets: threads fill a chunk for each of them, and hand full ones over.
pub struct SpillFile<'b> {
    log: Log<'b>,
    buckets: Vec<Mutex<Bucket>>,
}

impl<'b> SpillFile<'b> {
    /// An empty spill file that has its file, if it comes to one, in `folder`.
    pub fn new(budget: &'b Budget, folder: &'b Path) -> Self {
        let buckets = (0..BUCKETS).map(|_| Mutex::default()).collect();
        Self { log: Log::new(budget, folder), buckets }
    }

    /// See [`Log::reuse`].
    pub fn reuse(&self, segments: FreeSegments) {
        self.log.reuse(segments);
    }

    /// See [`Log::into_free_segments`].
    pub fn into_free_segments(self) -> FreeSegments {
        self.log.into_free_segments()
    }

    /// The budget that its memory counts against.
    pub fn budget(&self) -> &'b Budget {
        self.log.budget
    }

    /// The folder of its file.
    pub fn folder(&self) -> &'b Path {
        self.log.folder
    }

    /// A thread's chunks.
    pub fn writer(&self) -> Writer<'_, 'b> {
        let open = (0..BUCKETS).map(|_| Open::default()).collect();
        Writer { spill: self, log: self.log.appender(), open }
    }

    /// Bytes written to the file so far.
    pub fn spilled(&self) -> u64 {
        self.log.written()
    }

    /// The size of a bucket.
    pub fn bytes(&self, bucket: usize) -> usize {
        lock(&self.buckets[bucket]).bytes
    }

    /// Takes a chunk that is in the log.
    fn hand_over(&self, bucket: usize, chunk: Chunk) {
        let mut bucket = lock(&self.buckets[bucket]);
        bucket.bytes += chunk.length();
        bucket.chunks.push(chunk);
    }

    /// See [`Log::make_room`].
    pub fn make_room(&self) -> Result<bool> {
        self.log.make_room()
    }

    /// Calls `visit` with each chunk of a bucket, in the order in which they were handed over.
    #[inline]
    pub fn each(&self, bucket: usize, visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let chunks = lock(&self.buckets[bucket]).chunks.clone();
        self.log.each(&chunks, visit)
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
    log: Appender<'s, 'b>,
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
        let largest = self.spill.budget().chunk();
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
            self.spill.hand_over(bucket, self.log.append(&open.bytes[..open.filled])?);
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
    use super::*;
    use crate::memory::{PROGRAM, THREAD};
    use proptest::prelude::*;

    proptest! {
        /// Whatever fits into memory, each bucket gives back what each writer put into it, in its order, and nothing
        /// stays held.
        #[test]
        fn gives_back_what_it_was_given(
            words in prop::collection::vec((0usize..BUCKETS, 1usize..40), 0..3000), held in 0usize..60, writers in 1usize..4,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let budget = Budget::new(PROGRAM + writers * THREAD + (70 << 10), writers).unwrap();
            let before = budget.spare();
            let (mut free, mut segments) = (FreeSegments::default(), 0);
            // The second time in the memory of the first.
            for again in [false, true] {
                let spill = SpillFile::new(&budget, folder.path());
                spill.reuse(free);
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
                    spill.each(bucket, |mut chunk| {
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
                if !words.is_empty() {
                    budget.release(held << 10);
                }
                free = spill.into_free_segments();
                prop_assert_eq!(budget.spare(), before);
                prop_assert!(!again || free.0.len() == segments, "{} segments instead of {}", free.0.len(), segments);
                segments = free.0.len();
            }
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
            .each(3, |chunk| {
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
