//! The locks that keep a second run out of a folder.
//!
//! The tasks of a run inherit the one of a file, so that nobody begins while some of a run that was killed are still at work.
//! The one of the folder is the run's own, and tells that it is in progress.

use super::owned::LOCK;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::has_name;

/// How long to wait for tasks of a run that was killed a moment ago.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a run holds as long as it is in progress.
pub struct RunLock {
    /// The lock that its tasks inherit.
    pub tasks: File,
    _folder: Option<File>,
}

/// Takes the locks of `_work`, which is made if it is not there; tasks of a run that was killed may hold one for a moment.
pub fn wait(work: &Path, folder: &Path) -> Result<RunLock> {
    let start = Instant::now();
    loop {
        if let Some(tasks) = take(work)? {
            // Whoever looks whether there is a run holds it for a moment. Some file systems lock no folders.
            let own = File::open(work).ok().filter(|folder| folder.lock().is_ok());
            return Ok(RunLock { tasks, _folder: own });
        }
        refuse_busy(work, folder)?;
        if start.elapsed() > PATIENCE {
            return Err(busy(folder));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Refuses a folder in which a run is in progress.
pub fn refuse_busy(work: &Path, folder: &Path) -> Result<()> {
    let look = |work: File| matches!(work.try_lock(), Err(TryLockError::WouldBlock));
    match File::open(work).is_ok_and(look) {
        true => Err(busy(folder)),
        false => Ok(()),
    }
}

fn busy(folder: &Path) -> Error {
    Error::Usage(format!(
        "a run is in progress in {}; wait for its end, or choose another --output",
        visible::path(folder)
    ))
}

/// Takes the lock if it is free.
pub fn take(work: &Path) -> Result<Option<File>> {
    let path = work.join(LOCK);
    loop {
        match fs::create_dir_all(work) {
            // It was there, and the run that held the lock has just removed it; or others have made it anew.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => made.map_err(Error::io("create", work))?,
        }
        let file = match File::options().create(true).append(true).open(&path) {
            // The run that held the lock has just removed its folder.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            file => file.map_err(Error::io("create", &path))?,
        };
        match file.try_lock() {
            Ok(()) if has_name(&file, &path) => return Ok(Some(file)),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::publish;
    use super::*;

    /// Runs that end, and so remove `_work`, while others wait for its lock: each gets it, one at a time, and none fails.
    #[test]
    fn whoever_waits_for_the_lock_of_a_run_that_ends_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("_work");
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    let mut turns = 0;
                    while turns < 500 {
                        let Some(lock) = take(&work).unwrap() else { continue };
                        File::create_new(work.join("step")).unwrap();
                        publish::remove(&work).unwrap();
                        drop(lock);
                        turns += 1;
                    }
                });
            }
        });
        assert!(!work.exists());
    }
}
