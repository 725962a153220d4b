//! Bytes that are in memory while the budget lasts, and after that in a file: what both ways of sorting stand on.
//!
//! A [`Log`] takes chunks of bytes and gives them back. Its first part is in memory and its rest is a file; whoever appends a chunk keeps
//! its place. So there is one way of doing it, and nothing is written that would have fitted. The file has no name, and goes with the log,
//! whatever ends it. The part in memory is made of large segments, not of chunks: memory that is freed in small pieces
//! stays with the process, and what counts is what the process holds. Segments stand in stripes with a lock of their own, one for each thread where
//! threads append at once: to copy a chunk into memory that was not touched before takes a microsecond and more, and with one lock each would wait for the others.
//!
//! Two things are made of logs. A [`SpillFile`] is a log with buckets, into which threads deal rows of numbers by the leading bits of their
//! keys ([sorter](super::columnar::sorter)). The [shuffle](super::shuffle) of text rows, whose keys have any length and begin alike, appends
//! sorted runs instead, and merges them.

mod buckets;

pub use buckets::{SpillFile, Writer};

use super::memory::Budget;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use twinsplit_core::threads::lock;
use twinsplit_io::error::{Error, Result};

/// A part of the log that is, or was, in memory.
enum Segment {
    Memory(Vec<u8>),
    /// Moved to the file, at this place.
    Moved(u64),
}

/// Where a chunk is, and how many bytes it has.
#[derive(Clone, Copy)]
pub enum Chunk {
    /// In the part in memory, which may have moved to the file since.
    Memory {
        /// Number of the stripe.
        stripe: usize,
        /// Number of the segment in it.
        segment: usize,
        /// Place in it.
        at: usize,
        /// Bytes.
        length: usize,
    },
    /// In the file.
    Disk {
        /// Place in it.
        at: u64,
        /// Bytes.
        length: usize,
    },
}

impl Chunk {
    /// How many bytes it has.
    pub fn length(self) -> usize {
        match self {
            Chunk::Memory { length, .. } | Chunk::Disk { length, .. } => length,
        }
    }
}

/// See the module.
pub struct Log<'b> {
    budget: &'b Budget,
    folder: &'b Path,
    stripes: Vec<Stripe>,
    /// How many have asked for a stripe.
    appenders: AtomicUsize,
    file: OnceLock<File>,
    end: AtomicU64,
    /// Memory that comes before new memory.
    free: Mutex<FreeSegments>,
}

/// Segments of a log that has gone, empty: memory that was touched before costs less than what is new. They are held by nobody.
#[derive(Default)]
pub struct FreeSegments(Vec<Vec<u8>>);

/// Segments to which few append.
type Stripe = RwLock<Vec<Segment>>;

impl<'b> Log<'b> {
    /// An empty log that has its file, if it comes to one, in `folder`.
    pub fn new(budget: &'b Budget, folder: &'b Path) -> Self {
        let stripes = (0..budget.log_stripes()).map(|_| Stripe::default()).collect();
        let (appenders, end) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { budget, folder, stripes, appenders, file: OnceLock::new(), end, free: Mutex::default() }
    }

    /// Takes segments to fill before others.
    pub fn reuse(&self, segments: FreeSegments) {
        *lock(&self.free) = segments;
    }

    /// Ends the log, but for its memory.
    pub fn into_free_segments(mut self) -> FreeSegments {
        let mut segments: Vec<Vec<u8>> = self.release().collect();
        segments.iter_mut().for_each(Vec::clear);
        FreeSegments(segments)
    }

    /// Takes the segments out that are in memory, which are no longer held.
    fn release(&mut self) -> impl Iterator<Item = Vec<u8>> {
        let budget = self.budget;
        let stripes = self.stripes.iter_mut();
        let segments =
            stripes.flat_map(|stripe| stripe.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..));
        segments.filter_map(move |segment| match segment {
            Segment::Memory(bytes) => {
                budget.release(bytes.len());
                Some(bytes)
            }
            Segment::Moved(_) => None,
        })
    }

    /// One thread's way in.
    pub fn appender(&self) -> Appender<'_, 'b> {
        Appender { log: self, stripe: self.appenders.fetch_add(1, Ordering::Relaxed) % self.stripes.len() }
    }

    /// Bytes written to the file so far.
    pub fn written(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
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

    /// Something that must stay in memory has grown: the last segment of a stripe goes to the file. Says whether there was one.
    pub fn make_room(&self) -> Result<bool> {
        for stripe in &self.stripes {
            let mut segments = stripe.write().unwrap_or_else(PoisonError::into_inner);
            let last = segments.iter_mut().rev().find(|segment| matches!(segment, Segment::Memory(_)));
            if let Some(segment) = last
                && let Segment::Memory(bytes) = segment
            {
                let (at, length) = (self.write(bytes)?, bytes.len());
                *segment = Segment::Moved(at);
                self.budget.release(length);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Calls `visit` with each of the chunks.
    #[inline]
    pub fn each(&self, chunks: &[Chunk], mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut buffer = Vec::new();
        for chunk in chunks {
            let segments = self.stripe_of(*chunk);
            match place(&segments, *chunk) {
                Ok(bytes) => visit(bytes)?,
                Err(at) => {
                    self.read(&mut buffer, chunk.length(), at)?;
                    visit(&buffer)?;
                }
            }
        }
        Ok(())
    }

    /// The segments among which a chunk is, if it is in one.
    fn stripe_of(&self, chunk: Chunk) -> RwLockReadGuard<'_, Vec<Segment>> {
        let stripe = if let Chunk::Memory { stripe, .. } = chunk { stripe } else { 0 };
        self.stripes[stripe].read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces what is in a buffer by a chunk.
    pub fn copy(&self, chunk: Chunk, buffer: &mut Vec<u8>) -> Result<()> {
        let segments = self.stripe_of(chunk);
        let at = match place(&segments, chunk) {
            Ok(bytes) => {
                buffer.clear();
                buffer.extend_from_slice(bytes);
                return Ok(());
            }
            Err(at) => at,
        };
        drop(segments);
        self.read(buffer, chunk.length(), at)
    }

    fn read(&self, buffer: &mut Vec<u8>, length: usize, at: u64) -> Result<()> {
        buffer.resize(length, 0);
        self.file()?.read_exact_at(buffer, at).map_err(Error::io("read what was spilled to", self.folder))
    }
}

/// One thread's way into a log.
pub struct Appender<'l, 'b> {
    log: &'l Log<'b>,
    stripe: usize,
}

impl Appender<'_, '_> {
    /// Appends a chunk.
    pub fn append(&self, bytes: &[u8]) -> Result<Chunk> {
        let log = self.log;
        if log.budget.try_hold(bytes.len()) {
            return Ok(self.keep(bytes));
        }
        if log.budget.is_over() {
            log.make_room()?;
        }
        Ok(Chunk::Disk { at: log.write(bytes)?, length: bytes.len() })
    }

    /// Appends to the part in memory.
    fn keep(&self, bytes: &[u8]) -> Chunk {
        let mut segments = self.log.stripes[self.stripe].write().unwrap_or_else(PoisonError::into_inner);
        let fits = |segment: &Segment| match segment {
            Segment::Memory(own) => own.capacity() - own.len() >= bytes.len(),
            Segment::Moved(_) => false,
        };
        if !segments.last().is_some_and(fits) {
            let free = lock(&self.log.free).0.pop().filter(|free| free.capacity() >= bytes.len());
            let room = self.log.budget.log_segment().max(bytes.len());
            segments.push(Segment::Memory(free.unwrap_or_else(|| Vec::with_capacity(room))));
        }
        let segment = segments.len() - 1;
        let mut at = 0;
        if let Some(Segment::Memory(own)) = segments.last_mut() {
            at = own.len();
            own.extend_from_slice(bytes);
        }
        Chunk::Memory { stripe: self.stripe, segment, at, length: bytes.len() }
    }
}

/// A chunk's bytes in memory, or its place in the file.
fn place(segments: &[Segment], chunk: Chunk) -> std::result::Result<&[u8], u64> {
    match chunk {
        Chunk::Disk { at, .. } => Err(at),
        Chunk::Memory { segment, at, length, .. } => match &segments[segment] {
            Segment::Memory(bytes) => Ok(&bytes[at..at + length]),
            Segment::Moved(place) => Err(place + at as u64),
        },
    }
}

impl Drop for Log<'_> {
    fn drop(&mut self) {
        self.release().for_each(drop);
    }
}
