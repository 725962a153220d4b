//! Forgetting: documents leave a store, by their ids or with the batches that they came in. Their segments get tombstones, the clusters that they were in are
//! made of what stays, and all of that is one commit.
//!
//! A document that comes again with the text that it had belongs to the batch that it came in first, and goes with that.

use crate::disk::Disk;
use crate::manifest::Committed;
pub use crate::regroup::Change;
use crate::regroup::Without;
use crate::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use twinsplit_core::cluster::keep::Date;
use twinsplit_io::error::Result;

/// What forgetting some documents does to a store. Nothing is done before [`commit`](Self::commit).
pub struct Removal<'s, D: Disk> {
    store: &'s mut Store<D>,
    without: Without,
    batches: Vec<Committed>,
    unknown: Vec<Box<[u8]>>,
}

impl<D: Disk> Store<D> {
    /// What it does to forget the documents of these ids, which are escaped. Ids that no document has are passed over.
    ///
    /// # Errors
    /// Clusters cannot be made of what stays.
    pub fn forget<'i>(&mut self, ids: impl IntoIterator<Item = &'i [u8]>) -> Result<Removal<'_, D>> {
        let mut gone: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut unknown = BTreeSet::new();
        for id in ids {
            let place = self.segments.iter().position(|segment| segment.find(id).is_some());
            match place.and_then(|place| Some((place, self.segments[place].find(id)?))) {
                Some((place, number)) => drop(gone.entry(place).or_default().insert(number)),
                None => drop(unknown.insert(Box::from(id))),
            }
        }
        self.removal(gone, Vec::new(), unknown.into_iter().collect())
    }

    /// What it does to drop these batches, with the documents that came in them first.
    ///
    /// # Errors
    /// The store has no batch of an id; or clusters cannot be made of what stays.
    pub fn drop_batches<'i>(&mut self, ids: impl IntoIterator<Item = &'i str>) -> Result<Removal<'_, D>> {
        let batches: Vec<Committed> = self.batches(ids)?.into_iter().cloned().collect();
        let numbers: BTreeSet<u32> = batches.iter().map(|batch| batch.number).collect();
        let mut gone = BTreeMap::new();
        for (place, segment) in self.segments.iter().enumerate() {
            let of_batches = segment.living().filter(|number| numbers.contains(&segment.batch(*number)));
            let of_batches: BTreeSet<usize> = of_batches.collect();
            if !of_batches.is_empty() {
                gone.insert(place, of_batches);
            }
        }
        self.removal(gone, batches, Vec::new())
    }

    /// The ids of the batches that came before a time; those of which none is known are not among them.
    pub fn batches_before(&self, time: Date) -> Vec<String> {
        let before = self.manifest.batches.iter().filter(|batch| batch.time.is_some_and(|came| came < time));
        before.map(|batch| batch.id.clone()).collect()
    }

    fn removal(
        &mut self,
        gone: BTreeMap<usize, BTreeSet<usize>>,
        batches: Vec<Committed>,
        unknown: Vec<Box<[u8]>>,
    ) -> Result<Removal<'_, D>> {
        let without = self.without(gone)?;
        Ok(Removal { store: self, without, batches, unknown })
    }
}

impl<D: Disk> Removal<'_, D> {
    /// How many documents go.
    pub fn forgotten(&self) -> u64 {
        self.without.forgotten
    }

    /// The ids that no document has, in their order.
    pub fn unknown(&self) -> &[Box<[u8]>] {
        &self.unknown
    }

    /// The batches that go.
    pub fn batches(&self) -> &[Committed] {
        &self.batches
    }

    /// The documents that stay and for which another one is kept than before, in the order of ids: orphans, of which the kept one goes, and those whose
    /// cluster falls apart.
    pub fn changes(&self) -> &[Change] {
        &self.without.changes
    }

    /// Changes the store, in one commit; none where nothing goes.
    ///
    /// # Errors
    /// The store is open to be read; or the disk fails, and the store is what it was.
    pub fn commit(self) -> Result<()> {
        let Self { store, without, batches, .. } = self;
        if without.forgotten == 0 && batches.is_empty() {
            return Ok(());
        }
        let mut next = store.next(without.segments);
        next.manifest.batches.retain(|batch| !batches.contains(batch));
        store.commit(next, &without.changed)
    }
}
