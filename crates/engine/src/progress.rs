//! How far a run is, for whoever shows it: engines write, a display reads, neither waits for the other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use twinsplit_rows::chains::OF_QUERIES;
use twinsplit_rows::stage::Counters;

/// A finished step of a run.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its name.
    pub name: String,
    /// How long it took.
    pub seconds: f64,
    /// The sum of its tasks' counters; those that begin with `peak_` are the largest of any task.
    pub counters: Counters,
}

/// What a phase of a step counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of files.
    Bytes,
    /// Rows of a shuffle.
    Rows,
    /// Sets of a join.
    Sets,
}

/// What is being done.
#[derive(Clone, Debug)]
pub struct Phase {
    /// The step's name.
    pub step: String,
    /// What it does just now, e.g. "read".
    pub doing: &'static str,
    /// What is counted.
    pub unit: Unit,
    /// How much there is in all; 0 when that is not known.
    pub total: u64,
    /// When it started.
    pub started: Instant,
}

/// The progress of a run.
#[derive(Debug, Default)]
pub struct Progress {
    phase: Mutex<Option<Phase>>,
    done: AtomicU64,
}

impl Progress {
    /// A new phase begins.
    pub fn start(&self, step: &str, doing: &'static str, unit: Unit, total: u64) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        self.done.store(0, Ordering::Relaxed);
        *phase = Some(Phase { step: step.to_owned(), doing, unit, total, started: Instant::now() });
    }

    /// So much more is done.
    pub fn add(&self, more: u64) {
        self.done.fetch_add(more, Ordering::Relaxed);
    }

    /// So much is done in all.
    pub fn set(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    /// The phase and how much of it is done; `None` before the first.
    pub fn now(&self) -> Option<(Phase, u64)> {
        let phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        phase.clone().map(|phase| (phase, self.done.load(Ordering::Relaxed)))
    }
}

/// How many documents were read, by whichever step read them first.
pub fn documents(steps: &[Done]) -> u64 {
    let reads = |step: &&Done| step.name != OF_QUERIES;
    steps.iter().filter(reads).find_map(|step| step.counters.get("documents")).copied().unwrap_or(0)
}

/// Adds the counters of one task to the sum; of those that begin with `peak_` the larger one stays.
pub fn add_counters(sum: &mut Counters, more: &Counters) {
    for (name, value) in more {
        let known = sum.entry(name.clone()).or_default();
        *known = if name.starts_with("peak_") { (*known).max(*value) } else { *known + value };
    }
}
