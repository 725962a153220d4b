//! Folders for what is not complete yet, which the next command finds and removes when one was killed.
//!
//! Such a folder has a name of ours, and a lock file that says whose it is and that is locked as long as the command works.
//! What has the name alone is somebody else's.

use crate::error::{Error, Result};
use std::fs::{self, DirEntry, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use twinsplit_core::visible;

/// The beginning and the end of the name; hidden, so that no input that is a folder has it among its files.
const PREFIX: &str = ".twinsplit-";
const SUFFIX: &str = ".partial";
/// The lock file, and what stands in it.
const LOCK: &str = "_lock";
const MARK: &[u8] = b"twinsplit: work in progress\n";

/// A folder that goes with this value.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    /// Held as long as the folder is in use.
    _lock: File,
}

impl WorkFolder {
    /// Makes one in a folder, and removes those that commands left there which are no more.
    pub fn in_folder(folder: &Path) -> Result<Self> {
        sweep(folder);
        for number in 0_u64.. {
            let path = folder.join(format!("{PREFIX}{}-{number}{SUFFIX}", std::process::id()));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                // Another thread's, or left by a process of this number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                // The name says nothing to the user.
                made => made.map_err(Error::io("make a folder in", folder))?,
            }
            match mark(&path) {
                Ok(Some(lock)) => return Ok(Self { path, _lock: lock }),
                Ok(None) => {}
                Err(error) => {
                    let _ = fs::remove_dir(&path);
                    return Err(error);
                }
            }
        }
        Err(Error::Failed(format!("no folder can be made in {}", visible::path(folder))))
    }

    /// The same in the folder of temporary files.
    pub fn temporary() -> Result<Self> {
        Self::in_folder(&std::env::temp_dir())
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What went wrong is being told already.
        let _ = remove(&self.path);
    }
}

/// Makes the lock file of a new folder, and locks it; nothing when another command took the folder for one that was left.
fn mark(folder: &Path) -> Result<Option<File>> {
    let path = folder.join(LOCK);
    let mut file = match File::create_new(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(Error::io("create", &path))?,
    };
    match file.try_lock() {
        // A file system without locks: nobody takes it for one that was left, either.
        Ok(()) | Err(TryLockError::Error(_)) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
    }
    if !has_name(&file, &path) {
        return Ok(None);
    }
    file.write_all(MARK).map_err(Error::io("write", &path))?;
    Ok(Some(file))
}

/// Whether the file still has this name: a lock on one that was removed keeps nobody out.
pub fn has_name(file: &File, path: &Path) -> bool {
    let identity = |meta: io::Result<fs::Metadata>| meta.ok().map(|meta| (meta.dev(), meta.ino()));
    identity(file.metadata()).is_some_and(|own| identity(path.symlink_metadata()) == Some(own))
}

/// Removes the folders that commands left which were killed. Whoever cannot leaves them.
fn sweep(folder: &Path) {
    let mine = rustix::process::geteuid().as_raw();
    let is_named = |entry: &DirEntry| {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
    };
    for entry in folder.read_dir().into_iter().flatten().flatten().filter(is_named) {
        if entry.path().symlink_metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == mine) {
            let _ = remove_left(&entry.path());
        }
    }
}

/// Removes a folder with a name of ours whose command is no more.
fn remove_left(folder: &Path) -> io::Result<()> {
    let path = folder.join(LOCK);
    if !path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        // Its command was killed before it made the lock; one that holds something is not ours.
        return fs::remove_dir(folder);
    }
    let lock = File::open(&path)?;
    if lock.try_lock().is_err() || !has_name(&lock, &path) {
        return Ok(());
    }
    match fs::read(&path)? {
        mark if mark == MARK => remove(folder),
        // Killed before it had written the mark, and anything else.
        bare if bare.is_empty() && folder.read_dir()?.count() == 1 => remove(folder),
        _ => Ok(()),
    }
}

/// Removes all that is in the folder, the lock last: what a later call finds without it is not ours.
fn remove(folder: &Path) -> io::Result<()> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false if entry.file_name() != LOCK => fs::remove_file(entry.path())?,
            false => {}
        }
    }
    fs::remove_file(folder.join(LOCK))?;
    fs::remove_dir(folder)
}

/// Folders that were made for an output. They go again with this value when nothing is in them.
#[derive(Debug, Default)]
pub struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    /// Makes a folder and those around it that are not there.
    pub fn make(folder: &Path) -> Result<Self> {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && path.symlink_metadata().is_err();
        let missing = folder.ancestors().take_while(is_missing).map(Path::to_owned).collect();
        // Those that were made before an error go, too.
        let made = Self(missing);
        if !folder.as_os_str().is_empty() {
            fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        }
        Ok(made)
    }

    /// Removes those in which nothing is.
    pub fn remove_empty(&self) {
        self.0.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        self.remove_empty();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// What is left by a command that was killed at any point goes; what a command at work holds, and what has only the name, stays.
    #[test]
    fn what_killed_commands_left_goes_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        let left = |name: &str, lock: Option<&[u8]>, more: Option<&str>| {
            let folder = place.join(name);
            fs::create_dir(&folder).unwrap();
            lock.iter().for_each(|text| fs::write(folder.join(LOCK), text).unwrap());
            more.iter().for_each(|name| fs::create_dir_all(folder.join(name)).unwrap());
        };
        left(".twinsplit-a.partial", Some(MARK), Some("step/part"));
        left(".twinsplit-b.partial", None, None);
        left(".twinsplit-c.partial", Some(b""), None);
        left(".twinsplit-d.partial", Some(b""), Some("mine"));
        left(".twinsplit-e.partial", None, Some("mine"));
        left(".twinsplit-f.partial", Some(b"mine"), None);
        left("twinsplit-g.partial", Some(MARK), None);
        fs::write(place.join(".twinsplit-h.partial"), "mine").unwrap();
        std::os::unix::fs::symlink("twinsplit-g.partial", place.join(".twinsplit-i.partial")).unwrap();
        let at_work = WorkFolder::in_folder(place).unwrap();
        let own = at_work.path().file_name().unwrap().to_str().unwrap().to_owned();
        drop(WorkFolder::in_folder(place).unwrap());
        let mut expected = [
            ".twinsplit-d.partial",
            ".twinsplit-e.partial",
            ".twinsplit-f.partial",
            ".twinsplit-h.partial",
            ".twinsplit-i.partial",
            "twinsplit-g.partial",
            &own,
        ];
        expected.sort_unstable();
        assert_eq!(names(place), expected);
        fs::write(at_work.path().join("data"), "half").unwrap();
        drop(at_work);
        assert!(!names(place).contains(&own));
    }

    #[test]
    fn folders_that_were_made_go_while_they_are_empty() {
        let place = tempfile::tempdir().unwrap();
        let [old, deep] = ["old", "old/a/b"].map(|name| place.path().join(name));
        fs::create_dir(&old).unwrap();
        drop(MadeFolders::make(&deep).unwrap());
        assert!(old.exists() && !old.join("a").exists());
        let made = MadeFolders::make(&deep).unwrap();
        fs::write(old.join("a/file"), "").unwrap();
        drop(made);
        assert_eq!(names(&old.join("a")), ["file"]);
        fs::write(place.path().join("file"), "").unwrap();
        assert!(MadeFolders::make(&place.path().join("file/a")).is_err());
    }
}
