//! What is read and what lies between steps: documents in every form, records, and what is said of those that are wrong.

mod annotated_files;
mod answer_tables;
mod arc;
mod arrow;
mod articles;
mod auto;
mod bad_input;
mod bad_records;
pub mod convert;
mod file_names;
mod generate_corpus;
mod inputs;
mod kept_files;
mod long_lines;
mod named_inputs;
mod packed;
mod parquet;
mod records;
mod tables;
mod units;
