//! `twinsplit store forget`, `drop-batch` and `expire`: what leaves a store, and what that changes for the documents that stay. The answer is there before
//! the store is changed, so whoever loses it asks again.

use super::commands::{Bounds, Folder};
use crate::options::{OUTPUT, Overwrite, output_file};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use twinsplit_core::cluster::keep::Date;
use twinsplit_core::visible;
use twinsplit_engine::stores::change;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal::{self, plural};
use twinsplit_io::{MARK, Target, each_row};
use twinsplit_rows::record::id::{escape, unescape};
use twinsplit_store::{Removal, Store, disk};

/// What all of them are asked.
#[derive(Args)]
struct RemovalOpts {
    /// File for the documents that stay and for which another one is kept now: id⇥kept before⇥kept now
    #[arg(short = OUTPUT, long, value_name = "FILE", default_value = "-", value_parser = output_file())]
    output: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Write them as JSON, with what has gone
    #[arg(long)]
    json: bool,
    /// Say what would go and change, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    bounds: Bounds,
}

#[derive(Args)]
pub struct Forget {
    #[command(flatten)]
    folder: Folder,
    /// Ids of documents
    #[arg(value_name = "ID", required_unless_present = "file")]
    ids: Vec<String>,
    /// A file of more ids, one a line, or - for standard input
    #[arg(long = "ids", value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    shared: RemovalOpts,
}

#[derive(Args)]
pub struct DropBatch {
    #[command(flatten)]
    folder: Folder,
    /// Ids of batches
    #[arg(value_name = "BATCH", required = true)]
    batches: Vec<String>,
    #[command(flatten)]
    shared: RemovalOpts,
}

#[derive(Args)]
pub struct Expire {
    #[command(flatten)]
    folder: Folder,
    /// The time that the batches that stay have come at or after: a date, a date and time, or seconds since 1970
    #[arg(long, value_name = "TIME")]
    before: Date,
    #[command(flatten)]
    shared: RemovalOpts,
}

pub fn forget(opts: &Forget) -> Result<()> {
    let mut ids: Vec<Vec<u8>> = opts.ids.iter().map(|id| id.clone().into_bytes()).collect();
    if let Some(file) = &opts.file {
        let mut is_first = true;
        each_row(file, |id| {
            // As lists are that were made elsewhere.
            let id = if is_first { id.strip_prefix(&MARK).unwrap_or(id) } else { id };
            let id = id.strip_suffix(b"\r").unwrap_or(id);
            ids.extend((!id.is_empty()).then(|| id.to_vec()));
            is_first = false;
            Ok(())
        })?;
    }
    let target = opts.shared.target(&opts.folder, opts.file.as_deref())?;
    let mut store = opts.shared.open(&opts.folder)?;
    // An id is written as it is, or as rows have it.
    for id in &mut ids {
        let mut escaped = Vec::new();
        escape(id, &mut escaped);
        let is_other = escaped != *id && store.has(&escaped);
        if is_other && store.has(id) {
            return Err(Error::Usage(format!(
                "{0} names two documents, the one that is called so and {1:?}, of which rows have that as the id; give {2} for the first, and the second as it is",
                String::from_utf8_lossy(id),
                unescape(id),
                String::from_utf8_lossy(&escaped)
            )));
        }
        if is_other || !store.has(id) {
            *id = escaped;
        }
    }
    store.check()?;
    opts.shared.say(store.forget(ids.iter().map(Vec::as_slice))?, &target)
}

pub fn drop_batch(opts: &DropBatch) -> Result<()> {
    let target = opts.shared.target(&opts.folder, None)?;
    let mut store = opts.shared.open(&opts.folder)?;
    opts.shared.say(store.drop_batches(opts.batches.iter().map(String::as_str))?, &target)
}

pub fn expire(opts: &Expire) -> Result<()> {
    let target = opts.shared.target(&opts.folder, None)?;
    let mut store = opts.shared.open(&opts.folder)?;
    let without = store.manifest().batches.iter().filter(|batch| batch.time.is_none()).count();
    if without > 0 {
        let batches = plural(without as u64, "batch", "batches");
        terminal::note(format_args!(
            "{batches} of an earlier version came at no time that is known, and stay; twinsplit store drop-batch drops them"
        ));
    }
    let expired = store.batches_before(opts.before);
    opts.shared.say(store.drop_batches(expired.iter().map(String::as_str))?, &target)
}

impl RemovalOpts {
    fn open(&self, folder: &Folder) -> Result<Store> {
        self.bounds.open(&folder.store, !self.dry_run)
    }

    fn target(&self, folder: &Folder, ids: Option<&Path>) -> Result<Target> {
        folder.target(&self.output, self.overwrite.overwrite, ids)
    }

    /// Writes what changes, and changes it.
    fn say(&self, removal: Removal<'_, disk::Folder>, target: &Target) -> Result<()> {
        let mut out = target.start()?;
        if self.json {
            let id = |id: &[u8]| unescape(id);
            let changes = removal.changes().iter().map(|change| {
                json!({
                    "id": id(&change.id),
                    "kept_before": id(&change.before),
                    "kept_now": id(&change.now),
                    "orphan": change.is_orphan,
                })
            });
            let value = json!({
                "forgotten": removal.forgotten(),
                "unknown": removal.unknown().iter().map(|unknown| id(unknown)).collect::<Vec<_>>(),
                "batches": removal.batches().iter().map(|batch| &batch.id).collect::<Vec<_>>(),
                "changes": changes.collect::<Vec<_>>(),
                "dry_run": self.dry_run,
            });
            out.line(format!("{value:#}").as_bytes())?;
        } else {
            removal.changes().iter().try_for_each(|one| out.line(&change(one)))?;
        }
        // The answer is there before the store is another one.
        out.finish()?;
        let said = summary(&removal, self.dry_run);
        if !self.dry_run {
            removal.commit()?;
        }
        terminal::line(format_args!("{said}"));
        Ok(())
    }
}

/// What goes, in a line.
fn summary(removal: &Removal<'_, disk::Folder>, is_dry: bool) -> String {
    let orphans = removal.changes().iter().filter(|change| change.is_orphan).count();
    let others = removal.changes().len() - orphans;
    let batches = match removal.batches() {
        [] => String::new(),
        batches => {
            let ids: Vec<_> = batches.iter().map(|batch| visible::line(&batch.id)).collect();
            format!(" of {} {}", if batches.len() == 1 { "the batch" } else { "the batches" }, ids.join(", "))
        }
    };
    let unknown = match removal.unknown().len() {
        0 => String::new(),
        count => format!("; {} no document has", plural(count as u64, "id", "ids")),
    };
    format!(
        "{} {}{batches}{unknown}; another is kept now for {}, whose kept one goes, and for {others} more, whose cluster falls apart",
        if is_dry { "would forget" } else { "forgot" },
        plural(removal.forgotten(), "document", "documents"),
        plural(orphans as u64, "orphan", "orphans"),
    )
}
