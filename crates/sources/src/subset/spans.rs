//! Documents that stand in a file one behind the other, as bytes: JSON lines, rows of tables, elements of TREC.
//!
//! The file is read a second time beside the source, which says where the documents stand. All is copied but the bytes of those that are left
//! out, each with the line ends behind it; what a
//! document gets is put between.

use super::Takes;
use super::added::Added;
use crate::Source;
use crate::input::Input;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use twinsplit_io::PackedFile;
use twinsplit_io::error::{Error, Result};

/// Writes the file of a source without the documents that `takes` does not take, and with what others get.
pub fn write(
    source: &mut dyn Source,
    input: Input,
    to: &Path,
    added: Option<&Added>,
    takes: &mut Takes<'_>,
) -> Result<()> {
    let out = PackedFile::create(to, input.opened.packing)?;
    let mut copy = Copy { reader: input.opened.reader, path: input.path, at: 0, out };
    if let Some((end, names)) = added.and_then(Added::names) {
        copy.pass(end, true)?;
        copy.out.bytes(names)?;
    }
    let (mut cells, mut bytes) = (Vec::new(), Vec::new());
    while let Some(found) = source.next_document()? {
        cells.clear();
        let start = found.place.offset;
        if !takes(&found, &mut cells)? {
            copy.pass(start, true)?;
            copy.pass(start + found.raw.len() as u64, false)?;
            copy.pass_ends()?;
        } else if let Some(added) = added {
            let behind = added.to(&found, &cells, &mut bytes)?;
            copy.pass(start + behind as u64, true)?;
            copy.out.bytes(&bytes)?;
        }
    }
    copy.pass(u64::MAX, true)?;
    copy.out.finish()
}

/// A file that is copied in part.
struct Copy {
    reader: Box<dyn BufRead + Send>,
    path: PathBuf,
    /// How much of it has been read.
    at: u64,
    out: PackedFile,
}

impl Copy {
    /// Goes on to a place, or to the end of the file, and writes what stands before it if `writes`.
    fn pass(&mut self, to: u64, writes: bool) -> Result<()> {
        while self.at < to {
            let some = self.reader.fill_buf().map_err(Error::io("read", &self.path))?;
            let length = some.len().min(usize::try_from(to - self.at).unwrap_or(usize::MAX));
            if length == 0 {
                return Ok(());
            }
            if writes {
                self.out.bytes(&some[..length])?;
            }
            self.reader.consume(length);
            self.at += length as u64;
        }
        Ok(())
    }

    /// Passes over line ends.
    fn pass_ends(&mut self) -> Result<()> {
        loop {
            let some = self.reader.fill_buf().map_err(Error::io("read", &self.path))?;
            let ends = some.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            if ends == 0 {
                return Ok(());
            }
            self.reader.consume(ends);
            self.at += ends as u64;
        }
    }
}
