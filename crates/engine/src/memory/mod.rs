//! Who may hold how much of `--memory`.
//!
//! The bound is for the whole process. Where a run works on columns of numbers,
//!
//! - [`PROGRAM`] bytes, and [`THREAD`] for each thread, are for the program itself: its code, the block of input a thread
//!   works at, its buffers. The dictionary for Chinese is added when it is first needed.
//! - an eighth of the rest is left to the allocator, which keeps some of what is freed;
//! - a quarter of what remains is *working memory*: sort buffers, and the chunks that are being filled;
//! - everything else is held by name: what is kept of each document ([`DOCUMENT`] bytes and its id), long lines while
//!   they are read (see [`lines`]), then the sets and the index, and what remains by the chunks of spill files, which go to
//!   disk when nothing remains.
//!
//! Where it runs stages, the dictionary may be loaded by any of them and what the allocator keeps does not grow with the bound:
//! [`STAGES`] bytes are for all of that. Half of the rest is shared out to the [tasks], a quarter is working memory, which is
//! the buffers of the shuffle, and the last quarter holds sorted runs before any goes to disk.
//!
//! Arrays that grow with the number of documents have no place on disk, nor has a line. When they do not fit, the run ends
//! and says how much would do. The set of a single document, or the documents of a single feature, are taken to fit.

pub mod lines;
pub mod tasks;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use twinsplit_core::text::dictionary_memory;
use twinsplit_io::error::{Error, Result};

/// Bytes for the program whatever it does.
pub const PROGRAM: usize = 12 << 20;
/// Bytes for a thread: the blocks of input that it holds, its stack, its buffers.
pub const THREAD: usize = 5 << 20;
/// Bytes for the program where stages run one after another: its code and the buffers of files, the dictionary for Chinese, and what
/// the allocator keeps of the steps before (4 to 9 MB were seen, the more the busier the machine).
const STAGES: usize = tasks::PROGRAM + (16 << 20);
/// The least that stages work in, besides.
const LEAST: usize = 8 << 20;
/// Bytes for a document beside its id and what ranks it: see `documents`, `numbering`, `groups` and `answer`, none of
/// which has more than this for each document at one time.
pub const DOCUMENT: usize = 64;
/// Buckets of a spill file, of which each thread that writes fills a chunk.
pub const BUCKETS: usize = 256;
/// The largest chunk.
const CHUNK: usize = 64 << 10;

/// Allocators give a block of this size back to the system when it is freed. Memory that was not touched yet is
/// not taken from it.
const SEGMENT: usize = 33 << 20;

/// What a run does with its memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Columns of numbers.
    Columns,
    /// Stages, whose tasks have bounds of their own.
    Stages,
}

/// The memory of a run and what is held of it.
pub struct Budget {
    work: Work,
    memory: usize,
    threads: usize,
    held: AtomicUsize,
    /// Of that, for what is kept of documents.
    documents: AtomicUsize,
    /// How many long lines there is room for at the moment, and whoever waits for one to go.
    lines: Mutex<usize>,
    gone: Condvar,
}

impl Budget {
    /// A budget of so many bytes for the whole process, which works on columns.
    pub fn new(memory: usize, threads: usize) -> Result<Self> {
        let budget = Self::empty(Work::Columns, memory, threads);
        if budget.usable() > 0 {
            return Ok(budget);
        }
        Err(Error::Limit(format!(
            "--memory {}: the program and its {threads} threads alone take {} MB; give more, or fewer --threads",
            memory >> 20,
            (PROGRAM + budget.threads * THREAD) >> 20
        )))
    }

    /// A budget of so many bytes for the whole process, which runs stages.
    pub fn of_stages(memory: usize, threads: usize) -> Result<Self> {
        let budget = Self::empty(Work::Stages, memory, threads);
        match budget.usable() < LEAST {
            true => Err(Error::Usage(format!("--memory must be at least {} MB", (STAGES + LEAST) >> 20))),
            false => Ok(budget),
        }
    }

    fn empty(work: Work, memory: usize, threads: usize) -> Self {
        Self {
            work,
            memory,
            threads: threads.max(1),
            held: AtomicUsize::new(0),
            documents: AtomicUsize::new(0),
            lines: Mutex::new(0),
            gone: Condvar::new(),
        }
    }

    /// What neither the program needs for itself nor the allocator keeps.
    fn usable(&self) -> usize {
        let program = PROGRAM + self.threads * THREAD + dictionary();
        let rest = self.memory.saturating_sub(program);
        match self.work {
            Work::Columns => rest - rest / 8,
            Work::Stages => self.memory.saturating_sub(STAGES),
        }
    }

    /// Bytes for the states of all tasks at once.
    fn tasks(&self) -> usize {
        match self.work {
            Work::Columns => 0,
            Work::Stages => self.usable() / 2,
        }
    }

    /// Bytes for all working memory together.
    fn working(&self) -> usize {
        self.usable() / 4
    }

    /// Bytes for the whole process.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Bytes for the whole process with which so many are to be held by name: three quarters of seven eighths of what the
    /// program leaves.
    fn memory_for(&self, bytes: usize) -> usize {
        PROGRAM + self.threads * THREAD + dictionary() + bytes / 21 * 32 + 32
    }

    /// Bytes that may be held by name.
    pub fn by_name(&self) -> usize {
        self.usable() - self.working() - self.tasks()
    }

    /// Bytes for the whole process with which so many fit beside what is kept of documents; nothing when they do fit.
    pub fn enough_for(&self, bytes: usize) -> Option<usize> {
        let needs = bytes + self.documents.load(Ordering::Relaxed);
        (needs > self.by_name()).then(|| self.memory_for(needs) + (1 << 20))
    }

    /// Bytes of the rows that a map task gathers before it sorts them.
    pub fn row_buffer(&self) -> usize {
        self.working() / self.threads
    }

    /// Bytes of sort buffer for each thread.
    pub fn sort_buffer(&self) -> usize {
        self.working() / 2 / self.threads
    }

    /// The size of a chunk: a thread fills [`BUCKETS`] of them at a time.
    pub fn chunk(&self) -> usize {
        (self.working() / 2 / self.threads / BUCKETS).clamp(512, CHUNK)
    }

    /// How many threads may append to a [log](super::spill) at once without waiting for one another.
    pub fn log_stripes(&self) -> usize {
        match self.work {
            Work::Columns => self.threads,
            Work::Stages => 1,
        }
    }

    /// Address space that each stripe of a [log](super::spill) takes at a time. Many logs live beside one another where a run works on columns, and
    /// what they free must go back to the system. Stages have one log, which the next step's follows in the same place: it takes no more
    /// than it may hold, for processes of stages often run under a limit of their address space.
    pub fn log_segment(&self) -> usize {
        match self.work {
            Work::Columns => SEGMENT,
            Work::Stages => SEGMENT.min(self.by_name()),
        }
    }

    /// Bytes that may still be held.
    pub fn spare(&self) -> usize {
        self.by_name().saturating_sub(self.held.load(Ordering::Relaxed))
    }

    /// Holds so many bytes, if that many are to spare.
    pub fn try_hold(&self, bytes: usize) -> bool {
        let most = self.by_name();
        let held = self.held.fetch_add(bytes, Ordering::Relaxed);
        let fits = held + bytes <= most;
        if !fits {
            self.release(bytes);
        }
        fits
    }

    /// Whether more is held than there is: what has a place on disk should go there.
    pub fn is_over(&self) -> bool {
        self.held.load(Ordering::Relaxed) > self.by_name()
    }

    /// Holds bytes that cannot go to disk, whatever else is held: spill files make room.
    pub fn hold(&self, bytes: usize) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Holds what is kept of some documents.
    pub fn hold_documents(&self, bytes: usize) {
        self.hold(bytes);
        self.documents.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Gives back what is no longer kept of documents.
    pub fn release_documents(&self, bytes: usize) {
        self.release(bytes);
        self.documents.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Gives bytes back.
    pub fn release(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Stops when so many documents, and so many bytes of their ids and ranks, do not fit. They are of the first so many bytes of an input of so
    /// many: the memory that is asked for has room for the rest too, where that is like what was read.
    pub fn admit_documents(&self, documents: usize, names: usize, [read, total]: [u64; 2]) -> Result<()> {
        let needed = documents * DOCUMENT + names;
        if needed <= self.by_name() {
            return Ok(());
        }
        let megabytes = |bytes: usize| bytes.div_ceil(1 << 20);
        let known = (1..total).contains(&read);
        let all = match known {
            // Blocks are read ahead of those that were counted.
            true => ((needed as u128 * u128::from(total) / u128::from(read)) as usize).saturating_mul(9) / 8,
            false => needed,
        };
        let [share, hint] = match known {
            true => [
                format!(", {} % of the input,", read.saturating_mul(100) / total),
                ", for all of it".to_owned(),
            ],
            false => [String::new(), " for so many".to_owned()],
        };
        Err(Error::Limit(format!(
            "tokenize: after {documents} documents{share} their ids and numbers take {} MB, which must stay in memory; \
             --memory {} is too small: give at least {} MB{hint} (or --engine pipes, which keeps nothing of a document in memory)",
            megabytes(needed),
            megabytes(self.memory),
            megabytes(self.memory_for(all) + (1 << 20))
        )))
    }
}

/// Bytes of the dictionary for Chinese. Unit tests share a process, in which any of them may load it at any time.
fn dictionary() -> usize {
    if cfg!(test) { 0 } else { dictionary_memory() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_not_to_spare() {
        let budget = Budget::new(256 << 20, 2).unwrap();
        let all = budget.spare();
        assert!(all > 150 << 20, "{all}");
        assert!(budget.try_hold(all) && !budget.try_hold(1) && !budget.is_over());
        budget.hold(5);
        assert!(budget.is_over() && budget.spare() == 0);
        budget.release(all + 5);
        assert_eq!(budget.spare(), all);
        let parts = budget.spare() + 2 * (budget.sort_buffer() + BUCKETS * budget.chunk());
        assert!(parts + PROGRAM + 2 * THREAD <= 256 << 20);
    }

    #[test]
    fn too_many_documents_are_refused_with_the_way_out() {
        let budget = Budget::new(64 << 20, 2).unwrap();
        budget.admit_documents(100_000, 1 << 20, [1, 2]).unwrap();
        let error = Budget::new(64 << 20, 16).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("--memory 64") && error.contains("92 MB"), "{error}");
        // Of an input of unknown length, of one that was read, and of one of which a half was read.
        for (read, most) in [([0, 0], 1_000_000), ([8, 8], 1_000_000), ([4, 8], 2_000_000)] {
            let error = budget.admit_documents(1_000_000, 20 << 20, read).unwrap_err().to_string();
            for word in ["1000000 documents", "82 MB", "--memory 64", "at least"] {
                assert!(error.contains(word), "{word:?} is not in: {error}");
            }
            assert_eq!(error.contains(", 50 % of the input,"), read == [4, 8], "{error}");
            // What it asks for suffices.
            let words: Vec<_> = error.split(' ').collect();
            let at = words.windows(2).position(|two| two == ["at", "least"]).unwrap();
            let enough: usize = words[at + 2].parse().unwrap();
            let names = most / 1_000_000 * (20 << 20);
            Budget::new(enough << 20, 2).unwrap().admit_documents(most, names, [8, 8]).unwrap();
        }
    }
}
