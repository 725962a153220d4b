//! Whether what a join counts grows faster than its input and its answer do: it fails on counts, never on seconds.
//!
//! `make bench-cliffs` (`cargo bench --bench cliffs -- --all`, or names of shapes in place of `--all`) runs the built `twinsplit`
//! on shapes that hurt, at so many documents and at twice as many, by Term-Split with the prefix filter, by Doc-Split, and by
//! Doc-Split for clusters alone, of both kinds, shapes of documents that are alike by the other families for clusters alone as well, in one process and as
//! stages with pipes, and reads the counters of the join from `--json`: indexed parts, queries, and visited postings with
//! candidates. From one size to the other none may grow more than [`TOLERANCE`] times as much as its bound does: features of the
//! input and lines of the answer, and for shapes that say so the pairs of different sets that sizes alone do not rule out.
//!
//! Each shape is run once more within [`MEMORY`] megabytes, polled from outside: it may hold 1.15 times as much and [`SLACK`] megabytes.
//!
//! `cargo bench --bench cliffs -- --write SHAPE TAU DOCUMENTS FILE` writes a shape as JSON lines, for other measurements.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../tests/suite/common/polled.rs"]
mod polled;
#[path = "../tests/suite/common/rng.rs"]
#[allow(dead_code)]
mod rng;
#[path = "../tests/suite/common/shapes.rs"]
mod shapes;

use serde_json::Value;
use shapes::{Bound, SHAPES, Shape, Size, decimal};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// How much more a count may grow than its bound does.
const TOLERANCE: f64 = 1.25;

/// Counts up to this are not compared, but for those of shards: a few postings more are no cliff.
const FEW: u64 = 1000;

/// What a candidate costs, in postings, where its sets lie anywhere in memory.
const CANDIDATE: u64 = 40;

/// Megabytes that a run is given.
const MEMORY: u64 = 80;
/// Megabytes more than that and a seventh which it may hold.
const SLACK: u64 = 40;

/// What is counted of a join.
const COUNTS: [&str; 4] = ["shards", "queries", "postings_visited", "candidate_pairs"];

/// What is compared: postings and candidates as one, for Doc-Split may have more of the one to have fewer of the other.
const COMPARED: usize = 3;

/// A way to run.
struct Way {
    name: &'static str,
    args: &'static [&'static str],
    /// The steps that join, of which a run may have some: their counts are added up.
    steps: &'static [&'static str],
    /// What it counts of [`COUNTS`]: where it does not count candidates, two that are looked at.
    counts: &'static [&'static str],
}

/// Term-Split first: its candidates are those of the shortest prefixes, where Doc-Split chooses by a sample.
const WAYS: [Way; 4] = [
    Way {
        name: "term-split",
        args: &["term-split", "--pcp", "prefix"],
        steps: &["pcp-map"],
        counts: &COUNTS,
    },
    Way { name: "doc-split", args: &["doc-split"], steps: &["docsplit-query"], counts: &COUNTS },
    Way {
        name: "clusters",
        args: &["doc-split", "--write", "clusters"],
        steps: &["docsplit-query"],
        counts: &COUNTS,
    },
    Way {
        name: "stars",
        args: &["doc-split", "--write", "clusters", "--cluster", "star"],
        steps: &["docsplit-query"],
        counts: &COUNTS,
    },
];

/// Shapes of documents that are alike, most of them.
const ALIKE: [&str; 3] = ["all-equal", "near-equal", "ladder"];

/// Clusters alone by the other families.
const CLUSTERS: [Way; 8] = [
    Way {
        name: "term-split clusters",
        args: &["term-split", "--pcp", "prefix", "--write", "clusters"],
        steps: &["pcp-map"],
        counts: &COUNTS,
    },
    Way {
        name: "term-split stars",
        args: &["term-split", "--pcp", "prefix", "--write", "clusters", "--cluster", "star"],
        steps: &["pcp-map"],
        counts: &COUNTS,
    },
    Way {
        name: "ccdet clusters",
        args: &["ccdet", "--write", "clusters"],
        steps: &["docsplit-query"],
        counts: &COUNTS,
    },
    Way {
        name: "ccdet stars",
        args: &["ccdet", "--write", "clusters", "--cluster", "star"],
        steps: &["docsplit-query"],
        counts: &COUNTS,
    },
    Way {
        name: "minhash clusters",
        args: &["minhash", "--write", "clusters"],
        steps: &["lsh-bands"],
        counts: &["", "", "", "pairs_of_postings"],
    },
    Way {
        name: "minhash stars",
        args: &["minhash", "--write", "clusters", "--cluster", "star"],
        steps: &["lsh-bands"],
        counts: &["", "", "", "pairs_of_postings"],
    },
    Way {
        name: "simhash clusters",
        args: &["simhash", "--distance", "8", "--write", "clusters"],
        steps: &["hamming-pairs"],
        counts: &["", "", "", "fingerprints_compared"],
    },
    Way {
        name: "simhash stars",
        args: &["simhash", "--distance", "8", "--write", "clusters", "--cluster", "star"],
        steps: &["hamming-pairs"],
        counts: &["", "", "", "fingerprints_compared"],
    },
];

/// The same as stages, where lists of few documents go the way of large ones.
const STAGES: [Way; 9] = [
    Way {
        name: "term-split stages",
        args: &[
            "term-split",
            "--pcp",
            "prefix",
            "--write",
            "clusters",
            "--engine",
            "pipes",
            "--graph",
            "1000",
        ],
        steps: &["hub-candidates", "pcp-map"],
        counts: &["", "", "", "pairs_of_postings"],
    },
    Way {
        name: "minhash stages",
        args: &["minhash", "--write", "clusters", "--engine", "pipes", "--graph", "1000"],
        steps: &["hub-candidates", "lsh-candidates"],
        counts: &["", "", "", "pairs_of_postings"],
    },
    Way {
        name: "doc-split stages",
        args: &["doc-split", "--write", "clusters", "--engine", "pipes"],
        steps: &["docsplit-query"],
        counts: &["", "", "", "candidate_pairs"],
    },
    Way {
        name: "ccdet stages",
        args: &["ccdet", "--write", "clusters", "--engine", "pipes"],
        steps: &["docsplit-query"],
        counts: &["", "", "", "candidate_pairs"],
    },
    Way {
        name: "simhash stages",
        args: &["simhash", "--distance", "8", "--write", "clusters", "--engine", "pipes"],
        steps: &["hamming-pairs"],
        counts: &["", "", "", "fingerprints_compared"],
    },
    Way {
        name: "term-split star stages",
        args: &[
            "term-split",
            "--pcp",
            "prefix",
            "--write",
            "clusters",
            "--cluster",
            "star",
            "--engine",
            "pipes",
        ],
        steps: &["star-centres"],
        counts: &["", "", "", "compared_with_centres"],
    },
    Way {
        name: "doc-split star stages",
        args: &["doc-split", "--write", "clusters", "--cluster", "star", "--engine", "pipes"],
        steps: &["star-centres"],
        counts: &["", "", "", "compared_with_centres"],
    },
    Way {
        name: "simhash star stages",
        args: &[
            "simhash",
            "--distance",
            "8",
            "--write",
            "clusters",
            "--cluster",
            "star",
            "--engine",
            "pipes",
        ],
        steps: &["hamming-pairs", "star-centres"],
        counts: &["", "", "fingerprints_compared", "compared_with_centres"],
    },
    Way {
        name: "minhash star stages",
        args: &["minhash", "--write", "clusters", "--cluster", "star", "--engine", "pipes"],
        steps: &["star-centres"],
        counts: &["", "", "", "compared_with_centres"],
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] => {
            eprintln!("cliffs: give --all, or names of shapes:");
            SHAPES.iter().for_each(|shape| eprintln!("  {}: {}", shape.name, shape.about));
            ExitCode::SUCCESS
        }
        ["--write", name, tau, documents, file] => {
            let tau = (tau.parse::<f64>().expect("a threshold") * 100.0).round() as u32;
            let documents = documents.parse().expect("a number of documents");
            let size = named(name).write(tau, documents, Path::new(file)).expect("a file");
            println!("{} documents, {} features", size.documents, size.features);
            ExitCode::SUCCESS
        }
        ["--all"] => run(SHAPES.iter().collect()),
        _ => run(args.iter().map(|name| named(name)).collect()),
    }
}

fn named(name: &str) -> &'static Shape {
    Shape::named(name).unwrap_or_else(|| panic!("no shape is called {name}"))
}

fn run(shapes: Vec<&Shape>) -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder");
    println!(
        "shape\ttau\tway\tdocuments\t{}\tbound\tgrowth of shards, queries, work / bound\tverdict",
        COUNTS.join("\t")
    );
    let mut failures = 0;
    for shape in shapes {
        for tau in shape.taus {
            let collections = [1, 2].map(|times| Collection::write(shape, *tau, times, folder.path()));
            let mut shortest = 0;
            let alike = ALIKE.contains(&shape.name);
            let more = CLUSTERS.iter().chain(&STAGES).filter(|_| alike);
            for way in WAYS.iter().chain(more) {
                let counted = collections.each_ref().map(|collection| Counted::of(collection, *tau, way));
                failures += u32::from(!compare(shape, *tau, way, &collections, &counted, shortest));
                // Of processes of a script each has its own bound.
                if !way.args.contains(&"pipes") {
                    failures += u32::from(!is_bounded(shape, *tau, way, &collections[1]));
                }
                if way.name == "term-split" {
                    shortest = counted[0].work();
                }
            }
        }
    }
    if failures > 0 {
        println!(
            "{failures} are not as expected: counts grow more than {TOLERANCE} times as much as bounds, or runs hold \
             too much memory"
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Compares what one way counted at both sizes, and says whether it is what is expected. Where a sample chose longer prefixes at the
/// smaller size alone, work grows from that with the `shortest` prefixes at this size, which Term-Split has.
fn compare(
    shape: &Shape,
    tau: u32,
    way: &Way,
    collections: &[Collection; 2],
    counted: &[Counted; 2],
    shortest: u64,
) -> bool {
    let growth = |from: u64, to: u64| (to + 1) as f64 / (from + 1) as f64;
    let bound = growth(counted[0].bound, counted[1].bound);
    let grown: [f64; COMPARED] = [
        growth(counted[0].counts[0], counted[1].counts[0]),
        growth(counted[0].counts[1], counted[1].counts[1]),
        growth(counted[0].work(), counted[1].work()),
    ];
    let over = grown.map(|grown| grown > TOLERANCE * bound);
    let work = counted[1].work();
    let chosen = over[2] && growth(shortest, work) <= TOLERANCE * bound;
    let falls = over[0] || over[1] && counted[1].counts[1] > FEW || over[2] && work > FEW && !chosen;
    let verdict = match falls {
        true => "CLIFF",
        false if chosen => "ok, no more than the shortest prefixes",
        false if shape.bound == Bound::Lengths => "ok, within the pairs of its lengths",
        false => "ok",
    };
    for (at, (counted, collection)) in counted.iter().zip(collections).enumerate() {
        let counts = counted.counts.map(|count| count.to_string()).join("\t");
        let grown = grown.map(|grown| format!("{grown:.2}")).join(" ");
        let last = if at == 0 { String::new() } else { format!("{grown} / {bound:.2}\t{verdict}") };
        let (documents, of) = (collection.size.documents, counted.bound);
        println!("{}\t{}\t{}\t{documents}\t{counts}\t{of}\t{last}", shape.name, decimal(tau), way.name);
    }
    !falls
}

/// Runs one way in little memory, and says whether it holds no more than it may.
fn is_bounded(shape: &Shape, tau: u32, way: &Way, collection: &Collection) -> bool {
    let mut command = command(way.args, collection, tau);
    let ran = polled::polled(command.args(["--memory", &MEMORY.to_string()]).stdout(Stdio::null()));
    assert!(ran.status.success(), "{}", ran.stderr);
    let held = ran.peak >> 20;
    let verdict = if held <= MEMORY * 115 / 100 + SLACK { "ok" } else { "TOO MUCH MEMORY" };
    let (documents, tau) = (collection.size.documents, decimal(tau));
    println!(
        "{}\t{tau}\t{}\t{documents}\t{held} MB held at --memory {MEMORY}\t{verdict}",
        shape.name, way.name
    );
    verdict == "ok"
}

/// Runs a chain on a collection.
fn command(args: &[&str], collection: &Collection, tau: u32) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twinsplit"));
    command.arg("run").args(args).arg("--input").arg(&collection.path);
    command.arg("--output").arg(collection.path.with_extension("out"));
    command.args(["--features", "words:1", "--overwrite", "--quiet", "--json"]);
    if args[0] != "simhash" {
        command.args(["--tau", &decimal(tau)]);
    }
    command
}

/// A written collection.
struct Collection {
    path: std::path::PathBuf,
    size: Size,
    /// Pairs of different sets that sizes do not rule out, where these are the bound.
    lengths: u64,
}

impl Collection {
    fn write(shape: &Shape, tau: u32, times: usize, folder: &Path) -> Self {
        let (path, documents) = (folder.join(format!("{times}.jsonl")), times * shape.documents);
        let size = shape.write(tau, documents, &path).expect("a file");
        let lengths = if shape.bound == Bound::Lengths { pairs_of_lengths(shape, tau, documents) } else { 0 };
        Self { path, size, lengths }
    }
}

/// The pairs of different sets whose sizes let them be in the answer.
fn pairs_of_lengths(shape: &Shape, tau: u32, documents: usize) -> u64 {
    let (hash, mut seen, mut sizes) = (RandomState::new(), HashSet::new(), Vec::new());
    let visit = |_, words: &[u64]| {
        sizes.extend(seen.insert(hash.hash_one(words)).then_some(words.len() as u64));
        Ok(())
    };
    shape.sets(tau, documents, visit).expect("nothing is written");
    sizes.sort_unstable();
    let smaller = |(at, size): (usize, &u64)| {
        let first = sizes.partition_point(|other| other * 100 < size * u64::from(tau));
        (at - first) as u64
    };
    sizes.iter().enumerate().map(smaller).sum()
}

/// What a run counted.
struct Counted {
    counts: [u64; COUNTS.len()],
    bound: u64,
}

impl Counted {
    /// Visited postings and candidates.
    fn work(&self) -> u64 {
        self.counts[2] + CANDIDATE * self.counts[3]
    }

    fn of(collection: &Collection, tau: u32, way: &Way) -> Self {
        let run = command(way.args, collection, tau).output().expect("twinsplit");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let report: Value = serde_json::from_slice(&run.stdout).expect("run.json");
        let count = |step: &str, name: &str| report["counters"][step][name].as_u64();
        let counted = |at: usize| match way.counts[at] {
            "" => 0,
            name => {
                let counts: Vec<u64> = way.steps.iter().filter_map(|step| count(step, name)).collect();
                assert!(!counts.is_empty(), "no counter {name}");
                counts.iter().sum()
            }
        };
        let counts = std::array::from_fn(counted);
        // Clusters alone are an answer of as many lines as there are documents in them.
        let answer = count("expand", "pairs").or(count("keep", "reduce_records_out"));
        let answer = answer.or(count("keep-choose", "reduce_records_out")).expect("an answer");
        Self { counts, bound: collection.size.features + answer + collection.lengths }
    }
}
