//! The generators and the harness: a corpus that is not awkward, or a matrix that leaves runs out,
//! would let a wrong product pass.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::corpora::{self, PLANTED};
use crate::common::expected::KINDS;
use crate::common::features;
use crate::common::harness::{Input, counted, first_difference};
use crate::common::matrix::{BLOCKS, Case, Cover, TAUS, THREADS, Table, VARIANTS};
use crate::common::oracle::{Doc, Fraction, Overlaps, decimal};
use crate::common::real;
use crate::common::rng::Rng;

#[test]
fn the_generator_is_the_published_one() {
    let mut rng = Rng::new(1_234_567);
    let first = [rng.bits(), rng.bits(), rng.bits()];
    assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
}

#[test]
fn a_seed_makes_one_corpus() {
    let lines = |seed| corpora::random(seed, 50, 40).into_iter().map(|doc| doc.line);
    assert!(lines(3).eq(lines(3)));
    assert!(!lines(3).eq(lines(4)));
}

#[test]
fn random_corpora_are_awkward() {
    let docs = corpora::random(1, 100, 60);
    let ids: BTreeSet<&str> = docs.iter().map(|doc| doc.id.as_str()).collect();
    assert_eq!(ids.len(), docs.len(), "ids are unique");
    for id in ["a", "ab", "a b", "a\\x09b", "a\\x5cb", "a\\x5cx09b", "café", "😀", "7", "7.0", "7e1"] {
        assert!(ids.contains(id), "no id {id:?} in {ids:?}");
    }
    let sets = features::of(&docs, "lines");
    let distinct: BTreeSet<_> = sets.iter().filter(|set| !set.is_empty()).collect();
    let empty = sets.iter().filter(|set| set.is_empty()).count();
    assert!(empty >= 2, "{empty} documents without features");
    assert!(distinct.len() + empty + 10 < docs.len(), "few equal sets");
    assert!(sets.iter().filter(|set| set.len() == 1).count() >= 5, "few sets of one");
    let mut frequencies: BTreeMap<&String, usize> = BTreeMap::new();
    for feature in sets.iter().flatten() {
        *frequencies.entry(feature).or_default() += 1;
    }
    let most = frequencies.values().max();
    let once = frequencies.values().filter(|df| **df == 1).count();
    assert!(most > Some(&(docs.len() / 8)) && once > 20, "not skewed: {most:?}, {once}");
    assert!(docs.iter().any(|doc| doc.date.is_none()) && docs.iter().any(|d| d.score < Some(0)));
}

#[test]
fn pairs_lie_exactly_on_every_threshold() {
    assert_eq!(TAUS.map(decimal), PLANTED.map(|(p, q)| Fraction::new(p as u128, q as u128)));
    let sets = features::of(&corpora::random(2, 100, 60), "lines");
    let pairs = Overlaps::count(&sets, "0.01").pairs("0.01");
    for tau in TAUS.map(decimal) {
        assert!(pairs.iter().filter(|pair| pair.jaccard() == tau).count() >= 2, "none on {tau}");
        let (p, q) = (*tau.numer(), *tau.denom());
        let below = |pair: &&crate::common::oracle::Pair| pair.jaccard() == Fraction::new(p - 1, q);
        assert!(p == 1 || pairs.iter().any(|pair| below(&pair)), "none just below {tau}");
    }
}

#[test]
fn lines_say_what_the_oracle_thinks_they_say() {
    for doc in corpora::random(9, 100, 60) {
        let value: serde_json::Value = serde_json::from_str(&doc.line).unwrap();
        assert_eq!(value["text"], doc.text);
        assert_eq!(value.get("date").and_then(|date| date.as_str()), doc.date.as_deref());
        let score = value.get("score").map(|score| (score.as_f64().unwrap() * 1000.0) as i64);
        assert_eq!(score, doc.score);
        if value["id"].is_string() {
            assert_eq!(Doc::from_line(&doc.line).id, doc.id);
        } else {
            assert!(doc.line.starts_with(&format!("{{\"id\": {},", doc.id)), "{}", doc.line);
        }
    }
}

#[test]
fn what_is_written_is_read_back() {
    let docs = corpora::random(11, 30, 20);
    let input = Input::new(&docs);
    let one = std::fs::read_to_string(input.folder().join("one.jsonl")).unwrap();
    let half: Vec<&str> = docs[..docs.len() / 2].iter().map(|doc| doc.line.as_str()).collect();
    assert_eq!(one, half.join("\n"));
    let two = Input::new(&[corpora::plain("x", &["a", "b"]), corpora::plain("y\t", &["é"])]);
    let read = real::read(&two.folder().join("two.jsonl.gz"));
    assert_eq!((read[0].id.as_str(), read[0].text.as_str()), ("y\\x09", "é"));
}

/// Of the two engines, `local` has no posting lists to cut but those of plain Term-Split.
#[test]
fn products_leave_out_what_would_repeat_another_run() {
    let count = |engines| Table::whole(engines, Cover::Product).cases().len();
    assert_eq!(count(&["local"]), (8 + 1) * 13 * 4 * 2);
    assert_eq!(count(&["pipes"]), (8 + 2) * 13 * 4 * 2);
    assert_eq!(count(&["local", "pipes"]), (8 + 1 + 8 + 2) * 13 * 4 * 2);
}

#[test]
fn every_two_values_meet_in_few_runs() {
    let table = Table { corpora: 3, ..Table::whole(&["local", "pipes"], Cover::Pairs) };
    let cases = table.cases();
    assert!((104..130).contains(&cases.len()), "{} runs", cases.len());
    let meet = |which: &dyn Fn(&Case) -> bool| cases.iter().any(which);
    for variant in VARIANTS {
        for tau in TAUS {
            assert!(meet(&|case| (case.variant, case.tau) == (variant, tau)), "{variant:?}, {tau}");
        }
        for threads in THREADS {
            for kind in KINDS {
                assert!(meet(&|case| (case.threads, case.kind) == (threads, kind)));
                assert!(meet(&|case| (case.variant, case.kind) == (variant, kind)));
            }
            assert!(meet(&|case| (case.variant, case.threads) == (variant, threads)));
        }
        for (corpus, blocks) in (0..3).flat_map(|corpus| BLOCKS.map(|blocks| (corpus, blocks))) {
            assert!(meet(&|case| (case.variant, case.corpus) == (variant, corpus)));
            assert!(meet(&|case| (case.corpus, case.blocks) == (corpus, blocks)));
        }
        let cut = |case: &Case| case.variant == variant && case.blocks != BLOCKS[0];
        assert_eq!(meet(&cut), variant.has_blocks(), "{variant:?}");
    }
    assert!(cases.iter().all(|case| case.blocks == BLOCKS[0] || case.has_blocks()));
    assert_eq!(cases.iter().collect::<BTreeSet<_>>().len(), cases.len(), "a run is repeated");
}

#[test]
fn differences_are_told_by_line() {
    assert_eq!(first_difference("a\nb\n", "a\nc\n"), "line 2 is \"b\", expected \"c\"");
    assert_eq!(first_difference("a\n", "a\nc\n"), "line 2 is the end, expected \"c\"");
    assert_eq!(first_difference("a", "a\n"), "the same lines, but other line ends");
}

#[test]
fn counters_are_summed_over_steps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let run = r#"{"counters": {"one": {"posting_blocks": 3, "x": 1}, "two": {"posting_blocks": 4}}}"#;
    std::fs::write(&path, run).unwrap();
    assert_eq!(counted(&path, "posting_blocks"), Ok(7));
    assert_eq!(counted(&path, "nothing"), Ok(0));
    std::fs::write(&path, "{}").unwrap();
    assert!(counted(&path, "posting_blocks").is_err());
}
