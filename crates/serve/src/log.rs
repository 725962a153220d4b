//! The log: all that has changed, in the order in which it did, in files that grow at their ends.
//!
//! A file is called by the number of its first record. A new one begins with each snapshot, and when a service is started.

use crate::disk::{LogDisk, LogFile};
use crate::record;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_io::checked_file::Head;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::mapped::Map;

/// The kind of its files.
pub(crate) const KIND: &str = "service-log";
/// How their names begin.
pub(crate) const LOG: &str = "log-";
/// A file that has no name yet.
pub(crate) const UNNAMED: &str = "log.partial";

/// The name of a file whose first record has this number, or that of a snapshot up to it.
pub(crate) fn name(kind: &str, number: u64) -> String {
    format!("{kind}{number:020}")
}

/// The numbers of all files whose names begin so, ascending.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn numbers(folder: &Path, kind: &str) -> Result<Vec<u64>> {
    let failed = || Error::io("read", folder);
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed())? {
        let name = entry.map_err(failed())?.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix(kind));
        numbers
            .extend(digits.filter(|digits| digits.len() == 20).and_then(|digits| digits.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// A log that is written.
pub(crate) struct Log<D: LogDisk> {
    disk: D,
    file: D::File,
    /// The number of the last record.
    last: u64,
    /// Up to where records are on the disk.
    synced: Arc<AtomicU64>,
    /// Records that are not written yet.
    buffer: Vec<u8>,
    /// Bytes that were written since the last file began.
    bytes: u64,
}

impl<D: LogDisk> Log<D> {
    /// Begins a file behind the record of a number, up to which all is on the disk.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn begin(mut disk: D, parameters: &[(&str, String)], last: u64) -> Result<Self> {
        let file = begin_file(&mut disk, parameters, last)?;
        Ok(Self { disk, file, last, synced: Arc::new(last.into()), buffer: Vec::new(), bytes: 0 })
    }

    /// Adds a record.
    pub fn push(&mut self, content: &[u8]) {
        self.last += 1;
        record::push(self.last, self.synced.load(Ordering::Acquire), content, &mut self.buffer);
    }

    /// The number of the last record.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Up to which record all is known to be on the disk.
    pub fn synced(&self) -> u64 {
        self.synced.load(Ordering::Acquire)
    }

    /// Bytes of the file that is written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Hands what was added to the system.
    ///
    /// # Errors
    /// Those of the disk; nothing may be added after one.
    pub fn write(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            self.file.append(&self.buffer)?;
            self.bytes += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    /// Those of the disk; nothing may be added after one.
    pub fn sync(&mut self) -> Result<()> {
        self.write()?;
        if self.synced.load(Ordering::Acquire) < self.last {
            self.file.sync()?;
            self.synced.fetch_max(self.last, Ordering::AcqRel);
        }
        Ok(())
    }

    /// What syncs the file that is written now, from another thread.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn syncer(&self) -> Result<Syncer<D::File>> {
        Ok(Syncer { file: self.file.twin()?, synced: self.synced.clone() })
    }

    /// Begins a new file; all before is on the disk then.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn rotate(&mut self, parameters: &[(&str, String)]) -> Result<()> {
        self.sync()?;
        self.file = begin_file(&mut self.disk, parameters, self.last)?;
        self.bytes = 0;
        Ok(())
    }
}

fn begin_file<D: LogDisk>(disk: &mut D, parameters: &[(&str, String)], last: u64) -> Result<D::File> {
    let mut file = disk.create(UNNAMED)?;
    file.append(&record::head(KIND, parameters))?;
    file.sync()?;
    disk.rename(UNNAMED, &name(LOG, last + 1))?;
    disk.sync()?;
    Ok(file)
}

/// Syncs a file of a log.
pub(crate) struct Syncer<F> {
    file: F,
    synced: Arc<AtomicU64>,
}

impl<F: LogFile> Syncer<F> {
    /// Waits until all is on the disk up to the record of a number, which was written before.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn sync(&self, number: u64) -> Result<()> {
        if self.synced.load(Ordering::Acquire) < number {
            self.file.sync()?;
            self.synced.fetch_max(number, Ordering::AcqRel);
        }
        Ok(())
    }
}

/// A tail that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The file.
    pub file: String,
    /// The bytes that are left of it, all whole records.
    pub kept: u64,
    /// The bytes that were cut off.
    pub cut: u64,
}

/// A file of a log that is read.
pub(crate) struct LogFileRead {
    path: PathBuf,
    bytes: Map,
    first: u64,
    at: usize,
    /// What its first line says.
    pub head: Head,
}

impl LogFileRead {
    /// Opens the file whose first record has this number.
    ///
    /// # Errors
    /// It is no log of this version.
    pub fn open(folder: &Path, first: u64) -> Result<Self> {
        let path = folder.join(name(LOG, first));
        let bytes = Map::of(&path)?;
        let (head, at) = record::read_head(&bytes, &path, KIND)?;
        Ok(Self { path, bytes, first, at, head })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads what comes behind `after`, the number of the last record that is known. In the last file a torn tail is no error; it is given. `visit` has the
    /// content of each record.
    ///
    /// # Errors
    /// The file is damaged, or does not follow what is known.
    pub fn read(
        self,
        is_last: bool,
        after: &mut u64,
        mut visit: impl FnMut(&[u8]) -> Result<(), &'static str>,
    ) -> Result<Option<Torn>> {
        let Self { path, bytes, first, mut at, .. } = self;
        let wrong = |at: usize, problem: String| Error::File {
            path: path.clone(),
            problem: format!("at byte {at}: {problem}; restore the folder from a backup"),
        };
        if first > *after + 1 {
            let problem =
                format!("its first record is {first}, and the last one before it {after}: a file is missing");
            return Err(wrong(at, problem));
        }
        let mut number = first;
        while at < bytes.len() {
            let Some(found) = record::at(&bytes, at).filter(|found| found.number == number) else {
                if !is_last {
                    return Err(wrong(at, format!("record {number} is damaged, and another file follows")));
                }
                if let Some(place) = record::witness(&bytes, at, number) {
                    return Err(wrong(
                        at,
                        format!(
                            "record {number} is damaged: the one at byte {place} says that it was on the disk"
                        ),
                    ));
                }
                let cut = (bytes.len() - at) as u64;
                return Ok(Some(Torn { file: name(LOG, first), kept: at as u64, cut }));
            };
            if number > *after {
                visit(found.content).map_err(|problem| wrong(at, format!("record {number}: {problem}")))?;
                *after = number;
            }
            number += 1;
            at = found.end;
        }
        Ok(None)
    }
}
