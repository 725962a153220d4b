//! The matrix on random corpora: every way to find the pairs, every threshold, every similarity, both engines, one to four threads, both
//! kinds of cluster, and posting lists cut into runs of two, against the oracle, byte for byte: as many runs as it takes for
//! every two values to meet, the corpus being one of them. `make test-long` runs the products.

use crate::common::corpora;
use crate::common::matrix::{Cover, Make, Subject, Table, matrix};
use crate::common::oracle::SIMILARITIES;

/// A seed, a size and a vocabulary: the smaller the vocabulary, the more sets overlap.
type Random = (u64, usize, usize);

const CORPORA: [Random; 3] = [(101, 60, 24), (102, 100, 80), (103, 160, 600)];

/// The corpus of many runs as real processes, of which each takes half a second.
const PIPES: Random = (104, 80, 60);

fn about((seed, size, vocabulary): Random) -> String {
    format!("corpora::random({seed}, {size}, {vocabulary})")
}

fn subject((seed, size, vocabulary): Random) -> Subject {
    Subject::of_any_similarity(corpora::random(seed, size, vocabulary), "lines", "0")
}

#[test]
fn random_corpora() {
    let [first, second, third] = CORPORA.map(|corpus| move || subject(corpus));
    let makes: [Make; 3] = [&first, &second, &third];
    let abouts = CORPORA.map(about);
    let corpora: Vec<(&str, Make)> = abouts.iter().map(String::as_str).zip(makes).collect();
    let table = Table::whole(&["local", "pipes"], Cover::Pairs);
    matrix("random", &corpora, &Table { similarities: &SIMILARITIES, corpora: 3, ..table });
}

/// The product on one corpus.
fn product(corpus: Random, table: Table) {
    let table = Table { similarities: &SIMILARITIES, ..table };
    matrix("random, whole", &[(&about(corpus), &|| subject(corpus))], &table);
}

#[test]
#[ignore = "minutes; run by `make test-long`"]
fn random_corpora_in_one_process_whole() {
    for corpus in CORPORA {
        product(corpus, Table::whole(&["local"], Cover::Product));
    }
}

#[test]
#[ignore = "half an hour; run by `make test-long`"]
fn a_random_corpus_through_pipes_whole() {
    product(PIPES, Table::whole(&["pipes"], Cover::Product));
}
