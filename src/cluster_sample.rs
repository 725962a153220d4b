//! `--recall` on a cluster: the sample is drawn by a job where the documents lie, so that it is the one that a run on one machine
//! draws, and only its documents travel.

use super::cluster_driver::{Started, hadoop, local_folder};
use super::job::remote::Hadoop;
use super::options::RunOpts;
use super::output::files::{Files, Local};
use super::recall::Chosen;
use std::path::{Path, PathBuf};
use twinsplit_engine::cluster_driver::ClusterRun;
use twinsplit_engine::library::Library;
use twinsplit_engine::progress::Progress;
use twinsplit_engine::{hadoop as streaming, spark};
use twinsplit_io::error::Result;
use twinsplit_io::terminal;
use twinsplit_rows::chains::{DOCUMENTS, Data, Part, SAMPLE, Step};
use twinsplit_rows::plan::{Asked, Engine};
use twinsplit_rows::stages::sample::DRAWN_FROM;

/// Draws the sample of a run's input; its folder beside that of the answer is removed when it has been read.
pub fn draw(asked: &Asked, opts: &RunOpts) -> Result<Chosen<'static>> {
    if !opts.quiet {
        terminal::note("--recall: a job draws a sample of the documents");
    }
    let step = Step::map_reduce(
        "sample-documents",
        "sample-documents-reduce",
        "Draws the documents by which bands are chosen; sorted by hash, then id, the smallest come first.",
        &[DOCUMENTS],
        SAMPLE,
    );
    let parts = [Part::Step(step.one_task())];
    let outputs: [Data; 1] = [SAMPLE];
    let (title, params) =
        (format!("twinsplit plan sample --engine {}", asked.engine.name()), &asked.given.params);
    let script = match asked.engine {
        Engine::Spark => spark::script(&title, &parts, &outputs, params, Library::Inside),
        _ => streaming::script(&title, &parts, &outputs, params, Library::Inside),
    }?;
    let output = beside(&opts.output);
    let own =
        RunOpts { output: output.clone(), resume: false, overwrite: false, keep_work: false, ..opts.clone() };
    let started = Started::of(asked.engine, &own)?;
    let run = ClusterRun {
        interpreter: &started.interpreter,
        script: (&script, started.name),
        inputs: &asked.inputs,
        output: &output,
        logs: started.logs.path(),
        variables: &started.variables,
        options: &started.arguments,
        progress: &Progress::default(),
    };
    let steps = match run.run() {
        Ok(steps) => steps,
        Err(error) => return Err(started.leave(&own, error)),
    };
    let documents = steps.iter().filter_map(|step| step.counters.get(DRAWN_FROM)).sum();
    let (files, folder): (Box<dyn Files>, PathBuf) = match local_folder(started.logs.path()) {
        Some(folder) => (Box::new(Local), folder),
        None => (Box::new(Hadoop::new(hadoop())), output),
    };
    let chosen = read(&*files, &folder.join(SAMPLE), documents);
    files.remove(&[folder])?;
    chosen
}

fn read(files: &dyn Files, folder: &Path, documents: u64) -> Result<Chosen<'static>> {
    let mut rows = Vec::new();
    for part in files.names(folder)?.iter().filter(|name| name.starts_with("part-")) {
        rows.append(&mut files.read(&folder.join(part), u64::MAX)?);
    }
    Chosen::of_rows(&rows, documents, folder)
}

/// A folder of this run alone, beside that of the answer.
fn beside(output: &Path) -> PathBuf {
    let name = output.to_string_lossy();
    PathBuf::from(format!("{}.sample-{}", name.trim_end_matches('/'), std::process::id()))
}
