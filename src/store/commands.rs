//! `twinsplit store`: looks at stores, and changes what is in them.

use super::{compact, export, forget, show};
use crate::options::{MEMORY, thread_count, threads};
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use std::fs;
use std::path::{Path, PathBuf};
use twinsplit_engine::stores::open;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{Megabytes, Target};
use twinsplit_store::Store;

#[derive(Subcommand)]
enum StoreCommand {
    /// Shows what a store was made with, its batches and its segments
    Ls(show::Ls),
    /// Compares every file of a store with its checksums
    Verify(show::Verify),
    /// Forgets documents, and says for which others another document is kept now
    Forget(forget::Forget),
    /// Drops batches with the documents that came in them first, and says for which others another document is kept now
    DropBatch(forget::DropBatch),
    /// Drops the batches that came before a time, and says for which documents another one is kept now
    Expire(forget::Expire),
    /// Writes segments again without what is forgotten of them, and drops answers of old batches: space comes back
    Compact(compact::Compact),
    /// Writes a JSON line for each document: its id, batch, the document that is kept of its cluster, and the hash of its text
    Export(export::Export),
}

/// What every command has that changes a store.
#[derive(Args, Clone, Copy)]
pub struct Bounds {
    /// Threads; by default the number of cores
    #[arg(long, env = "TWINSPLIT_THREADS", value_name = "N", value_parser = thread_count)]
    threads: Option<usize>,
    /// Memory that the command may hold, in megabytes or such as 4G
    #[arg(long, env = "TWINSPLIT_MEMORY", default_value_t = MEMORY, value_name = "MB")]
    memory: Megabytes,
}

impl Bounds {
    /// Opens a store within them.
    pub fn open(&self, store: &Path, changes: bool) -> Result<Store> {
        open(store, changes, (threads(self.threads), self.memory.bytes()))
    }
}

/// The store that is meant.
#[derive(Args)]
pub struct Folder {
    /// The store
    #[arg(value_name = "FOLDER")]
    pub store: PathBuf,
}

impl Folder {
    /// Where a command writes what it says of the store: over no file of it, and over none of `more`, which it reads besides.
    pub fn target(&self, output: &Path, replaces: bool, more: Option<&Path>) -> Result<Target> {
        let failed = || Error::io("read", &self.store);
        let files: Vec<PathBuf> = fs::read_dir(&self.store)
            .map_err(failed())?
            .map(|entry| entry.map(|entry| entry.path()).map_err(failed()))
            .collect::<Result<_>>()?;
        Target::of(output, replaces, files.iter().map(PathBuf::as_path).chain(more))
    }
}

/// The command line.
pub fn command() -> Command {
    let about = "Shows, checks and changes stores, which run --store makes";
    StoreCommand::augment_subcommands(Command::new("store").about(about).subcommand_required(true))
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let asked = StoreCommand::from_arg_matches(matches).map_err(|error| Error::Usage(error.to_string()))?;
    match asked {
        StoreCommand::Ls(opts) => show::ls(&opts),
        StoreCommand::Verify(opts) => show::verify(&opts),
        StoreCommand::Forget(opts) => forget::forget(&opts),
        StoreCommand::DropBatch(opts) => forget::drop_batch(&opts),
        StoreCommand::Expire(opts) => forget::expire(&opts),
        StoreCommand::Compact(opts) => compact::compact(&opts),
        StoreCommand::Export(opts) => export::export(&opts),
    }
}
