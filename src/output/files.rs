//! What the folder of an answer asks of a file system, be it this machine's or a cluster's.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use twinsplit_io::error::{Error, Result};

/// What has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link, wherever it leads.
    Link,
}

/// A file system. What is not there is no error.
pub trait Files {
    /// What has this name, if anything does.
    fn kind(&self, path: &Path) -> Result<Option<Kind>>;
    /// The names in a folder.
    fn names(&self, folder: &Path) -> Result<Vec<String>>;
    /// A file's first bytes.
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>>;
    /// Makes a file, unless there is one: whether it did.
    fn create(&self, path: &Path, text: &str) -> Result<bool>;
    /// Makes a folder and those around it.
    fn make_folder(&self, path: &Path) -> Result<()>;
    /// Moves these names from a folder to another, in their order.
    fn rename(&self, names: &[String], from: &Path, to: &Path) -> Result<()>;
    /// Removes files, and folders with all that is in them.
    fn remove(&self, paths: &[PathBuf]) -> Result<()>;
}

/// This machine's file system.
#[derive(Clone, Copy, Debug)]
pub struct Local;

impl Files for Local {
    fn kind(&self, path: &Path) -> Result<Option<Kind>> {
        let meta = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            meta => meta.map_err(Error::io("look at", path))?,
        };
        Ok(Some(match () {
            () if meta.is_symlink() => Kind::Link,
            () if meta.is_dir() => Kind::Folder,
            () => Kind::File,
        }))
    }

    fn names(&self, folder: &Path) -> Result<Vec<String>> {
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
            let entry = entry.map_err(Error::io("read", folder))?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(Error::io("open", path))?;
        file.take(limit).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
        Ok(bytes)
    }

    fn create(&self, path: &Path, text: &str) -> Result<bool> {
        forget_checksum(path)?;
        match File::create_new(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            file => {
                let mut file = file.map_err(Error::io("create", path))?;
                file.write_all(text.as_bytes()).map_err(Error::io("write", path)).map(|()| true)
            }
        }
    }

    fn make_folder(&self, path: &Path) -> Result<()> {
        fs::create_dir_all(path).map_err(Error::io("create", path))
    }

    fn rename(&self, names: &[String], from: &Path, to: &Path) -> Result<()> {
        for name in names {
            [from, to].iter().try_for_each(|folder| forget_checksum(&folder.join(name)))?;
            fs::rename(from.join(name), to.join(name)).map_err(Error::io("rename", &from.join(name)))?;
        }
        Ok(())
    }

    fn remove(&self, paths: &[PathBuf]) -> Result<()> {
        for path in paths {
            let removed = match self.kind(path)? {
                None => Ok(()),
                Some(Kind::Folder) => fs::remove_dir_all(path),
                Some(_) => fs::remove_file(path),
            };
            removed.map_err(Error::io("remove", path))?;
            forget_checksum(path)?;
        }
        Ok(())
    }
}

/// Removes what Hadoop's local file system keeps beside a file to check it by: it would find another file in its place
/// damaged.
fn forget_checksum(path: &Path) -> Result<()> {
    let Some(name) = path.file_name() else { return Ok(()) };
    let checksum = path.with_file_name(format!(".{}.crc", name.to_string_lossy()));
    match fs::remove_file(&checksum) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &checksum)(error)),
        _ => Ok(()),
    }
}
