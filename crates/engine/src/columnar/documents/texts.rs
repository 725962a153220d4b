//! Documents whose sets are too small for a join and whose texts are equal.
//!
//! On their way they are rows of 20 bytes that go to disk like features when memory ends, through open chunks that take
//! the place of the sort buffers, which nothing uses while documents are read. What stays is 4 bytes for each document
//! that has an equal, and 4 for each different text.

use crate::columnar::sorter::{FrameOfReference, Row, Sorter, pack};
use twinsplit_io::error::Result;

/// The hash of a document's text.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextRow {
    /// The hash, its highest part first.
    hash: [u32; 4],
    /// The document, which goes by its place.
    document: u32,
}

impl TextRow {
    /// A document's row.
    pub fn new(hash: u128, document: u32) -> Self {
        let part = |at: u32| (hash >> (96 - 32 * at)) as u32;
        Self { hash: [part(0), part(1), part(2), part(3)], document }
    }
}

impl Row for TextRow {
    const MOST: usize = 20;

    fn least(_: FrameOfReference) -> usize {
        Self::MOST
    }

    fn key(&self) -> u64 {
        pack(self.hash[0], self.hash[1])
    }

    fn put(&self, _: &Self, _: FrameOfReference, out: &mut [u8]) -> usize {
        let [a, b, c, d] = self.hash;
        for (word, out) in [a, b, c, d, self.document].iter().zip(out.chunks_exact_mut(4)) {
            out.copy_from_slice(&word.to_le_bytes());
        }
        Self::MOST
    }

    fn get(bytes: &mut &[u8], _: &Self, _: FrameOfReference) -> Option<Self> {
        let words = bytes.split_off(..Self::MOST)?.as_chunks::<4>().0;
        let [a, b, c, d, document] = <[[u8; 4]; 5]>::try_from(words).ok()?.map(u32::from_le_bytes);
        Some(Self { hash: [a, b, c, d], document })
    }
}

/// Groups of documents with equal texts, two documents or more in each.
#[derive(Debug, Default)]
pub struct EqualTexts {
    /// Numbers of documents, group after group, ascending in each.
    members: Vec<u32>,
    /// Where each group ends.
    ends: Vec<u32>,
}

impl EqualTexts {
    /// Groups documents that are short, by place, and have these numbers by place.
    pub fn of(
        rows: &Sorter<'_, TextRow>,
        numbers: &[u32],
        short: &(dyn Fn(u32) -> bool + Sync),
        threads: usize,
    ) -> Result<Self> {
        let mut texts = Self::default();
        let mut same: Vec<TextRow> = Vec::new();
        rows.drain_all(threads, &mut |rows| {
            for run in rows.chunk_by(|x, y| x.key() == y.key()) {
                same.clear();
                same.extend(run.iter().filter(|row| short(row.document)));
                // Half of the hash may be the same, which happens to no collection but a made one.
                same.sort_by_key(|row| row.hash);
                same.chunk_by(|x, y| x.hash == y.hash).for_each(|run| texts.push(run, numbers));
            }
            Ok(())
        })?;
        Ok(texts)
    }

    fn push(&mut self, run: &[TextRow], numbers: &[u32]) {
        if run.len() > 1 {
            let start = self.members.len();
            self.members.extend(run.iter().map(|row| numbers[row.document as usize]));
            self.members[start..].sort_unstable();
            self.ends.push(self.members.len() as u32);
        }
    }

    /// The groups.
    pub fn groups(&self) -> impl Iterator<Item = &[u32]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.members[start as usize..*end as usize])
    }

    /// How many documents are in groups.
    pub fn documents(&self) -> usize {
        self.members.len()
    }

    /// How many documents have a text that an earlier one has.
    pub fn copies(&self) -> u64 {
        (self.members.len() - self.ends.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Budget, PROGRAM, THREAD};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Hashes that are equal in no part, one half, either half, or whole; in memory and on disk.
        #[test]
        fn equal_hashes_make_groups(
            rows in prop::collection::vec((0u128..4, 0u128..3), 0..300), shift in 0u32..60, tiny in any::<bool>(),
            threads in 1usize..4, some_are_long in any::<bool>(),
        ) {
            let memory = if tiny { PROGRAM + threads * THREAD + 1 } else { 1 << 30 };
            let budget = Budget::new(memory, threads).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let sorter = Sorter::new(&budget, folder.path(), 0, u64::MAX);
            let mut writers: Vec<_> = (0..threads).map(|_| sorter.writer()).collect();
            // Documents are numbered backwards.
            let numbers: Vec<u32> = (0..rows.len() as u32).rev().collect();
            let mut expected: BTreeMap<u128, Vec<u32>> = BTreeMap::new();
            for (place, &(high, low)) in rows.iter().enumerate() {
                let hash = high << (64 + shift) | low << shift;
                writers[place % threads].push(TextRow::new(hash, place as u32)).unwrap();
                expected.entry(hash).or_default().insert(0, numbers[place]);
            }
            writers.into_iter().for_each(|writer| writer.finish().unwrap());
            prop_assert!(!tiny || rows.is_empty() || sorter.spilled() > 0);
            let short = |place: u32| !place.is_multiple_of(5) || !some_are_long;
            let texts = EqualTexts::of(&sorter, &numbers, &short, threads).unwrap();
            expected.values_mut().for_each(|group| group.retain(|number| short(rows.len() as u32 - 1 - number)));
            expected.retain(|_, group| group.len() > 1);
            let expected: Vec<Vec<u32>> = expected.into_values().collect();
            prop_assert_eq!(texts.groups().collect::<Vec<_>>(), expected.iter().map(Vec::as_slice).collect::<Vec<_>>());
            prop_assert_eq!(texts.documents(), expected.iter().map(Vec::len).sum::<usize>());
            prop_assert_eq!(texts.copies() as usize, texts.documents() - expected.len());
        }
    }
}
