//! A snapshot beside the work: some documents at a time are handed to a thread, which writes them.

use crate::disk::LogDisk;
use crate::engine::STEP;
use crate::info::Shared;
use crate::snapshot::{self, SnapshotWriter};
use crate::state::State;
use crate::threads::{self, Work};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Instant;
use twinsplit_io::error::Result;

/// A snapshot on its way.
pub(crate) struct Snapshotting {
    /// Until the last one is sent.
    chunks: Option<SyncSender<Chunk>>,
    /// What has no room there yet.
    next: Option<Chunk>,
    thread: Work,
}

enum Chunk {
    Documents(u64, Vec<u8>),
    End,
}

/// Chunks that may wait to be written.
const WAITING: usize = 8;

impl Snapshotting {
    /// Begins to write what [`Snapshotting::step`] hands over.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start<D: LogDisk>(writer: SnapshotWriter<D>, shared: &Arc<Shared>) -> Result<Self> {
        let (chunks, received) = sync_channel(WAITING);
        let shared = shared.clone();
        let thread = threads::start("snapshot", move || {
            let began = Instant::now();
            match write(writer, &received) {
                Ok(Some(bytes)) => shared.snapshot_written(bytes, began.elapsed()),
                Ok(None) => {}
                Err(error) => shared.snapshot_failed(&error),
            }
            Ok(())
        })?;
        Ok(Self { chunks: Some(chunks), next: None, thread })
    }

    /// Hands over the next documents, where there is room for them; whether the snapshot goes on.
    pub fn step(&mut self, state: &mut State) -> bool {
        if self.thread.is_finished() {
            // It is at its end, or its disk failed.
            snapshot::give_up(state);
            return false;
        }
        // While the end is written there is nothing to do, and no other snapshot begins.
        let Some(chunks) = &self.chunks else { return true };
        let chunk = self.next.take().unwrap_or_else(|| match snapshot::step(state, STEP) {
            Some((count, content)) => Chunk::Documents(count, content),
            None => Chunk::End,
        });
        let is_end = matches!(chunk, Chunk::End);
        match chunks.try_send(chunk) {
            Err(TrySendError::Full(chunk)) => self.next = Some(chunk),
            Ok(()) if !is_end => {}
            Ok(()) | Err(TrySendError::Disconnected(_)) => self.chunks = None,
        }
        true
    }

    /// Gives it up; the file that has no name yet is left.
    pub fn give_up(self, state: &mut State) {
        drop(self.chunks);
        let _ = threads::joined(self.thread);
        snapshot::give_up(state);
    }
}

/// Writes what comes; `None` where the end does not come.
fn write<D: LogDisk>(mut writer: SnapshotWriter<D>, chunks: &Receiver<Chunk>) -> Result<Option<u64>> {
    loop {
        match chunks.recv() {
            Ok(Chunk::Documents(count, content)) => writer.add(count, &content)?,
            Ok(Chunk::End) => return writer.finish().map(Some),
            Err(_) => return Ok(None),
        }
    }
}
