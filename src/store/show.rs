//! `twinsplit store ls` and `verify`: what a store holds, and whether its files are what they were.

use super::commands::Folder;
use crate::options::{thread_count, threads};
use clap::Args;
use serde_json::json;
use twinsplit_core::cluster::keep::Date;
use twinsplit_core::visible;
use twinsplit_engine::stores::open;
use twinsplit_io::Stdout;
use twinsplit_io::error::Result;
use twinsplit_io::terminal::{self, plural};

#[derive(Args)]
pub struct Ls {
    #[command(flatten)]
    folder: Folder,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct Verify {
    #[command(flatten)]
    folder: Folder,
    /// Threads; by default the number of cores
    #[arg(long, env = "TWINSPLIT_THREADS", value_name = "N", value_parser = thread_count)]
    threads: Option<usize>,
}

pub fn verify(opts: &Verify) -> Result<()> {
    let opened = open(&opts.folder.store, false, (threads(opts.threads), 0))?;
    let bytes = opened.verify()?;
    let files = opened.manifest().files().count() as u64;
    terminal::line(format_args!(
        "{}: {}, {} MB, all as they were written",
        visible::path(&opts.folder.store),
        plural(files, "file", "files"),
        bytes.div_ceil(1 << 20)
    ));
    Ok(())
}

pub fn ls(opts: &Ls) -> Result<()> {
    let store = open(&opts.folder.store, false, (1, 0))?;
    let manifest = store.manifest();
    let clustered = store.clusters().len() as u64;
    let documents = manifest.living();
    let forgotten = manifest.segments.iter().map(|one| one.documents).sum::<u64>() - documents;
    let mut out = Stdout::new();
    if opts.json {
        let batches = manifest.batches.iter().map(|one| {
            json!({
                "id": one.id,
                "time": one.time.map(Date::shown),
                "documents": one.documents,
                "added": one.added,
                "has_answer": one.answer.is_some(),
            })
        });
        let segments = manifest.segments.iter().map(|one| {
            json!({ "file": one.file, "documents": one.living(), "forgotten": one.documents - one.living() })
        });
        let made_with: serde_json::Map<_, _> =
            manifest.made_with.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        let value = json!({
            "commit": manifest.number,
            "made_with": made_with,
            "documents": documents,
            "forgotten": forgotten,
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
    let and = match forgotten {
        0 => String::new(),
        _ => format!("; {} more forgotten", forgotten),
    };
    out.line(format!("{all} in {segments}, {clustered} of them in clusters{and}").as_bytes())?;
    out.line(b"documents      added  time                  batch")?;
    for batch in &manifest.batches {
        let id = visible::line(&batch.id);
        let time = batch.time.map_or_else(|| "-".to_owned(), Date::shown);
        out.line(format!("{:>9}  {:>9}  {time:<20}  {id}", batch.documents, batch.added).as_bytes())?;
    }
    out.flush()
}
