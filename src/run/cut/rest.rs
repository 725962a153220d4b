//! The documents without what is cut.

use super::Documents;
use crate::output::owned::{CUT, KEPT};
use crate::same_form::{changed, refuse_changes, size};
use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use twinsplit_engine::progress::Progress;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{AtomicFile, open, read_row};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::cut::CutRow;
use twinsplit_rows::record::unit::Span;

impl Documents {
    /// Writes those of which something is left, and gives how many these are.
    pub fn write(&self, answer: &Path, progress: &Progress) -> Result<u64> {
        let mut cuts = Cuts::open(&answer.join(CUT))?;
        let mut out = AtomicFile::create(&answer.join(KEPT))?;
        let (mut written, mut before, mut rest) = (0, 0, Vec::new());
        for (number, file) in (0..).zip(&self.files) {
            let mut source = self.source.open(file, number)?;
            while let Some(found) = source.next_document()? {
                // What cannot be read has become no units either.
                let Ok(line) = found.line else { continue };
                let Ok(id) = self.units.document_id(line, found.place) else { continue };
                if !cuts.are_of(&id) {
                    out.line(line)?;
                    written += 1;
                } else if let Ok(divided) = self.units.divide(line, found.place) {
                    let cut = cuts.take(&id)?;
                    let there =
                        divided.spans().filter(|(unit, span)| cut.contains(&(*unit, span.start, span.end)));
                    if there.count() != cut.len() {
                        return Err(changed(file));
                    }
                    if cut.len() as u64 == divided.count() {
                        continue;
                    }
                    let numbers: BTreeSet<u64> = cut.iter().map(|(unit, ..)| *unit).collect();
                    divided.without(|unit| numbers.contains(&unit), &mut rest);
                    out.line(&rest)?;
                    written += 1;
                }
                progress.set(before + source.raw_bytes());
            }
            before += size(file);
        }
        refuse_changes(&self.files, &self.stamps)?;
        match (cuts.row.is_some(), self.files.last()) {
            (true, Some(file)) => Err(changed(file)),
            _ => out.finish().map(|()| written),
        }
    }
}

/// What is cut, in the order of the documents.
struct Cuts {
    reader: Box<dyn BufRead + Send>,
    path: PathBuf,
    line: Vec<u8>,
    number: u64,
    /// The next one: its document, its unit, and where that stands.
    row: Option<(Vec<u8>, u64, Span)>,
}

impl Cuts {
    fn open(path: &Path) -> Result<Self> {
        let (reader, path) = (open(path)?, path.to_owned());
        let mut cuts = Self { reader, path, line: Vec::new(), number: 0, row: None };
        cuts.next()?;
        Ok(cuts)
    }

    fn next(&mut self) -> Result<()> {
        self.line.clear();
        self.number += 1;
        self.row = match read_row(&mut *self.reader, &mut self.line, &self.path, self.number)? {
            true => {
                let row = CutRow::decode(&self.line).map_err(|wrong| Error::File {
                    path: self.path.clone(),
                    problem: format!(
                        "line {}, field {}: expected {}",
                        self.number, wrong.field, wrong.expected
                    ),
                })?;
                Some((row.document.to_vec(), row.unit, row.span))
            }
            false => None,
        };
        Ok(())
    }

    fn are_of(&self, document: &[u8]) -> bool {
        self.row.as_ref().is_some_and(|(of, ..)| of == document)
    }

    /// Those of a document: the number of each unit, its first character, and the first one behind it.
    fn take(&mut self, document: &[u8]) -> Result<BTreeSet<(u64, u64, u64)>> {
        let mut taken = BTreeSet::new();
        while let Some((_, unit, span)) = self.row.take_if(|(of, ..)| of == document) {
            taken.insert((unit, span.start, span.end));
            self.next()?;
        }
        Ok(taken)
    }
}
