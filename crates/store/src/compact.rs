//! Compaction: segments are written again without what is forgotten of them, and answers of old batches go. It is a commit as any other: until its manifest has
//! its name the store is the one of before, which readers keep.

use crate::clusters::Changed;
use crate::disk::Disk;
use crate::manifest::Listed;
use crate::segment::{Segment, SegmentBuilder};
use crate::store::Store;
use std::ops::Range;
use std::sync::Arc;
use twinsplit_io::error::Result;
use twinsplit_io::mapped::Access;

impl<D: Disk> Store<D> {
    /// Writes segments again that hold forgotten documents, and joins those that fit into memory together. Keeps the answers of the last `answers` batches
    /// alone, where that is given. Gives whether there was something to do.
    ///
    /// # Errors
    /// The store is open to be read; or the disk fails, and the store is what it was.
    pub fn compact(&mut self, answers: Option<usize>) -> Result<bool> {
        self.is_writable()?;
        let mut next = self.next(Vec::new());
        let is_clean = |segment: &Segment| segment.forgotten().is_empty();
        next.manifest.segments.clear();
        for group in self.groups() {
            match group.len() {
                1 if is_clean(&self.segments[group.start]) => {
                    next.manifest.segments.push(self.manifest.segments[group.start].clone());
                    next.segments.push(self.segments[group.start].clone());
                }
                _ => {
                    let written = self.rewrite(group);
                    for (listed, segment) in self.or_clean_up(written)? {
                        next.manifest.segments.push(listed);
                        next.segments.push(segment);
                    }
                }
            }
        }
        if let Some(answers) = answers {
            let old = next.manifest.batches.len().saturating_sub(answers);
            next.manifest.batches[..old].iter_mut().for_each(|batch| batch.answer = None);
        }
        let is_same = next.manifest.segments == self.manifest.segments
            && next.manifest.batches == self.manifest.batches;
        match is_same {
            true => self.remove_superseded()?,
            false => self.commit(next, &Changed::new())?,
        }
        Ok(!is_same)
    }

    /// Segments that follow one another and whose documents fit into memory together. To form them again of what they become changes nothing.
    fn groups(&self) -> Vec<Range<usize>> {
        let (mut groups, mut bytes) = (Vec::<Range<usize>>::new(), 0);
        for (at, segment) in self.segments.iter().enumerate() {
            let of_segment: usize = segment.living().map(|number| segment.bytes_to_build(number)).sum();
            match groups.last_mut() {
                Some(last) if bytes + of_segment <= self.settings.memory => {
                    last.end = at + 1;
                    bytes += of_segment;
                }
                _ => {
                    groups.push(at..at + 1);
                    bytes = of_segment;
                }
            }
        }
        groups
    }

    /// Writes the documents of segments again: as one segment, unless memory has become less than it was. None where nothing is left of them.
    fn rewrite(&mut self, group: Range<usize>) -> Result<Vec<(Listed, Arc<Segment>)>> {
        let (mut written, mut builder) = (Vec::new(), SegmentBuilder::default());
        let (number, start) = (self.manifest.number + 1, group.start);
        let from = self.segments[group].to_vec();
        let name = |part: usize| format!("segment-{number:08}-{start}-{part}");
        from.iter().for_each(|segment| segment.expect(Access::ReadAhead));
        for (segment, number) in
            from.iter().flat_map(|segment| segment.living().map(move |number| (segment, number)))
        {
            if builder.bytes() + segment.bytes_to_build(number) > self.settings.memory
                && !builder.documents().is_empty()
            {
                let name = name(written.len());
                written.push(self.write_segment(name, &std::mem::take(&mut builder))?);
            }
            builder.push(segment.document(number));
        }
        from.iter().try_for_each(|segment| segment.check())?;
        if !builder.documents().is_empty() {
            let name = name(written.len());
            written.push(self.write_segment(name, &builder)?);
        }
        Ok(written)
    }
}
