//! How far a run is, for whoever shows it: engines write, a display reads, neither waits for the other.
//!
//! Whoever watches a run can also stop it ([`Watch`]). All loops that take long tell their progress, so that is where a run looks
//! whether it shall stop. It does so by unwinding, as at a panic but without a message: what it holds is dropped, and with that its
//! temporary files, and no function between has to pass on an error of its own.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use twinsplit_core::threads::lock;
use twinsplit_io::error::{Error, Result};
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

/// What is told of a phase: how much of it is done.
pub type Tell = dyn Fn(&Phase, u64) + Send + Sync;

/// Who watches a run: it may stop it, and may be told how far it is.
#[derive(Clone, Default)]
pub struct Watch {
    /// Whether the run shall stop.
    pub cancelled: Arc<AtomicBool>,
    /// Is called when a phase begins, and while it lasts at most [ten times a second](OFTEN), by a thread that works: it should not take long.
    pub tell: Option<Arc<Tell>>,
}

/// The least time between two calls while a phase lasts.
pub const OFTEN: Duration = Duration::from_millis(100);

/// What unwinds a run that shall stop.
struct Cancelled;

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("cancelled", &self.cancelled).finish_non_exhaustive()
    }
}

impl Watch {
    /// Whether the run shall stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Runs what tells its progress to this watch.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when it was stopped, else those of the work.
    pub fn over<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        // What the work has changed is dropped with it, or is files that are written anew.
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(result) => result,
            Err(panic) if panic.is::<Cancelled>() => Err(Error::Cancelled),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// The progress of a run.
#[derive(Debug, Default)]
pub struct Progress {
    phase: Mutex<Option<Phase>>,
    done: AtomicU64,
    watch: Watch,
    /// When the watch was told last.
    told: Mutex<Option<Instant>>,
}

impl Progress {
    /// Progress that is told to a watch, and is made under [`Watch::over`].
    pub fn watched(watch: &Watch) -> Self {
        Self { watch: watch.clone(), ..Self::default() }
    }

    /// A new phase begins.
    pub fn start(&self, step: &str, doing: &'static str, unit: Unit, total: u64) {
        let begun = Phase { step: step.to_owned(), doing, unit, total, started: Instant::now() };
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        self.done.store(0, Ordering::Relaxed);
        *phase = Some(begun);
        drop(phase);
        *lock(&self.told) = None;
        self.look();
    }

    /// So much more is done.
    pub fn add(&self, more: u64) {
        self.done.fetch_add(more, Ordering::Relaxed);
        self.look();
    }

    /// So much is done in all.
    pub fn set(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.look();
    }

    /// Stops if the watch says so, and tells it how far the run is.
    fn look(&self) {
        if self.watch.is_cancelled() {
            resume_unwind(Box::new(Cancelled));
        }
        let Some(tell) = &self.watch.tell else { return };
        // Only one thread tells; the others need not wait for it.
        let Ok(mut told) = self.told.try_lock() else { return };
        if told.is_none_or(|last| last.elapsed() >= OFTEN)
            && let Some((phase, done)) = self.now()
        {
            tell(&phase, done);
            *told = Some(Instant::now());
        }
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
