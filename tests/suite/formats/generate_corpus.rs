//! `twinsplit generate-corpus`: the same bytes everywhere, and what it says of its documents is so.

use crate::common::cli::{Place, fixture};
use crate::common::features;
use crate::common::oracle::{Doc, Features};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use twinsplit_core::hash::Checksum;
use unicode_script::{Script, UnicodeScript};

/// A corpus, read back.
struct Made {
    docs: BTreeMap<String, Doc>,
    host: BTreeMap<String, String>,
    language: BTreeMap<String, String>,
    truth: Vec<Truth>,
}

/// A row of the truth.
struct Truth {
    id: String,
    source: String,
    edit: String,
    edited: usize,
    words: usize,
    first: String,
}

impl Made {
    fn read(here: &Place, folder: &str) -> Self {
        let (mut docs, mut host, mut language) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for line in here.read(&format!("{folder}/documents.jsonl")).lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let field =
                |name: &str| value[name].as_str().unwrap_or_else(|| panic!("no {name}: {line}")).to_owned();
            assert_eq!(
                field("url"),
                format!(
                    "http://{}/{}.html",
                    field("host"),
                    field("id").trim_start_matches('0').parse::<u64>().unwrap_or(0)
                )
            );
            assert!(["en", "zh"].contains(&&*field("language")));
            host.insert(field("id"), field("host"));
            language.insert(field("id"), field("language"));
            let doc = Doc::from_line(line);
            assert!(docs.insert(doc.id.clone(), doc).is_none(), "an id twice");
        }
        let row = |line: &str| {
            let fields: Vec<&str> = line.split('\t').collect();
            let &[id, source, edit, edited, words, first] = &fields[..] else { panic!("{line}") };
            let own = str::to_owned;
            let (edited, words) = (edited.parse().unwrap(), words.parse().unwrap());
            Truth { id: own(id), source: own(source), edit: own(edit), edited, words, first: own(first) }
        };
        let truth = here.read(&format!("{folder}/_truth.tsv")).lines().map(row).collect();
        Self { docs, host, language, truth }
    }

    fn words(&self, id: &str) -> Vec<&str> {
        self.docs[id].text.split_whitespace().collect()
    }
}

fn checksum(here: &Place, file: &str) -> String {
    let mut checksum = Checksum::default();
    checksum.bytes(&std::fs::read(here.path(file)).unwrap());
    checksum.hex()
}

/// Pinned, so that a corpus is the same on every machine and with every version; whoever changes it changes the
/// measurements that were made with it.
#[test]
fn the_bytes_are_pinned_whatever_the_threads() {
    let here = Place::new();
    for threads in [1, 3] {
        here.say(&format!(
            "twinsplit generate-corpus --documents 3000 --bytes 6M --seed 7 --threads {threads} --output t{threads}"
        ))
        .ok();
    }
    for file in ["documents.jsonl", "_truth.tsv"] {
        assert_eq!(here.read(&format!("t1/{file}")), here.read(&format!("t3/{file}")), "{file}");
    }
    assert_eq!(checksum(&here, "t1/documents.jsonl"), "64e0f3087be606f9");
    assert_eq!(checksum(&here, "t1/_truth.tsv"), "454693a1acd67cd8");
}

/// Documents do not depend on how many there are, and gzip changes nothing of what is in the file.
#[test]
fn a_smaller_corpus_is_the_head_of_a_larger_one() {
    let here = Place::new();
    here.say("twinsplit generate-corpus --documents 1000 --bytes 2000000 --output large --gzip").ok();
    here.say("twinsplit generate-corpus --documents 400 --bytes 800000 --output small").ok();
    let large = here.shell("zcat large/documents.jsonl.gz").ok();
    assert_eq!(large.lines().count(), 1000);
    assert!(large.starts_with(&here.read("small/documents.jsonl")));
    assert!(here.read("large/_truth.tsv").starts_with(&here.read("small/_truth.tsv")));
    here.say("twinsplit generate-corpus --documents 400 --bytes 800000 --seed 2 --output other").ok();
    assert_ne!(here.read("small/documents.jsonl"), here.read("other/documents.jsonl"));
}

#[test]
fn the_shape_is_the_one_asked_for() {
    let here = Place::new();
    here.say("twinsplit generate-corpus --documents 20000 --bytes 60M --output made").ok();
    let bytes = std::fs::metadata(here.path("made/documents.jsonl")).unwrap().len() as f64;
    assert!((bytes / f64::from(60 << 20) - 1.0).abs() < 0.03, "{bytes} bytes");
    let made = Made::read(&here, "made");
    let count = made.docs.len() as f64;
    assert_eq!(count, 20_000.0);
    let copies = made.truth.len() as f64 / count;
    assert!((0.29..0.41).contains(&copies), "{copies} copies");
    let han = |text: &str| text.chars().filter(|c| c.script() == Script::Han).count() * 3 * 8 > text.len();
    let chinese: Vec<&Doc> = made.docs.values().filter(|doc| made.language[&doc.id] == "zh").collect();
    let share = chinese.len() as f64 / count;
    assert!((0.2..0.3).contains(&share), "{share} Chinese");
    let written = chinese.iter().filter(|doc| han(&doc.text)).count();
    assert!(written as f64 > 0.9 * chinese.len() as f64, "{written} of {}", chinese.len());

    // Log-normal: the logarithms of lengths are symmetric about their mean, with about the deviation of a page's.
    let logs: Vec<f64> = made.docs.values().map(|doc| (doc.text.len() as f64).ln()).collect();
    let mean = logs.iter().sum::<f64>() / count;
    let moment = |power| logs.iter().map(|log| (log - mean).powi(power)).sum::<f64>() / count;
    let deviation = moment(2).sqrt();
    assert!((0.75..1.1).contains(&deviation), "{deviation}");
    assert!((moment(3) / deviation.powi(3)).abs() < 0.5, "{}", moment(3) / deviation.powi(3));

    // Sites of very different sizes, and on a site what all its pages begin with.
    let mut sites: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    made.host.iter().for_each(|(id, host)| sites.entry(host).or_default().push(id));
    let mut sizes: Vec<usize> = sites.values().map(Vec::len).collect();
    sizes.sort_unstable();
    assert!(sizes.len() > 300 && sizes[sizes.len() / 2] < 50 && sizes[sizes.len() - 1] > 300, "{sizes:?}");
    let common = |ids: &[&str]| {
        let first = &made.docs[ids[0]].text;
        let same =
            |id: &&str| made.docs[*id].text.bytes().zip(first.bytes()).take_while(|(x, y)| x == y).count();
        ids[1..].iter().map(same).min().unwrap()
    };
    let large: Vec<usize> = sites.values().filter(|ids| ids.len() > 30).map(|ids| common(ids)).collect();
    let framed = large.iter().filter(|bytes| **bytes >= 10).count();
    assert!(framed * 10 >= large.len() * 9, "{large:?}");

    // Equal texts in large groups and in small ones.
    let mut texts: HashMap<&str, usize> = HashMap::new();
    made.docs.values().for_each(|doc| *texts.entry(&doc.text).or_default() += 1);
    let groups = |least: usize| texts.values().filter(|size| **size >= least).count();
    assert!(groups(100) >= 1 && groups(20) >= 10 && groups(2) > 300);
}

/// Every copy says what was done to its source; of English pages the words are what stands between white space.
#[test]
fn the_truth_is_true_of_the_pages() {
    let here = Place::new();
    let model = fixture("documents/en.jsonl.gz");
    here.say(&format!(
        "twinsplit generate-corpus --documents 4000 --bytes 8M --chinese 0 --model {} --output made",
        model.display()
    ))
    .ok();
    let made = Made::read(&here, "made");
    let first: BTreeMap<&str, &str> = made.truth.iter().map(|row| (&*row.id, &*row.first)).collect();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut replaced, mut others) = (0, 0);
    for row in &made.truth {
        *seen.entry(&row.edit).or_default() += 1;
        assert!(row.source < row.id);
        assert_eq!(*first.get(&*row.source).unwrap_or(&&*row.source), row.first);
        let (source, copy) = (made.words(&row.source), made.words(&row.id));
        let about = format!("{} {} {} {}", row.id, row.source, row.edit, row.edited);
        assert!(copy.len() >= row.words, "{about}");
        let same_host = made.host[&row.id] == made.host[&row.source];
        assert_eq!(same_host, row.edit != "boilerplate", "{about}");
        match &*row.edit {
            "exact" => assert_eq!((&made.docs[&row.id].text, row.edited), (&made.docs[&row.source].text, 0)),
            "insert" | "contain" => {
                assert_eq!(copy.len(), source.len() + row.edited, "{about}");
                assert!(is_within(&source, &copy), "{about}");
            }
            "delete" => {
                assert_eq!(copy.len() + row.edited, source.len(), "{about}");
                assert!(is_within(&copy, &source), "{about}");
            }
            "replace" => {
                assert_eq!(copy.len(), source.len(), "{about}");
                let other = source.iter().zip(&copy).filter(|(x, y)| x != y).count();
                // A new word may be the old one by chance.
                assert!(other <= row.edited, "{about}: {other}");
                (replaced, others) = (replaced + row.edited, others + other);
            }
            "move" => {
                let counted = |words: &[&str]| {
                    let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
                    words.sort();
                    words
                };
                assert_eq!(counted(&source), counted(&copy), "{about}");
            }
            "boilerplate" => {
                let windows: BTreeSet<&[&str]> = source.windows(row.words).collect();
                assert!(copy.windows(row.words).any(|window| windows.contains(window)), "{about}");
            }
            other => panic!("an edit {other}"),
        }
    }
    assert!(others * 10 > replaced * 9, "{others} of {replaced}");
    assert_eq!(seen.len(), 7);
    assert!(seen.values().all(|count| *count > 80), "{seen:?}");
}

/// Whether the words are among the others in their order.
fn is_within(words: &[&str], others: &[&str]) -> bool {
    let mut others = others.iter();
    words.iter().all(|word| others.any(|other| other == word))
}

/// Pages that differ by so many edited words share as many shingles as that leaves, and a join finds every planted pair
/// that reaches tau: Jaccard here is counted on the texts of the features.
#[test]
fn planted_pairs_have_their_similarity_and_are_found() {
    let here = Place::new();
    here.say("twinsplit generate-corpus --documents 3000 --bytes 6M --seed 11 --output made").ok();
    let made = Made::read(&here, "made");
    let docs: Vec<Doc> = made.docs.values().cloned().collect();
    for (kind, tau) in [("words:5", 0.5), ("spotsigs", 0.4)] {
        let sets: HashMap<&str, Features> =
            docs.iter().map(|doc| &*doc.id).zip(features::of(&docs, kind)).collect();
        let out = format!("out-{}", &kind[..5]);
        here.say(&format!(
            "twinsplit run doc-split --input made --features {kind} --min-features 1 --tau {tau} --output {out}"
        ))
        .ok();
        let pairs = here.read(&format!("{out}/pairs.tsv"));
        let found: BTreeSet<(&str, &str)> = pairs
            .lines()
            .map(|line| line.split('\t'))
            .map(|mut f| (f.next().unwrap(), f.next().unwrap()))
            .collect();
        let (mut planted, mut below) = (0, 0);
        for row in &made.truth {
            let (x, y) = (&sets[&*row.source], &sets[&*row.id]);
            let shared = x.intersection(y).count();
            let union = x.len() + y.len() - shared;
            if kind == "words:5" && row.edit != "boilerplate" {
                // An edited word is in five shingles, and each of a moved passage's three seams in four more; English
                // words are cut at punctuation, which only adds shingles. So this much at least is left.
                let least = x.len().saturating_sub(40 * row.edited + 20);
                assert!(row.edited > 0 || shared == union, "{} is no copy", row.id);
                assert!(shared >= least, "{} {}: {shared} of {}", row.id, row.edit, x.len());
            }
            // 0.4 and 0.5 in tenths.
            let reaches = shared > 0 && shared * 10 >= union * (tau * 10.0) as usize;
            assert_eq!(
                found.contains(&(&*row.source, &*row.id)),
                reaches,
                "{} {} {shared}/{union}",
                row.id,
                row.edit
            );
            planted += usize::from(reaches);
            below += usize::from(!reaches);
        }
        assert!(planted > 500 && below > 5, "{kind}: {planted} {below}");
    }
}

#[test]
fn what_cannot_be_made_is_refused() {
    let here = Place::new();
    here.write("en.jsonl", "{\"id\":1,\"text\":\"only English here\"}\n");
    here.write("bad.jsonl", "{\"id\":1,\"text\":\"a b\"}\n{\"id\":2}\n");
    here.write("empty.jsonl", "{\"id\":1,\"text\":\"\"}\n");
    let made = "twinsplit generate-corpus --output o --documents";
    for (rest, code, words) in [
        ("10 --bytes 1000", 2, &["--bytes over --documents is 100", "300"][..]),
        ("10 --bytes 10G", 2, &["a document has 300 to 1048576 bytes"]),
        ("10 --bytes ten", 2, &["--bytes", "suffix B, K, M or G"]),
        ("0 --bytes 10K", 2, &["--documents"]),
        ("10 --bytes 10K --copies 1.5", 2, &["expected a share from 0 to 1"]),
        ("10 --bytes 10K --model en.jsonl", 2, &["no document of --model is in Chinese", "--chinese 0"]),
        ("10 --bytes 10K --model empty.jsonl --chinese 0", 2, &["no document of --model is in English"]),
        ("10 --bytes 10K --model missing.jsonl", 1, &["missing.jsonl"]),
        ("10 --bytes 10K --model bad.jsonl", 1, &["bad.jsonl, line 2", "field text"]),
    ] {
        here.say(&format!("{made} {rest}")).fails(code, words);
        assert!(!here.path("o/documents.jsonl").exists(), "{rest}");
    }
    here.say(&format!("{made} 10 --bytes 10K --model en.jsonl --chinese 0")).ok();
    assert_eq!(here.read("o/documents.jsonl").lines().count(), 10);
}
