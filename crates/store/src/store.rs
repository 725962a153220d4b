//! Stores: what is there, opened to be compared with, or to be added to.

use crate::batch::Batch;
use crate::clusters::Clusters;
use crate::disk::{self, Disk, Folder};
use crate::manifest::{self, Committed, Listed, Manifest};
use crate::regroup::find;
use crate::segment::Segment;
use crate::tombstones::Tombstones;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use twinsplit_core::similarity::Similarity;
use twinsplit_core::visible;
use twinsplit_io::checked_file::broken;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::mapped::Bytes;
use twinsplit_io::parts_file::{self, Verify};

/// The kinds that the first lines of files name.
pub(crate) const CLUSTERS: &str = "store-clusters";
pub(crate) const ANSWER: &str = "store-answer";
/// What a manifest is called while it is written.
pub(crate) const UNNAMED: &str = "commit.partial";
/// The file that a writer has locked.
pub(crate) const LOCK: &str = "lock";

/// What a store is made with, and what a batch may take.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Options that all batches of a store share, with their values.
    pub made_with: Vec<(&'static str, String)>,
    /// Which pairs are in the answer.
    pub similarity: Similarity,
    /// Documents with fewer features are compared by their texts alone.
    pub least: u64,
    /// Whether they are compared at all.
    pub equal_texts: bool,
    /// Bytes of memory for the documents of a batch; what is more becomes several segments.
    pub memory: usize,
    /// Threads.
    pub threads: usize,
}

/// A store that is open.
pub struct Store<D = Folder> {
    pub(crate) disk: D,
    pub(crate) settings: Settings,
    pub(crate) manifest: Manifest,
    pub(crate) segments: Vec<Arc<Segment>>,
    pub(crate) clusters: Clusters,
    /// Whether only a part of what is there counts; then what stands in the clusters may be no longer connected.
    pub(crate) is_restricted: bool,
    /// Held while the store may be written.
    pub(crate) lock: Option<File>,
}

impl Store<Folder> {
    /// Opens a store to compare with, which others may write to at the same time.
    ///
    /// # Errors
    /// There is none, it was made with other options, or a file of it is damaged.
    pub fn open(folder: &Path, settings: Settings) -> Result<Self> {
        Self::on(Folder(folder.to_owned()), settings, false)
    }

    /// Opens a store to add to, and makes the folder where there is none.
    ///
    /// # Errors
    /// As [`open`](Self::open), and where another process has it open to add to, or the folder holds something else.
    pub fn writable(folder: &Path, settings: Settings) -> Result<Self> {
        if folder.is_file() {
            let problem = "is a file, and a store is a folder; name another --store".to_owned();
            return Err(Error::File { path: folder.to_owned(), problem });
        }
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        Self::on(Folder(folder.to_owned()), settings, true)
    }

    /// Removes a folder that was made for a store to which nothing was added; one that holds anything is left as it is.
    pub fn remove_empty(folder: &Path) {
        if names(folder).is_ok_and(|names| names.iter().all(|name| name == LOCK)) {
            // What cannot be removed is an empty store, which does no harm.
            let _ = fs::remove_file(folder.join(LOCK)).and_then(|()| fs::remove_dir(folder));
        }
    }
}

/// The names in a folder, in their order; one that is no UTF-8 is shown as it may be.
pub(crate) fn names(folder: &Path) -> Result<BTreeSet<String>> {
    let entries = fs::read_dir(folder).map_err(Error::io("read", folder))?;
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.map(|entry| visible::path(Path::new(&entry.file_name())))
    };
    entries.map(name).collect::<std::io::Result<_>>().map_err(Error::io("read", folder))
}

/// Whether a name is one that stores give.
pub(crate) fn is_ours(name: &str) -> bool {
    [LOCK, UNNAMED].contains(&name)
        || manifest::number_of(name).is_some()
        || ["segment-", "tombstones-", "clusters-", "answer-"].iter().any(|prefix| {
            // The number of a commit, and what tells its segments apart.
            let number = name.strip_prefix(prefix).unwrap_or_default();
            number.len() >= 8 && number.bytes().all(|byte| b"0123456789-m".contains(&byte))
        })
}

/// The number of the last manifest of a folder.
fn last_commit(folder: &Path) -> Result<Option<u64>> {
    Ok(names(folder)?.iter().filter_map(|name| manifest::number_of(name)).max())
}

/// The last manifest of a store.
///
/// # Errors
/// There is no store in the folder, or its manifest is damaged.
pub fn last_manifest(folder: &Path) -> Result<Manifest> {
    match last_commit(folder)? {
        Some(number) => Manifest::read(&folder.join(manifest::file_of(number))),
        None => Err(no_store(folder)),
    }
}

fn no_store(folder: &Path) -> Error {
    let problem = "holds no store; twinsplit run --store makes one".to_owned();
    Error::File { path: folder.to_owned(), problem }
}

impl<D: Disk> Store<D> {
    /// Opens a store on a disk, to add to it or not.
    ///
    /// # Errors
    /// See [`Store::open`] and [`Store::writable`].
    pub fn on(disk: D, settings: Settings, to_add: bool) -> Result<Self> {
        let folder = disk.path().to_owned();
        // Nothing is left in a folder that is somebody else's.
        if to_add && last_commit(&folder)?.is_none() {
            refuse_others(&folder)?;
        }
        let busy = "another process is adding to this store; wait until it has ended";
        let lock = to_add.then(|| disk::locked(&folder, LOCK, busy)).transpose()?;
        let mut number = last_commit(&folder)?;
        loop {
            let opened = Self::files(&folder, &settings, number, to_add);
            // While a reader opens files, a writer may have put others in their place.
            let last = if to_add { number } else { last_commit(&folder)? };
            match opened {
                Err(_) if last != number => number = last,
                Err(error) => return Err(error),
                Ok((manifest, segments, clusters)) => {
                    let is_restricted = false;
                    return Ok(Self { disk, settings, manifest, segments, clusters, is_restricted, lock });
                }
            }
        }
    }

    /// The manifest of a number, and what it names.
    fn files(
        folder: &Path,
        settings: &Settings,
        number: Option<u64>,
        to_add: bool,
    ) -> Result<(Manifest, Vec<Arc<Segment>>, Clusters)> {
        let manifest = match number {
            Some(number) => {
                let manifest = Manifest::read(&folder.join(manifest::file_of(number)))?;
                manifest.must_have(&settings.made_with, folder)?;
                manifest
            }
            None if to_add => {
                let made_with =
                    settings.made_with.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
                Manifest { made_with: made_with.collect(), ..Manifest::default() }
            }
            None => return Err(no_store(folder)),
        };
        let open = |one: &Listed| segment_of(folder, one, settings.threads).map(Arc::new);
        let segments = manifest.segments.iter().map(open).collect::<Result<_>>()?;
        let clusters = manifest.clusters.as_ref().map(|file| clusters_of(&folder.join(file)));
        Ok((manifest, segments, clusters.transpose()?.unwrap_or_default()))
    }

    /// What it holds.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.disk.path()
    }

    /// The batch of a number.
    pub fn batch_of(&self, number: u32) -> Option<&Committed> {
        self.manifest.batches.iter().find(|batch| batch.number == number)
    }

    /// A batch to be compared, and committed if the store was opened for that; segments of one that is not are put into `work`. Without an id it is called by
    /// the digest of its documents.
    pub fn batch<'s>(&'s mut self, id: Option<&str>, work: &Path) -> Batch<'s, D> {
        Batch::of(self, id, work)
    }

    /// The parts of what was answered to a batch.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged, or is not kept any more.
    pub fn answer(&self, batch: &Committed) -> Result<Vec<Bytes>> {
        let answer = batch.answer.as_ref().ok_or_else(|| {
            Error::Usage(format!(
                "the store {} has the batch {} and keeps its answer no more (store compact --answers); it changes nothing to send it again, \
                 and --against compares its documents with what is there now",
                visible::path(self.disk.path()),
                visible::line(&batch.id)
            ))
        })?;
        Ok(parts_file::open(&self.disk.path().join(answer), ANSWER, Verify::All { threads: 1 })?.1)
    }

    /// Whether it has a document of this escaped id.
    pub fn has(&self, id: &[u8]) -> bool {
        find(&self.segments, id).is_some()
    }

    /// Whether all that was read of its segments is as it was written: to be asked before anything is made of what was read.
    ///
    /// # Errors
    /// One of them is damaged.
    pub fn check(&self) -> Result<()> {
        self.segments.iter().try_for_each(|segment| segment.check())
    }

    /// The clusters.
    pub fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    /// How many bytes its files have.
    ///
    /// # Errors
    /// One is missing.
    pub fn bytes(&self) -> Result<u64> {
        let bytes = |file: &str| {
            let path = self.disk.path().join(file);
            match fs::metadata(&path) {
                Err(_) if self.has_lost(file)? => Ok(0),
                file => file.map(|file| file.len()).map_err(Error::io("read", &path)),
            }
        };
        self.manifest.files().map(bytes).sum()
    }

    /// Whether a file is missing because a writer has put others in the place of this store since it was opened.
    fn has_lost(&self, file: &str) -> Result<bool> {
        let folder = self.disk.path();
        Ok(!folder.join(file).exists() && last_commit(folder)? > Some(self.manifest.number))
    }

    /// Compares every file with its checksums, segments as they were opened. Gives how many bytes there are.
    ///
    /// # Errors
    /// One is missing or damaged.
    pub fn verify(&self) -> Result<u64> {
        let bytes = self.bytes()?;
        self.segments.iter().try_for_each(|segment| segment.verify(self.settings.threads))?;
        for batch in &self.manifest.batches {
            let Some(answer) = &batch.answer else { continue };
            match self.answer(batch) {
                Err(_) if self.has_lost(answer)? => {}
                answer => drop(answer?),
            }
        }
        Ok(bytes)
    }
}

/// A segment, without what is forgotten of it.
pub(crate) fn segment_of(folder: &Path, listed: &Listed, threads: usize) -> Result<Segment> {
    let segment = Segment::open(&folder.join(&listed.file), threads)?;
    let Some((file, count)) = &listed.forgotten else { return Ok(segment) };
    let path = folder.join(file);
    let forgotten = Tombstones::open(&path, segment.len())?;
    if forgotten.len() as u64 != *count {
        return Err(broken(&path, "it has not as many numbers as the manifest says"));
    }
    Ok(segment.without(forgotten))
}

fn clusters_of(path: &Path) -> Result<Clusters> {
    let (_, parts) = parts_file::open(path, CLUSTERS, Verify::All { threads: 1 })?;
    let rows = parts.into_iter().next().and_then(Clusters::read);
    rows.ok_or_else(|| {
        broken(path, "a line of it is no document with the one that is kept, or they are in no order")
    })
}

/// Refuses a folder that holds anything but what a first commit may have left.
fn refuse_others(folder: &Path) -> Result<()> {
    match names(folder)?.into_iter().find(|name| !is_ours(name)) {
        Some(name) => Err(Error::File {
            path: folder.to_owned(),
            problem: format!("is no store, and holds {name}; a store is made in a folder of its own"),
        }),
        None => Ok(()),
    }
}
