//! The messages of an Arrow file or stream.
//!
//! A stream is messages: a schema, then dictionaries and batches of rows. A message is the length of its metadata, the metadata (a flat
//! buffer), and a body of as many bytes as these say, in which each column has its buffers. A file is a stream between two marks, with a
//! footer behind it, which has the schema again and says where each message is. A file on disk is read by its footer: dictionaries may stand
//! behind the batches that use them, and polars writes no length before the schema. What is packed, comes from a stream or lacks its
//! end is read from front to back, as far as it goes.

use crate::guard::guarded;
use crate::input::Input;
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{Block, Endianness, Footer, Message, MetadataVersion};
use arrow_schema::{Schema, SchemaRef};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_io::error::{Error, Result};

/// What a file begins and ends with.
const MAGIC: &[u8] = b"ARROW1";

/// What stands before the length of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The longest metadata of a message, and the longest footer.
const MOST_METADATA: u64 = 256 << 20;

/// The messages of one file behind its schema.
pub struct Messages {
    reader: Box<dyn Read + Send>,
    path: PathBuf,
    way: Way,
    /// Where the message begins that is being read.
    start: u64,
    /// Whether it is a file, with a footer.
    pub is_file: bool,
    /// How many batches and rows have been read.
    pub count: u64,
    /// See `count`.
    pub rows: u64,
    /// The most bytes of a batch.
    pub most: u64,
    /// What the footer says beside all columns; nothing before the end of what is read from its front.
    pub notes: HashMap<String, String>,
}

/// In which order messages are read.
enum Way {
    /// By the footer.
    Blocks { file: File, left: VecDeque<Block>, length: u64, read: Arc<AtomicU64> },
    /// From front to back.
    Front {
        at: u64,
        /// Whether the schema has been read.
        has_schema: bool,
        /// Whether messages have the mark before their lengths, which the first versions had not.
        has_marks: bool,
        is_at_end: bool,
    },
}

/// A message: its metadata, and its body.
pub struct Parts {
    /// A flat buffer.
    pub metadata: Vec<u8>,
    /// The buffers of the columns.
    pub body: Buffer,
}

impl Messages {
    /// Opens a file whose batches have at most so many bytes, and reads its schema and the version of its metadata.
    pub fn open(input: Input, most: u64) -> Result<(Self, SchemaRef, MetadataVersion)> {
        let (is_file, is_packed) = (input.head.starts_with(MAGIC), input.opened.packing.is_some());
        let mut messages = Self {
            reader: Box::new(input.opened.reader),
            way: Way::Front { at: 0, has_schema: false, has_marks: false, is_at_end: false },
            start: 0,
            is_file,
            count: 0,
            rows: 0,
            most,
            notes: HashMap::new(),
            path: input.path,
        };
        if is_file && !is_packed && messages.path != Path::new("-") {
            let footer = footer_of(&messages.path).map_err(Error::io("read", &messages.path))?;
            if let Some((file, length, footer)) = footer {
                return messages.by_footer(file, length, &footer, input.read);
            }
        }
        if is_file {
            messages.exactly(8)?;
        }
        let Some(parts) = messages.next_message()? else {
            return Err(messages.broken("ends before its schema; it is cut off, or no Arrow"));
        };
        let message = messages.parse(&parts.metadata)?;
        let Some(schema) = message.header_as_schema() else {
            return Err(messages.broken("does not begin with a schema; it is damaged, or no Arrow"));
        };
        let schema = messages.schema(schema)?;
        Ok((messages, schema, message.version()))
    }

    /// The messages that a footer lists, dictionaries first.
    fn by_footer(
        mut self,
        file: File,
        length: u64,
        footer: &[u8],
        read: Arc<AtomicU64>,
    ) -> Result<(Self, SchemaRef, MetadataVersion)> {
        let footer = self.parse_footer(footer)?;
        let Some(schema) = footer.schema() else {
            return Err(self.broken("has a footer without a schema; it is damaged"));
        };
        let (schema, version) = (self.schema(schema)?, footer.version());
        let blocks = [footer.dictionaries(), footer.recordBatches()].into_iter().flatten();
        let left = blocks.flat_map(|blocks| blocks.iter().copied().collect::<Vec<_>>()).collect();
        self.way = Way::Blocks { file, left, length, read };
        Ok((self, schema, version))
    }

    fn schema(&self, schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef> {
        if schema.endianness() == Endianness::Big {
            return Err(self.broken(
                "has numbers in big endian, which are not read; write it on a machine with little endian, as almost all are",
            ));
        }
        let read: Result<Schema, _> = guarded(|| try_fb_to_schema(schema));
        read.map(Arc::new).map_err(|error| self.broken(&format!("has a bad schema: {error}")))
    }

    /// An error about the file at the message that is being read.
    pub fn broken(&self, problem: &str) -> Error {
        let (batch, start) = (self.count + 1, self.start);
        let problem = format!(
            "at batch {batch}, behind row {} and at byte {start} (uncompressed), it {problem}",
            self.rows
        );
        Error::File { path: self.path.clone(), problem }
    }

    fn cut(&self) -> Error {
        self.broken("ends; the file is cut off")
    }

    /// The error about a batch of so many bytes.
    pub fn too_large(&self, bytes: u64) -> Error {
        let most = self.most >> 20;
        Error::Limit(format!(
            "{}: batch {} has {bytes} bytes, and a batch is held in memory as a whole, of at most {most} MB; write it in smaller batches, or let \
             it in with --max-line",
            twinsplit_io::name_of(&self.path),
            self.count + 1
        ))
    }

    /// The metadata of a message.
    pub fn parse<'m>(&self, metadata: &'m [u8]) -> Result<Message<'m>> {
        arrow_ipc::root_as_message(metadata)
            .map_err(|_| self.broken("has metadata that are damaged, or is no Arrow"))
    }

    /// The next message; nothing at the end, which in a file is behind its footer.
    pub fn next_message(&mut self) -> Result<Option<Parts>> {
        match &mut self.way {
            Way::Blocks { left, .. } => left.pop_front().map(|block| self.block(&block)).transpose(),
            Way::Front { is_at_end: true, .. } => Ok(None),
            Way::Front { .. } => {
                let Some(length) = self.length()? else {
                    self.end();
                    return Ok(None);
                };
                let metadata = self.exactly(length)?;
                let body = self.body(&metadata)?;
                Ok(Some(Parts { metadata, body }))
            }
        }
    }

    fn end(&mut self) {
        if let Way::Front { is_at_end, .. } = &mut self.way {
            *is_at_end = true;
        }
    }

    /// Reads a message that the footer lists.
    fn block(&mut self, block: &Block) -> Result<Parts> {
        let whole = |number: i64| u64::try_from(number).unwrap_or(u64::MAX);
        let (start, metadata) = (whole(block.offset()), whole(block.metaDataLength().into()));
        let end = start.saturating_add(metadata).saturating_add(whole(block.bodyLength()));
        self.start = start;
        let Way::Blocks { file, length, read, .. } = &mut self.way else { return Err(self.cut()) };
        if end > *length || metadata > MOST_METADATA {
            return Err(self.broken("has a footer that lists what is not in the file; it is damaged"));
        }
        file.seek(SeekFrom::Start(start)).map_err(Error::io("read", &self.path))?;
        read.store(end, Ordering::Relaxed);
        let mut metadata = self.exactly(metadata as usize)?;
        let before = if metadata.starts_with(&CONTINUATION) { 8 } else { 4 };
        metadata.drain(..before.min(metadata.len()));
        let body = self.body(&metadata)?;
        Ok(Parts { metadata, body })
    }

    /// Reads the body of a message.
    fn body(&mut self, metadata: &[u8]) -> Result<Buffer> {
        let length = self.parse(metadata)?.bodyLength();
        let length =
            u64::try_from(length).map_err(|_| self.broken("has a negative length; it is damaged"))?;
        if length > self.most {
            return Err(self.too_large(length));
        }
        let length = usize::try_from(length).map_err(|_| self.too_large(length))?;
        let mut body = MutableBuffer::try_from_len_zeroed(length)
            .map_err(|_| self.broken("needs more memory than there is; write it in smaller batches"))?;
        if self.fill(body.as_slice_mut())? < length {
            return Err(self.cut());
        }
        Ok(body.into())
    }

    /// Reads so many bytes.
    fn exactly(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        match self.fill(&mut bytes)? {
            read if read == count => Ok(bytes),
            _ => Err(self.cut()),
        }
    }

    /// Reads as many bytes as there are, and gives how many.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            let rest = &mut bytes[filled..];
            let read = match &mut self.way {
                Way::Blocks { file, .. } => file.read(rest),
                Way::Front { .. } => self.reader.read(rest),
            };
            match read {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("read", &self.path)(error)),
            }
        }
        if let Way::Front { at, .. } = &mut self.way {
            *at += filled as u64;
        }
        Ok(filled)
    }

    /// Reads the length of the next message; nothing at the end.
    fn length(&mut self) -> Result<Option<usize>> {
        let Way::Front { at, has_schema, mut has_marks, .. } = self.way else { return Ok(None) };
        self.start = at;
        let mut word = [0; 4];
        loop {
            match self.fill(&mut word)? {
                4 => {}
                // A stream may end without a mark.
                0 if !self.is_file => return Ok(None),
                _ => return Err(self.cut()),
            }
            // Zeros before the schema are padding, of which some writers make more than the specification.
            if has_schema || !self.is_file || word != [0; 4] {
                break;
            }
        }
        if word == CONTINUATION {
            has_marks = true;
            if self.fill(&mut word)? < 4 {
                return Err(self.cut());
            }
        } else if has_marks && self.is_file {
            // The mark of the end is missing, as it may be: this is the footer.
            return self.footer(&word);
        }
        if let Way::Front { has_schema: schema, has_marks: marks, .. } = &mut self.way {
            *marks = has_marks;
            *schema = true;
        }
        match usize::try_from(i32::from_le_bytes(word)) {
            Ok(0) if self.is_file => self.footer(&[]),
            Ok(0) => Ok(None),
            Ok(4) if self.is_file && at == 8 => Err(self.broken(
                "has no length before its schema, as files of polars; such a file is read from its end: name the file itself, not packed",
            )),
            Ok(length) if length as u64 <= MOST_METADATA => Ok(Some(length)),
            _ => Err(self.broken("says a length that no message has; it is damaged, or no Arrow")),
        }
    }

    /// Reads the end of a file behind its last batch, of which `start` has been read.
    fn footer(&mut self, start: &[u8]) -> Result<Option<usize>> {
        let mut rest = start.to_vec();
        let reader = &mut self.reader;
        reader.take(MOST_METADATA).read_to_end(&mut rest).map_err(Error::io("read", &self.path))?;
        let Some(length) = rest.len().checked_sub(TAIL) else { return Err(self.cut()) };
        let Some(footer) = length_of_footer(&rest[length..]) else { return Err(self.cut()) };
        let footer = usize::try_from(footer).ok().and_then(|footer| length.checked_sub(footer));
        let Some(start) = footer else { return Err(self.broken("has a footer that is damaged")) };
        let footer = self.parse_footer(&rest[start..length])?;
        let listed = footer.recordBatches().map_or(0, |batches| batches.len() as u64);
        match listed == self.count {
            true => Ok(None),
            false => Err(self.broken(&format!(
                "ends, and its footer lists {listed} batches where {} were found: it is damaged",
                self.count
            ))),
        }
    }

    /// A footer, whose notes are taken.
    fn parse_footer<'f>(&mut self, footer: &'f [u8]) -> Result<Footer<'f>> {
        let footer =
            arrow_ipc::root_as_footer(footer).map_err(|_| self.broken("has a footer that is damaged"))?;
        for note in footer.custom_metadata().into_iter().flatten() {
            if let (Some(key), Some(value)) = (note.key(), note.value()) {
                self.notes.insert(key.to_owned(), value.to_owned());
            }
        }
        Ok(footer)
    }
}

/// How many bytes a file has behind its footer: the length of that, and the mark.
const TAIL: usize = 10;

fn length_of_footer(tail: &[u8]) -> Option<u64> {
    let length = tail.strip_suffix(MAGIC)?.first_chunk()?;
    i32::from_le_bytes(*length).try_into().ok()
}

/// A file, its length, and its footer; nothing where it does not end with one.
fn footer_of(path: &Path) -> std::io::Result<Option<(File, u64, Vec<u8>)>> {
    // A pipe that has a name is opened once.
    if !std::fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let Some(end) = length.checked_sub(TAIL as u64) else { return Ok(None) };
    let mut tail = [0; TAIL];
    file.seek(SeekFrom::Start(end))?;
    file.read_exact(&mut tail)?;
    let footer = length_of_footer(&tail).filter(|footer| *footer <= MOST_METADATA);
    let Some((start, footer)) = footer.and_then(|footer| Some((end.checked_sub(footer)?, footer))) else {
        return Ok(None);
    };
    let mut bytes = vec![0; footer as usize];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut bytes)?;
    Ok(Some((file, length, bytes)))
}
