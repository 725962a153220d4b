//! The engine `spark`: a chain as a Python program for `spark-submit`, over the one binary `twinsplit`, which the
//! program sends to the executors. A step's rows go through processes of its stages; Spark splits files, shuffles,
//! sorts and tries again what failed.
//!
//! The program is plain text, to be read from top to bottom: functions, then a call for each step of the chain.

use crate::chains::{Data, KEPT, Part, Repeat, Step, Tasks};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::record::Keys;
use crate::stage::Entry;
use crate::stages;
use std::fmt::Write as _;

const PRELUDE: &str = include_str!("spark_prelude.py");

/// A chain's program. The folder of the answer and the documents come from its arguments. Options in `bounds` decide
/// nothing about the answer.
pub fn script(
    title: &str,
    parts: &[Part],
    outputs: &[Data],
    params: &Params,
    bounds: &[&str],
) -> Result<String> {
    if params.get("id") == Some("auto") {
        return Err(Error::Usage(
            "--id auto makes ids of a line's place in its file, which a task of Spark does not see; \
             name the field that holds the ids with --id"
                .to_owned(),
        ));
    }
    if params.get("keep") == Some("first") {
        return Err(Error::Usage(
            "--keep first looks at a line's place in the input, which a task of Spark does not see; \
             --keep smallest-id, or --keep score with a field that counts downwards, needs no place"
                .to_owned(),
        ));
    }
    let mut text = format!(
        "#!/usr/bin/env python3\n\
         # {}\n\
         \"\"\"Near-duplicate documents on Spark, 3.5 and later: a chain of stages of twinsplit.\n\n\
         usage: spark-submit SCRIPT OUTPUT INPUT...   (documents as JSON lines, plain or gzip; OUTPUT is a folder)\n\
         \"\"\"\n\n\
         TITLE = {}\n\
         ANSWERS = {}\n\
         NAMED_FILES = {}\n\
         BOUNDS = {}\n\n",
        title.replace(|c: char| c.is_ascii_control(), " "),
        quote(title),
        list(outputs.iter().map(|data| quote(data))),
        list(params.named_files().iter().map(|(_, file)| quote(file))),
        list(bounds.iter().map(|option| quote(option))),
    );
    let params = &params.beside_files()?;
    text.push_str(PRELUDE);
    text.push_str("\n# The chain.\n");
    for part in parts {
        match part {
            Part::Step(step) => push_step(&mut text, step, params)?,
            Part::Repeat(repeat) => push_rounds(&mut text, repeat, params)?,
        }
    }
    text.push_str("\nfinish()\n");
    Ok(text)
}

fn push_step(text: &mut String, step: &Step, params: &Params) -> Result<()> {
    let inputs = list(step.inputs.iter().map(|data| quote(data)));
    text.push('\n');
    push_call(text, "", step, params, [quote(step.name), quote(step.output), inputs])?;
    if let Some(guard) = step.guard {
        let limit = params.get(guard.option).map_or_else(
            || format!("limit({}, {})", quote(guard.option), stages::number_by_default(guard.option)),
            str::to_owned,
        );
        let _ = writeln!(text, "guard({}, {limit}, {})", quote(guard.counter), quote(guard.advice));
    }
    if let Some(field) = step.field {
        let nowhere = field.nowhere(params.get(field.option).unwrap_or_default());
        let _ = writeln!(text, "some({}, {}, {})", quote(field.with), quote(field.without), quote(&nowhere));
    }
    Ok(())
}

/// Steps in rounds are a loop; what a step of round R makes has `-R` at the end of its name.
fn push_rounds(text: &mut String, repeat: &Repeat, params: &Params) -> Result<()> {
    let _ = writeln!(text, "\nfor r in rounds({}, {}):", quote(repeat.name), quote(repeat.why));
    let of_round = |name: &str| format!("{} % r", quote(&format!("{name}-%d")));
    for (number, step) in repeat.steps.iter().enumerate() {
        let inputs =
            step.inputs.iter().map(|data| if repeat.makes(data) { of_round(data) } else { quote(data) });
        let mut inputs = list(inputs);
        if number == 0 {
            let before = quote(&format!("{}-%d", repeat.again()));
            inputs = format!("{inputs} if r == 1 else [{before} % (r - 1)]");
        }
        push_call(text, "    ", step, params, [of_round(step.name), of_round(step.output), inputs])?;
        if number == 0 {
            let _ = writeln!(
                text,
                "    if until_zero({}, {}, {}):\n        break",
                quote(repeat.until_zero),
                of_round(step.output),
                quote(repeat.to)
            );
        }
    }
    Ok(())
}

/// The call that runs a step; `named` are its name, its output and its inputs as they stand in the program.
fn push_call(
    text: &mut String,
    indent: &str,
    step: &Step,
    params: &Params,
    [name, output, inputs]: [String; 3],
) -> Result<()> {
    let (map, reduce) = step.stages()?;
    let command = |entry: &Entry| command(entry, step, params);
    let mapper = map.map_or_else(|| "None".to_owned(), command);
    let why = quote(step.why);
    let mut function = "map_only";
    let mut lines = vec![format!("{name}, {output},"), format!("{why},")];
    match (reduce, step.tasks) {
        (Some(reduce), _) => {
            function = "map_reduce";
            let Keys { partition, sort } = reduce.input.keys.unwrap_or(Keys { partition: 0, sort: 0 });
            lines.push(format!("{inputs}, {mapper}, {},", command(reduce)));
            lines.push(format!("partition={partition}, sort={sort},"));
        }
        (None, Tasks::EachFile(option, data)) => {
            function = "each_file";
            lines.push(format!("{}, {}, {inputs}, {mapper},", quote(data), quote(option)));
        }
        (None, _) => lines.push(format!("{inputs}, {mapper},")),
    }
    match step.tasks {
        Tasks::Option(option) => {
            lines.push(format!("tasks={},", params.get(option).unwrap_or("REDUCERS")));
        }
        // Each slice is a part: its task is that of its number.
        Tasks::Slices(plan) => lines.push(format!("numbered={},", quote(plan))),
        // The lines of kept documents may be in many parts: no order is promised of them.
        Tasks::One if step.output != KEPT => lines.push("tasks=1,".to_owned()),
        _ => {}
    }
    if !step.side.is_empty() {
        let pairs = step.side.iter().map(|(option, data)| format!("{}: {}", quote(option), quote(data)));
        lines.push(format!("side={{{}}},", pairs.collect::<Vec<_>>().join(", ")));
    }
    let inner = format!("\n{indent}    ");
    let _ = writeln!(text, "{indent}{function}({inner}{}\n{indent})", lines.join(&inner));
    Ok(())
}

/// A stage's command line as a list: the options given, and the side files that it knows. Those and the files that
/// options name lie in the task's folder.
fn command(entry: &Entry, step: &Step, params: &Params) -> String {
    let mut words = vec![entry.decl.name.to_owned()];
    words.extend(params.args_for(entry));
    let mut side: Vec<&str> = step.side.iter().map(|(option, _)| *option).collect();
    if let Tasks::EachFile(option, _) = step.tasks {
        side.push(option);
    }
    side.retain(|option| entry.has_side(option));
    words.extend(side.iter().flat_map(|option| [format!("--{option}"), (*option).to_owned()]));
    list(words.iter().map(|word| quote(word)))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A text as Python reads it back: what JSON writes is a string of Python too.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
