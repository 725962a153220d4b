//! How changes become a part of a store, and how segments grow together.

use crate::clusters::{Changed, Clusters};
use crate::disk::Disk;
use crate::manifest::{self, Committed, Listed, Manifest, number_of};
use crate::segment::{Segment, SegmentBuilder};
use crate::store::{ANSWER, CLUSTERS, LOCK, Store, UNNAMED, is_ours, names};
use crate::tombstones;
use std::collections::BTreeSet;
use std::sync::Arc;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::mapped::{Access, Bytes};
use twinsplit_io::parts_file;

/// A segment takes in the one before it unless that has so many times its documents.
const GROWTH: u64 = 2;

/// What a commit makes of a store.
pub(crate) struct Next {
    /// Its manifest, as far as files are there.
    pub manifest: Manifest,
    /// The segments that it lists. What is forgotten of them may be more than it says.
    pub segments: Vec<Arc<Segment>>,
}

impl<D: Disk> Store<D> {
    /// The next manifest, with other segments than before or the same without more of their documents.
    pub(crate) fn next(&self, segments: Vec<Arc<Segment>>) -> Next {
        Next { manifest: Manifest { number: self.manifest.number + 1, ..self.manifest.clone() }, segments }
    }

    /// Makes a batch a part of the store: its segments, the clusters that it changes, and what was answered.
    pub(crate) fn commit_batch(
        &mut self,
        batch: Committed,
        mut next: Next,
        fresh: Vec<(Listed, Arc<Segment>)>,
        changed: &Changed,
        answer: &[Bytes],
    ) -> Result<()> {
        for (listed, segment) in fresh {
            next.manifest.segments.push(listed);
            next.segments.push(segment);
        }
        let merged = self.merge(&mut next).and_then(|()| {
            let parts: Vec<&[u8]> = answer.iter().map(|part| &**part).collect();
            let answer = format!("answer-{:08}", next.manifest.number);
            self.put(&answer, ANSWER, &parts)?;
            next.manifest.batches.push(Committed { answer: Some(answer), ..batch });
            Ok(next)
        });
        let next = self.or_clean_up(merged)?;
        self.commit(next, changed)
    }

    /// What was made for a commit; where that has failed, its files go again, so that a disk that was full has the room that it had.
    pub(crate) fn or_clean_up<T>(&mut self, made: Result<T>) -> Result<T> {
        if made.is_err() && self.lock.is_some() {
            // What went wrong is being told. What stays goes with the next commit.
            let _ = self.remove_superseded();
        }
        made
    }

    /// Refuses to change what is open to be read.
    pub(crate) fn is_writable(&self) -> Result<()> {
        let problem = "is open to be read, and nothing is changed of it";
        let refused = || Error::File { path: self.disk.path().to_owned(), problem: problem.to_owned() };
        self.lock.is_some().then_some(()).ok_or_else(refused)
    }

    /// Writes a file of parts.
    fn put(&mut self, name: &str, kind: &str, parts: &[&[u8]]) -> Result<()> {
        let head = parts_file::head_of_parts(kind, &[], parts);
        self.disk.write(name, &parts_file::pieces(&head, parts))
    }

    /// Writes the tombstones and clusters that a manifest does not have yet, then the manifest, then its name: that is the commit.
    pub(crate) fn commit(&mut self, next: Next, changed: &Changed) -> Result<()> {
        self.is_writable()?;
        let written = self.write(next, changed);
        let (manifest, segments, clusters) = self.or_clean_up(written)?;
        // From here on the new store may be there, whatever fails, and all of its files stay.
        let disk = &mut self.disk;
        disk.rename(UNNAMED, &manifest::file_of(manifest.number))?;
        disk.sync()?;
        self.segments = segments;
        self.clusters = clusters.unwrap_or_else(|| std::mem::take(&mut self.clusters));
        self.manifest = manifest;
        self.remove_superseded()
    }

    /// Writes all files of a commit. When it is done they are on the disk, and the manifest has no name yet.
    fn write(
        &mut self,
        next: Next,
        changed: &Changed,
    ) -> Result<(Manifest, Vec<Arc<Segment>>, Option<Clusters>)> {
        let Next { mut manifest, segments } = next;
        // Nothing is made of what was damaged.
        self.check()?;
        segments.iter().try_for_each(|segment| segment.check())?;
        let number = manifest.number;
        for (at, (listed, segment)) in manifest.segments.iter_mut().zip(&segments).enumerate() {
            let forgotten = segment.forgotten();
            if listed.living() != segment.count_living() as u64 {
                let name = format!("tombstones-{number:08}-{at}");
                self.put(&name, tombstones::KIND, &[&forgotten.bytes()])?;
                listed.forgotten = Some((name, forgotten.len() as u64));
            }
        }
        let clusters = (!changed.is_empty()).then(|| self.clusters.with(changed));
        if let Some(clusters) = &clusters {
            let name = format!("clusters-{number:08}");
            manifest.clusters = match clusters.is_empty() {
                true => None,
                false => self.put(&name, CLUSTERS, &[clusters.bytes()]).map(|()| Some(name))?,
            };
        }
        self.disk.write(UNNAMED, &[&manifest.bytes()])?;
        // All that the manifest names is on the disk before it has its name.
        self.disk.sync()?;
        Ok((manifest, segments, clusters))
    }

    /// Merges the last segments as long as the one before the last is not much larger than that, and both fit into the memory of a batch together: a document
    /// is written again as often as the logarithm of the number of documents, at most. What is forgotten is left out.
    fn merge(&mut self, next: &mut Next) -> Result<()> {
        let Next { manifest, segments } = next;
        let mut merges = 0;
        while let [.., before, last] = &segments[..]
            && (before.count_living() as u64) < GROWTH * last.count_living() as u64
        {
            let mut builder = SegmentBuilder::default();
            for segment in [before, last] {
                segment.expect(Access::ReadAhead);
                for number in segment.living() {
                    builder.push(segment.document(number));
                    if builder.bytes() > self.settings.memory {
                        return Ok(());
                    }
                }
            }
            before.check()?;
            last.check()?;
            let name = format!("segment-{:08}-m{merges}", manifest.number);
            let (listed, merged) = self.write_segment(name, &builder)?;
            segments.truncate(segments.len() - 2);
            manifest.segments.truncate(segments.len());
            segments.push(merged);
            manifest.segments.push(listed);
            merges += 1;
        }
        Ok(())
    }

    /// Writes a segment of the store, and opens it.
    pub(crate) fn write_segment(
        &mut self,
        name: String,
        builder: &SegmentBuilder,
    ) -> Result<(Listed, Arc<Segment>)> {
        let file = builder.finish(self.settings.similarity, self.settings.least);
        self.disk.write(&name, &file.pieces())?;
        let segment = Segment::open(&self.disk.path().join(&name), self.settings.threads)?;
        let listed = Listed { file: name, documents: segment.len() as u64, forgotten: None };
        Ok((listed, Arc::new(segment)))
    }

    /// Removes what the manifest does not name: what it has taken the place of, what was merged at once, and what commits that failed have left.
    pub(crate) fn remove_superseded(&mut self) -> Result<()> {
        let named: BTreeSet<&str> = self.manifest.files().collect();
        let is_last = |name: &str| number_of(name) == Some(self.manifest.number);
        let mut files = names(self.disk.path())?;
        files
            .retain(|name| is_ours(name) && name != LOCK && !is_last(name) && !named.contains(name.as_str()));
        files.iter().try_for_each(|name| self.disk.remove(name))
    }
}
