//! Files that appear under their name when they are complete.

use super::BUFFER;
use super::target::Target;
use super::work_folder::WorkFolder;
use crate::error::{Error, Result};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A file that appears under its name only when it is complete. One that is given up leaves nothing.
pub struct AtomicFile {
    writer: BufWriter<File>,
    partial: Partial,
    path: PathBuf,
}

/// Where a file is until it is complete.
enum Partial {
    /// It is a stream, which is written as it comes.
    Stream,
    /// Beside its final place.
    Beside(TempPath),
    /// In a folder of its own beside its final place, where what is there already may be somebody else's.
    Target(Target, WorkFolder),
}

/// The name of a file in its folder.
const DATA: &str = "data";

impl AtomicFile {
    /// Starts the file beside its final place, under its name with a part of its own and `.partial` added: for folders that are
    /// a run's own, which removes what it finds by such names.
    pub fn create(path: &Path) -> Result<Self> {
        let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
        name.push(".");
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = tempfile::Builder::new()
            .prefix(&name)
            .suffix(".partial")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)
            // Its message would repeat the name that chance gave it.
            .map_err(|error| Error::io("create", path)(error.kind().into()))?;
        let (file, partial) = made.into_parts();
        Ok(Self::new(file, Partial::Beside(partial), path.to_owned()))
    }

    /// Starts what a user named, in this folder.
    pub(super) fn for_target(target: Target, folder: WorkFolder) -> Result<Self> {
        let path = target.path().to_owned();
        let file = File::create_new(folder.path().join(DATA)).map_err(Error::io("create", &path))?;
        Ok(Self::new(file, Partial::Target(target, folder), path))
    }

    /// Writes to a stream.
    pub(super) fn over(file: File, path: PathBuf) -> Self {
        Self::new(file, Partial::Stream, path)
    }

    fn new(file: File, partial: Partial, path: PathBuf) -> Self {
        Self { writer: BufWriter::with_capacity(BUFFER, file), partial, path }
    }

    /// Writes all that can be read.
    pub(super) fn copy(&mut self, from: &mut impl Read) -> Result<()> {
        io::copy(from, &mut self.writer).map(drop).map_err(Error::io("write", &self.path))
    }

    /// Writes a line and its end.
    pub fn line(&mut self, line: &[u8]) -> Result<()> {
        self.writer
            .write_all(line)
            .and_then(|()| self.writer.write_all(b"\n"))
            .map_err(Error::io("write", &self.path))
    }

    /// Writes bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).map_err(Error::io("write", &self.path))
    }

    /// Takes so much of the disk, so that a lack of it is an error now. What has not been written by the end is zeros.
    pub fn reserve(&self, bytes: u64) -> Result<()> {
        let file = self.writer.get_ref();
        match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes) {
            // Some file systems cannot promise it.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.set_len(bytes),
            done => done.map_err(io::Error::from),
        }
        .map_err(Error::io("reserve room in", &self.path))
    }

    /// Writes bytes at a place of their own, beside what the others write one after the other from the beginning on.
    pub fn bytes_at(&self, place: u64, bytes: &[u8]) -> Result<()> {
        self.writer.get_ref().write_all_at(bytes, place).map_err(Error::io("write", &self.path))
    }

    /// Makes the file complete: flushed, and under its own name.
    pub fn finish(mut self) -> Result<()> {
        self.writer.flush().map_err(Error::io("write", &self.path))?;
        match self.partial {
            Partial::Stream => Ok(()),
            Partial::Beside(partial) => {
                partial.persist(&self.path).map_err(|error| Error::io("rename", &self.path)(error.error))
            }
            Partial::Target(target, folder) => target.place(&folder.path().join(DATA)),
        }
    }
}

/// For what packs as it writes; whoever has the writer names the file in errors.
impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_appears_only_when_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.tsv");
        let mut file = AtomicFile::create(&path).unwrap();
        file.line(b"row").unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"row\n");
        let mut placed = AtomicFile::create(&path).unwrap();
        placed.reserve(9).unwrap();
        placed.bytes_at(5, b"end").unwrap();
        placed.bytes(b"ro").unwrap();
        placed.bytes(b"w").unwrap();
        placed.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"row\0\0end\0");
        let mut given_up = AtomicFile::create(&folder.path().join("other")).unwrap();
        given_up.line(b"row").unwrap();
        drop(given_up);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// Neither a file of the name that half-written ones had, nor what a link leads to.
    #[test]
    fn nothing_else_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let [path, partial, target] =
            ["out.tsv", "out.tsv.partial", "target"].map(|name| folder.path().join(name));
        fs::write(&partial, "mine").unwrap();
        fs::write(&target, "theirs").unwrap();
        symlink("target", &path).unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.line(b"row").unwrap();
        file.finish().unwrap();
        assert_eq!(
            [&path, &partial, &target].map(|path| fs::read(path).unwrap()),
            [b"row\n".to_vec(), b"mine".to_vec(), b"theirs".to_vec()]
        );
    }
}
