//! The answers that independent programs gave for the documents of `hdfs-fixtures/`.

use crate::common::cli::{Place, fixture};
use std::collections::BTreeMap;

/// Made by brute force over texts, with fractions: some pairs lie exactly on 0.5.
#[test]
fn tiny_documents_give_the_expected_files() {
    let here = Place::new();
    let tiny = fixture("documents/tiny.jsonl").display().to_string();
    let mut runs = 0;
    for (folder, features) in [("words-2", "words:2"), ("chars-3", "chars:3"), ("lines", "lines")] {
        for way in ["doc-split", "doc-split --partition by-task", "term-split", "term-split --pcp prefix"] {
            for engine in ["local", "pipes"] {
                let run = format!("twinsplit run {way} --engine {engine} --features {features} --tau 0.5");
                here.say(&format!("{run} --input {tiny} --output out --overwrite --quiet")).ok();
                for file in ["pairs.tsv", "clusters.tsv"] {
                    let expected =
                        std::fs::read_to_string(fixture(&format!("expected/{folder}/{file}"))).unwrap();
                    assert!(expected.lines().count() >= 10, "{folder}/{file}");
                    assert_eq!(here.read(&format!("out/{file}")), expected, "{run}: {file}");
                }
                runs += 1;
            }
        }
    }
    assert_eq!(runs, 24);
}

/// Pairs, clusters, documents in them, the five largest and how many documents stand alone.
fn counts(here: &Place, inputs: &str, tau: &str) -> String {
    let options = format!("--features words:5 --tau {tau} --overwrite --quiet");
    here.say(&format!("twinsplit run doc-split {options} --input {inputs} --output out")).ok();
    let clusters = here.read("out/clusters.tsv");
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for kept in clusters.lines().filter_map(|row| row.split('\t').next()) {
        *sizes.entry(kept).or_default() += 1;
    }
    let mut sizes: Vec<_> = sizes.into_values().collect();
    sizes.sort_by_key(|size| std::cmp::Reverse(*size));
    let inside: usize = sizes.iter().sum();
    let run: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap_or_default();
    let documents = run["counters"]["tokenize"]["documents"].as_u64().unwrap_or(0) as usize;
    let largest: Vec<_> = sizes.iter().take(5).map(ToString::to_string).collect();
    let pairs = here.read("out/pairs.tsv").lines().count();
    format!("{pairs} | {} | {inside} | {} | {}", sizes.len(), largest.join(", "), documents - inside)
}

/// The README of the documents has counts of a program with segmenters of its own. They could differ by a
/// few pairs; they do not, and a change in how texts are cut would show here.
#[test]
fn real_documents_give_the_counts_of_their_readme() {
    let here = Place::new();
    let [en, zh] =
        ["en", "zh"].map(|name| fixture(&format!("documents/{name}.jsonl.gz")).display().to_string());
    let readme = std::fs::read_to_string(fixture("documents/README.md")).unwrap();
    let mut rows = 0;
    for row in readme.lines() {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let inputs = match cells.get(1) {
            Some(&"`en.jsonl.gz`") if cells.len() == 9 => en.clone(),
            Some(&"`zh.jsonl.gz`") if cells.len() == 9 => zh.clone(),
            Some(&"both together") => format!("{en} {zh}"),
            _ => continue,
        };
        let expected = cells[3..8].join(" | ");
        let expected: String = expected.replace(", ", ";").replace(',', "").replace(';', ", ");
        assert_eq!(counts(&here, &inputs, cells[2]), expected, "{} at {}", cells[1], cells[2]);
        rows += 1;
    }
    assert_eq!(rows, 6);
}
