//! The engine `pipes`: a chain as a bash script over the real binaries, `sort` and files, which shows what a cluster
//! will do. `twinsplit plan` prints the very script that `twinsplit run --engine pipes` runs.

use super::params::Params;
use super::progress::{Done, Progress, Unit, add_counters};
use crate::chains::{CLUSTERS, Data, KEPT, PAIRS, Part, Repeat, Shape, Step, Tasks};
use crate::error::{Error, Result};
use crate::record::Keys;
use crate::stage::{Counters, Entry};
use crate::stages;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How often the driver looks where the script is.
const POLL: Duration = Duration::from_millis(20);

const PRELUDE: &str = include_str!("pipes_prelude.sh");

/// A chain's script. `INPUT` (files) and `OUTPUT` (a folder) come from its arguments.
pub fn script(title: &str, parts: &[Part], shape: Shape, params: &Params) -> Result<String> {
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
    text.push_str(PRELUDE);
    text.push_str("\n# The chain.\n");
    for part in parts {
        match part {
            Part::Step(step) => push_step(&mut text, step, &Names::of(step), params)?,
            Part::Repeat(repeat) => push_repeat(&mut text, repeat, params)?,
        }
    }
    text.push('\n');
    if !shape.clusters_only {
        text.push_str(&format!("collect {PAIRS} pairs.tsv\n"));
    }
    if shape.write_kept {
        text.push_str(&format!("complete \"$OUTPUT/kept.jsonl\" cat \"$(part {KEPT} 0)\"\n"));
    }
    text.push_str(&format!("collect {CLUSTERS} clusters.tsv\n"));
    Ok(text)
}

/// What a step and its data sets are called in the script; in a round names end in its number.
struct Names {
    step: String,
    inputs: String,
    output: String,
}

impl Names {
    fn of(step: &Step) -> Self {
        Self { step: step.name.to_owned(), inputs: step.inputs.join(" "), output: step.output.to_owned() }
    }

    fn in_round(step: &Step, repeat: &Repeat) -> Self {
        let made = |data: &Data| repeat.steps.iter().any(|step| step.output == *data);
        let inputs = step.inputs.iter().map(|data| match made(data) {
            true => format!("{data}-$round"),
            false => (*data).to_owned(),
        });
        Self {
            step: format!("{}-$round", step.name),
            inputs: match step.inputs == repeat.from {
                true => "$from".to_owned(),
                false => inputs.collect::<Vec<_>>().join(" "),
            },
            output: format!("{}-$round", step.output),
        }
    }
}

fn push_repeat(text: &mut String, repeat: &Repeat, params: &Params) -> Result<()> {
    let Repeat { name, why, to, until_zero, .. } = repeat;
    let from = repeat.from.join(" ");
    text.push_str(&format!(
        "\n# {name}: {why}\nfrom=\"{from}\" round=0\nuntil made {to}; do\n  round=$((round + 1))\n"
    ));
    let mut body = String::new();
    for step in &repeat.steps {
        push_step(&mut body, step, &Names::in_round(step, repeat), params)?;
    }
    for line in body.lines() {
        text.push_str(if line.is_empty() { "" } else { "  " });
        text.push_str(line);
        text.push('\n');
    }
    let steps: Vec<_> = repeat.steps.iter().map(|step| step.name).collect();
    text.push_str(&format!(
        "\n  until_zero {until_zero} {to} {}\n  from={to}-$round\ndone\n",
        steps.join(" ")
    ));
    Ok(())
}

fn push_step(text: &mut String, step: &Step, names: &Names, params: &Params) -> Result<()> {
    let find =
        |name: &'static str| stages::find(name).ok_or_else(|| Error::Usage(format!("no stage {name}")));
    let map = step.map.map(find).transpose()?;
    let reduce = step.reduce.map(find).transpose()?;
    let Names { step: name, inputs, output: to } = names;
    let mut line = String::new();
    let mappers = match step.tasks {
        Tasks::Many | Tasks::Slices(_) => "\"$MAPPERS\"".to_owned(),
        Tasks::One => "1".to_owned(),
        Tasks::Option(option) => params.get(option).unwrap_or("\"$MAPPERS\"").to_owned(),
        Tasks::EachFile(option, data) => format!("{data} {option}"),
    };
    match (map, reduce, step.tasks) {
        (Some(map), None, Tasks::EachFile(..)) => {
            line.push_str(&format!("each {mappers} \"{inputs}\" {to} {}", command(map, step, params)));
        }
        (Some(map), None, _) => {
            line.push_str(&format!("map {mappers} \"{inputs}\" {to} {}", command(map, step, params)));
        }
        (map, Some(reduce), _) => {
            let Keys { partition, sort } = reduce.input.keys.unwrap_or(Keys { partition: 0, sort: 0 });
            let mapper = map.map_or_else(|| "cat".to_owned(), |map| command(map, step, params));
            let (mappers, reducers) = match step.tasks {
                Tasks::One => ("\"$MAPPERS\"", "1".to_owned()),
                Tasks::Slices(plan) => ("\"$MAPPERS\"", format!("\"$(slices {plan})\"")),
                _ => ("\"$MAPPERS\"", "\"$REDUCERS\"".to_owned()),
            };
            line.push_str(&format!(
                "map_reduce {mappers} {reducers} {partition} {sort} \"{inputs}\" {to} \\\n  {mapper} -- \\\n  {}",
                command(reduce, step, params)
            ));
        }
        (None, None, _) => return Err(Error::Usage(format!("the step {} has no stage", step.name))),
    }
    text.push_str(&format!("\nstep {name} {to} {}\n{line}\n", quote(step.why)));
    if let Some(guard) = step.guard {
        let limit = params.get(guard.option).map_or_else(
            || {
                format!(
                    "\"${{TWINSPLIT_{}:-{}}}\"",
                    guard.option.replace('-', "_").to_uppercase(),
                    stages::number_by_default(guard.option)
                )
            },
            str::to_owned,
        );
        text.push_str(&format!("guard {} {limit} {}\n", guard.counter, quote(guard.advice)));
    }
    Ok(())
}

/// A stage's command line in a script: the options given, and the side files that it knows.
fn command(entry: &Entry, step: &Step, params: &Params) -> String {
    let mut words = vec![entry.decl.name.to_owned()];
    for (at, word) in params.args_for(entry).into_iter().enumerate() {
        words.push(if at % 2 == 0 { word } else { quote(&word) });
    }
    for (option, data) in &step.side {
        if entry.decl.side.iter().any(|side| side.option == *option) {
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

/// A word as a shell reads it back.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:/=+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
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
        bash.env("DRIVER_PID", std::process::id().to_string()).env("QUIET", "1");
        bash.stdin(lock).process_group(0);
        let start = |source| Error::Io { action: "start bash (install it) for", path: path.clone(), source };
        let mut child = bash.spawn().map_err(start)?;
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
        let done = read_seconds(&self.work.join("_steps"))?.into_iter().map(|(name, seconds)| {
            let counters = read_counters(&self.work.join("_counters").join(&name))?;
            Ok(Done { name, seconds, counters })
        });
        done.collect()
    }

    /// Tells which step the script is at.
    fn show(&self) {
        // Between two steps there may be nothing to read.
        let step = fs::read_to_string(self.work.join("_now")).unwrap_or_default();
        let step = step.trim();
        if !step.is_empty() && self.progress.now().is_none_or(|(phase, _)| phase.step != step) {
            self.progress.start(step, "working", Unit::Rows, 0);
        }
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
        let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        let mut counters = Counters::new();
        for (name, value) in text.lines().filter_map(|line| line.split_once('\t')) {
            counters.insert(name.to_owned(), value.parse().unwrap_or(0));
        }
        add_counters(&mut sum, &counters);
    }
    Ok(sum)
}
