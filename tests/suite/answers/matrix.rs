//! The matrix on random corpora: every way to find the pairs, every threshold, every similarity, both engines, one to four threads, both
//! kinds of cluster, and posting lists cut into runs of two, against the oracle, byte for byte: as many runs as it takes for
//! every two values to meet. `make test-long` runs the products.

use crate::common::corpora;
use crate::common::matrix::{Cover, Subject, Table, matrix};
use crate::common::oracle::SIMILARITIES;

/// A seed, a size and a vocabulary: the smaller the vocabulary, the more sets overlap.
const LOCAL: [(u64, usize, usize); 3] = [(101, 60, 24), (102, 100, 80), (103, 160, 600)];

/// The corpus of the runs as real processes, of which each takes about a second.
const PIPES: (u64, usize, usize) = (104, 80, 60);

fn random(name: &str, (seed, size, vocabulary): (u64, usize, usize), table: &Table) {
    let about = format!("corpora::random({seed}, {size}, {vocabulary})");
    let make = || Subject::of_any_similarity(corpora::random(seed, size, vocabulary), "lines", "0");
    let table = Table { similarities: &SIMILARITIES, ..*table };
    matrix(&format!("{name} {seed}"), &[(&about, &make)], &table);
}

/// Each corpus has other combinations.
#[test]
fn random_corpora_in_one_process() {
    for (at, corpus) in LOCAL.into_iter().enumerate() {
        let table = Table::whole(&["local"], Cover::Pairs { turn: 311 * at });
        random("random, local", corpus, &table);
    }
}

#[test]
#[ignore = "minutes; run by `make test-long`"]
fn random_corpora_in_one_process_whole() {
    for corpus in LOCAL {
        random("random, local, whole", corpus, &Table::whole(&["local"], Cover::Product));
    }
}

#[test]
fn a_random_corpus_through_pipes() {
    random("random, pipes", PIPES, &Table::whole(&["pipes"], Cover::Pairs { turn: 0 }));
}

#[test]
#[ignore = "half an hour; run by `make test-long`"]
fn a_random_corpus_through_pipes_whole() {
    random("random, pipes, whole", PIPES, &Table::whole(&["pipes"], Cover::Product));
}
