//! The local engine's Doc-Split: the whole chain in one process on numbers, with no text in between.
//!
//! It gives the same bytes as the chain of stages, and is the fast way: documents are numbered in byte order of their
//! ids, features by ascending document frequency, and the join kernel works on arrays of those numbers.

pub mod answer;
pub(crate) mod corpus;
mod numbering;

use crate::cluster::groups::star_of_groups;
use crate::cluster::union_find::UnionFind;
use crate::error::{Error, Result};
use crate::index::slices::{SizeCount, plan_slices};
use crate::join::doc_split::join_dealt;
use crate::join::kernel::{JoinPair, self_join_slices};
use crate::record::document::DocumentOpts;
use crate::stage::Counters;
use crate::stages::cluster::{ClusterKind, ClusterKindOpts};
use crate::stages::index_doc::{Partition, PartitionOpts};
use crate::stages::options::{FeatureOpts, IdfOpts, KeepOpts, MaxPairsOpts, MinFeaturesOpts, TauOpts};
use crate::stages::slice_plan::SlicesOpts;
use answer::LargeCluster;
use clap::Args;
use corpus::{Corpus, Representatives};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The options of the chain, the same structs that its stages have.
#[derive(Args, Clone, Debug)]
pub struct DenseOpts {
    #[command(flatten)]
    pub(crate) document: DocumentOpts,
    #[command(flatten)]
    features: FeatureOpts,
    #[command(flatten)]
    idf: IdfOpts,
    #[command(flatten)]
    pub(crate) least: MinFeaturesOpts,
    #[command(flatten)]
    tau: TauOpts,
    #[command(flatten)]
    partition: PartitionOpts,
    #[command(flatten)]
    slices: SlicesOpts,
    #[command(flatten)]
    pub(crate) cluster: ClusterKindOpts,
    #[command(flatten)]
    keep: KeepOpts,
    #[command(flatten)]
    max_pairs: MaxPairsOpts,
}

/// A run.
pub struct DenseRun<'a> {
    /// The input documents.
    pub inputs: &'a [PathBuf],
    /// The folder of the answer.
    pub output: &'a Path,
    /// Options.
    pub opts: DenseOpts,
    /// Threads.
    pub threads: usize,
    /// Whether the kept documents' lines are written too.
    pub write_kept: bool,
}

/// A finished step: its name, its seconds, its counters.
pub type Done = (String, f64, Counters);

impl DenseRun<'_> {
    /// Runs the chain; `said` hears of each step as it ends. Gives the steps and the suspiciously large clusters.
    pub fn run(&self, mut said: impl FnMut(&Done)) -> Result<(Vec<Done>, Vec<LargeCluster>)> {
        let mut done: Vec<Done> = Vec::new();
        let mut start = Instant::now();
        let mut end = |name: &str, counters: Counters| {
            let step = (name.to_owned(), start.elapsed().as_secs_f64(), counters);
            said(&step);
            done.push(step);
            start = Instant::now();
        };

        let mut corpus = Corpus::read(self.inputs, &self.opts, self.threads)?;
        end("tokenize", corpus.counters());
        let (sets, counted) = corpus.take_sets(&self.opts, self.threads)?;
        let counters = [
            ("features".to_owned(), counted.features),
            ("features_out_of_idf_range".to_owned(), counted.left_out),
        ];
        end("feature-order", counters.into());
        let representatives = Representatives::of(&sets, |size| self.opts.least.admits(size));
        drop(sets);
        let copies =
            (0..representatives.copies.len()).map(|at| representatives.copies.get(at).len() as u64).sum();
        end("equal-sets", [("copies".to_owned(), copies)].into());

        let mut slices = 0;
        let pairs = self.join(&representatives, &mut slices);
        end(
            "docsplit-query",
            [("slices".to_owned(), slices), ("joined_pairs".to_owned(), pairs.len() as u64)].into(),
        );

        let groups = answer::Groups::new(&corpus, &representatives, &pairs);
        let count = representatives.count_pairs(&pairs);
        let limit = self.opts.max_pairs.max_pairs;
        if count > limit {
            return Err(Error::Limit(format!(
                "the answer holds {count} pairs, more than --max-pairs {limit}"
            )));
        }
        groups.write_pairs(&self.output.join("pairs.tsv"))?;
        end("expand", [("pairs".to_owned(), count)].into());

        let labels = labels(self.opts.cluster.cluster, &corpus, &representatives, &pairs);
        end("cluster", Counters::new());
        let (clusters, dropped) = groups.choose(&labels);
        let counters = [
            ("clusters".to_owned(), clusters.len() as u64),
            ("documents_dropped".to_owned(), dropped.len() as u64),
        ];
        groups.write_clusters(&clusters, &self.output.join("clusters.tsv"))?;
        end("keep", counters.into());
        if self.write_kept {
            let kept = answer::write_kept(self.inputs, &dropped, &self.output.join("kept.jsonl"))?;
            end("write-kept", [("documents_kept".to_owned(), kept)].into());
        }
        Ok((done, groups.large_clusters(&clusters)))
    }

    fn join(&self, own: &Representatives, slices: &mut u64) -> Vec<JoinPair> {
        let tau = self.opts.tau.tau;
        let mut pairs = Vec::new();
        let mut sink = |pair| pairs.push(pair);
        match self.opts.partition.partition {
            Partition::ByTask => {
                let parts = self.opts.slices.slices.unwrap_or(self.threads as u64).max(1);
                *slices = parts;
                join_dealt(&own.sets, parts as usize, tau, self.threads, &mut sink);
            }
            Partition::BySize => {
                let ranges = self.ranges(own);
                *slices = ranges.len() as u64;
                self_join_slices(&own.sets, &ranges, tau, self.threads, &mut sink);
            }
        }
        pairs
    }

    /// The plan's slices as ranges of sets, which are sorted by size.
    fn ranges(&self, own: &Representatives) -> Vec<Range<usize>> {
        let mut counts: Vec<SizeCount> = Vec::new();
        for set in 0..own.sets.len() {
            let size = own.sets.size(set) as u64;
            match counts.last_mut() {
                Some(count) if count.size == size => count.docs += 1,
                _ => counts.push(SizeCount { size, docs: 1 }),
            }
        }
        let mut start = 0;
        plan_slices(&counts, self.opts.tau.tau, self.opts.slices.wanted())
            .iter()
            .map(|slice| {
                let range = start..start + slice.docs as usize;
                start = range.end;
                range
            })
            .collect()
    }
}

/// The cluster of each document, by a label.
pub(crate) fn labels(
    kind: ClusterKind,
    corpus: &Corpus,
    own: &Representatives,
    pairs: &[JoinPair],
) -> Vec<u32> {
    let documents = corpus.ids.len();
    let copies = (0..own.documents.len())
        .flat_map(|at| own.copies.get(at).iter().map(move |copy| (*copy, own.documents[at])));
    let edges = pairs.iter().map(|pair| (own.documents[pair.a as usize], own.documents[pair.b as usize]));
    match kind {
        ClusterKind::Components => {
            let mut forest = UnionFind::new(documents as u32);
            copies.chain(edges).for_each(|(x, y)| {
                forest.union(x, y);
            });
            forest.into_labels()
        }
        ClusterKind::Star => {
            let copies: Vec<_> = copies.collect();
            let edges: Vec<_> = edges.collect();
            star_of_groups(documents, &copies, &edges, |x| (corpus.ranks.get(x as usize), x))
        }
    }
}
