//! A table as JSON lines.

use super::Table;
use std::path::{Path, PathBuf};
use twinsplit_io::AtomicFile;
use twinsplit_io::error::{Error, Result};
use twinsplit_sources::cells::{Cell, Column};

/// See the module.
pub struct Lines {
    file: AtomicFile,
    path: PathBuf,
    /// The name of each column and what stands around it.
    names: Vec<String>,
    line: Vec<u8>,
}

impl Lines {
    /// Starts a file.
    pub fn create(path: &Path, columns: &[Column]) -> Result<Self> {
        let before = |(at, column): (usize, &Column)| {
            format!("{}\"{}\":", if at == 0 { '{' } else { ',' }, column.name)
        };
        Ok(Self {
            file: AtomicFile::create(path)?,
            path: path.to_owned(),
            names: columns.iter().enumerate().map(before).collect(),
            line: Vec::new(),
        })
    }

    fn write(&mut self, cells: &[Cell<'_>]) -> std::io::Result<()> {
        self.line.clear();
        for (name, cell) in self.names.iter().zip(cells) {
            self.line.extend_from_slice(name.as_bytes());
            cell.write_json(&mut self.line)?;
        }
        self.line.push(b'}');
        Ok(())
    }
}

impl Table for Lines {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        self.write(cells).map_err(Error::io("write", &self.path))?;
        self.file.line(&self.line)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.file.finish()
    }
}
