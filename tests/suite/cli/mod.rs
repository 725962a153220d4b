//! What people meet at a shell: commands, help, messages, reports; and the crate as another program calls it.

mod annotate;
mod chosen_chain;
mod completions;
mod config;
mod errors;
pub mod estimate;
mod explain;
mod facade;
mod hints;
mod install;
mod overwrite;
mod partitions;
mod plain;
mod progress;
mod recipes;
mod report;
mod shell;
mod terminal;
pub mod tune;
mod two_lines;
mod visible;
mod warnings;
