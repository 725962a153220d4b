//! The order of features is no part of the answer: whatever sample it is made of, however many features it ranks, and whatever else it
//! is, prefix Term-Split finds the pairs of brute force.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use num_rational::Ratio;

use crate::common::cli::{Place, fixture, jsonl, search_path};
use crate::common::harness::bash;
use crate::common::rng::Rng;

/// Documents of words of which a few stand in most and many in few: edited copies of one another, equal ones, short and empty ones.
fn documents() -> Vec<(String, String)> {
    let mut rng = Rng::new(92);
    let mut texts: Vec<Vec<String>> = vec![vec![], vec!["only".to_owned()], vec!["only".to_owned()]];
    let word = |rng: &mut Rng| format!("w{}", rng.skewed(400));
    while texts.len() < 240 {
        let mut text = match rng.below(3) {
            0 => (0..1 + rng.below(40)).map(|_| word(&mut rng)).collect(),
            _ => texts[rng.below(texts.len())].clone(),
        };
        for _ in 0..rng.below(4) {
            text.push(word(&mut rng));
        }
        texts.push(text);
    }
    texts.iter().enumerate().map(|(number, text)| (format!("d{number:03}"), text.join(" "))).collect()
}

/// The rows of pairs.tsv up to the similarity: of sets of words, of which a word counts once.
fn pairs(documents: &[(String, String)], tau: (u64, u64)) -> Vec<String> {
    let sets: Vec<(&str, BTreeSet<&str>)> =
        documents.iter().map(|(id, text)| (&**id, text.split_whitespace().collect())).collect();
    let mut rows = Vec::new();
    for (at, (a, x)) in sets.iter().enumerate() {
        for (b, y) in &sets[at + 1..] {
            let shared = x.intersection(y).count();
            let union = (x.len() + y.len() - shared).max(1);
            if shared > 0 && Ratio::new(shared as u64, union as u64) >= Ratio::new(tau.0, tau.1) {
                rows.push(format!("{a}\t{b}\t{shared}\t{}\t{}", x.len(), y.len()));
            }
        }
    }
    rows
}

fn without_similarity(pairs: &str) -> Vec<String> {
    pairs.lines().map(|line| line.rsplit_once('\t').unwrap().0.to_owned()).collect()
}

const FILES: [&str; 2] = ["pairs.tsv", "clusters.tsv"];

/// Samples of nothing, of a hundredth, of a third and of everything; orders that rank nothing, one feature of a bucket, and all; for any
/// number of tasks.
#[test]
fn any_sample_gives_the_pairs_of_brute_force() {
    let (here, documents) = (Place::new(), documents());
    here.write("docs", jsonl(&documents.iter().map(|(id, text)| (&**id, &**text)).collect::<Vec<_>>()));
    let mut runs = 0;
    for (text, tau) in [("0.5", (1, 2)), ("0.7", (7, 10)), ("0.9", (9, 10))] {
        let expected = pairs(&documents, tau);
        assert!(expected.len() > 100, "{tau:?}: {} pairs", expected.len());
        let line = format!("term-split --pcp prefix --features words:1 --tau {text}");
        let run = |options: &str, output: &str| {
            here.say(&format!(
                "twinsplit run {line} {options} --quiet --overwrite --input docs --output {output}"
            ))
            .ok();
            FILES.map(|file| here.read(&format!("{output}/{file}")))
        };
        let local = run("--engine local", "local");
        assert_eq!(without_similarity(&local[0]), expected, "{text}");
        let (mut orders, mut candidates) = (BTreeSet::new(), Vec::new());
        for sample in ["0", "2", "80", "1000000"] {
            for ranked in ["0", "1", "1000000"] {
                let options = format!("--engine pipes --order-sample {sample} --ranked {ranked} --keep-work");
                assert_eq!(run(&options, "out"), local, "{line} {options}");
                orders.insert(here.read("out/_work/order/part-00000"));
                let report: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
                candidates.push(report["counters"]["pcp-map"]["candidates"].as_u64().unwrap());
                runs += 1;
            }
        }
        // These are different orders, and one of all sets leaves fewer candidates than hashes do.
        assert!(orders.len() >= 6, "{} orders", orders.len());
        assert!(candidates[11] < candidates[0], "{candidates:?}");
        here.write(
            "chain",
            here.say(&format!("twinsplit plan {line} --engine pipes --order-sample 80")).ok(),
        );
        let mut orders = BTreeSet::new();
        for (mappers, reducers) in [("1", "1"), ("2", "5"), ("7", "3")] {
            let mut script = bash();
            let output = format!("{text}-{mappers}-{reducers}");
            script.args([&here.path("chain"), &here.path(&output), &here.path("docs")]);
            script.env("PATH", search_path()).env("JOBS_LIB", fixture("../jobs/lib"));
            script.envs([("MAPPERS", mappers), ("REDUCERS", reducers), ("SORT_MEMORY", "16M")]);
            here.run(script, "").ok();
            assert_eq!(FILES.map(|file| here.read(&format!("{output}/{file}"))), local, "{output}");
            orders.insert(here.read(&format!("{output}/_work/order/part-00000")));
            runs += 1;
        }
        assert_eq!(orders.len(), 1, "the sample is the same for any number of tasks");
    }
    println!("{runs} runs");
    assert_eq!(runs, 3 * (4 * 3 + 3));
}

/// What no sample would give: any features in any order, some of them in no document.
#[test]
fn any_order_at_all_gives_the_same_candidates_or_more() {
    let (here, documents) = (Place::new(), documents());
    here.write("docs", jsonl(&documents.iter().map(|(id, text)| (&**id, &**text)).collect::<Vec<_>>()));
    let made_of = "export TWINSPLIT_FEATURES=words:1 TWINSPLIT_TAU=0.6 LC_ALL=C";
    here.shell(&format!(
        "{made_of}; tokenize --meta on --then equal-sets < docs | sort | equal-sets-reduce > members; \
         index-term < members | sort | index-term-reduce | pcp-map | sort | pcp-reduce | sort > plain"
    ))
    .ok();
    let expected = here.read("plain");
    assert!(expected.lines().count() > 80, "{} pairs", expected.lines().count());
    let counts =
        here.shell(&format!("{made_of}; feature-count < members | sort | feature-count-reduce")).ok();
    let mut features: Vec<String> = counts
        .lines()
        .filter_map(|line| Some(line.split_once('\t')?.0.to_owned()))
        .filter(|f| f != "-")
        .collect();
    let mut rng = Rng::new(93);
    for round in 0..6 {
        features.push(format!("{:016x}", rng.bits()));
        rng.shuffle(&mut features);
        // A number for each feature: the order is that of the numbers.
        let mut rows = "-\t240\n".to_owned();
        let mut ranked: Vec<_> = features[..features.len() * (round + 1) / 6].iter().zip(2..).collect();
        ranked.sort();
        ranked.iter().for_each(|(feature, number)| writeln!(rows, "{feature}\t{number}").unwrap());
        here.write("counts", rows);
        let found = here
            .shell(&format!(
                "{made_of}; feature-order < counts > any-order; \
                 index-term --pcp prefix --order any-order < members | sort | index-term-reduce | pcp-map > candidates; \
                 cat candidates members | verify-left | sort | verify-left-reduce > half; \
                 cat half members | verify-right | sort | verify-right-reduce | sort"
            ))
            .ok();
        assert_eq!(found, expected, "round {round}");
    }
}

/// An option that says nothing to a chain is refused with the one that takes its place.
#[test]
fn a_sample_for_no_order_is_refused() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "x y"), ("b", "x y")]));
    let run = |options: &str| {
        here.say(&format!("twinsplit run {options} --order-sample 5 --input docs --output out --overwrite"))
    };
    run("term-split --pcp prefix --idf 0.1,1").fails(2, &["does not use --order-sample here", "--idf"]);
    run("term-split --pcp prefix --df-cut 9")
        .fails(2, &["does not use --order-sample here: it does without --df-cut"]);
    run("term-split").fails(2, &["does not use --order-sample here: it does with another --pcp"]);
    run("doc-split").fails(2, &["doc-split does not use --order-sample here, and term-split does"]);
    let said = run("term-split --pcp prefix");
    assert!(said.err.contains("--order-sample is for the tasks of other engines"), "{}", said.err);
    said.ok();
    assert_eq!(here.read("out/pairs.tsv").lines().count(), 0);
    here.say("twinsplit run term-split --pcp prefix --order-sample some --input docs --output out2")
        .fails(2, &["--order-sample"]);
}
