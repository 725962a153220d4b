//! How the stages join: a chain is a front, candidates, a check and an output, each of them a list of steps over named
//! data sets.
//!
//! | component | what it does | of sets |
//! |---|---|---|
//! | front | documents become what is compared | [`front`]: features, IDF range, groups of equal sets |
//! | candidates | which two of them may be similar | posting lists ([`term_split`]), slices ([`doc_split`]), bands ([`minhash`]), lexicons ([`i_match`]) |
//! | check | which of them are | the exact overlap, or an estimate |
//! | output | what is written | [`output`]: pairs of documents, clusters, kept documents |
//!
//! Of fingerprints ([`simhash`]) the front makes fingerprints, which are candidates where some of their bits agree, and the check
//! counts the bits in which they differ. The output is the same.
//!
//! With [queries] a chain finds the pairs of a query and a document, and writes these alone.
//!
//! A [family](Family) puts them together, in a file of its own; [`FAMILIES`] names all of them. A step reads data sets, runs
//! a mapper, a reducer or both, and writes one data set. Engines take the steps as they are, and know nothing of chains. Read
//! a family's file from top to bottom: it is section 4 of zhang2011. A component may also say what does its steps in one
//! process, on [columns of numbers](Columnar).
//!
//! One thing takes more than a list of steps: the connected components of a graph that no task holds. They come of
//! a [`Repeat`], whose steps are run in rounds. Whether a task may hold it is known when its edges are counted: a [`Choice`](step::Choice).
//!
//! A component declares its steps as they are thought of. Those that need no job of their own get none: [`fuse`].

mod ccdet;
mod doc_split;
mod front;
mod fuse;
mod hubs;
mod i_match;
mod minhash;
mod output;
mod queries;
mod simhash;
mod step;
mod term_split;
#[cfg(test)]
mod tests;

use crate::params::Params;
pub use front::{IDF_TABLE, idf_table, sets_of_documents};
pub use output::Output;
pub use queries::OF_QUERIES;
use std::fmt;
pub use step::{CountedOption, Data, Guard, Names, Part, Repeat, Step, Tasks};

/// The input documents of a chain.
pub const DOCUMENTS: Data = "documents";
/// The queries: documents whose pairs with those of the input are looked for. The option that names them has the same name.
pub const QUERIES: Data = crate::stages::queries::QUERIES;
/// The pairs of documents.
pub const PAIRS: Data = "pairs";
/// The clusters.
pub const CLUSTERS: Data = "clusters";
/// The kept documents' lines.
pub const KEPT: Data = "kept";
/// The documents by which bands are chosen.
pub const SAMPLE: Data = "sample";
/// Different sets, the documents that have the set of another one, and what the keep rule needs of each document.
const MEMBERS: Data = "members";
/// Features by document frequency.
const ORDER: Data = "order";
/// Pairs of different sets.
const JOINED: Data = "joined-pairs";

/// Options that decide steps, each with a value for every way of them; an empty one stands for none.
type Choices = &'static [(&'static str, &'static [&'static str])];

/// A family of chains: what it is called, and how the options put it together.
pub struct Family {
    /// Its name on the command line.
    pub name: &'static str,
    /// How it finds pairs.
    pub about: &'static str,
    /// Its values of options that are not given.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Options of its stages that say nothing to its chains.
    pub ignored: &'static [&'static str],
    /// Options that decide the steps of its front.
    front: Choices,
    /// Options of its own that decide its steps.
    choices: Choices,
    compose: fn(&Params, Wanted) -> Chain,
}

/// All families; the first one is taken when none is named.
pub static FAMILIES: [&Family; 6] = [
    &doc_split::FAMILY,
    &term_split::FAMILY,
    &ccdet::FAMILY,
    &minhash::FAMILY,
    &simhash::FAMILY,
    &i_match::FAMILY,
];

/// What is wanted of a chain beside what its options say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// The kept documents' lines.
    pub kept: bool,
    /// A graph that is too large for one task becomes clusters in rounds of many tasks.
    pub rounds: bool,
}

impl Family {
    /// The family of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FAMILIES.into_iter().find(|family| family.name == name)
    }

    /// Whether its pairs are of fingerprints, and have distances instead of shared features.
    pub fn compares_fingerprints(&self) -> bool {
        let ways = self.chain(&Params::default(), Wanted::default()).columnar();
        ways.is_some_and(|[front, ..]| front == Columnar::Fingerprints)
    }

    /// The chain that the options make.
    pub fn chain(&self, params: &Params, wanted: Wanted) -> Chain {
        (self.compose)(params, wanted)
    }

    /// The options that decide its steps, each with a value for every way of them; an empty one stands for none.
    pub fn choices(&self) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
        self.front.iter().chain(&output::CHOICES).chain(self.choices).copied()
    }

    /// A chain for every combination of what decides its steps, with its options.
    pub fn every_chain(&self) -> Vec<(Params, Chain)> {
        let mut all = vec![Params::default()];
        for (name, values) in self.choices() {
            let with = |params: &Params| {
                let with = |value: &&str| match *value {
                    "" => params.clone(),
                    value => params.clone().with(name, value),
                };
                values.iter().map(with).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).collect();
        }
        let wanted = [(false, false), (false, true), (true, false), (true, true)];
        let wanted = wanted.map(|(kept, rounds)| Wanted { kept, rounds });
        let chains = |params: &Params| wanted.map(|wanted| (params.clone(), self.chain(params, wanted)));
        all.iter().flat_map(chains).collect()
    }

    /// The steps of all its chains, as the components have them: which of them share a job changes no stage.
    pub fn steps(&self) -> Vec<Step> {
        let parts = |(_, chain): (Params, Chain)| chain.components().map(Component::parts);
        let parts = self.every_chain().into_iter().flat_map(parts).flatten();
        parts.flat_map(|part| part.steps().into_iter().cloned().collect::<Vec<_>>()).collect()
    }
}

/// What all documents go through, from text to output.
#[derive(Debug)]
pub struct Chain {
    /// Documents become what is compared.
    pub front: Box<dyn Component>,
    /// Which two of them may be similar.
    pub candidates: Box<dyn Component>,
    /// Which of the candidates are.
    pub check: Box<dyn Component>,
    /// What is written.
    pub output: Output,
}

impl Chain {
    /// Its components, in their order.
    pub fn components(&self) -> [&dyn Component; 4] {
        [&*self.front, &*self.candidates, &*self.check, &self.output]
    }

    /// The parts of each component, as they are run: those that can share a job do so.
    pub fn parts_of_components(&self) -> [Vec<Part>; 4] {
        fuse::fused(self.components().map(Component::parts), &self.output.data())
    }

    /// The parts of all components.
    pub fn parts(&self) -> Vec<Part> {
        self.parts_of_components().into_iter().flatten().collect()
    }

    /// The steps of all parts, those of rounds once.
    pub fn steps(&self) -> Vec<Step> {
        self.parts().iter().flat_map(Part::steps).cloned().collect()
    }

    /// What does the components' steps in one process, where each has such a thing.
    pub fn columnar(&self) -> Option<[Columnar; 4]> {
        let [front, candidates, check, output] = self.components().map(Component::columnar);
        Some([front?, candidates?, check?, output?])
    }
}

/// A component of a chain.
pub trait Component: fmt::Debug + Send + Sync {
    /// Its parts, in the order in which they are run.
    fn parts(&self) -> Vec<Part>;

    /// What does its steps in one process on columns of numbers; nothing where only stages do them.
    fn columnar(&self) -> Option<Columnar> {
        None
    }

    /// Whether a row is written for each pair of postings, so that a run may be known to be hopeless before it begins.
    fn pairs_all_postings(&self) -> bool {
        false
    }
}

/// What does a component's steps in one process on columns of numbers (`twinsplit_engine::columnar`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columnar {
    /// Sets of features that are numbered by document frequency, in groups of equal ones.
    NumberedSets,
    /// The same without the features that only several documents of one site have.
    SitePrunedSets,
    /// Posting lists of some sets at a time, past which larger sets are held.
    IndexShards,
    /// Pairs that pass the prefix filter, put down before they are verified.
    PrefixCandidates,
    /// Sets that share the key of a band of their signatures.
    Bands,
    /// What two sets share, counted.
    Overlaps,
    /// Fingerprints of documents, in groups of equal ones.
    Fingerprints,
    /// Fingerprints that agree in some of their bits.
    EqualBits,
    /// The bits in which two fingerprints differ, counted.
    Distances,
    /// Pairs, clusters and kept documents out of columns.
    Output,
}
