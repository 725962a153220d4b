//! An index that changes: fingerprints come, go, and get too old.
//!
//! A table cannot be added to, so what is new stands beside it (oneil1996): first in a list that is scanned, then, a few thousand
//! together, in an index of its own. Such *runs* follow one another in time; when one is as large as half of the run before, both become
//! one. So there are as many runs as N has binary digits at most, and a fingerprint is built into an index about as often.
//!
//! What is removed is noted, and left out of what is found until its run is built anew. Ids grow, so what is older than some id
//! is known by the id alone, and a run that is too old as a whole is dropped at once. At all times a search finds exactly
//! what has been inserted and neither removed nor expired.

use super::bits::Fingerprint;
use super::index::{Index, IndexOptions, Scratch};
use super::rows::Id;
use rustc_hash::FxHashSet;
use twinsplit_io::error::{Error, Result};

/// How many new fingerprints are scanned: about a microsecond.
const FRESH: usize = 2048;

/// An index of fingerprints with growing ids, to which they are added one by one.
///
/// ```
/// use twinsplit_hamming::{IndexOptions, DynamicIndex};
/// let mut live = DynamicIndex::<u64>::new(IndexOptions::default());
/// live.insert(10, 0b0000)?;
/// live.insert(20, 0b0111)?;
/// assert_eq!(live.search(0b0001), [(10, 1), (20, 2)]);
/// assert!(live.remove(10));
/// assert_eq!(live.search(0b0001), [(20, 2)]);
/// live.expire_before(21);
/// assert!(live.search(0b0001).is_empty());
/// # Ok::<(), twinsplit_io::error::Error>(())
/// ```
#[derive(Debug)]
pub struct DynamicIndex<F> {
    options: IndexOptions,
    /// In the order of their ids, each more than twice as large as the next.
    runs: Vec<Index<F>>,
    /// What came after the runs.
    fresh: Vec<(u64, F)>,
    /// What the runs hold and was removed.
    removed: FxHashSet<u64>,
    /// Smaller ids are expired.
    oldest: u64,
    /// The smallest id that may come next; `None` after the largest of all.
    next: Option<u64>,
}

impl<F: Fingerprint> DynamicIndex<F> {
    /// An empty index. The options are those of its runs: the memory is that of each.
    pub fn new(options: IndexOptions) -> Self {
        let (runs, fresh, removed) = (Vec::new(), Vec::new(), FxHashSet::default());
        Self { options, runs, fresh, removed, oldest: 0, next: Some(0) }
    }

    /// Begins with an index, such as one of a file, whose ids are row numbers, or numbers that grow with the rows.
    ///
    /// # Errors
    /// Ids of bytes, or such as do not grow.
    pub fn over(base: Index<F>, options: IndexOptions) -> Result<Self> {
        let mut live = Self::new(IndexOptions { distance: base.distance(), ..options });
        for row in 0..base.len() as u32 {
            match base.id(row) {
                Some(Id::Number(id)) => live.must_grow(id)?,
                _ => return Err(Error::Usage("an index that changes has numbers for ids".to_owned())),
            }
        }
        if !base.is_empty() {
            live.runs.push(base);
        }
        Ok(live)
    }

    fn must_grow(&mut self, id: u64) -> Result<()> {
        match self.next {
            Some(next) if id >= next => {
                self.next = id.checked_add(1);
                Ok(())
            }
            _ => Err(Error::Usage(format!("the id {id} is not larger than all before"))),
        }
    }

    /// Adds a fingerprint. Its id is larger than all before.
    ///
    /// # Errors
    /// An id that is not, or a run that does not fit into the memory of the options; nothing is lost then.
    pub fn insert(&mut self, id: u64, fingerprint: F) -> Result<()> {
        self.must_grow(id)?;
        self.fresh.push((id, fingerprint));
        if self.fresh.len() < FRESH {
            return Ok(());
        }
        let mut from = self.runs.len();
        let mut size = self.fresh.len();
        while from > 0 && self.runs[from - 1].len() <= 2 * size {
            from -= 1;
            size += self.runs[from].len();
        }
        let run = self.built(from)?;
        self.runs.truncate(from);
        self.runs.extend(run);
        self.fresh.clear();
        Ok(())
    }

    /// An index of what is alive in the runs from one on, and in what is fresh.
    fn built(&mut self, from: usize) -> Result<Option<Index<F>>> {
        let mut all: Vec<(u64, F)> = Vec::new();
        let mut gone = Vec::new();
        for run in &self.runs[from..] {
            let mut values = vec![F::default(); run.len()];
            run.each_distinct(&mut |place, value| {
                run.rows.of(place).for_each(|row| values[row as usize] = value)
            });
            for (row, value) in (0..).zip(values) {
                let id = number(run, row);
                if self.is_alive(id) { all.push((id, value)) } else { gone.push(id) }
            }
        }
        all.extend(self.fresh.iter().filter(|(id, _)| self.is_alive(*id)));
        let (ids, values): (Vec<u64>, Vec<F>) = all.into_iter().unzip();
        let index = Index::build(&values, self.options)?.with_numbers(&ids)?;
        for id in &gone {
            self.removed.remove(id);
        }
        Ok(Some(index).filter(|index| !index.is_empty()))
    }

    fn is_alive(&self, id: u64) -> bool {
        id >= self.oldest && (self.removed.is_empty() || !self.removed.contains(&id))
    }

    /// Takes a fingerprint out; whether it was there.
    pub fn remove(&mut self, id: u64) -> bool {
        if let Ok(at) = self.fresh.binary_search_by_key(&id, |(id, _)| *id) {
            self.fresh.remove(at);
            return id >= self.oldest;
        }
        let holds = |run: &Index<F>| {
            let rows = (run.len() as u32, 0);
            let (mut end, mut start) = rows;
            while start < end {
                let middle = start + (end - start) / 2;
                if number(run, middle) < id { start = middle + 1 } else { end = middle }
            }
            start < rows.0 && number(run, start) == id
        };
        self.is_alive(id) && self.runs.iter().any(holds) && self.removed.insert(id)
    }

    /// Takes out all whose ids are smaller.
    pub fn expire_before(&mut self, id: u64) {
        self.oldest = self.oldest.max(id);
        let oldest = self.oldest;
        let is_old = |run: &Index<F>| !run.is_empty() && number(run, run.len() as u32 - 1) < oldest;
        self.runs.retain(|run| !is_old(run));
        self.fresh.retain(|(id, _)| *id >= oldest);
        self.removed.retain(|id| *id >= oldest);
    }

    /// The ids of all within the distance of a query, and their distances; ascending.
    pub fn search(&self, query: F) -> Vec<(u64, u32)> {
        let (mut found, mut scratch) = (Vec::new(), Scratch::default());
        for run in &self.runs {
            run.search_all(&[query], &mut scratch, |_, one| found.push((number(run, one.row), one.distance)));
        }
        found.retain(|(id, _)| self.is_alive(*id));
        let fresh = self.fresh.iter().map(|(id, value)| (*id, value.distance(query)));
        found.extend(fresh.filter(|(_, distance)| *distance <= self.options.distance));
        found.sort_unstable();
        found
    }

    /// Bytes of all runs.
    pub fn memory(&self) -> u64 {
        self.runs.iter().map(Index::memory).sum()
    }
}

/// The id of a row that there is, where ids are numbers.
fn number<F: Fingerprint>(run: &Index<F>, row: u32) -> u64 {
    match run.id(row) {
        Some(Id::Number(id)) => id,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Against a map that is scanned; enough are inserted for several runs.
        #[test]
        fn it_finds_what_is_there(
            steps in prop::collection::vec((0u8..6, 1u64..900, any::<u64>()), 1..60),
            base in 1usize..3000,
        ) {
            let values: Vec<u64> = (0..base as u64).map(|n| (n % 700).mixed()).collect();
            let options = IndexOptions { distance: 2, memory: 1 << 22, ..IndexOptions::default() };
            let mut live = DynamicIndex::over(Index::build(&values, options).unwrap(), options).unwrap();
            let mut truth: BTreeMap<u64, u64> = (0..).zip(values).collect();
            let mut id = base as u64;
            for (kind, some, random) in steps {
                match kind {
                    0..=2 => for n in 0..some {
                        id += 1 + random % 3;
                        let value = (n % 50 * 31).mixed() ^ (random >> 61);
                        live.insert(id, value).unwrap();
                        truth.insert(id, value);
                    },
                    3 | 4 => for n in 0..some.min(40) {
                        let gone = random.wrapping_mul(n) % (id + 2);
                        prop_assert_eq!(live.remove(gone), truth.remove(&gone).is_some());
                    },
                    _ => {
                        let oldest = id.saturating_sub(some * 3);
                        live.expire_before(oldest);
                        truth.retain(|id, _| *id >= oldest);
                    }
                }
                let query = (random % 50 * 31).mixed() ^ 1;
                let near = truth.iter().map(|(id, value)| (*id, value.distance(query)));
                prop_assert_eq!(live.search(query), near.filter(|(_, distance)| *distance <= 2).collect::<Vec<_>>());
            }
            prop_assert!(live.insert(id - 1, 0).is_err());
            prop_assert!(live.runs.windows(2).all(|two| two[0].len() > two[1].len()));
        }
    }

    #[test]
    fn ids_of_a_base_must_be_numbers_that_grow() {
        let base = |ids: &[u64]| {
            Index::<u64>::build(&[1, 2], IndexOptions::default()).unwrap().with_numbers(ids).unwrap()
        };
        assert!(DynamicIndex::over(base(&[5, u64::MAX]), IndexOptions::default()).is_ok());
        assert!(DynamicIndex::over(base(&[5, 5]), IndexOptions::default()).is_err());
        let names =
            Index::<u64>::build(&[1], IndexOptions::default()).unwrap().with_names([&b"a"[..]]).unwrap();
        assert!(DynamicIndex::over(names, IndexOptions::default()).is_err());
    }
}
