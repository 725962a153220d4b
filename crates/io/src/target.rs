//! Files that commands write where their user says: the one rule for them.
//!
//! What is there already is replaced only where the user says so, never when it is read, and not before the new one is complete.

use super::atomic::AtomicFile;
use super::work_folder::{MadeFolders, WorkFolder};
use crate::error::{Error, Result};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use twinsplit_core::visible;

/// What a command was asked to write.
#[derive(Clone, Debug)]
pub struct Target {
    path: PathBuf,
    kind: Kind,
    replaces: bool,
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A file, which appears when it is complete.
    File,
    /// Standard output or standard error.
    Standard(Standard),
    /// A file that the process was started with, which others may have written to.
    Opened,
    /// A device or a named pipe, which is written as it comes.
    Device,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standard {
    Output,
    Error,
}

impl Target {
    /// What a path names, `-` being standard output. An error when it may not be written: when it is one of the files that the
    /// command reads, by whatever name, or when it is there and need not be replaced.
    pub fn of<'p>(path: &Path, replaces: bool, reads: impl IntoIterator<Item = &'p Path>) -> Result<Self> {
        let kind = kind(path);
        let meta = match kind {
            Kind::Standard(standard) => standard.file().and_then(|file| file.metadata()).ok(),
            _ => path.metadata().ok(),
        };
        if let Some(read) = meta.as_ref().and_then(|meta| reads.into_iter().find(|read| is(read, meta))) {
            return Err(Error::Usage(format!(
                "the output {} would replace {}, which this command reads; name another file",
                shown(path),
                shown(read)
            )));
        }
        if meta.is_some_and(|meta| meta.is_dir()) {
            return Err(Error::Usage(format!("{} is a folder; name a file", shown(path))));
        }
        if kind == Kind::File && !replaces && path.symlink_metadata().is_ok() {
            return Err(there(path));
        }
        Ok(Self { path: path.to_owned(), kind, replaces })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is a file, and no stream.
    pub fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// Where there is room for what is made on the way: beside the file, and where it is none, among temporary files.
    pub fn folder(&self) -> PathBuf {
        if self.kind == Kind::File { around(&self.path).to_owned() } else { std::env::temp_dir() }
    }

    /// A folder there, for files with names.
    pub fn work_folder(&self) -> Result<WorkFolder> {
        WorkFolder::in_folder(&self.folder()).map_err(|error| match error {
            Error::Io { source, .. } if self.kind == Kind::File => Error::io("create", &self.path)(source),
            other => other,
        })
    }

    /// An error with a file that was to get this name, which chance gave another one until then.
    pub fn name(&self, error: Error) -> Error {
        match error {
            Error::Io { action, source, .. } => Error::Io { action, path: self.path.clone(), source },
            other => other,
        }
    }

    /// Makes the folder that the file is to lie in; it goes again when nothing comes to lie there.
    pub fn make_folder(&self) -> Result<MadeFolders> {
        match self.kind {
            Kind::File => MadeFolders::make(around(&self.path)),
            _ => Ok(MadeFolders::default()),
        }
    }

    /// Starts to write it.
    pub fn start(&self) -> Result<AtomicFile> {
        let opened = match self.kind {
            Kind::File => return AtomicFile::for_target(self.clone(), self.work_folder()?),
            Kind::Standard(standard) => standard.file(),
            // Behind what others wrote to it.
            Kind::Opened => File::options().append(true).open(&self.path),
            Kind::Device => File::options().write(true).open(&self.path),
        };
        let name = match self.kind {
            Kind::Standard(_) => super::standard_output(),
            _ => self.path.clone(),
        };
        opened.map(|file| AtomicFile::over(file, name.clone())).map_err(Error::io("open", name))
    }

    /// Writes it in one go, in a folder that is made if it is not there.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let _folders = self.make_folder()?;
        let mut file = self.start()?;
        file.bytes(bytes)?;
        file.finish()
    }

    /// Gives a complete file on the same file system this name; a stream gets its bytes.
    pub fn take(&self, made: &Path) -> Result<()> {
        if self.kind == Kind::File {
            return self.place(made);
        }
        let mut from = File::open(made).map_err(Error::io("open", made))?;
        let mut file = self.start()?;
        file.copy(&mut from)?;
        file.finish()
    }

    /// Gives a complete file this name.
    pub(super) fn place(&self, made: &Path) -> Result<()> {
        if self.replaces {
            return fs::rename(made, &self.path).map_err(Error::io("rename", &self.path));
        }
        match renameat_with(CWD, made, CWD, &self.path, RenameFlags::NOREPLACE) {
            // Some file systems cannot promise it.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match self.path.symlink_metadata() {
                Ok(_) => Err(there(&self.path)),
                Err(_) => fs::rename(made, &self.path).map_err(Error::io("rename", &self.path)),
            },
            Err(Errno::EXIST) => Err(there(&self.path)),
            renamed => renamed.map_err(|error| Error::io("rename", &self.path)(error.into())),
        }
    }
}

fn there(path: &Path) -> Error {
    Error::Usage(format!("{} is there already; --overwrite replaces it", shown(path)))
}

fn shown(path: &Path) -> String {
    if path == Path::new("-") { "to standard output".to_owned() } else { visible::path(path) }
}

fn around(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a path leads to this file. Devices such as `/dev/null` lose nothing, and may be both.
fn is(path: &Path, other: &Metadata) -> bool {
    let meta = match path == Path::new("-") {
        true => io::stdin().as_fd().try_clone_to_owned().and_then(|file| File::from(file).metadata()),
        false => path.metadata(),
    };
    meta.is_ok_and(|meta| {
        !meta.file_type().is_char_device() && (meta.dev(), meta.ino()) == (other.dev(), other.ino())
    })
}

impl Standard {
    fn file(self) -> io::Result<File> {
        match self {
            Self::Output => io::stdout().as_fd().try_clone_to_owned(),
            Self::Error => io::stderr().as_fd().try_clone_to_owned(),
        }
        .map(File::from)
    }
}

fn kind(path: &Path) -> Kind {
    if path == Path::new("-") {
        return Kind::Standard(Standard::Output);
    }
    let mut at = path.to_owned();
    // As many links as the system follows.
    for _ in 0..40 {
        let Ok(to) = fs::read_link(&at) else { break };
        let name = at.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = around(&at).canonicalize().unwrap_or_default();
        // What `/dev/stdout` and `/dev/fd/3` lead to.
        if folder.starts_with("/proc") && folder.ends_with("fd") {
            let is_own = folder == Path::new("/proc").join(std::process::id().to_string()).join("fd");
            return match name.as_str() {
                "1" if is_own => Kind::Standard(Standard::Output),
                "2" if is_own => Kind::Standard(Standard::Error),
                _ => Kind::Opened,
            };
        }
        at = around(&at).join(to);
    }
    match path.metadata() {
        Ok(meta) if !meta.is_file() && !meta.is_dir() => Kind::Device,
        _ => Kind::File,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn said(path: &Path, replaces: bool, reads: &[&Path]) -> String {
        Target::of(path, replaces, reads.iter().copied()).unwrap_err().to_string()
    }

    fn write(target: &Target, text: &[u8]) -> Result<()> {
        let mut file = target.start()?;
        file.line(text)?;
        file.finish()
    }

    #[test]
    fn what_is_read_is_never_written_by_whatever_name() {
        let place = tempfile::tempdir().unwrap();
        let [input, link, hard, long] =
            ["input", "link", "hard", "folder/../input"].map(|name| place.path().join(name));
        fs::write(&input, "mine").unwrap();
        fs::create_dir(place.path().join("folder")).unwrap();
        symlink("input", &link).unwrap();
        fs::hard_link(&input, &hard).unwrap();
        for output in [&input, &link, &hard, &long] {
            for read in [&input, &link, &hard] {
                let said = said(output, true, &[Path::new("/dev/null"), read]);
                assert!(said.contains("which this command reads"), "{said}");
            }
        }
        assert!(Target::of(Path::new("/dev/null"), false, [Path::new("/dev/null")]).is_ok());
        assert!(said(place.path(), true, &[]).contains("is a folder"));
    }

    /// The old file stands until the new one is complete; without leave it stands for good, also one that came meanwhile.
    #[test]
    fn what_is_there_is_replaced_with_leave_and_when_the_new_one_is_complete() {
        let place = tempfile::tempdir().unwrap();
        let [path, link] = ["out", "link"].map(|name| place.path().join(name));
        let target = Target::of(&path, false, []).unwrap();
        let mut file = target.start().unwrap();
        file.line(b"first").unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first\n");
        assert!(said(&path, false, &[]).contains("is there already; --overwrite"));
        let replacing = Target::of(&path, true, []).unwrap();
        let mut file = replacing.start().unwrap();
        file.line(b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first\n");
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second\n");
        let given_up = replacing.start().unwrap();
        drop(given_up);
        // `target` was made when nothing was there.
        assert!(write(&target, b"third").unwrap_err().to_string().contains("is there already"));
        let made = place.path().join("made");
        fs::write(&made, "fourth").unwrap();
        assert!(target.take(&made).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"second\n");
        // A link that leads nowhere is there, too; a link is replaced, and not what it leads to.
        symlink("nowhere", &link).unwrap();
        assert!(said(&link, false, &[]).contains("is there already"));
        write(&Target::of(&link, true, []).unwrap(), b"fifth").unwrap();
        assert!(!link.is_symlink() && !place.path().join("nowhere").exists());
        assert_eq!(place.path().read_dir().unwrap().count(), 3);
    }

    #[test]
    fn streams_and_devices_are_written_as_they_come() {
        let place = tempfile::tempdir().unwrap();
        let [device, output] = ["device", "output"].map(|name| place.path().join(name));
        symlink("/dev/null", &device).unwrap();
        let target = Target::of(&device, false, []).unwrap();
        assert_eq!(target.kind, Kind::Device);
        write(&target, b"row").unwrap();
        assert!(device.is_symlink());
        symlink("/dev/stdout", &output).unwrap();
        for (path, expected) in [
            (Path::new("-"), Kind::Standard(Standard::Output)),
            (Path::new("/dev/stdout"), Kind::Standard(Standard::Output)),
            (&output, Kind::Standard(Standard::Output)),
            (Path::new("/dev/stderr"), Kind::Standard(Standard::Error)),
            (Path::new("/dev/fd/0"), Kind::Opened),
            (Path::new("/proc/none"), Kind::File),
        ] {
            assert_eq!(kind(path), expected, "{path:?}");
        }
    }
}
