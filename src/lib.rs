//! twinsplit: exact near-duplicate ("copy") detection for web-scale text.
//!
//! ```
//! let documents = [
//!     ("first", "Rain fell on the harbour all night. The ferry left at six."),
//!     ("second", "Rain fell on the harbour all night. The ferry left at seven."),
//!     ("third", "Nobody saw it go."),
//! ];
//! let found = twinsplit::Dedup::new().features("words:3")?.tau("0.6")?.run(documents)?;
//! let pair = found.pairs()?.next().transpose()?.unwrap();
//! assert_eq!((&*pair.a, &*pair.b, pair.overlap, pair.size_a, pair.size_b), ("first", "second", 9, 10, 10));
//! assert_eq!(found.dropped()?.collect::<twinsplit::Result<Vec<_>>>()?, ["second"]);
//! # Ok::<(), twinsplit::Error>(())
//! ```
//!
//! Given documents, find every pair whose sets of features reach a similarity, group the pairs into clusters and keep
//! one document of each: exactly, as small mappers and reducers that run unchanged in pipes and on clusters, and as
//! one fast process. Read on in this order:
//!
//! | module | what it is | zhang2011 |
//! |---|---|---|
//! | [`text`] | bytes -> features: words, characters, SpotSigs, sentence ends, lines | 2.2, 4 (Tokenize) |
//! | [`index`] | document frequency, IDF range, order of features, slices | 2.3, 5.1 |
//! | [`join`] | exact similarity in integers, the join kernel | 2.2, 2.3 |
//! | [`hamming`] | all fingerprints, and all pairs, within a Hamming distance | |
//! | [`sketch`] | MinHash signatures, SimHash fingerprints, and the keys under which they meet | |
//! | [`cluster`] | pairs -> clusters -> the document to keep | |
//! | [`record`] | the line formats and their shuffle keys | 4 |
//! | [`stage`], [`stages`] | what a mapper and a reducer are, and all of them | 4, figures 4 to 7 |
//! | [`chains`], [`plan`], [`params`] | how the stages join, Term-Split and Doc-Split; which of them a run takes, with which options | 2.3.1, 2.3.2 |
//! | [`engine`] | running a chain: in one process, as pipes, on Hadoop and on Spark | 3 |
//! | [`source`] | documents out of files of other formats, such as TREC | |
//! | [`corpus`] | corpora of any size to measure with, shaped like a crawl | |
//! | [`api`] | the façade: what a program that uses the crate sees | |
//! | [`cli`] | the stages as programs, and the driver | |
//! | [`io`], [`checked_file`], [`hash`], [`error`], [`bad_records`], [`terminal`], [`visible`], [`threads`], [`allocator`], [`decimal`] | files and streams, files that arrive whole, every hash, every error, lines that are no documents, messages, text that is safe to look at, work shared out, what happens without memory, numbers as they are typed | |
//!
//! `text`, `index`, `sketch`, `join`, `cluster` and `corpus` know nothing of files or processes.

// A message is one write: see `terminal`.
#![deny(clippy::print_stderr)]
// The map below is for those who read the source; `cargo doc --document-private-items` has its links.
#![allow(rustdoc::private_intra_doc_links)]

mod allocator;
mod api;
mod bad_records;
mod chains;
mod checked_file;
mod cli;
mod cluster;
mod corpus;
mod decimal;
mod engine;
mod error;
pub mod hamming;
mod hash;
mod index;
#[doc(hidden)]
pub mod internal;
mod io;
mod join;
mod mask;
mod params;
mod plan;
mod processor;
mod record;
mod similarity;
mod sketch;
mod source;
mod stage;
mod stages;
mod terminal;
mod text;
mod threads;
mod visible;

pub use api::{Cluster, Clusters, Dedup, Document, Dropped, Duplicates, Index, Match, Pair, Pairs};
pub use cluster::keep::KeepRule;
pub use error::{Error, FieldError, Place, Result};
pub use io::MaxLine;
pub use similarity::Measure;
pub use similarity::containment::Relation;
pub use stages::cluster::ClusterKind;
pub use text::{Marks, NormalForm};
