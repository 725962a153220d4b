//! The output of a chain: pairs of documents, clusters, and the document that each cluster keeps.

use super::step::{Data, Guard, Part, Repeat, Step};
use super::{CLUSTERS, Columnar, Component, DOCUMENTS, JOINED, KEPT, MEMBERS, META, PAIRS, Wanted};
use crate::params::Params;
use crate::stages::components::CHANGES;

const LABELS: Data = "labels";
const COMPONENTS: Data = "components";

/// The options that decide its steps, each with a value for every way of them.
pub(super) const CHOICES: [(&str, &[&str]); 2] =
    [("cluster", &["components", "star"]), ("write", &["pairs", "clusters"])];

/// What is made of pairs of sets.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Clusters are stars, and not components.
    star: bool,
    /// Pairs of documents are written.
    pairs: bool,
    wanted: Wanted,
    /// The data set that holds every document's set, or fingerprint.
    sets: Data,
    /// What is done about too many pairs.
    too_many: &'static str,
}

/// What is done about too many pairs of sets, and of fingerprints.
const TOO_MANY: [&str; 2] = [
    "pairs of documents; a higher tau has fewer, --write clusters needs none, or raise --max-pairs",
    "pairs of documents; a smaller --distance has fewer, --write clusters needs none, or raise --max-pairs",
];

impl Output {
    /// What the options make of it.
    pub fn of(params: &Params, wanted: Wanted, sets: Data) -> Self {
        let pairs = !params.is("write", "clusters");
        Self { star: params.is("cluster", "star"), pairs, wanted, sets, too_many: TOO_MANY[0] }
    }

    /// The same for pairs of fingerprints.
    pub fn of_fingerprints(self) -> Self {
        Self { too_many: TOO_MANY[1], ..self }
    }

    /// Whether pairs of documents are written.
    pub fn writes_pairs(&self) -> bool {
        self.pairs
    }

    /// Its data sets. The clusters come last: an answer that has them is complete.
    pub fn data(&self) -> Vec<Data> {
        let all = [(PAIRS, self.pairs), (KEPT, self.wanted.kept), (CLUSTERS, true)];
        all.into_iter().filter(|(_, wanted)| *wanted).map(|(data, _)| data).collect()
    }
}

impl Component for Output {
    fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        if self.pairs {
            parts.extend(expand(self.too_many).map(Part::Step));
        }
        parts.extend(clusters(self.star, self.wanted.rounds));
        parts.extend(keep(self.sets).map(Part::Step));
        if self.wanted.kept {
            // One task, so that the lines stay in their order.
            let write = Step::map(
                "write-kept",
                "Passes on the lines of documents that no cluster drops.",
                &[DOCUMENTS],
                KEPT,
            );
            parts.push(Part::Step(write.beside("clusters", CLUSTERS).one_task()));
        }
        parts
    }

    fn columnar(&self) -> Option<Columnar> {
        Some(Columnar::Output)
    }
}

/// Pairs of sets become pairs of documents.
fn expand(too_many: &'static str) -> [Step; 2] {
    let guard = Guard { counter: "pairs", option: "max-pairs", advice: too_many };
    [
        Step::map_reduce(
            "expand-left",
            "expand-left-reduce",
            "Repeats pairs for the copies of their first document; sorted by it, copies come before pairs.",
            &[JOINED, MEMBERS],
            "half-expanded",
        ),
        Step::map_reduce(
            "expand-right",
            "expand-right-reduce",
            "Repeats pairs for the copies of their second document, and pairs the copies with one another.",
            &["half-expanded", MEMBERS],
            PAIRS,
        )
        .guarded(guard),
    ]
}

/// Each document's cluster: in one task that holds the graph, or in rounds of many tasks.
fn clusters(star: bool, rounds: bool) -> Vec<Part> {
    if !rounds {
        let edges = if star { &[JOINED, MEMBERS, META][..] } else { &[JOINED, MEMBERS] };
        return vec![Part::Step(
            Step::reduce("cluster", "Joins pairs to clusters.", edges, LABELS).one_task(),
        )];
    }
    if !star {
        return vec![Part::Repeat(components(LABELS))];
    }
    let mut parts = vec![Part::Repeat(components(COMPONENTS))];
    parts.extend(stars().map(Part::Step));
    parts
}

/// kiveris2014; see [`crate::stages::components`].
fn components(to: Data) -> Repeat {
    let from = vec![JOINED, MEMBERS];
    let large = Step::map_reduce(
        "large-star",
        "large-star-reduce",
        "Links the larger neighbours of each document to its smallest one; sorted by neighbour, that one comes first.",
        &from,
        "large-stars",
    );
    let small = Step::map_reduce(
        "small-star",
        "small-star-reduce",
        "Links each document and its smaller neighbours to the smallest of them.",
        &[large.output],
        "small-stars",
    );
    Repeat {
        name: "components",
        why: "Links documents to ever smaller ones of their component until no link has to change: then each is linked to the smallest.",
        from,
        steps: vec![large, small],
        to,
        until_zero: CHANGES,
    }
}

fn stars() -> [Step; 3] {
    [
        Step::map_reduce(
            "star-rank",
            "star-rank-reduce",
            "Brings each document's component, rank and representative together; sorted by id.",
            &[COMPONENTS, META, MEMBERS],
            "star-members",
        ),
        Step::map_reduce(
            "star-link",
            "star-link-reduce",
            "Brings each pair, in both directions, the rank of its representative's best copy; sorted by representative, copies come before pairs.",
            &["star-members", JOINED],
            "star-links",
        ),
        Step::map_reduce(
            "star",
            "star-reduce",
            "Goes through each component, best document first: it is a centre unless an earlier neighbour is one; sorted by component, then rank, members come last.",
            &["star-links", "star-members"],
            LABELS,
        ),
    ]
}

/// The document that each cluster keeps, and what the others are to it.
fn keep(sets: Data) -> [Step; 2] {
    [
        Step::map_reduce(
            "keep",
            "keep-reduce",
            "Brings each document's cluster, rank and set together; sorted by id.",
            &[LABELS, META, sets],
            "ranked",
        ),
        Step::reduce(
            "keep-choose",
            "Keeps the best document of each cluster; sorted by cluster, then rank, then id, it comes first.",
            &["ranked"],
            CLUSTERS,
        ),
    ]
}
