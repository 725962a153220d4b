//! An index that changes: fingerprints come, go, and get too old.
//!
//! A table cannot be added to, so what is new stands beside it (oneil1996): first in a list that is scanned, then, a few thousand
//! together, in an index of its own. Such *runs* follow one another in time; when one is as large as half of the run before, both become
//! one. So there are as many runs as N has binary digits at most, and a fingerprint is built into an index about as often.
//!
//! Where nobody may wait, large runs are merged by a thread of their own ([`DynamicIndex::in_background`]): until it is done they are asked as they are, and so are
//! the new ones behind them.
//!
//! What is removed is noted, and left out of what is found until its run is built anew. Ids grow, so what is older than some id
//! is known by the id alone, and a run that is too old as a whole is dropped at once. At all times a search finds exactly
//! what has been inserted and neither removed nor expired.

use super::bits::Fingerprint;
use super::fresh::Fresh;
use super::index::{Index, IndexOptions, Scratch};
use super::rows::Id;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use twinsplit_io::error::{Error, Result};

/// How many new fingerprints are scanned: about a microsecond.
const FRESH: usize = 2048;

/// How many are merged at once where others are merged in the background: some milliseconds.
const AT_ONCE: usize = if cfg!(test) { 2 * FRESH } else { 16 * FRESH };

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
    /// In the order of their ids, each more than twice as large as the next, but for those that are being merged and what comes behind them.
    runs: Vec<Arc<Index<F>>>,
    /// What came after the runs.
    fresh: Fresh<F>,
    alive: Alive,
    /// The smallest id that may come next; `None` after the largest of all.
    next: Option<u64>,
    /// Whether large runs are merged in the background.
    in_background: bool,
    merge: Option<Merge<F>>,
}

/// Runs that are being merged.
#[derive(Debug)]
struct Merge<F> {
    /// The first of them, and the first that is none of them.
    from: usize,
    end: usize,
    thread: JoinHandle<Result<Merged<F>>>,
}

/// What runs have become; nothing where nothing of them is alive.
#[derive(Debug)]
struct Merged<F> {
    run: Option<Index<F>>,
    /// What was left out.
    gone: Vec<u64>,
}

/// Which ids are alive.
#[derive(Clone, Debug, Default)]
struct Alive {
    /// What the runs hold and was removed.
    removed: FxHashSet<u64>,
    /// Smaller ids are expired.
    oldest: u64,
}

impl Alive {
    fn is(&self, id: u64) -> bool {
        id >= self.oldest && (self.removed.is_empty() || !self.removed.contains(&id))
    }
}

/// An index of what is alive in some runs and in what comes after them.
fn merged<F: Fingerprint>(
    runs: &[Arc<Index<F>>],
    fresh: Option<&Fresh<F>>,
    alive: &Alive,
    options: IndexOptions,
) -> Result<Merged<F>> {
    let most = runs.iter().map(|run| run.len()).sum::<usize>() + fresh.map_or(0, Fresh::len);
    let (mut ids, mut values) = (Vec::with_capacity(most), Vec::with_capacity(most));
    let mut gone = Vec::new();
    let mut add = |id: u64, value: F| {
        if alive.is(id) {
            ids.push(id);
            values.push(value);
        } else {
            gone.push(id);
        }
    };
    for run in runs {
        let mut values = vec![F::default(); run.len()];
        run.each_distinct(&mut |place, value| {
            run.rows.of(place).for_each(|row| values[row as usize] = value)
        });
        (0..).zip(values).for_each(|(row, value)| add(number(run, row), value));
    }
    fresh.into_iter().flat_map(Fresh::iter).for_each(|(id, value)| add(id, value));
    let index = Index::build(&values, options)?.with_numbers(&ids)?;
    Ok(Merged { run: Some(index).filter(|index| !index.is_empty()), gone })
}

impl<F: Fingerprint> DynamicIndex<F> {
    /// An empty index. The options are those of its runs: the memory is that of each.
    pub fn new(options: IndexOptions) -> Self {
        let (runs, fresh) = (Vec::new(), Fresh::default());
        Self {
            options,
            runs,
            fresh,
            alive: Alive::default(),
            next: Some(0),
            in_background: false,
            merge: None,
        }
    }

    /// From now on large runs are merged by a thread of their own, so that no insertion waits for more than a few thousand. What is found is the
    /// same.
    pub fn in_background(self) -> Self {
        Self { in_background: true, ..self }
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
            live.runs.push(Arc::new(base));
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
        self.fresh.push(id, fingerprint);
        if self.fresh.len() < FRESH {
            return Ok(());
        }
        self.take_merged()?;
        // What is being merged is left alone.
        let busy = self.merge.as_ref().map_or(0, |merge| merge.end);
        let (mut from, mut size) = (self.runs.len(), self.fresh.len());
        while from > busy
            && let next = self.runs[from - 1].len()
            && next <= 2 * size
            && (!self.in_background || size + next <= AT_ONCE)
        {
            from -= 1;
            size += next;
        }
        let Merged { run, gone } = merged(&self.runs[from..], Some(&self.fresh), &self.alive, self.options)?;
        self.runs.truncate(from);
        self.runs.extend(run.map(Arc::new));
        self.fresh.clear();
        self.forget(&gone);
        self.start_merge()
    }

    /// Those that no run holds any more need not be noted.
    fn forget(&mut self, gone: &[u64]) {
        for id in gone {
            self.alive.removed.remove(id);
        }
    }

    /// Begins to merge the last runs in the background, where they are too many.
    fn start_merge(&mut self) -> Result<()> {
        let Some(last) = self.runs.last().filter(|_| self.in_background && self.merge.is_none()) else {
            return Ok(());
        };
        let (mut from, mut size) = (self.runs.len() - 1, last.len());
        while from > 0 && self.runs[from - 1].len() <= 2 * size {
            from -= 1;
            size += self.runs[from].len();
        }
        let end = self.runs.len();
        if end - from < 2 {
            return Ok(());
        }
        let (runs, alive, options) = (self.runs[from..].to_vec(), self.alive.clone(), self.options);
        let thread = thread::Builder::new().name("merge".to_owned());
        let thread = thread.spawn(move || merged(&runs, None, &alive, options));
        let thread = thread.map_err(Error::io("start a thread for", "an index"))?;
        self.merge = Some(Merge { from, end, thread });
        Ok(())
    }

    /// Puts what was merged in the background into its place, if it is done.
    fn take_merged(&mut self) -> Result<()> {
        let Some(Merge { from, end, thread }) = self.merge.take_if(|merge| merge.thread.is_finished()) else {
            return Ok(());
        };
        let stopped = |_| Err(Error::Failed("the thread that merges an index panicked".to_owned()));
        let Merged { run, gone } = thread.join().unwrap_or_else(stopped)?;
        self.runs.splice(from..end, run.map(Arc::new));
        self.forget(&gone);
        Ok(())
    }

    /// Takes a fingerprint out; whether it was there.
    pub fn remove(&mut self, id: u64) -> bool {
        if self.fresh.remove(id) {
            return id >= self.alive.oldest;
        }
        let holds = |run: &Arc<Index<F>>| {
            let rows = (run.len() as u32, 0);
            let (mut end, mut start) = rows;
            while start < end {
                let middle = start + (end - start) / 2;
                if number(run, middle) < id { start = middle + 1 } else { end = middle }
            }
            start < rows.0 && number(run, start) == id
        };
        self.alive.is(id) && self.runs.iter().any(holds) && self.alive.removed.insert(id)
    }

    /// Takes out all whose ids are smaller.
    pub fn expire_before(&mut self, id: u64) {
        let oldest = self.alive.oldest.max(id);
        self.alive.oldest = oldest;
        // The places of what is being merged must not change: it is dropped another time.
        if self.merge.is_none() {
            let is_old = |run: &Index<F>| !run.is_empty() && number(run, run.len() as u32 - 1) < oldest;
            self.runs.retain(|run| !is_old(run));
        }
        self.fresh.expire_before(oldest);
        self.alive.removed.retain(|id| *id >= oldest);
    }

    /// The ids of all within the distance of a query, and their distances; ascending.
    pub fn search(&self, query: F) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        self.search_all(&[query], &mut Scratch::default(), |_, id, distance| found.push((id, distance)));
        found.sort_unstable();
        found
    }

    /// The same for many queries, which takes less time for each: `visit` is called with a query's place, an id and its distance, in no
    /// order that means something.
    pub fn search_all(
        &self,
        queries: &[F],
        scratch: &mut Scratch<F>,
        mut visit: impl FnMut(usize, u64, u32),
    ) {
        for run in &self.runs {
            run.search_all(queries, scratch, |query, one| {
                let id = number(run, one.row);
                if self.alive.is(id) {
                    visit(query, id, one.distance);
                }
            });
        }
        for (place, query) in queries.iter().enumerate() {
            self.fresh.search(*query, self.options.distance, |id, distance| visit(place, id, distance));
        }
    }

    /// Bytes of all runs, and of what came after them.
    pub fn memory(&self) -> u64 {
        let runs: u64 = self.runs.iter().map(|run| run.memory()).sum();
        runs + (self.fresh.len() * size_of::<(u64, F)>()) as u64
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
            base in 1usize..3000, in_background: bool,
        ) {
            let values: Vec<u64> = (0..base as u64).map(|n| (n % 700).mixed()).collect();
            let options = IndexOptions { distance: 2, memory: 1 << 22, ..IndexOptions::default() };
            let mut live = DynamicIndex::over(Index::build(&values, options).unwrap(), options).unwrap();
            if in_background {
                live = live.in_background();
            }
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
            prop_assert!(in_background || live.runs.windows(2).all(|two| two[0].len() > two[1].len()));
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
