//! `twinsplit run`: a chain from documents to pairs and clusters.

use super::interrupt;
use super::keep_field;
use super::manifest::{Known, RunManifest};
use super::options::{self, Engine, RunOpts};
use super::output::{self, Output, Start};
use super::plan::{ScriptEngine, plan_script, shape};
use super::progress::Display;
use super::quarantine::{self, Places, QUARANTINE};
use super::{chain, cluster_driver, forecast, summary};
use crate::chains::{Chain, KEPT, PAIRS, Shape, Step};
use crate::engine::columnar::{ColumnarOpts, ColumnarRun, Ran};
use crate::engine::memory::Budget;
use crate::engine::params::Params;
use crate::engine::pipes::PipesRun;
use crate::engine::progress::{Done, Progress};
use crate::engine::steps::LocalSteps;
use crate::error::{Error, Result};
use crate::io::{Contents, Stdout, document_files};
use crate::stage::{Counters, Entry};
use crate::stages;
use crate::terminal;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The command line of `run`.
pub fn command() -> Command {
    options::with_stage_options(RunOpts::augment_args(Command::new("run").arg(chain::arg())))
        .about("Finds pairs and clusters of near-duplicate documents")
        .long_about(None)
}

/// `twinsplit run`.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let start = Instant::now();
    let opts = RunOpts::from_arg_matches(matches)?;
    let mut params = options::params(matches)?;
    let chain = chain::chosen(matches, &params, opts.quiet);
    if options::settle_cluster(&mut params, opts.write_kept) && !opts.quiet {
        terminal::note(options::STAR_NOTE);
    }
    let shape = shape(&params, opts.write_kept, opts.engine != Engine::Local);
    let steps = chain.steps(shape);
    refuse_settings(&opts)?;
    if !opts.quiet {
        for name in unused(&steps, &params) {
            terminal::note(format_args!("{} does not use --{name} here", chain.name()));
        }
    }
    if opts.engine.is_remote() {
        keep_field::check(&params, &[])?;
        return cluster_driver::run(chain, shape, &opts, &params);
    }
    output::check(&opts)?;
    let inputs = checked_inputs(&opts, chain, &params)?;
    if chain == Chain::TermSplit && !shape.prefix && !opts.resume {
        forecast::refuse_hopeless(&params, &opts, &inputs)?;
    }
    // A bound that is too small is named before anything is written.
    Budget::new(opts.memory_bytes(), opts.threads())?;
    let resolved = options::resolved(&params);
    let columnar = opts.engine == Engine::Local && is_columnar(chain, &params);
    // The columnar way looks at the first line when it reads it: that may be of a stream.
    let fields = if columnar { String::new() } else { keep_field::check(&params, &inputs)? };
    // The columnar way leaves no steps to go on with, so its input is compared only with that of an answer.
    let known = if columnar && !opts.resume { Known::Sizes } else { Known::Digests };
    let mut manifest = RunManifest::of(chain, opts.engine, &resolved, opts.write_kept, (&inputs, known))?;
    let output = match Output::open(&opts, &manifest)? {
        Start::Run(output) => Arc::new(output),
        Start::Complete => return say_complete(&opts),
    };
    interrupt::clean_up(&output)?;
    let progress = Arc::new(Progress::default());
    let run = Run {
        chain,
        shape,
        opts: &opts,
        params: &params,
        inputs: &inputs,
        fields: &fields,
        output: &output,
        progress: &progress,
    };
    let display = Display::start(&progress, steps.len(), opts.quiet);
    let result = run.execute(&steps);
    drop(display);
    let [made, shown, failed] = [&output.answer, &output.folder, &output.work].map(|at| at.join(QUARANTINE));
    let places = Places { made: &made, shown: &shown, failed: &failed };
    let result = quarantine::settle(result, &output.work, &places, &params, |done| &mut done.warnings);
    let done = match result {
        Ok(done) => done,
        Err(error) => return Err(leave(&output, error)),
    };
    manifest.add_digests(&done.read);
    let answers = shape.answers().into_iter().map(answer_file);
    let answers = answers.chain(made.exists().then_some(QUARANTINE));
    let report = summary::Report {
        manifest: &manifest,
        threads: opts.threads(),
        seconds: start.elapsed().as_secs_f64(),
        steps: &done.steps,
        warnings: done.warnings,
        answers: answers.map(|name| opts.output.join(name).to_string_lossy().into_owned()).collect(),
    };
    let published = report.write(&output.answer).and_then(|text| output.publish().map(|()| text));
    let text = published.map_err(|error| leave(&output, error))?;
    output.finish(opts.keep_work)?;
    report.print(opts.quiet, opts.json.then_some(text.as_str()))
}

/// Whether the local engine has a way from end to end on numbers: for all but plain Term-Split, which counts, and what
/// only posting lists of stages can leave out.
fn is_columnar(chain: Chain, params: &Params) -> bool {
    let prefix = params.get("pcp") == Some("prefix");
    let approximate = ["df-cut", "accumulators"].iter().any(|option| params.get(option).is_some());
    chain == Chain::DocSplit || prefix && !approximate
}

/// Refuses what only a cluster's jobs have.
fn refuse_settings(opts: &RunOpts) -> Result<()> {
    let given = [("--reducers", opts.reducers.is_some()), ("--define", !opts.settings.is_empty())];
    match given.into_iter().find(|(_, given)| *given && !opts.engine.is_remote()) {
        Some((option, _)) => {
            Err(Error::Usage(format!("{option} is for the jobs of --engine hadoop and spark")))
        }
        None => Ok(()),
    }
}

/// The name of the file that holds a part of an answer.
fn answer_file(data: &str) -> &'static str {
    match data {
        PAIRS => "pairs.tsv",
        KEPT => "kept.jsonl",
        _ => "clusters.tsv",
    }
}

/// What `--resume` says of a run that has ended before; programs get its `run.json` as they did then.
fn say_complete(opts: &RunOpts) -> Result<()> {
    if opts.json {
        return Stdout::new().file(&opts.output.join("run.json"));
    }
    if !opts.quiet {
        terminal::line(format_args!("{} holds the complete answer of this run", opts.output.display()));
    }
    Ok(())
}

/// The input's files; what is missing, and a stream that would have to be read twice, is named.
fn checked_inputs(opts: &RunOpts, chain: Chain, params: &Params) -> Result<Vec<PathBuf>> {
    if opts.output == Path::new("-") {
        return Err(Error::Usage(
            "a run writes several files, so --output is a folder and not -; \
             twinsplit plan shows the pipe that writes pairs to standard output"
                .to_owned(),
        ));
    }
    let inputs = document_files(&opts.input)?;
    refuse_own_answer(&inputs, &opts.output)?;
    if let Some(missing) = inputs.iter().find(|path| *path != Path::new("-") && !path.exists()) {
        return Err(Error::File {
            path: missing.clone(),
            problem: match missing.to_str().is_some_and(|name| Chain::from_str(name, false).is_ok()) {
                true => {
                    "there is no such file or folder; the name of a chain comes before --input".to_owned()
                }
                false => "there is no such file or folder".to_owned(),
            },
        });
    }
    let once = opts.engine == Engine::Local && is_columnar(chain, params) && !opts.write_kept;
    if !once {
        refuse_streams(
            &inputs,
            "only doc-split, and term-split --pcp prefix without --df-cut and --accumulators, read it once, with the engine \
             local and without --write-kept",
        )?;
    }
    Ok(inputs)
}

/// Refuses standard input, and pipes that have a name, where the input is read more than once.
pub fn refuse_streams(inputs: &[PathBuf], why: &str) -> Result<()> {
    let stream = |path: &&PathBuf| *path == Path::new("-") || (path.exists() && !path.is_file());
    match inputs.iter().find(stream) {
        Some(path) => Err(Error::Usage(format!(
            "the input is read more than once, so {} cannot be it: {why}; write it to a file first",
            if *path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
        ))),
        None => Ok(()),
    }
}

/// Refuses input in the output folder, which `--overwrite` would remove before it is read.
fn refuse_own_answer(inputs: &[PathBuf], output: &Path) -> Result<()> {
    let Some(output) = output.canonicalize().ok().filter(|output| output.is_dir()) else { return Ok(()) };
    match inputs.iter().find(|path| path.canonicalize().is_ok_and(|path| path.starts_with(&output))) {
        Some(path) => Err(Error::Usage(format!(
            "the input {} lies in the output folder, where a run replaces files; choose another --output",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// The options given that no stage of these steps has.
fn unused<'a>(steps: &[Step], params: &'a Params) -> Vec<&'a str> {
    let stages = steps.iter().flat_map(|step| [step.map, step.reduce]).flatten();
    let known: BTreeSet<String> = stages.filter_map(stages::find).flat_map(Entry::options).collect();
    params.iter().map(|(name, _)| name).filter(|name| !known.contains(*name)).collect()
}

/// Leaves the folder after an error: what a later run can go on with, where there is such a thing, and nothing that
/// looks finished otherwise.
fn leave(output: &Output, error: Error) -> Error {
    // The same command may succeed later: when there is room on the disk, or with another bound.
    let may_succeed = matches!(error, Error::Io { .. } | Error::Limit(_) | Error::Failed(_));
    // An error in removing files hides nothing: the run's own error says more.
    if matches!(error, Error::BadRecords { .. }) {
        let _ = output.clear(|name| name != QUARANTINE && name != "_run.json");
    } else if may_succeed && output.has_steps() {
        let _ = output.remove_partial();
        terminal::note(format_args!(
            "finished steps are in {}; --resume goes on with them",
            output.work.display()
        ));
    } else {
        let _ = output.remove_work();
    }
    error
}

/// What a run leaves.
struct Finished {
    steps: Vec<Done>,
    warnings: Vec<String>,
    /// What was read of each input, where its digests were taken while reading.
    read: Vec<Contents>,
}

struct Run<'a> {
    chain: Chain,
    shape: Shape,
    opts: &'a RunOpts,
    params: &'a Params,
    inputs: &'a [PathBuf],
    /// Which fields the input has, where the keep rule asks for one.
    fields: &'a str,
    output: &'a Output,
    progress: &'a Progress,
}

impl Run<'_> {
    fn execute(&self, steps: &[Step]) -> Result<Finished> {
        match (self.opts.engine, self.chain) {
            (Engine::Local, chain) if is_columnar(chain, self.params) => self.columnar(),
            (Engine::Local, _) => self.steps(steps),
            _ => self.pipes(),
        }
    }

    fn columnar(&self) -> Result<Finished> {
        let opts: ColumnarOpts = self.params.parse()?;
        let work = self.output.work.join("_columnar");
        fs::create_dir_all(&work).map_err(Error::io("create", &work))?;
        let run = ColumnarRun {
            inputs: self.inputs,
            output: &self.output.answer,
            opts,
            work: &work,
            threads: self.opts.threads(),
            memory: self.opts.memory_bytes(),
            progress: self.progress,
            write_kept: self.opts.write_kept,
            term_split: self.chain == Chain::TermSplit,
        };
        let Ran { steps, large, read } = run.run(|_| {})?;
        Ok(Finished { warnings: summary::warnings(&steps, large), steps, read })
    }

    fn steps(&self, steps: &[Step]) -> Result<Finished> {
        let (inputs, work) = (self.inputs, &self.output.work);
        let (threads, memory) = (self.opts.threads(), self.opts.memory_bytes());
        let engine = LocalSteps::new(inputs, work, self.params, threads, memory, self.progress)?;
        let mut done = Vec::new();
        for step in steps {
            let finished = engine.run(step)?;
            guard(step, &finished.counters, self.params, self.fields)?;
            done.push(finished);
        }
        for data in self.shape.answers().into_iter().filter(|data| *data != KEPT) {
            let file = self.output.answer.join(answer_file(data));
            if !file.exists() {
                engine.sort(data, &file)?;
            }
        }
        if self.shape.write_kept {
            let (from, to) = (work.join(KEPT).join("part-00000"), self.output.answer.join("kept.jsonl"));
            // A run that was stopped after this has moved it already.
            if from.exists() {
                fs::rename(&from, &to).map_err(Error::io("rename", &from))?;
            }
        }
        self.finish(done)
    }

    fn pipes(&self) -> Result<Finished> {
        let script = plan_script(ScriptEngine::Pipes, self.chain, self.shape, self.params)?;
        let run = PipesRun {
            script: &script,
            // As they were given: a process's argument list is too short for the files of a large folder.
            inputs: &self.opts.input,
            output: &self.output.answer,
            work: &self.output.work,
            threads: self.opts.threads(),
            memory: self.opts.memory_bytes(),
            lock: &self.output.lock,
            fields: self.fields,
            progress: self.progress,
        };
        self.finish(run.run()?)
    }

    fn finish(&self, steps: Vec<Done>) -> Result<Finished> {
        let (clusters, meta) = (self.output.answer.join("clusters.tsv"), self.output.work.join("meta"));
        let shares = summary::cluster_scripts(&clusters, &meta, &steps)?;
        Ok(Finished { warnings: summary::warnings(&steps, shares), steps, read: Vec::new() })
    }
}

/// Stops when a step counted more than its option allows, or met no document with a field that the keep rule looks at;
/// `fields` says which there are.
pub fn guard(step: &Step, counters: &Counters, params: &Params, fields: &str) -> Result<()> {
    if let Some(field) = step.field {
        let count = |name| counters.get(name).copied().unwrap_or(0);
        if count(field.with) == 0 && count(field.without) > 0 {
            let nowhere = field.nowhere(params.get(field.option).unwrap_or_default());
            return Err(Error::Usage(format!("{nowhere}; {fields}")));
        }
    }
    let Some(guard) = step.guard else { return Ok(()) };
    let limit = params.number(guard.option);
    let sum = counters.get(guard.counter).copied().unwrap_or(0);
    if sum > limit {
        return Err(Error::Limit(format!("{}: {sum} {} (the limit is {limit})", step.name, guard.advice)));
    }
    Ok(())
}
