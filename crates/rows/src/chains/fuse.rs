//! Fewer jobs for the same steps: a map-only step whose rows only one other step reads is done by that step's mappers.
//!
//! A job of Hadoop costs some twenty seconds whatever it does, and rows between two jobs are written, copied and read
//! again. What joins two steps changes no row: the stages run one after another in each task ([`crate::stage::chained`]).

use super::DOCUMENTS;
use super::step::{Data, Part, Step, Tasks};
use crate::stages;

/// The parts of a chain's components with all that can be joined; `outputs` are the data sets of its answer, which are
/// written whoever reads them. A joined step is of the component of the step that reads.
pub(super) fn fused<const N: usize>(mut components: [Vec<Part>; N], outputs: &[Data]) -> [Vec<Part>; N] {
    while let Some((first, then)) = joinable(&components, outputs) {
        let Part::Step(first) = components[first.0].remove(first.1) else { break };
        for part in components[then].iter_mut() {
            if let Part::Step(step) = part
                && step.inputs.contains(&first.output)
            {
                *step = join(&first, step);
            }
        }
    }
    components
}

/// Where a step stands that can be joined to its reader, and the reader's component.
fn joinable(components: &[Vec<Part>], outputs: &[Data]) -> Option<((usize, usize), usize)> {
    let all =
        || components.iter().enumerate().flat_map(|(at, parts)| parts.iter().map(move |part| (at, part)));
    for (component, parts) in components.iter().enumerate() {
        for (place, part) in parts.iter().enumerate() {
            let Part::Step(first) = part else { continue };
            if outputs.contains(&first.output)
                || all().map(|(_, part)| reads(part, first.output)).sum::<usize>() != 1
            {
                continue;
            }
            let reader = all().find_map(|(at, part)| match part {
                Part::Step(step) if step.inputs.contains(&first.output) => Some((at, step)),
                _ => None,
            });
            if let Some((at, _)) = reader.filter(|(_, step)| joins(first, step)) {
                return Some(((component, place), at));
            }
        }
    }
    None
}

/// How often a part reads a data set.
fn reads(part: &Part, data: Data) -> usize {
    let read = |step: &&Step| {
        let beside = step.side.iter().filter(|(_, side)| *side == data).count();
        let by_tasks = matches!(step.tasks, Tasks::Slices(of) | Tasks::EachFile(_, of) if of == data);
        step.inputs.iter().filter(|input| **input == data).count() + beside + usize::from(by_tasks)
    };
    part.steps().iter().map(read).sum()
}

/// Whether each mapper of a step can do what a step before it does.
fn joins(first: &Step, then: &Step) -> bool {
    let alone = then.inputs == [first.output];
    let tagged =
        first.map.first().and_then(|name| stages::find(name)).is_some_and(|entry| entry.tag.is_some());
    let others = then.inputs.iter().filter(|input| **input != first.output);
    first.reduce.is_none()
        && first.tasks == Tasks::Many
        && !matches!(then.tasks, Tasks::EachFile(..))
        // Rows of the other data sets go on as they are.
        && (alone || tagged && !then.map.is_empty() && !first.inputs.contains(&DOCUMENTS))
        && others.clone().all(|input| !first.inputs.contains(input))
        && first.side.iter().all(|(option, _)| then.side.iter().all(|(other, _)| option != other))
        && (first.field.is_none() || then.field.is_none())
        && (first.counted.is_none() || then.counted.is_none())
}

fn join(first: &Step, then: &Step) -> Step {
    let inputs = then.inputs.iter().flat_map(|input| match *input == first.output {
        true => first.inputs.clone(),
        false => vec![*input],
    });
    Step {
        name: first.name,
        why: format!("{} {}", first.why, then.why).into(),
        map: first.map.iter().chain(&then.map).copied().collect(),
        inputs: inputs.collect(),
        side: first.side.iter().chain(&then.side).copied().collect(),
        options: first.options.iter().chain(&then.options).copied().collect(),
        counted: first.counted.or(then.counted),
        guards: first.guards.iter().chain(&then.guards).copied().collect(),
        field: first.field.or(then.field),
        ..then.clone()
    }
}
