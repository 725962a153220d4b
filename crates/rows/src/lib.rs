//! What goes through a shuffle: records, the stages that read and write them, and how chains of stages are planned.
//!
//! | module | what it is | zhang2011 |
//! |---|---|---|
//! | [`record`] | the line formats and their shuffle keys | 4 |
//! | [`stage`], [`stages`] | what a mapper and a reducer are, and all of them | 4, figures 4 to 7 |
//! | [`chains`], [`plan`], [`params`] | how the stages join, Term-Split and Doc-Split; which of them a run takes, with which options | 2.3.1, 2.3.2 |
//! | [`config`] | files of options | |
//! | [`bad_records`] | lines that are no documents | |

#![deny(clippy::print_stderr)]

pub mod bad_records;
pub mod chains;
pub mod config;
pub mod params;
pub mod plan;
pub mod record;
pub mod stage;
pub mod stages;
