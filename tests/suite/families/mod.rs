//! CCDet, MinHash, SimHash and I-Match, each beside the definition of its method.

mod ccdet;
mod fingerprints;
mod hamming_queries;
mod i_match;
mod minhash;
mod minhash_estimate;
mod set_queries;
pub mod simhash;
mod simhash_report;
pub mod text_check;
