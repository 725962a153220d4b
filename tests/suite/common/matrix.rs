//! A matrix is declared as a table of values, run to the end, counted, and the count compared with
//! the product of the table: a combination that is left out is a failure and not a silence.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::expected::{Expected, KINDS, Keep, Kind};
use super::features;
use super::harness::{Input, check};
use super::oracle::{Doc, Features, Overlaps, short_texts};

/// The thresholds of the issue: the tenths, and three where f64 puts pairs on the wrong side.
pub const TAUS: [&str; 13] =
    ["0.1", "0.2", "0.3", "0.4", "0.5", "0.55", "0.6", "0.65", "0.7", "0.8", "0.85", "0.9", "1.0"];

/// Some of them, for runs that take seconds; `make test-long` has all.
pub const FEW_TAUS: [&str; 5] = ["0.1", "0.4", "0.55", "0.8", "1.0"];

/// Numbers of threads.
pub const THREADS: [usize; 4] = [1, 2, 3, 4];

/// A way to find the pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    TermPlain,
    TermPrefix,
    BySize(usize),
    ByTask(usize),
}

use Variant::{BySize, ByTask, TermPlain, TermPrefix};

/// Both chains in all their forms.
pub const VARIANTS: [Variant; 8] =
    [TermPlain, TermPrefix, BySize(1), BySize(3), BySize(7), ByTask(1), ByTask(3), ByTask(7)];

impl Variant {
    /// The chain and the options that ask for this way.
    pub fn args(self) -> Vec<String> {
        let words = match self {
            TermPlain => "term-split --pcp plain".to_owned(),
            TermPrefix => "term-split --pcp prefix".to_owned(),
            BySize(slices) => format!("doc-split --partition by-size --slices {slices}"),
            ByTask(slices) => format!("doc-split --partition by-task --slices {slices}"),
        };
        words.split(' ').map(str::to_owned).collect()
    }

    /// Whether there are posting lists that `--posting-block` cuts.
    pub fn has_blocks(self) -> bool {
        matches!(self, TermPlain | TermPrefix)
    }
}

/// An engine, as `--engine` names it.
pub type Engine = &'static str;

/// What posting blocks a matrix asks for: the default, or lists cut into runs of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blocks {
    Default,
    OfTwo,
    /// Each posting its own block: where the lists of a prefix's rarest features hold two postings, and runs of two
    /// would cut none.
    OfOne,
}

/// Both, for tables.
pub const BLOCKS: [Blocks; 2] = [Blocks::Default, Blocks::OfTwo];

/// The same where lists are short.
pub const SHORT_BLOCKS: [Blocks; 2] = [Blocks::Default, Blocks::OfOne];

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    pub variant: Variant,
    pub tau: &'static str,
    pub engine: Engine,
    pub blocks: Blocks,
    pub threads: usize,
    pub kind: Kind,
    pub keep: Keep,
}

impl Case {
    /// Whether there are posting lists that can be cut into blocks: prefix Term-Split in one process has none.
    fn has_blocks(&self) -> bool {
        self.variant.has_blocks() && (self.variant != Variant::TermPrefix || self.engine != "local")
    }

    /// The options of this run, after those that all runs on a corpus have.
    pub fn args(&self, common: &[String]) -> Vec<String> {
        let mut args = self.variant.args();
        let words = format!("--engine {} --threads {} --tau {}", self.engine, self.threads, self.tau);
        args.extend(words.split(' ').map(str::to_owned));
        args.extend(["--cluster".to_owned(), self.kind.name().to_owned()]);
        args.extend(self.keep.args().iter().map(|word| (*word).to_owned()));
        let block = match self.blocks {
            Blocks::Default => None,
            Blocks::OfTwo => Some("2"),
            Blocks::OfOne => Some("1"),
        };
        args.extend(block.into_iter().flat_map(|size| ["--posting-block".to_owned(), size.to_owned()]));
        args.extend(common.iter().cloned());
        args
    }
}

/// How threads and kinds of cluster enter a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Every number of threads with every kind of cluster: a factor of eight.
    All,
    /// One of the eight for each combination, in turn along the thresholds, so that thirteen of them
    /// meet all eight with every variant: a factor of one.
    InTurn,
    /// Both kinds of cluster, and the numbers of threads in turn: a factor of two.
    Kinds,
}

/// The declared product.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub variants: &'static [Variant],
    pub taus: &'static [&'static str],
    pub engines: &'static [Engine],
    pub blocks: &'static [Blocks],
    pub keeps: &'static [Keep],
    pub rest: Rest,
}

impl Table {
    /// All variants, thresholds and both settings of posting blocks with one engine.
    pub const fn whole(engine: &'static [Engine], rest: Rest) -> Self {
        Self {
            variants: &VARIANTS,
            taus: &TAUS,
            engines: engine,
            blocks: &BLOCKS,
            keeps: &[Keep::First],
            rest,
        }
    }

    /// How many combinations the table declares.
    pub fn declared(&self) -> usize {
        let rest = match self.rest {
            Rest::All => THREADS.len() * KINDS.len(),
            Rest::InTurn => 1,
            Rest::Kinds => KINDS.len(),
        };
        let (variants, taus, engines) = (self.variants.len(), self.taus.len(), self.engines.len());
        variants * taus * engines * self.blocks.len() * self.keeps.len() * rest
    }

    /// The combinations of one threshold, given by its place in the table.
    pub fn cases(&self, at: usize) -> Vec<Case> {
        let tau = self.taus[at];
        let mut cases = Vec::new();
        for (v, &variant) in self.variants.iter().enumerate() {
            for &engine in self.engines {
                for (b, &blocks) in self.blocks.iter().enumerate() {
                    for &keep in self.keeps {
                        for (threads, kind) in self.rest(v + at + b) {
                            cases.push(Case { variant, tau, engine, blocks, threads, kind, keep });
                        }
                    }
                }
            }
        }
        cases
    }

    /// Threads and kinds of cluster for the combination at a turn.
    fn rest(&self, turn: usize) -> Vec<(usize, Kind)> {
        let pick = |turn: usize| (THREADS[turn % 4], KINDS[turn / 4 % 2]);
        match self.rest {
            Rest::All => (0..8).map(pick).collect(),
            Rest::InTurn => vec![pick(turn)],
            Rest::Kinds => KINDS.iter().map(|&kind| (THREADS[turn % 4], kind)).collect(),
        }
    }
}

/// A corpus, its sets as they are joined, and the overlaps of all its pairs.
pub struct Subject {
    pub docs: Vec<Doc>,
    pub sets: Vec<Features>,
    /// Texts that are compared as a whole.
    pub texts: Vec<Option<String>>,
    pub overlaps: Overlaps,
    /// Options that every run has: the features, and what else made the sets what they are.
    pub args: Vec<String>,
}

impl Subject {
    /// A corpus with one kind of features and nothing else.
    pub fn new(docs: Vec<Doc>, kind: &str, floor: &str) -> Self {
        let sets = features::of(&docs, kind);
        let texts = short_texts(&docs, &sets, 1);
        Self::with_sets(docs, (sets, texts), floor, &["--features", kind])
    }

    /// A corpus with sets that options made smaller, and the texts of those that were too small before any IDF range.
    pub fn with_sets(
        docs: Vec<Doc>,
        (sets, texts): (Vec<Features>, Vec<Option<String>>),
        floor: &str,
        args: &[&str],
    ) -> Self {
        let overlaps = Overlaps::count(&sets, floor);
        let args = args.iter().map(|word| (*word).to_owned()).collect();
        Self { docs, sets, texts, overlaps, args }
    }

    /// What a run with these options should write.
    pub fn expected(&self, tau: &str, kind: Kind, keep: Keep) -> Expected {
        Expected::new(&self.docs, &self.sets, &self.texts, &self.overlaps.pairs(tau), kind, keep)
    }
}

/// Failures after which a matrix stops: more of them rarely tell more.
const ENOUGH: usize = 3;

/// Runs a table on a corpus, two runs at a time, and panics with what differed. `about` says how the
/// corpus is made again: a seed, or a name.
pub fn matrix(name: &str, about: &str, subject: &Subject, table: &Table) {
    let input = Input::new(&subject.docs);
    let ran: Mutex<BTreeSet<Case>> = Mutex::default();
    let failures: Mutex<Vec<String>> = Mutex::default();
    for at in 0..table.taus.len() {
        let cases = table.cases(at);
        let mut wanted: Vec<(Kind, Keep)> = cases.iter().map(|case| (case.kind, case.keep)).collect();
        wanted.sort();
        wanted.dedup();
        let expected: Vec<Expected> =
            wanted.iter().map(|&(kind, keep)| subject.expected(table.taus[at], kind, keep)).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                if failures.lock().expect("no panic").len() >= ENOUGH {
                    return;
                }
                let of = wanted.binary_search(&(case.kind, case.keep)).expect("it is listed");
                let blocks = case.blocks != Blocks::Default && case.has_blocks();
                match check(&input, &case.args(&subject.args), &expected[of], blocks) {
                    Ok(()) => drop(ran.lock().expect("no panic").insert(*case)),
                    Err(failure) => failures.lock().expect("no panic").push(failure),
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(work);
            scope.spawn(work);
        });
    }
    let ran = ran.into_inner().expect("no panic").len();
    let failures = failures.into_inner().expect("no panic");
    println!("matrix {name}: {ran} combinations");
    if !failures.is_empty() {
        input.keep();
        panic!("matrix {name} ({about}), inputs kept:\n{}", failures.join("\n"));
    }
    assert_eq!(ran, table.declared(), "matrix {name} left combinations out");
}
