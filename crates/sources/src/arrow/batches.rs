//! The batches of rows of an Arrow file or stream. A batch is in memory as a whole, and of its columns those that are chosen are decoded.

use super::messages::Messages;
use crate::guard::guarded;
use crate::input::Input;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{BodyCompression, CompressionType, MessageHeader, MetadataVersion};
use arrow_schema::{ArrowError, SchemaRef};
use std::collections::HashMap;
use std::sync::Arc;
use twinsplit_io::MaxLine;
use twinsplit_io::error::{Error, Result};

/// The largest batch, as it stands in the file and with its buffers unpacked, unless documents may be longer.
const MOST_BATCH: u64 = 2 << 30;

/// The batches of one file.
pub struct Batches {
    messages: Messages,
    schema: SchemaRef,
    version: MetadataVersion,
    projection: Option<Vec<usize>>,
    dictionaries: HashMap<i64, ArrayRef>,
    compression: Option<CompressionType>,
}

impl Batches {
    /// Opens a file, and reads its schema.
    pub fn open(input: Input, bound: MaxLine) -> Result<Self> {
        let (messages, schema, version) = Messages::open(input, MOST_BATCH.max(bound.bytes()))?;
        let (projection, dictionaries) = (None, HashMap::new());
        Ok(Self { messages, schema, version, projection, dictionaries, compression: None })
    }

    /// The columns of the file, whatever is read of them.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Reads these columns alone, in this order.
    pub fn choose(&mut self, columns: Vec<usize>) {
        self.projection = Some(columns);
    }

    /// Whether it is a file, and no stream.
    pub fn is_file(&self) -> bool {
        self.messages.is_file
    }

    /// How the batches that have been read were compressed.
    pub fn compression(&self) -> Option<CompressionType> {
        self.compression
    }

    /// What the footer says beside all columns; complete behind the last batch.
    pub fn notes(&self) -> &HashMap<String, String> {
        &self.messages.notes
    }

    /// The next batch; nothing at the end.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(parts) = self.messages.next_message()? {
            let message = self.messages.parse(&parts.metadata)?;
            if let Some(batch) = message.header_as_record_batch() {
                self.check(&parts.body, batch)?;
                let read = guarded(|| {
                    let (schema, columns) = (Arc::clone(&self.schema), self.projection.as_deref());
                    read_record_batch(&parts.body, batch, schema, &self.dictionaries, columns, &self.version)
                });
                let read = read.map_err(|error| self.damaged(&error))?;
                self.compression = batch.compression().as_ref().map(BodyCompression::codec);
                self.messages.count += 1;
                self.messages.rows += read.num_rows() as u64;
                return Ok(Some(read));
            } else if let Some(dictionary) = message.header_as_dictionary_batch() {
                if !self.is_chosen(dictionary.id()) {
                    continue;
                }
                match dictionary.data() {
                    Some(data) => self.check(&parts.body, data)?,
                    None => {
                        return Err(self.messages.broken("has a dictionary without values; it is damaged"));
                    }
                }
                let read = guarded(|| {
                    let (schema, version) = (Arc::clone(&self.schema), self.version);
                    read_dictionary(&parts.body, dictionary, &schema, &mut self.dictionaries, &version)
                });
                read.map_err(|error| self.damaged(&error))?;
            } else {
                let what = match message.header_type() {
                    MessageHeader::Tensor | MessageHeader::SparseTensor => {
                        "holds a tensor, which has no rows"
                    }
                    _ => "holds a message that is no batch of rows; it is damaged",
                };
                return Err(self.messages.broken(what));
            }
        }
        Ok(None)
    }

    /// Whether one of the columns that are read has this dictionary; one of no column is the library's to refuse.
    fn is_chosen(&self, id: i64) -> bool {
        let Some(chosen) = &self.projection else { return true };
        let Ok(schema) = self.schema.project(chosen) else { return true };
        #[expect(deprecated)]
        let (chosen, all) = (schema.fields_with_dict_id(id), self.schema.fields_with_dict_id(id));
        !chosen.is_empty() || all.is_empty()
    }

    fn damaged(&self, error: &ArrowError) -> Error {
        self.messages.broken(&format!("cannot be read: {error}"))
    }

    /// Refuses buffers that are not within the body, or that unpack to more than a batch may have.
    fn check(&self, body: &Buffer, batch: arrow_ipc::RecordBatch<'_>) -> Result<()> {
        let mut unpacked = 0_u64;
        for buffer in batch.buffers().into_iter().flatten() {
            let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
            let bytes = range.and_then(|(start, length)| body.get(start..start.checked_add(length)?));
            let Some(bytes) = bytes else {
                return Err(self.messages.broken("has a buffer that is not within its batch; it is damaged"));
            };
            let length = match (batch.compression(), bytes.first_chunk::<8>()) {
                (Some(_), Some(length)) => u64::try_from(i64::from_le_bytes(*length)).unwrap_or(0),
                _ => bytes.len() as u64,
            };
            unpacked = unpacked.saturating_add(length);
        }
        if unpacked > self.messages.most { Err(self.messages.too_large(unpacked)) } else { Ok(()) }
    }
}
