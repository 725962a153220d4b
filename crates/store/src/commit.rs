//! How a batch becomes a part of a store, and how segments grow together.

use crate::clusters::Clusters;
use crate::disk::Disk;
use crate::manifest::{self, Committed, Listed, Manifest, number_of};
use crate::segment::{Segment, SegmentBuilder};
use crate::store::{ANSWER, CLUSTERS, LOCK, Store, UNNAMED, is_ours, names};
use std::collections::BTreeSet;
use std::sync::Arc;
use twinsplit_io::error::Result;
use twinsplit_io::mapped::Bytes;
use twinsplit_io::parts_file::{self, Verify};

/// A segment takes in the one before it unless that has so many times its documents.
const GROWTH: u64 = 2;

impl<D: Disk> Store<D> {
    /// Makes a batch a part of the store: its segments, the clusters that it ends in, and what was answered.
    pub(crate) fn commit(
        &mut self,
        batch: Committed,
        fresh: Vec<(Listed, Arc<Segment>)>,
        clusters: &Clusters,
        answer: &[Bytes],
    ) -> Result<()> {
        let mut next = Manifest { number: self.manifest.number + 1, ..self.manifest.clone() };
        let mut segments = self.segments.clone();
        for (listed, segment) in fresh {
            next.segments.push(listed);
            segments.push(segment);
        }
        self.merge(&mut next, &mut segments)?;
        let rows = clusters.bytes();
        self.put(batch, &mut next, &rows, answer)?;
        self.segments = segments;
        self.clusters = next.clusters.is_some().then(|| rows.into());
        self.manifest = next;
        self.remove_superseded()
    }

    /// Writes all that a manifest names and is not there, then the manifest, then its name: that is the commit.
    fn put(
        &mut self,
        batch: Committed,
        next: &mut Manifest,
        clusters: &[u8],
        answer: &[Bytes],
    ) -> Result<()> {
        let number = next.number;
        let disk = &mut self.disk;
        let mut write = |name: String, kind: &str, parts: &[&[u8]]| {
            let head = parts_file::head_of_parts(kind, &[], parts);
            disk.write(&name, &parts_file::pieces(&head, parts)).map(|()| name)
        };
        if !clusters.is_empty() {
            next.clusters = Some(write(format!("clusters-{number:08}"), CLUSTERS, &[clusters])?);
        }
        let parts: Vec<&[u8]> = answer.iter().map(|part| &**part).collect();
        let answer = write(format!("answer-{number:08}"), ANSWER, &parts)?;
        next.batches.push(Committed { answer, ..batch });
        disk.write(UNNAMED, &[&next.bytes()])?;
        // All that the manifest names is on the disk before it has its name.
        disk.sync()?;
        disk.rename(UNNAMED, &manifest::file_of(number))?;
        disk.sync()
    }

    /// Merges the last segments as long as the one before the last is not much larger than that, and both fit into the memory of a batch together: a document
    /// is written again as often as the logarithm of the number of documents, at most.
    fn merge(&mut self, next: &mut Manifest, segments: &mut Vec<Arc<Segment>>) -> Result<()> {
        let mut merges = 0;
        while let [.., before, last] = &segments[..]
            && (before.len() as u64) < GROWTH * last.len() as u64
        {
            let mut builder = SegmentBuilder::default();
            for segment in [before, last] {
                for number in 0..segment.len() {
                    builder.push(segment.document(number));
                    if builder.bytes() > self.settings.memory {
                        return Ok(());
                    }
                }
            }
            let file = builder.finish(self.settings.similarity, self.settings.least);
            let name = format!("segment-{:08}-m{merges}", next.number);
            self.disk.write(&name, &file.pieces())?;
            let merged = Segment::open(&self.disk.path().join(&name), Verify::Head)?;
            let documents = merged.len() as u64;
            segments.truncate(segments.len() - 2);
            next.segments.truncate(segments.len());
            segments.push(Arc::new(merged));
            next.segments.push(Listed { file: name, documents });
            merges += 1;
        }
        Ok(())
    }

    /// Removes what the manifest does not name: what it has taken the place of, what was merged at once, and what commits that failed have left.
    fn remove_superseded(&mut self) -> Result<()> {
        let named: BTreeSet<&str> = self.manifest.files().collect();
        let is_last = |name: &str| number_of(name) == Some(self.manifest.number);
        let mut files = names(self.disk.path())?;
        files
            .retain(|name| is_ours(name) && name != LOCK && !is_last(name) && !named.contains(name.as_str()));
        files.iter().try_for_each(|name| self.disk.remove(name))
    }
}
