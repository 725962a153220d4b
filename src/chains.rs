//! How the stages join: each chain is a list of steps over named data sets.
//!
//! A step reads data sets, runs a mapper, a reducer or both, and writes one data set. Engines take the steps as they
//! are: `local` runs them in one process, `pipes` as processes and sorts, `hadoop` as jobs. Read a chain from
//! top to bottom: it is the paper's section 4.
//!
//! One thing takes more than a list of steps: the connected components of a graph that no task holds. They come of
//! a [`Repeat`], whose steps are run in rounds.

use crate::bad_records;
use crate::stages::components::CHANGES;

/// A data set between steps.
pub type Data = &'static str;

/// The input documents of a chain.
pub const DOCUMENTS: Data = "documents";
/// The answer's pairs.
pub const PAIRS: Data = "pairs";
/// The answer's clusters.
pub const CLUSTERS: Data = "clusters";
/// The kept documents' lines.
pub const KEPT: Data = "kept";
/// The table that the chain `idf` makes.
pub const IDF_TABLE: Data = "idf-table";

/// How many tasks a step has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tasks {
    /// As many as the engine likes.
    Many,
    /// One, which sees everything.
    One,
    /// As many mappers as the option says.
    Option(&'static str),
    /// As many reducers as there are slices in the plan that is this data set: each makes one slice
    /// ([`crate::hash::slice_key`]).
    Slices(Data),
    /// One map-only job for each part of a data set that holds something, which is the side file that the option names.
    EachFile(&'static str, Data),
}

/// A step of a chain.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name: that of its mapper, or of its reducer where it has none.
    pub name: &'static str,
    /// What it does, and why its rows are sorted, in a sentence.
    pub why: &'static str,
    /// The mapper; without one rows go to the shuffle as they are.
    pub map: Option<&'static str>,
    /// The reducer; without one the step is map only.
    pub reduce: Option<&'static str>,
    /// What it reads.
    pub inputs: Vec<Data>,
    /// What it writes.
    pub output: Data,
    /// Side files: the option that names the file, and the data set that is the file.
    pub side: Vec<(&'static str, Data)>,
    /// How many tasks.
    pub tasks: Tasks,
    /// A counter that must not exceed an option's value when the step has ended, and what to do then.
    pub guard: Option<Guard>,
}

/// See [`Step::guard`].
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    /// The counter.
    pub counter: &'static str,
    /// The option.
    pub option: &'static str,
    /// What the counter counts and what to do when there is too much of it.
    pub advice: &'static str,
}

/// A part of a chain.
#[derive(Clone, Debug)]
pub enum Part {
    /// A step, run once.
    Step(Step),
    /// Steps that are run in rounds.
    Repeat(Repeat),
}

/// Steps that are run in rounds until a counter is 0 in all of them. In round R, counted from 1, a step is named
/// `NAME-R` and a data set that it makes `DATA-R`.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// What the rounds make.
    pub name: &'static str,
    /// What happens in a round, and why they end, in a sentence or two.
    pub why: &'static str,
    /// What the first step reads in the first round. In later rounds it reads what the last step of the round
    /// before wrote.
    pub from: Vec<Data>,
    /// The steps of a round.
    pub steps: Vec<Step>,
    /// What the last step writes: when the rounds are over, this is the name of what the last round wrote.
    pub to: Data,
    /// The counter; it is summed over the steps of a round.
    pub until_zero: &'static str,
}

impl Part {
    /// The part's steps, those of rounds once.
    pub fn steps(&self) -> &[Step] {
        match self {
            Part::Step(step) => std::slice::from_ref(step),
            Part::Repeat(repeat) => &repeat.steps,
        }
    }
}

/// What shapes a chain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shape {
    /// Features out of an IDF range are left out.
    pub idf: bool,
    /// Term-Split with the prefix filter.
    pub prefix: bool,
    /// Doc-Split in the paper's own form.
    pub by_task: bool,
    /// Star clusters.
    pub star: bool,
    /// Clusters are wanted and pairs are not.
    pub clusters_only: bool,
    /// The kept documents' lines are wanted.
    pub write_kept: bool,
    /// Clusters are made in rounds of many tasks, and not in one task that holds the graph.
    pub rounds: bool,
}

/// The chains by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Chain {
    /// Term-Split: posting lists by feature, pairs by counting (000, section 2.3.1)
    TermSplit,
    /// Doc-Split: slices of documents, each queried by all (000, section 2.3.2)
    DocSplit,
}

impl Chain {
    /// The chain's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Chain::TermSplit => "term-split",
            Chain::DocSplit => "doc-split",
        }
    }

    /// The parts.
    pub fn parts(self, shape: Shape) -> Vec<Part> {
        let order = shape.idf || (shape.prefix && self == Chain::TermSplit);
        let mut steps = front(shape, order);
        match self {
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

    /// The steps of all parts, those of rounds once.
    pub fn steps(self, shape: Shape) -> Vec<Step> {
        self.parts(shape).iter().flat_map(Part::steps).cloned().collect()
    }
}

const FILTERED: Data = "filtered-sets";
const MEMBERS: Data = "members";
const JOINED: Data = "joined-pairs";
const META: Data = "meta";
const LABELS: Data = "labels";

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
        map_reduce(
            "doc-meta",
            "doc-meta-reduce",
            "Takes what the keep rule needs; sorted by id, two documents with one id meet and are named.",
            &[DOCUMENTS],
            META,
        ),
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
    if shape.idf {
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
                 use --pcp prefix or doc-split, or raise --max-pairs",
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
        to,
    );
    Repeat {
        name: "components",
        why: "Links documents to ever smaller ones of their component until no link changes: then each is linked to the smallest.",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::Role;
    use crate::stages::find;
    use clap::ValueEnum;

    fn all() -> Vec<Vec<Part>> {
        let mut chains = vec![idf_steps().into_iter().map(Part::Step).collect()];
        for bits in 0..128u32 {
            let bit = |n: u32| bits >> n & 1 == 1;
            let shape = Shape {
                idf: bit(0),
                prefix: bit(1),
                by_task: bit(2),
                star: bit(3),
                write_kept: bit(4),
                clusters_only: bit(5),
                rounds: bit(6),
            };
            chains.extend(Chain::value_variants().iter().map(|chain| chain.parts(shape)));
        }
        assert_eq!(chains.len(), 257);
        chains
    }

    #[test]
    fn every_step_reads_what_an_earlier_one_wrote() {
        for parts in all() {
            let mut known = vec![DOCUMENTS];
            for step in parts.iter().flat_map(Part::steps) {
                let each = match step.tasks {
                    Tasks::EachFile(_, data) => vec![data],
                    _ => vec![],
                };
                for data in step.inputs.iter().chain(step.side.iter().map(|(_, data)| data)).chain(&each) {
                    assert!(known.contains(data), "{} reads {data} before it is written", step.name);
                }
                assert!(!known.contains(&step.output), "{} is written twice", step.output);
                known.push(step.output);
            }
        }
    }

    /// What engines rely on when they name the data sets of a round.
    #[test]
    fn a_round_goes_on_with_what_the_one_before_made() {
        let mut repeats = 0;
        for parts in all() {
            for repeat in parts.iter().filter_map(|part| match part {
                Part::Repeat(repeat) => Some(repeat),
                Part::Step(_) => None,
            }) {
                repeats += 1;
                let made: Vec<Data> = repeat.steps.iter().map(|step| step.output).collect();
                assert_eq!(repeat.steps.first().map(|step| &step.inputs), Some(&repeat.from));
                assert_eq!(made.last(), Some(&repeat.to));
                assert!(repeat.from.iter().all(|data| !made.contains(data)), "{}", repeat.name);
                for step in &repeat.steps {
                    // A counter of a round is looked for after its steps, and side files are of no round.
                    assert!(step.guard.is_none() && step.side.is_empty(), "{}", step.name);
                    assert_eq!(step.tasks, Tasks::Many, "{}", step.name);
                }
            }
        }
        assert_eq!(repeats, 128);
    }

    #[test]
    fn mappers_map_and_reducers_read_what_their_mapper_writes() {
        for parts in all() {
            for step in parts.iter().flat_map(Part::steps) {
                let map = step.map.map(|name| find(name).unwrap());
                let reduce = step.reduce.map(|name| find(name).unwrap());
                assert!(map.is_some() || reduce.is_some());
                assert!(map.is_none_or(|entry| entry.decl.role == Role::Map));
                assert!(
                    reduce.is_none_or(|entry| entry.decl.role == Role::Reduce && entry.input.keys.is_some())
                );
                if let (Some(map), Some(reduce)) = (map, reduce) {
                    assert_eq!(map.output.keys, reduce.input.keys, "{}", step.name);
                }
            }
        }
    }
}
