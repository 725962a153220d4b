//! Bounds: what is approximate leaves out no more than it reports, and what is too much stops before it is made.

use crate::common::cli::{Place, jsonl};
use crate::common::harness::counted;
use std::collections::BTreeMap;

/// Document frequencies: x 4, y 3, all others 1. Sum of df(df-1)/2: 6 + 3 = 9.
const DOCS: [(&str, &str); 4] = [("a", "x y"), ("b", "x y z"), ("c", "x y w"), ("d", "x v")];
const PAIRS: [(&str, u64); 6] = [("a-b", 2), ("a-c", 2), ("a-d", 1), ("b-c", 2), ("b-d", 1), ("c-d", 1)];

fn place() -> Place {
    let here = Place::new();
    here.write("docs", jsonl(&DOCS));
    here
}

fn line(options: &str) -> String {
    format!("twinsplit run {options} --features words:1 --input docs --output out --overwrite")
}

/// Runs, and gives the overlap of each pair and what was said on standard error.
fn overlaps(here: &Place, options: &str) -> (BTreeMap<String, u64>, String) {
    let said = here.say(&line(options));
    let err = said.err.clone();
    said.ok();
    let text = here.read("out/pairs.tsv");
    let rows = text.lines().map(|row| {
        let fields: Vec<_> = row.split('\t').collect();
        (format!("{}-{}", fields[0], fields[1]), fields[2].parse().unwrap_or(0))
    });
    (rows.collect(), err)
}

fn exact() -> BTreeMap<String, u64> {
    PAIRS.map(|(pair, overlap)| (pair.to_owned(), overlap)).into()
}

fn counter(here: &Place, name: &str) -> u64 {
    counted(&here.path("out/run.json"), name).unwrap_or(u64::MAX)
}

/// A cut leaves out the whole list of x, by hand: y alone is counted, and b-c falls below tau.
#[test]
fn a_df_cut_gives_lower_bounds_and_says_what_it_left_out() {
    let here = place();
    let (pairs, err) = overlaps(&here, "term-split --tau 0.25 --df-cut 3 --threads 1");
    assert_eq!(pairs, [("a-b".to_owned(), 1), ("a-c".to_owned(), 1)].into());
    assert!(err.contains("--df-cut 3 left out 1 features with 4 postings, 6 pairs of postings"), "{err}");
    assert!(err.contains("lower bounds"), "{err}");
    for engine in ["local", "pipes"] {
        let (pairs, _) = overlaps(&here, &format!("term-split --tau 0.25 --df-cut 3 --engine {engine}"));
        assert_eq!(pairs.len(), 2, "{engine}");
        let left = ["df_cut_features", "df_cut_postings", "df_cut_pairs"].map(|name| counter(&here, name));
        assert_eq!(left, [1, 4, 6], "{engine}");
        assert_eq!(counter(&here, "pairs_of_postings"), 2 * 3, "{engine}: of y, counted by two stages");
    }
}

/// A list of exactly the bound is whole.
#[test]
fn a_df_cut_that_is_not_reached_changes_nothing() {
    let here = place();
    for engine in ["local", "pipes"] {
        let (pairs, err) = overlaps(&here, &format!("term-split --tau 0.25 --df-cut 4 --engine {engine}"));
        assert_eq!(pairs, exact(), "{engine}");
        assert!(err.contains("--df-cut 4 left out 0 features"), "{err}");
        assert_eq!(counter(&here, "df_cut_features"), 0, "{engine}");
    }
}

/// Whatever the order of the lists, what was counted and what was left out are the 9 together.
#[test]
fn accumulators_give_lower_bounds_and_say_what_they_left_out() {
    let here = place();
    for limit in 0..6 {
        let (pairs, err) =
            overlaps(&here, &format!("term-split --tau 0.01 --accumulators {limit} --threads 1"));
        assert_eq!(pairs.len(), limit);
        for (pair, overlap) in &pairs {
            assert!(*overlap <= exact()[pair], "{pair} shares {overlap}");
        }
        let left = counter(&here, "pairs_without_accumulator");
        assert_eq!(pairs.values().sum::<u64>() + left, 9, "limit {limit}");
        assert!(left >= 6 - limit as u64, "limit {limit}: {left}");
        let said = format!("--accumulators {limit} left out {left} shared features of pairs met too late");
        assert!(err.contains(&said) && err.contains("lower bounds"), "{err}");
    }
}

/// Six pairs and six sums; and with the prefix filter, which counts nothing, the option is refused.
#[test]
fn accumulators_that_suffice_change_nothing() {
    let here = place();
    for engine in ["local", "pipes"] {
        let (pairs, _) =
            overlaps(&here, &format!("term-split --tau 0.25 --accumulators 6 --engine {engine}"));
        assert_eq!(pairs, exact(), "{engine}");
        assert_eq!(counter(&here, "pairs_without_accumulator"), 0, "{engine}");
    }
    here.say(&line("term-split --tau 0.25 --pcp prefix --accumulators 6 --quiet"))
        .fails(2, &["pcp-map", "--accumulators", "--pcp prefix"]);
}

/// The sum is known before the first pair is written, so a disk is not filled to find out.
#[test]
fn plain_term_split_stops_before_its_pairs() {
    let here = place();
    for engine in ["local", "pipes"] {
        let way = format!("term-split --tau 0.25 --engine {engine} --max-pairs");
        let said = here.say(&line(&format!("{way} 8")));
        assert_eq!(said.code, 1, "{}", said.err);
        for word in ["9 pairs of postings", "df(df-1)/2", "limit is 8", "--pcp prefix", "--max-pairs"] {
            assert!(said.err.contains(word), "{word:?} is not in: {}", said.err);
        }
        // Before it starts: there is no folder, and no step was begun.
        assert!(!here.path("out").exists() && !said.err.contains("tokenize"), "{}", said.err);
        assert_eq!(overlaps(&here, &format!("{way} 9")).0, exact(), "{engine}");
        std::fs::remove_dir_all(here.path("out")).unwrap();
        // What leaves out frequent features is counted by the steps.
        let cut = format!("term-split --tau 0.25 --engine {engine} --df-cut 4 --max-pairs");
        let said = here.say(&line(&format!("{cut} 8")));
        said.fails(1, &["9 pairs of postings", "(the limit is 8)"]);
        assert!(!here.path("out/pairs.tsv").exists() && !here.path("out/run.json").exists());
        assert_eq!(overlaps(&here, &format!("{cut} 9")).0, exact(), "{engine}");
        std::fs::remove_dir_all(here.path("out")).unwrap();
    }
}

/// The answer's own size is bounded too: a million equal documents are half a million million pairs.
#[test]
fn doc_split_stops_before_writing() {
    let here = place();
    let said = here.say(&line("doc-split --tau 0.25 --max-pairs 5 --quiet"));
    said.fails(1, &["6 pairs", "--max-pairs 5"]);
    assert!(!here.path("out/pairs.tsv").exists());
    assert_eq!(overlaps(&here, "doc-split --tau 0.25 --max-pairs 6").0, exact());
    here.write("docs", jsonl(&[("a", "x y"), ("b", "x y"), ("c", "x y")]));
    here.say(&line("doc-split --max-pairs 2 --quiet")).fails(1, &["3 pairs"]);
}

/// Each task alone is under the limit; their sum is what counts.
#[test]
fn every_way_stops_at_the_limit_of_all_tasks_together() {
    let here = place();
    for way in
        ["doc-split --engine pipes", "term-split --pcp prefix --engine pipes", "term-split --pcp prefix"]
    {
        let said = here.say(&line(&format!("{way} --tau 0.25 --max-pairs 5 --threads 3")));
        said.fails(1, &["5", "--max-pairs"]);
        assert!(!here.path("out/pairs.tsv").exists(), "{way}");
        assert_eq!(
            overlaps(&here, &format!("{way} --tau 0.25 --max-pairs 1000 --threads 3")).0,
            exact(),
            "{way}"
        );
        std::fs::remove_dir_all(here.path("out")).unwrap();
    }
}

/// By hand: z, w and v are in the range, x and y are not, so the shorter list has two features.
#[test]
fn a_list_of_features_that_no_task_can_hold_is_refused_and_not_needed() {
    let here = place();
    for engine in ["local", "pipes"] {
        let way = format!("term-split --tau 0.25 --idf 0.3,1 --engine {engine}");
        here.say(&line(&format!("{way} --idf-list 1")))
            .fails(1, &["2 features are out of the IDF range", "--idf-list 1", "--idf-lookup shuffle"]);
        here.say(&line(&format!("{way} --idf-list 2"))).ok();
        let listed = here.read("out/clusters.tsv");
        here.say(&line(&format!("{way} --idf-list 0 --idf-lookup shuffle"))).ok();
        assert_eq!(here.read("out/clusters.tsv"), listed);
        let counted =
            ["features_out_of_idf_range", "postings_out_of_idf_range"].map(|name| counter(&here, name));
        assert_eq!(counted, [2, 4 + 3], "{engine}");
    }
    // A reference table has its own frequencies, which no shuffle of the corpus has.
    here.shell("twinsplit idf --from docs --features words:1 --output table").ok();
    let reference = line("term-split --idf 0.3,1 --idf-lookup shuffle --idf-table table");
    here.say(&reference).fails(2, &["--idf-lookup shuffle", "--idf-table"]);
}
