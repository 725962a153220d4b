//! What runs over whole collections count: chains of pairs, and what `tune` and `plan --estimate` say of them by a sample.

use crate::answers::keep::counter;
use crate::cli::estimate::{estimated, volumes_within_two, within_two};
use crate::cli::tune::{equals_runs, tuned};
use crate::common::cli::Place;
use crate::common::real::every;
use serde_json::Value;

use super::{corpus, path};

/// Revisions of Chinese manual pages, of which many chains are long.
#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn chains_of_real_revisions_are_counted() {
    let here = Place::new();
    let input = path("zh-revisions-iotdb").display().to_string();
    let said = here.say(&format!(
        "twinsplit run doc-split --features words:5 --tau 0.7 --overwrite --output out --input {input}"
    ));
    let sentence = "401 of 2198 dropped documents are below tau to the document that is kept, which a chain of pairs \
                    joins to them, the least similarity is 0.231608";
    assert!(said.err.contains(sentence), "{}", said.err);
    let clusters = here.read("out/clusters.tsv");
    let dropped =
        || clusters.lines().filter_map(|line| line.split_once("\tdrop\t")).map(|(_, jaccard)| jaccard);
    assert_eq!(dropped().filter(|jaccard| **jaccard < *"0.700000").count(), 401);
    assert_eq!((dropped().count(), dropped().min()), (2198, Some("0.231608")));
    here.say(&format!(
        "twinsplit run doc-split --features words:5 --tau 0.7 --overwrite --output out --write-kept --quiet --input {input}"
    ))
    .ok();
    assert_eq!(counter(&here, "documents_dropped_below_tau"), 0);
    assert!(counter(&here, "documents_dropped") > 1_500);
    assert!(here.read("out/clusters.tsv").lines().all(|line| !line.contains("\tdrop\t0.6")));
}

#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn counts_on_all_news_stories_equal_runs() {
    let here = Place::new();
    let docs = corpus("reuters21578");
    here.write("docs.jsonl", docs.iter().map(|doc| format!("{}\n", doc.line)).collect::<String>());
    let found = tuned(
        &here,
        "--input docs.jsonl --sample 1000000 --kinds words:5,spotsigs --taus 0.4,0.7,0.9 --examples 0",
    );
    assert_eq!((&found["sample"]["documents"], &found["sample"]["of"]), (&21_578.into(), &21_578.into()));
    assert!(equals_runs(&here, &found, "docs.jsonl", "") > 1_000);
}

/// Less than half of the stories, which are every second one of a corpus, tells what all of them take.
#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn volumes_and_pairs_are_within_a_factor_of_two() {
    let stories = every(2, corpus("reuters21578"));
    let lines: String = stories.into_iter().map(|story| story.line + "\n").collect();
    let ways = [
        ("doc-split", "--features words:5 --tau 0.5 --write-kept"),
        ("term-split", "--features words:5 --tau 0.5 --pcp prefix --idf 0,0.95 --cluster star"),
    ];
    let mut compared = 0;
    for (chain, options) in ways {
        let here = Place::new();
        here.write("stories", &lines);
        let line = format!("{chain} {options} --input stories");
        let estimate = estimated(&here, &format!("{line} --sample 4500"));
        here.say(&format!("twinsplit run {line} --engine pipes --output out --quiet")).ok();
        let run: Value = serde_json::from_str(&here.read("out/run.json")).unwrap();

        let pairs = here.read("out/pairs.tsv").lines().count() as u64;
        within_two("pairs", estimate["pairs"].as_u64().unwrap(), pairs);
        assert_eq!(estimate["documents"].as_u64(), run["counters"]["tokenize"]["documents"].as_u64());
        let bytes = run["counters"]["tokenize"]["map_bytes_in"].as_u64().unwrap();
        within_two("bytes of the documents", estimate["bytes"].as_u64().unwrap(), bytes);

        compared += volumes_within_two(&estimate, &run);
    }
    assert!(compared > 15, "{compared} volumes were compared");
}
