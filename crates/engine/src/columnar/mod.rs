//! The local engine's Doc-Split, and its Term-Split with the prefix filter: the whole chain in one process on numbers, with
//! no text in between.
//!
//! It gives the same bytes as the chains of stages, and is the fast way: documents are numbered in byte order of their
//! ids, features by ascending document frequency, and the join kernel works on arrays of those numbers. It is one
//! algorithm for every size of collection and memory. Whatever grows with the text goes through
//! [spill files](crate::spill), which stay in memory while the [budget](Budget) lasts and go to disk after that; only a few bytes
//! for each document always stay.
//!
//! | step | from | to | memory beside the budget for each document |
//! |---|---|---|---|
//! | [read](documents) | text | (feature, document), by bucket of the feature; groups of equal short texts | a block of text for each thread |
//! | [count](numbering) | a bucket, sorted | lists of documents of the features that two and more have | a sort buffer |
//! | [number](numbering) | the lists | (candidate, token), by bucket of the candidate | one list |
//! | [group](groups) | a bucket, sorted | different sets, and who has them | a sort buffer, one set |
//! | [join] | sets, past the index of some | pairs of sets; of documents, by bucket of the first | the index |
//! | stars alone instead (`stars`) | the same, in rounds | pairs of sets that decide, and from them the labels | the index |
//! | Term-Split instead (`term_split`), for pairs | the same | candidates, by bucket of the later set; then as above | the index |
//! | SimHash instead ([`fingerprints`]) | fingerprints, sorted | pairs as above | 24 bytes, and while they are joined 40 to 64, or 4 where they go to disk |
//! | MinHash instead ([`minhash`]) | keys of documents, sorted | the keys, and pairs as above | one sort buffer of the keys of a band for each thread |
//! | [answer](output) | clusters; a bucket of pairs, sorted | the files | a sort buffer, two sets |
//!
//! [`ColumnarRun`] goes through the steps, by way of the [`Front`] to the groups of equal sets; [`ColumnarOpts`] says what is asked for.

pub mod documents;
pub mod fingerprints;
mod front;
pub mod groups;
pub mod join;
mod kept;
pub mod minhash;
pub mod numbering;
mod options;
pub mod output;
mod ragged;
mod reduce;
pub mod sorter;
mod stars;
pub mod store;
mod term_split;

use crate::memory::Budget;
use crate::peak::StepPeak;
use crate::progress::{Done, Progress, Unit};
use documents::Documents;
use fingerprints::{Fingerprints, Joining};
pub use front::Front;
use groups::Groups;
use join::{Found, Linked, Links, PairRow, Pairs, edge_sorter, pair_sorter, parts};
use minhash::MinHashJoin;
pub use options::{ColumnarJoin, ColumnarOpts};
use output::{Answer, LargeCluster, count_clusters};
use reduce::{AlikePairs, Reduction, reduced};
use sorter::Sorter;
use stars::stars_of;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;
use store::Store;
use term_split::TermSplit;
use twinsplit_core::cluster::star::star;
use twinsplit_core::cluster::union_find::UnionFind;
use twinsplit_core::join::kernel::{
    Asked, JoinPair, Shard, Work, index_shards, join_components, join_shards, queries,
};
use twinsplit_core::threads::lock;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{Blocks, Contents};
use twinsplit_rows::stage::Counters;
use twinsplit_rows::stages::cluster::ClusterKind;
use twinsplit_rows::stages::options::Write;

/// A run.
pub struct ColumnarRun<'a> {
    /// The input documents.
    pub inputs: &'a [PathBuf],
    /// The folder of the answer.
    pub output: &'a Path,
    /// Options.
    pub opts: ColumnarOpts,
    /// A folder for files in between, which this run alone uses; it exists.
    pub work: &'a Path,
    /// Threads.
    pub threads: usize,
    /// Bytes that the whole process may hold.
    pub memory: usize,
    /// How far the run is.
    pub progress: &'a Progress,
    /// Whether the kept documents' lines are written too.
    pub write_kept: bool,
    /// How pairs of sets are found.
    pub join: ColumnarJoin,
}

/// What a run found, beside the files of its answer.
pub struct Ran {
    /// The steps.
    pub steps: Vec<Done>,
    /// Suspiciously large clusters.
    pub large: Vec<LargeCluster>,
    /// What was read of each input.
    pub read: Vec<Contents>,
}

/// A chain of fingerprints has options for them: see [`ColumnarOpts::of`].
fn no_fingerprints() -> Error {
    Error::Usage("the options of this run make no fingerprints".to_owned())
}

fn named(counters: &[(&str, u64)]) -> Counters {
    counters.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

/// The counters of a join.
fn counters_of(work: Work) -> Counters {
    named(&[
        ("shards", work.shards),
        ("queries", work.queries),
        ("postings_visited", work.postings),
        ("candidate_pairs", work.candidates),
    ])
}

impl ColumnarRun<'_> {
    /// Runs the chain; `on_progress` is called with each step as it ends.
    pub fn run(&self, on_progress: impl FnMut(&Done)) -> Result<Ran> {
        self.run_on(self.opts.blocks(self.inputs).with_digests(), on_progress)
    }

    /// The same for documents that come from elsewhere than the inputs, and are read once: no lines of kept documents are
    /// written.
    pub fn run_on(&self, blocks: Blocks, mut on_progress: impl FnMut(&Done)) -> Result<Ran> {
        let mut done: Vec<Done> = Vec::new();
        let mut start = Instant::now();
        let mut peak = StepPeak::start();
        let mut end = |name: &str, mut counters: Counters| {
            let held = std::mem::replace(&mut peak, StepPeak::start()).end();
            counters.extend(held.map(|bytes| ("peak_memory".to_owned(), bytes)));
            let step = Done { name: name.to_owned(), seconds: start.elapsed().as_secs_f64(), counters };
            on_progress(&step);
            done.push(step);
            start = Instant::now();
        };
        let budget = Budget::new(self.memory, self.threads)?;
        self.progress.start("tokenize", "reading", Unit::Bytes, self.input_bytes());
        let keyed = self.join == ColumnarJoin::Bands;
        let opts = ColumnarOpts { keyed, ..self.opts.clone() };
        let front = Front {
            opts: &opts,
            threads: self.threads,
            budget: &budget,
            work: self.work,
            progress: self.progress,
        };
        let (mut documents, mut groups) = match self.join {
            ColumnarJoin::Fingerprints => front.fingerprints(blocks, &mut end)?,
            _ => front.groups(blocks, &mut end)?,
        };
        let read = std::mem::take(&mut documents.read);

        let rows = pair_sorter((&budget, self.work), documents.count());
        let joined = self.find_pairs(&mut documents, &mut groups, &rows, &budget, &mut end)?;
        let readers = groups.store.readers(2, 0, self.threads, &budget);
        let fingerprints = self.opts.fingerprints.as_ref().map(|opts| Fingerprints::of(&documents, opts));
        let answer = Answer::new(&documents, &groups, self.opts.similarity.0.measure(), readers);
        let answer = answer.comparing(fingerprints);
        if self.writes_pairs() {
            self.progress.start("expand", "writing", Unit::Rows, joined.document_pairs);
            let written = answer.write_pairs(&rows, &self.output.join("pairs.tsv"), self.progress)?;
            let out = [("reduce_records_out", written.lines), ("reduce_bytes_out", written.bytes)];
            end("expand", named(&[&[("pairs", joined.document_pairs)][..], &out].concat()));
        }
        drop(rows);

        let Reduction { labels, spared, counters } = match (joined.alike, self.opts.reduce.reduce_to) {
            (Some(pairs), Some(wanted)) => {
                reduced((&self.opts, wanted), &documents, &groups, &joined.ranks, pairs)?
            }
            (alike, _) => Joined { alike, ..joined }.labels(groups.count(), self.threads)?.into(),
        };
        end("cluster", counters);

        let clusters = answer.choose_without(&labels, &spared);
        drop(labels);
        self.progress.start("keep", "writing", Unit::Rows, clusters.len() as u64);
        let (path, similarity) = (self.output.join("clusters.tsv"), self.opts.similarity.0);
        let (written, dropped) = answer.write_clusters(&clusters, similarity, &path, self.progress)?;
        let out = [
            ("clusters", count_clusters(&clusters)),
            ("reduce_records_out", written.lines),
            ("reduce_bytes_out", written.bytes),
        ];
        end("keep", named(&[dropped.counters().as_slice(), &out].concat()));
        if self.write_kept {
            end("write-kept", self.written_kept(&answer.dropped(&clusters), &read)?);
        }
        Ok(Ran { steps: done, large: answer.large_clusters(&clusters)?, read })
    }

    /// Whether pairs are written, and not clusters alone.
    fn writes_pairs(&self) -> bool {
        self.opts.write.write == Write::Pairs
    }

    /// Finds the pairs, puts those that are written into `rows`, and keeps what decides over clusters.
    fn find_pairs<'b>(
        &'b self,
        documents: &mut Documents,
        groups: &mut Groups,
        rows: &Sorter<'b, PairRow>,
        budget: &'b Budget,
        end: &mut dyn FnMut(&str, Counters),
    ) -> Result<Joined<'b>> {
        let reduces = self.opts.reduce.reduce_to.is_some();
        let stars = self.opts.cluster.cluster == ClusterKind::Star && !reduces;
        let ranks = if stars || reduces { ranks(documents, groups) } else { Vec::new() };
        let edges = edge_sorter((budget, self.work), groups.count());
        // Components alone are found without most of the lists.
        if self.joins_by_index() && (stars || self.writes_pairs()) {
            groups.store.group_tokens(self.opts.similarity.0, self.threads, budget);
        }
        if stars && !self.writes_pairs() {
            let found = match self.join {
                ColumnarJoin::Bands => {
                    let found = MinHashJoin { run: self, documents, groups, budget }.stars(&ranks)?;
                    documents.drop_keys(budget);
                    Some(found)
                }
                ColumnarJoin::Fingerprints => {
                    self.fingerprints(documents)?.stars(groups, &ranks, self.joining(budget))?
                }
                ColumnarJoin::IndexShards | ColumnarJoin::PrefixCandidates => {
                    Some(self.stars(groups, &ranks, budget)?)
                }
            };
            if let Some((labels, counters)) = found {
                end(self.join.step(), counters);
                return Ok(Joined { document_pairs: 0, labels: Some(labels), ranks, edges, alike: None });
            }
        }
        let links = if reduces {
            Links::Alike { ranks: &ranks, pairs: AlikePairs::new(budget) }
        } else if stars {
            Links::Edges { ranks: &ranks, edges: edges.writer() }
        } else {
            Links::Forest(UnionFind::new(groups.count()))
        };
        let writer = self.writes_pairs().then(|| rows.writer());
        let mut pairs = Pairs::new(groups, links, writer, self.opts.max_pairs.max_pairs)?;
        let mut counters = self.join(documents, groups, budget, &mut pairs)?;
        if self.join == ColumnarJoin::Bands {
            documents.drop_keys(budget);
        }
        let (joined, document_pairs, linked) = pairs.finish()?;
        let (labels, alike) = match linked {
            Linked::Forest(forest) => (Some(forest.into_labels()), None),
            Linked::Edges => (None, None),
            Linked::Alike(pairs) => (None, Some(pairs)),
        };
        counters.insert("joined_pairs".to_owned(), joined);
        *counters.entry("spilled_bytes".to_owned()).or_default() += rows.spilled() + edges.spilled();
        end(self.join.step(), counters);
        Ok(Joined { document_pairs, labels, ranks, edges, alike })
    }

    /// Writes the lines of the documents that are kept, which are read again; gives what it counted.
    fn written_kept(&self, dropped: &[u32], read: &[Contents]) -> Result<Counters> {
        self.progress.start("write-kept", "writing", Unit::Bytes, self.input_bytes());
        let blocks = self.opts.blocks(self.inputs).with_digests();
        let (written, blocks) =
            kept::write_kept(blocks, dropped, &self.output.join("kept.jsonl"), self.progress)?;
        self.refuse_changes(read, blocks.contents())?;
        Ok(named(&[
            ("documents_kept", written.lines),
            ("reduce_records_out", written.lines),
            ("reduce_bytes_out", written.bytes),
        ]))
    }

    /// Bytes of the inputs that are files.
    fn input_bytes(&self) -> u64 {
        self.inputs.iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum()
    }

    /// An input that is not what it was when it was read first: places of documents would be those of others.
    fn refuse_changes(&self, before: &[Contents], now: &[Contents]) -> Result<()> {
        let changed = before.iter().zip(now).position(|(before, now)| before != now);
        match changed.and_then(|at| self.inputs.get(at)) {
            Some(path) => Err(Error::File {
                path: path.clone(),
                problem: "has changed while the run read it; run again when nothing writes to it".to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Whether sets are joined by an index: candidates are put down for who asks for pairs.
    fn joins_by_index(&self) -> bool {
        self.join == ColumnarJoin::IndexShards
            || self.join == ColumnarJoin::PrefixCandidates && !self.writes_pairs()
    }

    /// The fingerprints of the documents.
    fn fingerprints<'d>(&'d self, documents: &'d Documents) -> Result<Fingerprints<'d>> {
        self.opts
            .fingerprints
            .as_ref()
            .map(|opts| Fingerprints::of(documents, opts))
            .ok_or_else(no_fingerprints)
    }

    /// What a join of fingerprints may use.
    fn joining<'j>(&'j self, budget: &'j Budget) -> Joining<'j> {
        Joining { threads: self.threads, budget, work: self.work, progress: self.progress }
    }

    /// Joins the sets; gives what it counted.
    fn join(
        &self,
        documents: &Documents,
        groups: &Groups,
        budget: &Budget,
        pairs: &mut Pairs<'_, '_>,
    ) -> Result<Counters> {
        let store = &groups.store;
        if self.join == ColumnarJoin::PrefixCandidates && self.writes_pairs() {
            return TermSplit { run: self, store, budget }.run(pairs);
        }
        if self.join == ColumnarJoin::Bands {
            return MinHashJoin { run: self, documents, groups, budget }.run(pairs);
        }
        if self.join == ColumnarJoin::Fingerprints {
            return self.fingerprints(documents)?.join(groups, self.joining(budget), pairs);
        }
        let similarity = self.opts.similarity.0;
        let IndexParts { parts, shards, threads, held } = self.index_parts(store, pairs.found(), budget)?;
        self.start_joining(store, &shards);
        let on_progress = |sets| self.progress.add(sets as u64);
        let work = if let Some((forest, joined)) = pairs.forest_alone() {
            let (work, links) = join_components(store, &shards, similarity, threads, &on_progress, forest)?;
            *joined += links;
            work
        } else {
            let asked = Asked::Pairs;
            let pairs = Mutex::new(pairs);
            let take = |found: &[JoinPair]| lock(&pairs).take(found);
            join_shards(store, &shards, similarity, asked, threads, &on_progress, &take)?
        };
        budget.release(held);
        let mut counters = counters_of(work);
        counters.insert("slices".to_owned(), parts.len() as u64);
        Ok(counters)
    }

    /// The parts in which sets are indexed to find this, with the budget for one of them.
    fn index_parts(&self, store: &Store, found: Found, budget: &Budget) -> Result<IndexParts> {
        let (parts, held) = parts(store, &self.opts, found, self.threads, budget);
        let threads = store.readers(1, held, self.threads, budget);
        budget.hold(held);
        let shards = index_shards(store, &parts, self.opts.similarity.0, threads)?;
        Ok(IndexParts { parts, shards, threads, held })
    }

    /// Says that sets are about to be held against these shards.
    fn start_joining(&self, store: &Store, shards: &[Shard]) {
        let sets = queries(store, shards, self.opts.similarity.0) as u64;
        self.progress.start(self.join.step(), "joining", Unit::Sets, sets);
    }
}

/// What a join leaves.
struct Joined<'b> {
    /// How many pairs of documents are to be written.
    document_pairs: u64,
    /// By set the label of its cluster, where that is known.
    labels: Option<Vec<u32>>,
    /// By set the rank of its group, and the pairs that decide over star clusters, where it is not.
    ranks: Vec<u32>,
    edges: Sorter<'b, u64>,
    /// The pairs of sets with how alike they are, where these decide which documents are dropped.
    alike: Option<AlikePairs<'b>>,
}

impl Joined<'_> {
    /// By set the label of its cluster.
    fn labels(self, sets: u32, threads: usize) -> Result<Vec<u32>> {
        if let Some(labels) = self.labels {
            return Ok(labels);
        }
        let (stars, _) = stars_of(&self.edges, sets, threads, |_| Ok(()))?;
        Ok(self.ranks.iter().map(|rank| stars.centre(*rank)).collect())
    }
}

/// How sets are indexed.
struct IndexParts {
    /// What fits in memory at one time.
    parts: Vec<Shard>,
    /// The same in pieces that fit in a cache.
    shards: Vec<Shard>,
    /// How many threads may hold a set beside that.
    threads: usize,
    /// Bytes of the budget, to be released.
    held: usize,
}

/// By set the label of its cluster, for pairs of sets in memory.
pub fn labels(kind: ClusterKind, documents: &Documents, groups: &Groups, pairs: &[JoinPair]) -> Vec<u32> {
    match kind {
        ClusterKind::Components => {
            let mut forest = UnionFind::new(groups.count());
            pairs.iter().for_each(|pair| {
                forest.union(pair.a, pair.b);
            });
            forest.into_labels()
        }
        ClusterKind::Star => {
            let pairs: Vec<(u32, u32)> = pairs.iter().map(|pair| (pair.a, pair.b)).collect();
            star(groups.count() as usize, &ranks(documents, groups), &pairs)
        }
    }
}

/// By set the rank of its group, whose best document stands for it.
fn ranks(documents: &Documents, groups: &Groups) -> Vec<u32> {
    let best = |set: u32| groups.members(set).iter().map(|member| documents.rank(*member)).min();
    let mut order: Vec<u32> = (0..groups.count()).collect();
    order.sort_by_cached_key(|set| best(*set));
    let mut ranks = vec![0; order.len()];
    (0..).zip(&order).for_each(|(rank, set)| ranks[*set as usize] = rank);
    ranks
}
