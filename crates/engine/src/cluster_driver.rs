//! Runs the script of a chain on a cluster: the script submits the jobs, and leaves in a local folder of logs what
//! each step counted and how far it is.

use super::progress::{Done, Progress};
use super::script;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use twinsplit_io::error::{Error, Result};

/// A script that is run on a cluster.
pub struct ClusterRun<'a> {
    /// The program that reads the script, and its arguments before the script's name.
    pub interpreter: &'a [String],
    /// The script and the name of its file.
    pub script: (&'a str, &'a str),
    /// Where the cluster finds the documents.
    pub inputs: &'a [PathBuf],
    /// Where it leaves the answer.
    pub output: &'a Path,
    /// A local folder: the script, logs of its jobs, counters of its steps.
    pub logs: &'a Path,
    /// Variables of the script.
    pub variables: &'a [(&'a str, String)],
    /// Its options, after the documents.
    pub options: &'a [String],
    /// How far the run is.
    pub progress: &'a Progress,
}

impl ClusterRun<'_> {
    /// Runs the script to its end and gives each step's seconds and counters; none where the answer was complete before.
    pub fn run(&self) -> Result<Vec<Done>> {
        let (text, name) = self.script;
        let path = self.logs.join(name);
        fs::write(&path, text).map_err(Error::io("write", &path))?;
        let Some((program, arguments)) = self.interpreter.split_first() else { return Ok(Vec::new()) };
        let mut command = Command::new(program);
        command.args(arguments).arg(&path).arg(self.output).args(self.inputs).args(self.options);
        command.envs(self.variables.iter().map(|(name, value)| (*name, value)));
        command.env("LOGS", self.logs);
        // What a script says is no part of what `--json` prints.
        command.stdin(Stdio::null()).stdout(std::io::stderr());
        script::run(command, &path, self.logs, Some(self.logs), self.progress)?;
        let order = self.logs.join("_order");
        // A complete answer has no steps to run.
        let steps = if order.exists() {
            fs::read_to_string(&order).map_err(Error::io("read", &order))?
        } else {
            String::new()
        };
        steps.lines().map(|step| self.done(step)).collect()
    }

    fn done(&self, step: &str) -> Result<Done> {
        let mut counters = script::read_counters(&self.logs.join("steps").join(step))?;
        let seconds = counters.remove("_micros").unwrap_or(0) as f64 / 1e6;
        Ok(Done { name: step.to_owned(), seconds, counters })
    }
}
