//! The integration tests, one program: a folder for each group, a file for what is asked, and what they share is in [`common`].
//!
//! `cargo test --test suite` runs them all, `cargo test --test suite engines::` those of a group, `resume::` those of one file. One
//! program is linked once, and its tests keep all cores busy to the end.
// A helper that cannot go on should fail the test that called it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod answers;
mod cli;
mod cluster;
mod common;
mod corpora;
mod engines;
mod families;
mod formats;
mod repository;
mod service;
mod stores;
