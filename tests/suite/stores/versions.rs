//! New versions of documents, some batches of a store, and what a store has, document by document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::batches::{documents, kept, lines, rows};
use super::forget::{changes, held, run_over, three_days};
use crate::common::cli::{Place, jsonl};
use crate::common::oracle::Doc;

/// The pairs of a run that [`run_over`] has made.
fn pairs(here: &Place) -> String {
    here.read("all-out/pairs.tsv")
}

/// A batch in which documents have other texts replaces them: pairs are those of a run over the new texts, and what changes is told against what was.
#[test]
fn a_new_version_takes_the_place_of_the_old_one() {
    let docs = documents();
    let third = docs.len().div_ceil(3);
    let (mut replaced, mut told) = (0, 0);
    for options in ["--tau 0.5", "--similarity containment --tau 0.7 --features words:5"] {
        let here = Place::new();
        three_days(&here, options, &docs);
        let before = run_over(&here, options, &docs);
        // Some texts go to the document before them, some lose words, some stay; and some ids are new.
        let batch: Vec<Doc> = (0..docs.len())
            .step_by(5)
            .map(|at| {
                let text = match at % 4 {
                    0 => docs[(at + 1) % docs.len()].text.clone(),
                    1 => docs[at].text.chars().skip(40).collect(),
                    _ => docs[at].text.clone(),
                };
                let id = if at % 11 == 0 { format!("new-{at}") } else { docs[at].id.clone() };
                Doc::from_line(&json!({ "id": id, "text": text }).to_string())
            })
            .collect();
        let new: BTreeMap<&str, &Doc> = batch.iter().map(|doc| (doc.id.as_str(), doc)).collect();
        let is_other = |doc: &&Doc| new.get(doc.id.as_str()).is_some_and(|new| new.text != doc.text);
        let stays: Vec<Doc> = docs.iter().filter(|doc| !is_other(doc)).cloned().collect();
        let there: BTreeSet<&str> = stays.iter().map(|doc| doc.id.as_str()).collect();
        let after: Vec<Doc> = stays
            .iter()
            .chain(batch.iter().filter(|doc| !there.contains(doc.id.as_str())))
            .cloned()
            .collect();
        run_over(&here, options, &stays);
        let earlier = pairs(&here);
        let now = run_over(&here, options, &after);
        here.write("new", lines(&batch));
        let run = format!("twinsplit run {options} --input new --known-id version --overwrite");
        here.say(&format!("{run} --against store --output looked --quiet")).ok();
        let said = here.say(&format!("{run} --store store --output out --batch-id versions"));
        let count = docs.len() - stays.len();
        assert!(
            said.err.contains(&format!("{count} documents in place of earlier versions")),
            "{}",
            said.err
        );
        said.ok();
        let all = pairs(&here);
        let expected: BTreeSet<&str> = rows(&all).difference(&rows(&earlier)).copied().collect();
        assert_eq!(rows(&here.read("out/pairs.tsv")), expected, "{options}");
        let expected = changes(&before, &now, &stays);
        assert_eq!(rows(&here.read("out/changes.tsv")), expected.iter().map(String::as_str).collect());
        for name in ["pairs.tsv", "clusters.tsv", "changes.tsv", "batches.tsv"] {
            assert_eq!(here.read(&format!("looked/{name}")), here.read(&format!("out/{name}")), "{name}");
        }
        assert_eq!(held(&here, options, &after), now);
        // The batch again has its answer; the texts of before are refused, and come back as versions.
        here.say(&format!("{run} --store store --output again --batch-id versions --quiet")).ok();
        assert_eq!(here.read("again/pairs.tsv"), here.read("out/pairs.tsv"));
        here.write("old", lines(&docs[..third]));
        let old =
            format!("twinsplit run {options} --input old --store store --overwrite --quiet --output back");
        here.say(&old).fails(2, &["stands in the store with another text", "--known-id version"]);
        replaced += count;
        told += expected.len();
    }
    println!("{replaced} replaced, {told} changes");
    assert!(replaced > 40 && told > 15, "{replaced} {told}");
}

/// With some batches alone the answer is that of a store in which no others have come.
#[test]
fn some_batches_are_a_store_of_their_own() {
    let docs = documents();
    let third = docs.len().div_ceil(3);
    let (old, new) = docs.split_at(docs.len() - third / 2);
    let here = Place::new();
    three_days(&here, "--tau 0.5", old);
    let third = old.len().div_ceil(3);
    here.write("new", lines(new));
    let run = "twinsplit run --tau 0.5 --input new --overwrite --quiet --against";
    let mut found = 0;
    for days in [&[0][..], &[2, 1], &[0, 1, 2]] {
        let names: Vec<String> = days.iter().map(|day| format!("day-{day}")).collect();
        here.say(&format!("{run} store --batches {} --output some", names.join(","))).ok();
        for (at, day) in days.iter().enumerate() {
            here.write("batch", lines(old.chunks(third).nth(*day).unwrap()));
            let is_first = if at == 0 { format!("of-{}", days.len()) } else { String::new() };
            let store = format!("of-{}", days.len());
            assert!(is_first.is_empty() || !here.path(&store).exists());
            here.say(&format!("twinsplit run --tau 0.5 --input batch --overwrite --quiet --output x --store {store} --batch-id day-{day}")).ok();
        }
        here.say(&format!("{run} of-{} --output whole", days.len())).ok();
        for name in ["pairs.tsv", "clusters.tsv", "changes.tsv", "batches.tsv"] {
            assert_eq!(
                here.read(&format!("some/{name}")),
                here.read(&format!("whole/{name}")),
                "{days:?} {name}"
            );
        }
        found += here.read("some/pairs.tsv").lines().count();
    }
    assert!(found > 20, "{found}");
    // A batch of the store is compared like any other.
    here.write("batch", lines(&old[..third]));
    here.say("twinsplit run --tau 0.5 --input batch --against store --batches day-1 --batch-id day-0 --output again --quiet").ok();
    run_over(&here, "--tau 0.5", &old[third..2 * third]);
    let second = pairs(&here);
    run_over(&here, "--tau 0.5", &old[..2 * third]);
    let (both, again) = (pairs(&here), here.read("again/pairs.tsv"));
    assert_eq!(rows(&again), rows(&both).difference(&rows(&second)).copied().collect());
    for (more, words) in [
        ("--against store --batches day-7", &["has no batch day-7"][..]),
        ("--store store --batches day-1", &["--batches goes with --against"]),
        ("--batches day-1", &["--batches goes with --against"]),
        ("--against store --batches day-1 --known-id version", &["--known-id"]),
        ("--known-id version", &["--known-id goes with --store"]),
        ("--against store --known-id other", &["refuse", "version"]),
    ] {
        here.say(&format!("twinsplit run --tau 0.5 --input batch --output other {more}")).fails(2, words);
        assert!(!here.path("other").exists(), "{more}");
    }
}

/// Each document with its batch, the one that is kept of its cluster, and what tells equal texts from others.
#[test]
fn an_export_has_every_document() {
    let docs = documents();
    let third = docs.len().div_ceil(3);
    let here = Place::new();
    three_days(&here, "--tau 0.5", &docs);
    let gone = &docs[3].id;
    here.say(&format!("twinsplit store forget store {gone}")).ok();
    let left: Vec<Doc> = docs.iter().filter(|doc| doc.id != *gone).cloned().collect();
    let clusters = run_over(&here, "--tau 0.5", &left);
    let kept = kept(&clusters);
    here.say("twinsplit store export store -o lines").ok();
    here.say("twinsplit store export store -o lines").fails(2, &["--overwrite"]);
    let text = here.read("lines");
    assert_eq!(here.say("twinsplit store export store").ok(), text);
    let entries: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut ids: Vec<&str> = left.iter().map(|doc| doc.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect::<Vec<_>>(), ids);
    let mut of_hash: BTreeMap<Option<&str>, BTreeSet<String>> = BTreeMap::new();
    for entry in &entries {
        let id = entry["id"].as_str().unwrap();
        let place = docs.iter().position(|doc| doc.id == id).unwrap();
        assert_eq!(entry["batch"], format!("day-{}", place / third));
        assert_eq!(entry["in_cluster"], kept.contains_key(id));
        assert_eq!(entry["kept"], *kept.get(id).unwrap_or(&id));
        of_hash
            .entry(entry["hash"].as_str())
            .or_default()
            .insert(docs[place].text.to_lowercase().trim().to_owned());
    }
    // The blank texts have none, and equal ones have the same.
    assert_eq!(of_hash[&None], BTreeSet::from([String::new()]));
    assert!(of_hash.values().any(|texts| texts.iter().any(|text| text == "yes")));
    assert!(of_hash.len() > docs.len() / 2 && of_hash.len() < left.len());
    // Ids are as documents have them.
    here.write("odd", jsonl(&[("a\tb", "one two three four five")]));
    here.say("twinsplit run --input odd --store other --output x --quiet --batch-id b").ok();
    let line = here.say("twinsplit store export other").ok();
    assert!(
        line.starts_with(
            r#"{"id":"a\tb","batch":"b","kept":"a\tb","in_cluster":false,"features":3,"hash":""#
        ),
        "{line}"
    );
}
