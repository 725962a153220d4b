//! An index that changes: fingerprints come, go, and get too old.
//!
//! A table cannot be added to, so what is new stands beside it (oneil1996): first in a list that is scanned, then, a few thousand
//! together, in an index of its own. Such *runs* follow one another in time; when one is as large as half of the run before, both become
//! one. So there are as many runs as N has binary digits at most, and a fingerprint is built into an index about as often.
//!
//! Where nobody may wait, large runs are merged by a thread of their own ([`DynamicIndex::in_background`]): until it is done they are asked as they are, and so are
//! the new ones behind them. No run grows beyond some million fingerprints then, so a merge takes the same memory and the same seconds whatever the size of the
//! index. A query looks at a few buckets more for each such run, which is little beside the entries in them: these are as many in one run or in several.
//!
//! What is removed is noted, and left out of what is found until its run is built anew: when it is merged, or when half of it is gone. Ids grow, so what is older
//! than some id is known by the id alone, and a run that is too old as a whole is dropped at once. At all times a search finds exactly what has been
//! inserted and neither removed nor expired.

use super::ascending::Ascending;
use super::bits::Fingerprint;
use super::fresh::Fresh;
use super::index::{Index, IndexOptions, Scratch};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use twinsplit_core::join::memory;
use twinsplit_core::threads::each;
use twinsplit_io::error::{Error, Result};

/// How many new fingerprints are scanned: about a microsecond.
const FRESH: usize = 2048;

/// The most fingerprints of a run that is made of others in the background.
const LARGEST: usize = if cfg!(test) { 6 * FRESH } else { 1 << 22 };

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
    /// In the order of their ids.
    runs: Vec<Run<F>>,
    /// What came after the runs.
    fresh: Fresh<F>,
    /// Smaller ids are expired.
    oldest: u64,
    /// The smallest id that may come next; `None` after the largest of all.
    next: Option<u64>,
    /// Whether large runs are merged in the background.
    in_background: bool,
    merge: Option<Merge<F>>,
}

/// Fingerprints that are searched together.
#[derive(Debug)]
struct Run<F> {
    built: Arc<Built<F>>,
    /// The ids of those that have been removed.
    removed: FxHashSet<u64>,
}

/// What does not change of a run.
#[derive(Debug)]
struct Built<F> {
    index: Index<F>,
    /// Of its rows.
    ids: Ascending,
}

impl<F: Fingerprint> Built<F> {
    /// Of fingerprints with ids that ascend; nothing where there are none.
    fn of(ids: &[u64], values: &[F], options: IndexOptions) -> Result<Option<Self>> {
        if ids.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self { index: Index::build(values, options)?, ids: Ascending::of(ids) }))
    }
}

impl<F: Fingerprint> Run<F> {
    fn of(built: Built<F>) -> Self {
        Self { built: Arc::new(built), removed: FxHashSet::default() }
    }

    /// How many a run has that is made of it.
    fn left(&self) -> usize {
        self.built.index.len() - self.removed.len()
    }
}

/// Runs that are being merged.
#[derive(Debug)]
struct Merge<F> {
    /// The first of them, and the first that is none of them.
    from: usize,
    end: usize,
    thread: JoinHandle<Result<Merged<F>>>,
}

/// What runs have become.
#[derive(Debug)]
struct Merged<F> {
    /// Nothing where nothing of them is left.
    run: Option<Built<F>>,
    /// By run what was removed, and so left out.
    removed: Vec<FxHashSet<u64>>,
}

/// An index of what is left of some runs and of what comes after them.
fn merged<'r, F: Fingerprint>(
    runs: impl Iterator<Item = (&'r Built<F>, &'r FxHashSet<u64>)> + Clone,
    fresh: Option<&Fresh<F>>,
    oldest: u64,
    options: IndexOptions,
) -> Result<Option<Built<F>>> {
    let most = runs.clone().map(|(run, _)| run.index.len()).sum::<usize>() + fresh.map_or(0, Fresh::len);
    let (mut ids, mut values) = (memory::with_capacity(most), memory::with_capacity(most));
    for (Built { index, ids: known }, removed) in runs {
        let mut by_row = memory::filled(F::default(), index.len());
        index.each_distinct(&mut |place, value| {
            index.rows.of(place).for_each(|row| by_row[row as usize] = value)
        });
        for (row, value) in by_row.into_iter().enumerate() {
            let id = known.get(row).filter(|id| *id >= oldest && !removed.contains(id));
            ids.extend(id);
            values.extend(id.map(|_| value));
        }
    }
    for (id, value) in fresh.into_iter().flat_map(Fresh::iter).filter(|(id, _)| *id >= oldest) {
        ids.push(id);
        values.push(value);
    }
    Built::of(&ids, &values, options)
}

impl<F: Fingerprint> DynamicIndex<F> {
    /// An empty index. The options are those of its runs: the memory is that of each.
    pub fn new(options: IndexOptions) -> Self {
        let (runs, fresh) = (Vec::new(), Fresh::default());
        Self { options, runs, fresh, oldest: 0, next: Some(0), in_background: false, merge: None }
    }

    /// From now on large runs are merged by a thread of their own, so that no insertion waits for more than a few thousand. What is found is the
    /// same.
    pub fn in_background(self) -> Self {
        Self { in_background: true, ..self }
    }

    /// Begins with many fingerprints, by ids that grow. They are built into runs of bounded size, on so many threads as the options say.
    ///
    /// # Errors
    /// Ids that do not grow; options that fit no index.
    pub fn of(fingerprints: impl IntoIterator<Item = (u64, F)>, options: IndexOptions) -> Result<Self> {
        let mut live = Self::new(options);
        let mut fingerprints = fingerprints.into_iter();
        let alone = IndexOptions { threads: 1, ..options };
        loop {
            let part = |_| fingerprints.by_ref().take(LARGEST).unzip();
            let parts: Vec<(Vec<u64>, Vec<F>)> = (0..options.threads.max(1)).map(part).collect();
            parts.iter().flat_map(|(ids, _)| ids).try_for_each(|id| live.must_grow(*id))?;
            if parts.iter().all(|(ids, _)| ids.is_empty()) {
                return Ok(live);
            }
            for built in each(&parts, options.threads, |(ids, values)| Built::of(ids, values, alone)) {
                live.runs.extend(built?.map(Run::of));
            }
        }
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
        let most = if self.in_background { AT_ONCE } else { usize::MAX };
        let from = busy + first_of(&self.runs[busy..], self.fresh.len(), most);
        let runs = self.runs[from..].iter().map(|run| (&*run.built, &run.removed));
        let run = merged(runs, Some(&self.fresh), self.oldest, self.options)?;
        self.runs.truncate(from);
        self.runs.extend(run.map(Run::of));
        self.fresh.clear();
        self.start_merge()
    }

    /// Begins to merge runs in the background, where there are some that should be.
    fn start_merge(&mut self) -> Result<()> {
        if !self.in_background || self.merge.is_some() {
            return Ok(());
        }
        let Some(Range { start: from, end }) = to_merge(&self.runs) else { return Ok(()) };
        let runs = self.runs[from..end].iter().map(|run| (run.built.clone(), run.removed.clone()));
        let runs: Vec<_> = runs.collect();
        let (oldest, options) = (self.oldest, self.options);
        let thread = thread::Builder::new().name("merge".to_owned());
        let thread = thread.spawn(move || {
            let run = merged(runs.iter().map(|(run, removed)| (&**run, removed)), None, oldest, options)?;
            Ok(Merged { run, removed: runs.into_iter().map(|(_, removed)| removed).collect() })
        });
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
        let Merged { run, removed } = thread.join().unwrap_or_else(stopped)?;
        // Some were removed while it was made.
        let since = self.runs[from..end].iter().zip(&removed);
        let since = since.flat_map(|(run, before)| run.removed.difference(before).copied()).collect();
        let run = run.map(|run| Run { removed: since, ..Run::of(run) });
        self.runs.splice(from..end, run);
        Ok(())
    }

    /// Takes a fingerprint out; whether it was there.
    pub fn remove(&mut self, id: u64) -> bool {
        if self.fresh.remove(id) {
            return id >= self.oldest;
        }
        if id < self.oldest {
            return false;
        }
        // Runs follow one another by their ids.
        let at = self.runs.partition_point(|run| run.built.ids.last().is_some_and(|last| last < id));
        self.runs.get_mut(at).is_some_and(|run| run.built.ids.holds(id) && run.removed.insert(id))
    }

    /// Takes out all whose ids are smaller.
    pub fn expire_before(&mut self, id: u64) {
        let oldest = self.oldest.max(id);
        self.oldest = oldest;
        // The places of what is being merged must not change: it is dropped another time.
        if self.merge.is_none() {
            self.runs.retain(|run| run.built.ids.last() >= Some(oldest));
        }
        self.fresh.expire_before(oldest);
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
        for Run { built, removed } in &self.runs {
            let Built { index, ids } = &**built;
            index.search_all(queries, scratch, |query, one| {
                let is_left = |id: &u64| *id >= self.oldest && (removed.is_empty() || !removed.contains(id));
                if let Some(id) = ids.get(one.row as usize).filter(is_left) {
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
        let of = |Run { built, removed }: &Run<F>| {
            built.index.memory() + built.ids.memory() + 2 * (size_of::<u64>() * removed.len()) as u64
        };
        self.runs.iter().map(of).sum::<u64>() + (self.fresh.len() * size_of::<(u64, F)>()) as u64
    }
}

/// From which run on all are merged with what comes behind them, which is so many: each is at most twice as large as all behind it, and in all they are at most
/// `most`.
fn first_of<F: Fingerprint>(runs: &[Run<F>], mut size: usize, most: usize) -> usize {
    let mut from = runs.len();
    while from > 0
        && let next = runs[from - 1].left()
        && next <= 2 * size
        && size + next <= most
    {
        from -= 1;
        size += next;
    }
    from
}

/// Runs that are to be merged, from the end on; else one of which half is gone.
fn to_merge<F: Fingerprint>(runs: &[Run<F>]) -> Option<Range<usize>> {
    let tail = |end: usize| first_of(&runs[..end - 1], runs[end - 1].left(), LARGEST)..end;
    let several = (1..=runs.len()).rev().map(tail).find(|range| range.len() > 1);
    let half_gone = || runs.iter().position(|run| run.removed.len() > run.left()).map(|at| at..at + 1);
    several.or_else(half_gone)
}

#[cfg(test)]
mod tests;
