//! `twinsplit run`: a chain from documents to pairs and clusters.

use super::options::{self, Engine, RunOpts};
use super::summary;
use crate::chains::{CLUSTERS, Chain, IDF_TABLE, KEPT, PAIRS, Shape, Step, Tasks, idf_steps};
use crate::engine::dense::{DenseOpts, DenseRun, Done};
use crate::engine::params::Params;
use crate::engine::pipes::{self, PipesRun};
use crate::engine::steps::{LocalSteps, sort_parts};
use crate::error::{Error, Result};
use crate::io::expand_inputs;
use crate::stage::Counters;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The command line of `run`.
pub fn command() -> Command {
    let chain = Arg::new("chain")
        .required(true)
        .value_parser(value_parser!(Chain))
        .help("How pairs are found; the answer is the same");
    options::with_stage_options(RunOpts::augment_args(Command::new("run").arg(chain)))
        .about("Finds pairs and clusters of near-duplicate documents")
        .long_about(None)
}

/// The command line of `plan`.
pub fn plan_command() -> Command {
    let command = Command::new("plan")
        .about("Prints a chain as a script of stage binaries, to be read, changed and run")
        .arg(Arg::new("chain").required(true).value_parser(value_parser!(Chain)).help("The chain"))
        .arg(
            Arg::new("engine")
                .long("engine")
                .value_parser(["pipes"])
                .default_value("pipes")
                .help("The engine that the script is for"),
        )
        .arg(
            Arg::new("write-kept")
                .long("write-kept")
                .action(clap::ArgAction::SetTrue)
                .help("Write kept documents too"),
        );
    options::with_stage_options(command)
}

/// The command line of `idf`.
pub fn idf_command() -> Command {
    Command::new("idf")
        .about("Makes a table of document frequencies, for --idf-table of another run")
        .arg(
            Arg::new("from")
                .long("from")
                .required(true)
                .num_args(1..)
                .value_parser(value_parser!(PathBuf))
                .value_name("FILE")
                .help("The reference corpus: JSON lines, plain or gzip; files or folders"),
        )
        .arg(
            Arg::new("output")
                .long("output")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .value_name("FILE")
                .help("The table"),
        )
        .args(options::stage_options().into_iter().filter(|arg| {
            ["id", "text", "features", "nfc", "case-fold"].contains(&arg.get_long().unwrap_or_default())
        }))
}

/// What the options make of the chain.
pub fn shape(params: &Params, write_kept: bool) -> Shape {
    let is = |name, value| params.get(name) == Some(value);
    Shape {
        idf: params.get("idf").is_some_and(|range| {
            range.parse().is_ok_and(|range: crate::index::idf::IdfRange| !range.is_everything())
        }),
        prefix: is("pcp", "prefix"),
        by_task: is("partition", "by-task"),
        star: is("cluster", "star"),
        write_kept,
    }
}

/// `twinsplit plan`.
pub fn plan(matches: &ArgMatches) -> Result<()> {
    let chain = *matches.get_one::<Chain>("chain").ok_or_else(|| Error::Usage("no chain".into()))?;
    let params = options::params(matches)?;
    let shape = shape(&params, matches.get_flag("write-kept"));
    let mut out = crate::io::Stdout::new();
    let script = plan_script(chain, shape, &params)?;
    out.line(script.trim_end().as_bytes())?;
    out.flush()
}

/// The script of a chain.
pub fn plan_script(chain: Chain, shape: Shape, params: &Params) -> Result<String> {
    let mut title = format!("twinsplit plan {}", chain.name());
    for (name, value) in params.iter() {
        title.push_str(&format!(" --{name} {value}"));
    }
    if shape.write_kept {
        title.push_str(" --write-kept");
    }
    pipes::script(&title, &chain.steps(shape), shape, params)
}

/// `twinsplit run`.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let start = Instant::now();
    let chain = *matches.get_one::<Chain>("chain").ok_or_else(|| Error::Usage("no chain".into()))?;
    let opts = RunOpts::from_arg_matches(matches)?;
    let params = options::params(matches)?;
    let shape = shape(&params, opts.write_kept);
    let inputs = expand_inputs(&opts.input)?;
    if let Some(missing) = inputs.iter().find(|path| *path != Path::new("-") && !path.exists()) {
        return Err(Error::File {
            path: missing.clone(),
            problem: "there is no such file or folder".to_owned(),
        });
    }
    let once = opts.engine == Engine::Local && chain == Chain::DocSplit && !opts.write_kept;
    if !once {
        refuse_streams(
            &inputs,
            "only doc-split with the engine local and without --write-kept reads it once",
        )?;
    }
    if !opts.quiet {
        for name in unused(&chain.steps(shape), &params) {
            eprintln!("note: {} does not use --{name} here", chain.name());
        }
    }
    prepare_output(&opts)?;
    let work = opts.output.join("_work");
    fs::create_dir_all(&work).map_err(Error::io("create", &work))?;
    let run = Run { chain, shape, opts: &opts, params: &params, inputs: &inputs, work: &work };
    let result = run.execute();
    if result.is_err() || !opts.keep_work {
        // Data sets in between are kept only when asked for; an error in removing them hides nothing.
        let _ = fs::remove_dir_all(&work);
    }
    if result.is_err() {
        // A file of the answer that was complete before another one failed; the run's own error says more.
        let _ = remove_answer(&opts.output);
    }
    let done = result?;
    let report = summary::Report {
        chain,
        params: options::resolved(&params),
        inputs: &inputs,
        output: &opts.output,
        engine: opts.engine,
        threads: opts.threads(),
        seconds: start.elapsed().as_secs_f64(),
        steps: &done.steps,
        warnings: done.warnings,
        kept: opts.write_kept,
    };
    report.write()?;
    report.print(opts.quiet)
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

/// The options given that no stage of these steps has.
fn unused<'a>(steps: &[Step], params: &'a Params) -> Vec<&'a str> {
    let stages =
        steps.iter().flat_map(|step| [step.map, step.reduce]).flatten().filter_map(crate::stages::find);
    let known: BTreeSet<String> = stages
        .flat_map(|entry| {
            let command = entry.command();
            command.get_arguments().filter_map(|arg| Some(arg.get_long()?.to_owned())).collect::<Vec<_>>()
        })
        .collect();
    params.iter().map(|(name, _)| name).filter(|name| !known.contains(*name)).collect()
}

/// What a run leaves.
struct Finished {
    steps: Vec<Done>,
    warnings: Vec<String>,
}

struct Run<'a> {
    chain: Chain,
    shape: Shape,
    opts: &'a RunOpts,
    params: &'a Params,
    inputs: &'a [PathBuf],
    work: &'a Path,
}

impl Run<'_> {
    fn say(&self, done: &Done) {
        if !self.opts.quiet {
            eprintln!("{:<16} {:>8.2} s", done.0, done.1);
        }
    }

    fn execute(&self) -> Result<Finished> {
        let steps = self.chain.steps(self.shape);
        match (self.opts.engine, self.chain) {
            (Engine::Local, Chain::DocSplit) => self.dense(),
            (Engine::Local, Chain::TermSplit) => self.steps(&steps),
            (Engine::Pipes, _) => self.pipes(&steps),
        }
    }

    fn dense(&self) -> Result<Finished> {
        let opts: DenseOpts = self.params.parse()?;
        let run = DenseRun {
            inputs: self.inputs,
            output: &self.opts.output,
            opts,
            threads: self.opts.threads(),
            write_kept: self.opts.write_kept,
        };
        let (steps, warnings) = run.run(|done| self.say(done))?;
        Ok(Finished { warnings: summary::warnings(&steps, warnings), steps })
    }

    fn steps(&self, steps: &[Step]) -> Result<Finished> {
        let engine = LocalSteps {
            inputs: self.inputs,
            work: self.work,
            params: self.params,
            threads: self.opts.threads(),
            memory: self.opts.memory << 20,
        };
        let mut done = Vec::new();
        for step in steps {
            let start = Instant::now();
            let counters = engine.run(step)?;
            guard(step, &counters, self.params)?;
            let finished = (step.name.to_owned(), start.elapsed().as_secs_f64(), counters);
            self.say(&finished);
            done.push(finished);
        }
        for (data, file) in [(PAIRS, "pairs.tsv"), (CLUSTERS, "clusters.tsv")] {
            let parts = expand_inputs(&[self.work.join(data)])?;
            sort_parts(&parts, &self.opts.output.join(file), engine.memory, &self.work.join("_sort"))?;
        }
        if self.shape.write_kept {
            let (from, to) = (self.work.join(KEPT).join("part-00000"), self.opts.output.join("kept.jsonl"));
            fs::rename(&from, &to).map_err(Error::io("rename", &from))?;
        }
        self.finish(done)
    }

    fn pipes(&self, steps: &[Step]) -> Result<Finished> {
        let script = plan_script(self.chain, self.shape, self.params)?;
        let run = PipesRun {
            script: &script,
            inputs: self.inputs,
            output: &self.opts.output,
            work: self.work,
            threads: self.opts.threads(),
            quiet: self.opts.quiet,
        };
        self.finish(run.run(steps)?)
    }

    fn finish(&self, steps: Vec<Done>) -> Result<Finished> {
        let shares = summary::cluster_scripts(
            &self.opts.output.join("clusters.tsv"),
            &self.work.join("meta"),
            &steps,
        )?;
        Ok(Finished { warnings: summary::warnings(&steps, shares), steps })
    }
}

/// Stops when a step counted more than its option allows.
fn guard(step: &Step, counters: &Counters, params: &Params) -> Result<()> {
    let Some(guard) = step.guard else { return Ok(()) };
    let limit: u64 = params.get(guard.option).and_then(|value| value.parse().ok()).unwrap_or(1_000_000_000);
    let sum = counters.get(guard.counter).copied().unwrap_or(0);
    if sum > limit {
        return Err(Error::Limit(format!("{}: {sum} {} (the limit is {limit})", step.name, guard.advice)));
    }
    Ok(())
}

/// Removes the files of an answer.
fn remove_answer(output: &Path) -> Result<()> {
    for name in ["run.json", "pairs.tsv", "clusters.tsv", "kept.jsonl", "report.html"] {
        let path = output.join(name);
        if path.exists() {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

/// Refuses to write over an answer unless that is asked for, and removes the old one then.
fn prepare_output(opts: &RunOpts) -> Result<()> {
    let output = &opts.output;
    if output.exists() {
        let mut entries = fs::read_dir(output).map_err(Error::io("read", output))?;
        if entries.next().is_some() && !opts.overwrite {
            return Err(Error::Usage(format!(
                "{} exists and is not empty; --overwrite replaces the answer in it",
                output.display()
            )));
        }
        remove_answer(output)?;
        let work = output.join("_work");
        if work.exists() {
            fs::remove_dir_all(&work).map_err(Error::io("remove", &work))?;
        }
    }
    fs::create_dir_all(output).map_err(Error::io("create", output))
}

/// `twinsplit idf`.
pub fn idf(matches: &ArgMatches) -> Result<()> {
    let mut params = Params::default();
    for name in ["id", "text", "features", "nfc", "case-fold"] {
        let id = name.replace('-', "_");
        if let Some(value) =
            matches.get_raw(&id).and_then(|mut values| values.next()).and_then(|value| value.to_str())
        {
            params.set(name, value);
        }
    }
    let path =
        |name: &str| matches.get_many::<PathBuf>(name).into_iter().flatten().cloned().collect::<Vec<_>>();
    let inputs = expand_inputs(&path("from"))?;
    let output = path("output").pop().ok_or_else(|| Error::Usage("no output".into()))?;
    let folder = output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let work = tempfile::tempdir_in(folder).map_err(Error::io("make a folder in", folder))?;
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let engine =
        LocalSteps { inputs: &inputs, work: work.path(), params: &params, threads, memory: 512 << 20 };
    for step in idf_steps() {
        debug_assert!(matches!(step.tasks, Tasks::Many | Tasks::One));
        engine.run(&step)?;
    }
    let made = work.path().join(IDF_TABLE).join("part-00000");
    fs::rename(&made, &output).map_err(Error::io("rename", &made))
}
