//! The matrix on real text, `words:5`.
//!
//! In `cargo test`, at five thresholds, reuters21578 and iotdb-docs-zh are whole, and licence-texts-a is thinned, because
//! plain Term-Split counts each two postings of a feature: 207 million for the licences whole. Whole, they
//! run once in each other way at the default threshold; `make test-long` runs the rest. Doc-Split has no posting lists, so it is repeated with
//! `--posting-block 2` on random corpora and in the long tests only.

mod common;

use common::expected::Keep;
use common::harness::{Input, answer};
use common::matrix::Variant::{BySize, ByTask, TermPlain, TermPrefix};
use common::matrix::{
    BLOCKS, Blocks, Engine, FEW_TAUS, Rest, SHORT_BLOCKS, Subject, TAUS, Table, VARIANTS, Variant, matrix,
};
use common::oracle::Doc;
use common::real::{corpus, every};

const FEATURES: &str = "words:5";

/// Doc-Split in all its forms.
const DOC: [Variant; 6] = [BySize(1), BySize(3), BySize(7), ByTask(1), ByTask(3), ByTask(7)];

/// Every way but plain Term-Split.
const BUT_PLAIN: [Variant; 7] =
    [TermPrefix, BySize(1), BySize(3), BySize(7), ByTask(1), ByTask(3), ByTask(7)];

fn table(
    variants: &'static [Variant],
    taus: &'static [&'static str],
    engines: &'static [Engine],
    blocks: &'static [Blocks],
) -> Table {
    Table { variants, taus, engines, blocks, keeps: &[Keep::First], rest: Rest::InTurn }
}

/// Term-Split 2 x taus x 2 settings of blocks, and Doc-Split 6 x taus: 10 for each tau and engine. With the prefix
/// filter lists are short, and on some corpora none is longer than two: `prefix` says how they are cut.
fn both(
    name: &str,
    docs: Vec<Doc>,
    taus: &'static [&'static str],
    engines: &'static [Engine],
    prefix: &'static [Blocks],
) {
    let subject = Subject::new(docs, FEATURES, taus[0]);
    for (chain, variants, blocks) in [
        ("term-split plain", &[TermPlain][..], &BLOCKS[..]),
        ("term-split prefix", &[TermPrefix], prefix),
        ("doc-split", &DOC, &BLOCKS[..1]),
    ] {
        let name = format!("{name}, {engines:?}, {chain}");
        matrix(&name, &name, &subject, &table(variants, taus, engines, blocks));
    }
}

#[test]
fn reuters_in_one_process() {
    both("reuters21578", corpus("reuters21578"), &FEW_TAUS, &["local"], &BLOCKS);
}

#[test]
fn licences_in_one_process() {
    both("licence-texts-a / 4", every(4, corpus("licence-texts-a")), &FEW_TAUS, &["local"], &SHORT_BLOCKS);
}

#[test]
fn chinese_pages_in_one_process() {
    both("iotdb-docs-zh", corpus("iotdb-docs-zh"), &FEW_TAUS, &["local"], &SHORT_BLOCKS);
}

/// 7 ways for the licences and 8 for the Chinese pages.
#[test]
fn whole_corpora_at_the_default_threshold() {
    for (name, variants) in [("licence-texts-a", &BUT_PLAIN[..]), ("iotdb-docs-zh", &VARIANTS[..])] {
        let subject = Subject::new(corpus(name), FEATURES, "0.7");
        matrix(name, name, &subject, &table(variants, &["0.7"], &["local"], &BLOCKS[..1]));
    }
}

/// 10 for each of two thresholds: 20 a corpus.
#[test]
fn real_text_through_pipes() {
    for (name, step) in [("reuters21578", 8), ("licence-texts-a", 8), ("iotdb-docs-zh", 4)] {
        both(
            &format!("{name} / {step}"),
            every(step, corpus(name)),
            &["0.55", "0.85"],
            &["pipes"],
            &SHORT_BLOCKS,
        );
    }
}

/// The 2,535 stories without a body pair with nothing, whatever the threshold, and are all kept.
#[test]
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

/// 8 variants x 13 taus x 2 engines x 2 settings of posting blocks, threads and kinds in turn: 416.
#[test]
#[ignore = "hours; run by `make test-long`"]
fn reuters_whole_product() {
    let subject = Subject::new(corpus("reuters21578"), FEATURES, "0.1");
    let whole = Table::whole(&["local", "pipes"], Rest::InTurn);
    matrix("reuters21578, whole", "reuters21578", &subject, &whole);
}

/// The same for the Chinese pages: 416.
#[test]
#[ignore = "hours; run by `make test-long`"]
fn chinese_pages_whole_product() {
    let subject = Subject::new(corpus("iotdb-docs-zh"), FEATURES, "0.1");
    let (name, engines) = ("iotdb-docs-zh, whole", &["local", "pipes"]);
    matrix(name, name, &subject, &table(&[TermPlain], &TAUS, engines, &BLOCKS));
    matrix(name, name, &subject, &table(&[TermPrefix], &TAUS, engines, &SHORT_BLOCKS));
    matrix(name, name, &subject, &table(&DOC, &TAUS, engines, &BLOCKS));
}

/// The same for the licences, 364, but plain Term-Split at one threshold: 4.
#[test]
#[ignore = "hours; run by `make test-long`"]
fn licences_whole_product() {
    let name = "licence-texts-a, whole";
    let subject = Subject::new(corpus("licence-texts-a"), FEATURES, "0.1");
    let engines = &["local", "pipes"];
    matrix(name, name, &subject, &table(&BUT_PLAIN, &TAUS, engines, &BLOCKS));
    matrix(name, name, &subject, &table(&[TermPlain], &["0.7"], engines, &BLOCKS));
}
