//! Doc-Split: slices of the documents, each of them queried by all (zhang2011, section 2.3.2).

use super::front::{self, SetFront};
use super::output::Output;
use super::step::{Data, Part, Step, Tasks};
use super::{Chain, Columnar, Component, Family, JOINED, MEMBERS, Wanted, queries};
use crate::params::Params;

/// See the module.
pub const FAMILY: Family = Family {
    name: "doc-split",
    about: "Slices of documents, each queried by all",
    defaults: &[],
    ignored: &[],
    front: front::CHOICES,
    choices: &[("partition", &["by-size", "by-task"]), queries::CHOICE],
    compose,
};

const SLICES: Data = "slices";
const PLAN: Data = "plan";

fn compose(params: &Params, wanted: Wanted) -> Chain {
    if queries::are_asked(params) {
        return queries::of_sets(params, wanted, "set-queries");
    }
    let front = SetFront::of(params);
    let output = Output::of(params, wanted).of_similar_sets();
    Chain {
        front: Box::new(front),
        candidates: Box::new(Slices::of(params)),
        check: Box::new(SliceQueries { output }),
        output,
    }
}

/// Slices of the collection, to be held in memory.
#[derive(Debug)]
pub(super) struct Slices {
    /// Each mapper's share of the documents is a slice, which is the form of zhang2011.
    by_task: bool,
}

impl Slices {
    /// What the options make of them.
    pub(super) fn of(params: &Params) -> Self {
        Self { by_task: params.is("partition", "by-task") }
    }
}

impl Component for Slices {
    fn parts(&self) -> Vec<Part> {
        if self.by_task {
            let index = Step::map("index-doc", "Makes a slice of each task's documents.", &[MEMBERS], SLICES);
            return vec![Part::Step(Step { tasks: Tasks::Option("slices"), ..index })];
        }
        let plan = Step::map_reduce(
            "size-count",
            "slice-plan",
            "Counts the sets of each size and cuts the sizes into slices of about equal cost; sizes have a fixed width, so bytes sort them as numbers.",
            &[MEMBERS],
            PLAN,
        );
        let index = Step::map_reduce(
            "index-doc",
            "index-doc-reduce",
            "Sends each set to its slice; sorted by slice, then size, then id.",
            &[MEMBERS],
            SLICES,
        );
        let index = Step { tasks: Tasks::Slices(PLAN), ..index.beside("plan", PLAN) };
        [plan.one_task(), index].map(Part::Step).into()
    }

    fn columnar(&self) -> Option<Columnar> {
        Some(Columnar::IndexShards)
    }
}

/// Every set is held against the index of each slice, which finds pairs with what they share.
#[derive(Debug)]
pub(super) struct SliceQueries {
    /// What is made of the pairs.
    pub output: Output,
}

impl Component for SliceQueries {
    fn parts(&self) -> Vec<Part> {
        let query = Step::map(
            "docsplit-query",
            "Streams all sets past each slice, which is held in memory.",
            &[MEMBERS],
            JOINED,
        );
        vec![Part::Step(Step { tasks: Tasks::EachFile("index", SLICES), ..self.output.connecting(query) })]
    }

    fn columnar(&self) -> Option<Columnar> {
        Some(Columnar::Overlaps)
    }
}
