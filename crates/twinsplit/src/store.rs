//! Stores, to be looked at and changed: what [`Dedup::store`](crate::Dedup::store) adds to.

use crate::dedup::{MEMORY, cores};
use crate::duplicates::Change;
use std::path::Path;
use twinsplit_core::cluster::keep::Date;
use twinsplit_engine::stores;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::record::id::{escape, unescape};
use twinsplit_store::disk::Folder;

/// A store that is open: the documents of batches that came one after the other, and the clusters that they are in.
///
/// ```
/// use twinsplit::{Dedup, Store};
/// # fn main() -> twinsplit::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("news.store");
/// let dedup = Dedup::new().features("words:2")?.tau("0.6")?;
/// dedup.clone().store(&path, Some("monday")).run([("m1", "The ferry left the harbour at six.")])?;
/// dedup.store(&path, Some("tuesday")).run([("t1", "The ferry left the harbour at six!"), ("t2", "It rained.")])?;
/// let mut store = Store::writable(&path)?;
/// assert_eq!((store.len(), store.batches().map(|batch| batch.id).collect()), (3, vec!["monday", "tuesday"]));
/// // t1 was dropped in favour of m1: when that is forgotten, it is kept.
/// let removal = store.forget(["m1"])?;
/// assert!(removal.changes().iter().all(|one| one.is_orphan && one.change.id == "t1"));
/// assert_eq!(removal.changes().len(), 1);
/// removal.commit()?;
/// assert!(store.compact(None)?);
/// assert_eq!(store.len(), 2);
/// # Ok(())
/// # }
/// ```
pub struct Store(twinsplit_store::Store);

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("documents", &self.len()).finish_non_exhaustive()
    }
}

/// A batch of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch<'s> {
    /// What whoever sent it calls it.
    pub id: &'s str,
    /// How many documents it had; those that were there already are among them.
    pub documents: u64,
    /// How many of them were new.
    pub added: u64,
    /// When it came, where that is known.
    pub time: Option<Date>,
}

/// A document of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its id.
    pub id: String,
    /// The batch that it came in first.
    pub batch: String,
    /// The document that is kept of its cluster, which may be itself; nothing where it is in none.
    pub kept: Option<String>,
    /// How many features it has.
    pub features: u64,
}

impl Store {
    /// Opens a store to look at it. Others may change it meanwhile; what is seen here stays as it is.
    ///
    /// # Errors
    /// There is none, or it is damaged or of a later version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        stores::open(path.as_ref(), false, (cores(), MEMORY)).map(Self)
    }

    /// Opens a store to change it; nobody else can until it is let go of.
    ///
    /// # Errors
    /// As of [`open`](Self::open), and where another process changes it.
    pub fn writable(path: impl AsRef<Path>) -> Result<Self> {
        stores::open(path.as_ref(), true, (cores(), MEMORY)).map(Self)
    }

    /// How many documents there are.
    pub fn len(&self) -> u64 {
        self.0.manifest().living()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The options that all batches were made with, and their values.
    pub fn made_with(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.manifest().made_with.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The batches, in the order in which they came.
    pub fn batches(&self) -> impl Iterator<Item = Batch<'_>> {
        self.0.manifest().batches.iter().map(|batch| Batch {
            id: &batch.id,
            documents: batch.documents,
            added: batch.added,
            time: batch.time,
        })
    }

    /// Calls `visit` with each document, in the order of ids as files have them. Nothing is held in memory.
    ///
    /// # Errors
    /// What `visit` returns.
    pub fn each_document(&self, mut visit: impl FnMut(StoredDocument) -> Result<()>) -> Result<()> {
        self.0.each_entry(|entry| {
            visit(StoredDocument {
                id: unescape(entry.id),
                batch: entry.batch.to_owned(),
                kept: entry.kept.map(unescape),
                features: entry.features,
            })
        })
    }

    /// What it does to forget the documents of these ids.
    ///
    /// # Errors
    /// Clusters cannot be made of what stays.
    pub fn forget(&mut self, ids: impl IntoIterator<Item: AsRef<str>>) -> Result<Removal<'_>> {
        let escaped = ids.into_iter().map(|id| {
            let mut escaped = Vec::new();
            escape(id.as_ref().as_bytes(), &mut escaped);
            escaped
        });
        let escaped: Vec<Vec<u8>> = escaped.collect();
        self.0.forget(escaped.iter().map(Vec::as_slice)).map(Removal::of)
    }

    /// What it does to drop these batches, with the documents that came in them first.
    ///
    /// # Errors
    /// The store has no batch of an id; or clusters cannot be made of what stays.
    pub fn drop_batches<'i>(&mut self, ids: impl IntoIterator<Item = &'i str>) -> Result<Removal<'_>> {
        self.0.drop_batches(ids).map(Removal::of)
    }

    /// What it does to drop the batches that came before a time: a date, a date and time, or seconds since 1970. Batches that came at
    /// no time that is known stay.
    ///
    /// # Errors
    /// It is no time; or clusters cannot be made of what stays.
    pub fn expire_before(&mut self, time: &str) -> Result<Removal<'_>> {
        let before: Date = time.parse().map_err(|error| Error::Usage(format!("{time:?}: {error}")))?;
        let expired = self.0.batches_before(before);
        self.0.drop_batches(expired.iter().map(String::as_str)).map(Removal::of)
    }

    /// Writes segments again without what is forgotten of them, so that space comes back. Where a number is given, what was answered to older batches
    /// than the last so many goes as well: they can no longer be sent again. Gives whether there was something to do.
    ///
    /// # Errors
    /// The store is open to be looked at; or the disk fails, and the store is what it was.
    pub fn compact(&mut self, answers: Option<usize>) -> Result<bool> {
        self.0.compact(answers)
    }
}

/// What it does to take documents out of a store. Nothing is done before [`commit`](Self::commit).
pub struct Removal<'s> {
    removal: twinsplit_store::Removal<'s, Folder>,
    changes: Vec<RemovalChange>,
}

/// A document that stays, and for which another one is kept than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovalChange {
    /// Its id, the one that was kept before, and the one that is kept now.
    pub change: Change,
    /// Whether the one that was kept goes; else their cluster falls apart.
    pub is_orphan: bool,
}

impl std::fmt::Debug for Removal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Removal")
            .field("forgotten", &self.forgotten())
            .field("changes", &self.changes)
            .finish()
    }
}

impl<'s> Removal<'s> {
    fn of(removal: twinsplit_store::Removal<'s, Folder>) -> Self {
        let changes = removal.changes().iter().map(|change| {
            let [id, before, now] = [&change.id, &change.before, &change.now].map(|id| unescape(id));
            RemovalChange { change: Change { id, before, now }, is_orphan: change.is_orphan }
        });
        Self { changes: changes.collect(), removal }
    }

    /// How many documents go.
    pub fn forgotten(&self) -> u64 {
        self.removal.forgotten()
    }

    /// The ids that no document has.
    pub fn unknown(&self) -> impl Iterator<Item = String> {
        self.removal.unknown().iter().map(|id| unescape(id))
    }

    /// The batches that go.
    pub fn batches(&self) -> impl Iterator<Item = &str> {
        self.removal.batches().iter().map(|batch| batch.id.as_str())
    }

    /// The documents that stay and for which another one is kept than before, in the order of ids as files have them.
    pub fn changes(&self) -> &[RemovalChange] {
        &self.changes
    }

    /// Takes them out, in one commit.
    ///
    /// # Errors
    /// The store is open to be looked at; or the disk fails, and the store is what it was.
    pub fn commit(self) -> Result<()> {
        self.removal.commit()
    }
}
