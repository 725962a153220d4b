//! CCDet, MinHash, SimHash and I-Match, each beside the definition of its method.

mod batch;
mod ccdet;
mod fingerprints;
mod i_match;
mod minhash;
mod minhash_estimate;
pub mod simhash;
mod simhash_report;
pub mod text_check;
