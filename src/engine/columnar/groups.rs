//! Sets, and the documents that have each.
//!
//! Rows (candidate, token) come sorted, so that each candidate's set comes whole, and the candidates are in order of
//! (size, hash, number): a set that equals another one follows it closely. Sets without singleton tokens are compared in
//! full with those of the same size and hash that came before; the others equal nothing. Each different set is stored
//! once, with the documents that have it.

use super::documents::Documents;
use super::numbering::Candidates;
use super::sorter::{Sorter, unpack};
use super::store::{Store, StoreWriter};
use crate::engine::memory::Budget;
use crate::engine::progress::{Progress, Unit};
use crate::error::Result;
use crate::join::kernel::Source;
use crate::similarity::{SetSimilarity, Similarity};
use std::path::Path;

/// The sets that enter a join, and which documents have them.
pub struct Groups {
    /// The sets.
    pub store: Store,
    /// Numbers of documents, group after group, ascending in each.
    members: Vec<u32>,
    /// By set: where its group starts, and at the end where the last one ends.
    starts: Vec<u32>,
}

/// Stands for a document that is in no group.
pub const NO_SET: u32 = u32::MAX;

impl Groups {
    /// Makes the candidates' sets of their rows, and groups them.
    pub fn of(
        rows: &Sorter<'_, u64>,
        candidates: &Candidates,
        documents: &Documents,
        similarity: Similarity,
        threads: usize,
        (budget, folder): (&Budget, &Path),
        progress: &Progress,
    ) -> Result<Self> {
        progress.start("equal-sets", "grouping", Unit::Sets, candidates.numbers.len() as u64);
        // A set as it is collected, and as it waits for those that equal it.
        let sets = candidates.largest.1 * 8;
        budget.hold(sets);
        while budget.is_over() && rows.make_room()? {}
        let mut building = Building {
            candidates,
            documents,
            similarity,
            progress,
            store: StoreWriter::new(budget, folder, candidates.sets, candidates.tokens)?,
            members: Vec::with_capacity(candidates.numbers.len()),
            starts: vec![0],
            position: 0,
            tokens: Vec::new(),
            run: Vec::new(),
            used: 0,
            key: (0, 0),
        };
        rows.drain_all(threads, &mut |rows| building.rows(rows))?;
        let groups = building.finish();
        budget.release(sets);
        groups
    }

    /// Groups of documents, which come in order, those that are equal one after the other; no set is stored of them.
    pub fn of_equal(
        numbers: Vec<u32>,
        equal: impl Fn(u32, u32) -> bool,
        (budget, folder): (&Budget, &Path),
    ) -> Result<Self> {
        let mut store = StoreWriter::new(budget, folder, numbers.len(), 0)?;
        let mut starts = vec![0];
        for group in numbers.chunk_by(|x, y| equal(*x, *y)) {
            store.push(&[], 0)?;
            starts.extend(starts.last().map(|start| start + group.len() as u32));
        }
        Ok(Self { store: store.finish()?, members: numbers, starts })
    }

    /// The documents that have a set, ascending.
    pub fn members(&self, set: u32) -> &[u32] {
        &self.members[self.starts[set as usize] as usize..self.starts[set as usize + 1] as usize]
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
        self.members.len() as u64 - u64::from(self.count())
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

/// A set and who has it.
#[derive(Default)]
struct Group {
    tokens: Vec<u32>,
    members: Vec<u32>,
}

/// The state of going through the rows.
struct Building<'a> {
    candidates: &'a Candidates,
    documents: &'a Documents,
    similarity: Similarity,
    progress: &'a Progress,
    store: StoreWriter,
    members: Vec<u32>,
    starts: Vec<u32>,
    /// The candidate whose tokens are being collected.
    position: u32,
    tokens: Vec<u32>,
    /// The first `used` are the different sets of one size and hash.
    run: Vec<Group>,
    used: usize,
    key: (u32, u64),
}

impl Building<'_> {
    fn rows(&mut self, rows: &[u64]) -> Result<()> {
        for row in rows.chunk_by(|x, y| unpack(*x).0 == unpack(*y).0) {
            let position = unpack(row[0]).0;
            if position != self.position {
                self.end_set()?;
                self.position = position;
            }
            self.tokens.extend(row.iter().map(|row| unpack(*row).1));
        }
        Ok(())
    }

    /// All tokens of a candidate are there.
    fn end_set(&mut self) -> Result<()> {
        let Some(&number) = self.candidates.numbers.get(self.position as usize) else { return Ok(()) };
        let place = self.documents.order[number as usize] as usize;
        let key = (self.documents.sizes[place], self.documents.hashes[place]);
        let singleton = key.0 as usize - self.tokens.len();
        self.progress.set(u64::from(self.position));
        if (self.tokens.len() as u64) < self.similarity.least_overlap(key.0.into()) {
            // With those lists that only one candidate is left of, too many of it are singletons.
            self.tokens.clear();
            return Ok(());
        }
        if key != self.key {
            self.end_run()?;
            self.key = key;
        }
        if singleton > 0 {
            self.store.push(&self.tokens, singleton)?;
            self.members.push(number);
            self.starts.push(self.members.len() as u32);
        } else {
            let at = self.run[..self.used].iter().position(|group| group.tokens == self.tokens);
            let at = at.unwrap_or_else(|| {
                if self.used == self.run.len() {
                    self.run.push(Group::default());
                }
                self.run[self.used].tokens.extend_from_slice(&self.tokens);
                self.used += 1;
                self.used - 1
            });
            self.run[at].members.push(number);
        }
        self.tokens.clear();
        Ok(())
    }

    /// All sets of a size and hash are there.
    fn end_run(&mut self) -> Result<()> {
        for group in &mut self.run[..self.used] {
            self.store.push(&group.tokens, 0)?;
            self.members.extend_from_slice(&group.members);
            self.starts.push(self.members.len() as u32);
            group.tokens.clear();
            group.members.clear();
        }
        self.used = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<Groups> {
        if !self.tokens.is_empty() {
            self.end_set()?;
        }
        self.end_run()?;
        Ok(Groups { store: self.store.finish()?, members: self.members, starts: self.starts })
    }
}
