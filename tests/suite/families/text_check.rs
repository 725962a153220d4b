//! The second stage of a simhash run, `--check`: its pairs are those whose texts are alike by the definitions, computed here over
//! all pairs from the texts themselves.

use std::collections::{BTreeMap, BTreeSet};

use super::simhash::{brute_force, fingerprints, write_documents};
use crate::common::cli::{Place, jsonl};
use crate::common::expected::{Keep, Kind};
use crate::common::oracle::Doc;
use crate::common::rng::Rng;

/// A whole share of `part` in `whole`, rounded half up to six decimals.
fn six(part: u128, whole: u128) -> String {
    let millionths = (2_000_000 * part + whole) / (2 * whole);
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
}

fn counts(doc: &Doc) -> BTreeMap<&str, u128> {
    let mut counts = BTreeMap::new();
    doc.text.split_whitespace().for_each(|word| *counts.entry(word).or_default() += 1);
    counts
}

/// The Jaccard similarity of the sets of words, where it is a threshold in hundredths or more.
fn jaccard(a: &Doc, b: &Doc, hundredths: u128) -> Option<String> {
    let [a, b] = [a, b].map(|doc| doc.text.split_whitespace().collect::<BTreeSet<_>>());
    let (shared, either) = (a.intersection(&b).count() as u128, a.union(&b).count() as u128);
    (shared * 100 >= hundredths * either).then(|| format!("\t{}\tjaccard", six(shared, either)))
}

/// As [`jaccard`], with 0.5.
pub fn jaccard_of_half(a: &Doc, b: &Doc) -> Option<String> {
    jaccard(a, b, 50)
}

/// The cosine of the vectors of counts of words: its square is compared.
fn cosine(a: &Doc, b: &Doc, hundredths: u128) -> Option<String> {
    let (a, b) = (counts(a), counts(b));
    let dot: u128 = a.iter().filter_map(|(word, count)| Some(count * b.get(word)?)).sum();
    let squares: u128 =
        [&a, &b].map(|of| of.values().map(|count| count * count).sum::<u128>()).iter().product();
    let reaches = |p: u128, q: u128| dot * dot * q * q >= p * p * squares;
    let rounded =
        || (0..=1_000_000).rev().find(|k: &u128| reaches((2 * k).saturating_sub(1), 2_000_000)).unwrap();
    reaches(hundredths, 100).then(|| format!("\t{}\tcosine", six(rounded(), 1_000_000)))
}

/// One less the share of the longer text that the edit distance is, by the table of its definition.
fn edit(a: &Doc, b: &Doc, hundredths: u128) -> Option<String> {
    let normalised = |doc: &Doc| doc.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let [a, b] = [a, b].map(|doc| normalised(doc).chars().collect::<Vec<_>>());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, x) in a.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], at + 1);
        for (column, y) in (1..).zip(&b) {
            let replaced = corner + usize::from(x != y);
            corner = row[column];
            row[column] = replaced.min(row[column] + 1).min(row[column - 1] + 1);
        }
    }
    let longer = a.len().max(b.len()) as u128;
    let same = longer - row[b.len()] as u128;
    (same * 100 >= hundredths * longer).then(|| format!("\t{}\tedit", six(same, longer)))
}

/// Short texts, many of them alike: some have the same words in another order, and so one fingerprint.
fn short_texts() -> Vec<Doc> {
    let mut rng = Rng::new(41);
    let mut texts: Vec<Vec<usize>> = Vec::new();
    while texts.len() < 160 {
        let mut words = match rng.below(4) {
            0 => (0..8 + rng.below(16)).map(|_| rng.below(300)).collect(),
            _ if texts.is_empty() => continue,
            _ => texts[rng.below(texts.len())].clone(),
        };
        let end = words.len();
        match rng.below(5) {
            0 => words.swap(0, end - 1),
            1 => {}
            changes => (0..changes).for_each(|_| words[rng.below(end)] = rng.below(300)),
        }
        texts.push(words);
    }
    let line = |(number, words): (usize, Vec<usize>)| {
        let text: Vec<_> = words.iter().map(|word| format!("w{word}")).collect();
        let id = format!("s{:03}", number * 37 % 163);
        let blank = ["  ", "\n", " "][number % 3];
        Doc::from_line(&serde_json::json!({ "id": id, "text": text.join(blank) }).to_string())
    };
    texts.into_iter().enumerate().map(line).collect()
}

#[test]
fn pairs_of_every_engine_are_those_whose_texts_are_alike() {
    let here = Place::new();
    let docs = short_texts();
    write_documents(&docs, &here.path(""));
    let prints = fingerprints(&here, &docs, "--features words:1");
    let most =
        |a: &Doc, b: &Doc| if a.text.chars().count().max(b.text.chars().count()) <= 60 { 14 } else { 6 };
    for (check, alike) in [
        ("jaccard:0.8", &(|a: &Doc, b: &Doc| jaccard(a, b, 80)) as &dyn Fn(&Doc, &Doc) -> Option<String>),
        ("cosine:0.75", &|a, b| cosine(a, b, 75)),
        ("edit:0.70", &|a, b| edit(a, b, 70)),
    ] {
        let expected = brute_force(&docs, &prints, (&most, alike), Kind::Components, Keep::Longest);
        let all = brute_force(
            &docs,
            &prints,
            (&most, super::simhash::NOT_COMPARED),
            Kind::Components,
            Keep::Longest,
        );
        let lines = |text: &str| text.lines().count();
        assert!(lines(&expected[0]) > 50 && lines(&expected[0]) < lines(&all[0]), "{check}: {}", expected[0]);
        // Documents with one fingerprint whose texts are another.
        assert!(expected[0].lines().any(|line| line.contains("\t0\t0.")) || check != "edit:0.70");
        for (engine, write) in [("local", "pairs"), ("local --threads 1", "clusters"), ("pipes", "pairs")] {
            let out = format!("{}-{}-{write}", &check[..4], &engine[..5]);
            here.say(&format!(
                "twinsplit run simhash --features words:1 --distance 6,60:14 --check {check} --keep longest \
                 --input docs.jsonl --output {out} --engine {engine} --write {write} --posting-block 5 --quiet"
            ))
            .ok();
            if write == "pairs" {
                assert_eq!(here.read(&format!("{out}/pairs.tsv")), expected[0], "{engine} {check}");
            }
            assert_eq!(here.read(&format!("{out}/clusters.tsv")), expected[1], "{engine} {check}");
        }
    }
}

#[test]
fn a_check_that_does_not_fit_is_refused_by_name() {
    let here = Place::new();
    here.write("docs.jsonl", jsonl(&[("a", "some words of a text")]));
    let run = "twinsplit run --input docs.jsonl --output out";
    for (options, words) in [
        ("simhash --check exact", &["--check exact", "minhash", "jaccard:T"][..]),
        ("minhash --check edit:0.8", &["--check edit:0.8", "simhash", "signature"]),
        ("simhash --check edit:1.5", &["edit", "(0, 1]", "1.5"]),
        ("simhash --check dice:0.5", &["jaccard, cosine or edit", "dice:0.5"]),
        ("simhash --recall 0.9", &["--recall", "minhash", "simhash"]),
    ] {
        let said = here.say(&run.replace("run", &format!("run {options}")));
        assert_ne!(said.code, 0, "{options}");
        assert!(words.iter().all(|word| said.err.contains(word)), "{options}: {}", said.err);
    }
    here.with("text-content", jsonl(&[("a", "text")]), &[]).fails(2, &["--check", "jaccard:T"]);
    here.with("text-left", "b\t\\d\tc\t3\n", &[]).fails(1, &["line 1", "a", "content is among the input"]);
    let wrong = "a\t0\t00000000000000ab 00000000000000aa\n";
    here.with("text-right --check jaccard:0.5", wrong, &[]).fails(1, &["content", "ascending"]);
    let mixed = "0123456789abcdef\t3\t-\ta\n";
    here.with("equal-fingerprints-reduce --check edit:0.5", mixed, &[])
        .fails(1, &["content", "same --check"]);
}
