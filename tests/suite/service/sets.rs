//! A service of sets: what it says of real documents is what a run of all of them has pairs of.

use std::collections::HashMap;
use std::process::Command;

use super::Service;
use super::client::{Value, new};
use crate::common::cli::{Place, binaries, fixture};
use crate::common::harness::clean;
use crate::common::oracle::Doc;
use crate::common::real;

/// What should be said of documents that come in this order: each is held against those that are kept, and the first that it is in a pair
/// with is named. Pairs are those of a run; equal texts that are too short for features are in none.
fn expected(docs: &[Doc], pairs: &str) -> Vec<Value> {
    let mut alike: HashMap<&str, HashMap<&str, &str>> = HashMap::new();
    for line in pairs.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [x, y, .., similarity] = fields[..] else { panic!("{line}") };
        alike.entry(x).or_default().insert(y, similarity);
        alike.entry(y).or_default().insert(x, similarity);
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut said = Vec::new();
    for doc in docs {
        let of = kept.iter().find_map(|id| Some((*id, *alike.get(&*doc.id)?.get(id)?)));
        said.push(match of {
            None => {
                kept.push(&doc.id);
                new()
            }
            Some((id, similarity)) => Value::Array(vec![
                Value::Bulk("DUPLICATE".to_owned()),
                Value::Bulk(id.to_owned()),
                Value::Null,
                Value::Bulk(format!("jaccard:{similarity}")),
            ]),
        });
    }
    said
}

/// Real English and Chinese documents, with a kill in the midst of them and a stop: after each the same is said of what came before.
#[test]
fn what_is_said_of_real_documents_is_what_a_run_has_pairs_of() {
    for (file, options) in [("en", "--features words:3 --tau 0.65"), ("zh", "--features chars:3 --tau 0.6")] {
        let here = Place::new();
        let input = fixture(&format!("documents/{file}.jsonl.gz"));
        let docs = real::read(&input);
        let mut run = clean(Command::new(binaries().join("twinsplit")));
        run.args(["run", "doc-split", "--write", "pairs", "--quiet", "--output", "out"]);
        run.args(options.split(' ')).arg("--input").arg(&input).current_dir(here.path(""));
        here.run(run, "").ok();
        let expected = expected(&docs, &here.read("out/pairs.tsv"));
        let duplicates = expected.iter().filter(|said| **said != new()).count();
        assert!(duplicates > 100 && duplicates < docs.len(), "{file}: {duplicates}");
        let requests: Vec<Vec<String>> = docs
            .iter()
            .map(|doc| ["FP.CHECKADD", "n", &doc.id, "TEXT", &doc.text].map(str::to_owned).to_vec())
            .collect();
        let half = docs.len() / 2;
        let options = format!("kept --chain doc-split {options}");
        let service = Service::start(&here, &options);
        let said = service.client().ask_all(&requests[..half]).unwrap();
        assert_eq!(said, expected[..half], "{file}");
        // It is killed.
        drop(service);
        let service = Service::start(&here, &options);
        assert!(service.said.contains(&format!("kept: {half} documents")), "{}", service.said);
        assert_eq!(service.client().ask_all(&requests).unwrap(), expected, "{file}, after a kill");
        service.signal("TERM");
        assert_eq!(service.end().0, Some(0));
        let service = Service::start(&here, &options);
        assert!(service.said.contains("of a snapshot and 0 changes"), "{}", service.said);
        assert_eq!(service.client().ask_all(&requests).unwrap(), expected, "{file}, of a snapshot");
        println!("{file}: {} documents, {duplicates} of them duplicates", docs.len());
    }
}

/// Options of the other chain are refused, and a folder of the other chain is.
#[test]
fn each_chain_has_its_options_and_its_folders() {
    let here = Place::new();
    let refused = |line: &str, code: i32, words: &[&str]| {
        here.say(&format!("twinsplit serve {line}")).fails(code, words);
    };
    for option in ["--bits 128", "--distance 3", "--weights tf", "--check jaccard:0.5", "--hash md5"] {
        let (name, _) = option.split_once(' ').unwrap();
        refused(
            &format!("new --chain doc-split {option}"),
            2,
            &[name, "doc-split does not use", "simhash does"],
        );
    }
    refused("new --tau 0.5", 2, &["simhash does not use --tau", "doc-split does"]);
    refused("new --chain doc-split --similarity overlap --tau 0.5", 2, &["--tau", "whole number"]);
    assert!(!here.path("new").exists());
    for (made, other, words) in [
        ("sets --chain doc-split", "sets", ["--chain doc-split where --chain simhash", "another folder"]),
        ("prints", "prints --chain doc-split", ["--chain simhash where --chain doc-split", "another folder"]),
        (
            "tau --chain doc-split --tau 0.8",
            "tau --chain doc-split",
            ["--tau 0.8 where --tau 0.65", "give the same option"],
        ),
    ] {
        let service = Service::start(&here, made);
        service.signal("TERM");
        assert_eq!(service.end().0, Some(0));
        refused(other, 1, &words);
    }
}
