//! The matrix on real text, `words:5`.
//!
//! In `cargo test`, at five thresholds, reuters21578 and iotdb-docs-zh are whole, and licence-texts-a is thinned, because
//! plain Term-Split counts each two postings of a feature: 207 million for the licences whole. Whole, they
//! run once in each other way at the default threshold; `make test-long` runs the rest. What has no posting lists is repeated
//! with `--posting-block 2` on random corpora and in the long tests only.

use crate::common::expected::Keep;
use crate::common::harness::{Input, answer};
use crate::common::matrix::Variant::{BySize, ByTask, TermPlain, TermPrefix};
use crate::common::matrix::{
    BLOCKS, Blocks, Engine, FEW_TAUS, Rest, SHORT_BLOCKS, Subject, TAUS, Table, VARIANTS, Variant, matrix,
};
use crate::common::oracle::Doc;
use crate::common::real::{corpus, every};

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

/// The thresholds of the runs through pipes.
const PIPE_TAUS: [&str; 2] = ["0.55", "0.85"];

/// Runs each table on a corpus.
fn each(name: &str, subject: &Subject, tables: &[(&str, Table)]) {
    for (chain, table) in tables {
        let name = format!("{name}, {:?}, {chain}", table.engines);
        matrix(&name, &name, subject, table);
    }
}

/// In one process: plain Term-Split at 5 thresholds, at the first of them in short blocks too (random corpora have both at
/// all), prefix Term-Split, which has no posting lists there, at 5, Doc-Split 6 x 5: 41.
fn in_one_process(name: &str, docs: Vec<Doc>) {
    let subject = Subject::new(docs, FEATURES, FEW_TAUS[0]);
    let plain = table(&[TermPlain], &FEW_TAUS, &["local"], &BLOCKS[..1]);
    let short = table(&[TermPlain], &FEW_TAUS[..1], &["local"], &BLOCKS[1..]);
    let others = table(&BUT_PLAIN, &FEW_TAUS, &["local"], &BLOCKS[..1]);
    let tables = [("plain Term-Split", plain), ("in short blocks", short), ("the other ways", others)];
    each(name, &subject, &tables);
}

/// Through pipes at 2 thresholds: both forms of Term-Split with 2 settings of blocks, Doc-Split 6: 20. With the prefix
/// filter lists are short, and on some corpora none is longer than two.
fn through_pipes(name: &str, docs: Vec<Doc>) {
    let subject = Subject::new(docs, FEATURES, PIPE_TAUS[0]);
    let plain = table(&[TermPlain], &PIPE_TAUS, &["pipes"], &BLOCKS);
    let prefix = table(&[TermPrefix], &PIPE_TAUS, &["pipes"], &SHORT_BLOCKS);
    let doc = table(&DOC, &PIPE_TAUS, &["pipes"], &BLOCKS[..1]);
    each(name, &subject, &[("plain Term-Split", plain), ("prefix Term-Split", prefix), ("Doc-Split", doc)]);
}

#[test]
fn reuters_in_one_process() {
    in_one_process("reuters21578", corpus("reuters21578"));
}

#[test]
fn licences_in_one_process() {
    in_one_process("licence-texts-a / 4", every(4, corpus("licence-texts-a")));
}

#[test]
fn chinese_pages_in_one_process() {
    in_one_process("iotdb-docs-zh", corpus("iotdb-docs-zh"));
}

/// 7 ways for the licences and 8 for the Chinese pages.
#[test]
fn whole_corpora_at_the_default_threshold() {
    for (name, variants) in [("licence-texts-a", &BUT_PLAIN[..]), ("iotdb-docs-zh", &VARIANTS[..])] {
        let subject = Subject::new(corpus(name), FEATURES, "0.7");
        matrix(name, name, &subject, &table(variants, &["0.7"], &["local"], &BLOCKS[..1]));
    }
}

#[test]
fn real_text_through_pipes() {
    for (name, step) in [("reuters21578", 8), ("licence-texts-a", 8), ("iotdb-docs-zh", 4)] {
        through_pipes(&format!("{name} / {step}"), every(step, corpus(name)));
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
