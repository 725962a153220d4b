//! `run --store` and `run --against`: batches against runs over all that has come.

mod batches;
mod faults;
mod forget;
mod formats;
mod versions;
