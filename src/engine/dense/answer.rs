//! From joined sets to the files of the answer.

use super::corpus::{Corpus, Flat, Representatives};
use crate::error::Result;
use crate::io::{AtomicFile, Blocks, each_line};
use crate::join::kernel::JoinPair;
use crate::join::tau::{Jaccard6, jaccard6};
use crate::record::Record;
use crate::record::cluster::ClusterRow;
use crate::record::pair::Pair;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which set each document has, and which sets pair with it.
pub struct Groups<'a> {
    corpus: &'a Corpus,
    own: &'a Representatives,
    /// By document: its set; `u32::MAX` for one that enters no join.
    set_of: Vec<u32>,
    /// By set: partner and overlap.
    partners: Flat<(u32, u32)>,
}

/// A cluster that holds more than one in so many of all documents may be an accident of the features.
pub const LARGE_SHARE: u64 = 100;

/// A cluster of more than one in [`LARGE_SHARE`] documents.
pub struct LargeCluster {
    /// Its kept document.
    pub kept: String,
    /// Its documents.
    pub size: u64,
    /// Its documents by script.
    pub scripts: BTreeMap<String, u64>,
}

const NO_SET: u32 = u32::MAX;

impl<'a> Groups<'a> {
    /// Brings documents, groups and pairs together.
    pub fn new(corpus: &'a Corpus, own: &'a Representatives, pairs: &[JoinPair]) -> Self {
        let mut set_of = vec![NO_SET; corpus.ids.len()];
        for (set, document) in (0..).zip(&own.documents) {
            set_of[*document as usize] = set;
            for copy in own.copies.get(set as usize) {
                set_of[*copy as usize] = set;
            }
        }
        let mut sides: Vec<(u32, u32, u32)> =
            pairs.iter().flat_map(|p| [(p.a, p.b, p.overlap), (p.b, p.a, p.overlap)]).collect();
        sides.sort_unstable();
        let mut partners = Flat::default();
        let mut rest = sides.as_slice();
        let mut row = Vec::new();
        for set in 0..own.documents.len() as u32 {
            let (mine, others) = rest.split_at(rest.partition_point(|side| side.0 == set));
            row.clear();
            row.extend(mine.iter().map(|side| (side.1, side.2)));
            partners.push(&row);
            rest = others;
        }
        Self { corpus, own, set_of, partners }
    }

    fn members(&self, set: u32) -> impl Iterator<Item = u32> {
        std::iter::once(self.own.documents[set as usize])
            .chain(self.own.copies.get(set as usize).iter().copied())
    }

    /// Writes all pairs of documents, in order of their ids.
    pub fn write_pairs(&self, path: &Path) -> Result<()> {
        let mut file = AtomicFile::create(path)?;
        let mut line = Vec::new();
        let mut found: Vec<(u32, u32, u32)> = Vec::new();
        for (a, &set) in (0..).zip(&self.set_of) {
            if set == NO_SET {
                continue;
            }
            let size = self.own.sets.size(set as usize) as u32;
            found.clear();
            found.extend(self.members(set).filter(|b| *b > a).map(|b| (b, size, size)));
            for &(partner, overlap) in self.partners.get(set as usize) {
                let size = self.own.sets.size(partner as usize) as u32;
                found.extend(self.members(partner).filter(|b| *b > a).map(|b| (b, overlap, size)));
            }
            found.sort_unstable();
            for &(b, overlap, size_b) in &found {
                let pair = Pair {
                    a: self.corpus.ids.get(a as usize),
                    b: self.corpus.ids.get(b as usize),
                    overlap: overlap.into(),
                    size_a: size.into(),
                    size_b: size_b.into(),
                };
                line.clear();
                pair.encode(&mut line);
                file.line(&line)?;
            }
        }
        file.finish()
    }

    /// Chooses the kept document of each cluster of two and more. Gives the clusters as (kept, members without it),
    /// both by number, and the places in the input of all documents that are dropped, ascending.
    pub fn choose(&self, labels: &[u32]) -> (Vec<(u32, Vec<u32>)>, Vec<u32>) {
        let rank = |document: u32| (self.corpus.ranks.get(document as usize), document);
        let mut by_label: Vec<(u32, u32)> =
            (0..).zip(labels).map(|(document, label)| (*label, document)).collect();
        by_label.sort_unstable();
        let mut clusters = Vec::new();
        for cluster in by_label.chunk_by(|x, y| x.0 == y.0) {
            let documents = || cluster.iter().map(|(_, document)| *document);
            let Some(kept) = documents().min_by_key(|document| rank(*document)) else { continue };
            if cluster.len() > 1 {
                clusters.push((kept, documents().filter(|document| *document != kept).collect::<Vec<_>>()));
            }
        }
        clusters.sort_unstable();
        let places = clusters.iter().flat_map(|cluster| &cluster.1);
        let mut dropped: Vec<u32> =
            places.map(|document| self.corpus.input_order[*document as usize]).collect();
        dropped.sort_unstable();
        (clusters, dropped)
    }

    /// The exact similarity of two documents that have sets.
    fn jaccard(&self, x: u32, y: u32) -> Jaccard6 {
        let set = |document: u32| self.own.sets.get(self.set_of[document as usize] as usize);
        let (x, y) = (set(x), set(y));
        jaccard6(crate::join::overlap(x, y), x.len() as u64, y.len() as u64)
    }

    /// The clusters that hold more than one in [`LARGE_SHARE`] of all documents, by script.
    pub fn large_clusters(&self, clusters: &[(u32, Vec<u32>)]) -> Vec<LargeCluster> {
        let documents = self.corpus.ids.len() as u64;
        let large = clusters.iter().filter(|cluster| (cluster.1.len() as u64 + 1) * LARGE_SHARE > documents);
        large
            .map(|(kept, others)| {
                let mut scripts = BTreeMap::new();
                for document in others.iter().chain([kept]) {
                    *scripts.entry(self.corpus.scripts[*document as usize].to_owned()).or_default() += 1;
                }
                let kept = String::from_utf8_lossy(self.corpus.ids.get(*kept as usize)).into_owned();
                LargeCluster { kept, size: others.len() as u64 + 1, scripts }
            })
            .collect()
    }

    /// Writes the clusters, in order of the kept documents' ids, then of the members'.
    pub fn write_clusters(&self, clusters: &[(u32, Vec<u32>)], path: &Path) -> Result<()> {
        let mut file = AtomicFile::create(path)?;
        let mut line = Vec::new();
        for (kept, others) in clusters {
            let at = others.partition_point(|other| other < kept);
            let (before, after) = others.split_at(at);
            for document in before.iter().chain([kept]).chain(after) {
                let jaccard = (document != kept).then(|| self.jaccard(*kept, *document));
                let id = |document: u32| self.corpus.ids.get(document as usize);
                line.clear();
                ClusterRow { kept: id(*kept), id: id(*document), jaccard }.encode(&mut line);
                file.line(&line)?;
            }
        }
        file.finish()
    }
}

/// Writes the input's lines but those at the `dropped` places (ascending), and gives their number.
pub fn write_kept(inputs: &[PathBuf], dropped: &[u32], path: &Path) -> Result<u64> {
    let mut file = AtomicFile::create(path)?;
    let mut blocks = Blocks::new(inputs.to_vec(), 1 << 20);
    let (mut at, mut kept, mut dropped) = (0, 0, dropped.iter().peekable());
    while let Some(block) = blocks.next_block()? {
        each_line(&block, |line, _| {
            if dropped.next_if(|place| **place == at).is_none() {
                kept += 1;
                file.line(line)?;
            }
            at += 1;
            Ok(())
        })?;
    }
    file.finish()?;
    Ok(kept)
}
