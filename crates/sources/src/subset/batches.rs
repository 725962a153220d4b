//! Rows of Arrow, batch by batch: schema, dictionaries, compression, and what the file says of itself stay.
//!
//! Of each batch the source says which rows are written, a bit each. Columns that are added stand behind all others.

use super::Takes;
use super::added::refuse_taken;
use crate::Source;
use crate::arrow::Batches;
use crate::cells::{Array, Column, arrow_field};
use crate::guard::guarded;
use crate::input::Input;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{MaxLine, PackedFile};

/// Writes the file of a source without the rows that `takes` does not take, and with more columns.
pub fn write(
    source: &mut dyn Source,
    input: Input,
    bound: MaxLine,
    to: &Path,
    columns: &[Column],
    takes: &mut Takes<'_>,
) -> Result<()> {
    let (path, packing) = (input.path.clone(), input.opened.packing);
    let mut batches = Batches::open(input, bound)?;
    let fields = batches.schema().fields();
    refuse_taken(&path, columns, fields.iter().map(|field| field.name().as_str()))?;
    let fields: Vec<_> =
        fields.iter().cloned().chain(columns.iter().map(arrow_field).map(Arc::new)).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, batches.schema().metadata().clone()));
    let mut out = Writer {
        out: None,
        file: Some(PackedFile::create(to, packing)?),
        schema: Arc::clone(&schema),
        path: path.clone(),
    };
    let mut arrays: Vec<_> = columns.iter().map(Array::of).collect();
    let mut cells = Vec::new();
    while let Some(batch) = batches.next_batch()? {
        let mut written = Vec::with_capacity(batch.num_rows());
        while written.len() < batch.num_rows() {
            // What ends before its rows do is an error of the source.
            let Some(found) = source.next_document()? else { break };
            cells.clear();
            let is_written = takes(&found, &mut cells)?;
            if is_written {
                arrays.iter_mut().zip(&cells).for_each(|(array, cell)| array.push(cell));
            }
            written.push(is_written);
        }
        if batch.num_rows() > 0 && !written.contains(&true) {
            continue;
        }
        let added = arrays.iter_mut().map(Array::take);
        let rows = guarded(|| {
            let kept = match written.contains(&false) {
                true => filter_record_batch(&batch, &BooleanArray::from(written))?,
                false => batch.clone(),
            };
            let all = kept.columns().iter().cloned().chain(added).collect();
            match schema.fields().is_empty() {
                true => Ok(kept),
                false => RecordBatch::try_new(Arc::clone(&schema), all),
            }
        });
        let rows = rows.map_err(|error| out.failed(&error))?;
        out.begin(&batches)?;
        out.write(&rows)?;
    }
    out.begin(&batches)?;
    out.finish(&batches)
}

/// The file that is written; it begins when the first batch is read, which says how it is compressed.
struct Writer {
    out: Option<Form>,
    file: Option<PackedFile>,
    schema: SchemaRef,
    path: PathBuf,
}

enum Form {
    File(Box<FileWriter<Bytes>>),
    Stream(Box<StreamWriter<Bytes>>),
}

impl Form {
    fn bytes(&mut self) -> &mut Bytes {
        match self {
            Self::File(writer) => writer.get_mut(),
            Self::Stream(writer) => writer.get_mut(),
        }
    }
}

impl Writer {
    fn begin(&mut self, batches: &Batches) -> Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let begin = || {
            let mut options = IpcWriteOptions::default().try_with_compression(batches.compression())?;
            let bytes = Bytes { file, error: None };
            Ok::<_, ArrowError>(if batches.is_file() {
                // A dictionary of a file may only grow.
                options = options.with_dictionary_handling(DictionaryHandling::Delta);
                Form::File(Box::new(FileWriter::try_new_with_options(bytes, &self.schema, options)?))
            } else {
                Form::Stream(Box::new(StreamWriter::try_new_with_options(bytes, &self.schema, options)?))
            })
        };
        self.out = Some(guarded(begin).map_err(|error| self.failed(&error))?);
        Ok(())
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let write = |out: &mut Option<Form>| match out {
            Some(Form::File(writer)) => guarded(|| writer.write(rows)),
            Some(Form::Stream(writer)) => guarded(|| writer.write(rows)),
            None => Ok(()),
        };
        let written = write(&mut self.out);
        written.map_err(|error| self.failed(&error))
    }

    fn finish(mut self, batches: &Batches) -> Result<()> {
        let finished = match &mut self.out {
            Some(Form::File(writer)) => {
                batches.notes().iter().for_each(|(key, value)| writer.write_metadata(key, value));
                guarded(|| writer.finish())
            }
            Some(Form::Stream(writer)) => guarded(|| writer.finish()),
            None => Ok(()),
        };
        finished.map_err(|error| self.failed(&error))?;
        let failed = |error: ArrowError| Error::File { path: self.path.clone(), problem: error.to_string() };
        match self.out {
            Some(Form::File(writer)) => writer.into_inner().map_err(failed)?.file.finish(),
            Some(Form::Stream(writer)) => writer.into_inner().map_err(failed)?.file.finish(),
            None => Ok(()),
        }
    }

    /// The error of writing bytes where there was one, and else one about the file.
    fn failed(&mut self, error: &ArrowError) -> Error {
        let of_bytes = self.out.as_mut().and_then(|out| out.bytes().error.take());
        of_bytes.unwrap_or_else(|| Error::File {
            path: self.path.clone(),
            problem: format!("cannot be written again: {error}"),
        })
    }
}

/// A file, with what went wrong.
struct Bytes {
    file: PackedFile,
    error: Option<Error>,
}

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.bytes(bytes).map_err(|error| {
            let text = error.to_string();
            self.error = Some(error);
            io::Error::other(text)
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
