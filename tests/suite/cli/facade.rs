//! The crate as another program uses it, held against the command line. Nothing but the façade is used here.

use crate::common::cli::{Place, fixture, jsonl};
use std::collections::BTreeSet;
use std::fmt::Write;
use twinsplit::{ClusterKind, Dedup, Document, Duplicates, Error, KeepRule, Result};

const SETTINGS: &str = "--features words:3 --tau 0.4 --keep longest --cluster star --min-features 2";

fn dedup() -> Result<Dedup> {
    let dedup = Dedup::new().features("words:3")?.tau("0.4")?.min_features(2);
    Ok(dedup.keep(KeepRule::Longest).cluster(ClusterKind::Star))
}

/// The lines of `pairs.tsv`, and of `clusters.tsv`. Where a similarity lies halfway between two numbers of six decimals, the
/// file's is greater than what the binary one is rounded to: it is taken from the file, when it is near.
fn lines(found: &Duplicates, file: &str) -> Result<(String, String)> {
    let (mut pairs, mut clusters) = (String::new(), String::new());
    for (pair, line) in found.pairs()?.zip(file.lines()) {
        let pair = pair?;
        let (_, decimals) = line.rsplit_once('\t').unwrap();
        assert!((decimals.parse::<f64>().unwrap() - pair.similarity()).abs() < 1e-6, "{line}");
        let (a, b) = (&pair.a, &pair.b);
        writeln!(pairs, "{a}\t{b}\t{}\t{}\t{}\t{decimals}", pair.overlap, pair.size_a, pair.size_b).unwrap();
    }
    assert_eq!(found.pairs()?.count(), file.lines().count());
    for cluster in found.clusters()? {
        let cluster = cluster?;
        let mut rows: Vec<_> = cluster
            .dropped
            .iter()
            .map(|dropped| (&dropped.id, format!("drop\t{:.6}", dropped.similarity.unwrap())))
            .collect();
        rows.push((&cluster.kept, "keep\t-".to_owned()));
        rows.sort();
        rows.iter().for_each(|(id, rest)| writeln!(clusters, "{}\t{id}\t{rest}", cluster.kept).unwrap());
    }
    Ok((pairs, clusters))
}

/// The documents of a file of JSON lines.
fn documents(here: &Place, file: &str) -> Vec<(String, String)> {
    let text = here.shell(&format!("zcat -f {}", fixture(file).display())).ok();
    let documents = text.lines().map(|line| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        (value["id"].as_str().unwrap().to_owned(), value["text"].as_str().unwrap().to_owned())
    });
    documents.collect()
}

#[test]
fn a_program_finds_what_the_command_line_finds() {
    let here = Place::new();
    for file in ["documents/en.jsonl.gz", "documents/zh.jsonl.gz"] {
        let path = fixture(file);
        here.say(&format!(
            "twinsplit run doc-split {SETTINGS} --quiet --overwrite --input {} --output out",
            path.display()
        ))
        .ok();
        let expected = ["pairs.tsv", "clusters.tsv"].map(|name| here.read(&format!("out/{name}")));
        assert!(expected.iter().all(|text| !text.is_empty()), "{file}");
        let left = Duplicates::open(here.path("out")).unwrap();
        let given = documents(&here, file);
        assert_eq!(left.documents(), given.len() as u64);
        assert_eq!(lines(&left, &expected[0]).unwrap().0, expected[0]);
        for threads in [1, 3] {
            let dedup = dedup().unwrap().threads(threads).folder(here.path("."));
            let by_files = dedup.run_files([&path]).unwrap();
            let by_iterator = dedup.run(given.iter().map(|(id, text)| (id, text))).unwrap();
            assert_eq!(by_iterator.documents(), given.len() as u64);
            for found in [by_files, by_iterator] {
                let (pairs, clusters) = lines(&found, &expected[0]).unwrap();
                assert_eq!([pairs, clusters], expected, "{file}");
            }
        }
    }
}

/// Every pair that a run finds is found by asking for either document, and nothing else is.
#[test]
fn an_index_of_real_documents_agrees_with_a_run() {
    let here = Place::new();
    let given = documents(&here, "documents/en.jsonl.gz");
    let dedup = Dedup::new().features("words:2").unwrap().tau("0.3").unwrap();
    let found = dedup.run(given.clone()).unwrap();
    let mut pairs = BTreeSet::new();
    for pair in found.pairs().unwrap() {
        let pair = pair.unwrap();
        pairs.insert((pair.b.clone(), pair.a.clone(), pair.overlap));
        pairs.insert((pair.a, pair.b, pair.overlap));
    }
    assert!(!pairs.is_empty());
    let index = dedup.index(given.clone()).unwrap();
    let mut asked = BTreeSet::new();
    for (id, text) in &given {
        let matches = index.query(text);
        // Every document with features is most like itself, or a copy of it.
        assert!(matches.first().is_none_or(|best| best.similarity() == 1.0), "{id}");
        let others = matches.iter().filter(|found| found.id != id);
        asked.extend(others.map(|found| (id.clone(), found.id.to_owned(), found.overlap)));
    }
    assert_eq!(asked, pairs);
}

/// A query may be smaller than all that is indexed: the first half of a document finds it at half of tau.
#[test]
fn a_part_of_a_document_finds_it() {
    let here = Place::new();
    let given = documents(&here, "documents/en.jsonl.gz");
    let index = Dedup::new().features("words:1").unwrap().tau("0.25").unwrap().index(given.clone()).unwrap();
    let mut asked = 0;
    for (id, text) in given.iter().filter(|(_, text)| text.len() > 2000) {
        let middle = text.char_indices().map(|(at, _)| at).find(|at| *at >= text.len() / 2).unwrap();
        let half = &text[..middle];
        let matches = index.query(half);
        assert!(matches.iter().any(|found| found.id == id && found.query_size < found.size), "{id}");
        asked += 1;
    }
    assert!(asked > 20, "{asked}");
}

/// Each by its kind, with what was given and what was expected.
#[test]
fn errors_tell_what_was_wrong() {
    let Err(Error::Value { name, value, problem }) = Dedup::new().tau("1.5") else { panic!() };
    assert_eq!((name, &*value), ("tau", "1.5"));
    assert!(problem.contains("(0, 1]"), "{problem}");
    let dates = Dedup::new().keep(KeepRule::Newest);
    let wrong = dates.run([Document::new("a", "text").date("31.01.2024")]).unwrap_err();
    assert!(matches!(&wrong, Error::Document { .. }), "{wrong}");
    assert!(wrong.to_string().contains("documents, line 1, field date"), "{wrong}");
    let none = dates.run([("a", "text")]).unwrap_err();
    assert!(none.to_string().contains("date"), "{none}");
    let missing = Dedup::new().run_files(["no-such-file.jsonl"]).unwrap_err();
    assert!(missing.to_string().contains("no-such-file.jsonl"), "{missing}");
}

/// The answers of all chains, and how many documents they are of.
#[test]
fn answers_of_all_chains_are_opened() {
    let here = Place::new();
    let docs = jsonl(&[("a", "x y z u v w s t"), ("b", "x y z u v w s t"), ("c", "k l m n o p q r")]);
    here.write("docs", docs);
    let mut runs: Vec<(String, &str)> = twinsplit_rows::chains::FAMILIES
        .iter()
        .map(|family| (format!("run {} --features words:1", family.name), "a"))
        .collect();
    runs.push(("run simhash --features words:1 --weights tf-idf".to_owned(), "a"));
    runs.push(("run term-split --features words:1 --engine pipes".to_owned(), "a"));
    for (run, kept) in runs {
        here.say(&format!("twinsplit {run} --input docs --output out --overwrite --quiet")).ok();
        let found = Duplicates::open(here.path("out")).unwrap();
        let clusters: Vec<_> = found.clusters().unwrap().map(|cluster| cluster.unwrap().kept).collect();
        assert_eq!((found.documents(), &clusters[..]), (3, &[kept.to_owned()][..]), "{run}");
        assert_eq!(found.dropped().unwrap().count(), 1, "{run}");
    }
    here.write("queries", jsonl(&[("q", "x y z u v w s t")]));
    here.say("twinsplit run simhash --queries queries --input docs --output out --overwrite --quiet").ok();
    assert_eq!(Duplicates::open(here.path("out")).unwrap().documents(), 3);
}
