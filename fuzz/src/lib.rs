//! What the fuzz targets do with an input, so that other programs can do the same: the tests of the main crate replay
//! every seed.

pub mod arrow;
pub mod blocks;
pub mod bodies;
pub mod checked_file;
pub mod doc_split;
pub mod documents;
pub mod features;
pub mod fingerprints;
pub mod http;
pub mod parsers;
pub mod records;
pub mod service;
pub mod sources;
pub mod spotsigs;
pub mod stages;
pub mod tls;

/// A target's name, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 16] = [
    ("arrow", arrow::run),
    ("blocks", blocks::run),
    ("bodies", bodies::run),
    ("doc_split", doc_split::run),
    ("documents", documents::run),
    ("features", features::run),
    ("fingerprints", fingerprints::run),
    ("http", http::run),
    ("parsers", parsers::run),
    ("records", records::run),
    ("checked_file", checked_file::run),
    ("service", service::run),
    ("sources", sources::run),
    ("spotsigs", spotsigs::run),
    ("stages", stages::run),
    ("tls", tls::run),
];
