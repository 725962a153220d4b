//! `twinsplit annotate`: what it says of each document is what the answer's files say, and shares are counted from texts here.

use crate::common::cli::{Place, fixture, jsonl};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The lines of a file of JSON lines.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Overlap and sizes of the pairs, by the two ids in either order.
fn pairs(here: &Place, folder: &str) -> BTreeMap<(String, String), [u64; 3]> {
    let mut pairs = BTreeMap::new();
    for line in here.read(&format!("{folder}/pairs.tsv")).lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [overlap, a, b] = [2, 3, 4].map(|at| fields[at].parse().unwrap());
        pairs.insert((fields[0].to_owned(), fields[1].to_owned()), [overlap, a, b]);
        pairs.insert((fields[1].to_owned(), fields[0].to_owned()), [overlap, b, a]);
    }
    pairs
}

/// A share in six decimals, rounded half up, from integers.
fn share(overlap: u64, size: u64) -> f64 {
    let millionths = (2_000_000 * overlap + size) / (2 * size);
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000).parse().unwrap()
}

/// Each line is that of the input and six fields behind it, which say what clusters.tsv and pairs.tsv say. In a star every dropped
/// document is in a pair with the kept one.
#[test]
fn every_document_says_what_the_answer_says() {
    let here = Place::new();
    let docs = fixture("documents/en.jsonl.gz").display().to_string();
    here.shell(&format!("zcat {docs} > docs.jsonl")).ok();
    here.say("twinsplit run -i docs.jsonl --cluster star -qo out").ok();
    let said = here.say("twinsplit annotate out -o all.jsonl");
    let text = here.read("all.jsonl");
    let (annotated, given) = (lines(&text), here.read("docs.jsonl"));
    assert_eq!(annotated.len(), 785);
    let pairs = pairs(&here, "out");
    let clusters = here.read("out/clusters.tsv");
    let mut members: BTreeMap<&str, Vec<(bool, &str, &str)>> = BTreeMap::new();
    for line in clusters.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        members.entry(fields[0]).or_default().push((fields[2] == "drop", fields[3], fields[1]));
    }
    let mut expected: BTreeMap<&str, (&str, usize, usize, bool, Value)> = BTreeMap::new();
    for (kept, all) in &mut members {
        // The kept one, then the most similar first, equals by id.
        all.sort_by(|x, y| (x.0, y.1, x.2).cmp(&(y.0, x.1, y.2)));
        for (rank, (drop, score, id)) in all.iter().enumerate() {
            let score = if *drop { serde_json::from_str(score).unwrap() } else { Value::Null };
            expected.insert(id, (kept, all.len(), rank + 1, *drop, score));
        }
    }
    let (mut dropped, mut unlike) = (0, 0);
    for (line, (annotated, original)) in text.lines().zip(annotated.iter().zip(given.lines())) {
        assert!(line.starts_with(&original[..original.len() - 1]), "{line}");
        let id = annotated["id"].as_str().unwrap();
        let (kept, size, rank, drop, score) =
            expected.get(id).cloned().unwrap_or((id, 1, 1, false, Value::Null));
        let of_kept = pairs.get(&(id.to_owned(), kept.to_owned())).filter(|_| drop);
        let share_of_it = of_kept.map_or(Value::Null, |[overlap, own, _]| share(*overlap, *own).into());
        assert_eq!(drop, of_kept.is_some(), "{id}");
        let names = ["kept", "size", "rank", "drop", "similarity", "share"];
        let found = names.map(|name| annotated[format!("dup_{name}")].clone());
        assert_eq!(found, [kept.into(), size.into(), rank.into(), drop.into(), score, share_of_it], "{id}");
        dropped += usize::from(drop);
        unlike += usize::from(of_kept.is_some_and(|[overlap, own, _]| 2 * overlap < *own));
    }
    assert!(dropped > 400);
    assert!(
        said.err.contains(&format!("{} documents to keep, {dropped} to drop", 785 - dropped)),
        "{}",
        said.err
    );
    assert_eq!(said.err.contains("less than half"), unlike > 0, "{}", said.err);
    // Of those, docs/choosing.md has the number.
    let unsafe_ones = |(id, kept): (&str, &str)| {
        let [overlap, own, _] = pairs[&(id.to_owned(), kept.to_owned())];
        10 * overlap < 9 * own
    };
    let drops = expected.iter().filter(|(_, row)| row.3).map(|(id, row)| (*id, row.0));
    let stay = drops.filter(|drop| unsafe_ones(*drop)).count();
    let said = here.say("twinsplit annotate out --drop-if-contained 0.9 -o contained.jsonl");
    assert!(said.err.contains(&format!("\n{stay} documents of clusters stay")), "{stay}: {}", said.err);
    let advice =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/choosing.md")).unwrap();
    assert!(
        advice.contains(&format!("Of the {dropped} documents"))
            && advice.contains(&format!("{stay} have less"))
    );
    // With little room the kept documents come in parts; the bytes are the same, packed or not.
    assert_eq!(here.say("twinsplit annotate out -o - --memory 1").ok(), text);
    here.shell("twinsplit annotate out -qo all.jsonl.gz && zcat all.jsonl.gz | cmp - all.jsonl").ok();
}

/// A document is dropped only if so much of it stands in the kept one: counted from words here, at the edge too.
#[test]
fn what_has_a_part_of_its_own_stays() {
    let here = Place::new();
    let words = |from: usize, to: usize| (from..to).map(|word| format!("w{word} ")).collect::<String>();
    // Of 20 words 18, of 20 words 17, all of 16; a short one that is equal and one that is not.
    let docs = [
        ("a", words(0, 20)),
        ("b", words(0, 18) + "x1 x2"),
        ("c", words(0, 17) + "y1 y2 y3"),
        ("d", words(4, 20)),
        ("s", "p q r".to_owned()),
        ("t", "p q  R".to_owned()),
        ("u", "p q r q".to_owned()),
        ("z", "alone here".to_owned()),
    ];
    here.write("docs", jsonl(&docs.each_ref().map(|(id, text)| (*id, text.as_str()))));
    here.say("twinsplit run -i docs --features words:1 --tau 0.6 -qo out").ok();
    for (least, stays) in [
        ("0.9", &["a", "c", "s", "u", "z"][..]),
        ("0.91", &["a", "b", "c", "s", "u", "z"]),
        ("0.85", &["a", "s", "u", "z"]),
        ("1", &["a", "b", "c", "s", "u", "z"]),
    ] {
        let line = format!("twinsplit annotate out --drop-if-contained {least} --only");
        let kept = lines(&here.say(&format!("{line} kept -o -")).ok());
        let dropped = lines(&here.say(&format!("{line} dropped -o -")).ok());
        let ids = |lines: &[Value]| {
            lines.iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&kept), stays, "{least}");
        let both: BTreeSet<_> = ids(&kept).into_iter().chain(ids(&dropped)).collect();
        assert_eq!(both.len(), docs.len());
        assert!(
            dropped.iter().all(|line| line["dup_drop"] == true)
                && kept.iter().all(|line| line["dup_drop"] == false)
        );
    }
    let said = here.say("twinsplit annotate out --drop-if-contained 0.9 -o annotated");
    assert!(said.err.contains("2 documents of clusters stay, with less than 0.9"), "{}", said.err);
}

/// Fingerprints have distances; tables and stages have the same fields; what --write-kept writes is what is kept.
#[test]
fn every_chain_and_format_will_do() {
    let here = Place::new();
    let docs = fixture("documents/en.jsonl.gz").display().to_string();
    for (chain, score) in [("simhash --distance 5", "dup_distance"), ("minhash --tau 0.6", "dup_similarity")]
    {
        here.say(&format!("twinsplit run {chain} -i {docs} --write-kept --overwrite -qo out")).ok();
        let kept = lines(&here.say("twinsplit annotate out --only kept -o -").ok());
        let ids = |lines: &[Value]| lines.iter().map(|line| line["id"].clone()).collect::<Vec<_>>();
        assert_eq!(ids(&kept), ids(&lines(&here.read("out/kept.jsonl"))), "{chain}");
        let dropped = lines(&here.say("twinsplit annotate out --only dropped -o -").ok());
        assert!(dropped.len() > 20 && dropped.iter().all(|line| line[score].is_number()), "{chain}");
    }
    let text = "one two three four five";
    here.write("table.csv", format!("id,text,year\na,{text},1999\n7,\"{text}\",2001\n"));
    for engine in ["local", "pipes"] {
        here.say(&format!("twinsplit run -i table.csv --engine {engine} --overwrite -qo out")).ok();
        let all = lines(&here.say("twinsplit annotate out -o - --prefix x-").ok());
        let found =
            all.iter().map(|line| ["id", "year", "x-kept", "x-rank"].map(|name| line[name].to_string()));
        let found: Vec<_> = found.collect();
        assert_eq!(
            found,
            [["\"a\"", "\"1999\"", "\"7\"", "2"], ["\"7\"", "\"2001\"", "\"7\"", "1"]],
            "{engine}"
        );
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let here = Place::new();
    let docs = [("a", "one two three four"), ("b", "one two three four")];
    here.write("docs", jsonl(&docs));
    here.say("twinsplit run -i docs -qo out").ok();
    here.shell("twinsplit run -i - -qo piped < docs").ok();
    here.write("other", jsonl(&[("a", "one two three four"), ("c", "one two three four")]));
    here.say("twinsplit annotate piped -i other -o x").fails(2, &["1 document is", "--input"]);
    here.say("twinsplit annotate piped -i docs -o - -q").ok();
    here.say("twinsplit annotate out -o docs --overwrite").fails(2, &["docs", "reads"]);
    here.say("twinsplit annotate out -qo once").ok();
    here.say("twinsplit run -i once -qo again").ok();
    here.say("twinsplit annotate again -o -").fails(2, &["once, line 1", "\"dup_kept\"", "--prefix"]);
    here.say("twinsplit annotate again -o - --prefix other_ -q").ok();
    here.say("twinsplit annotate out -o - --prefix \"").fails(2, &["--prefix"]);
    here.say("twinsplit annotate out -o x --drop-if-contained 1.5")
        .fails(2, &["--drop-if-contained", "(0, 1]"]);
    here.say("twinsplit annotate nowhere -o x").fails(1, &["nowhere/run.json"]);
    here.say("twinsplit run -i docs --queries docs -qo with").ok();
    here.say("twinsplit annotate with -o x").fails(2, &["queries", "no clusters"]);
    here.write("docs", jsonl(&[("a", "one two"), ("b", "one two three four")]));
    here.say("twinsplit annotate out -o x").fails(1, &["docs", "has changed"]);
    here.write("out/clusters.tsv", "a\ta\tkeep\t-\n");
    here.say("twinsplit annotate out -o x").fails(1, &["clusters.tsv", "run again"]);
    assert!(!here.path("x").exists());
}

/// Of a store the kept document is not read, so nobody knows what of the other one stands in it.
#[test]
fn what_is_dropped_for_a_document_of_a_store_stays_where_it_must_be_contained() {
    let here = Place::new();
    let text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
    here.write("old", jsonl(&[("a", text)]));
    here.write("new", jsonl(&[("b", &format!("{text} but this here is all new text"))]));
    here.say("twinsplit run -i old --store S --tau 0.5 -qo out-old").ok();
    here.say("twinsplit run -i new --against S --tau 0.5 -qo out").ok();
    let annotated = |options: &str| {
        let said = here.say(format!("twinsplit annotate out -o x --overwrite {options}").trim_end());
        (lines(&here.read("x")), said.err)
    };
    let (all, _) = annotated("");
    assert_eq!((&all[0]["dup_drop"], &all[0]["dup_share"]), (&true.into(), &Value::Null));
    let (all, said) = annotated("--drop-if-contained 0.1");
    assert_eq!((&all[0]["dup_drop"], &all[0]["dup_kept"]), (&false.into(), &"a".into()));
    assert!(said.contains("1 document of clusters stays, for the kept document is in the store"), "{said}");
}

/// Repeats of a feature are none of their own, where few different ones must be equal texts.
#[test]
fn few_different_features_are_counted_without_their_repeats() {
    let here = Place::new();
    here.write("docs", jsonl(&[("1", "a a a a b b b b c"), ("2", "b a b a b a b a")]));
    here.say("twinsplit run -i docs --features words:1 --counts on -qo out").ok();
    here.say("twinsplit annotate out --drop-if-contained 1 -qo x").ok();
    let all = lines(&here.read("x"));
    assert_eq!((&all[1]["dup_drop"], &all[1]["dup_share"]), (&false.into(), &1.0.into()));
}
