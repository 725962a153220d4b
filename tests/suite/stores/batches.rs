//! Each batch has the pairs of a run over everything that hold a new document, byte for byte, and the clusters that it has touched; the last one ends in
//! the clusters of one run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::common::cli::{Place, fixture, jsonl};
use crate::common::oracle::Doc;
use crate::common::real;
use crate::common::rng::Rng;

pub fn lines(docs: &[Doc]) -> String {
    docs.iter().map(|doc| doc.line.clone() + "\n").collect()
}

/// Real pages, copies of some with a sentence less, and texts that are too short for features, in an order that chance gives.
pub fn documents() -> Vec<Doc> {
    let pages = real::every(3, real::read(&fixture("documents/en.jsonl.gz")));
    let mut all = pages.clone();
    for (at, page) in pages.iter().enumerate().step_by(4) {
        let text = page.text.split_once(". ").map_or(page.text.as_str(), |(_, rest)| rest);
        all.push(Doc::from_line(&json!({ "id": format!("copy-{at:03}"), "text": text }).to_string()));
    }
    for at in 0..12 {
        let text = ["yes", "No!", "yes", " no! ", ""][at % 5];
        all.push(Doc::from_line(&json!({ "id": format!("short-{at:02}"), "text": text }).to_string()));
    }
    let mut rng = Rng::new(31);
    for at in (1..all.len()).rev() {
        all.swap(at, rng.below(at + 1));
    }
    all
}

pub fn rows(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

fn field(row: &str, at: usize) -> &str {
    row.split('\t').nth(at).unwrap()
}

/// The document that is kept of each one's cluster.
pub fn kept(clusters: &str) -> BTreeMap<&str, &str> {
    clusters.lines().map(|row| (field(row, 1), field(row, 0))).collect()
}

/// Adds batches one after the other and compares each with runs over all; gives how many pairs there were between batches.
fn compare(options: &str, cuts: &[usize], docs: &[Doc]) -> usize {
    let here = Place::new();
    let (mut before, mut crossing) = ((String::new(), String::new()), 0);
    for (number, cut) in cuts.windows(2).enumerate() {
        let (old, new) = (&docs[..cut[0]], &docs[cut[0]..cut[1]]);
        here.write("all.jsonl", lines(&docs[..cut[1]]));
        here.write("new.jsonl", lines(new));
        here.say(&format!(
            "twinsplit run doc-split {options} --input all.jsonl --output all --overwrite --quiet"
        ))
        .ok();
        let all = (here.read("all/pairs.tsv"), here.read("all/clusters.tsv"));
        let run = format!("twinsplit run {options} --input new.jsonl --overwrite --quiet --output");
        if number > 0 {
            here.say(&format!("{run} looked --against store --threads 3")).ok();
        }
        let memory = if number % 2 == 0 { "--memory 80 --threads 1" } else { "--threads 2" };
        here.say(&format!("{run} out --store store --batch-id day-{number} {memory}")).ok();
        let said: [String; 4] = ["pairs.tsv", "clusters.tsv", "changes.tsv", "batches.tsv"]
            .map(|name| here.read(&format!("out/{name}")));
        let [pairs, clusters, changes, batches] = &said;
        let earlier = rows(&before.0);
        let expected: Vec<&str> = all.0.lines().filter(|row| !earlier.contains(row)).collect();
        assert_eq!(pairs.lines().collect::<Vec<_>>(), expected, "{options} {number}");
        // The clusters that hold a new document or a pair of one, as they stand in a run over all.
        let ids: BTreeSet<&str> = new.iter().map(|doc| doc.id.as_str()).collect();
        let of = kept(&all.1);
        let touched: BTreeSet<&str> =
            of.iter().filter(|(id, _)| ids.contains(*id)).map(|(_, kept)| *kept).collect();
        let expected: Vec<&str> = all.1.lines().filter(|row| touched.contains(field(row, 0))).collect();
        assert_eq!(clusters.lines().collect::<Vec<_>>(), expected, "{options} {number}");
        // What is another document for than before.
        let was = kept(&before.1);
        let expected: BTreeSet<String> = old
            .iter()
            .map(|doc| doc.id.as_str())
            .map(|id| (id, was.get(id).unwrap_or(&id).to_string(), of.get(id).unwrap_or(&id).to_string()))
            .filter(|(_, was, now)| was != now)
            .map(|(id, was, now)| format!("{id}\t{was}\t{now}"))
            .collect();
        assert_eq!(rows(changes), expected.iter().map(String::as_str).collect(), "{options} {number}");
        for row in batches.lines() {
            let place = docs.iter().position(|doc| doc.id == field(row, 0)).unwrap();
            let batch = cuts.windows(2).position(|cut| (cut[0]..cut[1]).contains(&place)).unwrap();
            assert_eq!(field(row, 1), format!("day-{batch}"));
        }
        crossing += pairs.lines().filter(|row| (0..2).any(|at| !ids.contains(field(row, at)))).count();
        if number > 0 {
            for name in ["pairs.tsv", "clusters.tsv", "changes.tsv", "batches.tsv"] {
                assert_eq!(here.read(&format!("looked/{name}")), here.read(&format!("out/{name}")), "{name}");
            }
        }
        // The same batch again: the same answer, and nothing else.
        let held = here.say("twinsplit store ls store --json").ok();
        here.say(&format!("{run} again --store store --batch-id day-{number}")).ok();
        for (name, text) in ["pairs.tsv", "clusters.tsv", "changes.tsv", "batches.tsv"].iter().zip(&said) {
            assert_eq!(here.read(&format!("again/{name}")), *text, "{name}");
        }
        assert_eq!(here.say("twinsplit store ls store --json").ok(), held);
        before = all;
    }
    let held: Value = serde_json::from_str(&here.say("twinsplit store ls store --json").ok()).unwrap();
    assert_eq!(held["documents"], docs.len());
    assert_eq!(held["in_clusters"], before.1.lines().count());
    assert_eq!(held["batches"].as_array().unwrap().len(), cuts.len() - 1);
    let said = here.say("twinsplit store verify store");
    assert!(said.err.contains("all as they were written"), "{}", said.err);
    said.ok();
    crossing
}

#[test]
fn batches_are_a_run_over_all() {
    let docs = documents();
    let n = docs.len();
    let (mut crossing, mut runs) = (0, 0);
    for (options, cuts) in [
        ("--tau 0.5", vec![0, n / 3, n / 3 + 7, n / 2, n]),
        ("--tau 0.7 --features words:5 --similarity containment", vec![0, 1, n / 2, n]),
        ("--similarity overlap --tau 30 --features chars:5", vec![0, n - 20, n - 19, n]),
        ("--similarity cosine --tau 0.65 --min-features 9 --counts on", vec![0, n / 4, n]),
    ] {
        crossing += compare(options, &cuts, &docs);
        runs += cuts.len() - 1;
    }
    println!("{runs} batches, {crossing} pairs with documents of earlier ones");
    assert!(runs == 12 && crossing > 60, "{runs} {crossing}");
}

#[test]
fn documents_that_come_again_are_no_copies_of_themselves() {
    let here = Place::new();
    let text = |at: usize| (0..30).map(|word| format!("w{} ", (word * at) % 41)).collect::<String>();
    let [a, b, c] = [1, 1, 5].map(text);
    here.write("one", jsonl(&[("m", &a), ("x", &c)]));
    here.write("two", jsonl(&[("m", &a), ("b", &b)]));
    let run = |input: &str, more: &str| {
        let run = format!("twinsplit run --features words:2 --input {input} --output out --overwrite {more}");
        here.say(&run)
    };
    run("one", "--store s --quiet").ok();
    // What somebody has put into the folder stays.
    here.write("s/segment-notes", "mine");
    run("two", "--store s --write-kept --cluster components --quiet").ok();
    assert_eq!(here.read("out/pairs.tsv"), "b\tm\t29\t29\t29\t1.000000\n");
    assert_eq!(here.read("out/clusters.tsv"), "b\tb\tkeep\t-\nb\tm\tdrop\t1.000000\n");
    assert_eq!(here.read("out/changes.tsv"), "m\tm\tb\n");
    assert!(
        here.read("out/kept.jsonl").starts_with("{\"id\":\"b\"")
            && here.read("out/kept.jsonl").lines().count() == 1
    );
    // Without a name a batch is called by its documents, so a run that lost its answer has it again.
    let said = run("two", "--store s");
    assert!(said.err.contains("this is the answer of then"), "{}", said.err);
    assert_eq!(here.read("out/changes.tsv"), "m\tm\tb\n");
    assert_eq!(here.read("s/segment-notes"), "mine");
    here.write("changed", jsonl(&[("x", "another text")]));
    run("changed", "--store s")
        .fails(2, &["the document x stands in the store with another text", "an id of its own"]);
    // Where texts are not compared, a document is known by its features.
    run("one", "--store plain --equal-texts off --quiet").ok();
    run("changed", "--store plain --equal-texts off")
        .fails(2, &["the document x stands in the store with another text"]);
    run("one", "--store plain --equal-texts off --batch-id again").ok();
    run("one", "--store s --batch-id one").ok();
    run("two", "--store s --batch-id one").fails(2, &["has a batch one of other documents", "--batch-id"]);
    here.write("twice", jsonl(&[("t", "a b c d"), ("t", "e f g h")]));
    run("twice", "--store s").fails(1, &["\"t\" stands at more than one document of the batch"]);
}

#[test]
fn what_a_store_has_not_is_refused_by_name() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "one two three four"), ("b", "one two three four")]));
    std::fs::create_dir(here.path("mine")).unwrap();
    here.write("mine/file", "x");
    let run = |more: &str| here.say(&format!("twinsplit run --input docs --output out --overwrite {more}"));
    run("--store s").ok();
    let run = |more: &str| here.say(&format!("twinsplit run {more} --input docs --output other"));
    for (more, code, words) in [
        ("minhash --store s", 2, &["doc-split", "not for minhash"][..]),
        ("--store s --engine pipes", 2, &["one process", "--engine"]),
        ("--store s --idf 0.1,1", 2, &["leave --idf out"]),
        ("--store s --write-kept", 2, &["--cluster components with --write-kept"]),
        ("--store s --write clusters", 2, &["leave --write out"]),
        ("--store s --keep longest", 2, &["smallest id"]),
        ("--store s --queries docs", 2, &["leave --queries out"]),
        ("--store s --against s", 2, &["--against"]),
        ("--batch-id x", 2, &["--batch-id goes with --store"]),
        ("--store s --tau 0.7", 2, &["was made with tau=0.65, and tau=0.7 is asked for"]),
        ("--against s --features words:2", 2, &["was made with features=words:3"]),
        ("--against nowhere", 1, &["nowhere"]),
        ("--against mine", 1, &["mine: holds no store", "run --store makes one"]),
        ("--store docs", 1, &["docs: is a file, and a store is a folder"]),
        ("--store mine", 1, &["mine: is no store, and holds file"]),
    ] {
        run(more).fails(code, words);
        assert!(!here.path("other").exists(), "{more}");
    }
    assert_eq!(here.names("mine"), ["file"].map(str::to_owned).into());
    // A store of a later version, and one that is damaged.
    let commit = here.read("s/commit-00000001");
    here.write("s/commit-00000001", commit.replacen("\t1\t", "\t2\t", 1));
    run("--against s").fails(1, &["commit-00000001", "version"]);
    here.write("s/commit-00000001", commit.replacen("min-features=1", "min-features=2", 1));
    run("--against s --min-features 2").fails(1, &["commit-00000001"]);
    here.write("s/commit-00000001", commit);
    let mut segment = std::fs::read(here.path("s/segment-00000001-0")).unwrap();
    let last = segment.len() - 1;
    segment[last] ^= 1;
    here.write("s/segment-00000001-0", segment);
    here.say("twinsplit store verify s").fails(1, &["segment-00000001-0", "it is damaged"]);
    here.say("twinsplit store ls mine").fails(1, &["mine: holds no store"]);
}

/// A store has no texts: whoever would look at one is told so, and what comes next is what goes without.
#[test]
fn what_shows_texts_says_that_a_store_has_none() {
    let here = Place::new();
    let text = "one two three four five";
    here.write("old", jsonl(&[("a", text)]));
    here.write("new", jsonl(&[("b", text)]));
    here.say("twinsplit run -i old --store store -qo first").ok();
    let said = here.say("twinsplit run -i new --against store -o out");
    assert!(said.err.contains("\nnext: twinsplit annotate out "), "{}", said.err);
    said.ok();
    here.say("twinsplit explain a b --run out").fails(2, &["\"a\"", "a store, which has no texts"]);
    here.say("twinsplit report out").fails(2, &["a store, which has no texts", "--text 0"]);
    here.say("twinsplit report out --text 0 -q").ok();
    assert!(here.say("twinsplit annotate out -qo -").ok().contains("\"dup_kept\":\"a\",\"dup_size\":2"));
}

/// What a run with a store would do is said, and refused, before documents are read.
#[test]
fn a_dry_run_looks_at_the_store() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "one two three four five"), ("b", "one two three four five")]));
    let dry = |options: &str| here.say(&format!("twinsplit run --dry-run -i docs {options}")).ok();
    let said = dry("--store S -o out");
    assert!(said.contains("S, which is made") && said.contains("changes.tsv, batches.tsv"), "{said}");
    assert!(!here.path("S").exists());
    here.say("twinsplit run -i docs --store S --batch-id one -qo out").ok();
    assert!(dry("--store S -o other").contains("S, to which the documents are added"));
    assert!(dry("--against S --batches two -o other").contains("the store S has no batch two"));
    assert!(dry("--against S --tau 0.3 -o other").contains("was made with"));
    assert!(dry("--against S -o other").contains("nothing that is known before"));
}

/// What a batch drops is told of its own documents, whatever was dropped before, and when it comes again.
#[test]
fn documents_of_earlier_batches_are_not_told_as_dropped() {
    let here = Place::new();
    let text = "one two three four five";
    here.write("day1", jsonl(&[("a", text), ("b", text), ("c", text)]));
    here.write("day2", jsonl(&[("d", text), ("e", "nothing is like this one here")]));
    here.say("twinsplit run -i day1 --store S -qo one").ok();
    for out in ["two", "three"] {
        let said = here.say(&format!("twinsplit run -i day2 --store S -o {out}"));
        assert!(said.err.contains("1 cluster, 1 document to drop"), "{}", said.err);
        said.ok();
        assert_eq!(here.read(&format!("{out}/clusters.tsv")).lines().count(), 4);
    }
}

/// A batch that comes again is told as it was then; one that fails leaves no store behind that was not there.
#[test]
fn batches_that_come_again_or_fail_are_told() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "one two three four five"), ("b", "one two three four five")]));
    here.write("twice", jsonl(&[("a", "one two three four"), ("a", "five six seven eight")]));
    here.say("twinsplit run -i twice --store S -qo out").fails(1, &["a"]);
    assert!(!here.path("S").exists());
    let first = here.say("twinsplit run -i docs --store S -o one").err;
    let again = here.say("twinsplit run -i docs --store S -o two").err;
    for said in [first, again] {
        assert!(said.contains("1 cluster, 1 document to drop"), "{said}");
    }
    for id in ["", "a,b", &"x".repeat(257)] {
        let run = format!("twinsplit run -i docs --store S -qo out --batch-id '{id}'");
        here.shell(&run).fails(2, &["1 to 256 bytes"]);
    }
}
