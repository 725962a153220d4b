//! Representations of a document that are smaller than its set, and what is found by them: approximate by nature, so that
//! whatever uses them says what it may have lost.
//!
//! | module | what it is |
//! |---|---|
//! | [`minhash`] | signatures of K values, of which two sets share as many as their Jaccard similarity says |
//! | [`bands`] | keys under which similar signatures meet |

pub mod bands;
pub mod minhash;
