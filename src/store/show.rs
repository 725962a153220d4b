//! `twinsplit store`: what a store holds, and whether its files are what they were.

use crate::options::{thread_count, threads};
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use serde_json::json;
use std::path::{Path, PathBuf};
use twinsplit_core::choice::Choice;
use twinsplit_core::similarity::Measure;
use twinsplit_core::visible;
use twinsplit_io::Stdout;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal::{self, plural};
use twinsplit_store::{Settings, Store, last_manifest};

#[derive(Subcommand)]
enum Asked {
    /// Shows what a store was made with, its batches and its segments
    Ls(Ls),
    /// Compares every file of a store with its checksums
    Verify(Verify),
}

#[derive(Args)]
struct Ls {
    /// The store
    #[arg(value_name = "FOLDER")]
    store: PathBuf,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Verify {
    /// The store
    #[arg(value_name = "FOLDER")]
    store: PathBuf,
    /// Threads; by default the number of cores
    #[arg(long, env = "TWINSPLIT_THREADS", value_name = "N", value_parser = thread_count)]
    threads: Option<usize>,
}

/// The command line.
pub fn command() -> Command {
    let about = "Shows and checks stores, which run --store makes";
    Asked::augment_subcommands(Command::new("store").about(about).subcommand_required(true))
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let asked = Asked::from_arg_matches(matches).map_err(|error| Error::Usage(error.to_string()))?;
    match asked {
        Asked::Ls(Ls { store, json }) => ls(&store, json),
        Asked::Verify(Verify { store, threads: wanted }) => {
            let opened = open(&store, threads(wanted))?;
            let bytes = opened.verify()?;
            let files = opened.manifest().files().count() as u64;
            terminal::line(format_args!(
                "{}: {}, {} MB, all as they were written",
                visible::path(&store),
                plural(files, "file", "files"),
                bytes.div_ceil(1 << 20)
            ));
            Ok(())
        }
    }
}

/// Opens a store with the options that it was made with.
fn open(folder: &Path, threads: usize) -> Result<Store> {
    let made_with = last_manifest(folder)?.made_with;
    let value = |name: &str| {
        let found = made_with.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    };
    let wrong = |what: &str| Error::File {
        path: folder.to_owned(),
        problem: format!("its manifest has no {what} that is known here; a later version may have made it"),
    };
    let measure = Measure::named(value("similarity")).ok_or_else(|| wrong("similarity"))?;
    let similarity = measure.reaching(value("tau")).map_err(|_| wrong("tau"))?;
    let least = value("min-features").parse().map_err(|_| wrong("min-features"))?;
    let equal_texts = value("equal-texts") == "on";
    let settings = Settings { made_with: Vec::new(), similarity, least, equal_texts, memory: 0, threads };
    Store::open(folder, settings)
}

fn ls(folder: &Path, as_json: bool) -> Result<()> {
    let store = open(folder, 1)?;
    let manifest = store.manifest();
    let clustered = store.clusters()?.len() as u64;
    let documents: u64 = manifest.segments.iter().map(|one| one.documents).sum();
    let mut out = Stdout::new();
    if as_json {
        let batches = manifest
            .batches
            .iter()
            .map(|one| json!({ "id": one.id, "documents": one.documents, "added": one.added }));
        let segments =
            manifest.segments.iter().map(|one| json!({ "file": one.file, "documents": one.documents }));
        let made_with: serde_json::Map<_, _> =
            manifest.made_with.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        let value = json!({
            "commit": manifest.number,
            "made_with": made_with,
            "documents": documents,
            "in_clusters": clustered,
            "batches": batches.collect::<Vec<_>>(),
            "segments": segments.collect::<Vec<_>>(),
        });
        out.line(format!("{value:#}").as_bytes())?;
        return out.flush();
    }
    let options: Vec<String> =
        manifest.made_with.iter().map(|(name, value)| format!("{name}={value}")).collect();
    out.line(format!("made with {}", options.join(" ")).as_bytes())?;
    let segments = plural(manifest.segments.len() as u64, "segment", "segments");
    let all = plural(documents, "document", "documents");
    out.line(format!("{all} in {segments}, {clustered} of them in clusters").as_bytes())?;
    out.line(b"documents      added  batch")?;
    for batch in &manifest.batches {
        let id = visible::line(&batch.id);
        out.line(format!("{:>9}  {:>9}  {id}", batch.documents, batch.added).as_bytes())?;
    }
    out.flush()
}
