//! What a log asks of a disk, in few operations, each of which may fail. Tests put another disk in their place, that forgets what was not synced.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use twinsplit_io::error::{Error, Result};
use twinsplit_store::disk::{Disk, Folder};

/// A folder of files that grow at their ends.
pub trait LogDisk: Clone + Send + 'static {
    /// A file to which bytes are appended.
    type File: LogFile;

    /// The folder. What is read of it is read by its path.
    fn path(&self) -> &Path;

    /// Makes an empty file, in the place of one of the same name.
    ///
    /// # Errors
    /// Those of the system, as with all that follows.
    fn create(&mut self, name: &str) -> Result<Self::File>;

    /// Cuts a file, and waits until that is on the disk.
    fn truncate(&mut self, name: &str, bytes: u64) -> Result<()>;

    /// Gives a file another name.
    fn rename(&mut self, from: &str, to: &str) -> Result<()>;

    /// Waits until all names are on the disk.
    fn sync(&mut self) -> Result<()>;

    /// Removes a file.
    fn remove(&mut self, name: &str) -> Result<()>;
}

/// A file to which bytes are appended.
pub trait LogFile: Send + Sized + 'static {
    /// Appends bytes; when this fails some of them may be there.
    ///
    /// # Errors
    /// Those of the system, as with all that follows.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;

    /// Waits until all that was appended is on the disk.
    fn sync(&self) -> Result<()>;

    /// The same file, for another thread, which syncs it.
    fn twin(&self) -> Result<Self>;
}

/// A folder of this machine.
#[derive(Clone, Debug)]
pub struct LogFolder(pub PathBuf);

/// A file in it.
#[derive(Debug)]
pub struct FolderFile(File, PathBuf);

impl LogFolder {
    fn folder(&self) -> Folder {
        Folder(self.0.clone())
    }
}

impl LogDisk for LogFolder {
    type File = FolderFile;

    fn path(&self) -> &Path {
        &self.0
    }

    fn create(&mut self, name: &str) -> Result<FolderFile> {
        let path = self.0.join(name);
        Ok(FolderFile(File::create(&path).map_err(Error::io("create", &path))?, path))
    }

    fn truncate(&mut self, name: &str, bytes: u64) -> Result<()> {
        let path = self.0.join(name);
        let file = File::options().write(true).open(&path).map_err(Error::io("open", &path))?;
        file.set_len(bytes).and_then(|()| file.sync_all()).map_err(Error::io("cut", &path))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        self.folder().rename(from, to)
    }

    fn sync(&mut self) -> Result<()> {
        self.folder().sync()
    }

    fn remove(&mut self, name: &str) -> Result<()> {
        self.folder().remove(name)
    }
}

impl LogFile for FolderFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.write_all(bytes).map_err(Error::io("write", &self.1))
    }

    fn sync(&self) -> Result<()> {
        self.0.sync_data().map_err(Error::io("sync", &self.1))
    }

    fn twin(&self) -> Result<Self> {
        let twin = self.0.try_clone().map_err(Error::io("open", &self.1))?;
        Ok(Self(twin, self.1.clone()))
    }
}
