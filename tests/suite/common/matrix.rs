//! A matrix is declared as a table of values. Its runs, either the whole product or as many as it takes for every two
//! values to meet, are counted, and what met in them is compared with what meets in the product: a pair of values that is
//! left out is a failure and not a silence.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cover::{self, Choice, Meeting};
use super::expected::{Expected, KINDS, Keep, Kind};
use super::features;
use super::harness::{Input, check};
use super::oracle::{Doc, Features, Overlaps, Similarity, at_least, decimal, short_texts};

/// The thresholds of the issue: the tenths, and three where f64 puts pairs on the wrong side.
pub const TAUS: [&str; 13] =
    ["0.1", "0.2", "0.3", "0.4", "0.5", "0.55", "0.6", "0.65", "0.7", "0.8", "0.85", "0.9", "1.0"];

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

/// A threshold for a similarity: of an overlap as many features as there are tenths, rounded up.
fn threshold(similarity: Similarity, tau: &str) -> String {
    match similarity {
        Similarity::Overlap => (decimal(tau) * 10).ceil().to_integer().to_string(),
        _ => tau.to_owned(),
    }
}

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
    pub similarity: Similarity,
    /// Its place among the corpora of the table.
    pub corpus: usize,
}

impl Case {
    /// Whether there are posting lists that can be cut into blocks: prefix Term-Split in one process has none.
    pub fn has_blocks(&self) -> bool {
        self.variant.has_blocks() && (self.variant != Variant::TermPrefix || self.engine != "local")
    }

    /// The options of this run, after those that all runs on a corpus have.
    pub fn args(&self, common: &[String]) -> Vec<String> {
        let mut args = self.variant.args();
        let tau = threshold(self.similarity, self.tau);
        let words = format!("--engine {} --threads {} --tau {tau}", self.engine, self.threads);
        args.extend(words.split(' ').map(str::to_owned));
        if self.similarity != Similarity::Jaccard {
            args.extend(["--similarity".to_owned(), self.similarity.name().to_owned()]);
        }
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

/// How many combinations of a table are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// All.
    Product,
    /// As many as it takes for every two values to meet.
    Pairs,
}

/// The declared values of each option.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub variants: &'static [Variant],
    pub taus: &'static [&'static str],
    pub engines: &'static [Engine],
    pub blocks: &'static [Blocks],
    pub threads: &'static [usize],
    pub kinds: &'static [Kind],
    pub keeps: &'static [Keep],
    pub similarities: &'static [Similarity],
    /// How many corpora it is run on.
    pub corpora: usize,
    pub cover: Cover,
}

impl Table {
    /// All variants, thresholds, posting blocks, threads and kinds of cluster on one corpus.
    pub const fn whole(engines: &'static [Engine], cover: Cover) -> Self {
        Self {
            variants: &VARIANTS,
            taus: &TAUS,
            engines,
            blocks: &BLOCKS,
            threads: &THREADS,
            kinds: &KINDS,
            keeps: &[Keep::SmallestId],
            similarities: &[Similarity::Jaccard],
            corpora: 1,
            cover,
        }
    }

    /// The product, but for combinations that cut posting lists where there are none: they would repeat others.
    fn product(&self) -> Vec<Choice<9>> {
        let values = [
            self.variants.len(),
            self.taus.len(),
            self.engines.len(),
            self.blocks.len(),
            self.threads.len(),
            self.kinds.len(),
            self.keeps.len(),
            self.similarities.len(),
            self.corpora,
        ];
        let own = |choice: &Choice<9>| {
            let case = self.case(choice);
            case.blocks == Blocks::Default || case.has_blocks()
        };
        cover::product(values).into_iter().filter(own).collect()
    }

    fn case(&self, choice: &Choice<9>) -> Case {
        Case {
            variant: self.variants[choice[0]],
            tau: self.taus[choice[1]],
            engine: self.engines[choice[2]],
            blocks: self.blocks[choice[3]],
            threads: self.threads[choice[4]],
            kind: self.kinds[choice[5]],
            keep: self.keeps[choice[6]],
            similarity: self.similarities[choice[7]],
            corpus: choice[8],
        }
    }

    /// The combinations that are run.
    fn choices(&self) -> Vec<Choice<9>> {
        match self.cover {
            Cover::Product => self.product(),
            Cover::Pairs => cover::covering(&self.product()),
        }
    }

    /// The same as runs, those of a corpus and of a threshold side by side.
    pub fn cases(&self) -> Vec<Case> {
        let mut cases: Vec<Case> = self.choices().iter().map(|choice| self.case(choice)).collect();
        cases.sort_by_key(|case| (case.corpus, case.tau));
        cases
    }

    /// Every two values that meet in the product.
    pub fn meetings(&self) -> BTreeSet<Meeting> {
        self.product().iter().flat_map(|choice| cover::meetings(choice)).collect()
    }

    /// The values that meet in some runs.
    fn met<'c>(&self, ran: impl Iterator<Item = &'c Case>) -> BTreeSet<Meeting> {
        let ran: BTreeSet<&Case> = ran.collect();
        let choices = self.product().into_iter().filter(|choice| ran.contains(&self.case(choice)));
        choices.flat_map(|choice| cover::meetings(&choice).collect::<Vec<_>>()).collect()
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

    /// A corpus with sets that options made smaller, and the texts of those that are too small after it all.
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

    /// A corpus for any similarity, of which the lowest threshold is `floor`.
    pub fn of_any_similarity(docs: Vec<Doc>, kind: &str, floor: &str) -> Self {
        let subject = Self::new(docs, kind, "1");
        Self { overlaps: Overlaps::of_any_similarity(&subject.sets, floor), ..subject }
    }

    /// What a run with these options should write.
    pub fn expected(&self, tau: &str, kind: Kind, keep: Keep) -> Expected {
        self.expected_by(Similarity::Jaccard, tau, kind, keep)
    }

    /// The same for another similarity.
    pub fn expected_by(&self, similarity: Similarity, tau: &str, kind: Kind, keep: Keep) -> Expected {
        let threshold = threshold(similarity, tau);
        let pairs = self.overlaps.pairs_by(similarity, &threshold, &self.sets);
        if similarity != Similarity::Overlap {
            return Expected::by(similarity, (&self.docs, &self.sets, &self.texts), &pairs, kind, keep);
        }
        // A set that is smaller takes no part, and its text is compared instead.
        let least = threshold.parse().expect("a number");
        let sets = at_least(&self.sets, least);
        let texts = short_texts(&self.docs, &self.sets, least);
        Expected::by(similarity, (&self.docs, &sets, &texts), &pairs, kind, keep)
    }
}

/// Failures after which a matrix stops: more of them rarely tell more.
const ENOUGH: usize = 3;

/// Makes a corpus when its runs begin.
pub type Make<'a> = &'a dyn Fn() -> Subject;

/// Runs a table on its corpora, two runs at a time, and panics with what differed. A corpus's name says how it is made
/// again: a seed, or a folder.
pub fn matrix(name: &str, corpora: &[(&str, Make)], table: &Table) {
    assert_eq!(corpora.len(), table.corpora, "matrix {name} has other corpora than its table");
    let cases = table.cases();
    let mut ran: BTreeSet<Case> = BTreeSet::new();
    for of_corpus in cases.chunk_by(|x, y| x.corpus == y.corpus) {
        let (about, make) = corpora[of_corpus[0].corpus];
        let subject = make();
        let input = Input::new(&subject.docs);
        let mut failures = Vec::new();
        for of_tau in of_corpus.chunk_by(|x, y| x.tau == y.tau) {
            failures.extend(side_by_side(&input, &subject, of_tau));
            if failures.len() >= ENOUGH {
                break;
            }
        }
        if !failures.is_empty() {
            input.keep();
            panic!("matrix {name} ({about}), inputs kept:\n{}", failures.join("\n"));
        }
        ran.extend(of_corpus);
    }
    let (all, met) = (table.meetings(), table.met(ran.iter()));
    println!(
        "matrix {name}: {} of {} combinations, {} of {} pairs of options' values",
        ran.len(),
        table.product().len(),
        met.len(),
        all.len()
    );
    assert_eq!(ran.len(), cases.len(), "matrix {name} left combinations out");
    assert_eq!(met, all, "matrix {name} left pairs of values out");
}

/// Runs the combinations of one corpus and threshold, and gives what differed.
fn side_by_side(input: &Input, subject: &Subject, cases: &[Case]) -> Vec<String> {
    let what = |case: &Case| (case.similarity, case.kind, case.keep);
    let mut wanted: Vec<(Similarity, Kind, Keep)> = cases.iter().map(what).collect();
    wanted.sort();
    wanted.dedup();
    let expected: Vec<Expected> =
        wanted.iter().map(|&(by, kind, keep)| subject.expected_by(by, cases[0].tau, kind, keep)).collect();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if failures.lock().expect("no panic").len() >= ENOUGH {
                return;
            }
            let of = wanted.binary_search(&what(case)).expect("it is listed");
            let blocks = case.blocks != Blocks::Default;
            if let Err(failure) = check(input, &case.args(&subject.args), &expected[of], blocks) {
                failures.lock().expect("no panic").push(failure);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    failures.into_inner().expect("no panic")
}
