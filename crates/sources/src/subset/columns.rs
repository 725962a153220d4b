//! Rows of Parquet, column by column: schema, groups of rows, codecs, and what the file says of itself stay.
//!
//! The source says which rows are written, a bit each. Of each group of rows and each column the values of those rows are read and written
//! with the levels that say where lists and missing values are, so nothing is interpreted.

use super::Takes;
use crate::Source;
use crate::parquet::guarded;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use twinsplit_io::AtomicFile;
use twinsplit_io::error::{Error, Result};

/// Bytes of values that are held at a time, where values are about as long as those of their column are on average.
const BATCH: u64 = 4 << 20;

/// The most rows that are held at a time.
const MOST_ROWS: u64 = 8192;

/// Which rows are written.
#[derive(Default)]
struct Rows {
    bits: Vec<u64>,
    count: u64,
}

impl Rows {
    fn push(&mut self, is_written: bool) {
        if self.count.is_multiple_of(64) {
            self.bits.push(0);
        }
        if let Some(last) = self.bits.last_mut() {
            *last |= u64::from(is_written) << (self.count % 64);
        }
        self.count += 1;
    }

    fn is_written(&self, row: u64) -> bool {
        self.bits.get((row / 64) as usize).is_some_and(|bits| bits >> (row % 64) & 1 == 1)
    }

    /// How many rows from `row` to `end` are treated as it is, and whether they are written.
    fn run(&self, row: u64, end: u64) -> (u64, bool) {
        let is_written = self.is_written(row);
        let next = (row..end).find(|next| self.is_written(*next) != is_written);
        (next.unwrap_or(end) - row, is_written)
    }
}

/// Writes the file of a source without the rows that `takes` does not take.
pub fn write(source: &mut dyn Source, path: &Path, to: &Path, takes: &mut Takes<'_>) -> Result<()> {
    let mut rows = Rows::default();
    while let Some(found) = source.next_document()? {
        rows.push(takes(&found)?);
    }
    let file = File::open(path).map_err(Error::io("open", path))?;
    let mut out = AtomicFile::create(to)?;
    guarded(|| copy(file, &rows, &mut out)).map_err(|error| match error {
        ParquetError::External(error) if error.is::<std::io::Error>() => {
            let kind =
                error.downcast::<std::io::Error>().map_or(std::io::ErrorKind::Other.into(), |error| *error);
            Error::io("write", to)(kind)
        }
        error => Error::File { path: path.to_owned(), problem: format!("cannot be written again: {error}") },
    })?;
    out.finish()
}

fn copy(file: File, rows: &Rows, out: &mut AtomicFile) -> Result<(), ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties(metadata)))?;
    let mut first = 0;
    for (at, group) in metadata.row_groups().iter().enumerate() {
        let of_group = first..first + u64::try_from(group.num_rows()).unwrap_or(0);
        first = of_group.end;
        if !of_group.clone().any(|row| rows.is_written(row)) {
            continue;
        }
        let from = reader.get_row_group(at)?;
        let mut to = writer.next_row_group()?;
        let mut column = 0;
        while let Some(mut writer) = to.next_column()? {
            let most = batch(group, column);
            copy_column(from.get_column_reader(column)?, &mut writer, rows, of_group.clone(), most)?;
            writer.close()?;
            column += 1;
        }
        to.close()?;
    }
    writer.close().map(drop)
}

/// How the file is written: as it was, as far as that can be told.
fn properties(metadata: &ParquetMetaData) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_key_value_metadata(metadata.file_metadata().key_value_metadata().cloned());
    if let Some(group) = metadata.row_groups().first() {
        properties = properties.set_sorting_columns(group.sorting_columns().cloned());
        for column in group.columns() {
            let (path, codec) = (column.column_path().clone(), column.compression());
            properties = properties.set_column_compression(path, codec);
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
    of_group: Range<u64>,
    most: usize,
) -> Result<(), ParquetError> {
    match from {
        ColumnReader::BoolColumnReader(from) => copy_values(from, to.typed(), rows, of_group, most),
        ColumnReader::Int32ColumnReader(from) => copy_values(from, to.typed(), rows, of_group, most),
        ColumnReader::Int64ColumnReader(from) => copy_values(from, to.typed(), rows, of_group, most),
        ColumnReader::Int96ColumnReader(from) => copy_values(from, to.typed(), rows, of_group, most),
        ColumnReader::FloatColumnReader(from) => copy_values(from, to.typed(), rows, of_group, most),
        ColumnReader::DoubleColumnReader(from) => copy_values(from, to.typed(), rows, of_group, most),
        ColumnReader::ByteArrayColumnReader(from) => copy_values(from, to.typed(), rows, of_group, most),
        ColumnReader::FixedLenByteArrayColumnReader(from) => {
            copy_values(from, to.typed(), rows, of_group, most)
        }
    }
}

fn copy_values<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    rows: &Rows,
    of_group: Range<u64>,
    most: usize,
) -> Result<(), ParquetError> {
    let (mut values, mut missing, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    let (has_missing, has_repeated) =
        (to.get_descriptor().max_def_level() > 0, to.get_descriptor().max_rep_level() > 0);
    let mut row = of_group.start;
    while row < of_group.end {
        let (run, is_written) = rows.run(row, of_group.end);
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
