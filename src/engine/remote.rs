//! Runs the script of a chain on a cluster: the script submits the jobs, and leaves in a local folder of logs what
//! each step counted and how far it is.

use super::progress::{Done, Progress, Unit};
use crate::error::{Error, Result};
use crate::stage::Counters;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// How often the driver looks where the script is.
const POLL: Duration = Duration::from_millis(100);

/// A script that is run on a cluster.
pub struct RemoteRun<'a> {
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

impl RemoteRun<'_> {
    /// Runs the script to its end and gives each step's seconds and counters; none where the answer was complete before.
    pub fn run(&self) -> Result<Vec<Done>> {
        let (text, name) = self.script;
        let path = self.logs.join(name);
        fs::write(&path, text).map_err(Error::io("write", &path))?;
        let Some((program, arguments)) = self.interpreter.split_first() else { return Ok(Vec::new()) };
        let mut command = Command::new(program);
        command.args(arguments).arg(&path).arg(self.output).args(self.inputs).args(self.options);
        command.envs(self.variables.iter().map(|(name, value)| (*name, value)));
        command.env("LOGS", self.logs).env("DRIVER_PID", std::process::id().to_string()).env("QUIET", "1");
        // What a script says is no part of what `--json` prints.
        command.stdin(Stdio::null()).stdout(std::io::stderr()).process_group(0);
        let start = |source| Error::Io { action: "start the interpreter of", path: path.clone(), source };
        let mut child = command.spawn().map_err(start)?;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(Error::io("wait for", &path))? {
                break status;
            }
            self.show();
            std::thread::sleep(POLL);
        };
        if !status.success() {
            return Err(Error::Failed(format!("the chain failed ({status}); its messages stand above")));
        }
        let order = self.logs.join("_order");
        // A complete answer has no steps to run.
        let steps = if order.exists() {
            fs::read_to_string(&order).map_err(Error::io("read", &order))?
        } else {
            String::new()
        };
        steps.lines().map(|step| self.done(step)).collect()
    }

    /// Tells which step the script is at.
    fn show(&self) {
        let step = fs::read_to_string(self.logs.join("_now")).unwrap_or_default();
        let step = step.trim();
        if !step.is_empty() && self.progress.now().is_none_or(|(phase, _)| phase.step != step) {
            self.progress.start(step, "working", Unit::Rows, 0);
        }
    }

    fn done(&self, step: &str) -> Result<Done> {
        let path = self.logs.join("steps").join(step);
        let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        let number = |line: &str| {
            let (name, value) = line.split_once('\t')?;
            Some((name.to_owned(), value.parse::<u64>().ok()?))
        };
        let mut counters: Counters = text.lines().filter_map(number).collect();
        let seconds = counters.remove("_micros").unwrap_or(0) as f64 / 1e6;
        Ok(Done { name: step.to_owned(), seconds, counters })
    }
}
