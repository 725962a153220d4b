//! Stores that earlier versions have written are opened, and find what a run over all documents finds.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::cli::{Place, fixture};

/// Copies a store, so that it can be changed.
fn copy(golden: &Path, here: &Place) {
    fs::create_dir(here.path("store")).unwrap();
    for file in fs::read_dir(golden).unwrap().map(|entry| entry.unwrap()) {
        fs::copy(file.path(), here.path("store").join(file.file_name())).unwrap();
    }
}

/// Two batches, of which two documents were forgotten: what is there is what a run without them finds.
#[test]
fn a_store_with_tombstones_is_opened() {
    for golden in ["forgotten-1", "forgotten-2"] {
        with_tombstones(golden);
    }
}

fn with_tombstones(golden: &str) {
    let here = Place::new();
    copy(&fixture("../tests/goldens/store").join(golden), &here);
    here.say("twinsplit store verify store").ok();
    let tiny = fs::read_to_string(fixture("documents/tiny.jsonl")).unwrap();
    let lines: Vec<&str> = tiny.split_inclusive('\n').collect();
    let is_gone = |line: &&&str| ["\"en-01\"", "\"zh-02\""].iter().any(|id| line.contains(id));
    let left: Vec<&str> = lines[..15].iter().filter(|line| !is_gone(line)).copied().collect();
    assert_eq!(left.len(), 13);
    here.write("left", left.concat());
    let shown = here.say("twinsplit store ls store").ok();
    assert!(shown.contains("13 documents in 2 segments"), "{shown}");
    assert!(shown.contains("2026-11-02T08:00:00Z  second"), "{shown}");
    here.say("twinsplit run doc-split --input left --output run-left --quiet").ok();
    let clusters = |export: &str| -> BTreeSet<[String; 2]> {
        let rows = export.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let rows = rows.filter(|row| row["in_cluster"] == true);
        rows.map(|row| ["kept", "id"].map(|name| row[name].as_str().unwrap().to_owned())).collect()
    };
    let run = here.read("run-left/clusters.tsv");
    let expected = run.lines().map(|line| {
        let mut fields = line.split('\t').map(str::to_owned);
        [fields.next().unwrap(), fields.next().unwrap()]
    });
    let expected: BTreeSet<[String; 2]> = expected.collect();
    assert!(expected.contains(&["en-02", "en-03"].map(str::to_owned)), "{expected:?}");
    for _ in 0..2 {
        assert_eq!(clusters(&here.say("twinsplit store export store").ok()), expected);
        here.say("twinsplit store compact store").ok();
        here.say("twinsplit store verify store").ok();
    }
    // What comes again is new.
    here.write("gone", lines[..1].concat());
    here.say("twinsplit run --input gone --store store --output out --quiet").ok();
    let pairs = here.read("out/pairs.tsv");
    assert!(pairs.contains("en-01\ten-02\t") && pairs.contains("en-01\ten-03\t"), "{pairs}");
}

#[test]
fn stores_of_all_versions_are_opened() {
    let tiny = fs::read_to_string(fixture("documents/tiny.jsonl")).unwrap();
    let lines: Vec<&str> = tiny.split_inclusive('\n').collect();
    let versions: Vec<_> = fs::read_dir(fixture("../tests/goldens/store"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("version-")))
        .collect();
    assert_eq!(versions.len(), 1);
    for version in versions {
        let here = Place::new();
        copy(&version, &here);
        here.write("first", lines[..15].concat());
        here.write("second", lines[15..].concat());
        here.write("all", &tiny);
        for input in ["first", "all"] {
            here.say(&format!("twinsplit run doc-split --input {input} --output run-{input} --quiet")).ok();
        }
        let (first, all) = (here.read("run-first/pairs.tsv"), here.read("run-all/pairs.tsv"));
        let old: BTreeSet<&str> = first.lines().collect();
        let expected: Vec<&str> = all.lines().filter(|row| !old.contains(row)).collect();
        assert!(expected.len() > 10, "{expected:?}");
        here.say("twinsplit store verify store").ok();
        for way in ["--against", "--store"] {
            here.say(&format!("twinsplit run --input second {way} store --output out --overwrite --quiet"))
                .ok();
            assert_eq!(here.read("out/pairs.tsv").lines().collect::<Vec<_>>(), expected, "{way}");
        }
        // The batch that it was made of has its answer in it.
        let again = "twinsplit run --input first --store store --batch-id first --output again --quiet";
        here.say(again).ok();
        assert_eq!(here.read("again/pairs.tsv"), first);
        // It came at no time that is known, and documents of it are forgotten as others are.
        let said = here.say("twinsplit store expire store --before 2000-01-01");
        assert!(
            said.err.contains("1 batch of an earlier version came at no time that is known"),
            "{}",
            said.err
        );
        said.ok();
        let gone = lines[0].split('"').nth(3).unwrap();
        let said = here.say(&format!("twinsplit store forget store {gone}"));
        assert!(said.err.contains("forgot 1 document;"), "{}", said.err);
        said.ok();
        here.write("left", lines[1..].concat());
        here.say("twinsplit run doc-split --input left --output run-left --quiet").ok();
        here.say("twinsplit run --input left --against store --output held --quiet").ok();
        assert_eq!(here.read("held/clusters.tsv"), here.read("run-left/clusters.tsv"));
        here.say("twinsplit store verify store").ok();
    }
}
