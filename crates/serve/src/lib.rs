//! A service that keeps exactly one of two documents that are alike, loses nothing that it has acknowledged, and says why.
//!
//! | | |
//! |---|---|
//! | [`State`], [`Namespace`] | what is kept and compared: the same requests at the same times have the same answers |
//! | [`Engine`] | the same with a log and snapshots: what was synced is there after any stop |
//! | [`Server`] | the same for clients of Redis, and over HTTP |
//! | [`disk`] | what the log asks of a disk |

#![deny(clippy::print_stderr)]

mod asked;
mod change;
mod chunk;
mod codec;
mod commands;
mod connection;
mod content;
pub mod disk;
mod document;
mod engine;
mod entries;
mod expiry;
mod histogram;
pub mod http;
mod index;
mod info;
mod kept;
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
mod restore;
mod runs;
mod server;
mod settings;
mod settle;
mod sketch;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;
mod writer;

pub use content::Content;
pub use document::{Document, Key, Measure, Refused, Verdict};
pub use engine::{Engine, Recovered};
pub use log::Torn;
pub use namespace::{Counts, Namespace};
pub use runs::{Ended, Mode, RunFigures, Settled};
pub use server::{HttpOptions, Listening, Server, ServerOptions, Stopper, reached_at};
pub use settings::{Comparison, Retention, Settings};
pub use sketch::{Fingerprinting, Sketch, Sketched, Sketching};
pub use state::{Answer, Compared, Operation, State};
pub use writer::{Fsync, WriterOptions};
