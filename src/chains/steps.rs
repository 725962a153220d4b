//! The steps of the chains, as in the paper's section 4.

use super::{
    CLUSTERS, Chain, DOCUMENTS, Data, Guard, IDF_TABLE, KEPT, PAIRS, Part, Repeat, Shape, Step, Tasks,
};
use crate::bad_records;
use crate::stages::components::CHANGES;

const FILTERED: Data = "filtered-sets";
const MEMBERS: Data = "members";
const JOINED: Data = "joined-pairs";
const META: Data = "meta";
const LABELS: Data = "labels";

/// The parts of a chain.
pub(super) fn parts(chain: Chain, shape: Shape) -> Vec<Part> {
    let order = shape.idf || (shape.prefix && chain == Chain::TermSplit);
    let mut steps = front(shape, order);
    match chain {
        Chain::TermSplit if shape.prefix => term_split_prefix(&mut steps),
        Chain::TermSplit => term_split_plain(&mut steps),
        Chain::DocSplit => doc_split(&mut steps, shape),
    }
    if !shape.clusters_only {
        expand(&mut steps);
    }
    let mut parts: Vec<Part> = steps.into_iter().map(Part::Step).collect();
    clusters(&mut parts, shape);
    parts.extend(back(shape).into_iter().map(Part::Step));
    parts
}

fn map(name: &'static str, why: &'static str, inputs: &[Data], output: Data) -> Step {
    Step {
        name,
        why,
        map: Some(name),
        reduce: None,
        inputs: inputs.to_vec(),
        output,
        side: Vec::new(),
        tasks: Tasks::Many,
        guard: None,
        field: None,
    }
}

fn map_reduce(
    name: &'static str,
    reduce: &'static str,
    why: &'static str,
    inputs: &[Data],
    output: Data,
) -> Step {
    Step { reduce: Some(reduce), ..map(name, why, inputs, output) }
}

fn reduce(name: &'static str, why: &'static str, inputs: &[Data], output: Data) -> Step {
    Step { map: None, reduce: Some(name), ..map(name, why, inputs, output) }
}

fn one_task(step: Step) -> Step {
    Step { tasks: Tasks::One, ..step }
}

fn count_features(steps: &mut Vec<Step>) {
    steps.push(map_reduce(
        "feature-count",
        "feature-count-reduce",
        "Counts the documents of each feature; sorted by feature, its counts meet.",
        &["sets"],
        "feature-counts",
    ));
}

fn tokenize() -> Step {
    let guard = Guard {
        counter: bad_records::COUNTER,
        option: "bad-records",
        advice: "bad documents in all tasks together; correct them, or raise --bad-records",
    };
    Step {
        guard: Some(guard),
        ..map("tokenize", "Turns each document into its set of features.", &[DOCUMENTS], "sets")
    }
}

fn front(shape: Shape, order: bool) -> Vec<Step> {
    let mut steps = vec![
        tokenize(),
        Step {
            field: shape.field,
            ..map_reduce(
                "doc-meta",
                "doc-meta-reduce",
                "Takes what the keep rule needs; sorted by id, two documents with one id meet and are named.",
                &[DOCUMENTS],
                META,
            )
        },
    ];
    if order {
        count_features(&mut steps);
        steps.push(one_task(reduce(
            "feature-order",
            "Orders features by frequency and lists those in the IDF range; N sorts before all features.",
            &["feature-counts"],
            "order",
        )));
    }
    if shape.idf && shape.idf_shuffle {
        steps.push(Step {
            side: vec![("order", "order")],
            ..map_reduce(
                "idf-left",
                "idf-left-reduce",
                "Looks up features in the IDF range; sorted by feature, its frequency comes before its documents.",
                &["feature-counts", "sets"],
                "kept-features",
            )
        });
        steps.push(map_reduce(
            "idf-right",
            "idf-right-reduce",
            "Brings the features in the range together by document; sorted by id, then feature.",
            &["kept-features", "sets"],
            FILTERED,
        ));
    } else if shape.idf {
        steps.push(Step {
            side: vec![("order", "order")],
            ..map("idf-filter", "Leaves out features out of the IDF range.", &["sets"], FILTERED)
        });
    }
    steps.push(map_reduce(
        "equal-sets",
        "equal-sets-reduce",
        "Joins equal sets once; sorted by hash, then id, the smallest id of a group comes first.",
        &[if shape.idf { FILTERED } else { "sets" }],
        MEMBERS,
    ));
    steps
}

fn index_term(side: Vec<(&'static str, Data)>, guard: Option<Guard>) -> Step {
    Step {
        side,
        guard,
        ..map_reduce(
            "index-term",
            "index-term-reduce",
            "Builds posting lists; sorted by feature, then id, a list comes in order of ids.",
            &[MEMBERS],
            "posting-lists",
        )
    }
}

fn term_split_plain(steps: &mut Vec<Step>) {
    let guard = Guard {
        counter: "pairs_of_postings",
        option: "max-pairs",
        advice: "pairs of postings, the sum of df(df-1)/2, would be written by plain Term-Split; \
                 use doc-split, or --pcp prefix without --accumulators, or raise --max-pairs",
    };
    steps.push(index_term(Vec::new(), Some(guard)));
    steps.push(map_reduce(
        "pcp-map",
        "pcp-reduce",
        "Pairs the postings of each list; sorted by both ids, the parts of a pair's overlap meet.",
        &["posting-lists"],
        JOINED,
    ));
}

fn term_split_prefix(steps: &mut Vec<Step>) {
    steps.push(index_term(vec![("order", "order")], None));
    let guard = Guard {
        counter: "pairs_of_postings",
        option: "max-pairs",
        advice: "candidates; a higher tau has fewer, doc-split has none, or raise --max-pairs",
    };
    steps.push(Step {
        guard: Some(guard),
        ..map("pcp-map", "Pairs the postings that pass the prefix filter.", &["posting-lists"], "candidates")
    });
    steps.push(map_reduce(
        "verify-left",
        "verify-left-reduce",
        "Brings a candidate its first set; sorted by id, a set comes before the candidates that wait for it.",
        &["candidates", MEMBERS],
        "half-verified",
    ));
    steps.push(map_reduce(
        "verify-right",
        "verify-right-reduce",
        "Brings a candidate its second set and counts what the two share.",
        &["half-verified", MEMBERS],
        JOINED,
    ));
}

fn doc_split(steps: &mut Vec<Step>, shape: Shape) {
    if shape.by_task {
        steps.push(Step {
            tasks: Tasks::Option("slices"),
            ..map("index-doc", "Makes a slice of each task's documents.", &[MEMBERS], "slices")
        });
    } else {
        steps.push(map_reduce(
            "size-count",
            "size-count-reduce",
            "Counts the sets of each size; sizes have a fixed width, so bytes sort them as numbers.",
            &[MEMBERS],
            "sizes",
        ));
        steps.push(one_task(reduce(
            "slice-plan",
            "Cuts the sizes into slices of about equal cost.",
            &["sizes"],
            "plan",
        )));
        steps.push(Step {
            side: vec![("plan", "plan")],
            tasks: Tasks::Slices("plan"),
            ..map_reduce(
                "index-doc",
                "index-doc-reduce",
                "Sends each set to its slice; sorted by slice, then size, then id.",
                &[MEMBERS],
                "slices",
            )
        });
    }
    steps.push(Step {
        tasks: Tasks::EachFile("index", "slices"),
        ..map(
            "docsplit-query",
            "Streams all sets past each slice, which is held in memory.",
            &[MEMBERS],
            JOINED,
        )
    });
}

fn expand(steps: &mut Vec<Step>) {
    steps.push(map_reduce(
        "expand-left",
        "expand-left-reduce",
        "Repeats pairs for the copies of their first document; sorted by it, copies come before pairs.",
        &[JOINED, MEMBERS],
        "half-expanded",
    ));
    let guard = Guard {
        counter: "pairs",
        option: "max-pairs",
        advice: "pairs of documents; a higher tau has fewer, --write clusters needs none, or raise --max-pairs",
    };
    steps.push(Step {
        guard: Some(guard),
        ..map_reduce(
            "expand-right",
            "expand-right-reduce",
            "Repeats pairs for the copies of their second document, and pairs the copies with one another.",
            &["half-expanded", MEMBERS],
            PAIRS,
        )
    });
}

fn clusters(parts: &mut Vec<Part>, shape: Shape) {
    match (shape.rounds, shape.star) {
        (false, star) => {
            let edges = if star { &[JOINED, MEMBERS, META][..] } else { &[JOINED, MEMBERS] };
            parts.push(Part::Step(one_task(reduce("cluster", "Joins pairs to clusters.", edges, LABELS))));
        }
        (true, false) => parts.push(Part::Repeat(components(LABELS))),
        (true, true) => {
            parts.push(Part::Repeat(components("components")));
            parts.extend(stars("components").map(Part::Step));
        }
    }
}

/// Kiveris et al. 2014, "Connected Components in MapReduce and Beyond"; see [`crate::stages::components`].
fn components(to: Data) -> Repeat {
    let from = vec![JOINED, MEMBERS];
    let large = map_reduce(
        "large-star",
        "large-star-reduce",
        "Links the larger neighbours of each document to its smallest one; sorted by neighbour, that one comes first.",
        &from,
        "large-stars",
    );
    let small = map_reduce(
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

fn stars(components: Data) -> [Step; 3] {
    [
        map_reduce(
            "star-rank",
            "star-rank-reduce",
            "Brings each document's component, rank and representative together; sorted by id.",
            &[components, META, MEMBERS],
            "star-members",
        ),
        map_reduce(
            "star-link",
            "star-link-reduce",
            "Brings each pair, in both directions, the rank of its representative's best copy; sorted by representative, copies come before pairs.",
            &["star-members", JOINED],
            "star-links",
        ),
        map_reduce(
            "star",
            "star-reduce",
            "Goes through each component, best document first: it is a centre unless an earlier neighbour is one; sorted by component, then rank, members come last.",
            &["star-links", "star-members"],
            LABELS,
        ),
    ]
}

fn back(shape: Shape) -> Vec<Step> {
    let mut steps = vec![
        map_reduce(
            "keep",
            "keep-reduce",
            "Brings each document's cluster, rank and set together; sorted by id.",
            &[LABELS, META, if shape.idf { FILTERED } else { "sets" }],
            "ranked",
        ),
        reduce(
            "keep-choose",
            "Keeps the best document of each cluster; sorted by cluster, then rank, then id, it comes first.",
            &["ranked"],
            CLUSTERS,
        ),
    ];
    if shape.write_kept {
        // One task, so that the lines stay in their order.
        steps.push(one_task(Step {
            side: vec![("clusters", CLUSTERS)],
            ..map("write-kept", "Passes on the lines of documents that no cluster drops.", &[DOCUMENTS], KEPT)
        }));
    }
    steps
}

/// The steps of `twinsplit idf`: document frequencies as a reference table.
pub fn idf_steps() -> Vec<Step> {
    let mut steps = vec![tokenize()];
    count_features(&mut steps);
    steps.push(one_task(reduce(
        "idf-table",
        "Writes the table; N sorts before all features.",
        &["feature-counts"],
        IDF_TABLE,
    )));
    steps
}
