//! The face of the crate: what a program that uses it sees.
//!
//! | | |
//! |---|---|
//! | [`Dedup`] | which features, which threshold, how much memory; takes documents |
//! | [`Document`] | a document: an id, a text, and what a keep rule may ask for |
//! | [`Duplicates`] | what was found: [pairs](Duplicates::pairs) and [clusters](Duplicates::clusters) |
//! | [`Index`] | a collection that is asked for the documents that are like a text |
//!
//! Both ways lead through the parts that the command line runs: documents go through the local engine
//! ([`crate::engine::columnar`]), queries through the join [kernel](crate::join::kernel).

mod dedup;
mod document;
mod duplicates;
mod index;
mod stream;
#[cfg(test)]
mod tests;

pub use dedup::Dedup;
pub use document::Document;
pub use duplicates::{Cluster, Clusters, Dropped, Duplicates, Pair, Pairs};
pub use index::{Index, Match};
