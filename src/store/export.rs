//! `twinsplit store export`: the documents of a store as JSON lines, in the order of their ids. It holds no texts.

use super::commands::Folder;
use crate::options::{OUTPUT, Overwrite, output_file};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use twinsplit_engine::stores::open;
use twinsplit_io::error::Result;
use twinsplit_rows::record::id::unescape;

#[derive(Args)]
pub struct Export {
    #[command(flatten)]
    folder: Folder,
    /// File for the lines, or - for standard output
    #[arg(short = OUTPUT, long, value_name = "FILE", default_value = "-", value_parser = output_file())]
    output: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
}

pub fn export(opts: &Export) -> Result<()> {
    let store = open(&opts.folder.store, false, (1, 0))?;
    let mut out = opts.folder.target(&opts.output, opts.overwrite.overwrite, None)?.start()?;
    store.each_entry(|entry| {
        // In this order, with the id first.
        let fields: [(&str, Value); 6] = [
            ("id", unescape(entry.id).into()),
            ("batch", entry.batch.into()),
            ("kept", unescape(entry.kept.unwrap_or(entry.id)).into()),
            ("in_cluster", entry.kept.is_some().into()),
            ("features", entry.features.into()),
            // A blank text has none.
            ("hash", if entry.text == 0 { Value::Null } else { json!(format!("{:032x}", entry.text)) }),
        ];
        let fields = fields.map(|(name, value)| format!("\"{name}\":{value}"));
        out.line(format!("{{{}}}", fields.join(",")).as_bytes())
    })?;
    out.finish()
}
