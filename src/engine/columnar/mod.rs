//! The local engine's Doc-Split, and its Term-Split with the prefix filter: the whole chain in one process on numbers, with
//! no text in between.
//!
//! It gives the same bytes as the chains of stages, and is the fast way: documents are numbered in byte order of their
//! ids, features by ascending document frequency, and the join kernel works on arrays of those numbers. It is one
//! algorithm for every size of collection and memory. Whatever grows with the text goes through
//! [spill files](spill), which stay in memory while the [`budget`] lasts and go to disk after that; only a few bytes
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
//! | Term-Split instead (`term_split`) | the same | candidates, by bucket of the later set; then as above | the index |
//! | SimHash instead ([`fingerprints`]) | fingerprints, sorted | pairs as above | 24 bytes, and while they are joined 40 to 64, or 4 where they go to disk |
//! | MinHash instead ([`minhash`]) | keys of documents, sorted | pairs as above | the keys, and one sort buffer of them for each thread |
//! | [answer] | clusters; a bucket of pairs, sorted | the files | a sort buffer, two sets |

pub mod documents;
pub mod fingerprints;
pub mod groups;
pub mod join;
mod kept;
pub mod minhash;
pub mod numbering;
pub mod output;
mod ragged;
pub mod sorter;
mod stars;
pub mod store;
mod term_split;

use crate::chains::Columnar;
use crate::cluster::star::star;
use crate::cluster::union_find::UnionFind;
use crate::engine::memory::Budget;
use crate::engine::peak::StepPeak;
use crate::engine::progress::{Done, Progress, Unit};
use crate::error::{Error, Result};
use crate::io::{Blocks, Contents};
use crate::join::kernel::{
    Asked, JoinPair, Shard, Work, index_shards, join_components, join_shards, queries,
};
use crate::params::Params;
use crate::record::document::DocumentOpts;
use crate::sketch::Idf;
use crate::stage::Counters;
use crate::stages::cluster::{ClusterKind, ClusterKindOpts};
use crate::stages::feature_order::read_reference;
use crate::stages::index_doc::PartitionOpts;
use crate::stages::minhash::{BandOpts, SignerOpts};
use crate::stages::options::{
    EqualTextsOpts, FeatureOpts, IdfOpts, KeepOpts, MaxPairsOpts, MinFeaturesOpts, SimilarityOpts, Write,
    WriteOpts,
};
use crate::stages::simhash::FingerprintOpts;
use crate::stages::site::SiteFieldOpts;
use crate::stages::slice_plan::SlicesOpts;
use crate::threads::lock;
use crate::visible;
use clap::Args;
use documents::Documents;
use fingerprints::Fingerprints;
use groups::Groups;
use join::{Found, Links, Pairs, admit_largest, edge_sorter, pair_sorter, parts};
use minhash::{Keys, MinHashJoin};
use numbering::{Candidates, count};
use output::{Answer, LargeCluster, count_clusters};
use sorter::Sorter;
use stars::stars_of;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;
use store::Store;
use term_split::TermSplit;

/// The options of the chain, the same structs that its stages have.
#[derive(Args, Clone, Debug)]
pub struct ColumnarOpts {
    #[command(flatten)]
    pub(crate) document: DocumentOpts,
    #[command(flatten)]
    pub(crate) features: FeatureOpts,
    #[command(flatten)]
    pub(crate) idf: IdfOpts,
    #[command(flatten)]
    pub(crate) least: MinFeaturesOpts,
    #[command(flatten)]
    texts: EqualTextsOpts,
    #[command(flatten)]
    pub(crate) similarity: SimilarityOpts,
    #[command(flatten)]
    partition: PartitionOpts,
    #[command(flatten)]
    slices: SlicesOpts,
    #[command(flatten)]
    pub(crate) cluster: ClusterKindOpts,
    #[command(flatten)]
    pub(crate) keep: KeepOpts,
    #[command(flatten)]
    max_pairs: MaxPairsOpts,
    #[command(flatten)]
    write: WriteOpts,
    #[command(flatten)]
    pub(crate) site: SiteFieldOpts,
    #[command(flatten)]
    signer: SignerOpts,
    #[command(flatten)]
    bands: BandOpts,
    /// Whether documents get the keys of their bands as they are read.
    #[arg(skip)]
    keyed: bool,
    /// How documents become fingerprints, where these are compared.
    #[arg(skip)]
    pub(crate) fingerprints: Option<FingerprintOpts>,
    /// The document frequencies that their weights are made of, where these have been counted.
    #[arg(skip)]
    pub(crate) idf_of_weights: Option<Idf>,
}

impl ColumnarOpts {
    /// What the weights of fingerprints are made of, where there are fingerprints.
    fn weights_idf(&self) -> Result<Option<Idf>> {
        match (&self.fingerprints, &self.idf_of_weights) {
            (Some(_), Some(idf)) => Ok(Some(idf.clone())),
            (Some(opts), None) => opts.idf().map(Some),
            (None, _) => Ok(None),
        }
    }
}

/// Bytes of input that a thread takes at a time.
const BLOCK: usize = 1 << 20;

impl ColumnarOpts {
    /// Those of a chain whose components have these ways in one process: no other front looks at sites.
    pub fn of(params: &Params, [front, ..]: [Columnar; 4]) -> Result<Self> {
        let opts: Self = params.parse()?;
        let site = opts.site.site.filter(|_| front == Columnar::SitePrunedSets);
        let fingerprints = (front == Columnar::Fingerprints).then(|| params.parse()).transpose()?;
        Ok(Self { site: SiteFieldOpts { site }, fingerprints, ..opts })
    }

    /// What makes the keys of bands, where they are asked for.
    fn band_keys(&self) -> Result<Option<Keys>> {
        let bands = self.bands.bands(self.signer.hashes)?;
        Ok(self.keyed.then(|| Keys::new(bands, self.signer.signer())))
    }

    fn blocks(&self, inputs: &[PathBuf]) -> Blocks {
        Blocks::new(inputs.to_vec(), BLOCK).of_documents(self.document.max_line)
    }
}

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

/// How pairs of sets are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnarJoin {
    /// By an index of some sets at a time, past which larger ones are held.
    IndexShards,
    /// By candidates, which are put down before they are verified, as Term-Split with the prefix filter has it.
    PrefixCandidates,
    /// By the keys of the bands of MinHash signatures.
    Bands,
    /// By the bits of fingerprints, and not by sets.
    Fingerprints,
}

impl ColumnarJoin {
    /// That of a chain whose components have these ways in one process, where they go together.
    pub fn of(ways: [Columnar; 4]) -> Option<Self> {
        let fingerprints =
            [Columnar::Fingerprints, Columnar::EqualBits, Columnar::Distances, Columnar::Output];
        if ways == fingerprints {
            return Some(Self::Fingerprints);
        }
        let [
            Columnar::NumberedSets | Columnar::SitePrunedSets,
            candidates,
            Columnar::Overlaps,
            Columnar::Output,
        ] = ways
        else {
            return None;
        };
        match candidates {
            Columnar::IndexShards => Some(Self::IndexShards),
            Columnar::PrefixCandidates => Some(Self::PrefixCandidates),
            Columnar::Bands => Some(Self::Bands),
            _ => None,
        }
    }
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

/// What becomes of a collection before its sets are joined.
pub struct Collection<'a> {
    /// Options.
    pub opts: &'a ColumnarOpts,
    /// Threads.
    pub threads: usize,
    /// What may be held in memory.
    pub budget: &'a Budget,
    /// Where the rest goes.
    pub work: &'a Path,
    /// How far it is.
    pub progress: &'a Progress,
}

impl Collection<'_> {
    /// Reads the documents and brings them into groups of equal sets; `end` hears of each step with its counters. Only
    /// documents that may be in a pair at or above tau, or equal another one, are in a group.
    pub fn groups(&self, blocks: Blocks, mut end: impl FnMut(&str, Counters)) -> Result<(Documents, Groups)> {
        let Self { opts, threads, budget, work, progress } = *self;
        let place = (budget, work);
        let features = Sorter::new(budget, work, 0, u64::MAX);
        let (mut documents, counters) = Documents::read(blocks, opts, threads, &features, place, progress)?;
        end("tokenize", counters);

        let keeps = self.keeps(documents.count() as u64)?;
        let (lists, counted) = count(features, &mut documents, keeps, threads, place, progress)?;
        let mut counters = vec![
            ("features", counted.features),
            ("features_out_of_idf_range", counted.out_of_range.features),
            ("postings_out_of_idf_range", counted.out_of_range.postings),
            ("features_shared", counted.shared),
            ("spilled_bytes", counted.spilled),
        ];
        if opts.site.site.is_some() {
            counters.push(("features_of_one_site", counted.of_one_site.features));
            counters.push(("postings_of_one_site", counted.of_one_site.postings));
        }
        end("feature-order", named(&counters));

        let similarity = opts.similarity.0;
        let candidates = Candidates::choose(&documents, &lists, similarity, |size| opts.least.admits(size));
        if candidates.largest.1 > 0 {
            admit_largest(&documents, candidates.largest, similarity, budget)?;
        }
        let rows = candidates.rows(lists, threads, place, progress)?;
        let groups = Groups::of(&rows, &candidates, &documents, similarity, threads, place, progress)?;
        let counters = [
            ("copies", groups.copies()),
            ("equal_texts", documents.texts.copies()),
            ("candidates", candidates.numbers.len() as u64),
            ("sets", groups.count().into()),
            ("sets_below_min_features", documents.sets(|size| !opts.least.admits(size))),
            ("sets_without_features", documents.sets(|size| size == 0)),
            ("spilled_bytes", rows.rows.spilled() + groups.store.spilled()),
        ];
        (documents.sizes, documents.hashes) = Default::default();
        end("equal-sets", named(&counters));
        Ok((documents, groups))
    }

    /// The same of fingerprints.
    pub fn fingerprints(
        &self,
        blocks: Blocks,
        mut end: impl FnMut(&str, Counters),
    ) -> Result<(Documents, Groups)> {
        let Self { opts, threads, budget, work, progress } = *self;
        let features = Sorter::new(budget, work, 0, u64::MAX);
        let (documents, counters) =
            Documents::read(blocks, opts, threads, &features, (budget, work), progress)?;
        end("simhash", counters);
        let Some(opts) = &opts.fingerprints else { return Err(no_fingerprints()) };
        let groups = Fingerprints::of(&documents, opts).groups((budget, work), progress)?;
        end("equal-fingerprints", named(&[("copies", groups.copies())]));
        Ok((documents, groups))
    }

    /// Whether a feature of a document frequency is in the IDF range.
    fn keeps(&self, documents: u64) -> Result<Box<dyn Fn(u64, u64) -> bool + Sync>> {
        let range = self.opts.idf.idf;
        if range.is_everything() {
            return Ok(Box::new(|_, _| true));
        }
        let Some(path) = &self.opts.idf.table.idf_table else {
            let (least, most) = range.df_range(documents);
            return Ok(Box::new(move |_, frequency| (least..=most).contains(&frequency)));
        };
        let table = read_reference(path, &self.opts.features)?;
        let (least, most) = range.df_range(table.documents);
        let mut rows = table.rows;
        rows.sort_unstable();
        self.budget.hold(rows.len() * 16);
        if self.budget.spare() == 0 {
            return Err(Error::Limit(format!(
                "feature-order: {}: a table of {} features takes {} MB of memory; give more with --memory",
                visible::path(path),
                rows.len(),
                (rows.len() * 16) >> 20
            )));
        }
        Ok(Box::new(move |feature, _| {
            let at = rows.binary_search_by_key(&feature, |row| row.0);
            (least..=most).contains(&at.map_or(1, |at| rows[at].1))
        }))
    }
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
        let bytes =
            || self.inputs.iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum();
        self.progress.start("tokenize", "reading", Unit::Bytes, bytes());
        let keyed = self.join == ColumnarJoin::Bands;
        let opts = ColumnarOpts { keyed, ..self.opts.clone() };
        let collection = Collection {
            opts: &opts,
            threads: self.threads,
            budget: &budget,
            work: self.work,
            progress: self.progress,
        };
        let (mut documents, mut groups) = match self.join {
            ColumnarJoin::Fingerprints => collection.fingerprints(blocks, &mut end)?,
            _ => collection.groups(blocks, &mut end)?,
        };
        let read = std::mem::take(&mut documents.read);
        let place = (&budget, self.work);

        let ranks = match self.opts.cluster.cluster {
            ClusterKind::Components => Vec::new(),
            ClusterKind::Star => ranks(&documents, &groups),
        };
        let edges = edge_sorter(place, groups.count());
        let rows = pair_sorter(place, documents.count());
        let writes = self.opts.write.write == Write::Pairs;
        let stars = self.opts.cluster.cluster == ClusterKind::Star;
        // Components alone are found without most of the lists.
        if self.join == ColumnarJoin::IndexShards && (stars || writes) {
            groups.store.group_tokens(self.opts.similarity.0, self.threads, &budget);
        }
        let (count, labels) = if self.join == ColumnarJoin::IndexShards && stars && !writes {
            let (labels, counters) = self.stars(&groups, &ranks, &budget)?;
            end("docsplit-query", counters);
            (0, Some(labels))
        } else {
            let links = match self.opts.cluster.cluster {
                ClusterKind::Components => Links::Forest(UnionFind::new(groups.count())),
                ClusterKind::Star => Links::Edges { ranks: &ranks, edges: edges.writer() },
            };
            let mut pairs =
                Pairs::new(&groups, links, writes.then(|| rows.writer()), self.opts.max_pairs.max_pairs)?;
            let (step, mut counters) = self.join(&documents, &groups, &budget, &mut pairs)?;
            if self.join == ColumnarJoin::Bands {
                documents.keys = Vec::new();
            }
            let (joined, count, forest) = pairs.finish()?;
            counters.insert("joined_pairs".to_owned(), joined);
            *counters.entry("spilled_bytes".to_owned()).or_default() += rows.spilled() + edges.spilled();
            end(step, counters);
            (count, forest.map(UnionFind::into_labels))
        };

        let readers = groups.store.readers(2, 0, self.threads, &budget);
        let fingerprints = self.opts.fingerprints.as_ref().map(|opts| Fingerprints::of(&documents, opts));
        let answer = Answer::new(&documents, &groups, self.opts.similarity.0.measure(), readers);
        let answer = answer.comparing(fingerprints);
        if writes {
            self.progress.start("expand", "writing", Unit::Rows, count);
            let written = answer.write_pairs(&rows, &self.output.join("pairs.tsv"), self.progress)?;
            let out = [("reduce_records_out", written.lines), ("reduce_bytes_out", written.bytes)];
            end("expand", named(&[&[("pairs", count)][..], &out].concat()));
        }
        drop(rows);

        let labels = match labels {
            Some(labels) => labels,
            None => {
                let (stars, _) = stars_of(&edges, groups.count(), self.threads, |_| Ok(()))?;
                ranks.iter().map(|rank| stars.centre(*rank)).collect()
            }
        };
        end("cluster", Counters::new());

        let clusters = answer.choose(&labels);
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
            self.progress.start("write-kept", "writing", Unit::Bytes, bytes());
            let dropped = answer.dropped(&clusters);
            let path = self.output.join("kept.jsonl");
            let blocks = self.opts.blocks(self.inputs).with_digests();
            let (written, blocks) = kept::write_kept(blocks, &dropped, &path, self.progress)?;
            self.refuse_changes(&read, blocks.contents())?;
            let counters = [
                ("documents_kept", written.lines),
                ("reduce_records_out", written.lines),
                ("reduce_bytes_out", written.bytes),
            ];
            end("write-kept", named(&counters));
        }
        Ok(Ran { steps: done, large: answer.large_clusters(&clusters), read })
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

    /// Joins the sets; gives the step's name and what it counted.
    fn join(
        &self,
        documents: &Documents,
        groups: &Groups,
        budget: &Budget,
        pairs: &mut Pairs<'_, '_>,
    ) -> Result<(&'static str, Counters)> {
        let store = &groups.store;
        if self.join == ColumnarJoin::PrefixCandidates {
            return Ok(("pcp-map", TermSplit { run: self, store, budget }.run(pairs)?));
        }
        if self.join == ColumnarJoin::Bands {
            return Ok(("lsh-bands", MinHashJoin { run: self, documents, groups, budget }.run(pairs)?));
        }
        if self.join == ColumnarJoin::Fingerprints {
            let Some(opts) = &self.opts.fingerprints else { return Err(no_fingerprints()) };
            self.progress.start("hamming-pairs", "joining", Unit::Sets, groups.count().into());
            let fingerprints = Fingerprints::of(documents, opts);
            let most = opts.distance.distance.most();
            return Ok((
                "hamming-pairs",
                fingerprints.join(groups, most, self.threads, (budget, self.work), pairs)?,
            ));
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
        Ok(("docsplit-query", counters))
    }

    /// The parts in which sets are indexed to find this, with the budget for one of them.
    fn index_parts(&self, store: &Store, found: Found, budget: &Budget) -> Result<IndexParts> {
        let (parts, held) = parts(store, &self.opts, found, self.threads, budget);
        let threads = store.readers(1, held, self.threads, budget);
        budget.hold(held);
        let shards = index_shards(store, &parts, self.opts.similarity.0)?;
        Ok(IndexParts { parts, shards, threads, held })
    }

    /// Says that sets are about to be held against these shards.
    fn start_joining(&self, store: &Store, shards: &[Shard]) {
        let sets = queries(store, shards, self.opts.similarity.0) as u64;
        self.progress.start("docsplit-query", "joining", Unit::Sets, sets);
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
