//! Queries against a collection: which documents are in a pair with which of some others, that are known beforehand (manku2007, section 4,
//! for fingerprints).
//!
//! What the front makes of the queries is a side file, past which what it makes of the documents streams: each task holds the queries as an
//! index. Nothing is shuffled, and documents are not compared with one another, so there are no clusters. The pairs are those that a
//! run over queries and documents together finds, where one of the two is a query and the other one a document.

use super::front::{BAD_RECORDS, SetFront, frequencies};
use super::output::Output;
use super::step::{Data, Guard, Part, Step};
use super::{Chain, Component, DOCUMENTS, IDF_TABLE, PAIRS, QUERIES, Wanted};
use crate::params::Params;
use crate::stages::queries;

/// The step that reads queries.
pub const OF_QUERIES: &str = "read-queries";

/// What the front makes of the queries.
pub(super) const HELD: Data = "held-queries";
const FINGERPRINTS: Data = "fingerprints";

/// The option and its values, for the families that have such a chain.
pub(super) const CHOICE: (&str, &[&str]) = (queries::QUERIES, &["", "queries"]);

/// Whether the options name queries.
pub(super) fn are_asked(params: &Params) -> bool {
    params.get(queries::QUERIES).is_some()
}

/// The chain of sets; `stage` is the one that holds the queries.
pub(super) fn of_sets(params: &Params, wanted: Wanted, stage: &'static str) -> Chain {
    let front = SetFront::of(params);
    let why = match stage {
        "lsh-queries" => {
            "Finds the queries that share the key of a band with it, and counts what they share: each task holds them."
        }
        _ => "Finds the queries that it is in a pair with: their sets are an index in each task.",
    };
    Chain {
        candidates: Box::new(PastQueries { stage, why, reads: front.sets() }),
        front: Box::new(BothSets(front)),
        check: Box::new(NoCheck),
        output: Output::of(params, wanted).of_pairs_alone(),
    }
}

/// The chain of fingerprints; `counts` is whether weights need document frequencies, which are those of the documents.
pub(super) fn of_fingerprints(params: &Params, wanted: Wanted, counts: bool) -> Chain {
    Chain {
        front: Box::new(BothFingerprints { counts }),
        candidates: Box::new(PastQueries {
            stage: "hamming-queries",
            why: "Finds the queries that are near it: their fingerprints are an index in each task.",
            reads: FINGERPRINTS,
        }),
        check: Box::new(NoCheck),
        output: Output::of(params, wanted).of_pairs_alone(),
    }
}

/// Queries and documents as sets.
#[derive(Debug)]
struct BothSets(SetFront);

impl Component for BothSets {
    fn parts(&self) -> Vec<Part> {
        self.0.beside_queries().into_iter().map(Part::Step).collect()
    }
}

/// Queries and documents as fingerprints.
#[derive(Debug)]
struct BothFingerprints {
    counts: bool,
}

impl Component for BothFingerprints {
    fn parts(&self) -> Vec<Part> {
        let queries = Step::map("simhash", "Turns each query into its fingerprint.", &[QUERIES], HELD);
        let queries = Step { name: OF_QUERIES, ..queries }.guarded(BAD_RECORDS);
        let documents =
            Step::map("simhash", "Turns each document into its fingerprint.", &[DOCUMENTS], FINGERPRINTS);
        let mut steps = Vec::new();
        if self.counts {
            steps.extend(frequencies());
            steps.extend([queries, documents].map(|step| step.beside("idf-table", IDF_TABLE)));
        } else {
            steps.extend([queries, documents.guarded(BAD_RECORDS)]);
        }
        steps.into_iter().map(Part::Step).collect()
    }
}

/// Each task holds the queries, and documents pass by.
#[derive(Debug)]
struct PastQueries {
    stage: &'static str,
    why: &'static str,
    reads: Data,
}

impl Component for PastQueries {
    fn parts(&self) -> Vec<Part> {
        let bound = Guard {
            counter: queries::PAIRS,
            option: "max-pairs",
            advice: "pairs of a query and a document; a higher --tau or a smaller --distance has fewer, or raise --max-pairs",
        };
        let find = Step::map(self.stage, self.why, &[self.reads], PAIRS);
        vec![Part::Step(find.beside(queries::QUERIES, HELD).guarded(bound))]
    }
}

/// None: what the index finds is a pair.
#[derive(Debug)]
struct NoCheck;

impl Component for NoCheck {
    fn parts(&self) -> Vec<Part> {
        Vec::new()
    }
}
