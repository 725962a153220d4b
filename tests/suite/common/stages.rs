//! Which stages a run did, so that a test can name those that no run of an engine does.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use twinsplit_rows::stages::STAGES;

use super::cli::Place;

/// The stages of the job that `--recall` runs before a plan is made.
pub const SAMPLE_STAGES: [&str; 2] = ["sample-documents", "sample-documents-reduce"];

/// Holds what ran on an engine to the declared stages.
#[track_caller]
pub fn assert_all_ran(ran: &BTreeSet<String>) {
    let declared: BTreeSet<String> = STAGES.iter().map(|stage| stage.decl.name.to_owned()).collect();
    assert!(*ran == declared, "not run: {:?}", declared.difference(ran));
    println!("{} stages ran", ran.len());
}

/// The stages of steps that a run with these options did, by their plan.
#[track_caller]
pub fn stages_of<'s>(options: &str, steps: impl IntoIterator<Item = &'s str>) -> BTreeSet<String> {
    let plan = Place::new().shell(&format!("twinsplit plan {options} --json")).ok();
    let mut by_step = BTreeMap::new();
    collect(&serde_json::from_str::<Value>(&plan).expect("JSON")["steps"], &mut by_step);
    let stages = |step: &str| {
        // A round has its number behind the name of its step.
        let of_rounds = step.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-');
        let stages = by_step.get(step).or_else(|| by_step.get(of_rounds));
        stages.unwrap_or_else(|| panic!("{step} is no step of {options}")).clone()
    };
    steps.into_iter().flat_map(stages).collect()
}

/// The stages of each step below a part of a plan.
fn collect(plan: &Value, by_step: &mut BTreeMap<String, Vec<String>>) {
    if let Some(name) = plan["name"].as_str() {
        let words = plan["map"].as_array().into_iter().flatten().chain(std::iter::once(&plan["reduce"]));
        by_step.insert(name.to_owned(), words.filter_map(Value::as_str).map(str::to_owned).collect());
    }
    let below = plan.as_object().into_iter().flat_map(|plan| plan.values());
    plan.as_array().into_iter().flatten().chain(below).for_each(|below| collect(below, by_step));
}
