//! `run --dry-run`: what a run would do, and what it would refuse.

use super::super::manifest::{Known, RunManifest};
use super::super::options::RunOpts;
use super::super::output::{self, owned};
use super::super::store::StoreOpts;
use super::super::table::wrapped;
use super::checks::{Checked, Documents};
use super::cut;
use super::tables::Tables;
use indicatif::BinaryBytes;
use std::fs;
use std::path::{Path, PathBuf};
use twinsplit_core::visible;
use twinsplit_engine::steps::answer_file;
use twinsplit_engine::stores::{BATCHES, CHANGES};
use twinsplit_io::Stdout;
use twinsplit_io::error::Result;
use twinsplit_io::terminal::plural;
use twinsplit_rows::params::Params;
use twinsplit_rows::plan::{KeptForm, Plan};

/// Columns in front of what is said.
const INDENT: usize = 9;

/// Prints it on standard output, and does nothing else.
pub fn show(plan: &Plan, opts: &RunOpts, documents: &Documents, as_asked: &Params) -> Result<()> {
    let (is_remote, folder) = (plan.engine.is_remote(), visible::path(&opts.output));
    let there = if is_remote { ", in the file system of the cluster" } else { "" };
    let memory = match is_remote {
        true => String::new(),
        false => {
            format!(", {}, {} MB of memory", plural(opts.threads() as u64, "thread", "threads"), opts.memory)
        }
    };
    let input = match is_remote {
        true => format!("{}{there}", names(&plan.inputs)),
        false => files(&documents.files),
    };
    let first = match (opts.inputs.unit, &documents.in_front) {
        (Some(unit), _) => format!("; divided into {} first", unit.nouns()[1]),
        (None, Some(_)) => "; converted to JSON lines first".to_owned(),
        (None, None) => String::new(),
    };
    let data = plan.chain.output.data().into_iter();
    let mut answer: Vec<_> = if is_remote { data.collect() } else { data.map(answer_file).collect() };
    let tables = Tables::of(plan, &opts.tables, opts.inputs.unit.is_some()).files();
    answer.extend(tables.iter().map(String::as_str));
    if plan.write_kept == Some(KeptForm::Same) {
        answer.push("kept/");
    }
    if opts.and.is_some() && opts.write_kept == Some(KeptForm::Jsonl) {
        answer.push(owned::KEPT);
    }
    if opts.inputs.unit.is_some() {
        answer.extend(cut::files(opts.write_kept.is_some()));
        answer.push(owned::UNITS);
    }
    let StoreOpts { store, against, .. } = &opts.store;
    let store = match (store, against) {
        (Some(store), _) if store.exists() => {
            Some(format!("{}, to which the documents are added", visible::path(store)))
        }
        (Some(store), _) => Some(format!("{}, which is made", visible::path(store))),
        (None, Some(against)) => Some(format!("{}, which stays as it is", visible::path(against))),
        (None, None) => None,
    };
    if store.is_some() {
        answer.extend([CHANGES, BATCHES]);
    }
    let mut lines = vec![
        ("chain", format!("{}: {}", plan.family.name, plan.family.about)),
        ("engine", format!("{}{memory}", plan.engine.name())),
        ("input", format!("{input}{first}")),
    ];
    lines.extend(plan.params.get("queries").map(|queries| ("queries", visible::line(queries).into())));
    lines.extend(store.map(|store| ("store", store)));
    lines.push(("answer", format!("{folder}: {}, {}{there}", answer.join(", "), owned::RUN)));
    lines.push(match refused(plan, opts, documents, as_asked) {
        Ok(()) => ("refused", "nothing that is known before the documents are read".to_owned()),
        Err(error) => ("refused", error.to_string()),
    });
    let mut out = Stdout::new();
    for (name, text) in lines {
        let text = wrapped(&visible::lines(&text), INDENT);
        out.line(format!("{name:<INDENT$}{text}").as_bytes())?;
    }
    out.flush()
}

/// What stops the run before it begins.
fn refused(plan: &Plan, opts: &RunOpts, documents: &Documents, as_asked: &Params) -> Result<()> {
    let checked = Checked::of(plan, opts, documents, as_asked)?;
    if let Some(store) = &checked.with_store {
        store.check()?;
    }
    if plan.engine.is_remote() {
        return Ok(());
    }
    let manifest = RunManifest::of(plan, [&checked.inputs, &checked.queries], Known::Names)?;
    output::refuse_present(opts, &manifest)
}

/// How many files there are, and their bytes; those that are not there are named by what is refused.
fn files(files: &[PathBuf]) -> String {
    let is_stream = |path: &&PathBuf| path.as_path() == Path::new("-");
    let bytes = files.iter().filter_map(|path| fs::metadata(path).ok()).map(|file| file.len()).sum();
    match files.iter().any(|path| is_stream(&path)) {
        true => "standard input".to_owned(),
        false => format!("{}, {}", plural(files.len() as u64, "file", "files"), BinaryBytes(bytes)),
    }
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| visible::path(path)).collect::<Vec<_>>().join(", ")
}
