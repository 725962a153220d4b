//! What a store asks of a disk: few operations, each of which may fail, and none of which is done before it says so. Tests put another disk in
//! their place, that forgets what was not synced.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use twinsplit_io::error::{Error, Result};

/// Changes of a folder. What is read of it is read by its path.
pub trait Disk {
    /// The folder.
    fn path(&self) -> &Path;

    /// Writes a new file of these pieces, and waits until they are on the disk; its name may not be there yet.
    fn write(&mut self, name: &str, pieces: &[&[u8]]) -> Result<()>;

    /// Gives a file another name, which nothing has.
    fn rename(&mut self, from: &str, to: &str) -> Result<()>;

    /// Waits until all names are on the disk.
    fn sync(&mut self) -> Result<()>;

    /// Removes a file.
    fn remove(&mut self, name: &str) -> Result<()>;
}

/// How often a lock that another process has is asked for again, ten milliseconds later each time.
const TRIES: usize = 50;

/// Locks a file of a folder, which is made if it is not there, so that one process at a time has the folder. Where another one has it, and keeps it for half a second,
/// `busy` says so: a process that was killed has its locks until it is gone, and one that is being started has those of who starts it until its program begins.
///
/// # Errors
/// Another process has it, or the file cannot be made.
pub fn locked(folder: &Path, name: &str, busy: &str) -> Result<File> {
    let path = folder.join(name);
    let file = File::options().create(true).append(true).open(&path).map_err(Error::io("open", &path))?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
        }
    }
    Err(Error::File { path: folder.to_owned(), problem: busy.to_owned() })
}

/// A folder of this machine.
pub struct Folder(pub PathBuf);

impl Disk for Folder {
    fn path(&self) -> &Path {
        &self.0
    }

    fn write(&mut self, name: &str, pieces: &[&[u8]]) -> Result<()> {
        let path = self.0.join(name);
        let write = || -> io::Result<()> {
            let mut file = File::create(&path)?;
            pieces.iter().try_for_each(|piece| file.write_all(piece))?;
            file.sync_all()
        };
        write().map_err(Error::io("write", &path))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        let to = self.0.join(to);
        fs::rename(self.0.join(from), &to).map_err(Error::io("write", &to))
    }

    fn sync(&mut self) -> Result<()> {
        let synced = File::open(&self.0).and_then(|folder| folder.sync_all());
        synced.map_err(Error::io("sync", &self.0))
    }

    fn remove(&mut self, name: &str) -> Result<()> {
        let path = self.0.join(name);
        fs::remove_file(&path).map_err(Error::io("remove", &path))
    }
}
