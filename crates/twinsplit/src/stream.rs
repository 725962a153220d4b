//! Documents out of an iterator, as the blocks of lines that the engine reads.
//!
//! The iterator stays on the caller's thread, so it need not be `Send`; the engine works on another one and takes a block
//! when it has room for it. So a collection goes through that nowhere stands as a whole.

use super::document::Document;
use std::sync::mpsc::sync_channel;
use std::thread;
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_io::{Block, Blocks};

/// About so many bytes make a block.
const BLOCK: usize = 1 << 20;
/// Blocks that wait for the engine.
const WAITING: usize = 2;

/// Hands `documents` to `work` as blocks of JSON lines, up to the first error. Gives what `work` gives.
pub fn hand_over<T: Send>(
    documents: impl Iterator<Item = Result<Document>>,
    work: impl FnOnce(Blocks) -> Result<T> + Send,
) -> Result<T> {
    let (sender, receiver) = sync_channel(WAITING);
    thread::scope(|scope| {
        let engine = scope.spawn(move || work(Blocks::of(receiver.into_iter())));
        Lines::default().each_block(documents, |block| sender.send(block).is_ok());
        drop(sender);
        engine.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The block that is being made.
#[derive(Default)]
struct Lines {
    block: Block,
    /// Documents in all blocks.
    documents: u64,
}

impl Lines {
    /// Calls `take` with each block and with the first error, which is the last; or until it says that no more are wanted.
    fn each_block(
        mut self,
        documents: impl Iterator<Item = Result<Document>>,
        mut take: impl FnMut(Result<Block>) -> bool,
    ) {
        self.begin();
        for document in documents {
            if let Err(error) = document.and_then(|document| self.push(&document)) {
                take(Err(error));
                return;
            }
            if self.block.bytes.len() >= BLOCK && !take(Ok(self.begin())) {
                return;
            }
        }
        if self.block.lines > 0 {
            take(Ok(self.begin()));
        }
    }

    /// Adds the line of a document.
    fn push(&mut self, document: &Document) -> Result<()> {
        // What is written is memory, and strings are what JSON has.
        serde_json::to_writer(&mut self.block.bytes, document)
            .map_err(|error| Error::io("write", "documents")(error.into()))?;
        self.block.bytes.push(b'\n');
        self.block.lines += 1;
        self.documents += 1;
        Ok(())
    }

    /// Begins the next block, and gives the one before.
    fn begin(&mut self) -> Block {
        let place = Place { file: "documents".into(), line: self.documents + 1, ..Place::default() };
        let number = if self.documents == 0 { 0 } else { self.block.number + 1 };
        let next = Block { place, number, first: self.documents, ..Block::default() };
        std::mem::replace(&mut self.block, next)
    }
}
