//! SimHash: documents as fingerprints of 64 or 128 bits, pairs by their Hamming distance (charikar2002, manku2007).
//!
//! Equal fingerprints collapse first. Candidates meet in tables: [`twinsplit_core::sketch::tables`] says which. With queries the
//! chain is another one: [`super::queries`].

use super::front::{BAD_RECORDS, frequencies};
use super::output::Output;
use super::step::{Data, Part, Step};
use super::{Chain, Columnar, Component, DOCUMENTS, Family, IDF_TABLE, JOINED, MEMBERS, Wanted, queries};
use crate::params::Params;
use crate::stages::keep_field::KeepField;
use crate::stages::meta::META;
use crate::stages::signature_check::CheckOpts;
use crate::stages::simhash::FingerprintOpts;

/// See the module.
pub const FAMILY: Family = Family {
    name: "simhash",
    about: "SimHash fingerprints, pairs by Hamming distance: APPROXIMATE, for a few bytes a document",
    defaults: &[],
    // Those of the stages that it shares with chains of sets.
    ignored: &["similarity", "tau", "counts"],
    front: &[("keep", &["first", "newest"])],
    choices: &[("weights", &["tf", "tf-idf"]), ("check", &["", "jaccard:0.5"]), queries::CHOICE],
    compose,
};

const FINGERPRINTS: Data = "fingerprints";
const PLAN: Data = "tables";
const BLOCKS: Data = "fingerprint-blocks";
const NEAR: Data = "near-pairs";
const CONTENTS: Data = "text-contents";
const HALF: Data = "half-compared";

fn compose(params: &Params, wanted: Wanted) -> Chain {
    let opts: Option<FingerprintOpts> = params.parse().ok();
    let counts = opts.as_ref().is_some_and(FingerprintOpts::counts);
    if queries::are_asked(params) {
        return queries::of_fingerprints(params, wanted, counts);
    }
    let front = Fingerprints { counts, field: params.get("keep").and_then(KeepField::named) };
    let texts = compares_texts(params);
    let output = Output::of(params, wanted).of_fingerprints(texts);
    Chain {
        front: Box::new(front),
        candidates: Box::new(ByTables { in_memory: opts.is_some_and(|opts| opts.join_in_memory()) }),
        check: Box::new(Distance { texts, output }),
        output,
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

    fn columnar(&self) -> Option<Columnar> {
        (!self.counts).then_some(Columnar::Fingerprints)
    }
}

/// Those that agree in some of their bits.
#[derive(Debug)]
struct ByTables {
    /// One process can join them.
    in_memory: bool,
}

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

    fn columnar(&self) -> Option<Columnar> {
        self.in_memory.then_some(Columnar::EqualBits)
    }
}

/// The bits in which two fingerprints differ, counted; then how alike the texts are, where that is asked for.
#[derive(Debug)]
struct Distance {
    texts: bool,
    /// What is made of the pairs.
    output: Output,
}

/// Whether the check is one of texts.
fn compares_texts(params: &Params) -> bool {
    params.parse().is_ok_and(|check: CheckOpts| check.texts().is_some())
}

impl Component for Distance {
    fn parts(&self) -> Vec<Part> {
        let near = Step::map(
            "hamming-pairs",
            "Compares the fingerprints of each key, two blocks at a time; a pair counts in the first table where it meets.",
            &[BLOCKS],
            if self.texts { NEAR } else { JOINED },
        );
        if !self.texts {
            return vec![Part::Step(self.output.connecting(near))];
        }
        let content = Step::map(
            "text-content",
            "Takes from each document what is compared of its text.",
            &[DOCUMENTS],
            CONTENTS,
        );
        let left = Step::reduce(
            "text-left",
            "Brings a pair the content of its first document; sorted by id, a content comes before the pairs that wait for it.",
            &[NEAR, CONTENTS],
            HALF,
        );
        let right = Step::reduce(
            "text-right",
            "Brings a pair the content of its second document and compares the two.",
            &[HALF, CONTENTS],
            JOINED,
        );
        [near, content, left, right].map(Part::Step).into()
    }

    fn columnar(&self) -> Option<Columnar> {
        (!self.texts).then_some(Columnar::Distances)
    }
}
