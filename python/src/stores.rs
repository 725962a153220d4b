//! Stores: each function opens the store in a folder, and lets go of it.

use crate::raised;
use pyo3::prelude::*;
use std::path::PathBuf;
use twinsplit::{Removal, RemovalChange, Result, Store};

/// What has gone: how many documents, ids that none has, batches; and of each document that stays and for which another one is kept now its id,
/// the one before, the one now, and whether it is an orphan.
type Removed = (u64, Vec<String>, Vec<String>, Vec<(String, String, String, bool)>);

/// A batch: its id, its documents, the new ones of these, and its time.
type Batch = (String, u64, u64, Option<String>);

/// How many documents a store has, its batches, and its options.
type About = (u64, Vec<Batch>, Vec<(String, String)>);

/// A document: its id, the batch that it came in, the one that is kept of its cluster, and how many features it has.
type Stored = (String, String, Option<String>, u64);

/// How many documents there are, the batches, and the options.
#[pyfunction]
pub fn store_about(py: Python<'_>, folder: PathBuf) -> PyResult<About> {
    let about = || {
        let store = Store::open(folder)?;
        let batches = store.batches().map(|batch| {
            let time = batch.time.map(|time| time.shown());
            (batch.id.to_owned(), batch.documents, batch.added, time)
        });
        let options = store.made_with().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok((store.len(), batches.collect(), options.collect()))
    };
    py.detach(about).map_err(raised)
}

/// All documents.
#[pyfunction]
pub fn store_documents(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<Stored>> {
    let documents = || {
        let mut all = Vec::new();
        Store::open(folder)?.each_document(|document| {
            all.push((document.id, document.batch, document.kept, document.features));
            Ok(())
        })?;
        Ok(all)
    };
    py.detach(documents).map_err(raised)
}

/// Forgets documents, or says what that would change.
#[pyfunction]
pub fn store_forget(py: Python<'_>, folder: PathBuf, ids: Vec<String>, dry_run: bool) -> PyResult<Removed> {
    let forget = || removed(&mut opened(folder, dry_run)?, |store| store.forget(&ids), dry_run);
    py.detach(forget).map_err(raised)
}

/// Drops batches, or says what that would change.
#[pyfunction]
pub fn store_drop_batches(
    py: Python<'_>,
    folder: PathBuf,
    ids: Vec<String>,
    dry_run: bool,
) -> PyResult<Removed> {
    let ids = || ids.iter().map(String::as_str);
    let drop = || removed(&mut opened(folder, dry_run)?, |store| store.drop_batches(ids()), dry_run);
    py.detach(drop).map_err(raised)
}

/// Drops the batches that came before a time, or says what that would change.
#[pyfunction]
pub fn store_expire(py: Python<'_>, folder: PathBuf, before: &str, dry_run: bool) -> PyResult<Removed> {
    let expire = || removed(&mut opened(folder, dry_run)?, |store| store.expire_before(before), dry_run);
    py.detach(expire).map_err(raised)
}

/// Writes segments again; whether there was something to do.
#[pyfunction]
pub fn store_compact(py: Python<'_>, folder: PathBuf, answers: Option<usize>) -> PyResult<bool> {
    py.detach(|| Store::writable(folder)?.compact(answers)).map_err(raised)
}

fn opened(folder: PathBuf, dry_run: bool) -> Result<Store> {
    if dry_run { Store::open(folder) } else { Store::writable(folder) }
}

fn removed<'s>(
    store: &'s mut Store,
    removal: impl FnOnce(&'s mut Store) -> Result<Removal<'s>>,
    dry_run: bool,
) -> Result<Removed> {
    let removal = removal(store)?;
    let changes = removal.changes().iter().map(|RemovalChange { change, is_orphan }| {
        (change.id.clone(), change.before.clone(), change.now.clone(), *is_orphan)
    });
    let said = (
        removal.forgotten(),
        removal.unknown().collect(),
        removal.batches().map(str::to_owned).collect(),
        changes.collect(),
    );
    if !dry_run {
        removal.commit()?;
    }
    Ok(said)
}
