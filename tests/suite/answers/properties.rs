//! Whole runs on tiny arbitrary corpora, which shrink to the smallest one that fails.
//!
//! The matrix covers the product of options on corpora made to be awkward; these look for what
//! nobody thought of: collections of none and one, arbitrary ids, arbitrary text, odd thresholds.

use crate::common::corpora::plain;
use crate::common::expected::{KINDS, Keep};
use crate::common::harness::{Input, check};
use crate::common::matrix::{BLOCKS, Blocks, Case, Engine, Subject, TAUS, VARIANTS};
use crate::common::oracle::Doc;
use crate::common::oracle::SIMILARITIES;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

/// Thresholds that are no simple fractions, or at the ends of what can be typed.
const ODD: [&str; 7] =
    ["0.01", "0.000000001", "0.333333333", "0.333333334", "0.666666667", "0.999999999", "1"];

/// Up to fourteen sets over a few frequent and some rare lines, under ids that only careful tools
/// tell apart.
fn tiny() -> impl Strategy<Value = Vec<Doc>> {
    let line = prop_oneof![3 => 0..4, 1 => 4..30];
    let doc = vec(line.prop_map(|i: i32| format!("line {i}")), 0..12);
    let corpus = btree_map("[ab\t\\\\ é😀\u{7f}~-]{1,4}", doc, 0..14);
    corpus.prop_map(|docs| docs.iter().map(|(id, lines)| doc_of(id, &lines.join("\n"))).collect())
}

/// Arbitrary ids, and texts of arbitrary characters among which some words recur.
fn unruly() -> impl Strategy<Value = Vec<Doc>> {
    let word = prop_oneof![2 => "[a-c中文é]{1,2}", 1 => "\\PC{1,3}", 1 => any::<String>()];
    let text = vec(word, 0..10).prop_map(|words| words.join(" "));
    let corpus = btree_map("(?s).{1,6}", text, 0..10);
    corpus.prop_map(|docs| docs.iter().map(|(id, text)| doc_of(id, text)).collect())
}

fn doc_of(id: &str, text: &str) -> Doc {
    plain(id, &[text])
}

prop_compose! {
    fn case(engine: Engine)(
        variant in select(VARIANTS.to_vec()),
        tau in select([&TAUS[..], &ODD[..]].concat()),
        blocks in select(BLOCKS.to_vec()),
        threads in 1..=4usize,
        kind in select(KINDS.to_vec()),
        keep in select(vec![Keep::SmallestId, Keep::Longest]),
        similarity in select(SIMILARITIES.to_vec()),
    ) -> Case {
        // Where there are no posting lists the option is an error.
        let blocks = if variant.has_blocks() { blocks } else { Blocks::Default };
        Case { variant, tau, engine, blocks, threads, kind, keep, similarity, corpus: 0 }
    }
}

fn holds(docs: Vec<Doc>, features: &str, case: Case) -> Result<(), TestCaseError> {
    let subject = Subject::of_any_similarity(docs, features, "0");
    let expected = subject.expected_by(case.similarity, case.tau, case.kind, case.keep);
    let input = Input::new(&subject.docs);
    check(&input, &case.args(&subject.args), &expected, false).map_err(TestCaseError::fail)
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 200, ..Default::default() }
}

proptest! {
    #![proptest_config(config(48))]
    #[test]
    fn one_process_equals_the_oracle(docs in tiny(), case in case("local")) {
        holds(docs, "lines", case)?;
    }
}

proptest! {
    #![proptest_config(config(32))]
    #[test]
    fn arbitrary_text_equals_the_oracle(
        docs in unruly(),
        features in select(vec!["lines", "words:1", "words:2", "chars:3"]),
        case in case("local"),
    ) {
        holds(docs, features, case)?;
    }
}

proptest! {
    #![proptest_config(config(12))]
    #[test]
    fn pipes_equal_the_oracle(docs in tiny(), case in case("pipes")) {
        holds(docs, "lines", case)?;
    }
}
