//! twinsplit: exact near-duplicate ("copy") detection for web-scale text, in programs.
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
//! one document of each: exactly, with the same answer as the command line.
//!
//! | | |
//! |---|---|
//! | [`Dedup`] | which features, which threshold, how much memory; takes documents |
//! | [`Document`] | a document: an id, a text, and what a keep rule may ask for |
//! | [`Duplicates`] | what was found: [pairs](Duplicates::pairs) and [clusters](Duplicates::clusters) |
//! | [`Index`] | a collection that is asked for the documents that are like a text |
//! | [`Store`] | a folder that batches were added to: what it holds, and what to take out of it |
//! | [`Dedup::compare`], [`explain`] | why two texts are a pair, or are not |
//! | [`MinHash`], [`SimHash`] | signatures and fingerprints of single texts |
//! | [`Measure`], [`Relation`] | what documents are compared by; which of two contains the other |
//!
//! Both ways lead through the parts that the command line runs: documents go through the local engine
//! ([`twinsplit_engine::columnar`]), queries through the join [kernel](twinsplit_core::join::kernel).

#![deny(clippy::print_stderr)]

mod dedup;
mod document;
mod duplicates;
pub mod explain;
mod index;
mod sketches;
mod store;
mod stream;
#[cfg(test)]
mod tests;

pub use dedup::Dedup;
pub use document::Document;
pub use duplicates::{Change, Cluster, Clusters, Dropped, Duplicates, NearPair, NearPairs, Pair, Pairs};
pub use index::{Index, Match};
pub use sketches::{MinHash, SimHash};
pub use store::{Batch, Removal, RemovalChange, Store, StoredDocument};
pub use twinsplit_core::choice::{Choice, Unnamed};
pub use twinsplit_core::cluster::keep::{Date, KeepRule};
pub use twinsplit_core::options::Field;
pub use twinsplit_core::similarity::Measure;
pub use twinsplit_core::similarity::containment::Relation;
pub use twinsplit_core::text::{Marks, NormalForm};
pub use twinsplit_engine::progress::{Phase, Unit};
pub use twinsplit_hamming as hamming;
pub use twinsplit_io::MaxLine;
pub use twinsplit_io::error::{Error, FieldError, Place, Result};
pub use twinsplit_rows::stages::cluster::ClusterKind;

/// The similarity of sets of these sizes that share so many features, which are at least one: for reading, as nothing is decided
/// from it.
fn share(measure: Measure, overlap: u64, a: u64, b: u64) -> f64 {
    let (o, a, b) = (overlap as f64, a as f64, b as f64);
    match measure {
        Measure::Jaccard => o / (a + b - o),
        Measure::Containment => o / a.min(b),
        Measure::QueryContainment => o / a,
        Measure::Cosine => o / (a * b).sqrt(),
        Measure::Dice => 2.0 * o / (a + b),
        Measure::Overlap => o,
    }
}
