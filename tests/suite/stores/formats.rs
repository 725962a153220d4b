//! Stores that earlier versions have written are opened, and find what a run over all documents finds.

use std::collections::BTreeSet;
use std::fs;

use crate::common::cli::{Place, fixture};

#[test]
fn stores_of_all_versions_are_opened() {
    let tiny = fs::read_to_string(fixture("documents/tiny.jsonl")).unwrap();
    let lines: Vec<&str> = tiny.split_inclusive('\n').collect();
    let versions: Vec<_> = fs::read_dir(fixture("../tests/goldens/store"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    assert_eq!(versions.len(), 1);
    for version in versions {
        let here = Place::new();
        fs::create_dir(here.path("store")).unwrap();
        for file in fs::read_dir(&version).unwrap().map(|entry| entry.unwrap()) {
            fs::copy(file.path(), here.path("store").join(file.file_name())).unwrap();
        }
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
