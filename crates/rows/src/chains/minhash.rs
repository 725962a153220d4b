//! MinHash: documents whose signatures agree in a band are candidates, and are checked (broder1997; leskovec2020, section 3.4).
//!
//! Signatures of similar sets are similar, and a band of one is a key under which they meet: no pair of documents is looked
//! at that shares no key. With Jaccard similarity J that happens with probability 1 - (1 - J^rows)^bands, so pairs are
//! lost, few where J is high. What passes is no guess: by default a candidate's sets are compared, as those of Term-Split are.

use super::front::{self, SetFront};
use super::hubs::HubVerification;
use super::output::Output;
use super::step::{Data, Guard, Part, Step};
use super::term_split::{CANDIDATES, Verification};
use super::{Chain, Columnar, Component, Family, JOINED, MEMBERS, Wanted, queries};
use crate::params::Params;

/// See the module.
pub const FAMILY: Family = Family {
    name: "minhash",
    about: "APPROXIMATE: documents whose MinHash signatures agree in a band, checked exactly",
    defaults: &[],
    ignored: &[],
    front: front::CHOICES,
    choices: &[("check", &["exact", "signature"]), ("bloom", &["", "1"]), queries::CHOICE],
    compose,
};

const SIGNATURES: Data = "signatures";
const LISTS: Data = "band-lists";
const FILTER: Data = "repeated-keys";

fn compose(params: &Params, wanted: Wanted) -> Chain {
    if queries::are_asked(params) {
        return queries::of_sets(params, wanted, "lsh-queries");
    }
    let front = SetFront::of(params);
    let exact = params.get("check").is_none_or(|check| check == "exact");
    let output = Output::of(params, wanted);
    let output = if exact { output.of_sets_with_common_bands() } else { output };
    let paired = !exact || !output.is_components_alone();
    let check: Box<dyn Component> = match (exact, paired) {
        (false, _) => Box::new(Signatures),
        (true, true) => Box::new(Verification),
        (true, false) => Box::new(HubVerification { pairs: pairs(), output }),
    };
    let bloom = params.get("bloom").is_some();
    let candidates = Box::new(SignatureBands { filtered: front.filters(), bloom, paired });
    Chain { front: Box::new(front), candidates, check, output }
}

/// Candidates are the pairs of documents that share the key of a band.
#[derive(Debug)]
struct SignatureBands {
    /// Signatures are of sets that have lost features, which is not known while documents are read.
    filtered: bool,
    /// Keys that one document has are not shuffled.
    bloom: bool,
    /// The documents of a key are paired here, and not by the check.
    paired: bool,
}

/// The bound on candidates.
const MAX_PAIRS: Guard = Guard {
    counter: "pairs_of_postings",
    option: "max-pairs",
    advice: "pairs of documents with a common key; more --rows have fewer, or raise --max-pairs",
};

/// The step that pairs the documents of keys.
fn pairs() -> Step {
    Step::map("lsh-candidates", "Pairs the documents of each key whose sizes fit.", &[LISTS], CANDIDATES)
        .guarded(MAX_PAIRS)
}

impl Component for SignatureBands {
    fn parts(&self) -> Vec<Part> {
        let sign = Step::map("minhash", "Makes a signature of each set.", &[MEMBERS], SIGNATURES);
        let bands = Step::map_reduce(
            "lsh-bands",
            "lsh-bands-reduce",
            "Makes a key of each band; sorted by key, then id, the documents of a key come in order of ids.",
            &[SIGNATURES],
            LISTS,
        );
        let mut steps = vec![sign];
        // Where components alone are asked for, not each pair of a key is a candidate.
        let mut bands = if self.paired { bands.guarded(MAX_PAIRS) } else { bands };
        if self.bloom {
            let filter = Step::map_reduce(
                "band-filter",
                "band-filter-reduce",
                "Finds out which keys more than one document has; sorted by its parts, the filters of all tasks add up.",
                &[SIGNATURES],
                FILTER,
            );
            steps.push(filter.one_task());
            bands = bands.beside("band-filter", FILTER);
        }
        steps.push(bands);
        steps.extend(self.paired.then(pairs));
        steps.into_iter().map(Part::Step).collect()
    }

    fn columnar(&self) -> Option<Columnar> {
        (!self.filtered).then_some(Columnar::Bands)
    }
}

/// A candidate is judged by its two signatures, when both have been brought to it.
#[derive(Debug)]
struct Signatures;

impl Component for Signatures {
    fn parts(&self) -> Vec<Part> {
        let left = Step::map_reduce(
            "match-left",
            "match-left-reduce",
            "Brings a candidate its first signature; sorted by id, a signature comes before the candidates that wait for it.",
            &[CANDIDATES, SIGNATURES],
            "half-matched",
        );
        let right = Step::map_reduce(
            "match-right",
            "match-right-reduce",
            "Brings a candidate its second signature and estimates how similar the two are.",
            &["half-matched", SIGNATURES],
            JOINED,
        );
        [left, right].map(Part::Step).into()
    }
}
