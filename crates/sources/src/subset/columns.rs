//! Rows of Parquet, column by column: schema, groups of rows, codecs, and what the file says of itself stay.
//!
//! Of each group of rows the source says which are written, a bit each. Of each column the values of those rows are read and written with
//! the levels that say where lists and missing values are, so nothing is interpreted. Columns that are added stand behind all others; their
//! values are held for a group.

use super::Takes;
use super::added::refuse_taken;
use super::arrow_schema;
use crate::Source;
use crate::cells::{Column, Values, field};
use crate::guard::guarded;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use twinsplit_io::AtomicFile;
use twinsplit_io::error::{Error, Result};

/// Bytes of values that are held at a time, where values are about as long as those of their column are on average.
const BATCH: u64 = 4 << 20;

/// The most rows that are held at a time.
const MOST_ROWS: u64 = 8192;

/// Which rows of a group are written, and what they get.
struct Rows {
    bits: Vec<u64>,
    count: u64,
    are_any: bool,
    added: Vec<Values>,
}

impl Rows {
    /// Asks for each row of a group of so many.
    fn of(source: &mut dyn Source, count: u64, columns: &[Column], takes: &mut Takes<'_>) -> Result<Self> {
        let added = columns.iter().map(Values::of).collect();
        let mut rows = Self { bits: Vec::new(), count: 0, are_any: false, added };
        let mut cells = Vec::new();
        while rows.count < count {
            // What ends before its rows do is an error of the source.
            let Some(found) = source.next_document()? else { break };
            cells.clear();
            let is_written = takes(&found, &mut cells)?;
            if is_written {
                rows.added.iter_mut().zip(&cells).for_each(|(column, cell)| column.push(cell));
            }
            rows.push(is_written);
        }
        Ok(rows)
    }

    fn push(&mut self, is_written: bool) {
        if self.count.is_multiple_of(64) {
            self.bits.push(0);
        }
        if let Some(last) = self.bits.last_mut() {
            *last |= u64::from(is_written) << (self.count % 64);
        }
        self.count += 1;
        self.are_any |= is_written;
    }

    fn is_written(&self, row: u64) -> bool {
        self.bits.get((row / 64) as usize).is_some_and(|bits| bits >> (row % 64) & 1 == 1)
    }

    /// How many rows from this one on are treated as it is, and whether they are written.
    fn run(&self, row: u64) -> (u64, bool) {
        let is_written = self.is_written(row);
        let next = (row..self.count).find(|next| self.is_written(*next) != is_written);
        (next.unwrap_or(self.count) - row, is_written)
    }
}

/// Writes the file of a source without the rows that `takes` does not take, and with more columns.
pub fn write(
    source: &mut dyn Source,
    path: &Path,
    to: &Path,
    columns: &[Column],
    takes: &mut Takes<'_>,
) -> Result<()> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    let mut out = AtomicFile::create(to)?;
    let failed = |error| match error {
        ParquetError::External(error) if error.is::<std::io::Error>() => {
            let kind =
                error.downcast::<std::io::Error>().map_or(std::io::ErrorKind::Other.into(), |error| *error);
            Error::io("write", to)(kind)
        }
        error => Error::File { path: path.to_owned(), problem: format!("cannot be written again: {error}") },
    };
    let reader = guarded(|| SerializedFileReader::new(file)).map_err(failed)?;
    let metadata = reader.metadata();
    let root = metadata.file_metadata().schema_descr().root_schema_ptr();
    refuse_taken(path, columns, root.get_fields().iter().map(|field| field.name()))?;
    let start = || {
        let properties = Arc::new(properties(metadata, columns));
        SerializedFileWriter::new(&mut out, with_columns(root, columns)?, properties)
    };
    let mut writer = guarded(start).map_err(failed)?;
    for (at, group) in metadata.row_groups().iter().enumerate() {
        let count = u64::try_from(group.num_rows()).unwrap_or(0);
        let rows = Rows::of(source, count, columns, takes)?;
        if rows.are_any {
            guarded(|| copy_group(&reader, at, group, &rows, &mut writer)).map_err(failed)?;
        }
    }
    guarded(|| writer.close().map(drop)).map_err(failed)?;
    out.finish()
}

/// Writes the rows of a group.
fn copy_group(
    reader: &SerializedFileReader<File>,
    at: usize,
    group: &RowGroupMetaData,
    rows: &Rows,
    to: &mut SerializedFileWriter<&mut AtomicFile>,
) -> Result<(), ParquetError> {
    let from = reader.get_row_group(at)?;
    let mut to = to.next_row_group()?;
    let mut column = 0_usize;
    while let Some(mut writer) = to.next_column()? {
        match column.checked_sub(group.num_columns()).and_then(|added| rows.added.get(added)) {
            Some(added) => added.write(&mut writer)?,
            None => {
                let most = batch(group, column);
                copy_column(from.get_column_reader(column)?, &mut writer, rows, most)?;
            }
        }
        writer.close()?;
        column += 1;
    }
    to.close().map(drop)
}

/// A schema with columns behind its own.
fn with_columns(root: TypePtr, columns: &[Column]) -> Result<TypePtr, ParquetError> {
    if columns.is_empty() {
        return Ok(root);
    }
    let mut fields = root.get_fields().to_vec();
    for column in columns {
        fields.push(field(column)?);
    }
    Ok(Arc::new(Type::group_type_builder(root.name()).with_fields(fields).build()?))
}

/// How the file is written: as it was, as far as that can be told.
fn properties(metadata: &ParquetMetaData, columns: &[Column]) -> WriterProperties {
    let file = metadata.file_metadata();
    let count = file.schema_descr().root_schema().get_fields().len();
    let with_more = |note: &KeyValue| match (&note.value, note.key == arrow_schema::KEY) {
        (Some(schema), true) if !columns.is_empty() => {
            let schema = arrow_schema::with_columns(schema, count, columns)?;
            Some(KeyValue::new(note.key.clone(), schema))
        }
        _ => Some(note.clone()),
    };
    let notes = file.key_value_metadata().map(|notes| notes.iter().filter_map(with_more).collect());
    let mut properties = WriterProperties::builder().set_key_value_metadata(notes);
    if let Some(group) = metadata.row_groups().first() {
        properties = properties.set_sorting_columns(group.sorting_columns().cloned());
        for column in group.columns() {
            let (path, codec) = (column.column_path().clone(), column.compression());
            properties = properties.set_column_compression(path, codec);
        }
        // What is added is packed like the first one.
        if let Some(first) = group.columns().first() {
            properties = properties.set_compression(first.compression());
        }
    }
    properties.build()
}

/// How many rows of a column are held at a time.
fn batch(group: &RowGroupMetaData, column: usize) -> usize {
    let bytes = u64::try_from(group.column(column).uncompressed_size()).unwrap_or(0);
    let each = bytes / u64::try_from(group.num_rows()).unwrap_or(0).max(1);
    (BATCH / each.max(1)).clamp(1, MOST_ROWS) as usize
}

fn copy_column(
    from: ColumnReader,
    to: &mut SerializedColumnWriter<'_>,
    rows: &Rows,
    most: usize,
) -> Result<(), ParquetError> {
    match from {
        ColumnReader::BoolColumnReader(from) => copy_values(from, to.typed(), rows, most),
        ColumnReader::Int32ColumnReader(from) => copy_values(from, to.typed(), rows, most),
        ColumnReader::Int64ColumnReader(from) => copy_values(from, to.typed(), rows, most),
        ColumnReader::Int96ColumnReader(from) => copy_values(from, to.typed(), rows, most),
        ColumnReader::FloatColumnReader(from) => copy_values(from, to.typed(), rows, most),
        ColumnReader::DoubleColumnReader(from) => copy_values(from, to.typed(), rows, most),
        ColumnReader::ByteArrayColumnReader(from) => copy_values(from, to.typed(), rows, most),
        ColumnReader::FixedLenByteArrayColumnReader(from) => copy_values(from, to.typed(), rows, most),
    }
}

fn copy_values<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    rows: &Rows,
    most: usize,
) -> Result<(), ParquetError> {
    let (mut values, mut missing, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    let (has_missing, has_repeated) =
        (to.get_descriptor().max_def_level() > 0, to.get_descriptor().max_rep_level() > 0);
    let mut row = 0;
    while row < rows.count {
        let (run, is_written) = rows.run(row);
        let wanted = run.min(most as u64) as usize;
        let read = if is_written {
            values.clear();
            missing.clear();
            repeated.clear();
            let (read, _, _) =
                from.read_records(wanted, Some(&mut missing), Some(&mut repeated), &mut values)?;
            let levels = |levels, are_there: bool| are_there.then_some(levels);
            to.write_batch(
                &values,
                levels(missing.as_slice(), has_missing),
                levels(repeated.as_slice(), has_repeated),
            )?;
            read
        } else {
            from.skip_records(run as usize)?
        };
        if read == 0 {
            return Err(ParquetError::General(format!("a column ends at row {} of its group", row + 1)));
        }
        row += read as u64;
    }
    Ok(())
}
