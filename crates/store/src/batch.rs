//! Batches: documents that are compared with a store and with one another.

use crate::clusters::{Clusters, Merged};
use crate::disk::{Disk, Folder};
use crate::manifest::{Committed, Listed};
use crate::segment::{Document, Scratch, Segment, SegmentBuilder};
use crate::store::{Settings, Store};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use twinsplit_core::cluster::components::Components;
use twinsplit_core::hash;
use twinsplit_core::join::doc_split::SliceBuilder;
use twinsplit_core::join::overlap;
use twinsplit_core::join::queries::{Probe, QueryIndex};
use twinsplit_core::similarity::Score;
use twinsplit_core::threads::in_threads;
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::mapped::Bytes;
use twinsplit_io::parts_file::Verify;

/// One of the two documents of a pair, of an earlier batch or of the batch at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side<'a> {
    /// Its id, escaped.
    pub id: &'a [u8],
    /// How many features it has.
    pub size: u64,
    /// The number of the batch that it came in.
    pub batch: u32,
}

/// A pair of the answer: the smaller id first, in byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The smaller id.
    pub a: Side<'a>,
    /// The larger id.
    pub b: Side<'a>,
    /// What the two share.
    pub overlap: u64,
}

/// A dropped document, or a kept one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its id.
    pub id: Box<[u8]>,
    /// The number of the batch that it came in.
    pub batch: u32,
    /// Its similarity to the kept one; `None` of that itself, and of equal texts where it would be a number of features.
    pub score: Option<Score>,
    /// The one that was kept of its cluster before this batch; itself where it was in none. `None` where it is new.
    pub before: Option<Box<[u8]>>,
}

/// What a batch has come to.
#[derive(Debug, Default)]
pub struct Added {
    /// How many documents it had.
    pub documents: u64,
    /// How many of them were new; the others were in the store, with the same text.
    pub added: u64,
    /// How many pairs there are of which one is new.
    pub pairs: u64,
    /// How many pairs of documents were compared.
    pub verified: u64,
    /// The clusters that new documents, or documents that came again, are in: by the kept document, all of each, in the order of ids.
    pub clusters: BTreeMap<Box<[u8]>, Vec<Member>>,
}

/// What becomes of a batch.
#[derive(Debug)]
pub enum Finished {
    /// It was compared now.
    Now(Added),
    /// It was committed before: the parts of the answer of then.
    Before(Committed, Vec<Bytes>),
}

/// The error of an id that two documents of a batch have.
fn repeated(id: &[u8]) -> Error {
    Error::DuplicateId {
        stage: "store".to_owned(),
        id: String::from_utf8_lossy(id).into_owned(),
        places: " of the batch".to_owned(),
    }
}

/// A batch that is being compared.
pub struct Batch<'s, D: Disk = Folder> {
    store: &'s mut Store<D>,
    number: u32,
    id: Option<String>,
    work: Folder,
    /// Documents that are in no segment yet.
    builder: SegmentBuilder,
    /// The segments of the batch.
    fresh: Vec<(Listed, Arc<Segment>)>,
    /// What pairs and equal texts connect.
    graph: Components,
    /// Documents that came again.
    known: Vec<Box<[u8]>>,
    digest: u128,
    added: Added,
}

/// Takes the pairs of a batch, in no order.
pub type Sink<'k> = dyn FnMut(Pair<'_>) -> Result<()> + 'k;

/// What a thread seeks with, and what it has found: two documents, and what they share.
#[derive(Default)]
struct Seek<'f> {
    scratch: Scratch,
    probe: Probe,
    features: Vec<u64>,
    found: Vec<(Side<'f>, Side<'f>, u64)>,
}

/// Documents are dealt out to threads in shares of so many.
const SHARE: usize = 256;
/// A segment of so many times the documents at hand is asked for each of these by its own index; the documents of smaller ones pass by an
/// index of those at hand, which is in memory.
const LARGE: usize = 16;

/// What has been found.
struct Tally<'t> {
    graph: &'t mut Components,
    added: &'t mut Added,
    threads: usize,
}

impl Tally<'_> {
    /// Lets threads find pairs, a share of the work each, and hands on what some shares have found before the next ones are begun.
    fn each_share<'f>(
        &mut self,
        shares: usize,
        sink: &mut Sink<'_>,
        find: impl Fn(usize, &mut Seek<'f>) + Sync,
    ) -> Result<()> {
        let together = 4 * self.threads;
        for first in (0..shares).step_by(together) {
            let sought = in_threads((shares - first).min(together), self.threads, |at| {
                let mut seek = Seek::default();
                find(first + at, &mut seek);
                Ok::<_, Error>(seek)
            })?;
            for Seek { found, scratch, probe, .. } in sought {
                self.added.verified += scratch.verified + probe.verified();
                self.added.pairs += found.len() as u64;
                for (x, y, overlap) in found {
                    self.graph.union(x.id, y.id);
                    let (a, b) = if x.id < y.id { (x, y) } else { (y, x) };
                    sink(Pair { a, b, overlap })?;
                }
            }
        }
        Ok(())
    }
}

impl<'s, D: Disk> Batch<'s, D> {
    pub(crate) fn of(store: &'s mut Store<D>, id: Option<&str>, work: &Path) -> Self {
        let last = store.manifest.batches.iter().map(|batch| batch.number).max().unwrap_or(0);
        Self {
            number: last + 1,
            id: id.map(str::to_owned),
            work: Folder(work.to_owned()),
            builder: SegmentBuilder::default(),
            fresh: Vec::new(),
            graph: Components::default(),
            known: Vec::new(),
            digest: 0,
            added: Added::default(),
            store,
        }
    }

    /// Takes a document: its escaped id, the hash of its text or 0, and its features in ascending order.
    ///
    /// # Errors
    /// Another document has the id, or one of the store with another text.
    pub fn add(&mut self, id: &[u8], text: u128, features: &[u64], sink: &mut Sink<'_>) -> Result<()> {
        self.added.documents += 1;
        let content = [id, b"\t", &text.to_le_bytes()].concat();
        self.digest = self.digest.wrapping_add(hash::text(&content));
        if let Some((segment, number)) = self.store.find(id) {
            if segment.text(number) == text && segment.size(number) == features.len() as u64 {
                self.known.push(id.into());
                return Ok(());
            }
            let batch = segment.batch(number);
            let batch = self.store.batch_of(batch).map_or_else(String::new, |batch| batch.id.clone());
            return Err(Error::Usage(format!(
                "the document {} stands in the store with another text, from the batch {batch}; give the new version an id of its own",
                visible::line(&String::from_utf8_lossy(id))
            )));
        }
        if self.fresh.iter().any(|(_, segment)| segment.find(id).is_some()) {
            return Err(repeated(id));
        }
        self.added.added += 1;
        self.builder.push(Document { id: id.into(), batch: self.number, text, features: features.into() });
        // The index of the documents and the segment that they become are not there at the same time.
        if self.builder.bytes() < self.store.settings.memory {
            return Ok(());
        }
        self.flush(sink)
    }

    /// Compares the documents at hand with all others, and makes a segment of them.
    fn flush(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        let builder = std::mem::take(&mut self.builder);
        if builder.documents().is_empty() {
            return Ok(());
        }
        if let Some(id) = builder.repeated_id() {
            return Err(repeated(id));
        }
        self.compare(&builder, sink)?;
        let Settings { similarity, least, .. } = self.store.settings;
        let file = builder.finish(similarity, least);
        let documents = builder.documents().len() as u64;
        drop(builder);
        let commit = self.store.manifest.number + 1;
        let name = format!("segment-{commit:08}-{}", self.fresh.len());
        let folder = match self.store.lock {
            Some(_) => {
                self.store.disk.write(&name, &file.pieces())?;
                self.store.disk.path()
            }
            None => {
                self.work.write(&name, &file.pieces())?;
                self.work.path()
            }
        };
        let segment = Segment::open(&folder.join(&name), Verify::Head)?;
        self.fresh.push((Listed { file: name, documents }, Arc::new(segment)));
        Ok(())
    }

    /// Finds the pairs of the documents at hand.
    fn compare(&mut self, builder: &SegmentBuilder, sink: &mut Sink<'_>) -> Result<()> {
        let Self { store, fresh, graph, added, number, .. } = self;
        let Settings { similarity, least, threads, equal_texts, .. } = store.settings;
        let mut tally = Tally { graph, added, threads: threads.max(1) };
        let documents = builder.documents();
        let is_compared = |document: &Document| document.features.len() as u64 >= least.max(1);
        let mut own = SliceBuilder::default();
        documents.iter().filter(|document| is_compared(document)).for_each(|document| {
            own.push(&document.id, &document.features);
        });
        let own = QueryIndex::build(own, similarity);
        let fresh = fresh.iter().map(|(_, segment)| segment);
        let segments: Vec<&Segment> = store.segments.iter().chain(fresh).map(|one| &**one).collect();
        let (large, small): (Vec<&Segment>, Vec<&Segment>) =
            segments.iter().partition(|segment| segment.len() > LARGE * documents.len());
        let batch = *number;
        let share = |at: usize| at * SHARE..;
        // The documents at hand, with one another and with what large segments hold.
        let shares = documents.len().div_ceil(SHARE);
        tally.each_share(shares, sink, |at, seek| {
            for document in documents[share(at)].iter().take(SHARE).filter(|document| is_compared(document)) {
                let new = Side { id: &document.id, size: document.features.len() as u64, batch };
                for segment in &large {
                    segment.query(similarity, &document.features, &mut seek.scratch, |number, overlap| {
                        seek.found.push((new, segment.side(number), overlap));
                    });
                }
                own.find(&document.features, &mut seek.probe, |id, size, overlap| {
                    // Each pair of the batch is found from both sides.
                    if *id < *document.id {
                        seek.found.push((new, Side { id, size, batch }, overlap));
                    }
                });
            }
        })?;
        for segment in small {
            tally.each_share(segment.len().div_ceil(SHARE), sink, |at, seek| {
                for number in share(at).take(SHARE).take_while(|number| *number < segment.len()) {
                    if segment.size(number) >= least.max(1) {
                        segment.features(number, &mut seek.features);
                        own.find(&seek.features, &mut seek.probe, |id, size, overlap| {
                            seek.found.push((Side { id, size, batch }, segment.side(number), overlap));
                        });
                    }
                }
            })?;
        }
        if !equal_texts {
            return Ok(());
        }
        // What has too few features is a copy of what has its text; one of each text is enough.
        let mut first: FxHashMap<u128, &[u8]> = FxHashMap::default();
        for document in documents.iter().filter(|document| !is_compared(document) && document.text != 0) {
            let of_text = |segment: &&Segment| {
                segment.of_text(document.text).next().map(|number| Box::from(segment.id(number)))
            };
            let other: Option<Box<[u8]>> = segments.iter().find_map(of_text);
            match (other, first.get(&document.text)) {
                (Some(other), _) => drop(tally.graph.union(&document.id, &other)),
                (None, Some(other)) => drop(tally.graph.union(&document.id, other)),
                (None, None) => drop(first.insert(document.text, &document.id)),
            }
        }
        Ok(())
    }

    /// Ends the batch: the last pairs, and the clusters that it has touched. Where the store was opened to add to it, `answer` says what is put down as
    /// the answer, for whoever sends the batch again, and the batch is committed. A batch that was committed before changes nothing: its parts of then
    /// come out.
    ///
    /// # Errors
    /// A batch of this id had other documents; or the disk fails, and the store is what it was.
    pub fn finish(
        mut self,
        sink: &mut Sink<'_>,
        answer: impl FnOnce(&Added, &Store<D>) -> Result<Vec<Bytes>>,
    ) -> Result<Finished> {
        let id = self.id.clone().unwrap_or_else(|| format!("{:032x}", self.digest));
        if let Some(before) = self.store.manifest.batches.iter().find(|batch| batch.id == id) {
            if before.digest != self.digest || before.documents != self.added.documents {
                return Err(Error::Usage(format!(
                    "the store {} has a batch {id} of other documents; give this one another --batch-id",
                    visible::path(self.store.disk.path())
                )));
            }
            return Ok(Finished::Before(before.clone(), self.store.answer(before)?));
        }
        self.flush(sink)?;
        let before = self.store.clusters()?;
        let graph = std::mem::take(&mut self.graph);
        let Merged { clusters, touched } = before.merge(graph, std::mem::take(&mut self.known).into_iter());
        for (kept, ids) in touched {
            let members = self.members(&kept, ids.into_iter(), &before)?;
            self.added.clusters.insert(kept, members);
        }
        let parts = answer(&self.added, self.store)?;
        if self.store.lock.is_some() {
            let Self { number, digest, added, .. } = &self;
            let (documents, added) = (added.documents, added.added);
            let committed =
                Committed { number: *number, id, documents, added, digest: *digest, answer: String::new() };
            self.store.commit(committed, self.fresh, &clusters, &parts)?;
        }
        Ok(Finished::Now(self.added))
    }

    /// The documents of a cluster, compared with the one that is kept.
    fn members(
        &self,
        kept: &[u8],
        ids: impl Iterator<Item = Box<[u8]>>,
        before: &Clusters,
    ) -> Result<Vec<Member>> {
        let find = |id: &[u8]| {
            let fresh = || self.fresh.iter().find_map(|(_, segment)| Some((&**segment, segment.find(id)?)));
            let missing = || Error::File {
                path: self.store.disk.path().to_owned(),
                problem: format!("its clusters name {}, which no segment has", String::from_utf8_lossy(id)),
            };
            self.store.find(id).or_else(fresh).ok_or_else(missing)
        };
        let Settings { similarity, least, .. } = self.store.settings;
        let measure = similarity.measure();
        let (mut set, mut other) = (Vec::new(), Vec::new());
        let (segment, number) = find(kept)?;
        segment.features(number, &mut set);
        let member = |id: Box<[u8]>| {
            let (segment, number) = find(&id)?;
            segment.features(number, &mut other);
            let score = match (*id == *kept, (other.len() as u64) < least.max(1)) {
                (true, _) => None,
                (false, true) => measure.score_of_equals(),
                (false, false) => {
                    let overlap = overlap(&set, &other);
                    Some(measure.score(overlap, set.len() as u64, other.len() as u64))
                }
            };
            let batch = segment.batch(number);
            let before = (batch != self.number).then(|| before.kept(&id).into());
            Ok(Member { batch, score, before, id })
        };
        ids.map(member).collect()
    }
}
