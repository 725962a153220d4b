//! Parquet: a row a document.
//!
//! A row becomes a JSON object of all its columns. Numbers, booleans and texts are what they are; lists and structures become arrays and objects, so
//! that options name their parts by paths; dates, times and decimals become texts. The file is read by pages, with one row in memory as JSON.

use super::input::Input;
use super::{Found, Source, SourceOpts, found_row, not_written, refuse};
use crate::guard::guarded;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_io::MaxLine;
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_rows::record::document::DocumentOpts;

/// The rows of one file.
pub struct Parquet {
    rows: RowIter<'static>,
    path: PathBuf,
    /// The size of the file, and how many rows it has.
    bytes: u64,
    count: u64,
    opts: DocumentOpts,
    bound: MaxLine,
    /// Its line and offset are the number of the row, from 1 and from 0.
    place: Place,
    json: Vec<u8>,
}

/// The first bytes of a file, which are its last ones too.
pub const MAGIC: &[u8] = b"PAR1";

impl Parquet {
    /// Opens a file.
    pub fn open(opts: &SourceOpts, input: Input) -> Result<Self> {
        let is_other = opts.encoding.is_some_and(|encoding| !encoding.is_utf_8());
        refuse(&[("--encoding", is_other)], "the texts of Parquet are UTF-8")?;
        input.refuse_other_kinds("Parquet", "documents.jsonl", |head| {
            head.starts_with(MAGIC) && input.opened.packing.is_none()
        })?;
        let place = input.place();
        let path = input.path;
        let broken = |problem: String| Error::File { path: path.clone(), problem };
        if path == Path::new("-") {
            return Err(broken(
                "Parquet is read from its end, which a stream has not; name a file".to_owned(),
            ));
        }
        // What was read of it to tell its kind is read again.
        let file = File::open(&path).map_err(Error::io("open", &path))?;
        let bytes = file.metadata().map_err(Error::io("read", &path))?.len();
        let reader = guarded(|| SerializedFileReader::new(file))
            .map_err(|error| broken(format!("is no whole Parquet file (it may be truncated): {error}")))?;
        let metadata = reader.metadata().file_metadata();
        let count = metadata.num_rows().try_into().unwrap_or(0);
        let mut names = BTreeSet::new();
        let root = metadata.schema_descr().root_schema();
        let columns = root.get_fields().iter().map(|field| field.name());
        if let Some(twice) = columns.clone().find(|name| !names.insert(*name)) {
            return Err(broken(format!(
                "two of its columns are called {twice:?}; give one of them another name"
            )));
        }
        let needed = opts.columns_needed(columns);
        let fields = needed.into_iter().map(|at| Arc::clone(&root.get_fields()[at])).collect();
        let chosen = Type::group_type_builder(root.name()).with_fields(fields).build();
        let rows = guarded(|| RowIter::from_file_into(Box::new(reader)).project(Some(chosen?)));
        Ok(Self {
            rows: rows.map_err(|error| broken(error.to_string()))?,
            opts: opts.document()?,
            bound: opts.max_line,
            path,
            bytes,
            count,
            place,
            json: Vec::new(),
        })
    }
}

/// A row as a JSON object.
fn object(row: Row) -> Value {
    row.into_columns().into_iter().map(|(name, field)| (name, value(field))).collect::<Map<_, _>>().into()
}

/// A cell as JSON. Bytes that are a text are one: old files do not say which of theirs are.
fn value(field: Field) -> Value {
    match field {
        Field::Str(text) => text.into(),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(text) => text.into(),
            Err(_) => Field::Bytes(bytes).to_json_value(),
        },
        Field::TimestampMillis(_) | Field::TimestampMicros(_) => moment(&field.to_json_value()),
        Field::Group(row) => object(row),
        Field::ListInternal(list) => list.elements().iter().cloned().map(value).collect::<Vec<_>>().into(),
        other => other.to_json_value(),
    }
}

/// A time as `--date` reads it: the library puts a blank before the zone, which is always UTC.
fn moment(value: &Value) -> Value {
    let text = value.as_str().unwrap_or_default();
    text.strip_suffix(" +00:00").map_or_else(|| value.clone(), |time| format!("{time}Z").into())
}

impl Source for Parquet {
    fn next_document(&mut self) -> Result<Option<Found<'_>>> {
        self.place.offset = self.place.line;
        let rows = &mut self.rows;
        let row = guarded(|| rows.next().transpose()).map_err(|error| Error::File {
            path: self.path.clone(),
            problem: format!("row {}: {error}", self.place.line + 1),
        })?;
        let Some(row) = row else {
            // A file whose pages end before its rows do has lost some.
            return match self.place.line < self.count {
                true => Err(Error::File {
                    path: self.path.clone(),
                    problem: format!(
                        "has {} rows, and {} were found: it is damaged",
                        self.count, self.place.line
                    ),
                }),
                false => Ok(None),
            };
        };
        self.place.line += 1;
        self.json.clear();
        serde_json::to_writer(&mut self.json, &object(row)).map_err(not_written)?;
        found_row(&self.opts, &self.place, &self.json, self.bound)
    }

    fn raw_bytes(&self) -> u64 {
        // The file is not read from front to back.
        let share = u128::from(self.bytes) * u128::from(self.place.line) / u128::from(self.count.max(1));
        share as u64
    }
}
