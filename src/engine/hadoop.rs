//! The engine `hadoop`: a chain as a bash script of Hadoop Streaming jobs over data in HDFS or any file system that
//! Hadoop knows. `twinsplit plan` prints the very script that `twinsplit run --engine hadoop` runs.

use super::memory::stage_megabytes;
use super::params::Params;
use super::pipes::quote;
use crate::chains::{CLUSTERS, DOCUMENTS, KEPT, PAIRS, Part, Repeat, Shape, Step, Tasks};
use crate::error::{Error, Result};
use crate::record::Keys;
use crate::stage::Entry;
use crate::stages;
use std::path::Path;

const PRELUDE: &str = include_str!("hadoop_prelude.sh");

/// Partitions by leading fields, where Hadoop's own way is the whole key.
const PARTITIONER: &str = "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner";

/// A chain's script. `INPUT` (paths) and `OUTPUT` (a folder) come from its arguments.
pub fn script(title: &str, parts: &[Part], shape: Shape, params: &Params) -> Result<String> {
    if params.get("bad-records").is_some_and(|number| number != "0") {
        return Err(Error::Usage(
            "--bad-records: tasks of Hadoop Streaming have no place for the lines that they pass over; \
             run tokenize --bad-records over the files first, or use --engine spark"
                .to_owned(),
        ));
    }
    let (params, ship) = shipped(params);
    let mut text = format!(
        "#!/usr/bin/env bash\n\
         # {title}\n\
         # usage: SCRIPT OUTPUT INPUT…   (documents as JSON lines, plain or .gz; all in HDFS or wherever Hadoop reads; OUTPUT is a folder)\n\
         # The environment may set HADOOP_HOME, HADOOP_OPTIONS (-D …), REDUCERS, HEAP (MB of a task's JVM), JOBS (at once), BINARY, STREAMING_JAR, WORK, LOGS, KEEP_WORK, QUIET, RESUME.\n\
         set -euo pipefail\n\
         shopt -s inherit_errexit nullglob\n\
         export LC_ALL=C\n\
         (($# >= 2)) || {{ sed -n '2,4s/^# //p' \"$0\" >&2; exit 2; }}\n\
         OUTPUT=${{1%/}} INPUT=(\"${{@:2}}\") SHIP=({ship})\n\
         : \"${{REDUCERS:=2}}\" \"${{HEAP:=400}}\" \"${{JOBS:=2}}\"\n\n"
    );
    text.push_str(PRELUDE);
    text.push_str("\n# The chain.\n");
    for part in parts {
        match part {
            Part::Step(step) => push_step(&mut text, step, &params, None)?,
            Part::Repeat(repeat) => push_rounds(&mut text, repeat, &params)?,
        }
    }
    let answer = [(PAIRS, !shape.clusters_only), (KEPT, shape.write_kept), (CLUSTERS, true)];
    let answer = answer.into_iter().filter(|(_, wanted)| *wanted).map(|(data, _)| data).collect::<Vec<_>>();
    text.push_str(&format!("\npublish {}\n", answer.join(" ")));
    Ok(text)
}

/// Files that options name travel with the program: the options under which the tasks find them, and the files.
fn shipped(params: &Params) -> (Params, String) {
    let (mut params, mut files) = (params.clone(), Vec::new());
    let base = |path: &str| Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    if let Some((path, name)) = params.get("idf-table").and_then(|path| Some((path.to_owned(), base(path)?)))
    {
        params.set("idf-table", name);
        files.push(quote(&path));
    }
    let spots = params.get("features").and_then(|features| features.strip_prefix("spotsigs:"));
    let spots = spots.filter(|path| Path::new(path).is_file());
    if let Some((path, name)) = spots.and_then(|path| Some((path.to_owned(), base(path)?))) {
        params.set("features", format!("spotsigs:{name}"));
        files.push(quote(&path));
    }
    (params, files.join(" "))
}

fn push_rounds(text: &mut String, repeat: &Repeat, params: &Params) -> Result<()> {
    text.push_str(&format!("\n# {}\nrounds {} {}\n", repeat.why, repeat.to, repeat.from.join(" ")));
    text.push_str("while [[ -z $MADE ]]; do\n");
    for (at, step) in repeat.steps.iter().enumerate() {
        let mut round = String::new();
        push_step(&mut round, step, params, Some(repeat))?;
        let lines =
            round.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") });
        text.extend(lines.skip(usize::from(at == 0)));
    }
    let steps: Vec<_> = repeat.steps.iter().map(|step| step.name).collect();
    text.truncate(text.trim_end().len());
    text.push_str(&format!("\n  until_zero {} {} {}\ndone\n", repeat.until_zero, repeat.to, steps.join(" ")));
    Ok(())
}

fn find(name: Option<&'static str>) -> Result<Option<&'static Entry>> {
    name.map(|name| stages::find(name).ok_or_else(|| Error::Usage(format!("no stage {name}")))).transpose()
}

/// A step's call; in rounds its name and the data that it makes carry the round's number.
fn push_step(text: &mut String, step: &Step, params: &Params, rounds: Option<&Repeat>) -> Result<()> {
    let (map, reduce) = (find(step.map)?, find(step.reduce)?);
    let numbered = |name: &str| match rounds {
        Some(_) => format!("{name}-$ROUND"),
        None => name.to_owned(),
    };
    let (name, output) = (numbered(step.name), numbered(step.output));
    text.push_str(&format!("\nstep {name} {output} {} &&\n", quote(step.why)));

    let (mut generic, mut options) = (Vec::new(), Vec::new());
    if let Some(reduce) = reduce {
        let Keys { partition, sort } = reduce.input.keys.unwrap_or(Keys { partition: 0, sort: 0 });
        let one = step.tasks == Tasks::One || partition == 0;
        let reducers = match step.tasks {
            Tasks::Slices(plan) => format!("$(slices {plan})"),
            _ if one => "1".to_owned(),
            _ => "$REDUCERS".to_owned(),
        };
        let mut shuffle = format!("-D mapreduce.job.reduces={reducers}");
        shuffle.push_str(&format!(" -D stream.num.map.output.key.fields={}", sort.max(1)));
        if !one {
            shuffle.push_str(&format!(" -D mapreduce.partition.keypartitioner.options=-k1,{partition}"));
            options.push(format!("-partitioner {PARTITIONER}"));
        }
        generic.push(shuffle);
    } else {
        generic.push("-D mapreduce.job.reduces=0 -D stream.map.output=keyonlytext".to_owned());
    }
    if step.inputs == [DOCUMENTS] {
        // A line of JSON may hold a CR, which ends a line too by default.
        let mut lines = "-D textinputformat.record.delimiter=$'\\n'".to_owned();
        if params.get("id") == Some("auto") {
            lines.push_str(" -D stream.map.input.ignoreKey=false");
        }
        generic.push(lines);
    }
    if let Tasks::Option(option) = step.tasks {
        generic.push(format!("-D mapreduce.job.maps={}", params.get(option).unwrap_or("2")));
    }
    let each = match step.tasks {
        Tasks::EachFile(option, data) => Some((option, data)),
        _ => None,
    };
    if each.is_some() {
        // Whoever loads a slice should meet many documents.
        generic.push("-D mapreduce.input.fileinputformat.split.minsize=1073741824".to_owned());
    }
    let memory = |role: &str, entry: Option<&Entry>| {
        format!(
            "-D mapreduce.{role}.memory.mb=$((HEAP + {}))",
            entry.map_or(0, |entry| stage_megabytes(entry, params)) + SPARE
        )
    };
    let mut memories = vec![memory("map", map)];
    memories.extend(reduce.map(|entry| memory("reduce", Some(entry))));
    generic.push(memories.join(" "));

    let roles = [("map", map), ("reduce", reduce)].into_iter();
    let mut files: Vec<String> =
        roles.filter_map(|(role, entry)| Some(format!("$BIN/{role}#{}", entry?.decl.name))).collect();
    for (option, data) in &step.side {
        let part = if *option == "clusters" { "" } else { "/part-00000" };
        files.push(format!("$WORK/{data}{part}#{option}"));
    }
    for option in ["idf-table", "features"] {
        let name = params.get(option).map(|value| value.strip_prefix("spotsigs:").unwrap_or(value));
        let known =
            |entry: &&Entry| entry.command().get_arguments().any(|arg| arg.get_long() == Some(option));
        let file = name.filter(|name| {
            name.contains('.') && [map, reduce].into_iter().flatten().any(|entry| known(&entry))
        });
        files.extend(file.map(|name| format!("$WORK/_bin/{name}#{name}")));
    }
    let files = files.join(",");
    options.push(match (step.inputs.as_slice(), rounds) {
        ([DOCUMENTS], _) => "\"${DOCUMENTS[@]}\"".to_owned(),
        (inputs, Some(repeat)) if inputs == repeat.from => "\"${INPUTS[@]}\"".to_owned(),
        (inputs, _) => inputs
            .iter()
            .map(|data| format!("-input \"$WORK/{}\"", numbered_if(data, rounds)))
            .collect::<Vec<_>>()
            .join(" "),
    });
    let mut programs =
        format!("-mapper {}", map.map_or_else(|| "cat".to_owned(), |map| command(map, step, params)));
    if let Some(reduce) = reduce {
        programs.push_str(&format!(" -reducer {}", command(reduce, step, params)));
    }
    options.push(programs);
    match each {
        Some((option, data)) => {
            text.push_str(&format!("  FILES=\"{files}\" each {data} {option} {output} \\\n"))
        }
        None => {
            text.push_str(&format!("  streaming {output} \\\n"));
            generic.push(format!("-files \"{files}\""));
        }
    }
    let lines: Vec<String> = generic.into_iter().chain(options).map(|line| format!("    {line}")).collect();
    text.push_str(&lines.join(" \\\n"));
    text.push('\n');
    if let Some(guard) = step.guard {
        let limit = params
            .get(guard.option)
            .map_or_else(|| stages::number_by_default(guard.option).to_string(), str::to_owned);
        text.push_str(&format!("guard {} {limit} {}\n", guard.counter, quote(guard.advice)));
    }
    Ok(())
}

/// Megabytes of a container beside the JVM's heap and the stage: the JVM itself.
const SPARE: usize = 150;

/// A data set that is made in a round carries the round's number.
fn numbered_if(data: &str, rounds: Option<&Repeat>) -> String {
    match rounds {
        Some(repeat) if repeat.steps.iter().any(|step| step.output == data) => format!("{data}-$ROUND"),
        _ => data.to_owned(),
    }
}

/// A stage's command line as one word of a shell; the side files are links in the task's folder.
fn command(entry: &Entry, step: &Step, params: &Params) -> String {
    let mut words = vec![entry.decl.name.to_owned()];
    words.extend(params.args_for(entry));
    for (option, _) in &step.side {
        if entry.decl.side.iter().any(|side| side.option == *option) {
            words.extend([format!("--{option}"), (*option).to_owned()]);
        }
    }
    // Streaming takes a command apart at white space, but not within double quotes.
    let words = words
        .into_iter()
        .map(|word| if word.contains(char::is_whitespace) { format!("\"{word}\"") } else { word });
    quote(&words.collect::<Vec<_>>().join(" "))
}
