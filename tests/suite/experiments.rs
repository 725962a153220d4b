//! The committed results of the papers' experiments: their numbers agree with one another, and the page shows them.

use crate::common::browser::Browser;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn results() -> PathBuf {
    root().join("experiments/results")
}

/// Rows of a result, by the names of their columns.
fn rows(name: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(results().join(format!("{name}.csv"))).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// The names of all results.
fn names() -> BTreeSet<String> {
    let files = fs::read_dir(results()).unwrap().map(|entry| entry.unwrap().path());
    let tables = files.filter(|file| file.extension().is_some_and(|extension| extension == "csv"));
    tables.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn each_result_says_how_it_was_made() {
    let names = names();
    assert!(names.contains("fig8") && names.contains("fig8-best"), "{names:?}");
    for name in names {
        let about = fs::read_to_string(results().join(format!("{name}.json"))).unwrap();
        let about: serde_json::Value = serde_json::from_str(&about).unwrap();
        assert_eq!(about["experiment"], *name);
        for field in ["commit", "machine", "command", "date", "about"] {
            assert!(about[field].as_str().is_some_and(|text| !text.is_empty()), "{name}: {field}");
        }
        assert!(about["seed"].is_u64(), "{name}");
        for plot in about["plots"].as_array().unwrap() {
            for extension in ["svg", "png"] {
                let plot = results().join(format!("{}.{extension}", plot.as_str().unwrap()));
                assert!(fs::metadata(&plot).unwrap().len() > 1000, "{}", plot.display());
            }
        }
    }
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap()
}

/// Compares precision, recall and F1 of a curve with its counts, and gives the largest F1 of each curve, which is told by
/// these columns.
fn best_of_curves(name: &str, told_by: &[&str]) -> BTreeMap<Vec<String>, f64> {
    let mut best: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    for row in rows(name) {
        let [found, wrong, missed] = ["true", "wrong", "missed"].map(|column| number(&row, column));
        let share = |part: f64, whole: f64| if whole == 0.0 { 1.0 } else { part / whole };
        let expected = [
            share(found, found + wrong),
            share(found, found + missed),
            share(2.0 * found, 2.0 * found + wrong + missed),
        ];
        for (column, expected) in ["precision", "recall", "f1"].into_iter().zip(expected) {
            assert!((number(&row, column) - expected).abs() < 1e-6, "{name}: {column} of {row:?}");
        }
        let f1 = best.entry(told_by.iter().map(|column| row[*column].clone()).collect()).or_default();
        *f1 = f1.max(number(&row, "f1"));
    }
    best
}

/// Precision, recall and F1 are those of the counts, and the best row of each curve is the one that is called so.
#[test]
fn scores_are_those_of_the_counts() {
    let best = best_of_curves("fig8", &["corpus", "idf"]);
    assert_eq!(rows("fig8").len(), 96 * best.len());
    let named = rows("fig8-best");
    assert_eq!(named.len(), best.len());
    for row in named {
        let f1 = best[&vec![row["corpus"].clone(), row["idf"].clone()]];
        assert!((number(&row, "f1") - f1).abs() < 1e-4, "{row:?}");
        assert!(
            number(&row, "tau_low") <= number(&row, "tau") && number(&row, "tau") <= number(&row, "tau_high")
        );
    }
}

/// The same of wei2013: the best variant of each method is called so, and every pair on its wrong side has a cause.
#[test]
fn scores_of_chinese_pages_are_those_of_the_counts() {
    let best = best_of_curves("ccdet-accuracy", &["kind", "method", "variant"]);
    assert_eq!(rows("ccdet-accuracy").len(), 91 * best.len());
    let (mut named, mut causes) = (0, 0);
    for row in rows("ccdet-best") {
        let own = |(curve, _): &(&Vec<String>, &f64)| curve[0] == row["kind"] && curve[1] == row["method"];
        let most = best.iter().filter(own).map(|(_, f1)| *f1).fold(0.0, f64::max);
        assert!((number(&row, "f1") - most).abs() < 1e-4, "{row:?}");
        named += 1;
        if row["kind"] == "both" {
            // A pair of the wrong kind is wrong as what it is called, and missed as what it is.
            let of_method = rows("ccdet-causes").into_iter().filter(|cause| cause["method"] == row["method"]);
            let pairs = |cause: BTreeMap<String, String>| {
                number(&cause, "pairs") * if cause["cause"].starts_with("a ") { 2.0 } else { 1.0 }
            };
            assert_eq!(
                of_method.map(pairs).sum::<f64>(),
                number(&row, "wrong") + number(&row, "missed"),
                "{row:?}"
            );
            causes += 1;
        }
    }
    assert_eq!((named, causes), (18, 6));
}

/// The page is made anew from the results, and is the committed one.
#[test]
fn the_page_is_that_of_the_results() {
    let here = tempfile::tempdir().unwrap();
    let copy = |from: &Path, to: &Path| {
        fs::create_dir_all(to).unwrap();
        for file in
            fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).filter(|file| file.is_file())
        {
            fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    };
    let experiments = here.path().join("experiments");
    copy(&root().join("experiments"), &experiments);
    copy(&results(), &experiments.join("results"));
    fs::remove_file(experiments.join("results/index.html")).unwrap();
    let made = Command::new("python3").arg(experiments.join("run.py")).arg("page").status().unwrap();
    assert!(made.success());
    let page = |folder: &Path| fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(
        page(&experiments.join("results")) == page(&results()),
        "experiments/results/index.html is not that of the results: make experiments-page"
    );
}

/// A browser shows every number of every table; nothing is wider than a telephone but tables, which scroll by themselves.
#[test]
fn a_browser_shows_every_number() {
    let browser = Browser::start(360);
    browser.open(&results().join("index.html"));
    let mut cells = 0;
    for name in names() {
        let shown = browser.script(&format!(
            "return [...document.querySelectorAll('table[id=\"{name}\"] tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))"
        ));
        let mut reader = csv::Reader::from_path(results().join(format!("{name}.csv"))).unwrap();
        let expected: Vec<Vec<String>> = reader.deserialize().map(Result::unwrap).collect();
        cells += expected.iter().map(Vec::len).sum::<usize>();
        assert_eq!(serde_json::from_value::<Vec<Vec<String>>>(shown).unwrap(), expected, "{name}");
    }
    assert!(cells > 1000, "{cells} cells were compared");
    let wider =
        browser.script("return document.documentElement.scrollWidth > document.documentElement.clientWidth");
    assert_eq!(wider, false);
    assert_eq!(browser.console(), Vec::<String>::new());
}
