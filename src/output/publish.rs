//! A new answer takes the place of an old one, at once and when all of it is there.
//!
//! `_work/_answer` holds the new answer, its `run.json` written last. From then on it is complete, and what is left to do
//! is renaming: the old `run.json` goes to `_work/_replaced`, so that what follows is taken for no answer by anybody; then
//! the rest of the old answer; the new one comes to its place, its `run.json` last. Each step finds by the names that are
//! left where one before it was stopped.

use super::Output;
use super::owned::{self, COUNTERS, LOCK, MANIFEST, REPLACED, REPORT, RUN};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};

impl Output {
    /// Gives the answer its place.
    pub fn publish(&self) -> Result<()> {
        let old = self.work.join(REPLACED);
        let new = owned::recorded(&self.answer.join(RUN));
        let is_moved = |name: &&String| !self.answer.join(name).exists();
        // What was to be put away when this was stopped, and what is there now.
        let mut rest = owned::recorded(&old.join(RUN));
        rest.append(&mut owned::recorded(&old.join(COUNTERS)));
        if !rest.is_empty() && owned::is_page(&self.folder.join(REPORT)) {
            rest.insert(REPORT.to_owned());
        }
        if self.replaces {
            rest.append(&mut owned::owned(&self.folder));
        }
        rest.retain(|name| !new.contains(name) || !is_moved(&name));
        let known = rest.iter().chain(new.iter().filter(is_moved)).cloned().collect();
        let refused = owned::refuse_others(&self.folder, &known).and_then(|()| match self.replaces {
            // Hours may have passed since this was looked at first.
            true => owned::refuse_edited(&self.folder),
            false => Ok(()),
        });
        refused.map_err(|error| {
            Error::Failed(format!(
                "{error}. The output is complete in {}: --resume moves it to its place",
                visible::path(&self.work)
            ))
        })?;
        fs::create_dir_all(&old).map_err(Error::io("create", &old))?;
        let is_first = |name: &&String| name.as_str() == RUN;
        for name in rest.iter().filter(is_first).chain(rest.iter().filter(|name| !is_first(name))) {
            let from = self.folder.join(name);
            if from.symlink_metadata().is_ok() {
                fs::rename(&from, old.join(name)).map_err(Error::io("rename", &from))?;
            }
        }
        for name in new.iter().filter(|name| !is_first(name)).chain(new.iter().filter(is_first)) {
            let from = self.answer.join(name);
            if from.exists() {
                fs::rename(&from, self.folder.join(name)).map_err(Error::io("rename", &from))?;
            }
        }
        Ok(())
    }

    /// Removes what a run that is over has no more use for.
    pub fn finish(&self, keep_work: bool) -> Result<()> {
        if !keep_work {
            return self.remove_work();
        }
        self.clear(&|name| name == "_answer")?;
        // The folder itself stays: it tells later runs that this one is over.
        empty(&self.work.join(REPLACED), &|_| true)
    }

    /// Removes all that lies in between.
    pub fn remove_work(&self) -> Result<()> {
        remove(&self.work)?;
        self.made.remove_empty();
        Ok(())
    }

    /// Removes some of what lies in between; the manifest goes last, for what it does not name is nobody's.
    pub fn clear(&self, which: &dyn Fn(&str) -> bool) -> Result<()> {
        clear(&self.work, which)
    }
}

fn clear(work: &Path, which: &dyn Fn(&str) -> bool) -> Result<()> {
    empty(work, &|name| ![LOCK, REPLACED, MANIFEST].contains(&name) && which(name))?;
    if which(REPLACED) && work.join(REPLACED).exists() {
        empty(&work.join(REPLACED), &|_| true)?;
    }
    empty(work, &|name| name == MANIFEST && which(name))?;
    empty(work, &|name| name == REPLACED && which(name))
}

/// Removes `_work`, by whoever holds its lock. Once the lock is gone, a run that waited for it may make its own in the folder,
/// which is that run's to remove.
pub fn remove(work: &Path) -> Result<()> {
    clear(work, &|_| true)?;
    let lock = work.join(LOCK);
    fs::remove_file(&lock).map_err(Error::io("remove", &lock))?;
    match fs::remove_dir(work) {
        Err(error) if !matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::NotFound) => {
            Err(Error::io("remove", work)(error))
        }
        _ => Ok(()),
    }
}

/// Removes some of what lies in a folder.
pub fn empty(folder: &Path, which: &dyn Fn(&str) -> bool) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
        let mut path = entry.map_err(Error::io("read", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !which(&name) {
            continue;
        }
        let is_folder = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        // A data set of which a part is gone must not look finished when this is stopped.
        let partial = folder.join(format!("{name}.partial"));
        if is_folder && !name.starts_with('_') && fs::rename(&path, &partial).is_ok() {
            path = partial;
        }
        let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(Error::io("remove", &path))?;
    }
    Ok(())
}
