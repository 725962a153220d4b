//! A disk that remembers what was asked of it, and what it may hold when its power fails.

use crate::disk::{LogDisk, LogFile, LogFolder};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use twinsplit_io::error::{Error, Result};

/// What was asked of a disk. Files are called by numbers, for names change.
#[derive(Clone, Debug)]
pub(super) enum Done {
    Create(String, usize),
    Append(usize, Vec<u8>),
    SyncFile(usize),
    Truncate(String, u64),
    Rename(String, String),
    SyncNames,
    Remove(String),
}

/// A disk that remembers what was asked of it, and fails where it is told to.
#[derive(Clone)]
pub(super) struct Recorded {
    folder: LogFolder,
    pub log: Arc<Mutex<Vec<Done>>>,
    fails_at: usize,
}

pub(super) struct RecordedFile {
    file: <LogFolder as LogDisk>::File,
    number: usize,
    disk: Recorded,
}

impl Recorded {
    pub fn new(folder: &Path, fails_at: usize) -> Self {
        Self { folder: LogFolder(folder.to_owned()), log: Arc::default(), fails_at }
    }

    /// Notes what is done, or fails; what fails may have been done in part.
    fn note(&self, done: Done) -> Result<()> {
        let mut log = self.log.lock().unwrap();
        if log.len() >= self.fails_at {
            return Err(Error::io("write", self.folder.path())(std::io::ErrorKind::StorageFull.into()));
        }
        log.push(done);
        Ok(())
    }
}

impl LogDisk for Recorded {
    type File = RecordedFile;

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn create(&mut self, name: &str) -> Result<RecordedFile> {
        let number = self.log.lock().unwrap().len();
        self.note(Done::Create(name.to_owned(), number))?;
        Ok(RecordedFile { file: self.folder.create(name)?, number, disk: self.clone() })
    }

    fn truncate(&mut self, name: &str, bytes: u64) -> Result<()> {
        self.note(Done::Truncate(name.to_owned(), bytes))?;
        self.folder.truncate(name, bytes)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        self.note(Done::Rename(from.to_owned(), to.to_owned()))?;
        self.folder.rename(from, to)
    }

    fn sync(&mut self) -> Result<()> {
        self.note(Done::SyncNames)?;
        self.folder.sync()
    }

    fn remove(&mut self, name: &str) -> Result<()> {
        self.note(Done::Remove(name.to_owned()))?;
        self.folder.remove(name)
    }
}

impl LogFile for RecordedFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if let Err(error) = self.disk.note(Done::Append(self.number, bytes.to_vec())) {
            // A full disk takes the first part.
            self.file.append(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        self.file.append(bytes)
    }

    fn sync(&self) -> Result<()> {
        self.disk.note(Done::SyncFile(self.number))?;
        self.file.sync()
    }

    fn twin(&self) -> Result<Self> {
        Ok(Self { file: self.file.twin()?, number: self.number, disk: self.disk.clone() })
    }
}

/// A file after a power loss: what was synced, and of what was not any pages, the others zero, up to any length.
fn torn(synced: &[u8], written: &[u8], next: &mut impl FnMut() -> usize) -> Vec<u8> {
    let mut bytes = written[..synced.len() + next() % (written.len() - synced.len() + 1)].to_vec();
    // Small pages, so that there are many.
    for page in bytes[synced.len()..].chunks_mut(64) {
        match next() % 8 {
            0 => page.fill(0),
            1 => page[0] ^= 0x10,
            _ => {}
        }
    }
    bytes
}

/// What a disk may hold when its power fails after so many operations.
pub(super) fn after_power_loss(
    log: &[Done],
    at: usize,
    next: &mut impl FnMut() -> usize,
) -> BTreeMap<String, Vec<u8>> {
    let mut contents: BTreeMap<usize, (Vec<u8>, Vec<u8>)> = BTreeMap::new();
    let (mut names, mut durable): (BTreeMap<String, usize>, BTreeMap<String, usize>) = Default::default();
    let mut pending: Vec<Done> = Vec::new();
    let apply = |names: &mut BTreeMap<String, usize>, done: &Done| match done {
        Done::Create(name, number) => drop(names.insert(name.clone(), *number)),
        Done::Rename(from, to) => {
            if let Some(number) = names.remove(from) {
                names.insert(to.clone(), number);
            }
        }
        Done::Remove(name) => drop(names.remove(name)),
        _ => {}
    };
    for done in &log[..at] {
        apply(&mut names, done);
        match done {
            Done::Create(_, number) => drop(contents.insert(*number, Default::default())),
            Done::Append(number, bytes) => contents.get_mut(number).unwrap().1.extend_from_slice(bytes),
            Done::SyncFile(number) => {
                let (synced, written) = contents.get_mut(number).unwrap();
                synced.clone_from(written);
            }
            Done::Truncate(name, bytes) => {
                let (synced, written) = contents.get_mut(&names[name]).unwrap();
                written.truncate(*bytes as usize);
                synced.clone_from(written);
            }
            Done::SyncNames => pending.drain(..).for_each(|done| apply(&mut durable, &done)),
            Done::Rename(..) | Done::Remove(_) => {}
        }
        if matches!(done, Done::Create(..) | Done::Rename(..) | Done::Remove(_)) {
            pending.push(done.clone());
        }
    }
    // A journal of names keeps their order: some of the first are there.
    let some = next() % (pending.len() + 1);
    pending[..some].iter().for_each(|done| apply(&mut durable, done));
    let file = |(name, number): (String, usize)| {
        let (synced, written) = &contents[&number];
        (name, torn(synced, written, next))
    };
    durable.into_iter().map(file).collect()
}
