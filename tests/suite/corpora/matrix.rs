//! The matrix of `answers/matrix_real.rs` on larger corpora.
//!
//! They are thinned, because plain Term-Split counts each two postings of a feature: 207 million for
//! the licences whole. In each other way the whole ones run in one process, at the default threshold and below it.
//! `make test-long` runs the products.

use crate::answers::matrix_real::{BUT_PREFIX, FEATURES, FEW_TAUS, thinned};
use crate::common::harness::{Input, answer};
use crate::common::matrix::Variant::{BySize, ByTask, TermPlain, TermPrefix};
use crate::common::matrix::{Cover, Make, SHORT_BLOCKS, Subject, TAUS, Table, Variant, matrix};
use crate::common::oracle::Doc;
use crate::common::real::every;

use super::corpus;

/// Every way but plain Term-Split.
const BUT_PLAIN: [Variant; 7] =
    [TermPrefix, BySize(1), BySize(3), BySize(7), ByTask(1), ByTask(3), ByTask(7)];

/// The thresholds of whole corpora.
const WHOLE_TAUS: [&str; 2] = ["0.55", "0.7"];

/// A whole corpus for runs at thresholds from the lowest on.
fn whole(name: &str, lowest: &str) -> Subject {
    Subject::new(corpus(name), FEATURES, lowest)
}

#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn thinned_corpora() {
    let shares = |name, step| Subject::of_any_similarity(every(step, corpus(name)), FEATURES, FEW_TAUS[0]);
    thinned(
        &["local", "pipes"],
        &[
            ("reuters21578 / 8", &|| shares("reuters21578", 8)),
            ("licence-texts-a / 8", &|| shares("licence-texts-a", 8)),
            ("iotdb-docs-zh / 4", &|| shares("iotdb-docs-zh", 4)),
        ],
    );
}

#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn whole_corpora_in_one_process() {
    let table = Table {
        variants: &BUT_PLAIN,
        taus: &WHOLE_TAUS,
        corpora: 3,
        ..Table::whole(&["local"], Cover::Pairs)
    };
    let corpora: [(&str, Make); 3] = [
        ("reuters21578", &|| whole("reuters21578", WHOLE_TAUS[0])),
        ("licence-texts-a", &|| whole("licence-texts-a", WHOLE_TAUS[0])),
        ("iotdb-docs-zh", &|| whole("iotdb-docs-zh", WHOLE_TAUS[0])),
    ];
    matrix("whole corpora", &corpora, &table);
}

/// The 2,535 stories without a body pair with nothing, whatever the threshold, and are all kept.
#[test]
#[ignore = "needs the corpora; run by `make test-corpora`"]
fn stories_without_a_body_pair_with_nothing() {
    let docs = corpus("reuters21578");
    let without: Vec<&Doc> = docs.iter().filter(|doc| doc.text.trim().is_empty()).collect();
    assert_eq!(without.len(), 2_535);
    let input = Input::new(&docs);
    for variant in [TermPlain, TermPrefix, BySize(3), ByTask(3)] {
        let mut args = variant.args();
        args.extend(["--tau", "0.1", "--features", FEATURES].map(str::to_owned));
        let folder = answer(&input, &args).unwrap();
        let read = |name| std::fs::read_to_string(folder.path().join("out").join(name)).unwrap();
        let (pairs, kept) = (read("pairs.tsv"), read("kept.jsonl"));
        let in_a_pair: std::collections::HashSet<&str> =
            pairs.lines().flat_map(|line| line.split('\t').take(2)).collect();
        let kept: std::collections::HashSet<&str> = kept.lines().collect();
        assert!(in_a_pair.len() > 1_000, "{variant:?}: {} documents in pairs", in_a_pair.len());
        for doc in &without {
            assert!(!in_a_pair.contains(doc.id.as_str()), "{variant:?} pairs {}", doc.id);
            assert!(kept.contains(doc.line.as_str()), "{variant:?} drops {}", doc.id);
        }
    }
}

/// The products of both engines; thresholds are few where plain Term-Split would take days.
fn products(name: &str, plain: &'static [&'static str]) {
    let make = || whole(name, "0.1");
    let all = Table { threads: &[1, 3], ..Table::whole(&["local", "pipes"], Cover::Product) };
    let doc = Table { variants: &BUT_PREFIX[1..], ..all };
    let prefix = Table { variants: &[TermPrefix], blocks: &SHORT_BLOCKS, ..all };
    let plain = Table { variants: &[TermPlain], taus: plain, ..all };
    for (way, table) in [("doc-split", doc), ("prefix", prefix), ("plain", plain)] {
        matrix(&format!("{name}, {way}, whole"), &[(name, &make)], &table);
    }
}

#[test]
#[ignore = "hours; run by `make test-long`"]
fn long_reuters_whole_product() {
    products("reuters21578", &TAUS);
}

#[test]
#[ignore = "hours; run by `make test-long`"]
fn long_chinese_pages_whole_product() {
    products("iotdb-docs-zh", &TAUS);
}

#[test]
#[ignore = "hours; run by `make test-long`"]
fn long_licences_whole_product() {
    products("licence-texts-a", &["0.7"]);
}
