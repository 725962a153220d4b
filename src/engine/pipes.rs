//! The engine `pipes`: a chain as a bash script over the real binaries, `sort` and files, which shows what a cluster
//! will do. `twinsplit plan` prints the very script that `twinsplit run --engine pipes` runs.

use super::progress::{Done, Progress, add_counters};
use super::script::{self, quote};
use crate::chains::{Data, Guard, KEPT, Names, Part, Step, Tasks};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::record::Keys;
use crate::stage::{Counters, Entry};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PRELUDE: &str = include_str!("pipes_prelude.sh");

/// A chain's script. `INPUT` (files) and `OUTPUT` (a folder) come from its arguments.
pub fn script(title: &str, parts: &[Part], outputs: &[Data], params: &Params) -> Result<String> {
    let mut text = format!(
        "#!/usr/bin/env bash\n\
         # {title}\n\
         # usage: SCRIPT OUTPUT INPUT…   (documents as JSON lines, plain or gzip; OUTPUT is a folder)\n\
         # The environment may set MAPPERS, REDUCERS, JOBS (tasks at once), SORT_MEMORY, WORK (the folder in between), QUIET, RESUME.\n\
         set -euo pipefail\n\
         shopt -s inherit_errexit\n\
         export LC_ALL=C\n\
         (($# >= 2)) || {{ sed -n '2,4s/^# //p' \"$0\" >&2; exit 2; }}\n\
         OUTPUT=$1 INPUT=(\"${{@:2}}\")\n\
         : \"${{MAPPERS:=2}}\" \"${{REDUCERS:=2}}\" \"${{JOBS:=2}}\" \"${{SORT_MEMORY:=256M}}\" \"${{WORK:=$OUTPUT/_work}}\"\n\
         mkdir -p \"$OUTPUT\" \"$WORK\"\n\n"
    );
    text.push_str(script::BASH);
    text.push_str(PRELUDE);
    text.push_str(&script::calls(
        parts,
        params,
        |step, names| call(step, names, params),
        |guard| bound(guard, params),
    )?);
    text.push('\n');
    for data in outputs {
        text.push_str(&match *data {
            KEPT => format!("complete \"$OUTPUT/kept.jsonl\" only_part {KEPT}\n"),
            data => format!("collect {data} {data}.tsv\n"),
        });
    }
    Ok(text)
}

/// A step's call.
fn call(step: &Step, names: &Names, params: &Params) -> Result<String> {
    let (map, reduce) = step.stages()?;
    let Names { step: name, inputs, output } = names;
    let inputs = inputs.join(" ");
    let command = |entry: &Entry| command(entry, step, params);
    let mapper = map.map_or_else(|| "cat".to_owned(), command);
    let line = match (reduce, step.tasks) {
        (Some(reduce), tasks) => {
            let Keys { partition, sort } = reduce.input.keys.unwrap_or(Keys { partition: 0, sort: 0 });
            let reducers = match tasks {
                Tasks::One => "1".to_owned(),
                Tasks::Slices(plan) => format!("\"$(slices {plan})\""),
                _ => "\"$REDUCERS\"".to_owned(),
            };
            let reducer = command(reduce);
            format!(
                "map_reduce \"$MAPPERS\" {reducers} {partition} {sort} \"{inputs}\" {output} \\\n  {mapper} -- \\\n  {reducer}"
            )
        }
        (None, Tasks::EachFile(option, data)) => {
            format!("each {data} {option} \"{inputs}\" {output} {mapper}")
        }
        (None, tasks) => {
            let mappers = match tasks {
                Tasks::One => "1",
                Tasks::Option(option) => params.get(option).unwrap_or("\"$MAPPERS\""),
                _ => "\"$MAPPERS\"",
            };
            format!("map {mappers} \"{inputs}\" {output} {mapper}")
        }
    };
    Ok(format!("step {name} {output} {}\n{line}\n", quote(step.why)))
}

/// A guard's bound: what is not given may be in the environment, where stages find it too.
fn bound(guard: &Guard, params: &Params) -> String {
    let limit = script::limit(guard, params);
    match params.get(guard.option) {
        Some(_) => limit.to_string(),
        None => {
            format!("\"${{TWINSPLIT_{}:-{limit}}}\"", guard.option.replace('-', "_").to_uppercase())
        }
    }
}

/// A stage's command line in a script: the options given, and the side files that it knows.
fn command(entry: &Entry, step: &Step, params: &Params) -> String {
    let mut words = vec![entry.decl.name.to_owned()];
    for (at, word) in params.args_for(entry).into_iter().enumerate() {
        words.push(if at % 2 == 0 { word } else { quote(&word) });
    }
    for (option, data) in &step.side {
        if entry.has_side(option) {
            words.push(format!("--{option} \"{}\"", side_path(option, data)));
        }
    }
    words.join(" ")
}

/// A side file in the script: the one part of a data set that one task wrote, or the folder of all parts.
fn side_path(option: &str, data: &str) -> String {
    match option {
        "clusters" => format!("$WORK/{data}"),
        _ => format!("$(part {data} 0)"),
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
    /// Runs the script with the binaries that stand beside this program, and gives each step's seconds and counters.
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
        script::run(bash, &path, self.work, self.progress)?;
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
    for path in crate::io::expand_inputs(&[folder.to_owned()])? {
        add_counters(&mut sum, &script::read_counters(&path)?);
    }
    Ok(sum)
}
