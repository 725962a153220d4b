//! `twinsplit run` on a cluster: the answer and everything in between stay in the cluster's file system.

use super::identity::Identity;
use super::options::{self, RunOpts};
use super::plan::{ScriptEngine, plan_script};
use super::progress::Display;
use super::run::answers;
use super::{summary, terminal};
use crate::chains::{Chain, Shape};
use crate::engine::params::Params;
use crate::engine::progress::Progress;
use crate::engine::remote::RemoteRun;
use crate::error::{Error, Result};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

/// Runs a chain as jobs of Hadoop Streaming.
pub fn run(chain: Chain, shape: Shape, opts: &RunOpts, params: &Params) -> Result<()> {
    let start = Instant::now();
    let identity =
        Identity::of(chain, opts.engine, &options::resolved(params), opts.write_kept, &opts.input)?;
    let script = plan_script(ScriptEngine::Hadoop, chain, shape, params)?;
    let logs = tempfile::Builder::new()
        .prefix("twinsplit-logs.")
        .tempdir()
        .map_err(Error::io("make a folder in", std::env::temp_dir()))?;
    let progress = Arc::new(Progress::default());
    let interpreter = ["bash".to_owned()];
    let variables = variables(opts)?;
    let run = RemoteRun {
        interpreter: &interpreter,
        script: (&script, "chain.sh"),
        inputs: &opts.input,
        output: &opts.output,
        logs: logs.path(),
        variables: &variables,
        progress: &progress,
    };
    let display = Display::start(&progress, chain.steps(shape).len(), opts.quiet);
    let done = run.run();
    drop(display);
    let steps = done.inspect_err(|_| {
        terminal::note(format_args!(
            "finished steps are in {}/_work; the same command with --resume goes on with them",
            opts.output.display()
        ));
    });
    let steps = match steps {
        Ok(steps) => steps,
        Err(error) => {
            // The logs of the jobs that failed stay, for the messages name them.
            let _ = logs.keep();
            return Err(error);
        }
    };
    if steps.is_empty() {
        terminal::line(format_args!("{} holds the complete answer of this run", opts.output.display()));
        return Ok(());
    }
    let folder = |(data, _)| format!("{}/{data}", opts.output.display());
    let report = summary::Report {
        identity: &identity,
        threads: opts.threads.unwrap_or(JOBS),
        seconds: start.elapsed().as_secs_f64(),
        steps: &steps,
        warnings: summary::warnings(&steps, Vec::new()),
        answers: answers(shape).map(folder).collect(),
    };
    let text = report.json(report.answers.iter().map(|folder| json!({ "path": folder })).collect());
    put(&text, logs.path(), &opts.output)?;
    report.print(opts.quiet, opts.json.then_some(text.as_str()))
}

/// Jobs of slices at once when nothing else is said.
const JOBS: usize = 2;

/// The variables of the script.
fn variables(opts: &RunOpts) -> Result<Vec<(&'static str, String)>> {
    let mut all = vec![("JOBS", opts.threads.unwrap_or(JOBS).to_string())];
    all.extend(opts.reducers.map(|reducers| ("REDUCERS", reducers.to_string())));
    if !opts.settings.is_empty() {
        let settings: Vec<_> = opts.settings.iter().map(|setting| format!("-D {setting}")).collect();
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
    let file = logs.join("run.json");
    fs::write(&file, text).map_err(Error::io("write", &file))?;
    let home = std::env::var_os("HADOOP_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let hadoop = home.map_or_else(|| PathBuf::from("hadoop"), |home| home.join("bin/hadoop"));
    let mut command = Command::new(&hadoop);
    command.args(["fs", "-put", "-f"]).arg(&file).arg(output).stdin(Stdio::null());
    match command.status().map_err(Error::io("start", &hadoop))? {
        status if status.success() => Ok(()),
        status => {
            Err(Error::Failed(format!("run.json could not be put into {} ({status})", output.display())))
        }
    }
}
