//! What README.md and docs/choosing.md recommend stands beside its F1 on labelled sets, and the figures are those of the experiment.

use super::experiments::{number, root, rows};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// A recommendation: the options that stand first, tau, and (set, F1).
struct Advice {
    options: String,
    tau: f64,
    figures: Vec<(String, f64)>,
}

/// The rows of the tables of a page whose last column is F1. A cell of figures is `set .123, set .456`.
fn advice(page: &str) -> Vec<Advice> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut found = Vec::new();
    let mut in_table = false;
    for line in text.lines() {
        if !line.starts_with('|') {
            in_table = false;
        } else if cells(line).last().unwrap().starts_with("F1") {
            in_table = true;
        } else if in_table && !line.starts_with("|--") {
            let row = cells(line);
            assert_eq!(row.len(), 4, "{page}: {line}");
            let options = row[1].split('`').nth(1).unwrap_or_else(|| panic!("{page}: {line}: no `features`"));
            let figures = row[3].split(", ").map(|figure| {
                let (set, f1) = figure.split_once(' ').unwrap_or_else(|| panic!("{page}: {figure}: set F1"));
                (set.to_owned(), f1.parse().unwrap())
            });
            let (options, figures) = (options.to_owned(), figures.collect());
            found.push(Advice { options, tau: row[2].parse().unwrap(), figures });
        }
    }
    found
}

/// Each figure is the one that was measured, to three places.
#[test]
fn recommendations_have_the_measured_f1_beside_them() {
    let measured: BTreeMap<_, _> = rows("feature-choice")
        .iter()
        .map(|row| ((row["corpus"].clone(), row["features"].clone(), row["tau"].clone()), number(row, "f1")))
        .collect();
    for page in ["README.md", "docs/choosing.md"] {
        let advice = advice(page);
        assert!(advice.len() >= 4, "{page}: {} rows", advice.len());
        for Advice { options, tau, figures } in advice {
            assert!(!figures.is_empty(), "{page}: {options}");
            for (set, f1) in figures {
                let key = (set, options.clone(), format!("{tau:.2}"));
                let expected =
                    measured.get(&key).unwrap_or_else(|| panic!("{page}: {key:?} is not measured"));
                assert!((f1 - expected).abs() <= 0.000_501, "{page}: {key:?}: {f1} is {expected}");
            }
        }
    }
}

/// What is recommended for a set is no worse there than the default is, and the default has a row.
#[test]
fn recommendations_are_no_worse_than_the_default() {
    let rows = rows("feature-choice");
    let f1 = |set: &str, features: &str, tau: &str| {
        let row =
            rows.iter().find(|row| row["corpus"] == set && row["features"] == features && row["tau"] == tau);
        number(row.unwrap_or_else(|| panic!("{set}: {features} at {tau}")), "f1")
    };
    for page in ["README.md", "docs/choosing.md"] {
        let advice = advice(page);
        assert!(advice.iter().any(|row| row.options == "words:3" && row.tau == 0.65), "{page}");
        for Advice { options, tau, figures } in advice {
            let mean = |features: &str, tau: &str| {
                figures.iter().map(|(set, _)| f1(set, features, tau)).sum::<f64>() / figures.len() as f64
            };
            let (own, default) = (mean(&options, &format!("{tau:.2}")), mean("words:3", "0.65"));
            assert!(own >= default, "{page}: {options}: {own} is below the default's {default}");
        }
    }
}

/// Scores are those of the counts, every set has every kind of features, and the best tau of each is called so.
#[test]
fn scores_of_features_are_those_of_the_counts() {
    let best = super::experiments::best_of_curves("feature-choice", &["corpus", "features"]);
    let named = rows("feature-choice-best");
    assert_eq!(named.len(), best.len());
    let sets: BTreeSet<_> = best.keys().map(|key| key[0].clone()).collect();
    assert_eq!(best.len(), 14 * sets.len());
    assert_eq!(rows("feature-choice").len(), 11 * best.len());
    for row in named {
        // The best tau may lie between those of the curve.
        let f1 = best[&vec![row["corpus"].clone(), row["features"].clone()]];
        assert!(number(&row, "f1") >= f1 - 1e-4, "{row:?}");
    }
    for row in rows("feature-choice") {
        assert!(number(&row, "wrong_near_edge") <= number(&row, "wrong"), "{row:?}");
    }
}
