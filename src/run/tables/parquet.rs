//! A table as Parquet: columns of the types that their names promise, packed by zstd, in groups of rows that memory holds.

use super::Table;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_io::AtomicFile;
use twinsplit_io::error::{Error, Result};
use twinsplit_sources::cells::{Cell, Column, Values, field};

/// Rows of a group, and bytes of its texts: what comes first ends it.
const ROWS: usize = 1 << 17;
const BYTES: usize = 32 << 20;

/// See the module.
pub struct Parquet {
    writer: SerializedFileWriter<AtomicFile>,
    path: PathBuf,
    columns: Vec<Values>,
    rows: usize,
    bytes: usize,
}

fn schema(name: &str, columns: &[Column]) -> std::result::Result<TypePtr, ParquetError> {
    let fields = columns.iter().map(field).collect::<std::result::Result<_, _>>()?;
    Ok(Arc::new(Type::group_type_builder(name).with_fields(fields).build()?))
}

impl Parquet {
    /// Starts a file.
    pub fn create(path: &Path, name: &str, columns: &[Column]) -> Result<Self> {
        let file = AtomicFile::create(path)?;
        let properties =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let writer = schema(name, columns)
            .and_then(|schema| SerializedFileWriter::new(file, schema, Arc::new(properties)));
        Ok(Self {
            writer: writer.map_err(|error| failed(error, path))?,
            path: path.to_owned(),
            columns: columns.iter().map(Values::of).collect(),
            rows: 0,
            bytes: 0,
        })
    }

    /// Writes the rows that are held.
    fn write_group(&mut self) -> std::result::Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in &self.columns {
            let Some(mut writer) = group.next_column()? else { break };
            column.write(&mut writer)?;
            writer.close()?;
        }
        group.close()?;
        self.columns.iter_mut().for_each(Values::clear);
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

impl Table for Parquet {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
            if let Cell::Text(text) = cell {
                self.bytes += text.len();
            }
        }
        self.rows += 1;
        if self.rows < ROWS && self.bytes < BYTES {
            return Ok(());
        }
        self.write_group().map_err(|error| failed(error, &self.path))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if self.rows > 0 {
            self.write_group().map_err(|error| failed(error, &self.path))?;
        }
        // This writes the end of the file, which tells what is in it.
        self.writer.into_inner().map_err(|error| failed(error, &self.path))?.finish()
    }
}

/// What went wrong is writing: what is written comes from here.
fn failed(error: ParquetError, path: &Path) -> Error {
    let source = match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(error) => *error,
            Err(error) => std::io::Error::other(error),
        },
        error => std::io::Error::other(error),
    };
    Error::io("write", path)(source)
}
