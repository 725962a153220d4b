//! Term-Split: posting lists by feature, pairs by counting what they share (zhang2011, section 2.3.1).

use super::front::{self, Ordered, SetFront};
use super::hubs::HubVerification;
use super::output::Output;
use super::step::{Data, Guard, Part, Step};
use super::{Chain, Columnar, Component, Family, JOINED, MEMBERS, ORDER, Wanted, queries};
use crate::params::Params;

/// See the module.
pub const FAMILY: Family = Family {
    name: "term-split",
    about: "Posting lists by feature, pairs by counting",
    defaults: &[],
    ignored: &[],
    front: front::CHOICES,
    choices: &[("pcp", &["plain", "prefix"]), queries::CHOICE],
    compose,
};

const LISTS: Data = "posting-lists";
/// Pairs that [`Verification`] counts.
pub(super) const CANDIDATES: Data = "candidates";

fn compose(params: &Params, wanted: Wanted) -> Chain {
    if queries::are_asked(params) {
        return queries::of_sets(params, wanted, "set-queries");
    }
    let front = SetFront::of(params);
    if !params.is("pcp", "prefix") {
        let output = Output::of(params, wanted);
        let [candidates, check]: [Box<dyn Component>; 2] = [Box::new(PostingLists), Box::new(Counting)];
        return Chain { front: Box::new(front), candidates, check, output };
    }
    let approximate = ["df-cut", "accumulators"].iter().any(|option| params.get(option).is_some());
    // Any order gives the same pairs, but of lists that are cut it decides what stands in them.
    let front = front.ordered(if approximate { Ordered::ByCounts } else { Ordered::BySample });
    let output = Output::of(params, wanted);
    // Of lists that are cut not each two similar sets are a pair.
    let output = if approximate { output } else { output.of_similar_sets() };
    let paired = !output.is_components_alone();
    let check: Box<dyn Component> = match paired {
        true => Box::new(Verification),
        false => Box::new(HubVerification { pairs: prefix_pairs(), output }),
    };
    Chain {
        front: Box::new(front),
        candidates: Box::new(PrefixPostings { approximate, paired }),
        check,
        output,
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
    /// Lists are paired here, and not by the check.
    paired: bool,
}

/// The step that pairs the postings of lists.
fn prefix_pairs() -> Step {
    let guard = Guard {
        counter: "pairs_of_postings",
        option: "max-pairs",
        advice: "candidates; a higher tau has fewer, doc-split has none, or raise --max-pairs",
    };
    Step::map("pcp-map", "Pairs the postings that pass the prefix filter.", &[LISTS], CANDIDATES)
        .guarded(guard)
}

impl Component for PrefixPostings {
    fn parts(&self) -> Vec<Part> {
        let index = index_term().beside("order", ORDER);
        std::iter::once(index).chain(self.paired.then(prefix_pairs)).map(Part::Step).collect()
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
        verify(CANDIDATES, JOINED).map(Part::Step).into()
    }

    fn columnar(&self) -> Option<Columnar> {
        Some(Columnar::Overlaps)
    }
}

/// The steps that bring candidates their sets, and make pairs of those that are similar.
pub(super) fn verify(candidates: Data, to: Data) -> [Step; 2] {
    [
        Step::map_reduce(
            "verify-left",
            "verify-left-reduce",
            "Brings a candidate its first set; sorted by id, a set comes before the candidates that wait for it.",
            &[candidates, MEMBERS],
            "half-verified",
        ),
        Step::map_reduce(
            "verify-right",
            "verify-right-reduce",
            "Brings a candidate its second set and counts what the two share.",
            &["half-verified", MEMBERS],
            to,
        ),
    ]
}
