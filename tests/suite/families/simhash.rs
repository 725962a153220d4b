//! Fingerprints are those of independent programs, keywords those of Python's jieba, and the pairs of a run those of brute force
//! over all fingerprints.
//!
//! The goldens in `tests/goldens/simhash` are written by `make.py` there, a program in Python with the packages jieba and simhash
//! that shares nothing with this one; how to run it stands at its top.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec, Marks, NormalForm, jieba};
use twinsplit_engine::columnar::{ColumnarJoin, ColumnarOpts, ColumnarRun};
use twinsplit_engine::progress::Progress;
use twinsplit_engine::steps::LocalSteps;
use twinsplit_rows::chains::{Columnar, FAMILIES};
use twinsplit_rows::params::Params;

use super::text_check::jaccard_of_half;
use crate::common::cli::{Place, jsonl};
use crate::common::expected::{self, Keep, Kind};
use crate::common::oracle::{Doc, Pair};
use crate::common::rng::Rng;

pub fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/simhash").join(name);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn md5_fingerprints_are_those_of_other_programs() {
    let here = Place::new();
    let mut found = BTreeMap::new();
    for (method, options) in [
        ("webcorpora", "--features chars:3 --weights 1 --hash md5 --bits 128 --tie one"),
        ("pypi", "--features chars:4 --weights tf --hash md5 --bits 64 --tie zero"),
    ] {
        let rows: Vec<(String, String)> = golden("fingerprints.tsv")
            .lines()
            .filter_map(|line| line.strip_prefix(method)?.strip_prefix('\t')?.split_once('\t'))
            .map(|(text, fingerprint)| (serde_json::from_str(text).unwrap(), fingerprint.to_owned()))
            .collect();
        let ids: Vec<String> = (0..rows.len()).map(|id| format!("{id:02}")).collect();
        let docs: Vec<(&str, &str)> =
            ids.iter().zip(&rows).map(|(id, row)| (id.as_str(), row.0.as_str())).collect();
        let expected = ids.iter().zip(&rows).fold(String::new(), |mut lines, (id, row)| {
            writeln!(lines, "{id}\t{}", row.1).unwrap();
            lines
        });
        assert_eq!(here.with(&format!("simhash {options}"), jsonl(&docs), &[]).ok(), expected, "{method}");
        found.insert(method, rows.len());
    }
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [("pypi", 7), ("webcorpora", 12)]);
}

/// A text's keywords with their counts and fixed-point inverse document frequencies, greatest weight first, equals in the
/// order in which they first occur.
pub fn keywords(extractor: &mut Extractor, text: &str) -> Vec<(String, u64, u64)> {
    let mut found: Vec<(String, u64, u64)> = Vec::new();
    let mut places = BTreeMap::new();
    extractor.texts(text, |word| {
        let next = found.len();
        match *places.entry(word.to_owned()).or_insert(next) {
            at if at < next => found[at].1 += 1,
            _ => found.push((word.to_owned(), 1, jieba::idf(word))),
        }
    });
    found.sort_by_key(|(_, count, idf)| std::cmp::Reverse(count * idf));
    found
}

pub fn as_python() -> Extractor {
    let kind = FeatureKind::parse("jieba", &|_| Err("no files here".into())).unwrap();
    Extractor::new(FeatureSpec {
        kind,
        form: NormalForm::None,
        case_fold: false,
        marks: Marks::Keep,
        counts: false,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keywords {
    id: String,
    text: String,
    keywords: Vec<(String, u64, u64)>,
}

#[test]
fn keywords_are_those_of_python() {
    let mut extractor = as_python();
    let documents: Vec<Keywords> =
        golden("keywords.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents.len(), 10);
    for document in documents {
        assert_eq!(keywords(&mut extractor, &document.text), document.keywords, "{}", document.id);
    }
}

/// Documents of words, many of them equal or alike, with dates; some are empty.
pub fn documents() -> Vec<Doc> {
    let mut rng = Rng::new(21);
    let mut texts: Vec<Vec<usize>> = vec![Vec::new()];
    while texts.len() < 220 {
        let mut words = match rng.below(4) {
            0 => (0..20 + rng.below(60)).map(|_| rng.below(500)).collect(),
            _ => texts[rng.below(texts.len())].clone(),
        };
        for _ in 0..rng.below(4) {
            let at = rng.below(words.len() + 1);
            words.insert(at, rng.below(500));
        }
        texts.push(words);
    }
    let line = |(number, words): (usize, Vec<usize>)| {
        let text: Vec<_> = words.iter().map(|word| format!("word{word}")).collect();
        let date = format!("2020-01-{:02}", 1 + number * 7 % 28);
        let id = format!("d{:03}", number * 37 % 223);
        Doc::from_line(&serde_json::json!({ "id": id, "date": date, "text": text.join(" ") }).to_string())
    };
    texts.into_iter().enumerate().map(line).collect()
}

pub fn write_documents(docs: &[Doc], folder: &Path) -> Vec<PathBuf> {
    let path = folder.join("docs.jsonl");
    let lines: String = docs.iter().map(|doc| doc.line.clone() + "\n").collect();
    std::fs::write(&path, lines).unwrap();
    vec![path]
}

/// The fingerprints that the stage writes, by document.
pub fn fingerprints(here: &Place, docs: &[Doc], options: &str) -> Vec<Option<u128>> {
    let lines: String = docs.iter().map(|doc| doc.line.clone() + "\n").collect();
    let rows = here.with(&format!("simhash {options}"), lines, &[]).ok();
    let of: BTreeMap<&str, u128> = rows
        .lines()
        .map(|row| row.split('\t').collect::<Vec<_>>())
        .map(|row| (row[0], u128::from_str_radix(row[1], 16).unwrap()))
        .collect();
    docs.iter().map(|doc| of.get(doc.id.as_str()).copied()).collect()
}

/// The greatest distance of two documents.
pub type Most<'a> = &'a dyn Fn(&Doc, &Doc) -> u32;

/// What a line of a pair says of its texts, behind the distance; `None` where they are not alike enough.
pub type Alike<'a> = &'a dyn Fn(&Doc, &Doc) -> Option<String>;

/// Texts are not compared.
pub const NOT_COMPARED: Alike<'static> = &|_, _| Some(String::new());

/// `pairs.tsv` and `clusters.tsv` by brute force: `most` is the greatest distance of two documents.
pub fn brute_force(
    docs: &[Doc],
    fingerprints: &[Option<u128>],
    (most, alike): (Most<'_>, Alike<'_>),
    kind: Kind,
    keep: Keep,
) -> [String; 2] {
    let distance = |a: usize, b: usize| Some((fingerprints[a]? ^ fingerprints[b]?).count_ones());
    let (mut pairs, mut lines) = (Vec::new(), Vec::new());
    for a in 0..docs.len() {
        for b in a + 1..docs.len() {
            let Some(found) = distance(a, b).filter(|found| *found <= most(&docs[a], &docs[b])) else {
                continue;
            };
            let Some(similarity) = alike(&docs[a], &docs[b]) else { continue };
            pairs.push(Pair { a, b, overlap: 1, union: 1 });
            let (x, y) = (docs[a].id.as_str(), docs[b].id.as_str());
            lines.push(format!("{}\t{}\t{found}{similarity}\n", x.min(y), x.max(y)));
        }
    }
    let clusters = expected::clusters(docs, &vec![None; docs.len()], &pairs, kind, keep);
    let mut rows: Vec<String> = clusters
        .iter()
        .flat_map(|(kept, members)| members.iter().map(move |member| (*kept, *member)))
        .map(|(kept, member)| match kept == member {
            true => format!("{0}\t{0}\tkeep\t-\n", docs[kept].id),
            false => {
                let distance = distance(kept, member).unwrap();
                format!("{}\t{}\tdrop\t{distance}\n", docs[kept].id, docs[member].id)
            }
        })
        .collect();
    lines.sort();
    rows.sort();
    [lines.concat(), rows.concat()]
}

/// Pairs, where they are written, and clusters of a run in columns, whose kept lines are those of documents that it keeps.
fn in_columns(
    inputs: &[PathBuf],
    params: &Params,
    (ways, join): ([Columnar; 4], ColumnarJoin),
    write_kept: bool,
) -> [Option<String>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let run = ColumnarRun {
        inputs,
        output: folder.path(),
        work: folder.path(),
        opts: ColumnarOpts::of(params, ways).unwrap(),
        threads: 2,
        memory: 64 << 20,
        progress: &Progress::default(),
        write_kept,
        join,
    };
    run.run(|_| ()).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).ok();
    let clusters = read("clusters.tsv").unwrap();
    if write_kept {
        let dropped = clusters.lines().filter(|line| line.contains("\tdrop\t")).count();
        let documents = std::fs::read_to_string(&inputs[0]).unwrap().lines().count();
        assert_eq!(read("kept.jsonl").unwrap().lines().count(), documents - dropped);
    }
    [read("pairs.tsv"), Some(clusters)]
}

#[test]
fn every_chain_finds_the_pairs_of_brute_force() {
    let here = Place::new();
    let docs = documents();
    let inputs = write_documents(&docs, &here.path(""));
    here.say("twinsplit idf --from docs.jsonl --output table --features words:1").ok();
    let family = FAMILIES.into_iter().find(|family| family.name == "simhash").unwrap();
    let (mut runs, mut pairs, mut columns) = (0, 0, 0);
    // Queries have an oracle of their own, in `suite families::hamming_queries`.
    let chains = family.every_chain().into_iter().filter(|(params, _)| params.get("queries").is_none());
    for (params, chain) in chains {
        let weights = params.get("weights").unwrap();
        let table = if weights == "tf-idf" { " --idf-table table" } else { "" };
        let distance = [3, 9][runs % 2];
        let fingerprints =
            fingerprints(&here, &docs, &format!("--features words:1 --weights {weights}{table}"));
        assert!(fingerprints.iter().any(Option::is_none));
        let kind = if params.is("cluster", "star") { Kind::Star } else { Kind::Components };
        let keep = if params.is("keep", "newest") { Keep::Newest } else { Keep::First };
        let alike = if params.get("check").is_some() { &jaccard_of_half } else { NOT_COMPARED };
        let expected = brute_force(&docs, &fingerprints, (&|_, _| distance, alike), kind, keep);
        let params: Params = params
            .with("features", "words:1")
            .with("date", "date")
            .with("distance", distance.to_string())
            .with("posting-block", ["3", "1024"][runs / 2 % 2]);
        let folder = tempfile::tempdir().unwrap();
        let progress = Progress::default();
        if let Some((ways, join)) = chain.columnar().and_then(|ways| Some((ways, ColumnarJoin::of(ways)?))) {
            let write_kept = chain.output.data().contains(&"kept");
            let writes = chain.output.data().contains(&"pairs");
            let [pairs, clusters] = expected.clone();
            let written = [writes.then_some(pairs), Some(clusters)];
            assert_eq!(in_columns(&inputs, &params, (ways, join), write_kept), written, "{params:?}");
            columns += 1;
        }
        let mut engine = LocalSteps::new(&inputs, folder.path(), &params, 2, 256 << 20, &progress).unwrap();
        engine.run_parts(&chain.parts(), "").unwrap();
        for (data, expected) in ["pairs", "clusters"].into_iter().zip(&expected) {
            if chain.output.data().contains(&data) {
                let file = folder.path().join("sorted");
                engine.sort(data, &file).unwrap();
                assert_eq!(&std::fs::read_to_string(file).unwrap(), expected, "{data} of {params:?}");
                pairs += expected.lines().count();
            }
        }
        runs += 1;
    }
    assert_eq!((runs, columns), (128, 32));
    assert!(pairs > 5_000, "{pairs}");
}

#[test]
fn engines_write_the_same_bytes() {
    let here = Place::new();
    let docs = documents();
    write_documents(&docs, &here.path(""));
    let options = "--features words:1 --distance 6,300:20 --weights levels --bits 128 --keep longest";
    here.say("twinsplit idf --from docs.jsonl --output table --features words:1").ok();
    let stage = "--features words:1 --weights levels --bits 128 --idf-table table";
    let fingerprints = fingerprints(&here, &docs, stage);
    let most = |a: &Doc, b: &Doc| if a.text.len().max(b.text.len()) <= 300 { 20 } else { 6 };
    let expected = brute_force(&docs, &fingerprints, (&most, NOT_COMPARED), Kind::Components, Keep::Longest);
    let distances: Vec<u32> =
        expected[0].lines().map(|line| line.rsplit('\t').next().unwrap().parse().unwrap()).collect();
    assert!(distances.contains(&0) && distances.iter().any(|distance| *distance > 6), "{distances:?}");
    for engine in ["local --threads 1", "local --threads 3", "pipes"] {
        let out = format!("out-{}", engine.replace(' ', ""));
        here.say(&format!(
            "twinsplit run simhash {options} --input docs.jsonl --output {out} --engine {engine} --quiet"
        ))
        .ok();
        for (name, expected) in ["pairs.tsv", "clusters.tsv"].iter().zip(&expected) {
            assert_eq!(&here.read(&format!("{out}/{name}")), expected, "{engine}: {name}");
        }
    }
}

#[test]
fn what_is_wrong_is_refused_by_name() {
    let here = Place::new();
    let doc = jsonl(&[("a", "some words of a text")]);
    for (line, words) in [
        ("simhash --weights tf-idf", &["--idf-table"][..]),
        ("simhash --distance 33", &["from 0 to 32", "33"]),
        ("simhash --distance 3,140:2", &["3,140:2"]),
        ("simhash --bits 96", &["96", "128"]),
        ("simhash --features jieba:3", &["jieba, without a parameter"]),
        ("simhash --idf-table nothing --weights tf-idf", &["nothing", "idf-table"]),
    ] {
        let said = here.with(line, &doc, &[]);
        assert_ne!(said.code, 0, "{line}");
        assert!(words.iter().all(|word| said.err.contains(word)), "{line}: {}", said.err);
    }
    here.with("equal-fingerprints", "a\t0123456789abcdef\nb\t0123456789abcdeg\n", &[])
        .fails(1, &["line 2", "fingerprint", "16 or 32 lower-case hex digits"]);
    let mixed = "a\t\\#\t0123456789abcdef\t3\nb\t\\#\t0123456789abcdef0123456789abcdef\t3\n";
    here.with("hamming-count", mixed, &[]).fails(1, &["line 2", "bits", "fingerprints of one length"]);
    here.write("tables", "not a plan\n");
    here.with("hamming-index", "a\t\\#\t0123456789abcdef\t3\n", &[]).fails(1, &["tables"]);
}
