//! A table as Parquet: columns of the types that their names promise, packed by zstd, in groups of rows that memory holds.

use super::Table;
use super::columns::{Cell, Column, Kind};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_io::AtomicFile;
use twinsplit_io::error::{Error, Result};

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

/// The values of a column that are not written yet, and of each row whether there is one, where there may be none.
struct Values {
    are_there: Option<Vec<i16>>,
    values: Typed,
}

enum Typed {
    Texts(Vec<ByteArray>),
    Whole(Vec<i64>),
    Shares(Vec<f64>),
    Are(Vec<bool>),
}

impl Values {
    fn of(column: &Column) -> Self {
        let values = match column.kind {
            Kind::Id | Kind::Word => Typed::Texts(Vec::new()),
            Kind::Whole => Typed::Whole(Vec::new()),
            Kind::Share => Typed::Shares(Vec::new()),
            Kind::Keep => Typed::Are(Vec::new()),
        };
        Self { are_there: column.may_miss.then(Vec::new), values }
    }

    /// Takes the cell of a row, which is of the kind of its column.
    fn push(&mut self, cell: &Cell<'_>) {
        if let Some(levels) = &mut self.are_there {
            levels.push(i16::from(*cell != Cell::Missing));
        }
        match (&mut self.values, cell) {
            (Typed::Texts(texts), Cell::Text(text)) => texts.push(text.as_bytes().to_vec().into()),
            (Typed::Whole(numbers), Cell::Whole(number)) => numbers.push(*number),
            // A share is a decimal by then.
            (Typed::Shares(shares), Cell::Share(share)) => shares.push(share.parse().unwrap_or(f64::NAN)),
            (Typed::Are(all), Cell::Is(is)) => all.push(*is),
            _ => {}
        }
    }

    fn clear(&mut self) {
        self.are_there.iter_mut().for_each(Vec::clear);
        match &mut self.values {
            Typed::Texts(texts) => texts.clear(),
            Typed::Whole(numbers) => numbers.clear(),
            Typed::Shares(shares) => shares.clear(),
            Typed::Are(all) => all.clear(),
        }
    }
}

/// The schema of a table, in the language of the format.
fn schema(name: &str, columns: &[Column]) -> String {
    let field = |column: &Column| {
        let (kind, note) = match column.kind {
            Kind::Id | Kind::Word => ("binary", " (STRING)"),
            Kind::Whole => ("int64", ""),
            Kind::Share => ("double", ""),
            Kind::Keep => ("boolean", ""),
        };
        let may_miss = if column.may_miss { "optional" } else { "required" };
        format!("{may_miss} {kind} {}{note};", column.name)
    };
    format!("message {name} {{ {} }}", columns.iter().map(field).collect::<Vec<_>>().join(" "))
}

impl Parquet {
    /// Starts a file.
    pub fn create(path: &Path, name: &str, columns: &[Column]) -> Result<Self> {
        let file = AtomicFile::create(path)?;
        let properties =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let writer = parse_message_type(&schema(name, columns))
            .and_then(|schema| SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)));
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
            let levels = column.are_there.as_deref();
            match &column.values {
                Typed::Texts(texts) => writer.typed::<ByteArrayType>().write_batch(texts, levels, None)?,
                Typed::Whole(numbers) => writer.typed::<Int64Type>().write_batch(numbers, levels, None)?,
                Typed::Shares(shares) => writer.typed::<DoubleType>().write_batch(shares, levels, None)?,
                Typed::Are(all) => writer.typed::<BoolType>().write_batch(all, levels, None)?,
            };
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
