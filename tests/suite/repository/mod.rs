//! What is committed: it follows from the declarations, and what pages and results say is so.

mod advice;
mod crates;
mod dependencies;
mod derived;
pub mod experiments;
mod fixtures;
mod fuzz_targets;
mod lock_files;
mod walk;
