//! Collections that grow: a batch of documents is compared exactly with all that came before it, and with itself.
//!
//! A store is a folder of files that are never changed:
//!
//! | file | what it holds |
//! |---|---|
//! | `commit-N` | a [manifest]: what the store was made with, its segments, its batches; the one with the greatest number counts |
//! | `segment-N-M` | documents as sets, with an index of their prefixes in an order of its own ([`segment`]) |
//! | `tombstones-N-M` | which documents of a segment are forgotten ([`tombstones`]) |
//! | `clusters-N` | the documents of clusters, each with the one that is kept ([`clusters`]) |
//! | `answer-N` | what was answered to the batch, for whoever asks again |
//! | `lock` | nothing; a writer has it locked |
//!
//! A batch is committed by the name of its manifest: until that is there nothing else of it counts, and what was there is left alone.
//! Readers keep the files that they have opened, whatever writers do.
//!
//! Documents that are [forgotten](forget) stay in the files of their segments until these are merged or compacted; everything passes over them.
//!
//! Any total order of features is exact, so a new segment renumbers nothing in an old one: a document is put into the order of each segment that
//! it is held against.

#![deny(clippy::print_stderr)]

mod batch;
pub mod clusters;
mod commit;
mod compact;
pub mod disk;
mod export;
pub mod forget;
pub mod manifest;
mod regroup;
pub mod segment;
mod store;
#[cfg(test)]
mod tests;
pub mod tombstones;

pub use batch::{Added, Batch, Finished, Member, Pair, Side, Sink};
pub use export::Entry;
pub use forget::{Change, Removal};
pub use segment::{Document, Segment, SegmentBuilder};
pub use store::{Settings, Store, last_manifest};
