//! I-Match: documents that have the same features in an IDF range, or in one of several lexicons that leave out a part of them
//! (chowdhury2002; kolcz2004, our reading).
//!
//! Sets that are equal are joined by the front, as in every chain. Others meet under the key of a lexicon in which they are equal, as
//! documents of [MinHash](super::minhash) meet under that of a band, and are pairs: what they share is counted so that it can be shown,
//! and decides only where a tau is given.

use super::front::{self, SetFront};
use super::hubs::HubVerification;
use super::output::Output;
use super::step::{Data, Guard, Part, Step};
use super::term_split::{CANDIDATES, Verification};
use super::{Chain, Component, Family, MEMBERS, Wanted};
use crate::params::Params;

/// See the module.
pub const FAMILY: Family = Family {
    name: "i-match",
    about: "I-Match: documents with the same words in an IDF range, in one of several lexicons",
    // The least tau is reached by whatever has a feature in common.
    defaults: &[("features", "words:1"), ("idf", "0.2,0.85"), ("tau", "0.000000001")],
    ignored: &[],
    front: front::CHOICES,
    choices: &[],
    compose,
};

const LISTS: Data = "lexicon-lists";

fn compose(params: &Params, wanted: Wanted) -> Chain {
    let output = Output::of(params, wanted);
    let paired = !output.is_components_alone();
    let check: Box<dyn Component> =
        if paired { Box::new(Verification) } else { Box::new(HubVerification { pairs: pairs(), output }) };
    let candidates = Box::new(Lexicons { paired });
    Chain { front: Box::new(SetFront::of(params)), candidates, check, output }
}

/// The bound on candidates.
const MAX_PAIRS: Guard = Guard {
    counter: "pairs_of_postings",
    option: "max-pairs",
    advice: "pairs of documents with the same features in a lexicon; a lower --lexicon-drops has fewer, or raise --max-pairs",
};

/// The step that pairs the documents of keys.
fn pairs() -> Step {
    Step::map("lsh-candidates", "Pairs the documents of each key whose sizes fit.", &[LISTS], CANDIDATES)
        .guarded(MAX_PAIRS)
}

/// Candidates are the pairs of documents whose sets a lexicon makes equal.
#[derive(Debug)]
struct Lexicons {
    /// The documents of a key are paired here, and not by the check.
    paired: bool,
}

impl Component for Lexicons {
    fn parts(&self) -> Vec<Part> {
        let lists = Step::map_reduce(
            "i-match",
            "lsh-bands-reduce",
            "Makes a key of what each lexicon keeps of a set; sorted by key, then id, the documents of a key come in order of ids.",
            &[MEMBERS],
            LISTS,
        );
        // Where components alone are asked for, not each pair of a key is a candidate.
        let lists = if self.paired { lists.guarded(MAX_PAIRS) } else { lists };
        std::iter::once(lists).chain(self.paired.then(pairs)).map(Part::Step).collect()
    }
}
