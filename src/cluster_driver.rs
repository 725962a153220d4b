//! `twinsplit run` on a cluster: the answer and everything in between stay in the cluster's file system.

use super::manifest::{Known, RunManifest};
use super::options::RunOpts;
use super::output::owned::RUN;
use super::progress::Display;
use super::run::say_complete;
use super::{interrupt, summary, warnings};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Instant;
use tempfile::TempDir;
use twinsplit_core::visible;
use twinsplit_engine::cluster_driver::ClusterRun;
use twinsplit_engine::library::Library;
use twinsplit_engine::progress::Progress;
use twinsplit_engine::{script, script_of};
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal;
use twinsplit_io::{AtomicFile, Stdout};
use twinsplit_rows::plan::{Engine, Plan};

/// Runs a plan as jobs of Hadoop Streaming, or under Spark.
pub fn run(plan: &Plan, opts: &RunOpts) -> Result<()> {
    let start = Instant::now();
    let manifest = RunManifest::of(plan, [&plan.inputs, &[]], Known::Names)?;
    let script = script_of(plan, Library::Inside)?;
    let started = Started::of(plan.engine, opts)?;
    let logs = started.logs.path();
    let said = logs.join(MANIFEST);
    manifest.write(&said, opts.overwrite, opts.keep_work)?;
    let progress = Arc::new(Progress::default());
    let run = ClusterRun {
        interpreter: &started.interpreter,
        script: (&script, started.name),
        inputs: &plan.inputs,
        output: &opts.output,
        logs,
        variables: &started.variables,
        options: &started.arguments,
        progress: &progress,
    };
    // The script ends its jobs when this process is gone, and the logs go with it.
    interrupt::on_signal(&opts.output, |_| {})?;
    let display = Display::start(&progress, plan.chain.steps().len(), opts.quiet);
    let done = run.run();
    drop(display);
    let steps = match done {
        Ok(steps) => steps,
        Err(error) => return Err(started.leave(opts, error)),
    };
    if steps.is_empty() {
        return say_complete(opts, || print(logs, &opts.output));
    }
    // With the input as the cluster's file system tells of it.
    let manifest = RunManifest::read(&said)?;
    let folder = |data| opts.output.join(data);
    let report = summary::Report {
        manifest: &manifest,
        threads: opts.threads.unwrap_or(JOBS),
        seconds: start.elapsed().as_secs_f64(),
        steps: &steps,
        warnings: warnings::warnings(plan, None, &steps, &[]),
        answers: plan.chain.output.data().into_iter().map(folder).collect(),
    };
    let text =
        report.json(report.answers.iter().map(|folder| json!({ "path": visible::stored(folder) })).collect());
    put(&text, logs, &opts.output)?;
    report.print(opts, &text)
}

/// What a script is started with.
pub struct Started {
    /// The program that reads it, and its arguments.
    pub interpreter: Vec<String>,
    /// The name of its file.
    pub name: &'static str,
    /// Its variables.
    pub variables: Vec<(&'static str, String)>,
    /// Its options.
    pub arguments: Vec<String>,
    /// The local folder of its logs, which goes when the run has ended.
    pub logs: TempDir,
}

impl Started {
    /// On an engine, with the options of a run.
    pub fn of(engine: Engine, opts: &RunOpts) -> Result<Self> {
        let logs = tempfile::Builder::new()
            .prefix("twinsplit-logs.")
            .tempdir()
            .map_err(Error::io("make a folder in", std::env::temp_dir()))?;
        let is_spark = engine == Engine::Spark;
        let (interpreter, variables, arguments) = match is_spark {
            true => (spark_submit(opts), Vec::new(), spark_options(opts, logs.path())?),
            false => (vec!["bash".to_owned()], variables(opts)?, Vec::new()),
        };
        let name = if is_spark { "chain.py" } else { "chain.sh" };
        Ok(Self { interpreter, name, variables, arguments, logs })
    }

    /// Says what is left after an error: finished steps, and the logs of the jobs, which its message may name.
    pub fn leave(self, opts: &RunOpts, error: Error) -> Error {
        if matches!(error, Error::Usage(_)) {
            return error;
        }
        let mut finished = fs::read_dir(self.logs.path().join("steps")).into_iter().flatten();
        if finished.next().is_some() {
            terminal::note(format_args!(
                "finished steps are in {}/_work; the same command with --resume goes on with them",
                visible::path(&opts.output)
            ));
        }
        let mut files = fs::read_dir(self.logs.path()).into_iter().flatten().flatten();
        if files.any(|file| file.path().extension().is_some_and(|end| end == "log")) {
            terminal::note(format_args!("the logs of the jobs are in {}", visible::path(&self.logs.keep())));
        }
        error
    }
}

/// What this run is, for the script: a file in the folder of logs, to which the script adds the input.
const MANIFEST: &str = "_manifest.json";

/// Jobs of slices at once when nothing else is said.
const JOBS: usize = 2;

/// spark-submit with the settings given.
fn spark_submit(opts: &RunOpts) -> Vec<String> {
    let home = std::env::var_os("SPARK_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let program = home.map_or_else(|| PathBuf::from("spark-submit"), |home| home.join("bin/spark-submit"));
    let mut words = vec![program.to_string_lossy().into_owned()];
    words.extend(opts.settings.iter().flat_map(|setting| ["--conf".to_owned(), setting.clone()]));
    words
}

/// The options of the program for Spark.
fn spark_options(opts: &RunOpts, logs: &Path) -> Result<Vec<String>> {
    let exe = std::env::current_exe().map_err(Error::io("find", "this program"))?;
    let exe = std::env::var_os("BINARY").map_or(exe, PathBuf::from);
    let mut words = vec!["--quiet".to_owned()];
    let mut give = |option: &str, value: &str| words.extend([option.to_owned(), value.to_owned()]);
    give("--twinsplit", &exe.to_string_lossy());
    give("--logs", &logs.to_string_lossy());
    give("--slices-at-once", &opts.threads.unwrap_or(JOBS).to_string());
    opts.reducers.iter().for_each(|reducers| give("--reducers", &reducers.to_string()));
    let given = [("--resume", opts.resume), ("--overwrite", opts.overwrite), ("--keep-work", opts.keep_work)];
    words.extend(given.into_iter().filter(|(_, given)| *given).map(|(option, _)| option.to_owned()));
    Ok(words)
}

/// The variables of the script for Hadoop.
fn variables(opts: &RunOpts) -> Result<Vec<(&'static str, String)>> {
    let jobs = opts.threads.unwrap_or(JOBS).to_string();
    let mut all = vec![("JOBS", jobs)];
    all.extend(opts.reducers.map(|reducers| ("REDUCERS", reducers.to_string())));
    if !opts.settings.is_empty() {
        let settings: Vec<_> =
            opts.settings.iter().map(|setting| format!("-D {}", script::quote(setting))).collect();
        all.push(("HADOOP_OPTIONS", settings.join(" ")));
    }
    let given = [("RESUME", opts.resume), ("OVERWRITE", opts.overwrite), ("KEEP_WORK", opts.keep_work)];
    all.extend(given.into_iter().filter(|(_, given)| *given).map(|(name, _)| (name, "1".to_owned())));
    if std::env::var_os("BINARY").is_none() {
        let exe = std::env::current_exe().map_err(Error::io("find", "this program"))?;
        all.push(("BINARY", exe.to_string_lossy().into_owned()));
    }
    Ok(all)
}

/// Puts `run.json` beside the answer.
fn put(text: &str, logs: &Path, output: &Path) -> Result<()> {
    if let Some(folder) = local_folder(logs) {
        let mut file = AtomicFile::create(&folder.join(RUN))?;
        file.line(text.as_bytes())?;
        return file.finish();
    }
    let file = logs.join(RUN);
    fs::write(&file, format!("{text}\n")).map_err(Error::io("write", &file))?;
    hadoop_fs(&["-put", "-f"], &[&file, output], |status| {
        format!("run.json could not be put into {} ({status})", visible::path(output))
    })
}

/// Prints the `run.json` that lies beside the answer.
fn print(logs: &Path, output: &Path) -> Result<()> {
    if let Some(folder) = local_folder(logs) {
        return Stdout::new().file(&folder.join(RUN));
    }
    hadoop_fs(&["-cat"], &[&output.join(RUN)], |status| {
        format!("run.json could not be read from {} ({status})", visible::path(output))
    })
}

/// The folder of the answer where Spark says that it is on this machine: Spark needs no Hadoop beside it then.
pub fn local_folder(logs: &Path) -> Option<PathBuf> {
    let whole = fs::read_to_string(logs.join("_output")).ok()?;
    whole.trim_end().strip_prefix("file:").map(PathBuf::from)
}

/// A command of `hadoop fs`, with what to say where it fails.
fn hadoop_fs(words: &[&str], files: &[&Path], failed: impl FnOnce(ExitStatus) -> String) -> Result<()> {
    let hadoop = hadoop();
    let mut command = Command::new(&hadoop);
    command.arg("fs").args(words).args(files).stdin(Stdio::null());
    match command.status().map_err(Error::io("start", &hadoop))? {
        status if status.success() => Ok(()),
        status => Err(Error::Failed(failed(status))),
    }
}

/// The command `hadoop`.
pub fn hadoop() -> PathBuf {
    let home = std::env::var_os("HADOOP_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    home.map_or_else(|| PathBuf::from("hadoop"), |home| home.join("bin/hadoop"))
}
