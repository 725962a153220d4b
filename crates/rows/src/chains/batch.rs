//! SimHash of a batch: which documents are near which of some queries, that are known beforehand (manku2007, section 4).
//!
//! The fingerprints of the queries are a side file, past which those of the documents stream. Nothing is shuffled, and documents are
//! not compared with one another, so there are no clusters.

use super::front::{BAD_RECORDS, frequencies};
use super::output::Output;
use super::step::{Data, Guard, Part, Step};
use super::{Chain, Component, DOCUMENTS, IDF_TABLE, PAIRS, QUERIES, Wanted};
use crate::params::Params;

/// The step that reads queries.
pub const OF_QUERIES: &str = "simhash-queries";

const OF_BATCH: Data = "query-fingerprints";
const FINGERPRINTS: Data = "fingerprints";

/// The chain; `counts` is whether weights need document frequencies, which are those of the documents.
pub(super) fn chain(params: &Params, wanted: Wanted, counts: bool) -> Chain {
    Chain {
        front: Box::new(BothFingerprints { counts }),
        candidates: Box::new(ByIndexOfQueries),
        check: Box::new(NoCheck),
        output: Output::of(params, wanted).of_pairs_alone(),
    }
}

/// Queries and documents as fingerprints.
#[derive(Debug)]
struct BothFingerprints {
    counts: bool,
}

impl Component for BothFingerprints {
    fn parts(&self) -> Vec<Part> {
        let queries =
            Step::map("simhash", "Turns each query of the batch into its fingerprint.", &[QUERIES], OF_BATCH);
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

/// Each task holds the queries.
#[derive(Debug)]
struct ByIndexOfQueries;

impl Component for ByIndexOfQueries {
    fn parts(&self) -> Vec<Part> {
        let bound = Guard {
            counter: crate::stages::hamming_batch::PAIRS,
            option: "max-pairs",
            advice: "pairs of a query and a document; a smaller --distance has fewer, or raise --max-pairs",
        };
        let near = Step::map(
            "hamming-batch",
            "Finds the queries that are near it: their fingerprints are an index in each task.",
            &[FINGERPRINTS],
            PAIRS,
        );
        vec![Part::Step(near.beside("batch", OF_BATCH).guarded(bound))]
    }
}

/// None: what the index finds is near.
#[derive(Debug)]
struct NoCheck;

impl Component for NoCheck {
    fn parts(&self) -> Vec<Part> {
        Vec::new()
    }
}
