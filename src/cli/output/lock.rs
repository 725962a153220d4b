//! The lock that keeps a second run out of a folder.

use super::owned::LOCK;
use crate::error::{Error, Result};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait for tasks of a run that was killed a moment ago.
const PATIENCE: Duration = Duration::from_secs(5);

/// Takes the lock of `_work`, which is made if it is not there; tasks of a run that was killed may hold it for a moment.
pub fn wait(work: &Path, folder: &Path) -> Result<File> {
    let start = Instant::now();
    loop {
        if let Some(file) = take(work)? {
            return Ok(file);
        }
        if start.elapsed() > PATIENCE {
            return Err(Error::Usage(format!(
                "another run is at work in {}; wait for its end, or choose another --output",
                folder.display()
            )));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
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
            Ok(()) if is_at(&file, &path) => return Ok(Some(file)),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
        }
    }
}

/// Whether the file still has this name: a lock on one that was removed keeps nobody out.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |meta: io::Result<fs::Metadata>| meta.ok().map(|meta| (meta.dev(), meta.ino()));
    identity(file.metadata()).is_some_and(|own| identity(path.metadata()) == Some(own))
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
