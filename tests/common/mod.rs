//! What the integration tests share: a slow and obvious oracle, corpora, and a harness that runs the
//! real binary and compares bytes.
//!
//! Every test file is a crate of its own and uses a part of this, hence the allowance for dead code; a
//! helper that cannot go on should fail the test that called it, hence the one for `unwrap`.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

pub mod chains;
pub mod cli;
pub mod cluster;
pub mod corpora;
pub mod expected;
pub mod faults;
pub mod features;
pub mod harness;
pub mod matrix;
pub mod oracle;
pub mod real;
pub mod rng;
pub mod spark;
pub mod tutorial;
