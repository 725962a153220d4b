//! The front of a chain of sets: documents become sets of features, those out of the IDF range go, equal sets meet.

use super::queries::{HELD, OF_QUERIES};
use super::step::{CountedOption, Data, Guard, Part, Step};
use super::{Choices, Columnar, Component, DOCUMENTS, MEMBERS, ORDER, QUERIES, fuse};
use crate::bad_records;
use crate::params::Params;
use crate::stages::feature_sample;
use crate::stages::keep_field::KeepField;
use crate::stages::meta::META;
use crate::stages::options::HASHED_TEXTS;
use twinsplit_core::idf::IdfRange;

/// Every document's set of features.
pub(super) const SETS: Data = "sets";
const FILTERED: Data = "filtered-sets";
/// The sets of queries, before features are left out.
const QUERY_SETS: Data = "query-sets";

/// The options that decide its steps, each with a value for every way of them.
pub(super) const CHOICES: Choices =
    &[("idf", &["0,1", "0.2,0.85"]), ("idf-lookup", &["list", "shuffle"]), ("keep", &["first", "newest"])];

/// How features out of the IDF range are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdfLookup {
    /// By a list that each task holds.
    List,
    /// By a shuffle.
    Shuffle,
}

/// What an order of features is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ordered {
    /// The counts of all features, in one task.
    ByCounts,
    /// Those of a sample of the sets, of which one task has a bounded number.
    BySample,
}

/// Documents as sets of features, in groups of equal sets.
#[derive(Clone, Copy, Debug)]
pub struct SetFront {
    idf: Option<IdfLookup>,
    /// What the order of features is made of, for those who join by prefixes. With an IDF range all features are counted anyway.
    order: Option<Ordered>,
    /// The field of documents that the keep rule looks at.
    field: Option<KeepField>,
    /// The sets that are counted and filtered.
    source: Data,
}

impl SetFront {
    /// What the options make of it.
    pub fn of(params: &Params) -> Self {
        let in_range = |range: &str| range.parse().is_ok_and(|range: IdfRange| range.is_everything());
        let lookup = if params.is("idf-lookup", "shuffle") { IdfLookup::Shuffle } else { IdfLookup::List };
        let idf = params.get("idf").is_some_and(|range| !in_range(range)).then_some(lookup);
        Self { idf, order: None, field: params.get("keep").and_then(KeepField::named), source: SETS }
    }

    /// The same, with an order of features for those who join by prefixes.
    pub(super) fn ordered(self, order: Ordered) -> Self {
        Self { order: Some(order), ..self }
    }

    /// The same, of sets that other steps have made of those of all documents.
    pub fn reading(self, source: Data) -> Self {
        Self { source, ..self }
    }

    /// Whether features are left out of the sets of documents.
    pub fn filters(&self) -> bool {
        self.idf.is_some()
    }

    /// The data set of the sets that are joined.
    pub(super) fn sets(&self) -> Data {
        if self.idf.is_some() { FILTERED } else { self.source }
    }

    /// The step that reads documents.
    pub(super) fn documents(&self) -> Step {
        let read = Step::map(
            "tokenize",
            "Turns each document into its set of features, and takes what the keep rule needs.",
            &[DOCUMENTS],
            SETS,
        );
        let read = Step { field: self.field, ..read.setting(META).guarded(BAD_RECORDS) };
        // Which documents have too few features is not known before some are left out.
        if self.idf.is_some() || self.source != SETS { read.setting(HASHED_TEXTS) } else { read }
    }

    /// The steps that read sets.
    pub(super) fn groups(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if let Some(lookup) = self.idf {
            steps.extend(order_of_counts(&[self.source]));
            steps.extend(filter(lookup, self.source, FILTERED, OF_DOCUMENTS));
        }
        steps.push(Step::map_reduce(
            "equal-sets",
            "equal-sets-reduce",
            "Joins equal sets once; sorted by hash, then id, the smallest id of a group comes first, and two documents with one id meet and are named.",
            &[self.sets()],
            MEMBERS,
        ));
        match self.order.filter(|_| self.idf.is_none()) {
            None => {}
            // That of the different sets needs no job of its own for counts.
            Some(Ordered::ByCounts) => {
                let order = Step::map_reduce("feature-count", "feature-order", ORDERS, &[MEMBERS], ORDER);
                steps.push(order.one_task());
            }
            Some(Ordered::BySample) => steps.extend(order_of_sample()),
        }
        steps
    }
}

impl SetFront {
    /// The steps that make sets of documents and of [queries](super::queries), which are in no groups. Document frequencies are those of both.
    pub(super) fn beside_queries(&self) -> Vec<Step> {
        let read = |from, to| {
            let read = Step::map("tokenize", "Turns each document into its set of features.", &[from], to);
            let read = read.guarded(BAD_RECORDS);
            if self.idf.is_some() { read.setting(HASHED_TEXTS) } else { read }
        };
        let queries = |to| Step { name: OF_QUERIES, ..read(QUERIES, to) };
        let Some(lookup) = self.idf else {
            return vec![queries(HELD), read(DOCUMENTS, self.source)];
        };
        let mut steps = vec![queries(QUERY_SETS), read(DOCUMENTS, self.source)];
        steps.extend(order_of_counts(&[QUERY_SETS, self.source]));
        steps.extend(filter(lookup, QUERY_SETS, HELD, IN_QUERIES));
        steps.extend(filter(lookup, self.source, FILTERED, OF_DOCUMENTS));
        steps
    }
}

impl Component for SetFront {
    fn parts(&self) -> Vec<Part> {
        std::iter::once(self.documents()).chain(self.groups()).map(Part::Step).collect()
    }

    fn columnar(&self) -> Option<Columnar> {
        Some(Columnar::NumberedSets)
    }
}

const COUNTS: Data = "feature-counts";
/// The most frequent features of a sample of the sets.
const SAMPLED: Data = "sampled-counts";
const ORDERS: &str =
    "Orders features by frequency and lists those in the IDF range; N sorts before all features.";

/// The bound on lines that are no documents, for the step that counts them.
pub(super) const BAD_RECORDS: Guard = Guard {
    counter: bad_records::COUNTER,
    option: "bad-records",
    advice: "bad documents in all tasks together; correct them, or raise --bad-records",
};

fn tokenize() -> Step {
    Step::map("tokenize", "Turns each document into its set of features.", &[DOCUMENTS], SETS)
        .guarded(BAD_RECORDS)
}

fn count_features(sets: &[Data]) -> Step {
    Step::map_reduce(
        "feature-count",
        "feature-count-reduce",
        "Counts the documents of each feature; sorted by feature, its counts meet.",
        sets,
        COUNTS,
    )
}

/// The steps that count features and find out which are in the IDF range.
fn order_of_counts(sets: &[Data]) -> [Step; 2] {
    [count_features(sets), Step::reduce("feature-order", ORDERS, &[COUNTS], ORDER).one_task()]
}

/// The steps that count the features of a sample, and order the most frequent ones.
fn order_of_sample() -> [Step; 2] {
    [
        Step::map_reduce(
            "feature-sample",
            "feature-sample-reduce",
            "Counts the features of a sample of the sets; sorted by bucket, then feature, its counts meet, and each bucket passes on its most frequent.",
            &[MEMBERS],
            SAMPLED,
        )
        .counting(&CountedOption { option: feature_sample::SETS, counter: "sets", data: MEMBERS }),
        Step::reduce(
            "feature-order",
            "Orders these by frequency; N sorts before all features.",
            &[SAMPLED],
            ORDER,
        )
        .one_task(),
    ]
}

/// The names of the steps that leave features out, and of what they write in between.
type FilterNames = ([&'static str; 3], Data);

const OF_DOCUMENTS: FilterNames = (["idf-filter", "idf-left", "idf-right"], "kept-features");
const IN_QUERIES: FilterNames =
    (["idf-filter-queries", "idf-left-queries", "idf-right-queries"], "kept-features-of-queries");

/// The steps that leave out features out of the IDF range.
fn filter(lookup: IdfLookup, sets: Data, to: Data, (names, kept): FilterNames) -> Vec<Step> {
    let steps = match lookup {
        IdfLookup::List => vec![
            Step::map("idf-filter", "Leaves out features out of the IDF range.", &[sets], to)
                .beside("order", ORDER),
        ],
        IdfLookup::Shuffle => vec![
            Step::map_reduce(
                "idf-left",
                "idf-left-reduce",
                "Looks up features in the IDF range; sorted by feature, its frequency comes before its documents.",
                &[COUNTS, sets],
                kept,
            )
            .beside("order", ORDER),
            Step::map_reduce(
                "idf-right",
                "idf-right-reduce",
                "Brings the features in the range together by document; sorted by id, then feature.",
                &[kept, sets],
                to,
            ),
        ],
    };
    let named = |step: Step| {
        let name = names.into_iter().find(|name| name.starts_with(step.name)).unwrap_or(step.name);
        Step { name, ..step }
    };
    steps.into_iter().map(named).collect()
}

/// The data set that [`idf_table`] makes.
pub const IDF_TABLE: Data = "idf-table";

/// The steps that count document frequencies and write them as a table.
pub(super) fn frequencies() -> [Step; 3] {
    let table =
        Step::reduce("idf-table", "Writes the table; N sorts before all features.", &[COUNTS], IDF_TABLE);
    [tokenize(), count_features(&[SETS]), table.one_task()]
}

/// The step that makes the sets of documents for a store, each with the hash of its text.
pub fn sets_of_documents() -> Step {
    tokenize().setting(HASHED_TEXTS)
}

/// The chain of `twinsplit idf`: document frequencies as a reference table.
pub fn idf_table() -> Vec<Part> {
    let [parts] = fuse::fused([frequencies().map(Part::Step).into()], &[IDF_TABLE]);
    parts
}
