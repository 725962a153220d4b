//! Representations of a document that are smaller than its set, and what is found by them: approximate by nature, so that
//! whatever uses them says what it may have lost.
//!
//! | module | what it is |
//! |---|---|
//! | [`minhash`] | signatures of K values, of which two sets share as many as their Jaccard similarity says |
//! | [`bands`] | keys under which similar signatures meet |
//! | [`query_bands`] | queries by these keys |
//! | [`bloom`] | which keys came more than once, in two bits a cell |
//! | [`rice`] | codes of numbers that fall off geometrically |
//! | [`simhash`] | fingerprints of 64 or 128 bits, which differ in few bits where documents are alike |
//! | [`tables`] | keys under which near fingerprints meet |
//! | [`distance`] | how many bits may differ, by the length of texts |
//! | [`content`] | what is compared of texts whose fingerprints are near |
//!
//! Nothing here knows of files or processes.

pub mod bands;
pub mod bloom;
pub mod content;
pub mod distance;
mod document;
pub mod minhash;
pub mod query_bands;
pub mod rice;
pub mod simhash;
pub mod tables;

pub use document::{Frequencies, Hash, Idf, Sketcher, Weighted, Weights};
