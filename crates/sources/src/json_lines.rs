//! JSON lines as a source: a line is a document, and stays as it is once it is UTF-8.

use super::input::Input;
use super::{Decoding, Encoding, Found, Source, SourceOpts};
use std::borrow::Cow;
use twinsplit_io::error::{Place, Result};
use twinsplit_io::{Block, Blocks, document_line};
use twinsplit_rows::record::document::DocumentOpts;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 20;

/// The lines of one file.
pub struct JsonLines {
    blocks: Blocks,
    block: Block,
    /// How much of the block has been given.
    at: usize,
    /// Where the line stands that was given last, and where the next one does.
    place: Place,
    next: Place,
    /// That line, where it had to be decoded.
    decoded: String,
    opts: DocumentOpts,
    encoding: Encoding,
}

impl JsonLines {
    /// Opens a file.
    pub fn open(opts: &SourceOpts, input: Input) -> Result<Self> {
        let Input { path, opened, read, .. } = input;
        Ok(Self {
            blocks: Blocks::of_opened(path, opened, read, BLOCK).of_documents(opts.max_line),
            block: Block::default(),
            at: 0,
            place: Place::default(),
            next: Place::default(),
            decoded: String::new(),
            opts: opts.document()?,
            encoding: opts.encoding.unwrap_or_default(),
        })
    }

    /// The next line that is not empty, as its part of the block.
    fn next_line(&mut self) -> Result<Option<std::ops::Range<usize>>> {
        loop {
            let rest = &self.block.bytes[self.at..];
            if rest.is_empty() {
                let Some(block) = self.blocks.next_block()? else { return Ok(None) };
                (self.at, self.next) = (0, block.place.clone());
                self.block = block;
                continue;
            }
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let (start, step) = (self.at, (length + 1).min(rest.len()));
            let marks = document_line(&rest[..length]).map(|line| length - line.len());
            self.place.clone_from(&self.next);
            self.at += step;
            self.next.line += 1;
            self.next.offset += step as u64;
            if let Some(marks) = marks {
                self.place.offset += marks as u64;
                return Ok(Some(start + marks..start + length));
            }
        }
    }
}

impl Source for JsonLines {
    fn next_document(&mut self) -> Result<Option<Found<'_>>> {
        let Some(range) = self.next_line()? else { return Ok(None) };
        let (raw, place) = (&self.block.bytes[range], &self.place);
        let line = self.encoding.decode(raw).map(|text| match text {
            Cow::Borrowed(text) => text.as_bytes(),
            Cow::Owned(text) => {
                self.decoded = text;
                self.decoded.as_bytes()
            }
        });
        let line = line.and_then(|line| self.opts.read(line, place).map(|_| line));
        Ok(Some(Found { place, raw, line, decoding: Decoding::default(), in_templates: false }))
    }

    fn raw_bytes(&self) -> u64 {
        self.blocks.raw_bytes()
    }
}
