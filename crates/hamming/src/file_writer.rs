//! An index file that is written part by part, while its tables are built: what they take in memory is what is being built of them.
//!
//! How long each part is is known before, and so is where it lies. Only the head is written last, for it has the parts' checksums.

use super::bits::Fingerprint;
use super::build::TableSink;
use super::file::FileHead;
use super::layout::Plan;
use super::temporary::Temporary;
use std::path::Path;
use twinsplit_core::hash::Checksum;
use twinsplit_io::AtomicFile;
use twinsplit_io::error::Result;
use twinsplit_io::parts_file::PAGE;

/// Bytes of a temporary file that are copied at a time.
const BLOCK: usize = 1 << 18;

/// Writes an index file with the tables of a plan, so many rows and distinct fingerprints, and this kind of ids. `build` writes the tables,
/// each to the sink of its number; `rest` follows them: rows and ids.
///
/// # Errors
/// Those of `build`; the file cannot be written, or `rest` not be read.
pub fn write_index<F: Fingerprint>(
    path: &Path,
    (distance, plan): (u32, &Plan<F>),
    (rows, distinct): (usize, usize),
    (ids, rest): (&str, &[&Temporary]),
    build: impl FnOnce(&mut [FileTable<'_>]) -> Result<()>,
) -> Result<()> {
    let tables = plan.tables.iter().map(|shape| shape.parts(distinct));
    let tables = tables.flat_map(|(directory, entries)| [directory as u64, entries as u64]);
    let sizes: Vec<u64> = tables.chain(rest.iter().map(|file| file.len())).collect();
    let head = FileHead::of(distance, plan, (rows, distinct), ids);
    let text = |checksums: &[String]| head.text(sizes.iter().copied().zip(checksums.iter().cloned()));
    let mut end = text(&vec![Checksum::default().hex(); sizes.len()]).len() as u64;
    let mut file = AtomicFile::create(path)?;
    let mut parts = Vec::with_capacity(sizes.len());
    for size in &sizes {
        let at = end.next_multiple_of(PAGE);
        parts.push(FilePart { file: &file, at, checksum: Checksum::default(), room: Vec::new() });
        end = at + size;
    }
    file.reserve(end)?;
    let mut parts = parts.into_iter();
    let next_table = |_| Some(FileTable { directory: parts.next()?, entries: parts.next()? });
    let mut tables: Vec<FileTable<'_>> = plan.tables.iter().map_while(next_table).collect();
    build(&mut tables)?;
    let mut checksums: Vec<String> = tables.iter().flat_map(FileTable::checksums).collect();
    for (part, from) in parts.zip(rest) {
        checksums.push(part.copy(from)?);
    }
    drop(tables);
    file.bytes(&text(&checksums))?;
    file.finish()
}

/// A part of the file that is written from its beginning to its end.
struct FilePart<'f> {
    file: &'f AtomicFile,
    at: u64,
    checksum: Checksum,
    room: Vec<u8>,
}

impl FilePart<'_> {
    /// Room for the next so many bytes.
    fn room(&mut self, bytes: usize) -> &mut [u8] {
        self.room.resize(bytes, 0);
        &mut self.room
    }

    /// Writes what is in the room.
    fn filled(&mut self) -> Result<()> {
        self.checksum.bytes(&self.room);
        self.file.bytes_at(self.at, &self.room)?;
        self.at += self.room.len() as u64;
        Ok(())
    }

    /// Writes all of a temporary file.
    fn copy(mut self, from: &Temporary) -> Result<String> {
        for start in (0..from.len()).step_by(BLOCK) {
            from.read(start, self.room((from.len() - start).min(BLOCK as u64) as usize))?;
            self.filled()?;
        }
        Ok(self.checksum.hex())
    }
}

/// A table that is written to two parts of the file.
pub struct FileTable<'f> {
    directory: FilePart<'f>,
    entries: FilePart<'f>,
}

impl FileTable<'_> {
    /// The checksums of both parts.
    fn checksums(&self) -> [String; 2] {
        [&self.directory, &self.entries].map(|part| part.checksum.hex())
    }
}

impl TableSink for FileTable<'_> {
    const PASSES_ON: bool = true;

    fn room(&mut self, directory: usize, entries: usize) -> (&mut [u8], &mut [u8]) {
        (self.directory.room(directory), self.entries.room(entries))
    }

    fn filled(&mut self) -> Result<()> {
        self.directory.filled()?;
        self.entries.filled()
    }

    fn complete(&mut self) {
        self.directory.room = Vec::new();
        self.entries.room = Vec::new();
    }
}
