//! The engine `hadoop`: a chain as a bash script of Hadoop Streaming jobs over data in HDFS or any file system that
//! Hadoop knows. `twinsplit plan` prints the very script that `twinsplit run --engine hadoop` runs.

use super::memory::stage_megabytes;
use super::script::{self, quote};
use crate::chains::{DOCUMENTS, Data, Names, Part, Step, Tasks};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::record::Keys;
use crate::stage::Entry;

/// What comes before the calls: where everything is; what is in the output folder, and whose; how a step is run.
const PRELUDE: [&str; 3] =
    [include_str!("hadoop_prelude.sh"), include_str!("hadoop_output.sh"), include_str!("hadoop_steps.sh")];

/// Partitions by leading fields, where Hadoop's own way is the whole key.
const PARTITIONER: &str = "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner";

/// A chain's script. `INPUT` (paths) and `OUTPUT` (a folder) come from its arguments.
pub fn script(title: &str, parts: &[Part], outputs: &[Data], params: &Params) -> Result<String> {
    if params.get("bad-records").is_some_and(|number| number != "0") {
        return Err(Error::Usage(
            "--bad-records: tasks of Hadoop Streaming have no place for the lines that they pass over; \
             run tokenize --bad-records N over the files first, or use --engine spark, where ids are not --id auto"
                .to_owned(),
        ));
    }
    let ship: Vec<_> = params.named_files().iter().map(|(_, file)| quote(file)).collect();
    let ship = ship.join(" ");
    let params = params.beside_files()?;
    let mut text = format!(
        "#!/usr/bin/env bash\n\
         # {title}\n\
         # usage: SCRIPT OUTPUT INPUT…   (documents as JSON lines, plain or .gz; all in HDFS or wherever Hadoop reads; OUTPUT is a folder)\n\
         # The environment may set HADOOP_HOME, HADOOP_OPTIONS (-D …), REDUCERS, HEAP (MB of a task's JVM), JOBS (at once), BINARY, STREAMING_JAR, WORK, LOGS, KEEP_WORK, QUIET, RESUME.\n\
         set -euo pipefail\n\
         shopt -s inherit_errexit nullglob\n\
         export LC_ALL=C\n\
         (($# >= 2)) || {{ sed -n '2,4s/^# //p' \"$0\" >&2; exit 2; }}\n\
         OUTPUT=${{1%/}} INPUT=(\"${{@:2}}\") SHIP=({ship}) VERSION={} CHAIN={}\n\
         : \"${{REDUCERS:=2}}\" \"${{HEAP:={HEAP}}}\" \"${{JOBS:=2}}\"\n\n",
        env!("CARGO_PKG_VERSION"),
        title.split(' ').nth(2).unwrap_or_default(),
    );
    text.push_str(script::BASH);
    text.push_str(&PRELUDE.join("\n"));
    if params.get("keep") == Some("first") {
        text.push_str("\n# A task knows the name of its file and not which input that is of.\nby_name\n");
    }
    text.push_str(&script::calls(
        parts,
        &params,
        |step, names| call(step, names, &params),
        |guard| script::limit(guard, &params).to_string(),
    )?);
    text.push_str(&format!("\npublish {}\n", outputs.join(" ")));
    Ok(text)
}

/// A step's call.
fn call(step: &Step, names: &Names, params: &Params) -> Result<String> {
    let (map, reduce) = step.stages()?;
    let Names { step: name, inputs, output } = names;
    let inputs = inputs.join(" ");
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
        if params.get("id") == Some("auto") || params.get("keep") == Some("first") {
            lines.push_str(" -D stream.map.input.ignoreKey=false");
        }
        generic.push(lines);
    }
    if let Tasks::Option(option) = step.tasks {
        generic.push(format!("-D mapreduce.job.maps={}", params.get(option).unwrap_or("2")));
    }
    if matches!(step.tasks, Tasks::EachFile(..)) {
        generic.push(format!("-D mapreduce.input.fileinputformat.split.minsize={QUERY_SPLIT}"));
    }
    let memory = |role: &str, entry: Option<&Entry>| {
        format!("-D mapreduce.{role}.memory.mb=$((HEAP + {}))", megabytes_beside_heap(entry, params))
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
    for (option, file) in params.named_files() {
        if [map, reduce].into_iter().flatten().any(|entry| entry.knows(option)) {
            files.push(format!("$WORK/_bin/{file}#{file}"));
        }
    }
    let files = files.join(",");
    let mut programs =
        format!("-mapper {}", map.map_or_else(|| "cat".to_owned(), |map| command(map, step, params)));
    if let Some(reduce) = reduce {
        programs.push_str(&format!(" -reducer {}", command(reduce, step, params)));
    }
    options.push(programs);
    let first = match step.tasks {
        Tasks::EachFile(option, data) => format!("each {data} {option} \"{inputs}\" {output} \"{files}\""),
        _ => {
            generic.push(format!("-files \"{files}\""));
            format!("streaming \"{inputs}\" {output}")
        }
    };
    let lines: Vec<String> = generic.into_iter().chain(options).map(|line| format!("    {line}")).collect();
    Ok(format!("step {name} {output} {} &&\n  {first} \\\n{}\n", quote(step.why), lines.join(" \\\n")))
}

/// Megabytes of a container beside the JVM's heap and the stage: the JVM itself.
const SPARE: usize = 150;
/// Megabytes of a task's JVM when nothing else is said.
pub const HEAP: usize = 400;
/// Bytes that a map task of Doc-Split's queries takes at least: whoever loads a slice should meet many documents.
pub const QUERY_SPLIT: u64 = 1 << 30;

/// Megabytes that the container of a task is asked for beside the JVM's heap; without a stage rows pass as they are.
pub fn megabytes_beside_heap(entry: Option<&Entry>, params: &Params) -> usize {
    SPARE + entry.map_or(0, |entry| stage_megabytes(entry, params))
}

/// A stage's command line as one word of a shell; the side files are links in the task's folder.
fn command(entry: &Entry, step: &Step, params: &Params) -> String {
    let mut words = vec![entry.decl.name.to_owned()];
    words.extend(params.args_for(entry));
    for (option, _) in &step.side {
        if entry.has_side(option) {
            words.extend([format!("--{option}"), (*option).to_owned()]);
        }
    }
    // Streaming takes a command apart at white space, but not within double quotes.
    let words = words
        .into_iter()
        .map(|word| if word.contains(char::is_whitespace) { format!("\"{word}\"") } else { word });
    quote(&words.collect::<Vec<_>>().join(" "))
}
