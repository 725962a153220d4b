//! The engine `spark`: a chain as a Python program for `spark-submit`, over the one binary `twinsplit`, which the
//! program sends to the executors. A step's rows go through processes of its stages; Spark splits files, shuffles,
//! sorts and tries again what failed.
//!
//! The program is plain text, to be read from top to bottom: where the library is, then a call for each step of the chain.

use super::library::{Library, VERSION};
use std::fmt::Write as _;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::chains::{Data, KEPT, Part, QUERIES, Repeat, Step, Tasks};
use twinsplit_rows::params::Params;
use twinsplit_rows::record::Keys;
use twinsplit_rows::stage::Entry;
use twinsplit_rows::stages;

/// A chain's program. The folder of the answer and the documents come from its arguments.
pub fn script(
    title: &str,
    parts: &[Part],
    outputs: &[Data],
    params: &Params,
    library: Library,
) -> Result<String> {
    if let Some(place @ ("auto" | "row")) = params.get("id") {
        return Err(Error::Usage(format!(
            "--id {place} makes ids of a line's place in its file, which a task of Spark does not see; \
             name the field that holds the ids with --id"
        )));
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
         {}\n\
         chain = Chain(__file__, __doc__, \"{VERSION}\", answers={}, named_files={}{})\n\n\
         # Each step: map(FROM, TO, MAPPER) or map_reduce(P, S, FROM, TO, MAPPER, REDUCER), where rows meet by their first P fields and\n\
         # are sorted by their first S.\n",
        title.replace(|c: char| c.is_ascii_control(), " "),
        library.python(),
        list(outputs.iter().map(|data| quote(data))),
        list(params.named_files().iter().map(|(_, file)| quote(file))),
        params.get(QUERIES).map(|queries| format!(", queries={}", quote(queries))).unwrap_or_default(),
    );
    let params = &params.beside_files()?;
    push_parts(&mut text, "", parts, parts, params)?;
    text.push_str("chain.publish()\n");
    Ok(text)
}

/// The calls of some of the parts of a chain.
fn push_parts(
    text: &mut String,
    indent: &str,
    parts: &[Part],
    chain: &[Part],
    params: &Params,
) -> Result<()> {
    for part in parts {
        match part {
            Part::Step(step) => push_step(text, indent, step, (params, chain))?,
            Part::Repeat(repeat) => push_rounds(text, indent, repeat, (params, chain))?,
            Part::Choice(choice) => {
                let counters = choice.counters(chain);
                let counters =
                    counters.iter().map(|(counter, step)| format!(", ({}, {})", quote(counter), quote(step)));
                let counters: String = counters.collect();
                let limit = limit(choice.option, params);
                let _ = writeln!(text, "{indent}# {}: {}", choice.name, choice.why);
                let _ = writeln!(text, "{indent}if chain.few({limit}{counters}):");
                let inner = format!("{indent}    ");
                push_parts(text, &inner, &choice.few, chain, params)?;
                let _ = writeln!(text, "{indent}else:");
                push_parts(text, &inner, &choice.many, chain, params)?;
            }
        }
    }
    Ok(())
}

/// The value of an option that bounds a counter, as the program asks for it.
fn limit(option: &str, params: &Params) -> String {
    params.get(option).map_or_else(
        || format!("chain.limit({}, {})", quote(option), stages::number_by_default(option)),
        str::to_owned,
    )
}

fn push_step(text: &mut String, indent: &str, step: &Step, chain: (&Params, &[Part])) -> Result<()> {
    let params = chain.0;
    let inputs = list(step.inputs.iter().map(|data| quote(data)));
    push_call(text, indent, step, chain, [quote(step.name), quote(step.output), inputs])?;
    for guard in &step.guards {
        let limit = limit(guard.option, params);
        let (counter, advice) = (quote(guard.counter), quote(guard.advice));
        let _ = writeln!(text, "{indent}chain.guard({counter}, {limit}, {advice})");
    }
    if let Some(field) = step.field {
        let nowhere = field.nowhere(params.get(field.option).unwrap_or_default());
        let _ = writeln!(
            text,
            "{indent}chain.some({}, {}, {})",
            quote(field.with),
            quote(field.without),
            quote(&nowhere)
        );
    }
    Ok(())
}

/// Steps in rounds are a loop; what a step of round R makes has `-R` at the end of its name.
fn push_rounds(text: &mut String, indent: &str, repeat: &Repeat, chain: (&Params, &[Part])) -> Result<()> {
    let inner = format!("{indent}    ");
    let _ = writeln!(text, "{indent}for r in chain.rounds({}, {}):", quote(repeat.name), quote(repeat.why));
    let of_round = |name: &str| format!("{} % r", quote(&format!("{name}-%d")));
    for (number, step) in repeat.steps.iter().enumerate() {
        let inputs =
            step.inputs.iter().map(|data| if repeat.makes(data) { of_round(data) } else { quote(data) });
        let mut inputs = list(inputs);
        if number == 0 {
            let before = quote(&format!("{}-%d", repeat.again()));
            inputs = format!("{inputs} if r == 1 else [{before} % (r - 1)]");
        }
        push_call(text, &inner, step, chain, [of_round(step.name), of_round(step.output), inputs])?;
        if number == 0 {
            let _ = writeln!(
                text,
                "{inner}if chain.until_zero({}, {}, {}):\n{inner}    break",
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
    (params, chain): (&Params, &[Part]),
    [name, output, inputs]: [String; 3],
) -> Result<()> {
    let (map, reduce) = step.stages()?;
    let command = |entry: &Entry| command(entry, step, (params, chain));
    let mapper: Vec<_> = map.iter().map(|entry| command(entry)).collect();
    let mapper = match &mapper[..] {
        [] => "None".to_owned(),
        stages => list(stages.join(&quote("--then"))),
    };
    let mut call = match (reduce, step.tasks) {
        (Some(reduce), _) => {
            let Keys { partition, sort } = reduce.input.keys.unwrap_or(Keys { partition: 0, sort: 0 });
            let reducer = list(command(reduce));
            format!("map_reduce({partition}, {sort}, {inputs}, {output}, {mapper}, {reducer}")
        }
        (None, Tasks::EachFile(option, data)) => {
            format!("each({}, {}, {inputs}, {output}, {mapper}", quote(data), quote(option))
        }
        (None, _) => format!("map({inputs}, {output}, {mapper}"),
    };
    match step.tasks {
        Tasks::Option(option) => {
            let _ = write!(call, ", tasks={}", params.get(option).unwrap_or("chain.reducers"));
        }
        // Each slice is a part: its task is that of its number.
        Tasks::Slices(plan) => {
            let _ = write!(call, ", slices={}", quote(plan));
        }
        // The lines of kept documents may be in many parts: no order is promised of them.
        Tasks::One if step.output != KEPT => call.push_str(", tasks=1"),
        _ => {}
    }
    if !step.side.is_empty() {
        let pairs = step.side.iter().map(|(option, data)| format!("{}: {}", quote(option), quote(data)));
        let _ = write!(call, ", side={{{}}}", pairs.collect::<Vec<_>>().join(", "));
    }
    let _ = writeln!(text, "{indent}chain.step({name}, {})\n{indent}chain.{call})", quote(&step.why));
    Ok(())
}

/// The words of a stage's command line as expressions: the options given, and the side files that it knows. Those and the files that
/// options name lie in the task's folder.
fn command(entry: &Entry, step: &Step, (params, chain): (&Params, &[Part])) -> Vec<String> {
    let mut words = vec![entry.decl.name.to_owned()];
    words.extend(step.params(params).args_for(entry));
    let mut side: Vec<&str> = step.side.iter().map(|(option, _)| *option).collect();
    if let Tasks::EachFile(option, _) = step.tasks {
        side.push(option);
    }
    side.retain(|option| entry.has_side(option));
    words.extend(side.iter().flat_map(|option| [format!("--{option}"), (*option).to_owned()]));
    let mut words: Vec<String> = words.iter().map(|word| quote(word)).collect();
    if let Some(counted) = step.counted.filter(|counted| entry.knows(counted.option))
        && let Some(step) = counted.step(chain)
    {
        let value = format!("str(chain.counted({}, {}))", quote(counted.counter), quote(step));
        words.extend([quote(&format!("--{}", counted.option)), value]);
    }
    words
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

/// A text as Python reads it back: what JSON writes is a string of Python too.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
