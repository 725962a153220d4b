use super::*;
use crate::stage::Role;
use crate::stages::find;

fn all() -> Vec<Vec<Part>> {
    let mut chains = vec![idf_table()];
    for family in FAMILIES {
        chains.extend(family.every_chain().iter().map(|(_, chain)| chain.parts()));
    }
    assert_eq!(chains.len(), 1025 + 128);
    chains
}

#[test]
fn every_step_reads_what_an_earlier_one_wrote() {
    for parts in all() {
        let mut known = vec![DOCUMENTS];
        for part in &parts {
            for step in part.steps() {
                let each = match step.tasks {
                    Tasks::EachFile(_, data) => vec![data],
                    _ => vec![],
                };
                for data in step.inputs.iter().chain(step.side.iter().map(|(_, data)| data)).chain(&each) {
                    assert!(known.contains(data), "{} reads {data} before it is written", step.name);
                }
                assert!(!known.contains(&step.output), "{} is written twice", step.output);
                known.push(step.output);
            }
            if let Part::Repeat(repeat) = part {
                known.push(repeat.to);
            }
        }
    }
}

/// What engines rely on when they name the data sets of a round.
#[test]
fn a_round_goes_on_with_what_the_one_before_made() {
    let mut repeats = 0;
    for parts in all() {
        for repeat in parts.iter().filter_map(|part| match part {
            Part::Repeat(repeat) => Some(repeat),
            Part::Step(_) => None,
        }) {
            repeats += 1;
            let made: Vec<Data> = repeat.steps.iter().map(|step| step.output).collect();
            assert_eq!(repeat.steps.first().map(|step| &step.inputs), Some(&repeat.from));
            assert!(!made.contains(&repeat.to) && made.len() >= 2, "{}", repeat.name);
            assert!(repeat.from.iter().all(|data| !made.contains(data)), "{}", repeat.name);
            for step in &repeat.steps {
                // The counter of a round is looked for after its first step, and side files are of no round.
                assert!(step.guard.is_none() && step.side.is_empty(), "{}", step.name);
                assert_eq!(step.tasks, Tasks::Many, "{}", step.name);
            }
        }
    }
    assert_eq!(repeats, 512 + 64);
}

#[test]
fn mappers_map_and_reducers_read_what_their_mapper_writes() {
    for parts in all() {
        for step in parts.iter().flat_map(Part::steps) {
            let map = step.map.map(|name| find(name).unwrap());
            let reduce = step.reduce.map(|name| find(name).unwrap());
            assert!(map.is_some() || reduce.is_some());
            assert!(map.is_none_or(|entry| entry.decl.role == Role::Map));
            assert!(reduce.is_none_or(|entry| entry.decl.role == Role::Reduce && entry.input.keys.is_some()));
            if let (Some(map), Some(reduce)) = (map, reduce) {
                assert_eq!(map.output.keys, reduce.input.keys, "{}", step.name);
            }
        }
    }
}
