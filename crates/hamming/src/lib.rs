//! Hamming search: all fingerprints that differ from a given one in at most K bits, and all pairs of such.
//!
//! A fingerprint has 64 or 128 bits, such as those of SimHash (charikar2002): texts that are alike have fingerprints that differ in few bits. Nothing
//! here is approximate: what is within the distance is found, by pigeonhole, of which [`Layout`] and [`join()`] have the argument.
//!
//! | | |
//! |---|---|
//! | [`Index`] | is built of fingerprints, and asked |
//! | [`Layout`], [`plan`] | which tables an index has, and what they take, before it is built |
//! | [`DynamicIndex`] | an index to which fingerprints are added, from which they are removed |
//! | [`join()`] | all pairs, in bounded memory |
//! | [`Sorter`] | an index file or all pairs of more fingerprints than memory holds |

#![deny(clippy::print_stderr)]

mod ascending;
mod batch;
mod bits;
mod build;
mod collapse;
mod connect;
mod dynamic;
mod file;
mod file_writer;
mod fresh;
mod id_files;
mod index;
mod join;
mod layout;
mod ordered;
mod parts;
mod rows;
mod sorter;
mod table;
mod temporary;
#[cfg(test)]
mod tests;
mod values;

pub use batch::{Batch, BatchBuilder};
pub use bits::Fingerprint;
pub use connect::connect;
pub use dynamic::DynamicIndex;
pub use file::bits_of;
pub use fresh::Fresh;
pub use id_files::{IdWriter, MappedIds};
pub use index::{Index, IndexOptions, Match, Scratch};
pub use join::{JoinOptions, join};
pub use join::{check_distance, compare};
pub use layout::{Layout, MOST as MOST_DISTANCE, Plan, TableShape, plan};
pub use rows::Id;
pub use sorter::{Sorted, Sorter, SorterOptions};
pub use temporary::Pages;
pub use twinsplit_io::parts_file::Verify;
