//! The local engine's stages take every plan there is: slices, a job for each slice, rounds. What they write is what the
//! columns in one process write.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use twinsplit_engine::columnar::{ColumnarJoin, ColumnarRun};
use twinsplit_engine::progress::Progress;
use twinsplit_engine::steps::LocalSteps;
use twinsplit_rows::chains::{Chain, FAMILIES, Family, Part};
use twinsplit_rows::params::Params;

use crate::common::cover;
use crate::common::rng::Rng;

/// Megabytes of a run.
const MEMORY: usize = 256 << 20;

/// A document: its id, its lines, and the site that it is of, if any.
type Page = (String, Vec<usize>, Option<usize>);

/// Pages of a few lines each, some of them equal, some alike, some empty; those of two sites have a template.
fn pages() -> Vec<Page> {
    let mut rng = Rng::new(20);
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    while sets.len() < 90 {
        let earlier = sets[rng.below(sets.len())].clone();
        let mut set = match rng.below(3) {
            0 => (0..1 + rng.below(12)).map(|_| rng.below(40)).collect(),
            _ => earlier,
        };
        if rng.below(2) == 0 {
            set.push(rng.below(40));
        }
        sets.push(set);
    }
    let page = |(number, mut set): (usize, Vec<usize>)| {
        let site = (number % 4 < 3).then_some(number % 4);
        if let Some(site @ 0..2) = site {
            set.extend([100 + site, 200 + site]);
        }
        // Of every site, so it is nobody's template; of one page alone, so it is none either.
        set.extend((number % 5 == 0).then_some(300).into_iter().chain((number == 8).then_some(400)));
        (format!("d{:02}", number * 37 % 97), set, site)
    };
    sets.into_iter().enumerate().map(page).collect()
}

/// The pages as files, with dates that do not come in the order of ids.
fn write(pages: &[Page], folder: &Path) -> Vec<PathBuf> {
    let mut files = [String::new(), String::new()];
    for (number, (id, set, site)) in pages.iter().enumerate() {
        let text: Vec<_> = set.iter().map(|line| format!("line {line}")).collect();
        let date = format!("2020-01-{:02}", 1 + number * 7 % 28);
        let url = site.map(|site| format!("https://S{site}.example:80/{number}"));
        let line = serde_json::json!({ "id": id, "date": date, "url": url, "text": text.join("\n") });
        writeln!(files[number % 2], "{line}").unwrap();
    }
    fs::create_dir_all(folder).unwrap();
    let paths = ["a", "b"].map(|name| folder.join(name));
    paths.iter().zip(files).for_each(|(path, text)| fs::write(path, text).unwrap());
    paths.into()
}

/// The pages without what several pages of one site have, and no others.
fn without_templates(pages: &[Page]) -> Vec<Page> {
    let is_template = |line: usize| {
        let having: Vec<_> = pages.iter().filter(|(_, set, _)| set.contains(&line)).collect();
        let sites: BTreeSet<_> = having.iter().map(|(.., site)| *site).collect();
        having.len() > 1 && sites.len() == 1 && !sites.contains(&None)
    };
    let pruned = |(id, set, site): &Page| {
        (id.clone(), set.iter().copied().filter(|line| !is_template(*line)).collect(), *site)
    };
    pages.iter().map(pruned).collect()
}

/// Pairs and clusters, where they are written, and kept lines.
type Written = [Option<String>; 3];

fn columns(inputs: &[PathBuf], params: &Params, write_kept: bool) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let run = ColumnarRun {
        inputs,
        output: folder.path(),
        work: folder.path(),
        opts: params.parse().unwrap(),
        threads: 2,
        memory: MEMORY,
        progress: &Progress::default(),
        write_kept,
        join: ColumnarJoin::IndexShards,
    };
    run.run(|_| ()).unwrap();
    ["pairs.tsv", "clusters.tsv", "kept.jsonl"].map(|name| fs::read_to_string(folder.path().join(name)).ok())
}

fn stages(inputs: &[PathBuf], params: &Params, parts: &[Part], outputs: &[&'static str]) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let progress = Progress::default();
    let mut engine = LocalSteps::new(inputs, folder.path(), params, 2, MEMORY, &progress).unwrap();
    let done = engine.run_parts(parts, "").unwrap();
    assert!(done.len() >= parts.len());
    let again = engine.run_parts(parts, "").unwrap();
    let names = |done: &[twinsplit_engine::progress::Done]| {
        done.iter().map(|step| step.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&done), names(&again), "what was made is not made again");
    ["pairs", "clusters", "kept"].map(|data| {
        let data = *outputs.iter().find(|output| **output == data)?;
        if data == "kept" {
            return fs::read_to_string(folder.path().join("kept/part-00000")).ok();
        }
        let file = folder.path().join("sorted");
        engine.sort(data, &file).unwrap();
        fs::read_to_string(file).ok()
    })
}

fn ids(lines: &str) -> Vec<String> {
    let id = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].to_string();
    lines.lines().map(id).collect()
}

/// A plan of a family: options, and the chain that they and what is wanted make.
type Plan = (Params, Chain);

/// The plans of a family but those with queries, which have an oracle of their own in `suite families::set_queries`.
fn without_queries(family: &Family) -> Vec<Plan> {
    family.every_chain().into_iter().filter(|(params, _)| params.get("queries").is_none()).collect()
}

/// Plans of a family in which every two ways of two options meet that can meet: of all options that decide steps, and of
/// kept documents and rounds.
fn covering(family: &Family) -> Vec<Plan> {
    let all = without_queries(family);
    let options: BTreeSet<String> =
        all.iter().flat_map(|(params, _)| params.iter().map(|(name, _)| name.to_owned())).collect();
    let ways = |(params, chain): &Plan| -> Vec<String> {
        let of_options = options.iter().map(|name| params.get(name).unwrap_or_default().to_owned());
        let kept = chain.output.data().contains(&"kept");
        // Without rounds, one task makes clusters, however many pairs there are.
        let rounds = chain
            .parts()
            .iter()
            .any(|part| matches!(part, Part::Choice(choice) if choice.name == "clusters"));
        of_options.chain([kept, rounds].map(|wanted| wanted.to_string())).collect()
    };
    let all_ways: Vec<Vec<String>> = all.iter().map(ways).collect();
    let values: BTreeSet<&String> = all_ways.iter().flatten().collect();
    let number = |way: &String| values.iter().position(|value| *value == way).unwrap();
    let numbered: Vec<Vec<usize>> = all_ways.iter().map(|ways| ways.iter().map(number).collect()).collect();
    let chosen: BTreeSet<Vec<usize>> = cover::covering(&numbered).into_iter().collect();
    let plans: Vec<Plan> = all
        .into_iter()
        .zip(&numbered)
        .filter(|(_, ways)| chosen.contains(*ways))
        .map(|(plan, _)| plan)
        .collect();
    assert_eq!(plans.len(), chosen.len(), "{}: plans with the same ways are the same", family.name);
    plans
}

/// Runs plans of every family but that of fingerprints, which has an oracle of its own, and says how many there were.
fn compare(plans: impl Fn(&Family) -> Vec<Plan>) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let pages = pages();
    let pruned = without_templates(&pages);
    assert!(pruned.iter().zip(&pages).any(|(pruned, page)| pruned.1.len() + 2 == page.1.len()));
    let inputs = write(&pages, &folder.path().join("all"));
    let pruned = write(&pruned, &folder.path().join("pruned"));
    let (mut expected, mut runs, mut pairs) = (BTreeMap::new(), 0, 0);
    for family in FAMILIES.into_iter().filter(|family| family.name != "simhash") {
        for (params, chain) in plans(family) {
            let params = params.with("features", "lines").with("tau", "0.5").with("date", "date");
            let params = params.with("slices", "3");
            let outputs = chain.output.data();
            let write_kept = outputs.contains(&"kept");
            let by_site = params.get("site").is_some();
            // A page of templates alone is compared by its whole text, which a pruned page has no more.
            let params = if by_site { params.with("equal-texts", "off") } else { params };
            // With one row a band, two similar pages miss each other in all of these with a chance of 2^-40.
            let params = params.with("bands", "40").with("rows", "1");
            // These have oracles of their own, in `suite minhash::` and `i_match::`; here all ways to them must agree.
            let own_oracle = params.is("check", "signature") || family.name == "i-match";
            let key: Vec<String> = ["idf", "keep", "cluster", "write", "site", "check"]
                .iter()
                .map(|name| params.get(name).unwrap_or_default().to_owned())
                .chain([write_kept.to_string(), (family.name == "i-match").to_string()])
                .collect();
            let oracle = if by_site { &pruned } else { &inputs };
            let mut found = stages(&inputs, &params, &chain.parts(), &outputs);
            let expected = expected.entry(key).or_insert_with(|| match own_oracle {
                true => found.clone(),
                false => columns(oracle, &params, write_kept),
            });
            if by_site {
                // The lines are those of whole pages: they are the right ones when their ids are.
                let of = |written: &Written| written[2].as_deref().map(ids);
                assert_eq!(of(&found), of(expected), "{}: {params:?}", family.name);
                assert_eq!(columns(&inputs, &params, write_kept), found, "columns: {params:?}");
                found[2].clone_from(&expected[2]);
            }
            assert_eq!(&found, expected, "{}: {params:?}", family.name);
            pairs += found[0].as_ref().map_or(0, |pairs| pairs.lines().count());
            runs += 1;
        }
    }
    assert!(pairs > 10 * runs, "{pairs} pairs in {runs} runs");
    runs
}

#[test]
fn the_local_engine_runs_plans_in_which_every_two_ways_meet() {
    let runs = compare(covering);
    // Five options of two values at least, in each of five families.
    assert!((5 * 6..110).contains(&runs), "{runs}");
}

#[test]
#[ignore = "minutes: the whole product; make test-long runs it"]
fn the_local_engine_runs_every_plan() {
    assert_eq!(compare(Family::every_chain), 1024 + 128);
}
