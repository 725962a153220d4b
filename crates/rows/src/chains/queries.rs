//! Queries against a collection: which documents are in a pair with which of some others, that are known beforehand (manku2007, section 4,
//! for fingerprints).
//!
//! What the front makes of the queries is a side file, past which what it makes of the documents streams: each task holds the queries as an
//! index. Nothing is shuffled, and documents are not compared with one another, so there are no clusters. The pairs are those that a
//! run over queries and documents together finds, where one of the two is a query and the other one a document.

use super::front::{BAD_RECORDS, SetFront, frequencies};
use super::output::Output;
use super::step::{Data, Guard, Part, Step, Tasks};
use super::{Chain, Component, DOCUMENTS, IDF_TABLE, JOINED, PAIRS, QUERIES, Wanted};
use crate::params::Params;
use crate::stages::queries;

/// The step that reads queries.
pub const OF_QUERIES: &str = "read-queries";

/// What the front makes of the queries.
pub(super) const HELD: Data = "held-queries";
/// The same before it is cut into parts.
const WHOLE: Data = "all-queries";
const FINGERPRINTS: Data = "fingerprints";

/// The option and its values, for the families that have such a chain.
pub(super) const CHOICE: (&str, &[&str]) = (queries::QUERIES, &["", "queries"]);

/// Whether the options name queries.
pub(super) fn are_asked(params: &Params) -> bool {
    params.get(queries::QUERIES).is_some()
}

/// Whether the options ask for parts of the queries, which are held one after the other.
fn in_parts(params: &Params) -> bool {
    params.number(queries::PARTS) > 1
}

/// The steps, and one that cuts what is held into parts, where the options ask for these.
fn parted(mut steps: Vec<Step>, in_parts: bool) -> Vec<Part> {
    if in_parts {
        steps.iter_mut().filter(|step| step.output == HELD).for_each(|step| step.output = WHOLE);
        let cut = Step::reduce("query-parts", "Cuts the queries into parts, by their ids.", &[WHOLE], HELD);
        let behind = steps.iter().position(|step| step.output == WHOLE).map_or(0, |at| at + 1);
        steps.insert(behind, Step { tasks: Tasks::Option(queries::PARTS), ..cut });
    }
    steps.into_iter().map(Part::Step).collect()
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
        candidates: Box::new(PastQueries { stage, why, reads: front.sets(), in_parts: in_parts(params) }),
        front: Box::new(BothSets { front, in_parts: in_parts(params) }),
        check: Box::new(NoCheck),
        output: Output::of(params, wanted).of_pairs_alone(),
    }
}

/// The chain of fingerprints; `counts` is whether weights need document frequencies, which are those of the documents.
pub(super) fn of_fingerprints(params: &Params, wanted: Wanted, counts: bool) -> Chain {
    Chain {
        front: Box::new(BothFingerprints { counts, in_parts: in_parts(params) }),
        candidates: Box::new(PastQueries {
            stage: "hamming-queries",
            why: "Finds the queries that are near it: their fingerprints are an index in each task.",
            reads: FINGERPRINTS,
            in_parts: in_parts(params),
        }),
        check: Box::new(NoCheck),
        output: Output::of(params, wanted).of_pairs_alone(),
    }
}

/// Queries and documents as sets.
#[derive(Debug)]
struct BothSets {
    front: SetFront,
    in_parts: bool,
}

impl Component for BothSets {
    fn parts(&self) -> Vec<Part> {
        parted(self.front.beside_queries(), self.in_parts)
    }
}

/// Queries and documents as fingerprints.
#[derive(Debug)]
struct BothFingerprints {
    counts: bool,
    in_parts: bool,
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
        parted(steps, self.in_parts)
    }
}

/// Each task holds the queries, and documents pass by.
#[derive(Debug)]
struct PastQueries {
    stage: &'static str,
    why: &'static str,
    reads: Data,
    in_parts: bool,
}

impl Component for PastQueries {
    fn parts(&self) -> Vec<Part> {
        let bound = Guard {
            counter: queries::PAIRS,
            option: "max-pairs",
            advice: "pairs of a query and a document; a higher --tau or a smaller --distance has fewer, or raise --max-pairs",
        };
        let find = Step::map(self.stage, self.why, &[self.reads], PAIRS).guarded(bound);
        if !self.in_parts {
            return vec![Part::Step(find.beside(queries::QUERIES, HELD))];
        }
        let find = Step { tasks: Tasks::EachFile(queries::QUERIES, HELD), output: JOINED, ..find };
        let gather = Step::map(
            "gather-pairs",
            "Brings the pairs of all parts of the queries together: each part has left a folder of its own.",
            &[JOINED],
            PAIRS,
        );
        [find, gather].map(Part::Step).into()
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
