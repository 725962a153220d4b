//! Candidates of lists and their check where components alone are asked for: where many pairs share a key, most of them are left out.
//!
//! See [`crate::stages::list_pairs`] for why the components stay. It takes three jobs more, which is nothing beside many pairs, and much
//! beside few: a [`Choice`].

use super::output::Output;
use super::step::{Choice, Counted, Data, Part, Step};
use super::term_split::{CANDIDATES, verify};
use super::{Columnar, Component, JOINED, fuse};
use crate::stages::list_pairs::{CONNECTED, HUBS};

const HUB_CANDIDATES: Data = "hub-candidates";
const HUB_PAIRS: Data = "hub-pairs";
const HUB_FOREST: Data = "hub-forest";

/// Candidates are paired and verified here, by hubs where there are many.
#[derive(Debug)]
pub(super) struct HubVerification {
    /// What makes candidates of the lists that it reads.
    pub pairs: Step,
    /// What is made of the pairs.
    pub output: Output,
}

impl HubVerification {
    /// All candidates, verified.
    fn all(&self) -> Vec<Part> {
        let [left, right] = verify(CANDIDATES, JOINED);
        [self.pairs.clone(), left, self.output.connecting(right)].map(Part::Step).into()
    }

    /// Those with hubs, and then those that are not connected by these.
    fn by_hubs(&self) -> Vec<Part> {
        let pairs = Step {
            name: "hub-candidates",
            why: "Pairs the documents of each key with the first of them, and with the one before.".into(),
            output: HUB_CANDIDATES,
            ..self.pairs.clone().setting(HUBS)
        };
        let [left, right] = verify(HUB_CANDIDATES, HUB_PAIRS);
        let left = Step { name: "hub-left", output: "half-verified-hubs", ..left };
        let inputs = [&[left.output], &right.inputs[1..]].concat();
        let right = self.output.connecting(Step { name: "hub-right", inputs, ..right });
        let forest = Step::map_reduce(
            "large-star",
            "large-star-reduce",
            "Gathers what these pairs connect, which all tasks that pair documents know.",
            &[HUB_PAIRS],
            HUB_FOREST,
        );
        let forest = Step { name: "hub-forest", ..forest.one_task() };
        let mut parts: Vec<Part> = [pairs, left, right, forest].map(Part::Step).into();
        let others = Self { pairs: self.pairs.clone().beside(CONNECTED, HUB_FOREST), output: self.output };
        parts.extend(others.all());
        parts
    }
}

impl Component for HubVerification {
    fn parts(&self) -> Vec<Part> {
        let [few, many] = [self.all(), self.by_hubs()].map(|parts| {
            let [parts] = fuse::fused([parts], &[JOINED]);
            parts
        });
        let counts = self.pairs.inputs.iter().map(|lists| (*lists, Counted::Counter("pairs_of_postings")));
        vec![Part::Choice(Choice {
            name: "candidates",
            why: "Where many pairs of documents share a key, those that are connected already are no candidates.",
            counts: counts.collect(),
            option: "graph",
            few,
            many,
        })]
    }

    fn columnar(&self) -> Option<Columnar> {
        Some(Columnar::Overlaps)
    }
}
