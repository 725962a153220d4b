//! The estimate as a table for people and as JSON for programs.

use super::growth::Range;
use super::{Bands, EXACT, Estimate, Forecast, StepVolume};
use crate::table::aligned;
use indicatif::{BinaryBytes, HumanCount};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const HEADINGS: [&str; 10] =
    ["step", "jobs", "maps", "reduces", "read", "shuffled", "written", "within", "core time", "MB a task"];

/// The error of a count by chance is about its square root: of fewer pairs than this it is over a tenth.
const FEW: u64 = 100;

/// The table, a line for each step, with their sum and what to mind.
pub fn table(estimate: &Estimate) -> String {
    let mut rows: Vec<[String; 10]> = vec![HEADINGS.map(str::to_owned)];
    rows.extend(estimate.steps.iter().map(row));
    let sum = |of: fn(&StepVolume) -> Range| estimate.steps.iter().map(of).sum::<Range>();
    let count = |of: fn(&StepVolume) -> u64| HumanCount(estimate.steps.iter().map(of).sum()).to_string();
    let volumes = [sum(|step| step.read), sum(|step| step.shuffled), sum(|step| step.written)];
    rows.push([
        "together".to_owned(),
        count(|step| step.jobs),
        count(|step| step.maps),
        count(|step| step.reduces),
        bytes(volumes[0].mid),
        bytes(volumes[1].mid),
        bytes(volumes[2].mid),
        within(&volumes),
        time(sum(|step| step.core_seconds).mid),
        String::new(),
    ]);
    let mut text = format!(
        "{} documents, {}, by a sample of {}:\n\n{}\n",
        HumanCount(estimate.documents),
        bytes(estimate.bytes.mid),
        HumanCount(estimate.sampled),
        aligned(&rows)
    );
    if let Some((pairs, of_sample)) = estimate.pairs {
        text.push_str(&format!(
            "The output will have about {} pairs, between {} and {}, judged by {} in the sample{}.\n",
            rounded(pairs.mid),
            rounded(pairs.low),
            rounded(pairs.high),
            HumanCount(of_sample),
            if of_sample < FEW && estimate.sampled < estimate.documents {
                ": too few to rely on; a larger --sample has more"
            } else {
                ""
            }
        ));
    }
    if let Some(bands) = &estimate.bands {
        text.push_str(&beside(bands, &estimate.steps));
    }
    text.push_str(
        "Shuffled are bytes of rows, which the engines compress to a half or less. Each volume is an estimate, expected to be no more than so many \
         times larger or smaller as its line says under \"within\".\n",
    );
    text.push_str(&not_known(estimate));
    for (step, (option, number, limit)) in estimate
        .steps
        .iter()
        .flat_map(|step| step.guards.iter().map(move |guard| (step, *guard)))
        .filter(|(_, guard)| guard.1.mid > guard.2 as f64)
    {
        text.push_str(&format!(
            "warning: {} will stop the run: about {}, where --{option} allows {}\n",
            step.name,
            rounded(number.mid),
            HumanCount(limit)
        ));
    }
    text
}

/// What a sample does not tell, with the steps that it matters to.
fn not_known(estimate: &Estimate) -> String {
    let mut unknown: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for step in &estimate.steps {
        if let Some(what) = step.unknown {
            unknown.entry(what).or_default().push(&step.name);
        }
    }
    let line =
        |(what, steps): (&str, Vec<&str>)| format!("A sample does not tell {what}: {}.\n", steps.join(", "));
    let mut text: String = unknown.into_iter().map(line).collect();
    if !estimate.uniform {
        text.push_str(
            "Beyond the documents that were read, each is taken to have as many pairs as among these; if these are a uniform sample of all, there are more.\n",
        );
    }
    text
}

/// What bands find, and whether they are needed.
fn beside(bands: &Bands, steps: &[StepVolume]) -> String {
    let mut text = String::new();
    if let Some(Forecast { recall, candidates, seen }) = &bands.forecast {
        text.push_str(&format!(
            "The bands will find {:.4} of the pairs at or above tau, by {} such pairs in the sample, out of about {} candidates.\n",
            recall,
            HumanCount(*seen),
            rounded(*candidates)
        ));
    }
    let sum = |steps: &[StepVolume], of: fn(&StepVolume) -> Range| steps.iter().map(of).sum::<Range>().mid;
    let of = |steps: &[StepVolume]| {
        (
            time(sum(steps, |step| step.core_seconds)),
            bytes(sum(steps, |step| step.shuffled)),
            steps.iter().flat_map(|step| step.memory).flatten().max().unwrap_or(0),
        )
    };
    let ((seconds, shuffled, memory), exact) = (of(steps), of(&bands.exact));
    text.push_str(&format!(
        "minhash takes {seconds} of a core, {shuffled} shuffled and {memory} MB a task; {EXACT}, which finds all pairs, {}, {} and {} MB.\n",
        exact.0, exact.1, exact.2
    ));
    text.push_str(&match bands.are_needless(steps) {
        true => format!("=> {EXACT}: MinHash is not needed here.\n"),
        false => format!("=> minhash, where the pairs that it loses may be lost; else {EXACT}.\n"),
    });
    text
}

fn row(step: &StepVolume) -> [String; 10] {
    let memory = step.memory.iter().flatten().max();
    [
        step.name.clone(),
        HumanCount(step.jobs).to_string(),
        HumanCount(step.maps).to_string(),
        HumanCount(step.reduces).to_string(),
        bytes(step.read.mid),
        bytes(step.shuffled.mid),
        bytes(step.written.mid),
        within(&[step.read, step.shuffled, step.written]),
        time(step.core_seconds.mid),
        memory.map_or(String::new(), usize::to_string),
    ]
}

/// A whole number of 64 bits has no more.
const MOST: f64 = 9.0e18;

fn bytes(number: f64) -> String {
    if number < MOST {
        return BinaryBytes(number as u64).to_string();
    }
    format!("{:.2} EiB", number / 2f64.powi(60))
}

/// Three digits are more than an estimate knows.
fn rounded(number: f64) -> String {
    if number >= MOST {
        return format!("{number:.2e}");
    }
    let digits = 10f64.powf((number.max(1.0).log10().floor() - 2.0).max(0.0));
    HumanCount(((number / digits).round() * digits) as u64).to_string()
}

/// How many times larger or smaller than the likely ones the volumes may be.
fn within(volumes: &[Range]) -> String {
    let factor = volumes
        .iter()
        .map(|volume| volume.factor())
        .try_fold(1.0, |most: f64, factor| Some(most.max(factor?)));
    match factor {
        None => "?".to_owned(),
        Some(factor) if factor < 100.0 => format!("{factor:.1}"),
        Some(_) => "> 100".to_owned(),
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6000.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// One JSON object; bytes and counts are whole numbers, times seconds of a core.
pub fn json(estimate: &Estimate) -> String {
    let whole =
        |number: f64| if number < MOST { Value::from(number.round() as u64) } else { Value::from(number) };
    let range = |range: Range| json!([whole(range.low), whole(range.high)]);
    let steps = estimate.steps.iter().map(|step| {
        json!({
            "step": step.name,
            "jobs": step.jobs,
            "maps": step.maps,
            "reduces": step.reduces,
            "bytes_read": whole(step.read.mid),
            "bytes_read_range": range(step.read),
            "bytes_shuffled": whole(step.shuffled.mid),
            "bytes_shuffled_range": range(step.shuffled),
            "bytes_written": whole(step.written.mid),
            "bytes_written_range": range(step.written),
            "core_seconds": step.core_seconds.mid,
            "core_seconds_range": [step.core_seconds.low, step.core_seconds.high],
            "unknown": step.unknown,
            "map_megabytes": step.memory[0],
            "reduce_megabytes": step.memory[1],
            "guards": step.guards.iter().map(|(option, count, limit)| {
                json!({ "option": option, "count": whole(count.mid), "limit": limit })
            }).collect::<Vec<_>>(),
        })
    });
    json!({
        "documents": estimate.documents,
        "sampled": estimate.sampled,
        "bytes": whole(estimate.bytes.mid),
        "uniform": estimate.uniform,
        "pairs": estimate.pairs.map(|(pairs, _)| whole(pairs.mid)),
        "pairs_range": estimate.pairs.map(|(pairs, _)| range(pairs)),
        "pairs_sampled": estimate.pairs.map(|(_, of_sample)| of_sample),
        "steps": steps.collect::<Vec<_>>(),
        "bands": estimate.bands.as_ref().map(|bands| {
            let sum = |of: fn(&StepVolume) -> Range| bands.exact.iter().map(of).sum::<Range>().mid;
            json!({
                "recall": bands.forecast.map(|forecast| forecast.recall),
                "candidates": bands.forecast.map(|forecast| whole(forecast.candidates)),
                "pairs_sampled": bands.forecast.map(|forecast| forecast.seen),
                "exact_core_seconds": sum(|step| step.core_seconds),
                "exact_bytes_shuffled": whole(sum(|step| step.shuffled)),
                "needless": bands.are_needless(&estimate.steps),
            })
        }),
    })
    .to_string()
}
