//! Options that were given and that nothing in the chain uses.
//!
//! On the command line such an option is a mistake: what it asks for does not happen, and the answer looks as if it had. In the
//! environment and in presets it is none, for these are there for several chains. The chain decides, whatever the engine: a
//! command line goes from one engine to another as it is.

use super::{BOUNDS, Given, Origin, Plan, known_options, options_of};
use crate::chains::{FAMILIES, Family, Step, Wanted};
use crate::params::Params;
use crate::stages::queries::QUERIES;
use std::collections::{BTreeMap, BTreeSet};
use twinsplit_io::error::{Error, Result};

/// Refuses options of the command line that the chain of a family does not use, where the options are those of `params`. Gives the
/// names of the others that it does not use.
///
/// # Errors
/// When there is one, with the chains that use it, or the option that it goes with.
pub fn refuse_unused(
    family: &Family,
    params: &Params,
    given: &Given,
    write_kept: bool,
) -> Result<Vec<String>> {
    let used = used(family, params, write_kept);
    let unused = given.params.iter().map(|(name, _)| name).filter(|name| !used.contains(*name));
    let (wrong, others): (Vec<&str>, Vec<&str>) =
        unused.partition(|name| given.origin(name) == Origin::CommandLine);
    let mut by_advice: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in wrong {
        by_advice.entry(advice(family, params, name)).or_default().push(format!("--{name}"));
    }
    if by_advice.is_empty() {
        return Ok(others.into_iter().map(str::to_owned).collect());
    }
    let why = by_advice.iter().map(|(advice, names)| {
        let pronoun = if names.len() == 1 { "it" } else { "them" };
        format!("{} does not use {} here{}", family.name, listed(names, "or"), advice.replace("{}", pronoun))
    });
    Err(Error::Usage(why.collect::<Vec<_>>().join("; ")))
}

/// What is to be done about an option, where `{}` stands for it.
fn advice(family: &Family, params: &Params, name: &str) -> String {
    let conditions = conditions(family, params, name);
    if !conditions.is_empty() {
        return format!(": it does with another {}; give that, or leave {{}} out", listed(&conditions, "or"));
    }
    if params.get(QUERIES).is_some() && used(family, &params.clone().without(QUERIES), false).contains(name) {
        return ": it says nothing of pairs with queries; leave {} out, or --queries".to_owned();
    }
    // An option that is given may take the place of what would use it.
    let without = |other: &&str| used(family, &params.clone().without(other), false).contains(name);
    let others: Vec<String> =
        params.iter().map(|(other, _)| other).filter(without).map(|other| format!("--{other}")).collect();
    if !others.is_empty() {
        return format!(": it does without {}; leave {{}} out, or that", listed(&others, "or"));
    }
    let users = FAMILIES.into_iter().filter(|other| options_of(other).contains(name));
    let users: Vec<String> = users.map(|other| other.name.to_owned()).collect();
    let does = if users.len() == 1 { "does" } else { "do" };
    let take = if users.len() == 1 { "take that chain" } else { "take one of these chains" };
    format!(", and {} {does}; {take}, or leave {{}} out", listed(&users, "and"))
}

/// The options that decide whether a family's chains use one.
fn conditions(family: &Family, params: &Params, name: &str) -> Vec<String> {
    let decides = |(choice, values): &(&str, &[&str])| {
        values.iter().any(|value| {
            let params = params.clone().with(choice, *value);
            // An empty value stands for no option, which is not what somebody would have to give.
            !value.is_empty() && used(family, &params, false).contains(name)
        })
    };
    family.choices().filter(decides).map(|(choice, _)| format!("--{choice}")).collect()
}

/// The options that the chain uses, on whatever engine: those of its steps, those that decide which steps it has, and the bounds
/// of whatever chain of the family, for what a chain has none of is within its bound.
fn used(family: &Family, params: &Params, kept: bool) -> BTreeSet<String> {
    let steps = |params: &Params| family.chain(params, Wanted { kept, rounds: true }).steps();
    let own = steps(params);
    let mut used = known_options(&own);
    used.extend(BOUNDS.map(str::to_owned).into_iter().filter(|name| options_of(family).contains(name)));
    used.retain(|name| !family.ignored.contains(&name.as_str()));
    let decides = |(choice, values): &(&str, &[&str])| {
        values.iter().any(|value| names(&steps(&params.clone().with(choice, *value))) != names(&own))
    };
    used.extend(family.choices().filter(decides).map(|(choice, _)| choice.to_owned()));
    // Stages that read documents have it, and without clusters there is nothing to keep.
    if params.get(QUERIES).is_some() {
        used.remove("keep");
    }
    used
}

/// The options of the command line that the chain uses on other engines alone: bounds of tasks, which one process has not.
pub(super) fn of_tasks(plan: &Plan, given: &Given) -> Vec<String> {
    let used = known_options(&plan.chain.steps());
    let in_one_process = plan.columnar().is_some();
    // A stage of the chain has them, but only tasks have a choice by the one, and an order of features by the other.
    let of_stages = ["graph", "order-sample"];
    let in_tasks = |name: &&str| match BOUNDS.contains(name) || of_stages.contains(name) {
        true => in_one_process && *name != "max-pairs",
        false => !used.contains(*name) && plan.family.choices().all(|(choice, _)| choice != *name),
    };
    let of_line = given.params.iter().map(|(name, _)| name);
    let of_line = of_line.filter(|name| given.origin(name) == Origin::CommandLine);
    of_line.filter(in_tasks).map(str::to_owned).collect()
}

/// The names of the steps' stages.
fn names(steps: &[Step]) -> BTreeSet<&'static str> {
    steps.iter().flat_map(Step::names).collect()
}

/// Words with commas, and the last with this one.
fn listed(words: &[String], last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., end] => format!("{} {last} {end}", all.join(", ")),
    }
}
