//! What makes sets smaller (IDF ranges, `--min-features`) and what chooses the document to keep,
//! against the oracle, in smaller matrices.

use crate::common::corpora;
use crate::common::expected::Keep;
use crate::common::features;
use crate::common::harness::{run, twinsplit};
use crate::common::matrix::Variant::{BySize, ByTask, TermPlain, TermPrefix};
use crate::common::matrix::{BLOCKS, Cover, Make, Subject, Table, Variant, matrix};
use crate::common::oracle::{Frequencies, at_least, short_texts};

const WAYS: [Variant; 4] = [TermPlain, TermPrefix, BySize(3), ByTask(3)];

/// 4 ways, 3 thresholds, both engines, and what else there is, every two values together.
const TABLE: Table = Table {
    variants: &WAYS,
    taus: &["0.4", "0.65", "1.0"],
    threads: &[1, 3],
    ..Table::whole(&["local", "pipes"], Cover::Pairs)
};

/// The same where there is no list to cut.
const WITHOUT_BLOCKS: Table = Table { blocks: BLOCKS.split_at(1).0, ..TABLE };

fn on_both_engines(about: &str, make: Make) {
    matrix(about, &[(about, make)], &TABLE);
}

/// An IDF range and the least number of features, as typed.
const SETTINGS: [(&str, usize); 5] =
    [("0.2,0.85", 1), ("0.3,0.85", 1), ("0,1", 1), ("0,1", 3), ("0.2,0.85", 3)];

/// The sets of a random corpus after both options, frequencies from itself or from a reference.
fn smaller(
    seed: u64,
    reference: Option<(&Frequencies, &str)>,
    idf: &str,
    least: usize,
    more: &[&str],
) -> Subject {
    let docs = corpora::random(seed, 90, 40);
    let sets = features::of(&docs, "lines");
    let own = Frequencies::count(&sets);
    let frequencies = reference.map_or(&own, |(frequencies, _)| frequencies);
    let kept = at_least(&frequencies.keep(&sets, idf), least);
    assert_eq!(kept == sets, idf == "0,1" && least == 1, "a setting that changes nothing");
    let texts = short_texts(&docs, &kept, least);
    let equal = (0..texts.len()).any(|b| texts[b].is_some() && texts[..b].contains(&texts[b]));
    let smaller = least > 1 || idf != "0,1";
    assert_eq!(equal, smaller, "texts are equal whose sets are too small, and every text has a line");
    let typed = least.to_string();
    let mut args = vec!["--features", "lines", "--idf", idf, "--min-features", &typed];
    if let Some((_, table)) = reference {
        args.extend(["--idf-table", table]);
    }
    args.extend(more);
    Subject::with_sets(docs, (kept, texts), "0.1", &args)
}

#[test]
fn idf_ranges_and_least_sizes() {
    for (idf, least) in SETTINGS {
        let about = format!("corpora::random(201, 90, 40), IDF {idf}, at least {least}");
        on_both_engines(&about, &|| smaller(201, None, idf, least, &[]));
    }
}

/// Without a list of features, of which tasks could hold none.
#[test]
fn idf_ranges_by_a_shuffle() {
    for (idf, least) in [("0.2,0.85", 1), ("0.3,0.85", 3)] {
        let about = format!("corpora::random(205, 90, 40), IDF {idf} by a shuffle, at least {least}");
        let by_a_shuffle = ["--idf-lookup", "shuffle", "--idf-list", "0"];
        on_both_engines(&about, &|| smaller(205, None, idf, least, &by_a_shuffle));
    }
}

/// Frequencies of another collection, which lacks some features and has others.
#[test]
fn idf_over_a_reference_table() {
    let folder = tempfile::tempdir().unwrap();
    let (from, table) = (folder.path().join("reference.jsonl"), folder.path().join("table"));
    let reference = corpora::random(202, 150, 30);
    let lines: String = reference.iter().map(|doc| doc.line.clone() + "\n").collect();
    std::fs::write(&from, lines).unwrap();
    let mut command = twinsplit();
    command.arg("idf").arg("--from").arg(&from).args(["--features", "lines"]);
    run({
        command.arg("--output").arg(&table);
        command
    })
    .unwrap();
    let frequencies = Frequencies::count(&features::of(&reference, "lines"));
    let table = table.display().to_string();
    for idf in ["0.2,0.85", "0.3,0.85"] {
        let about = format!("corpora::random(203, 90, 40), IDF {idf} over random(202, 150, 30)");
        on_both_engines(&about, &|| smaller(203, Some((&frequencies, &table)), idf, 1, &[]));
    }
}

/// Features exactly on the bounds of a range, where f64 is on the wrong side.
#[test]
fn idf_exactly_on_its_bounds() {
    for idf in ["0.2,0.8", "0.8,1", "0,0.2", "0.2001,0.7999"] {
        let make = || {
            let docs = corpora::idf_boundaries();
            let sets = features::of(&docs, "lines");
            let kept = Frequencies::count(&sets).keep(&sets, idf);
            let texts = short_texts(&docs, &kept, 1);
            Subject::with_sets(docs, (kept, texts), "0.65", &["--features", "lines", "--idf", idf])
        };
        let about = format!("corpora::idf_boundaries(), IDF {idf}");
        matrix(&about, &[(&about, &make)], &Table { taus: &["0.65"], ..WITHOUT_BLOCKS });
    }
}

/// Which document is kept, of equal texts too.
#[test]
fn the_document_to_keep() {
    let keeps = &[Keep::SmallestId, Keep::First, Keep::Longest, Keep::Newest, Keep::Score];
    let [one, three] = [1, 3].map(|least| move || smaller(204, None, "0,1", least, &[]));
    let corpora: [(&str, Make); 2] = [
        ("corpora::random(204, 90, 40), at least 1", &one),
        ("corpora::random(204, 90, 40), at least 3", &three),
    ];
    matrix("keep rules", &corpora, &Table { keeps, corpora: 2, ..TABLE });
}

/// Where no set is large enough for a join, and there is no list to cut, equal texts are all that is found.
#[test]
fn nothing_but_equal_texts() {
    let about = "corpora::random(207, 90, 40), at least 1000";
    matrix(about, &[(about, &|| smaller(207, None, "0,1", 1000, &[]))], &WITHOUT_BLOCKS);
}

/// Without the pass over equal texts nothing below the least number of features is in a cluster.
#[test]
fn equal_texts_left_alone() {
    let make = || {
        let found = smaller(206, None, "0,1", 3, &["--equal-texts", "off"]);
        Subject { texts: vec![None; found.docs.len()], ..found }
    };
    on_both_engines("corpora::random(206, 90, 40), at least 3, --equal-texts off", &make);
}
