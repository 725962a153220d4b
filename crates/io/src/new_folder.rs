//! A folder that has its name when all that is in it is complete.

use crate::error::{Error, Result};
use crate::work_folder::{MadeFolders, WorkFolder};
use std::fs;
use std::path::{Path, PathBuf};
use twinsplit_core::visible;

/// A folder that a command is to make.
#[derive(Debug)]
pub struct NewFolder {
    path: PathBuf,
    work: WorkFolder,
    /// Those around it, which go where nothing comes into them; behind the work folder, which is in the innermost.
    _around: MadeFolders,
}

impl NewFolder {
    /// Begins to make it, and the folders around it.
    ///
    /// # Errors
    /// When there is something of this name that is no empty folder. Nothing is replaced.
    pub fn begin(path: &Path) -> Result<Self> {
        Self::refuse_present(path)?;
        let around = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = MadeFolders::make(around)?;
        Ok(Self { path: path.to_owned(), work: WorkFolder::in_folder(around)?, _around: made })
    }

    /// Refuses a name under which something is that is no empty folder.
    ///
    /// # Errors
    /// Says so.
    pub fn refuse_present(path: &Path) -> Result<()> {
        let is_free = match path.symlink_metadata() {
            Err(_) => true,
            Ok(meta) => {
                meta.is_dir() && fs::read_dir(path).map_err(Error::io("read", path))?.next().is_none()
            }
        };
        match is_free {
            true => Ok(()),
            false => Err(Error::Usage(format!(
                "{} is there already; name a folder that is new or empty",
                visible::path(path)
            ))),
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its files are made.
    pub fn work(&self) -> &Path {
        self.work.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays() {
        let place = tempfile::tempdir().unwrap();
        let [full, empty, file, deep] =
            ["full", "empty", "file", "a/b/c"].map(|name| place.path().join(name));
        fs::create_dir_all(full.join("x")).unwrap();
        fs::create_dir(&empty).unwrap();
        fs::write(&file, "mine").unwrap();
        for path in [&full, &file] {
            let error = NewFolder::begin(path).unwrap_err().to_string();
            assert!(error.contains("is there already"), "{error}");
        }
        for path in [&empty, &deep] {
            let folder = NewFolder::begin(path).unwrap();
            let made = folder.work().join("files");
            fs::create_dir(&made).unwrap();
            fs::write(made.join("one"), "1").unwrap();
            fs::rename(made, folder.path()).unwrap();
            drop(folder);
            assert!(path.join("one").exists());
            assert_eq!(
                fs::read_dir(path.parent().unwrap())
                    .unwrap()
                    .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'))
                    .count(),
                0
            );
        }
        // What was begun and not finished leaves nothing.
        drop(NewFolder::begin(&place.path().join("x/y")).unwrap());
        assert!(!place.path().join("x").exists());
    }
}
