//! Batches: documents that are compared with a store and with one another.

mod compare;
mod members;

use crate::disk::{Disk, Folder};
use crate::manifest::{Committed, Listed};
use crate::regroup::{Change, Without, find};
use crate::segment::{Document, Segment, SegmentBuilder};
use crate::store::{Settings, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use twinsplit_core::cluster::components::Components;
use twinsplit_core::cluster::keep::Date;
use twinsplit_core::hash;
use twinsplit_core::similarity::Score;
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::mapped::{Access, Bytes};

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
}

/// What a batch has come to.
#[derive(Debug, Default)]
pub struct Added {
    /// How many documents it had.
    pub documents: u64,
    /// How many of them were new; the others were in the store, with the same text.
    pub added: u64,
    /// How many of them have taken the place of an earlier version.
    pub replaced: u64,
    /// How many pairs there are of which one is new.
    pub pairs: u64,
    /// How many pairs of documents were compared.
    pub verified: u64,
    /// The clusters that new documents, or documents that came again, are in: by the kept document, all of each, in the order of ids.
    pub clusters: BTreeMap<Box<[u8]>, Vec<Member>>,
    /// The documents of earlier batches for which another one is kept than before, in the order of ids.
    pub changes: Vec<Change>,
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

/// Of a segment of more than so many times the documents of a batch, few pages are read: a document asks for some hundreds, and one that is read alone takes as
/// long as some twenty that are read ahead.
const RANDOM_BEYOND: u64 = 10_000;

/// A batch that is being compared.
pub struct Batch<'s, D: Disk = Folder> {
    store: &'s mut Store<D>,
    /// The segments that it is compared with.
    without: Without,
    /// Earlier versions of its documents, by the place of a segment.
    earlier: BTreeMap<usize, BTreeSet<usize>>,
    number: u32,
    id: Option<String>,
    time: Option<Date>,
    /// Whether the store has a batch of this id: then nothing is compared.
    is_there: bool,
    /// What is wrong with it, unless it turns out to be there.
    refused: Option<Error>,
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

impl<'s, D: Disk> Batch<'s, D> {
    pub(crate) fn of(store: &'s mut Store<D>, id: Option<&str>, work: &Path) -> Self {
        let last = store.manifest.batches.iter().map(|batch| batch.number).max().unwrap_or(0);
        Self {
            without: Without { segments: store.segments.clone(), ..Without::default() },
            earlier: BTreeMap::new(),
            number: last + 1,
            id: id.map(str::to_owned),
            time: None,
            is_there: !store.is_restricted && id.is_some_and(|id| store.manifest.batch(id).is_some()),
            refused: None,
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

    /// Puts down when it came, by which [expired](Store::batches_before) batches are known.
    #[must_use]
    pub fn dated(self, time: Date) -> Self {
        Self { time: Some(time), ..self }
    }

    /// Announces a document that will be [added](Self::add), which is a new version where the store has its id with another text: then the earlier one goes. All are
    /// announced before the first one is added.
    pub fn announce(&mut self, id: &[u8], text: u128, size: u64) {
        if self.is_there {
            return;
        }
        for (place, segment) in self.store.segments.iter().enumerate() {
            if let Some(number) = segment.find(id).filter(|number| !segment.is(*number, text, size)) {
                self.earlier.entry(place).or_default().insert(number);
            }
        }
    }

    /// Ends what is announced.
    ///
    /// # Errors
    /// The store is restricted; or clusters cannot be made of what stays.
    pub fn replace_announced(&mut self) -> Result<()> {
        if self.store.is_restricted {
            return Err(Error::Usage(
                "new versions take the place of others in a whole store, not in some batches of it"
                    .to_owned(),
            ));
        }
        self.without = self.store.without(std::mem::take(&mut self.earlier))?;
        self.added.replaced = self.without.forgotten;
        Ok(())
    }

    /// Takes a document: its escaped id, the hash of its text or 0, and its features in ascending order.
    ///
    /// # Errors
    /// Another document has the id, or one of the store with another text.
    pub fn add(&mut self, id: &[u8], text: u128, features: &[u64], sink: &mut Sink<'_>) -> Result<()> {
        self.added.documents += 1;
        self.read_ahead();
        let content = [id, b"\t", &text.to_le_bytes()].concat();
        self.digest = self.digest.wrapping_add(hash::text(&content));
        if self.is_there || self.refused.is_some() {
            return Ok(());
        }
        if let Some((segment, number)) = find(&self.without.segments, id) {
            if segment.is(number, text, features.len() as u64) {
                self.known.push(id.into());
                return Ok(());
            }
            self.store.check()?;
            let batch = segment.batch(number);
            let batch = self.store.batch_of(batch).map_or_else(String::new, |batch| batch.id.clone());
            let refused = Error::Usage(format!(
                "the document {} stands in the store with another text, from the batch {batch}; give the new version an id of its own, or --known-id version, and it takes the place of that",
                visible::line(&String::from_utf8_lossy(id))
            ));
            // A batch that is called by its documents may have been there before this one changed.
            return match self.id {
                Some(_) => Err(refused),
                None => {
                    self.refused = Some(refused);
                    Ok(())
                }
            };
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

    /// Has the system read ahead what many documents are held against. It is told again each time that they have doubled.
    fn read_ahead(&self) {
        if self.added.documents.is_power_of_two() {
            let wanted =
                |segment: &&Arc<Segment>| segment.len() as u64 <= RANDOM_BEYOND * self.added.documents;
            self.without.segments.iter().filter(wanted).for_each(|segment| segment.expect(Access::ReadAhead));
        }
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
        let commit = self.store.manifest.number + 1;
        let name = format!("segment-{commit:08}-{}", self.fresh.len());
        if self.store.lock.is_some() {
            let fresh = self.store.write_segment(name, &builder);
            self.fresh.push(self.store.or_clean_up(fresh)?);
            return Ok(());
        }
        let Settings { similarity, least, .. } = self.store.settings;
        let file = builder.finish(similarity, least);
        let documents = builder.documents().len() as u64;
        drop(builder);
        self.work.write(&name, &file.pieces())?;
        let segment = Segment::open(&self.work.path().join(&name), self.store.settings.threads)?;
        self.fresh.push((Listed { file: name, documents, forgotten: None }, Arc::new(segment)));
        Ok(())
    }

    /// Whether all that it was compared with is as it was written.
    fn check(&self) -> Result<()> {
        self.store.check()?;
        self.fresh.iter().try_for_each(|(_, segment)| segment.check())
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
        // What was answered then is about all batches.
        let known = self.store.manifest.batch(&id).filter(|_| !self.store.is_restricted);
        if let Some(before) = known {
            if before.digest != self.digest || before.documents != self.added.documents {
                return Err(Error::Usage(format!(
                    "the store {} has a batch {id} of other documents; give this one another --batch-id",
                    visible::path(self.store.disk.path())
                )));
            }
            return Ok(Finished::Before(before.clone(), self.store.answer(before)?));
        }
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        self.flush(sink)?;
        let graph = std::mem::take(&mut self.graph);
        let known = std::mem::take(&mut self.known);
        let base = self.base(&graph, &known)?;
        let (of_edges, touched) =
            base.as_ref().unwrap_or(&self.store.clusters).merge(graph, known.into_iter());
        let before = base.as_ref().filter(|_| self.store.is_restricted).unwrap_or(&self.store.clusters);
        let mut changed = std::mem::take(&mut self.without.changed);
        changed.extend(of_edges);
        self.added.changes = self.changes(before, &changed);
        for (kept, ids) in touched {
            let members = self.members(&kept, ids)?;
            self.added.clusters.insert(kept, members);
        }
        self.check()?;
        let parts = answer(&self.added, self.store)?;
        if self.store.lock.is_some() {
            let Self { store, without, number, time, digest, added, fresh, .. } = self;
            let committed = Committed {
                number,
                id,
                documents: added.documents,
                added: added.added,
                digest,
                answer: None,
                time,
            };
            let next = store.next(without.segments);
            store.commit_batch(committed, next, fresh, &changed, &parts)?;
            return Ok(Finished::Now(added));
        }
        Ok(Finished::Now(self.added))
    }
}
