//! Term-Split: posting lists by feature, pairs by counting what they share (zhang2011, section 2.3.1).

use super::front::{self, SetFront};
use super::output::Output;
use super::step::{Data, Guard, Part, Step};
use super::{Chain, Columnar, Component, Family, JOINED, MEMBERS, ORDER, Wanted};
use crate::params::Params;

/// See the module.
pub const FAMILY: Family = Family {
    name: "term-split",
    about: "Posting lists by feature, pairs by counting",
    defaults: &[],
    ignored: &[],
    front: front::CHOICES,
    choices: &[("pcp", &["plain", "prefix"])],
    compose,
};

const LISTS: Data = "posting-lists";
/// Pairs that [`Verification`] counts.
pub(super) const CANDIDATES: Data = "candidates";

fn compose(params: &Params, wanted: Wanted) -> Chain {
    let front = SetFront::of(params);
    if !params.is("pcp", "prefix") {
        let output = Output::of(params, wanted);
        let [candidates, check]: [Box<dyn Component>; 2] = [Box::new(PostingLists), Box::new(Counting)];
        return Chain { front: Box::new(front), candidates, check, output };
    }
    let front = front.ordered();
    let approximate = ["df-cut", "accumulators"].iter().any(|option| params.get(option).is_some());
    Chain {
        front: Box::new(front),
        candidates: Box::new(PrefixPostings { approximate }),
        check: Box::new(Verification),
        output: Output::of(params, wanted),
    }
}

fn index_term() -> Step {
    Step::map_reduce(
        "index-term",
        "index-term-reduce",
        "Builds posting lists; sorted by feature, then id, a list comes in order of ids.",
        &[MEMBERS],
        LISTS,
    )
}

/// Candidates are all pairs of postings.
#[derive(Debug)]
struct PostingLists;

impl Component for PostingLists {
    fn parts(&self) -> Vec<Part> {
        let guard = Guard {
            counter: "pairs_of_postings",
            option: "max-pairs",
            advice: "pairs of postings, the sum of df(df-1)/2, would be written by plain Term-Split; \
                     use doc-split, or --pcp prefix without --accumulators, or raise --max-pairs",
        };
        vec![Part::Step(index_term().guarded(guard))]
    }

    fn pairs_all_postings(&self) -> bool {
        true
    }
}

/// What two documents share is counted, a posting list at a time (lin2009).
#[derive(Debug)]
struct Counting;

impl Component for Counting {
    fn parts(&self) -> Vec<Part> {
        vec![Part::Step(Step::map_reduce(
            "pcp-map",
            "pcp-reduce",
            "Pairs the postings of each list; sorted by both ids, the parts of a pair's overlap meet.",
            &[LISTS],
            JOINED,
        ))]
    }
}

/// Candidates are the pairs of postings that pass the prefix filter.
#[derive(Debug)]
struct PrefixPostings {
    /// Lists are cut, as only stages do it.
    approximate: bool,
}

impl Component for PrefixPostings {
    fn parts(&self) -> Vec<Part> {
        let guard = Guard {
            counter: "pairs_of_postings",
            option: "max-pairs",
            advice: "candidates; a higher tau has fewer, doc-split has none, or raise --max-pairs",
        };
        let pcp =
            Step::map("pcp-map", "Pairs the postings that pass the prefix filter.", &[LISTS], CANDIDATES);
        [index_term().beside("order", ORDER), pcp.guarded(guard)].map(Part::Step).into()
    }

    fn columnar(&self) -> Option<Columnar> {
        (!self.approximate).then_some(Columnar::PrefixCandidates)
    }
}

/// What the two sets of a candidate share is counted, when both have been brought to it.
#[derive(Debug)]
pub(super) struct Verification;

impl Component for Verification {
    fn parts(&self) -> Vec<Part> {
        let left = Step::map_reduce(
            "verify-left",
            "verify-left-reduce",
            "Brings a candidate its first set; sorted by id, a set comes before the candidates that wait for it.",
            &[CANDIDATES, MEMBERS],
            "half-verified",
        );
        let right = Step::map_reduce(
            "verify-right",
            "verify-right-reduce",
            "Brings a candidate its second set and counts what the two share.",
            &["half-verified", MEMBERS],
            JOINED,
        );
        [left, right].map(Part::Step).into()
    }

    fn columnar(&self) -> Option<Columnar> {
        Some(Columnar::Overlaps)
    }
}
