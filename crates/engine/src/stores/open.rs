//! Stores that are opened for what they are, by whoever has no options of a run.

use std::path::Path;
use twinsplit_core::choice::Choice;
use twinsplit_core::similarity::Measure;
use twinsplit_io::error::{Error, Result};
use twinsplit_store::{Settings, Store, last_manifest};

/// How much of `--memory` the documents of a batch at hand may take: their index and the clusters take the rest.
const SHARE: usize = 4;

/// Bytes for the documents at hand, of the bytes of a whole process.
pub(super) fn for_documents(memory: usize) -> usize {
    memory / SHARE
}

/// Opens a store with the options that it was made with, to change it or not. What is done with it takes so many threads and bytes.
///
/// # Errors
/// There is no store, another process changes it, or it is damaged.
pub fn open(folder: &Path, changes: bool, (threads, memory): (usize, usize)) -> Result<Store> {
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
    let memory = for_documents(memory);
    let settings = Settings { made_with: Vec::new(), similarity, least, equal_texts, memory, threads };
    if changes { Store::writable(folder, settings) } else { Store::open(folder, settings) }
}
