//! Sets, and the documents that have each.
//!
//! Rows (candidate, token) come sorted, so that each candidate's set comes whole, and the candidates are in order of
//! (size, hash, number): a set that equals another one follows it closely. Sets without singleton tokens are compared in
//! full with those of the same size and hash that came before; the others equal nothing. Each different set is stored
//! once, with the documents that have it.
//!
//! Each thread does that to a buffer of rows on its own. Only the candidates of its first and of its last hash may go on in, or equal one of,
//! the buffers beside it: their rows are gone through when it is known what came before.

use super::documents::Documents;
use super::numbering::{Candidates, SetRows};
use super::ragged::Ragged;
use super::sorter::{Packing, Sorter};
use super::store::{Store, StorePart, StoreWriter};
use crate::memory::Budget;
use crate::progress::{Progress, Unit};
use std::path::Path;
use std::sync::Mutex;
use twinsplit_core::join::kernel::Source;
use twinsplit_core::similarity::{SetSimilarity, Similarity};
use twinsplit_core::threads::lock;
use twinsplit_io::error::Result;

/// The sets that enter a join, and which documents have them.
pub struct Groups {
    /// The sets.
    pub store: Store,
    /// By set the numbers of its documents, ascending.
    members: Ragged<u32>,
}

/// Stands for a document that is in no group.
pub const NO_SET: u32 = u32::MAX;

impl Groups {
    /// Makes the candidates' sets of their rows, and groups them.
    pub fn of(
        SetRows { rows, packing }: &SetRows<'_>,
        candidates: &Candidates,
        documents: &Documents,
        similarity: Similarity,
        threads: usize,
        (budget, folder): (&Budget, &Path),
        progress: &Progress,
    ) -> Result<Self> {
        progress.start("equal-sets", "grouping", Unit::Sets, candidates.numbers.len() as u64);
        // In each thread a set as it is collected, and as it waits for those that equal it.
        let sets = candidates.largest.1 * 8 * threads;
        budget.hold(sets);
        while budget.is_over() && rows.make_room()? {}
        let key = |number: u32| {
            let place = documents.order[number as usize] as usize;
            (documents.sizes[place], documents.hashes[place])
        };
        let grouping = Grouping { numbers: &candidates.numbers, packing: *packing, key: &key, similarity };
        let store = StoreWriter::new(budget, folder, candidates.sets, candidates.tokens)?;
        let groups = grouping.groups(rows, store, threads, &|position| progress.set(position.into()));
        budget.release(sets);
        groups
    }

    /// Groups of documents, which come in order, those that are equal one after the other; no set is stored of them.
    pub fn of_equal(
        numbers: Vec<u32>,
        equal: impl Fn(u32, u32) -> bool,
        (budget, folder): (&Budget, &Path),
    ) -> Result<Self> {
        let (mut sets, mut ends, mut end) = (StorePart::default(), Vec::new(), 0);
        for group in numbers.chunk_by(|x, y| equal(*x, *y)) {
            sets.push(&[], 0);
            end += group.len();
            ends.push(end);
        }
        let mut store = StoreWriter::new(budget, folder, ends.len(), 0)?;
        store.append(&sets)?;
        Ok(Self { store: store.finish()?, members: Ragged::of(numbers, ends) })
    }

    /// The documents that have a set, ascending.
    pub fn members(&self, set: u32) -> &[u32] {
        self.members.get(set as usize)
    }

    /// How many documents have a set.
    pub fn size(&self, set: u32) -> u64 {
        self.members(set).len() as u64
    }

    /// How many sets there are.
    pub fn count(&self) -> u32 {
        self.store.sets() as u32
    }

    /// How many documents have a set that an earlier one has.
    pub fn copies(&self) -> u64 {
        self.members.items().len() as u64 - u64::from(self.count())
    }

    /// By number of a document its set, or [`NO_SET`].
    pub fn set_of(&self, documents: usize) -> Vec<u32> {
        let mut set_of = vec![NO_SET; documents];
        for set in 0..self.count() {
            for member in self.members(set) {
                set_of[*member as usize] = set;
            }
        }
        set_of
    }
}

/// Some different sets, and the documents that have each.
#[derive(Default)]
struct Part {
    sets: StorePart,
    members: Ragged<u32>,
}

impl Part {
    fn push(&mut self, tokens: &[u32], singleton: usize, members: &[u32]) {
        self.sets.push(tokens, singleton);
        self.members.push(members);
    }

    fn is_empty(&self) -> bool {
        self.members.len() == 0
    }

    /// Takes all out; the room stays.
    fn clear(&mut self) {
        self.sets.clear();
        self.members.clear();
    }
}

/// A buffer of rows, of which those between the first and the last hash are grouped.
struct SplitRows {
    first: Vec<u64>,
    between: Part,
    last: Vec<u64>,
}

/// What sets are grouped by.
struct Grouping<'a> {
    /// The candidates, in order of (size, hash, number).
    numbers: &'a [u32],
    /// How rows are packed.
    packing: Packing,
    /// The size and the hash of a document's set.
    key: &'a (dyn Fn(u32) -> (u32, u64) + Sync),
    similarity: Similarity,
}

impl Grouping<'_> {
    fn groups(
        &self,
        rows: &Sorter<'_, u64>,
        mut store: StoreWriter,
        threads: usize,
        on_progress: &dyn Fn(u32),
    ) -> Result<Groups> {
        let mut members = Ragged::with_room(self.numbers.len(), self.numbers.len());
        let mut take = |part: &mut Part| -> Result<()> {
            store.append(&part.sets)?;
            members.append(&part.members);
            part.clear();
            Ok(())
        };
        let parts: Mutex<Vec<Part>> = Mutex::default();
        let split = |rows: &[u64]| self.split(rows, lock(&parts).pop().unwrap_or_default());
        let mut open = OpenGroups::new(self, Part::default());
        rows.drain_mapped(threads, split, &mut |SplitRows { first, mut between, last }| {
            open.rows(&first);
            if !between.is_empty() {
                open.end_hash();
                take(&mut open.part)?;
                take(&mut between)?;
            }
            lock(&parts).push(between);
            open.rows(&last);
            take(&mut open.part)?;
            on_progress(open.position);
            Ok(())
        })?;
        open.end_hash();
        take(&mut open.part)?;
        Ok(Groups { store: store.finish()?, members })
    }

    /// Groups the sets of sorted rows into an empty part, but for those of the first and of the last hash.
    fn split(&self, rows: &[u64], between: Part) -> SplitRows {
        let key = |row: &u64| (self.key)(self.numbers[self.packing.first(*row) as usize]);
        let (Some(first), Some(last)) = (rows.first().map(key), rows.last().map(key)) else {
            return SplitRows { first: Vec::new(), between, last: Vec::new() };
        };
        let (before, rest) = rows.split_at(rows.partition_point(|row| key(row) == first));
        let (rows, after) = rest.split_at(rest.partition_point(|row| key(row) != last));
        let mut open = OpenGroups::new(self, between);
        open.part.sets.reserve(rows.len());
        open.rows(rows);
        open.end_hash();
        SplitRows { first: before.to_vec(), between: open.part, last: after.to_vec() }
    }
}

/// Groups of which more rows may come, and those that are complete.
struct OpenGroups<'a> {
    grouping: &'a Grouping<'a>,
    /// The candidate whose tokens are being collected.
    position: u32,
    tokens: Vec<u32>,
    /// The first `used` are the different sets of one size and hash.
    same: Vec<Group>,
    used: usize,
    key: (u32, u64),
    /// The sets that nothing more can equal.
    part: Part,
}

/// A set and who has it.
#[derive(Default)]
struct Group {
    tokens: Vec<u32>,
    members: Vec<u32>,
}

impl<'a> OpenGroups<'a> {
    fn new(grouping: &'a Grouping<'a>, part: Part) -> Self {
        let (tokens, same) = (Vec::new(), Vec::new());
        Self { grouping, position: 0, tokens, same, used: 0, key: (0, 0), part }
    }

    fn rows(&mut self, rows: &[u64]) {
        let packing = self.grouping.packing;
        for row in rows.chunk_by(|x, y| packing.first(*x) == packing.first(*y)) {
            let position = packing.first(row[0]);
            if position != self.position {
                self.end_set();
                self.position = position;
            }
            self.tokens.extend(row.iter().map(|row| packing.unpack(*row).1));
        }
    }

    /// All tokens of a candidate are there.
    fn end_set(&mut self) {
        let Some(&number) = self.grouping.numbers.get(self.position as usize) else { return };
        let key = (self.grouping.key)(number);
        let singleton = key.0 as usize - self.tokens.len();
        if (self.tokens.len() as u64) < self.grouping.similarity.least_overlap(key.0.into()) {
            // With those lists that only one candidate is left of, too many of it are singletons.
            self.tokens.clear();
            return;
        }
        if key != self.key {
            self.end_groups();
            self.key = key;
        }
        if singleton > 0 {
            self.part.push(&self.tokens, singleton, &[number]);
        } else {
            let at = self.same[..self.used].iter().position(|group| group.tokens == self.tokens);
            let at = at.unwrap_or_else(|| {
                if self.used == self.same.len() {
                    self.same.push(Group::default());
                }
                self.same[self.used].tokens.extend_from_slice(&self.tokens);
                self.used += 1;
                self.used - 1
            });
            self.same[at].members.push(number);
        }
        self.tokens.clear();
    }

    /// All sets of a size and hash are there.
    fn end_groups(&mut self) {
        for group in &mut self.same[..self.used] {
            self.part.push(&group.tokens, 0, &group.members);
            group.tokens.clear();
            group.members.clear();
        }
        self.used = 0;
    }

    /// All rows of a size and hash are there.
    fn end_hash(&mut self) {
        self.end_set();
        self.end_groups();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{PROGRAM, THREAD};
    use proptest::prelude::*;
    use twinsplit_core::similarity::Measure;

    /// A document's size, hash, tokens; its number is its place.
    type Document = (u32, u64, Vec<u32>);

    /// Set by set, how it was said above: its size, tokens and documents. Every set is held against all of its size and hash.
    fn defined(
        documents: &[Document],
        order: &[u32],
        least: impl Fn(u64) -> u64,
    ) -> Vec<(u32, Vec<u32>, Vec<u32>)> {
        let mut all = Vec::new();
        for same in order.chunk_by(|x, y| {
            documents[*x as usize].1 == documents[*y as usize].1
                && documents[*x as usize].0 == documents[*y as usize].0
        }) {
            let mut whole: Vec<(u32, Vec<u32>, Vec<u32>)> = Vec::new();
            for number in same {
                let (size, _, tokens) = &documents[*number as usize];
                if (tokens.len() as u64) < least((*size).into()) {
                    continue;
                }
                if tokens.len() < *size as usize {
                    all.push((*size, tokens.clone(), vec![*number]));
                } else if let Some(equal) = whole.iter_mut().find(|(_, other, _)| other == tokens) {
                    equal.2.push(*number);
                } else {
                    whole.push((*size, tokens.clone(), vec![*number]));
                }
            }
            all.extend(whole);
        }
        all
    }

    proptest! {
        /// Few tokens and hashes, so that sets are equal, or have the hash of others; few documents, so that a set is in several buckets,
        /// and many, so that a bucket has many sets.
        #[test]
        fn sets_are_grouped_as_defined(
            sets in prop::collection::vec((prop::collection::btree_set(0..6u32, 1..4), 0..3u32), 1..60),
            copies in 1..40usize, hashes in 1..3u64, threads in 1..4usize,
        ) {
            let documents: Vec<Document> = (0..sets.len() * copies)
                .map(|at| {
                    let (tokens, singleton) = &sets[at * 7 % sets.len()];
                    let hash = u64::from(tokens.iter().sum::<u32>()) % hashes;
                    (tokens.len() as u32 + singleton.saturating_sub(1), hash, tokens.iter().copied().collect())
                })
                .collect();
            let mut numbers: Vec<u32> = (0..documents.len() as u32).collect();
            numbers.sort_by_key(|number| (documents[*number as usize].0, documents[*number as usize].1, *number));
            let similarity: Similarity = Measure::Jaccard.reaching("0.7").unwrap();
            let expected = defined(&documents, &numbers, |size| similarity.least_overlap(size));
            let folder = tempfile::tempdir().unwrap();
            for memory in [PROGRAM + threads * THREAD + (16 << 10), 1 << 30] {
                let budget = Budget::new(memory, threads).unwrap();
                let packing = Packing::new(5);
                let rows = Sorter::new(&budget, folder.path(), 0, packing.pack(numbers.len() as u32 - 1, 5));
                let mut writer = rows.writer();
                for (position, number) in (0..).zip(&numbers) {
                    documents[*number as usize].2.iter().try_for_each(|token| writer.push(packing.pack(position, *token))).unwrap();
                }
                writer.finish().unwrap();
                let key = |number: u32| (documents[number as usize].0, documents[number as usize].1);
                let grouping = Grouping { numbers: &numbers, packing, key: &key, similarity };
                let store = StoreWriter::new(&budget, folder.path(), numbers.len(), 3 * numbers.len() as u64).unwrap();
                let groups = grouping.groups(&rows, store, threads, &|_| ()).unwrap();
                let mut buffer = twinsplit_core::join::sets::Sets::default();
                let found: Vec<(u32, Vec<u32>, Vec<u32>)> = (0..groups.count())
                    .map(|set| {
                        let tokens = groups.store.get(set as usize, &mut buffer).unwrap().to_vec();
                        (groups.store.size_of(set as usize) as u32, tokens, groups.members(set).to_vec())
                    })
                    .collect();
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
