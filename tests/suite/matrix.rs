//! The matrix on random corpora: every way to find the pairs, every threshold (pipes: five), both engines, one to
//! four threads, both kinds of cluster, and every run again with posting lists cut into runs of two,
//! against the oracle, byte for byte.

use crate::common::corpora;
use crate::common::matrix::{FEW_TAUS, Rest, Subject, Table, matrix};

/// A seed, a size and a vocabulary: the smaller the vocabulary, the more sets overlap.
const LOCAL: [(u64, usize, usize); 3] = [(101, 60, 24), (102, 100, 80), (103, 160, 600)];

/// The corpus of the runs as real processes, of which each takes about a second.
const PIPES: (u64, usize, usize) = (104, 80, 60);

fn random(name: &str, (seed, size, vocabulary): (u64, usize, usize), table: &Table) {
    let subject = Subject::new(corpora::random(seed, size, vocabulary), "lines", "0.1");
    let about = format!("corpora::random({seed}, {size}, {vocabulary})");
    matrix(&format!("{name} {seed}"), &about, &subject, table);
}

/// 8 variants x 13 taus x 2 settings of posting blocks x 4 numbers of threads x 2 kinds: 1,664; and on other corpora
/// with threads and kinds in turn: 208 each.
#[test]
fn random_corpora_in_one_process() {
    for (at, corpus) in LOCAL.into_iter().enumerate() {
        let rest = if at == 0 { Rest::All } else { Rest::InTurn };
        random("random, local", corpus, &Table::whole(&["local"], rest));
    }
}

/// The whole product on the others too: 1,664 each.
#[test]
#[ignore = "minutes; run by `make test-long`"]
fn random_corpora_in_one_process_whole() {
    for corpus in &LOCAL[1..] {
        random("random, local, whole", *corpus, &Table::whole(&["local"], Rest::All));
    }
}

/// 8 variants x 5 taus x 2 settings of posting blocks, threads and kinds in turn: 80.
#[test]
fn a_random_corpus_through_pipes() {
    random("random, pipes", PIPES, &Table { taus: &FEW_TAUS, ..Table::whole(&["pipes"], Rest::InTurn) });
}

/// The whole product of the same as processes: 1,664.
#[test]
#[ignore = "half an hour; run by `make test-long`"]
fn a_random_corpus_through_pipes_whole() {
    random("random, pipes, whole", PIPES, &Table::whole(&["pipes"], Rest::All));
}
