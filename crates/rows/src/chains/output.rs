//! The output of a chain: pairs of documents, clusters, and the document that each cluster keeps.

use super::step::{Choice, Counted, Data, Guard, Part, Repeat, Step};
use super::{CLUSTERS, Columnar, Component, DOCUMENTS, JOINED, KEPT, MEMBERS, PAIRS, Wanted};
use crate::params::Params;
use crate::stages::components::CHANGES;
use crate::stages::keep::BY_FINGERPRINTS;
use crate::stages::reduce::REDUCE_TO;

const LABELS: Data = "labels";
/// Documents of clusters, where one task has found them.
const CLUSTERED: Data = "clustered";
const COMPONENTS: Data = "components";

/// The options that decide its steps, each with a value for every way of them.
pub(super) const CHOICES: [(&str, &[&str]); 2] =
    [("cluster", &["components", "star"]), ("write", &["pairs", "clusters"])];

/// What is made of pairs of sets.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Clusters are stars, and not components.
    star: bool,
    /// As many documents are dropped as are too many, which one task decides.
    reduced: bool,
    /// Pairs of documents are written.
    pairs: bool,
    /// The chain's check has made the pairs of documents, and nothing is made of them.
    alone: bool,
    wanted: Wanted,
    /// What bounds the pairs of documents.
    bound: Guard,
    /// Fingerprints are compared, and not sets.
    fingerprints: bool,
    /// The reducer that makes stars of sets or fingerprints, where these say of any two whether they are a pair.
    of_sets: Option<&'static str>,
}

/// The option and its value by which steps make components, whatever is made of these.
const COMPONENTS_OF_PAIRS: (&str, &str) = ("cluster", "components");

/// What is done about too many pairs of fingerprints.
const TOO_MANY_NEAR: &str =
    "pairs of documents; a smaller --distance has fewer, --write clusters needs none, or raise --max-pairs";

impl Output {
    /// What the options make of it.
    pub fn of(params: &Params, wanted: Wanted) -> Self {
        let pairs = !params.is("write", "clusters");
        Self {
            star: params.is("cluster", "star"),
            reduced: params.get(REDUCE_TO).is_some(),
            pairs,
            alone: false,
            wanted,
            bound: MAX_PAIRS,
            fingerprints: false,
            of_sets: None,
        }
    }

    /// The same where two sets are a pair whenever they are similar: then stars need no pairs.
    pub fn of_similar_sets(self) -> Self {
        Self { of_sets: Some("star-centres-reduce"), ..self }
    }

    /// The same where they are a pair if their signatures agree in a band, besides.
    pub fn of_sets_with_common_bands(self) -> Self {
        Self { of_sets: Some("star-bands-reduce"), ..self }
    }

    /// The same for pairs of fingerprints, whose texts may have to be alike besides.
    pub fn of_fingerprints(self, texts: bool) -> Self {
        let of_sets = (!texts).then_some("star-fingerprints-reduce");
        Self { bound: Guard { advice: TOO_MANY_NEAR, ..MAX_PAIRS }, fingerprints: true, of_sets, ..self }
    }

    /// The pairs of documents as the chain has found them, and nothing else.
    pub fn of_pairs_alone(self) -> Self {
        Self { alone: true, ..self }
    }

    /// Whether pairs of documents are written.
    pub fn writes_pairs(&self) -> bool {
        self.pairs
    }

    /// Whether components are made, and nothing else of pairs.
    pub fn is_components_alone(&self) -> bool {
        !self.pairs && !self.alone && (!self.star || self.of_sets.is_some())
    }

    /// Whether stars are made of sets inside of components, and by which reducer.
    fn stars_of_sets(&self) -> Option<&'static str> {
        self.of_sets.filter(|_| self.star && self.is_components_alone())
    }

    /// See [`stars_of_sets`](Self::stars_of_sets).
    fn has_stars_of_sets(&self) -> bool {
        self.stars_of_sets().is_some()
    }

    /// A step that finds pairs: it passes on those that connect components, where components are all that is made of them.
    pub fn connecting(&self, step: Step) -> Step {
        if self.has_stars_of_sets() { step.setting(COMPONENTS_OF_PAIRS) } else { step }
    }

    /// Its data sets. The clusters come last: an answer that has them is complete.
    pub fn data(&self) -> Vec<Data> {
        if self.alone {
            return vec![PAIRS];
        }
        let all = [(PAIRS, self.pairs), (KEPT, self.wanted.kept), (CLUSTERS, true)];
        all.into_iter().filter(|(_, wanted)| *wanted).map(|(data, _)| data).collect()
    }
}

impl Component for Output {
    fn parts(&self) -> Vec<Part> {
        if self.alone {
            return Vec::new();
        }
        let mut parts = if self.wanted.rounds && !self.reduced {
            vec![Part::Choice(Choice {
                name: "clusters",
                why: "Where one task may hold the pairs of sets and the copies, it makes the clusters, and others know them.",
                counts: vec![
                    (JOINED, Counted::Rows),
                    (MEMBERS, Counted::Counter("copies")),
                    (MEMBERS, Counted::Counter("equal_texts")),
                ],
                option: "graph",
                few: self.of_one_graph(),
                many: self.of_many_tasks(),
            })]
        } else {
            self.of_one_graph()
        };
        if let Some(reducer) = self.stars_of_sets() {
            parts.extend(stars_of_sets(reducer).map(Part::Step));
            parts.extend(self.kept_of_labels());
        }
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

/// The bound on the pairs of documents.
const MAX_PAIRS: Guard = Guard {
    counter: "pairs",
    option: "max-pairs",
    advice: "pairs of documents; a higher tau has fewer, --write clusters needs none, or raise --max-pairs",
};

impl Output {
    /// What follows from a graph that one task holds, whose documents every task may know then.
    fn of_one_graph(&self) -> Vec<Part> {
        let cluster = Step::map_reduce(
            "cluster",
            "cluster-reduce",
            "Joins pairs to clusters and finds the best document of each; sorted by kind, the graph comes before ranks.",
            &[JOINED, MEMBERS],
            if self.has_stars_of_sets() { COMPONENTS } else { CLUSTERED },
        );
        let cluster = self.connecting(cluster.one_task());
        if self.has_stars_of_sets() {
            return vec![Part::Step(cluster)];
        }
        let expand = Step::map(
            "expand-pairs",
            "Repeats pairs for the copies of their documents, and pairs the copies with one another.",
            &[JOINED, MEMBERS],
            PAIRS,
        );
        let keep = Step::map_reduce(
            "keep",
            "keep-choose",
            "Compares the documents of each cluster with the kept one; sorted by it, its set comes first, and each other set before its documents.",
            &[MEMBERS],
            CLUSTERS,
        );
        let expand = self.pairs.then(|| expand.guarded(self.bound).beside("clustered", CLUSTERED));
        let steps = std::iter::once(cluster).chain(expand);
        steps.chain([self.comparing(keep.beside("clustered", CLUSTERED))]).map(Part::Step).collect()
    }

    /// The same where no task holds the graph.
    fn of_many_tasks(&self) -> Vec<Part> {
        if self.has_stars_of_sets() {
            return vec![Part::Repeat(components(COMPONENTS))];
        }
        let mut parts = Vec::new();
        if self.pairs {
            parts.extend(expand(self.bound).map(Part::Step));
        }
        if self.star {
            parts.push(Part::Repeat(components(COMPONENTS)));
            parts.extend(stars().map(Part::Step));
        } else {
            parts.push(Part::Repeat(components(LABELS)));
        }
        parts.extend(self.kept_of_labels());
        parts
    }

    /// The document that each cluster keeps, and what the others are to it.
    fn kept_of_labels(&self) -> [Part; 3] {
        let [rank, best, choose] = keep();
        [rank, best, self.comparing(choose)].map(Part::Step)
    }

    /// The step that compares documents with the kept one.
    fn comparing(&self, step: Step) -> Step {
        if self.fingerprints { step.setting(BY_FINGERPRINTS) } else { step }
    }
}

/// Pairs of sets become pairs of documents.
fn expand(bound: Guard) -> [Step; 2] {
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
        .guarded(bound),
    ]
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

/// What stars are made of, beside pairs or sets.
fn star_rank() -> Step {
    Step::map_reduce(
        "star-rank",
        "star-rank-reduce",
        "Brings each document's component, rank and representative together; sorted by id.",
        &[COMPONENTS, MEMBERS],
        "star-members",
    )
}

/// Stars of the pairs inside of components.
fn stars() -> [Step; 3] {
    [
        star_rank(),
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

/// Stars of the sets or fingerprints inside of components; see [`crate::stages::star_sets`].
fn stars_of_sets(reducer: &'static str) -> [Step; 3] {
    [
        star_rank(),
        Step::map_reduce(
            "star-sets",
            "star-sets-reduce",
            "Brings each set or fingerprint the component and the rank of the best document that has it; sorted by representative, documents come before their set.",
            &["star-members", MEMBERS],
            "sets-of-components",
        ),
        Step::map_reduce(
            "star-centres",
            reducer,
            "Goes through each component, best first: what pairs with no earlier centre is one; sorted by component, then rank, documents come last.",
            &["sets-of-components", "star-members"],
            LABELS,
        ),
    ]
}

/// The steps of it.
fn keep() -> [Step; 3] {
    [
        Step::map_reduce(
            "keep-rank",
            "keep-rank-reduce",
            "Brings each document's cluster, rank and set together; sorted by id.",
            &[LABELS, MEMBERS],
            "ranked",
        ),
        Step::reduce(
            "keep-best",
            "Finds the best document of each cluster; sorted by cluster, then rank, then id, it comes first.",
            &["ranked"],
            "under-kept",
        ),
        Step::reduce(
            "keep-choose",
            "Compares the documents of each cluster with the kept one; sorted by it, its set comes first, and each other set before its documents.",
            &["under-kept"],
            CLUSTERS,
        ),
    ]
}
