//! Documents as weighted sets (`--counts on`): every chain of sets, on both engines, against sums of minima and maxima of counts.

use std::collections::BTreeMap;

use num_rational::Ratio;

use crate::common::cli::{Place, jsonl};
use crate::common::real;
use crate::common::rng::Rng;

/// How often each feature stands in a document.
type Counts = BTreeMap<String, u64>;

/// Documents of few words, which stand several times in most of them.
fn documents() -> Vec<(String, String)> {
    let mut rng = Rng::new(41);
    let mut texts: Vec<Vec<&str>> = vec![vec!["a"; 40], vec!["a"; 30], vec!["a"; 29], vec!["b"], vec![]];
    let words = ["a", "a", "a", "b", "b", "c", "d", "用户", "e", "f"];
    while texts.len() < 150 {
        let mut text = match rng.below(3) {
            0 => (0..1 + rng.below(30)).map(|_| words[rng.below(words.len())]).collect(),
            _ => texts[rng.below(texts.len())].clone(),
        };
        for _ in 0..rng.below(4) {
            let word = words[rng.below(words.len())];
            match rng.below(2) {
                0 => text.push(word),
                _ => drop(text.pop()),
            }
        }
        texts.push(text);
    }
    let named = |(number, text): (usize, &Vec<&str>)| (format!("d{number:03}"), text.join(" "));
    texts.iter().enumerate().map(named).collect()
}

/// Rows of words, and their counts, by the obvious way.
fn counts(text: &str, width: usize) -> Counts {
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let mut counts = Counts::new();
    words.windows(width).for_each(|row| *counts.entry(row.join(" ")).or_default() += 1);
    counts
}

/// The rows of pairs.tsv whose similarity, by its name, reaches a fraction.
fn pairs(documents: &[(String, String)], width: usize, measure: &str, tau: (u64, u64)) -> Vec<String> {
    let all: Vec<(&str, Counts)> =
        documents.iter().map(|(id, text)| (id.as_str(), counts(text, width))).collect();
    let mut rows = Vec::new();
    for (at, (a, x)) in all.iter().enumerate() {
        for (b, y) in &all[at + 1..] {
            let count = |of: &Counts, feature: &str| of.get(feature).copied().unwrap_or(0);
            let least: u64 = x.keys().map(|feature| count(x, feature).min(count(y, feature))).sum();
            let features = x.keys().chain(y.keys().filter(|feature| !x.contains_key(*feature)));
            let most: u64 = features.map(|feature| count(x, feature).max(count(y, feature))).sum();
            let (sum_x, sum_y) = (x.values().sum::<u64>(), y.values().sum::<u64>());
            let of = match measure {
                "jaccard" => most,
                _ => sum_x.min(sum_y),
            };
            if least > 0 && Ratio::new(least, of) >= Ratio::new(tau.0, tau.1) {
                rows.push(format!("{a}\t{b}\t{least}\t{sum_x}\t{sum_y}\n"));
            }
        }
    }
    rows
}

/// What a run writes as pairs: ids, shared features and sizes; the similarity behind them is another test's.
fn found(here: &Place, options: &str) -> Vec<String> {
    here.say(&format!("twinsplit run {options} --counts on --overwrite --quiet --input docs --output out"))
        .ok();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').take(5).collect();
        format!("{}\n", fields.join("\t"))
    };
    here.read("out/pairs.tsv").lines().map(row).collect()
}

/// The chains that find every pair, with whatever decides their steps.
const EXACT: [&str; 6] = [
    "doc-split",
    "doc-split --partition by-task --slices 3",
    "term-split --pcp plain",
    "term-split --pcp prefix",
    // A band of one value misses a pair at .8 once in 10^89.
    "minhash --bands 128 --rows 1",
    "ccdet",
];

#[test]
fn every_chain_finds_what_counts_say() {
    let (here, documents) = (Place::new(), documents());
    here.write("docs", jsonl(&documents.iter().map(|(id, text)| (&**id, &**text)).collect::<Vec<_>>()));
    let mut runs = 0;
    for (measure, text, tau) in [("jaccard", "0.8", (4, 5)), ("containment", "0.9", (9, 10))] {
        for width in [1, 2] {
            let expected = pairs(&documents, width, measure, tau);
            assert!(expected.len() > 20, "{} pairs", expected.len());
            for chain in
                EXACT.into_iter().filter(|chain| measure == "jaccard" || !chain.starts_with("minhash"))
            {
                for engine in ["local --threads 3", "pipes"] {
                    let options = format!(
                        "{chain} --engine {engine} --features words:{width} --min-features 1 --idf 0,1 --similarity {measure} --tau {text}"
                    );
                    assert_eq!(found(&here, &options), expected, "{options}");
                    runs += 1;
                }
            }
        }
    }
    println!("{runs} runs");
    assert_eq!(runs, 2 * 2 * (6 + 5));
}

/// A long line goes through in pieces, and its counts with it.
#[test]
fn long_documents_count_from_piece_to_piece() {
    let here = Place::new();
    let long = |times: usize| "the ferry left at six and ".repeat(times);
    let documents = [("a", long(100_000)), ("b", long(90_000)), ("c", long(70_000)), ("d", long(1))];
    here.write("docs", jsonl(&documents.each_ref().map(|(id, text)| (*id, text.as_str()))));
    for engine in ["local", "pipes"] {
        let options = format!("doc-split --engine {engine} --features words:1 --tau 0.7");
        let (a, b, c) = (600_000, 540_000, 420_000);
        let expected = [
            format!("a\tb\t{b}\t{a}\t{b}\n"),
            format!("a\tc\t{c}\t{a}\t{c}\n"),
            format!("b\tc\t{c}\t{b}\t{c}\n"),
        ];
        assert_eq!(found(&here, &options), expected, "{engine}");
        let once = found_once(&here, engine);
        assert_eq!(once, 6, "without counts all have the same six words");
    }
}

/// How many pairs there are where features count once.
fn found_once(here: &Place, engine: &str) -> usize {
    here.say(&format!(
        "twinsplit run doc-split --engine {engine} --features words:1 --overwrite --quiet --input docs --output out"
    ))
    .ok();
    here.read("out/pairs.tsv").lines().count()
}

/// Real text: what `explain` counts in a pair is what the run has counted, and the report agrees with both.
#[test]
fn a_pair_is_explained_by_its_counts() {
    let here = Place::new();
    let english = real::fixture("en.jsonl.gz").display().to_string();
    here.say(&format!(
        "twinsplit run --features words:2 --counts on --tau 0.7 --quiet --input {english} --output out"
    ))
    .ok();
    let pairs = here.read("out/pairs.tsv");
    let mut repeated = 0;
    for line in pairs.lines().step_by(40) {
        let fields: Vec<&str> = line.split('\t').collect();
        let said = here.say(&format!("twinsplit explain {} {} --run out", fields[0], fields[1])).ok();
        for part in [
            format!("  {} features", fields[3]),
            format!("  {} features", fields[4]),
            format!("Shared features: {},", fields[2]),
        ] {
            assert!(said.contains(&part), "{part}: {}", said);
        }
        let once =
            format!("twinsplit explain {} {} --input {english} --features words:2", fields[0], fields[1]);
        repeated += usize::from(!here.say(&once).ok().contains(&format!("  {} features", fields[3])));
    }
    assert!(repeated > 5, "{repeated} documents repeat themselves");
    here.say("twinsplit report out --to page.html").ok();
}

#[test]
fn what_was_made_with_counts_is_not_mixed() {
    let here = Place::new();
    here.write("docs", jsonl(&[("a", "x x y"), ("b", "x y y"), ("c", "z")]));
    here.say("twinsplit idf --counts on --features words:1 --from docs --output table").ok();
    let asks = "twinsplit run --features words:1 --idf 0.1,1 --idf-table table --input docs --output out";
    here.say(asks).fails(1, &["table", "--counts on", "--counts off is asked for"]);
    here.say(&format!("{asks} --counts on")).ok();
    here.say("twinsplit idf --features words:1 --from docs --output old").ok();
    let head = here.read("old").lines().next().unwrap().to_owned();
    assert!(!head.contains("counts"), "files without counts are as they were: {head}");
    here.say(
        "twinsplit run --counts on --features words:1 --idf 0.1,1 --idf-table old --input docs --output more",
    )
    .fails(1, &["old", "--counts off", "--counts on is asked for"]);
    here.say("twinsplit run simhash --counts on --input docs --output none")
        .fails(2, &["simhash does not use --counts"]);
    here.with("twinsplit run simhash --input docs --output none", "", &[("TWINSPLIT_COUNTS", "on")])
        .fails(2, &["fingerprints count features by --weights tf"]);
}
