//! Files that appear under their name when they are complete.

use super::BUFFER;
use crate::error::{Error, Result};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A file that appears under its name only when it is complete. One that is given up leaves nothing.
pub struct AtomicFile {
    writer: BufWriter<File>,
    /// Where it is until then; a device or a pipe is written as it comes.
    partial: Option<TempPath>,
    path: PathBuf,
}

/// Whether a path leads to a device or a pipe, which is written as it comes.
pub fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

/// Gives a complete file, on the same file system, this name; to a device or a pipe its bytes are written.
pub fn move_into_place(made: &Path, path: &Path) -> Result<()> {
    if !is_device(path) {
        return fs::rename(made, path).map_err(Error::io("rename", made));
    }
    let mut from = File::open(made).map_err(Error::io("open", made))?;
    let mut file = AtomicFile::create(path)?;
    io::copy(&mut from, &mut file.writer).map_err(Error::io("write", path))?;
    file.finish()
}

impl AtomicFile {
    /// Starts the file beside its final place, under its name with a part of its own and `.partial` added: what is there
    /// already is somebody else's.
    pub fn create(path: &Path) -> Result<Self> {
        let (file, partial) = if is_device(path) {
            (File::options().write(true).open(path).map_err(Error::io("open", path))?, None)
        } else {
            let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
            name.push(".");
            let folder =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let made = tempfile::Builder::new()
                .prefix(&name)
                .suffix(".partial")
                .permissions(Permissions::from_mode(0o666))
                .tempfile_in(folder)
                // Its message would repeat the name that chance gave it.
                .map_err(|error| Error::io("create", path)(error.kind().into()))?;
            let (file, partial) = made.into_parts();
            (file, Some(partial))
        };
        let writer = BufWriter::with_capacity(BUFFER, file);
        Ok(Self { writer, partial, path: path.to_owned() })
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
        let Some(partial) = self.partial.take() else { return Ok(()) };
        partial.persist(&self.path).map_err(|error| Error::io("rename", &self.path)(error.error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    /// Neither a file of the name that half-written ones had, nor what a link leads to, nor a device.
    #[test]
    fn nothing_else_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let [path, partial, target] =
            ["out.tsv", "out.tsv.partial", "target"].map(|name| folder.path().join(name));
        fs::write(&partial, "mine").unwrap();
        fs::write(&target, "theirs").unwrap();
        symlink("target", &path).unwrap();
        let write = |path: &Path| {
            let mut file = AtomicFile::create(path).unwrap();
            file.line(b"row").unwrap();
            file.finish().unwrap();
        };
        write(&path);
        assert_eq!(
            [&path, &partial, &target].map(|path| fs::read(path).unwrap()),
            [b"row\n".to_vec(), b"mine".to_vec(), b"theirs".to_vec()]
        );
        let device = folder.path().join("device");
        symlink("/dev/null", &device).unwrap();
        write(&device);
        assert!(device.is_symlink());
    }
}
