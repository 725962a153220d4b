//! SimHash: documents as fingerprints of 64 or 128 bits, pairs by their Hamming distance (charikar2002, manku2007).
//!
//! Equal fingerprints collapse first. Candidates meet in tables: [`crate::sketch::tables`] says which.

use super::front::{BAD_RECORDS, frequencies};
use super::output::Output;
use super::step::{Data, Part, Step};
use super::{Chain, Component, DOCUMENTS, Family, IDF_TABLE, JOINED, MEMBERS, Wanted};
use crate::params::Params;
use crate::stages::keep_field::KeepField;
use crate::stages::meta::META;

/// See the module.
pub const FAMILY: Family = Family {
    name: "simhash",
    about: "SimHash fingerprints, pairs by Hamming distance: APPROXIMATE, for a few bytes a document",
    defaults: &[],
    front: &[("keep", &["first", "newest"])],
    choices: &[("weights", &["tf", "tf-idf"])],
    compose,
};

const FINGERPRINTS: Data = "fingerprints";
const PLAN: Data = "tables";
const BLOCKS: Data = "fingerprint-blocks";

fn compose(params: &Params, wanted: Wanted) -> Chain {
    let front = Fingerprints {
        counts: ["tf-idf", "levels"].iter().any(|weights| params.is("weights", weights))
            && !params.is("weights-idf", "jieba")
            && params.get("idf-table").is_none(),
        field: params.get("keep").and_then(KeepField::named),
    };
    Chain {
        front: Box::new(front),
        candidates: Box::new(ByTables),
        check: Box::new(Distance),
        output: Output::of(params, wanted),
    }
}

/// Documents as fingerprints, in groups of equal ones.
#[derive(Debug)]
struct Fingerprints {
    /// Weights need document frequencies, which are counted.
    counts: bool,
    /// The field of documents that the keep rule looks at.
    field: Option<KeepField>,
}

impl Component for Fingerprints {
    fn parts(&self) -> Vec<Part> {
        let simhash = Step::map(
            "simhash",
            "Turns each document into its fingerprint, and takes what the keep rule needs.",
            &[DOCUMENTS],
            FINGERPRINTS,
        );
        let simhash = Step { field: self.field, ..simhash.setting(META) };
        let mut steps = Vec::new();
        if self.counts {
            steps.extend(frequencies());
            steps.push(simhash.beside("idf-table", IDF_TABLE));
        } else {
            steps.push(simhash.guarded(BAD_RECORDS));
        }
        steps.push(Step::map_reduce(
            "equal-fingerprints",
            "equal-fingerprints-reduce",
            "Joins equal fingerprints once; sorted by fingerprint, then id, the smallest id of a group comes first, and two documents with one id meet and are named.",
            &[FINGERPRINTS],
            MEMBERS,
        ));
        steps.into_iter().map(Part::Step).collect()
    }
}

/// Those that agree in some of their bits.
#[derive(Debug)]
struct ByTables;

impl Component for ByTables {
    fn parts(&self) -> Vec<Part> {
        let plan = Step::map_reduce(
            "hamming-count",
            "hamming-plan",
            "Counts fingerprints and chooses the tables in which they meet.",
            &[MEMBERS],
            PLAN,
        );
        let index = Step::map_reduce(
            "hamming-index",
            "hamming-index-reduce",
            "Writes fingerprints into tables; sorted by table and key, those that may be near come together.",
            &[MEMBERS],
            BLOCKS,
        );
        [plan.one_task(), index.beside("tables", PLAN)].map(Part::Step).into()
    }
}

/// The bits in which two fingerprints differ, counted.
#[derive(Debug)]
struct Distance;

impl Component for Distance {
    fn parts(&self) -> Vec<Part> {
        vec![Part::Step(Step::map(
            "hamming-pairs",
            "Compares the fingerprints of each key, two blocks at a time; a pair counts in the first table where it meets.",
            &[BLOCKS],
            JOINED,
        ))]
    }
}
