//! `twinsplit store compact`: space that forgotten documents and old answers take is given back.

use super::commands::{Bounds, Folder};
use clap::Args;
use twinsplit_core::visible;
use twinsplit_io::error::Result;
use twinsplit_io::terminal::{self, plural};

#[derive(Args)]
pub struct Compact {
    #[command(flatten)]
    folder: Folder,
    /// Keep the answers of the last N batches alone: an older one, sent again, is refused, and changes nothing [default: all]
    #[arg(long, value_name = "N")]
    answers: Option<usize>,
    #[command(flatten)]
    bounds: Bounds,
}

pub fn compact(opts: &Compact) -> Result<()> {
    let mut store = opts.bounds.open(&opts.folder.store, true)?;
    let before = store.bytes()?;
    let has_changed = store.compact(opts.answers)?;
    let bytes = store.bytes()?;
    let megabytes = |bytes: u64| bytes.div_ceil(1 << 20);
    let store_path = visible::path(&opts.folder.store);
    match has_changed {
        true => terminal::line(format_args!(
            "{store_path}: {} in {}, {} MB where there were {} MB",
            plural(store.manifest().living(), "document", "documents"),
            plural(store.manifest().segments.len() as u64, "segment", "segments"),
            megabytes(bytes),
            megabytes(before)
        )),
        false => terminal::line(format_args!(
            "{store_path}: there is nothing to give back, of {} MB",
            megabytes(bytes)
        )),
    }
    Ok(())
}
