//! Arrow: a row of a file or stream of Arrow's IPC format a document. Feather of version 2 is such a file.
//!
//! A row becomes a JSON object of its columns, in the forms that cells of Parquet have. A batch of rows is in memory as a whole
//! ([`batches`]), with one row of it as JSON. Where the columns are named that are needed, the others are not decoded.

mod batches;
mod cell;
mod messages;

pub use batches::Batches;

use crate::guard::guarded;
use crate::input::Input;
use crate::{Format, Found, Source, SourceOpts, found_row, refuse};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use cell::Cell;
use serde::ser::{SerializeMap as _, Serializer as _};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_io::{Kind, MaxLine};
use twinsplit_rows::record::document::DocumentOpts;

/// The rows of one file.
pub struct Arrow {
    batches: Batches,
    batch: Option<RecordBatch>,
    /// How many of its rows have been given.
    given: usize,
    path: PathBuf,
    read: Arc<AtomicU64>,
    opts: DocumentOpts,
    bound: MaxLine,
    /// Its line and offset are the number of the row, from 1 and from 0.
    place: Place,
    json: Vec<u8>,
}

impl Arrow {
    /// Opens a file.
    pub fn open(opts: &SourceOpts, input: Input) -> Result<Self> {
        let is_other = opts.encoding.is_some_and(|encoding| !encoding.is_utf_8());
        refuse(&[("--encoding", is_other)], "the texts of Arrow are UTF-8")?;
        input.refuse_other_kinds("Arrow", "documents.jsonl", |head| {
            Kind::of(head).and_then(Kind::format) == Some(Format::Arrow.name())
        })?;
        let (place, path, read) = (input.place(), input.path.clone(), Arc::clone(&input.read));
        let mut batches = Batches::open(input, opts.max_line)?;
        let mut names = BTreeSet::new();
        let fields = batches.schema().fields();
        if let Some(twice) = fields.iter().map(|field| field.name()).find(|name| !names.insert(*name)) {
            let problem = format!("two of its columns are called {twice:?}; give one of them another name");
            return Err(Error::File { path, problem });
        }
        let mut columns = opts.columns_needed(fields.iter().map(|field| field.name().as_str()));
        // By the order of their names, as those of Parquet are.
        columns.sort_unstable_by_key(|at| fields[*at].name());
        batches.choose(columns);
        Ok(Self {
            batches,
            batch: None,
            given: 0,
            path,
            read,
            opts: opts.document()?,
            bound: opts.max_line,
            place,
            json: Vec::new(),
        })
    }

    /// Goes on to the next row; false at the end.
    fn next_row(&mut self) -> Result<bool> {
        loop {
            match &self.batch {
                Some(batch) if self.given < batch.num_rows() => {
                    self.given += 1;
                    return Ok(true);
                }
                _ => {
                    self.batch = None;
                    self.batch = self.batches.next_batch()?;
                    self.given = 0;
                    if self.batch.is_none() {
                        return Ok(false);
                    }
                }
            }
        }
    }
}

/// Writes a row as a JSON object.
fn write(batch: &RecordBatch, row: usize, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let mut writer = serde_json::Serializer::new(out);
    let mut object = writer.serialize_map(Some(batch.num_columns()))?;
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        object.serialize_entry(field.name(), &Cell { column: &**column, row })?;
    }
    object.end()
}

impl Source for Arrow {
    fn next_document(&mut self) -> Result<Option<Found<'_>>> {
        self.place.offset = self.place.line;
        if !self.next_row()? {
            return Ok(None);
        }
        self.place.line += 1;
        let Some(batch) = &self.batch else { return Ok(None) };
        let (json, row) = (&mut self.json, self.given - 1);
        json.clear();
        guarded(|| write(batch, row, json).map_err(|error| ArrowError::ExternalError(error.into())))
            .map_err(|error| {
                let problem = format!("row {}: {error}", self.place.line);
                Error::File { path: self.path.clone(), problem }
            })?;
        found_row(&self.opts, &self.place, &self.json, self.bound)
    }

    fn raw_bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}
