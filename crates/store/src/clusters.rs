//! The clusters of a store: the documents that are in one with others, each with the one that is kept, the smallest id. As a file they are lines in the order
//! of ids.

use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use twinsplit_core::cluster::components::Components;

/// The documents of clusters, each with the one that is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clusters(BTreeMap<Box<[u8]>, Box<[u8]>>);

/// What edges have made of clusters.
#[derive(Debug, Default)]
pub struct Merged {
    /// The clusters.
    pub clusters: Clusters,
    /// Those that an edge has touched: the kept document, and all of its cluster, itself among them.
    pub touched: BTreeMap<Box<[u8]>, BTreeSet<Box<[u8]>>>,
}

impl Clusters {
    /// Reads what [`bytes`](Self::bytes) wrote; `None` where it is something else.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n');
        let row = |line: &[u8]| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            Some((line[..tab].into(), line[tab + 1..].into()))
        };
        lines.filter(|line| !line.is_empty()).map(row).collect::<Option<_>>().map(Self)
    }

    /// As bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|(id, kept)| [id, &b"\t"[..], kept, b"\n"].concat()).collect()
    }

    /// The document that is kept of the cluster of one; itself where it is in none.
    pub fn kept<'c>(&'c self, id: &'c [u8]) -> &'c [u8] {
        self.0.get(id).map_or(id, |kept| kept)
    }

    /// How many documents are in clusters.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no clusters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The clusters with the edges of a graph, and those that hold an edge or one of the other documents.
    pub fn merge(&self, mut graph: Components, others: impl Iterator<Item = Box<[u8]>>) -> Merged {
        let mut touched: BTreeSet<Box<[u8]>> = others.collect();
        let ends = graph.labels().len() as u32;
        touched.extend((0..ends).map(|number| graph.ids.get(number).into()));
        for (id, kept) in &self.0 {
            graph.union(id, kept);
        }
        let labels = graph.labels();
        let mut kept_of: FxHashMap<&[u8], &[u8]> = FxHashMap::default();
        for (number, label) in (0..).zip(&labels) {
            kept_of.insert(graph.ids.get(number), graph.ids.get(*label));
        }
        let of_touched: BTreeSet<&[u8]> =
            touched.iter().filter_map(|id| kept_of.get(&**id).copied()).collect();
        let mut merged = Merged::default();
        for (id, kept) in &kept_of {
            merged.clusters.0.insert((*id).into(), (*kept).into());
            if of_touched.contains(kept) {
                merged.touched.entry((*kept).into()).or_default().insert((*id).into());
            }
        }
        merged
    }
}
