//! Sets that are gone through once more: in memory, or in a file where they are many.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use twinsplit_io::error::{Error, Result};

/// Bytes of sets that stay in memory.
const HELD: usize = if cfg!(test) { 64 } else { 8 << 20 };

/// Sets in the order in which they came.
pub struct Spool {
    folder: PathBuf,
    /// Of each set its size, then its features.
    held: Vec<u64>,
    file: Option<BufWriter<File>>,
}

impl Spool {
    /// None yet; those that are many go to a file in this folder.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, held: Vec::new(), file: None }
    }

    /// Appends a set.
    pub fn push(&mut self, features: &[u64]) -> Result<()> {
        self.held.push(features.len() as u64);
        self.held.extend_from_slice(features);
        if size_of_val(&self.held[..]) < HELD {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let file = tempfile::tempfile_in(&self.folder).map_err(failed(&self.folder))?;
                self.file.insert(BufWriter::new(file))
            }
        };
        for value in self.held.drain(..) {
            file.write_all(&value.to_le_bytes()).map_err(failed(&self.folder))?;
        }
        Ok(())
    }

    /// Calls `visit` with each set in the order in which they came.
    pub fn each(&mut self, features: &mut Vec<u64>, mut visit: impl FnMut(&[u64])) -> Result<()> {
        if let Some(writer) = &mut self.file {
            writer.flush().map_err(failed(&self.folder))?;
            let file = writer.get_mut();
            let bytes = file.stream_position().map_err(failed(&self.folder))?;
            file.rewind().map_err(failed(&self.folder))?;
            let mut reader = BufReader::new(&*file);
            let mut number = || {
                let mut bytes = [0; 8];
                reader.read_exact(&mut bytes).map_err(failed(&self.folder))?;
                Ok::<u64, Error>(u64::from_le_bytes(bytes))
            };
            let mut left = bytes / 8;
            while left > 0 {
                let size = number()?;
                features.clear();
                for _ in 0..size {
                    features.push(number()?);
                }
                left -= size + 1;
                visit(features);
            }
        }
        let mut held = &self.held[..];
        while let Some((size, rest)) = held.split_first() {
            let (set, rest) = rest.split_at(*size as usize);
            visit(set);
            held = rest;
        }
        Ok(())
    }

    /// Leaves all sets.
    pub fn clear(&mut self) {
        self.held.clear();
        self.file = None;
    }
}

fn failed(folder: &Path) -> impl FnOnce(std::io::Error) -> Error {
    Error::io("spill in", folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Sets come back as they were, wherever they lie, and again for the next component.
        #[test]
        fn sets_come_back(
            components in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<u64>(), 0..6), 0..9), 1..4),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let (mut spool, mut features) = (Spool::new(folder.path().to_owned()), Vec::new());
            for sets in components {
                sets.iter().for_each(|set| spool.push(set).unwrap());
                let mut found = Vec::new();
                spool.each(&mut features, |set| found.push(set.to_vec())).unwrap();
                prop_assert_eq!(found, sets);
                spool.clear();
            }
        }
    }
}
