//! Stores: `run --store` and `run --against`, and `twinsplit store`.

mod commands;
mod compact;
mod export;
mod forget;
mod show;

pub use commands::{command, run};

use super::args;
use super::options::RunOpts;
use clap::Args;
use std::path::PathBuf;
use twinsplit_core::cluster::keep::Date;
use twinsplit_core::visible;
use twinsplit_engine::stores::{BatchOf, KnownId, StoreRun};
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::plan::Plan;

/// Which store a run has, if any.
#[derive(Args, Clone, Debug)]
pub struct StoreOpts {
    /// Compare the documents with those of a store, too, and add them to it as a batch; a folder that is not there becomes one
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["against", "resume"])]
    pub store: Option<PathBuf>,
    /// Compare the documents with those of a store, too, and leave it as it is
    #[arg(long, value_name = "FOLDER", conflicts_with = "resume")]
    pub against: Option<PathBuf>,
    /// What the batch is called in the store; sent again it changes nothing and has the same answer [default: a digest of its documents]
    #[arg(long, value_name = "ID")]
    pub batch_id: Option<String>,
    /// When the batch came, by which twinsplit store expire knows it: a date, a date and time, or seconds since 1970 [default: now]
    #[arg(long, value_name = "TIME")]
    pub batch_time: Option<Date>,
    /// Compare with the documents of these batches of the store alone, as if no others had come
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    pub batches: Vec<String>,
    /// What becomes of a document of which the store has the id with another text
    #[arg(long, value_parser = args::choice::<KnownId>(), default_value = "refuse", conflicts_with = "batches")]
    pub known_id: KnownId,
}

/// The store of a run, if it has one.
///
/// # Errors
/// When the run asks for what stores have not.
pub fn of<'a>(opts: &'a RunOpts, plan: &Plan) -> Result<Option<StoreRun<'a>>> {
    let StoreOpts { store, against, batch_id, batch_time, batches, known_id } = &opts.store;
    // What conflicts with another option given asks clap for nothing.
    if against.is_none() && !batches.is_empty() {
        return Err(Error::Usage("--batches goes with --against".to_owned()));
    }
    let Some(folder) = store.as_deref().or(against.as_deref()) else {
        let given = [
            ("--batch-id", batch_id.is_some()),
            ("--batch-time", batch_time.is_some()),
            ("--known-id", *known_id != KnownId::default()),
        ];
        return match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Error::Usage(format!("{option} goes with --store or --against"))),
            None => Ok(None),
        };
    };
    let bounds = (opts.threads(), opts.memory_bytes());
    let batch = BatchOf { id: batch_id.as_deref(), time: *batch_time, only: batches, known_id: *known_id };
    StoreRun::of(plan, (folder, store.is_some()), batch, bounds).map(Some)
}

/// The names of the options that a run with a store was given, and their values, for `run.json`.
pub fn parameters(opts: &RunOpts) -> impl Iterator<Item = (&'static str, String)> {
    let StoreOpts { store, against, batch_id, batch_time, batches, known_id } = &opts.store;
    let folder = |folder: &PathBuf| visible::stored(folder).to_string();
    let named = [
        ("store", store.as_ref().map(folder)),
        ("against", against.as_ref().map(folder)),
        ("batch-id", batch_id.clone()),
        ("batch-time", batch_time.map(Date::shown)),
        ("batches", Some(batches.join(",")).filter(|batches| !batches.is_empty())),
        ("known-id", Some(known_id.name().to_owned()).filter(|_| *known_id != KnownId::default())),
    ];
    named.into_iter().filter_map(|(name, value)| Some((name, value?)))
}
