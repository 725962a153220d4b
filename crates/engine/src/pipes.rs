//! The engine `pipes`: a chain as a bash script over the program, `sort` and files, which shows what a cluster
//! will do. `twinsplit plan --inline` prints the very script that `twinsplit run --engine pipes` runs.

use super::library::{Library, VERSION};
use super::progress::{Done, Progress, add_counters};
use super::script;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::chains::{Data, Part, QUERIES, Step, Tasks};
use twinsplit_rows::params::Params;
use twinsplit_rows::stage::Counters;

/// A chain's script. `INPUT` (files) and `OUTPUT` (a folder) come from its arguments.
pub fn script(
    title: &str,
    parts: &[Part],
    outputs: &[Data],
    params: &Params,
    library: Library,
) -> Result<String> {
    let settings = |step: &Step| {
        let mut all: Vec<_> = script::tasks(step, params).into_iter().collect();
        // Kept lines are one file, in the order of the input.
        all.extend((step.tasks == Tasks::One && step.reduce.is_none()).then(|| ("mappers", "1".to_owned())));
        Ok(all)
    };
    let calls = script::calls(parts, params, settings, |option| bound(option, params))?;
    Ok(format!(
        "#!/usr/bin/env bash\n\
         # {title}\n\
         # usage: SCRIPT OUTPUT INPUT…   (documents as JSON lines, plain or gzip; OUTPUT is a folder)\n\
         # The environment may set MAPPERS, REDUCERS, JOBS (tasks at once), SORT_MEMORY, WORK (the folder in between), QUIET, RESUME.\n\
         set -euo pipefail\n\
         VERSION={VERSION} QUERIES={}\n\
         {}{calls}\
         publish {}\n",
        params.get(QUERIES).map(script::quote).unwrap_or_default(),
        library.bash("pipes.sh"),
        outputs.join(" ")
    ))
}

/// The value of an option that bounds a counter: what is not given may be in the environment, where stages find it too.
fn bound(option: &str, params: &Params) -> String {
    let limit = script::limit(option, params);
    match params.get(option) {
        Some(_) => limit.to_string(),
        None => format!("\"${{TWINSPLIT_{}:-{limit}}}\"", option.replace('-', "_").to_uppercase()),
    }
}

/// How the script is run.
pub struct PipesRun<'a> {
    /// The script.
    pub script: &'a str,
    /// Input documents as they were given: files, folders, patterns.
    pub inputs: &'a [PathBuf],
    /// The answer's folder.
    pub output: &'a Path,
    /// The folder of data sets in between.
    pub work: &'a Path,
    /// Tasks at once.
    pub threads: usize,
    /// Bytes that all tasks together should hold.
    pub memory: usize,
    /// A locked file: tasks that outlive this process for a moment keep the lock until they are gone.
    pub lock: &'a fs::File,
    /// Which fields the input has, for messages; nothing where the chain does not ask.
    pub fields: &'a str,
    /// How far the run is.
    pub progress: &'a Progress,
}

impl PipesRun<'_> {
    /// Runs the script with this program, and gives each step's seconds and counters.
    pub fn run(&self) -> Result<Vec<Done>> {
        fs::create_dir_all(self.work).map_err(Error::io("create", self.work))?;
        let path = self.work.join("_chain.sh");
        fs::write(&path, self.script).map_err(Error::io("write", &path))?;
        let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.to_owned()));
        let mut search: Vec<PathBuf> = beside.into_iter().collect();
        search.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let search = std::env::join_paths(search).map_err(|error| Error::Usage(format!("PATH: {error}")))?;
        let lock = self.lock.try_clone().map_err(Error::io("share the lock of", self.work))?;
        let sort_memory = ((self.memory / 2 / self.threads.max(1)) >> 20).max(16);
        let mut bash = Command::new("bash");
        // Folders without a file in them are a corpus without a document; the script needs a file all the same.
        let empty = [self.work.join("_empty")];
        let inputs = if self.inputs.is_empty() { &empty[..] } else { self.inputs };
        if self.inputs.is_empty() {
            fs::write(&empty[0], "").map_err(Error::io("write", &empty[0]))?;
        }
        bash.arg(&path).arg(self.output).args(inputs).env("PATH", search).env("WORK", self.work);
        bash.env("JOBS", self.threads.to_string()).env("MAPPERS", self.threads.max(2).to_string());
        bash.env("REDUCERS", self.threads.max(2).to_string()).env("SORT_MEMORY", format!("{sort_memory}M"));
        bash.env("INPUT_FIELDS", self.fields).stdin(lock);
        script::run(bash, &path, self.work, None, self.progress)?;
        let done = read_seconds(&self.work.join("_steps"))?.into_iter().map(|(name, seconds)| {
            let counters = read_counters(&self.work.join("_counters").join(&name))?;
            Ok(Done { name, seconds, counters })
        });
        done.collect()
    }
}

/// The finished steps in their order, and how long each took. A step that was stopped between this line and its
/// end was done again.
fn read_seconds(path: &Path) -> Result<Vec<(String, f64)>> {
    let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
    let mut steps: Vec<(String, f64)> = Vec::new();
    for (name, micros) in text.lines().filter_map(|line| line.split_once('\t')) {
        let seconds = micros.parse::<f64>().unwrap_or(0.0) / 1e6;
        steps.retain(|(known, _)| known != name);
        steps.push((name.to_owned(), seconds));
    }
    Ok(steps)
}

/// The sum of the counters that a step's tasks wrote.
fn read_counters(folder: &Path) -> Result<Counters> {
    let mut sum = Counters::new();
    for path in twinsplit_io::expand_inputs(&[folder.to_owned()])? {
        add_counters(&mut sum, &script::read_counters(&path)?);
    }
    Ok(sum)
}
