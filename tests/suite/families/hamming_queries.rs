//! `run simhash --queries`: the documents near each query are those of brute force over all fingerprints, on every engine, and what
//! goes with no queries is refused.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::simhash::{Most, documents, fingerprints, write_documents};
use crate::common::cli::{Place, jsonl};
use crate::common::odd::gzip;
use crate::common::oracle::Doc;
use crate::common::rng::Rng;

/// Queries: documents of the corpus as they are, others with some words changed, and new ones. Each third one has the id of
/// another document.
fn queries(docs: &[Doc]) -> Vec<Doc> {
    let mut rng = Rng::new(43);
    let query = |number: usize| {
        let mut words: Vec<String> =
            docs[rng.below(docs.len())].text.split_whitespace().map(str::to_owned).collect();
        match rng.below(4) {
            0 => {}
            1 => words = (0..20 + rng.below(60)).map(|_| format!("new{}", rng.below(500))).collect(),
            _ => {
                for _ in 0..1 + rng.below(3) {
                    let at = rng.below(words.len() + 1);
                    words.insert(at, format!("word{}", rng.below(500)));
                }
            }
        }
        let id = if number.is_multiple_of(3) { format!("d{number:03}") } else { format!("q{number:03}") };
        Doc::from_line(&json!({ "id": id, "text": words.join(" ") }).to_string())
    };
    (0..90).map(query).collect()
}

fn lines(docs: &[Doc]) -> String {
    docs.iter().map(|doc| doc.line.clone() + "\n").collect()
}

/// `pairs.tsv` by brute force, and how many distances of each kind: 0, and above 3.
fn brute_force(
    queries: (&[Doc], &[Option<u128>]),
    docs: (&[Doc], &[Option<u128>]),
    most: Most<'_>,
) -> (String, [usize; 2]) {
    let (mut rows, mut equal, mut far) = (Vec::new(), 0, 0);
    for (query, x) in queries.0.iter().zip(queries.1) {
        for (doc, y) in docs.0.iter().zip(docs.1) {
            let (Some(x), Some(y)) = (x, y) else { continue };
            let distance = (x ^ y).count_ones();
            if distance <= most(query, doc) {
                rows.push(format!("{}\t{}\t{distance}\n", query.id, doc.id));
                equal += usize::from(distance == 0);
                far += usize::from(distance > 3);
            }
        }
    }
    rows.sort();
    (rows.concat(), [equal, far])
}

fn place() -> (Place, Vec<Doc>, Vec<Doc>) {
    let here = Place::new();
    let docs = documents();
    write_documents(&docs, &here.path(""));
    let queries = queries(&docs);
    here.write("queries.jsonl.gz", gzip(lines(&queries)));
    here.say("twinsplit idf --from docs.jsonl --output table --features words:1").ok();
    (here, docs, queries)
}

#[test]
fn every_engine_finds_what_brute_force_finds() {
    let (here, docs, queries) = place();
    let of_length = |a: &Doc, b: &Doc| if a.text.len().max(b.text.len()) <= 300 { 8 } else { 3 };
    let cases: [(&str, &str, &str, Most<'_>); 4] = [
        ("--bits 64", "", "--distance 3,300:8", &of_length),
        ("--bits 128 --weights tf-idf", " --idf-table table", "--distance 3,300:8", &of_length),
        ("--bits 64 --weights levels", " --idf-table table", "--distance 6", &|_, _| 6),
        ("--bits 128", "", "--distance 0", &|_, _| 0),
    ];
    let mut seen = [0, 0];
    for (options, table, distance, most) in cases {
        let of = |docs: &[Doc]| fingerprints(&here, docs, &format!("--features words:1 {options}{table}"));
        let (of_queries, of_docs) = (of(&queries), of(&docs));
        assert!(of_docs.iter().any(Option::is_none));
        let (expected, kinds) = brute_force((&queries, &of_queries), (&docs, &of_docs), most);
        assert!(expected.lines().count() > 20, "{options}: {expected}");
        seen = [seen[0] + kinds[0], seen[1] + kinds[1]];
        for engine in ["local --threads 1", "local --threads 3", "pipes --memory 100"] {
            let out = format!("out-{}", engine.replace(' ', ""));
            let run = format!(
                "twinsplit run simhash --features words:1 {options} {distance} --queries queries.jsonl.gz --input docs.jsonl \
                 --output {out} --engine {engine} --quiet --overwrite"
            );
            here.say(&run).ok();
            assert_eq!(here.read(&format!("{out}/pairs.tsv")), expected, "{options} {distance} {engine}");
            assert_eq!(here.names(&out), ["pairs.tsv", "run.json"].map(str::to_owned).into());
        }
    }
    assert!(seen[0] > 20 && seen[1] > 20, "{seen:?}");
}

#[test]
fn the_run_says_what_it_did() {
    let (here, docs, queries) = place();
    let run =
        "twinsplit run simhash --features words:1 --queries queries.jsonl.gz --input docs.jsonl --output out";
    let said = here.say(run);
    assert_eq!(said.code, 0, "{}", said.err);
    let report: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    assert_eq!(report["chain"], "simhash");
    let pairs = here.read("out/pairs.tsv").lines().count();
    let near: std::collections::BTreeSet<_> =
        here.read("out/pairs.tsv").lines().map(|line| line.split('\t').nth(1).unwrap().to_owned()).collect();
    let expected = format!(
        "{} documents, {} of them in a pair with one of {} queries, {pairs} pairs, in ",
        docs.len(),
        near.len(),
        queries.len()
    );
    assert!(said.err.contains(&expected), "{expected}: {}", said.err);
    let inputs = report["inputs"].as_array().unwrap();
    let named = |input: &Value| (input["path"].as_str().unwrap().to_owned(), input["queries"] == true);
    let named: Vec<_> = inputs.iter().map(named).collect();
    assert_eq!(named, [("docs.jsonl".to_owned(), false), ("queries.jsonl.gz".to_owned(), true)]);
    // The same run is complete; one with other queries is another.
    here.say(&format!("{run} --resume --quiet")).ok();
    here.write("queries.jsonl.gz", gzip(lines(&queries[1..])));
    here.say(&format!("{run} --resume")).fails(2, &["queries.jsonl.gz has changed"]);
}

#[test]
fn no_query_and_one_query_are_queries() {
    let (here, docs, _) = place();
    here.write("none", "");
    here.write("one", lines(&docs[7..8]));
    here.write("no-document", "");
    let run = |queries: &str, input: &str, engine: &str| {
        here.say(&format!(
            "twinsplit run simhash --features words:1 --queries {queries} --input {input} --output out --engine {engine} --quiet \
             --overwrite"
        ))
        .ok();
        here.read("out/pairs.tsv")
    };
    for engine in ["local", "pipes"] {
        assert_eq!(run("none", "docs.jsonl", engine), "");
        assert_eq!(run("one", "no-document", engine), "");
        let pairs = run("one", "docs.jsonl", engine);
        // The ids of queries and documents are two sets of names: a query may find itself.
        let itself = format!("{0}\t{0}\t0\n", docs[7].id);
        assert!(pairs.contains(&itself), "{pairs}");
    }
}

#[test]
fn bad_lines_of_queries_are_named_or_passed_over() {
    let (here, docs, _) = place();
    let mut text = lines(&docs[..3]);
    text.push_str("{\"id\":\"q\",\"text\":3}\n");
    here.write("queries", &text);
    for engine in ["local", "pipes"] {
        let run = format!(
            "twinsplit run simhash --features words:1 --queries queries --input docs.jsonl --output out-{engine} --engine {engine} \
             --quiet"
        );
        here.say(&run).fails(1, &["simhash: queries, line 4", "field text", "expected a string"]);
        assert!(!here.path(&format!("out-{engine}/pairs.tsv")).exists());
        here.say(&format!("{run} --overwrite --bad-records 1")).ok();
        let passed = here.read(&format!("out-{engine}/quarantine.tsv"));
        assert!(passed.contains("{\"id\":\"q\",\"text\":3}"), "{passed}");
    }
    assert_eq!(here.read("out-local/pairs.tsv"), here.read("out-pipes/pairs.tsv"));
}

#[test]
fn what_queries_have_not_is_refused_by_name() {
    let (here, docs, _) = place();
    here.write("twice", lines(&[docs[5].clone(), docs[6].clone(), docs[5].clone()]));
    let run = |options: &str| here.say(&format!("twinsplit run {options} --input docs.jsonl --output out"));
    for (options, words) in [
        ("simhash --queries twice --write clusters", &["--queries", "no clusters", "leave --write out"][..]),
        ("simhash --queries twice --write-kept", &["--queries", "leave --write-kept out"]),
        ("simhash --queries twice --check jaccard:0.5", &["--queries", "no texts", "leave --check out"]),
        ("simhash --queries twice --check signature", &["--queries", "leave --check out"]),
        (
            "simhash --queries twice --distance 3,140:9",
            &["--distance 9 with --queries", "up to 8", "without --queries"],
        ),
        ("simhash --queries twice --format trec", &["--queries", "twinsplit convert"]),
        ("simhash --queries -", &["standard input", "--queries"]),
    ] {
        run(options).fails(2, words);
    }
    run("simhash --queries nothing").fails(1, &["nothing", "no such file", "--queries"]);
    run("simhash --features words:1 --queries twice").fails(
        1,
        &[&format!("hamming-queries: the id {:?} stands at more than one document of --queries", docs[5].id)],
    );
    here.say("twinsplit plan simhash --queries twice --estimate --input docs.jsonl").fails(2, &["--queries"]);
    // Bounds.
    run("simhash --features words:1 --queries docs.jsonl --max-pairs 3")
        .fails(1, &["simhash: ", "pairs of a query and a document", "--max-pairs", "(the limit is 3)"]);
    let many = (0..12_000).fold(String::new(), |mut lines, number| {
        writeln!(lines, "{}", json!({ "id": number.to_string(), "text": format!("word {number}") })).unwrap();
        lines
    });
    here.write("many", many);
    run("simhash --features words:1 --queries many --queries-memory 1 --overwrite").fails(
        1,
        &[
            "hamming-queries: the index of 12000 queries needs at least 2 MB",
            "--queries-memory allows 1",
            "--query-parts 2",
        ],
    );
    // What it asks for is enough.
    run("simhash --features words:1 --queries many --queries-memory 2 --overwrite --quiet").ok();
}

/// The stage as a program: what it refuses of its rows, and of its side file.
#[test]
fn the_stage_names_what_is_wrong() {
    let here = Place::new();
    here.write("short", "q\t0123456789abcdef\nr\t0123456789abcdee\n");
    here.write("mixed", "q\t0123456789abcdef\nr\t0123456789abcdef0123456789abcdef\n");
    here.write("far", "q\t0123456789abcdef\t9\n");
    here.write("cut", "q\t0123456789abcdef\nr\t0123\n");
    let row = "a\t0123456789abcdef\n";
    let both = here.with("hamming-queries --queries short", row, &[]).ok();
    assert_eq!(both.lines().collect::<std::collections::BTreeSet<_>>(), ["q\ta\t0", "r\ta\t1"].into());
    assert_eq!(here.with("hamming-queries --queries short --distance 0", row, &[]).ok(), "q\ta\t0\n");
    let wide = "a\t0123456789abcdef\nb\t0123456789abcdef0123456789abcdef\n";
    for (line, rows, code, words) in [
        ("hamming-queries", row, 2, &["--queries FILE"][..]),
        ("hamming-queries --queries nothing", row, 1, &["nothing", "--queries names it"]),
        ("hamming-queries --queries mixed", row, 1, &["mixed", "line 2, field fingerprint", "as many bits"]),
        ("hamming-queries --queries cut", row, 1, &["cut", "line 2, field fingerprint", "0123"]),
        ("hamming-queries --queries far", row, 2, &["--distance 9", "up to 8"]),
        (
            "hamming-queries --queries short",
            wide,
            1,
            &["line 2", "fingerprint", "as many bits as the queries"],
        ),
    ] {
        here.with(line, rows, &[]).fails(code, words);
    }
}

/// `explain` looks for the first id among the queries and for the second among the documents; a page of clusters there is none.
#[test]
fn a_pair_with_a_query_is_explained() {
    let here = Place::new();
    here.write(
        "docs",
        jsonl(&[("a", "one two three four five six"), ("b", "something else altogether here now")]),
    );
    here.write("new", jsonl(&[("b", "one two three four five six")]));
    let run = "twinsplit run simhash --features words:1 --weights tf-idf --queries new --input docs --output out --quiet";
    here.say(run).ok();
    assert_eq!(here.read("out/pairs.tsv"), "b\ta\t0\n");
    for from in ["--run out", "--queries new --input docs --features words:1 --weights tf-idf"] {
        let explain = |ids: &str| here.say(&format!("twinsplit explain {ids} {from}"));
        let said = explain("b a").ok();
        assert!(said.contains("distance 0 <= 3") && said.contains("=> a pair"), "{said}");
        let other = explain("b b").ok();
        assert!(other.contains("=> not a pair"), "{other}");
        explain("a b").fails(2, &["no query has the id \"a\""]);
        explain("b c").fails(2, &["no document has the id \"c\""]);
    }
    here.say("twinsplit report out").fails(2, &["pairs with queries", "twinsplit explain QUERY ID"]);
}
