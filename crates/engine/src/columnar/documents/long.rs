//! Lines that are too long to be taken like any other: room for them, and sets that are not held whole.
//!
//! A line is read as far as the [budget](crate::memory) lasts, for that and for what its text needs while
//! it is cut into features. Its features go through a sorter of their own when they are many, which puts them on disk as
//! the budget says, and come out each once.

use super::FeatureRow;
use crate::columnar::sorter::{SortWriter, Sorter};
use crate::memory::Budget;
use crate::memory::lines::{LineNeeds, LineRoom};
use twinsplit_core::text::{FeatureSpec, LONG};
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_io::{Block, Blocks, Room, each_line};

/// Features of a document that are held: half a megabyte.
const HELD: usize = 64 << 10;

/// The room of one block.
pub struct BlockRoom<'r, 'b> {
    budget: &'b Budget,
    features: &'r Sorter<'b, FeatureRow>,
    spec: &'r FeatureSpec,
    /// Where fingerprints are made, bytes for a byte of a line that is not taken piece by piece.
    fingerprints: Option<Option<usize>>,
    taken: LineRoom<'b>,
}

impl<'r, 'b> BlockRoom<'r, 'b> {
    /// None yet. Documents become sets, or fingerprints: of these, bytes for a byte of a line that is not taken piece by piece.
    pub fn new(
        budget: &'b Budget,
        features: &'r Sorter<'b, FeatureRow>,
        (spec, fingerprints): (&'r FeatureSpec, Option<Option<usize>>),
    ) -> Self {
        Self { budget, features, spec, fingerprints, taken: LineRoom::default() }
    }

    /// The next block, with room for itself and for all that is made of its lines.
    pub fn next_block(&mut self, blocks: &mut Blocks) -> Result<Option<Block>> {
        let Some(block) = blocks.next_within(self)? else { return Ok(None) };
        let (mut most, mut longest) = (0, None);
        if block.bytes.len() > LONG {
            each_line(&block, |line, place| {
                let needs = self.beside(line);
                let more = needs.of(self.budget);
                if more > most {
                    (most, longest) = (more, Some((place.clone(), line.len(), needs)));
                }
                Ok(())
            })?;
        }
        if let Some((place, length, mut needs)) = longest
            && !self.take(most)?
        {
            // The whole block is in memory with it.
            needs.bytes += block.bytes.len();
            drop(block);
            blocks.stop();
            return Err(self.taken.refused(self.budget, &place, length, needs));
        }
        Ok(Some(block))
    }

    /// What is needed for a line beside itself.
    fn beside(&self, line: &[u8]) -> LineNeeds {
        if line.len() <= LONG {
            return LineNeeds::default();
        }
        let bytes = match self.fingerprints {
            Some(Some(held)) => line.len() * held,
            _ => self.spec.memory_of(line),
        };
        LineNeeds { bytes, sorter: self.has_many(line.len()) }
    }

    /// Whether a line of this length may have more features than are held.
    fn has_many(&self, length: usize) -> bool {
        self.fingerprints.is_none() && length / 2 > HELD
    }
}

impl Room for BlockRoom<'_, '_> {
    fn take(&mut self, bytes: usize) -> Result<bool> {
        self.taken.take(self.budget, bytes, || self.features.make_room())
    }

    fn refused(&self, place: &Place, bytes: u64) -> Error {
        let length = bytes as usize;
        let held = self.fingerprints.flatten().unwrap_or(0);
        let needs = LineNeeds { bytes: length * (1 + held), sorter: self.has_many(length) };
        self.taken.refused(self.budget, place, length, needs)
    }
}

/// What is kept of a set.
#[derive(Default)]
pub struct Sum {
    /// How many features it has.
    pub size: u32,
    /// Their sum.
    pub hash: u64,
}

impl Sum {
    /// Of these features.
    pub fn of(set: &[u64]) -> Self {
        let mut sum = Self::default();
        sum.add(set);
        sum
    }

    fn add(&mut self, set: &[u64]) {
        self.size += set.len() as u32;
        self.hash = set.iter().fold(self.hash, |sum, feature| sum.wrapping_add(*feature));
    }
}

/// The set of one document, of which no more than some features are held.
pub struct LongSet<'l, 's> {
    held: &'l mut Vec<u64>,
    many: &'l Sorter<'s, u64>,
    writer: Option<SortWriter<'l, 's, u64>>,
}

impl<'l, 's> LongSet<'l, 's> {
    /// An empty set. Features that are few are in `held` in the end; others go through `many`.
    pub fn new(held: &'l mut Vec<u64>, many: &'l Sorter<'s, u64>) -> Self {
        held.clear();
        Self { held, many, writer: None }
    }

    /// Takes a feature, which may be there already.
    pub fn push(&mut self, feature: u64) -> Result<()> {
        self.held.push(feature);
        if self.held.len() < HELD {
            return Ok(());
        }
        self.tidy();
        if self.held.len() <= HELD / 2 { Ok(()) } else { self.put_down() }
    }

    fn tidy(&mut self) {
        self.held.sort_unstable();
        self.held.dedup();
    }

    fn put_down(&mut self) -> Result<()> {
        let writer = self.writer.get_or_insert_with(|| self.many.writer());
        self.held.drain(..).try_for_each(|feature| writer.push(feature))
    }

    /// The set is complete; `visit` gets each of its features that is not held.
    pub fn finish(mut self, visit: &mut impl FnMut(u64) -> Result<()>) -> Result<Sum> {
        self.tidy();
        if self.writer.is_some() {
            self.put_down()?;
        }
        let Some(writer) = self.writer else { return Ok(Sum::of(self.held)) };
        writer.finish()?;
        let mut sum = Sum::default();
        self.many.drain_all(1, &mut |features| {
            for same in features.chunk_by(|x, y| x == y) {
                sum.add(&same[..1]);
                visit(same[0])?;
            }
            Ok(())
        })?;
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        /// Each feature once, held or put down, whatever comes again.
        #[test]
        fn a_set_has_each_feature_once(distinct in 1u64..150_000, times in 1u64..4, megabytes in 18usize..60) {
            let budget = Budget::new(megabytes << 20, 1).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let feature = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let (mut held, mut found) = (Vec::new(), Vec::new());
            let many = Sorter::new(&budget, folder.path(), 0, u64::MAX);
            let mut set = LongSet::new(&mut held, &many);
            for n in 0..distinct * times {
                set.push(feature(n % distinct)).unwrap();
            }
            let sum = set.finish(&mut |feature| { found.push(feature); Ok(()) }).unwrap();
            prop_assert!(held.is_empty() || found.is_empty());
            prop_assert!(held.len() <= HELD);
            found.append(&mut held);
            found.sort_unstable();
            let mut expected: Vec<u64> = (0..distinct).map(feature).collect();
            expected.sort_unstable();
            let hash = expected.iter().fold(0, |sum: u64, feature| sum.wrapping_add(*feature));
            prop_assert_eq!((u64::from(sum.size), sum.hash), (distinct, hash));
            prop_assert_eq!(found, expected);
        }
    }
}
