//! What is left of clusters when documents of them go. Which pairs connected a cluster is written nowhere, so the documents of it that stay are compared with
//! one another again, in slices that fit into memory ([`doc_split`](twinsplit_core::join::doc_split)); no pair leads out of a cluster.

use crate::clusters::{Changed, Members};
use crate::disk::Disk;
use crate::segment::Segment;
use crate::store::{Settings, Store};
use crate::tombstones::Tombstones;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use twinsplit_core::cluster::union_find::UnionFind;
use twinsplit_core::join::doc_split::SliceBuilder;
use twinsplit_core::threads::in_threads;
use twinsplit_io::error::{Error, Result};

/// A document for which another one is kept than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its id.
    pub id: Box<[u8]>,
    /// The document that was kept of its cluster; itself where it was in none.
    pub before: Box<[u8]>,
    /// The one that is kept now.
    pub now: Box<[u8]>,
    /// Whether the one that was kept has gone: then it is an orphan.
    pub is_orphan: bool,
}

/// A store without some of its documents.
#[derive(Default)]
pub(crate) struct Without {
    /// The segments.
    pub segments: Vec<Arc<Segment>>,
    /// How many documents went.
    pub forgotten: u64,
    /// What changes of its clusters.
    pub changed: Changed,
    /// The documents that stay, and for which another one is kept, in the order of ids.
    pub changes: Vec<Change>,
}

/// A document of some segments: which one, and its number there.
pub(crate) fn find<'s>(segments: &'s [Arc<Segment>], id: &[u8]) -> Option<(&'s Segment, usize)> {
    segments.iter().find_map(|segment| Some((&**segment, segment.find(id)?)))
}

impl<D: Disk> Store<D> {
    /// The store without documents: by the place of a segment, their numbers.
    pub(crate) fn without(&self, gone: BTreeMap<usize, BTreeSet<usize>>) -> Result<Without> {
        let mut segments = self.segments.clone();
        let (mut forgotten, mut touched) = (0, BTreeSet::new());
        for (place, numbers) in gone {
            let segment = &self.segments[place];
            touched.extend(numbers.iter().filter_map(|number| self.clusters.find(segment.id(*number))));
            let mut tombstones: Tombstones = segment.forgotten().clone();
            forgotten += numbers.into_iter().filter(|number| tombstones.insert(*number)).count() as u64;
            segments[place] = Arc::new(Segment::clone(segment).without(tombstones));
        }
        let clusters = self.clusters.keeping(&touched);
        let (changed, changes) = regroup(&self.settings, &segments, &clusters)?;
        self.check()?;
        Ok(Without { segments, forgotten, changed, changes })
    }
}

/// What becomes of clusters of which these segments hold the documents that stay.
pub(crate) fn regroup(
    settings: &Settings,
    segments: &[Arc<Segment>],
    clusters: &Members,
) -> Result<(Changed, Vec<Change>)> {
    let (mut changed, mut changes) = (Changed::new(), Vec::new());
    // In the order of ids, so that the smallest number of a component is its smallest id.
    let before: BTreeMap<&[u8], &[u8]> =
        clusters.iter().flat_map(|(kept, ids)| ids.iter().map(|id| (&**id, &**kept))).collect();
    let mut left = Vec::new();
    for (id, kept) in before {
        match find(segments, id) {
            Some(document) => left.push((id, kept, document)),
            None => drop(changed.insert(id.into(), None)),
        }
    }
    let documents: Vec<(&Segment, usize)> = left.iter().map(|(_, _, document)| *document).collect();
    let labels = components(settings, &documents)?;
    let mut sizes = vec![0; labels.len()];
    labels.iter().for_each(|label| sizes[*label as usize] += 1);
    for ((id, before, _), label) in left.iter().zip(&labels) {
        let now = left[*label as usize].0;
        if sizes[*label as usize] == 1 {
            changed.insert((*id).into(), None);
        } else if now != *before {
            changed.insert((*id).into(), Some(now.into()));
        }
        if now != *before {
            let is_orphan = find(segments, before).is_none();
            changes.push(Change { id: (*id).into(), before: (*before).into(), now: now.into(), is_orphan });
        }
    }
    Ok((changed, changes))
}

/// Of each document the smallest number of those that pairs and equal texts connect it with.
fn components(settings: &Settings, documents: &[(&Segment, usize)]) -> Result<Vec<u32>> {
    let Settings { similarity, least, equal_texts, memory, threads, .. } = *settings;
    let threads = threads.max(1);
    let (mut slices, mut bytes) = (Vec::new(), usize::MAX);
    let is_compared = |(segment, number): &(&Segment, usize)| segment.size(*number) >= least.max(1);
    let compared: Vec<u32> =
        (0..).zip(documents).filter(|(_, document)| is_compared(document)).map(|(at, _)| at).collect();
    for (place, at) in compared.iter().enumerate() {
        let (segment, number) = documents[*at as usize];
        // A slice takes what a segment takes that is made.
        let of_document = segment.bytes_to_build(number);
        if bytes.saturating_add(of_document) > memory / threads {
            slices.push(place..place);
            bytes = 0;
        }
        bytes += of_document;
        if let Some(slice) = slices.last_mut() {
            slice.end = place + 1;
        }
    }
    // In a slice a document's number is its id.
    let found = in_threads(slices.len(), threads, |slice| {
        let (mut builder, mut features) = (SliceBuilder::default(), Vec::new());
        let mut graph = UnionFind::new(documents.len() as u32);
        let mut edges = Vec::new();
        let mut link = |x: &[u8], y: &[u8]| {
            let number = |id: &[u8]| id.first_chunk().map_or(0, |four| u32::from_be_bytes(*four));
            let (x, y) = (number(x), number(y));
            if graph.union(x, y) {
                edges.push((x, y));
            }
        };
        for at in &compared[slices[slice].clone()] {
            let (segment, number) = documents[*at as usize];
            segment.features(number, &mut features);
            builder.push(&at.to_be_bytes(), &features);
        }
        let mut index = builder.build_connected(similarity, |(x, _), (y, _), _| link(x, y));
        for at in &compared {
            let (segment, number) = documents[*at as usize];
            if index.may_pair(segment.size(number)) {
                segment.features(number, &mut features);
                let id = at.to_be_bytes();
                index.query(&id, &features, |other, _, _| link(&id, other));
            }
        }
        Ok::<_, Error>(edges)
    })?;
    let mut graph = UnionFind::new(documents.len() as u32);
    for (x, y) in found.into_iter().flatten() {
        graph.union(x, y);
    }
    // What has too few features is a copy of what has its text.
    let mut of_text: FxHashMap<u128, u32> = FxHashMap::default();
    for (at, document) in (0..).zip(documents).filter(|(_, document)| equal_texts && !is_compared(document)) {
        let text = document.0.text(document.1);
        if text != 0 {
            graph.union(at, *of_text.entry(text).or_insert(at));
        }
    }
    Ok(graph.into_labels())
}
