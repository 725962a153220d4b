//! The thread that waits for the disk: all that was written is synced at once, while more is decided.

use crate::disk::LogFile;
use crate::info::Shared;
use crate::log::Syncer;
use crate::threads::{self, Work};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use twinsplit_io::error::{Error, Result};

/// What the thread is asked for.
struct Wanted<F> {
    /// Up to which change all has to be on the disk.
    upto: u64,
    /// The file that is written from here on; all of the one before is on the disk.
    file: Option<Syncer<F>>,
    ends: bool,
    /// Whether the thread has nothing to do before it is asked.
    is_idle: bool,
}

struct Asked<F> {
    wanted: Mutex<Wanted<F>>,
    changed: Condvar,
}

impl<F> Asked<F> {
    fn wanted(&self) -> MutexGuard<'_, Wanted<F>> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for some time, while nothing ends and there is nothing to do.
    fn wait<'a>(
        &'a self,
        wanted: MutexGuard<'a, Wanted<F>>,
        most: Duration,
        is_idle: impl Fn(&Wanted<F>) -> bool,
    ) -> MutexGuard<'a, Wanted<F>> {
        let waits = |wanted: &mut Wanted<F>| is_idle(wanted) && !wanted.ends;
        self.changed.wait_timeout_while(wanted, most, waits).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A thread that syncs a log.
pub(crate) struct Syncing<F> {
    asked: Arc<Asked<F>>,
    thread: Work,
}

impl<F: LogFile> Syncing<F> {
    /// Begins, with the file that is written now. It syncs at most once in an interval; `synced` is called when something is on the disk, and when it ends.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(
        file: Syncer<F>,
        interval: Duration,
        shared: &Arc<Shared>,
        synced: impl Fn() + Send + 'static,
    ) -> Result<Self> {
        let wanted = Wanted { upto: 0, file: None, ends: false, is_idle: false };
        let asked = Arc::new(Asked { wanted: Mutex::new(wanted), changed: Condvar::new() });
        let (theirs, shared) = (asked.clone(), shared.clone());
        let thread = threads::start("sync", move || {
            let result = sync(file, &theirs, interval, &shared, &synced);
            synced();
            result
        })?;
        Ok(Self { asked, thread })
    }

    /// Asks for all to be on the disk up to a change, which is written.
    pub fn ask(&self, upto: u64) {
        let mut wanted = self.asked.wanted();
        wanted.upto = upto;
        if wanted.is_idle {
            self.asked.changed.notify_one();
        }
    }

    /// Goes on with another file.
    pub fn go_on(&self, file: Syncer<F>) {
        self.asked.wanted().file = Some(file);
    }

    /// That the disk has not failed.
    ///
    /// # Errors
    /// It has; [`Syncing::end`] says how.
    pub fn must_run(&self) -> Result<()> {
        match self.thread.is_finished() {
            false => Ok(()),
            true => Err(Error::Failed("the log cannot be synced".to_owned())),
        }
    }

    /// Syncs what it was asked for, and ends.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn end(self) -> Result<()> {
        self.asked.wanted().ends = true;
        self.asked.changed.notify_one();
        threads::joined(self.thread)
    }
}

fn sync<F: LogFile>(
    mut file: Syncer<F>,
    asked: &Asked<F>,
    interval: Duration,
    shared: &Shared,
    synced: &impl Fn(),
) -> Result<()> {
    let mut done = 0;
    loop {
        let mut wanted = asked.wanted();
        wanted.is_idle = true;
        wanted = asked.wait(wanted, Duration::MAX, |wanted| wanted.upto == done);
        wanted.is_idle = false;
        if wanted.upto == done {
            return Ok(());
        }
        if !interval.is_zero() {
            wanted = asked.wait(wanted, interval, |_| true);
        }
        if let Some(next) = wanted.file.take() {
            file = next;
        }
        let upto = wanted.upto;
        drop(wanted);
        let began = Instant::now();
        file.sync(upto)?;
        done = upto;
        shared.synced(began.elapsed());
        synced();
    }
}
