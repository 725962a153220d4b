//! The estimate as a table for people and as JSON for programs.

use super::{Bands, EXACT, Estimate, Forecast, StepVolume};
use crate::table::aligned;
use indicatif::{BinaryBytes, HumanCount};
use serde_json::{Value, json};

const HEADINGS: [&str; 9] =
    ["step", "jobs", "maps", "reduces", "read", "shuffled", "written", "core time", "MB a task"];

/// The error of a count by chance is about its square root: of fewer pairs than this it is over a tenth.
const FEW: u64 = 100;

/// The table, a line for each step, with their sum and what to mind.
pub fn table(estimate: &Estimate) -> String {
    let mut rows: Vec<[String; 9]> = vec![HEADINGS.map(str::to_owned)];
    rows.extend(estimate.steps.iter().map(row));
    let sum = |of: fn(&StepVolume) -> f64| estimate.steps.iter().map(of).sum::<f64>();
    let count = |of: fn(&StepVolume) -> u64| HumanCount(estimate.steps.iter().map(of).sum()).to_string();
    rows.push([
        "together".to_owned(),
        count(|step| step.jobs),
        count(|step| step.maps),
        count(|step| step.reduces),
        bytes(sum(|step| step.read)),
        bytes(sum(|step| step.shuffled)),
        bytes(sum(|step| step.written)),
        time(sum(|step| step.core_seconds)),
        String::new(),
    ]);
    let mut text = format!(
        "{} documents, {}, by a sample of {}:\n\n{}\n",
        HumanCount(estimate.documents),
        bytes(estimate.bytes),
        HumanCount(estimate.sampled),
        aligned(&rows)
    );
    if let Some((pairs, of_sample)) = estimate.pairs {
        text.push_str(&format!(
            "The output will have about {} pairs, judged by {} in the sample{}.\n",
            rounded(pairs),
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
        "Shuffled are bytes of rows, which the engines compress to a half or less. Every volume is an estimate.\n",
    );
    for (step, (option, number, limit)) in estimate
        .steps
        .iter()
        .flat_map(|step| step.guards.iter().map(move |guard| (step, *guard)))
        .filter(|(_, guard)| guard.1 > guard.2 as f64)
    {
        text.push_str(&format!(
            "warning: {} will stop the run: about {}, where --{option} allows {}\n",
            step.name,
            rounded(number),
            HumanCount(limit)
        ));
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
    let sum = |steps: &[StepVolume], of: fn(&StepVolume) -> f64| steps.iter().map(of).sum::<f64>();
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

fn row(step: &StepVolume) -> [String; 9] {
    let memory = step.memory.iter().flatten().max();
    [
        step.name.clone(),
        HumanCount(step.jobs).to_string(),
        HumanCount(step.maps).to_string(),
        HumanCount(step.reduces).to_string(),
        bytes(step.read),
        bytes(step.shuffled),
        bytes(step.written),
        time(step.core_seconds),
        memory.map_or(String::new(), usize::to_string),
    ]
}

fn bytes(number: f64) -> String {
    BinaryBytes(number as u64).to_string()
}

/// Three digits are more than an estimate knows.
fn rounded(number: f64) -> String {
    let digits = 10f64.powf((number.max(1.0).log10().floor() - 2.0).max(0.0));
    HumanCount(((number / digits).round() * digits) as u64).to_string()
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
    let whole = |number: f64| Value::from(number.round() as u64);
    let steps = estimate.steps.iter().map(|step| {
        json!({
            "step": step.name,
            "jobs": step.jobs,
            "maps": step.maps,
            "reduces": step.reduces,
            "bytes_read": whole(step.read),
            "bytes_shuffled": whole(step.shuffled),
            "bytes_written": whole(step.written),
            "core_seconds": step.core_seconds,
            "map_megabytes": step.memory[0],
            "reduce_megabytes": step.memory[1],
            "guards": step.guards.iter().map(|(option, count, limit)| {
                json!({ "option": option, "count": whole(*count), "limit": limit })
            }).collect::<Vec<_>>(),
        })
    });
    json!({
        "documents": estimate.documents,
        "sampled": estimate.sampled,
        "bytes": whole(estimate.bytes),
        "pairs": estimate.pairs.map(|(pairs, _)| whole(pairs)),
        "pairs_sampled": estimate.pairs.map(|(_, of_sample)| of_sample),
        "steps": steps.collect::<Vec<_>>(),
        "bands": estimate.bands.as_ref().map(|bands| {
            let sum = |of: fn(&StepVolume) -> f64| bands.exact.iter().map(of).sum::<f64>();
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
