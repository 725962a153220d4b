//! The local engine's stages take every plan there is: slices, a job for each slice, rounds. What they write is what the
//! columns in one process write.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use twinsplit::internal::chains::{FAMILIES, Part};
use twinsplit::internal::engine::columnar::{ColumnarJoin, ColumnarRun};
use twinsplit::internal::engine::progress::Progress;
use twinsplit::internal::engine::steps::LocalSteps;
use twinsplit::internal::params::Params;

use crate::common::rng::Rng;

/// Megabytes of a run.
const MEMORY: usize = 256 << 20;

/// Documents of a few lines each, some of them equal, some alike, some empty; with dates, not in the order of ids.
fn documents(folder: &Path) -> Vec<PathBuf> {
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
    let mut files = [String::new(), String::new()];
    for (number, set) in sets.iter().enumerate() {
        let text: Vec<_> = set.iter().map(|line| format!("line {line}")).collect();
        let date = format!("2020-01-{:02}", 1 + number * 7 % 28);
        let id = format!("d{:02}", number * 37 % 97);
        let line = serde_json::json!({ "id": id, "date": date, "text": text.join("\n") });
        writeln!(files[number % 2], "{line}").unwrap();
    }
    let paths = ["a", "b"].map(|name| folder.join(name));
    paths.iter().zip(files).for_each(|(path, text)| std::fs::write(path, text).unwrap());
    paths.into()
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
    ["pairs.tsv", "clusters.tsv", "kept.jsonl"]
        .map(|name| std::fs::read_to_string(folder.path().join(name)).ok())
}

fn stages(inputs: &[PathBuf], params: &Params, parts: &[Part], outputs: &[&'static str]) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let progress = Progress::default();
    let mut engine = LocalSteps::new(inputs, folder.path(), params, 2, MEMORY, &progress).unwrap();
    let done = engine.run_parts(parts, "").unwrap();
    assert!(done.len() >= parts.len());
    let again = engine.run_parts(parts, "").unwrap();
    let names = |done: &[twinsplit::internal::engine::progress::Done]| {
        done.iter().map(|step| step.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&done), names(&again), "what was made is not made again");
    ["pairs", "clusters", "kept"].map(|data| {
        let data = *outputs.iter().find(|output| **output == data)?;
        if data == "kept" {
            return std::fs::read_to_string(folder.path().join("kept/part-00000")).ok();
        }
        let file = folder.path().join("sorted");
        engine.sort(data, &file).unwrap();
        std::fs::read_to_string(file).ok()
    })
}

#[test]
fn the_local_engine_runs_every_plan() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = documents(folder.path());
    let (mut expected, mut runs, mut pairs) = (BTreeMap::new(), 0, 0);
    for family in FAMILIES {
        for (params, chain) in family.every_chain() {
            let params = params.with("features", "lines").with("tau", "0.5").with("date", "date");
            let params = params.with("slices", "3");
            let outputs = chain.output.data();
            let write_kept = outputs.contains(&"kept");
            let key: Vec<String> = ["idf", "keep", "cluster", "write"]
                .iter()
                .map(|name| params.get(name).unwrap_or_default().to_owned())
                .chain([write_kept.to_string()])
                .collect();
            let expected = expected.entry(key).or_insert_with(|| columns(&inputs, &params, write_kept));
            let found = stages(&inputs, &params, &chain.parts(), &outputs);
            assert_eq!(&found, expected, "{}: {params:?}", family.name);
            pairs += found[0].as_ref().map_or(0, |pairs| pairs.lines().count());
            runs += 1;
        }
    }
    assert_eq!(runs, 512);
    assert!(pairs > 10_000, "{pairs}");
}
