//! `--write clusters`: the clusters of `--write pairs`, without its pairs.

use crate::common::cli::{Place, fixture};
use crate::common::real;

const WAYS: [&str; 8] = [
    "doc-split",
    "doc-split --partition by-task --slices 3",
    "doc-split --engine pipes",
    "doc-split --engine pipes --partition by-task --slices 3",
    "term-split",
    "term-split --pcp prefix",
    PLAIN_BY_PIPES,
    "term-split --engine pipes --pcp prefix",
];

const PLAIN_BY_PIPES: &str = "term-split --engine pipes";

/// The short ones of the English pages, half of them: licences that chain into large clusters.
fn documents(here: &Place) {
    let pages = real::read(&fixture("documents/en.jsonl.gz"));
    let short = pages.iter().map(|page| page.line.as_str()).filter(|line| line.len() < 3000);
    here.write("docs", short.collect::<Vec<_>>().join("\n") + "\n");
}

fn counter(here: &Place, output: &str, name: &str) -> u64 {
    let run: serde_json::Value = serde_json::from_str(&here.read(&format!("{output}/run.json"))).unwrap();
    let steps = run["counters"].as_object().unwrap();
    steps.values().filter_map(|counters| counters[name].as_u64()).sum()
}

#[test]
fn clusters_follow_from_forests() {
    let here = Place::new();
    documents(&here);
    let mut ran = 0;
    for tau in ["0.4", "0.7"] {
        for kind in ["components", "star"] {
            let base =
                format!("--quiet --input docs --tau {tau} --cluster {kind} --keep longest --write-kept");
            here.say(&format!("twinsplit run doc-split {base} --output pairs --overwrite")).ok();
            let answer = |output: &str| {
                ["clusters.tsv", "kept.jsonl"].map(|file| here.read(&format!("{output}/{file}")))
            };
            let expected = answer("pairs");
            assert!(expected[0].lines().count() > 250, "{tau} {kind}");
            for way in WAYS {
                // A forest of so few documents is started anew again and again.
                for forest in ["", " --forest 40"] {
                    let line = format!(
                        "twinsplit run {way} {base}{forest} --write clusters --output clusters --overwrite"
                    );
                    here.say(&line).ok();
                    assert_eq!(answer("clusters"), expected, "{line}");
                    assert!(!here.path("clusters/pairs.tsv").exists(), "{line}");
                    assert_eq!(counter(&here, "clusters", "pairs"), 0, "{line}");
                    let left_out = counter(&here, "clusters", "pairs_inside_clusters");
                    let stages = way.contains("pipes") || way == "term-split";
                    // Plain Term-Split makes stars of all pairs, and Doc-Split does not find what it leaves out.
                    let forests = kind == "components" || !matches!(way, "term-split" | PLAIN_BY_PIPES);
                    let forests = forests && way.starts_with("term-split");
                    assert_eq!(left_out > 0, stages && forests, "{line}: {left_out} pairs left out");
                    ran += 1;
                }
            }
        }
    }
    println!("{ran} combinations");
    assert_eq!(ran, 2 * 2 * WAYS.len() * 2);
}

/// What no disk would hold is not written: copies are pairs only when pairs are asked for.
#[test]
fn many_copies_are_clusters_and_no_pairs() {
    let here = Place::new();
    let text: String =
        (0..3000).map(|n| format!("{{\"id\":\"{n:04}\",\"text\":\"one two three\"}}\n")).collect();
    here.write("docs", text);
    let count = 3000 * 2999 / 2;
    for way in WAYS {
        let line = format!("twinsplit run {way} --quiet --features words:2 --input docs --max-pairs 1000");
        // The number is exact, and nothing was written to find it.
        here.say(&format!("{line} --output out --overwrite")).fails(1, &[&count.to_string(), "max-pairs"]);
        // Steps that were finished stay for a run that goes on.
        assert!(!here.path("out/pairs.tsv").exists(), "{way}");
        here.say(&format!("{line} --write clusters --output clusters --overwrite")).ok();
        assert_eq!(here.read("clusters/clusters.tsv").lines().count(), 3000, "{way}");
    }
}
