//! A service that keeps exactly one of two documents that are alike, loses nothing that it has acknowledged, and says why.
//!
//! | | |
//! |---|---|
//! | [`State`], [`Namespace`] | what is kept and compared: the same requests at the same times have the same answers |
//! | [`Engine`] | the same with a log and snapshots: what was synced is there after any stop |
//! | [`Server`] | the same for clients of Redis, and over HTTP |
//! | [`shards`] | the same on several machines, of which one ordered log decides |
//! | [`disk`] | what the log asks of a disk |
//! | [`tls`] | what encrypts, and who has which certificate |

#![deny(clippy::print_stderr)]

mod asked;
mod backend;
mod change;
mod chunk;
mod client;
mod codec;
mod commands;
mod content;
mod decider;
pub mod disk;
mod document;
mod engine;
mod entries;
mod event_loop;
mod expiry;
mod group;
mod growing_table;
mod histogram;
pub mod http;
mod index;
mod info;
mod kept;
mod lender;
mod listener;
mod log;
mod metrics;
mod namespace;
mod pass;
mod prefetch;
mod received;
mod recent;
mod record;
mod replies;
pub mod resp;
mod resp_session;
mod restore;
mod runs;
mod server;
mod session;
mod settings;
mod settle;
pub mod shards;
mod sketch;
mod snapshot;
mod snapshotting;
mod state;
mod syncing;
#[cfg(test)]
mod tests;
mod threads;
pub mod tls;
mod wire;
mod workers;

pub use content::Content;
pub use decider::{Fsync, WriterOptions};
pub use document::{Document, Key, Measure, Refused, Verdict};
pub use engine::{Engine, Recovered};
pub use log::Torn;
pub use namespace::{Counts, Namespace};
pub use runs::{Ended, Mode, RunFigures, Settled};
pub use server::{HttpOptions, Listening, Server, ServerOptions, Stopper, reached_at};
pub use settings::{Comparison, Retention, Settings};
pub use sketch::{Fingerprinting, Sketch, Sketched, Sketching};
pub use state::{Answer, Compared, Operation, State};
