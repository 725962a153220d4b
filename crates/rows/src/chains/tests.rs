use super::*;
use crate::stage::Role;
use crate::stages;
use std::collections::BTreeSet;

fn all() -> Vec<Vec<Part>> {
    let mut chains = vec![idf_table()];
    for family in FAMILIES {
        chains.extend(family.every_chain().iter().map(|(_, chain)| chain.parts()));
    }
    // Each of them without queries and with them, but for i-match.
    assert_eq!(chains.len(), 1025 + 15 * 128);
    chains
}

/// Holds every step of some parts to what was written before it, and gives what is known after them.
fn known_after(parts: &[Part], mut known: Vec<Data>) -> Vec<Data> {
    for part in parts {
        if let Part::Choice(choice) = part {
            let [few, many] = [&choice.few, &choice.many].map(|parts| known_after(parts, known.clone()));
            assert!(choice.counts.iter().all(|(data, _)| known.contains(data)), "{}", choice.name);
            known = few.into_iter().filter(|data| many.contains(data)).collect();
            continue;
        }
        for step in part.steps() {
            let each = match step.tasks {
                Tasks::EachFile(_, data) => vec![data],
                _ => vec![],
            };
            for data in step.inputs.iter().chain(step.side.iter().map(|(_, data)| data)).chain(&each) {
                assert!(known.contains(data), "{} reads {data} before it is written", step.name);
            }
            assert!(step.counted.is_none_or(|counted| known.contains(&counted.data)), "{}", step.name);
            assert!(!known.contains(&step.output), "{} is written twice", step.output);
            known.push(step.output);
        }
        if let Part::Repeat(repeat) = part {
            known.push(repeat.to);
        }
    }
    known
}

#[test]
fn every_step_reads_what_an_earlier_one_wrote() {
    for parts in all() {
        let known = known_after(&parts, vec![DOCUMENTS, QUERIES]);
        let has_queries = parts.iter().flat_map(Part::steps).any(|step| step.inputs.contains(&QUERIES));
        match has_queries {
            true => assert!(known.contains(&PAIRS) && !known.contains(&CLUSTERS)),
            false => assert!(known.contains(&CLUSTERS) || known.contains(&IDF_TABLE)),
        }
    }
}

/// An option that is a counter is that of a step whose reducer has the counter, and no user's.
#[test]
fn a_counted_option_is_what_a_step_before_counts() {
    let mut met = 0;
    for parts in all() {
        for step in parts.iter().flat_map(Part::steps) {
            let Some(counted) = step.counted else { continue };
            let counts =
                parts.iter().flat_map(Part::steps).find(|step| Some(step.name) == counted.step(&parts));
            assert_eq!(counts.and_then(|step| step.reduce), Some("equal-sets-reduce"), "{}", step.name);
            let (map, reduce) = step.stages().unwrap();
            assert!(map.into_iter().chain(reduce).any(|entry| entry.knows(counted.option)), "{}", step.name);
            assert!(stages::all_options().iter().all(|field| field.name != counted.option));
            met += 1;
        }
    }
    assert!(met > 10, "{met}");
}

/// Step names are names of files, and a choice finds its counters by them.
#[test]
fn the_steps_of_a_chain_have_names_of_their_own() {
    for parts in all() {
        // Each combination of ways.
        let mut ways: Vec<Vec<&Step>> = vec![Vec::new()];
        for part in &parts {
            let few_and_many = match part {
                Part::Choice(choice) => vec![&choice.few[..], &choice.many],
                Part::Step(_) | Part::Repeat(_) => vec![std::slice::from_ref(part)],
            };
            let with = |way: &Vec<_>| {
                let more = few_and_many.iter().map(|parts| parts.iter().flat_map(Part::steps));
                more.map(|steps| way.iter().copied().chain(steps).collect()).collect::<Vec<_>>()
            };
            ways = ways.iter().flat_map(with).collect();
        }
        for way in ways {
            let names: Vec<_> = way.iter().map(|step| step.name).collect();
            let different: BTreeSet<_> = names.iter().collect();
            assert_eq!(different.len(), names.len(), "{names:?}");
        }
        for choice in parts.iter().filter_map(|part| match part {
            Part::Choice(choice) => Some(choice),
            Part::Step(_) | Part::Repeat(_) => None,
        }) {
            assert_eq!(choice.counters(&parts).len(), choice.counts.len());
        }
    }
}

/// What a run on Hadoop has as jobs where the graph is that of one task, a slice for Doc-Split.
#[test]
fn few_jobs_do_a_chain() {
    let jobs = |family: &str, params: Params| {
        let parts =
            Family::named(family).unwrap().chain(&params, Wanted { kept: false, rounds: true }).parts();
        let way = parts.iter().flat_map(|part| match part {
            Part::Choice(choice) => choice.few.clone(),
            Part::Step(_) | Part::Repeat(_) => vec![part.clone()],
        });
        way.map(|part| match part {
            Part::Step(step) => step.name,
            other => panic!("{other:?} has a number of jobs that is not known"),
        })
        .collect::<Vec<_>>()
    };
    let plain = Params::default();
    assert_eq!(
        jobs("doc-split", plain.clone()),
        ["tokenize", "size-count", "index-doc", "docsplit-query", "cluster", "expand-pairs", "keep"]
    );
    assert_eq!(
        jobs("term-split", plain.clone().with("pcp", "prefix")),
        [
            "tokenize",
            "feature-sample",
            "feature-order",
            "index-term",
            "pcp-map",
            "verify-right",
            "cluster",
            "expand-pairs",
            "keep"
        ]
    );
    // Where many documents share a key, some steps more leave out most of their pairs.
    let components = plain.clone().with("write", "clusters").with("cluster", "components");
    let few = ["tokenize", "minhash", "lsh-candidates", "verify-right", "cluster", "keep"];
    assert_eq!(jobs("minhash", components), few);
    // Queries, then documents: each is read once, and nothing is shuffled.
    let queries = plain.with("queries", "queries");
    assert_eq!(jobs("simhash", queries.clone()), ["read-queries", "simhash"]);
    let counted = ["tokenize", "idf-table", "read-queries", "simhash"];
    assert_eq!(jobs("simhash", queries.clone().with("weights", "tf-idf")), counted);
    for family in ["doc-split", "term-split", "ccdet", "minhash"] {
        assert_eq!(jobs(family, queries.clone()), ["read-queries", "tokenize"], "{family}");
    }
    let filtered = queries.with("idf", "0.2,0.85");
    let counted =
        ["read-queries", "tokenize", "feature-count", "feature-order", "idf-filter-queries", "idf-filter"];
    assert_eq!(jobs("doc-split", filtered.clone()), counted);
    let shuffled = jobs("doc-split", filtered.with("idf-lookup", "shuffle"));
    assert_eq!(
        shuffled[4..],
        ["idf-left-queries", "idf-right-queries", "idf-left", "idf-right", "set-queries"]
    );
}

/// What engines rely on when they name the data sets of a round.
#[test]
fn a_round_goes_on_with_what_the_one_before_made() {
    let mut repeats = 0;
    for parts in all() {
        let many = parts.iter().flat_map(|part| match part {
            Part::Choice(choice) => choice.many.clone(),
            other => vec![other.clone()],
        });
        for repeat in many.filter_map(|part| match part {
            Part::Repeat(repeat) => Some(repeat),
            Part::Step(_) | Part::Choice(_) => None,
        }) {
            repeats += 1;
            let made: Vec<Data> = repeat.steps.iter().map(|step| step.output).collect();
            assert_eq!(repeat.steps.first().map(|step| &step.inputs), Some(&repeat.from));
            assert!(!made.contains(&repeat.to) && made.len() >= 2, "{}", repeat.name);
            assert!(repeat.from.iter().all(|data| !made.contains(data)), "{}", repeat.name);
            for step in &repeat.steps {
                // The counter of a round is looked for after its first step, and side files are of no round.
                assert!(step.guards.is_empty() && step.side.is_empty(), "{}", step.name);
                assert_eq!(step.tasks, Tasks::Many, "{}", step.name);
            }
        }
    }
    assert_eq!(repeats, 512 + 4 * 64);
}

#[test]
fn mappers_map_and_reducers_read_what_their_mapper_writes() {
    for parts in all() {
        for step in parts.iter().flat_map(Part::steps) {
            let (map, reduce) = step.stages().unwrap();
            assert!(!map.is_empty() || reduce.is_some());
            assert!(map.iter().all(|entry| entry.decl.role == Role::Map));
            assert!(reduce.is_none_or(|entry| entry.decl.role == Role::Reduce && entry.input.keys.is_some()));
            if let (Some(map), Some(reduce)) = (map.last(), reduce) {
                assert_eq!(map.output.keys, reduce.input.keys, "{}", step.name);
            }
        }
    }
}

/// What a stage says of itself is what chains do with it.
#[test]
fn a_reducer_that_must_see_all_rows_is_one_task() {
    let mut met = BTreeSet::new();
    for parts in all() {
        for step in parts.iter().flat_map(Part::steps) {
            let Some(reduce) = step.stages().unwrap().1 else { continue };
            let one = step.tasks == Tasks::One;
            assert!(!reduce.one_task || one, "{}", step.name);
            // The forest of hubs is one file for those that read it.
            assert!(reduce.one_task || !one || step.name == "hub-forest", "{}", step.name);
            met.extend(reduce.one_task.then_some(reduce.decl.name));
        }
    }
    let declared = stages::STAGES.iter().filter(|entry| entry.one_task).map(|entry| entry.decl.name);
    assert_eq!(met, declared.collect());
}
