//! The integration tests, one program: what is asked of it is a file here, and what they share is in [`common`].
//!
//! `cargo test --test suite` runs them all, `cargo test --test suite resume::` those of one file. One program is linked
//! once, and its tests keep all cores busy to the end.
// A helper that cannot go on should fail the test that called it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bad_input;
mod bad_records;
mod ccdet;
mod chosen_chain;
mod cli;
mod cliffs;
mod cluster_chains;
mod cluster_dist;
mod cluster_faults;
mod cluster_matrix;
mod cluster_scripts;
mod columnar;
mod common;
mod completions;
mod corpora_self;
mod derived;
mod equal_texts;
mod errors;
mod estimate;
mod experiments;
mod explain;
mod facade;
mod features_golden;
mod fixtures;
mod fuzz_targets;
mod generate_corpus;
mod hadoop;
mod hadoop_home;
mod hints;
mod inputs;
mod install;
mod join;
mod keep;
mod limits;
mod long_lines;
mod matrix;
mod matrix_real;
mod memory;
mod minhash;
mod minhash_estimate;
mod named_inputs;
mod options;
mod oracle_self;
mod ownership;
mod plans;
mod progress;
mod properties;
mod records;
mod report;
mod resume;
mod rounds;
mod scripts;
mod simhash;
mod spark;
mod terminal;
mod tune;
mod two_lines;
mod visible;
mod walk;
mod warnings;
mod write_clusters;
