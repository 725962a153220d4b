//! What a store holds, document by document, and views of a part of its batches.

use crate::disk::Disk;
use crate::manifest::Committed;
use crate::segment::Segment;
use crate::store::Store;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::mapped::Access;

/// A document of a store, without its features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'s> {
    /// Its escaped id.
    pub id: &'s [u8],
    /// The batch that it came in.
    pub batch: &'s str,
    /// The document that is kept of its cluster, if it is in one; it may be that itself.
    pub kept: Option<&'s [u8]>,
    /// The hash of its text, as the store knows it; 0 of one that is blank.
    pub text: u128,
    /// How many features it has.
    pub features: u64,
}

impl<D: Disk> Store<D> {
    /// Calls `visit` with each document, in the order of ids. Nothing is held in memory.
    ///
    /// # Errors
    /// What `visit` returns; and, behind the last document, that a file is damaged: then what was visited is worth nothing.
    pub fn each_entry(&self, mut visit: impl FnMut(Entry<'_>) -> Result<()>) -> Result<()> {
        self.segments.iter().for_each(|segment| segment.expect(Access::ReadAhead));
        let mut clusters = self.clusters.rows().peekable();
        // Of each segment the next document.
        let next = |segment: usize, mut place: usize| {
            let of = &self.segments[segment];
            while place < of.len() && of.forgotten().has(of.in_order(place)) {
                place += 1;
            }
            (place < of.len()).then(|| Reverse((of.id(of.in_order(place)), segment, place)))
        };
        let mut heap: BinaryHeap<_> =
            (0..self.segments.len()).filter_map(|segment| next(segment, 0)).collect();
        while let Some(Reverse((id, segment, place))) = heap.pop() {
            while clusters.next_if(|(other, _)| *other < id).is_some() {}
            let kept = clusters.peek().filter(|(other, _)| *other == id).map(|(_, kept)| *kept);
            let of = &self.segments[segment];
            let number = of.in_order(place);
            let batch = self.batch_of(of.batch(number)).map_or("", |batch| batch.id.as_str());
            visit(Entry { id, batch, kept, text: of.text(number), features: of.size(number) })?;
            heap.extend(next(segment, place + 1));
        }
        self.check()
    }

    /// The batches of these ids, in the order in which they came.
    pub(crate) fn batches<'i>(&self, ids: impl IntoIterator<Item = &'i str>) -> Result<Vec<&Committed>> {
        let mut batches = Vec::new();
        for id in ids {
            batches.push(self.manifest.batch(id).ok_or_else(|| {
                Error::Usage(format!(
                    "the store {} has no batch {}; twinsplit store ls shows those that it has",
                    visible::path(self.disk.path()),
                    visible::line(id)
                ))
            })?);
        }
        batches.sort_by_key(|batch| batch.number);
        batches.dedup_by_key(|batch| batch.number);
        Ok(batches)
    }

    /// From now on only the documents that came in these batches first are there: as if they were all that had ever come.
    ///
    /// # Errors
    /// The store has no batch of an id, or was opened to be changed.
    pub fn restrict<'i>(&mut self, ids: impl IntoIterator<Item = &'i str>) -> Result<()> {
        if self.lock.is_some() {
            return Err(Error::Usage(
                "documents are added to a whole store, not to some batches of it".to_owned(),
            ));
        }
        let numbers: BTreeSet<u32> = self.batches(ids)?.iter().map(|batch| batch.number).collect();
        for segment in &mut self.segments {
            let mut forgotten = segment.forgotten().clone();
            for number in segment.living().filter(|number| !numbers.contains(&segment.batch(*number))) {
                forgotten.insert(number);
            }
            *segment = Arc::new(Segment::clone(segment).without(forgotten));
        }
        self.is_restricted = true;
        Ok(())
    }
}
