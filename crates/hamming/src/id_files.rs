//! The ids of an index that is built in files.

use super::rows::{BYTES, Id, Ids, NUMBERS, ROWS};
use super::temporary::{Sink, Temporary, TemporaryWriter};
use std::path::Path;
use twinsplit_io::error::{Error, Result};

/// Takes the ids of rows, in the order of the rows.
#[derive(Debug)]
pub struct IdWriter {
    kind: Kind,
    count: usize,
}

#[derive(Debug)]
enum Kind {
    Rows,
    Numbers(TemporaryWriter),
    /// Where names end, and the names.
    Names {
        ends: TemporaryWriter,
        names: TemporaryWriter,
        end: u64,
    },
}

/// Files of ids, in the order in which an index has them, and what its head calls them.
pub(super) struct IdFiles {
    pub kind: &'static str,
    pub files: Vec<Temporary>,
}

impl IdWriter {
    /// Rows have no ids but their numbers.
    pub fn rows() -> Self {
        Self { kind: Kind::Rows, count: 0 }
    }

    /// Ids are numbers, in eight bytes each; until the index is written in a temporary file in this folder.
    ///
    /// # Errors
    /// No file can be created.
    pub fn numbers(folder: &Path) -> Result<Self> {
        Ok(Self { kind: Kind::Numbers(TemporaryWriter::create(folder)?), count: 0 })
    }

    /// Ids are any bytes, and eight each for where they end.
    ///
    /// # Errors
    /// As above.
    pub fn names(folder: &Path) -> Result<Self> {
        let (ends, names) = (TemporaryWriter::create(folder)?, TemporaryWriter::create(folder)?);
        Ok(Self { kind: Kind::Names { ends, names, end: 0 }, count: 0 })
    }

    /// Takes the id of the next row; one that is not stored is only counted.
    ///
    /// # Errors
    /// It cannot be written, or is a number among names or a name among numbers.
    pub fn push(&mut self, id: Id<'_>) -> Result<()> {
        match (&mut self.kind, id) {
            (Kind::Rows, _) => {}
            (Kind::Numbers(numbers), Id::Number(number)) => numbers.put(&number.to_le_bytes())?,
            (Kind::Names { ends, names, end }, Id::Name(name)) => {
                *end += name.len() as u64;
                names.put(name)?;
                ends.put(&end.to_le_bytes())?;
            }
            (_, id) => {
                return Err(Error::Usage(format!("the id {id:?} of row {} is of another kind", self.count)));
            }
        }
        self.count += 1;
        Ok(())
    }

    /// All ids in mapped files, where there are so many.
    ///
    /// # Errors
    /// Other than so many; the files cannot be written or mapped.
    pub fn map(self, rows: usize) -> Result<MappedIds> {
        let IdFiles { files, .. } = self.finish(rows)?;
        let ids = match &files[..] {
            [numbers] => Ids::Numbers(numbers.map()?),
            [ends, names] => Ids::Names(ends.map()?, names.map()?),
            _ => Ids::Rows,
        };
        Ok(MappedIds { ids })
    }

    /// The files, where there are ids for all rows.
    pub(super) fn finish(self, rows: usize) -> Result<IdFiles> {
        let Self { kind, count } = self;
        let (kind, writers) = match kind {
            Kind::Rows => return Ok(IdFiles { kind: ROWS, files: Vec::new() }),
            Kind::Numbers(numbers) => (NUMBERS, vec![numbers]),
            Kind::Names { ends, names, .. } => (BYTES, vec![ends, names]),
        };
        if count != rows {
            return Err(Error::Usage(format!("{count} ids for an index of {rows} fingerprints")));
        }
        let files = writers.into_iter().map(TemporaryWriter::finish).collect::<Result<_>>()?;
        Ok(IdFiles { kind, files })
    }
}

/// Ids in mapped files, by row: those that are asked for come into memory.
#[derive(Debug)]
pub struct MappedIds {
    ids: Ids,
}

impl MappedIds {
    /// The id of a row; `None` if it has none, and its number where rows have no ids.
    pub fn id(&self, row: u32) -> Option<Id<'_>> {
        self.ids.of(row)
    }

    /// Gives the memory back in which ids are that were asked for.
    pub fn forget(&self) {
        self.ids.forget();
    }
}
