//! Results of tasks that run at once, handed on in the order of the tasks, in bounded memory.
//!
//! A task keeps what it finds until it is done, and what it found is handed on when all tasks before it are done. One that finds
//! more than it may keep waits for its turn, and then hands on what it finds as it comes. The first of the tasks that are begun
//! never waits, so all come to an end.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use twinsplit_core::threads::lock;
use twinsplit_io::error::Result;

/// How many results a task may keep, and how many may wait for their turn in all, at most.
const KEPT: usize = 1 << 16;
const WAITING: usize = 1 << 20;

/// What results may take of the memory of a join.
const SHARE: usize = 8;

/// Hands results on in order.
pub struct Ordered<R, V> {
    state: Mutex<State<R, V>>,
    changed: Condvar,
}

struct State<R, V> {
    /// The task whose turn it is.
    next: usize,
    /// How many results may wait.
    most: usize,
    done: BTreeMap<usize, Vec<R>>,
    waiting: usize,
    visit: V,
    /// The first error; a panic of a task is one too, so that nobody waits for it.
    over: Option<Result<()>>,
}

impl<R, V: FnMut(R) -> Result<()>> Ordered<R, V> {
    /// Hands on to `visit`, where so many bytes are for all that is joined.
    pub fn new(memory: usize, visit: V) -> Self {
        let most = (memory / SHARE / size_of::<R>()).clamp(1, WAITING);
        let state = State { next: 0, most, done: BTreeMap::new(), waiting: 0, visit, over: None };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Begins a task; each number from 0 on is begun once, and in order.
    pub fn task(&self, number: usize) -> Task<'_, R, V> {
        Task { all: self, number, found: Vec::new(), finished: false }
    }

    /// Whether there was an error, so that nothing more is wanted.
    pub fn is_over(&self) -> bool {
        lock(&self.state).over.is_some()
    }

    /// The first error, after all tasks.
    pub fn end(self) -> Result<()> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).over.unwrap_or(Ok(()))
    }

    fn wait(&self, until: impl Fn(&State<R, V>) -> bool) -> MutexGuard<'_, State<R, V>> {
        let wait = self.changed.wait_while(lock(&self.state), |state| state.over.is_none() && !until(state));
        wait.unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R, V: FnMut(R) -> Result<()>> State<R, V> {
    fn hand_on(&mut self, found: impl IntoIterator<Item = R>) {
        if self.over.is_none() {
            self.over = found.into_iter().try_for_each(&mut self.visit).err().map(Err);
        }
    }
}

/// What one task finds.
pub struct Task<'o, R, V: FnMut(R) -> Result<()>> {
    all: &'o Ordered<R, V>,
    number: usize,
    found: Vec<R>,
    finished: bool,
}

impl<R, V: FnMut(R) -> Result<()>> Task<'_, R, V> {
    /// Takes a result.
    #[inline]
    pub fn push(&mut self, result: R) {
        self.found.push(result);
        if self.found.len() >= KEPT {
            let mut state = self.all.wait(|state| state.next == self.number);
            state.hand_on(self.found.drain(..));
            if state.over.is_some() {
                self.all.changed.notify_all();
            }
        }
    }

    /// Ends the task.
    pub fn finish(mut self) {
        self.finished = true;
        let mut state = lock(&self.all.state);
        state.waiting += self.found.len();
        state.done.insert(self.number, std::mem::take(&mut self.found));
        let mut next = state.next;
        while let Some(found) = state.done.remove(&next) {
            state.waiting -= found.len();
            state.hand_on(found);
            next += 1;
        }
        state.next = next;
        drop(state);
        self.all.changed.notify_all();
        drop(self.all.wait(|state| state.waiting < state.most));
    }
}

impl<R, V: FnMut(R) -> Result<()>> Drop for Task<'_, R, V> {
    fn drop(&mut self) {
        if !self.finished {
            // Only a panic leads here, and it goes on in the thread that began the tasks.
            lock(&self.all.state).over.get_or_insert(Ok(()));
            self.all.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twinsplit_core::threads::each;
    use twinsplit_io::error::Error;

    fn run(
        counts: &[usize],
        threads: usize,
        stop: usize,
        memory: usize,
    ) -> (Vec<(usize, usize)>, Result<()>) {
        let mut seen = Vec::new();
        let ordered = Ordered::new(memory, |found| {
            if seen.len() == stop {
                return Err(Error::Limit("enough".to_owned()));
            }
            seen.push(found);
            Ok(())
        });
        each(counts.iter().enumerate(), threads, |(number, count)| {
            let mut task = ordered.task(number);
            (0..*count).for_each(|at| task.push((number, at)));
            task.finish();
        });
        let end = ordered.end();
        (seen, end)
    }

    #[test]
    fn results_come_in_the_order_of_the_tasks() {
        let counts = [3, 0, KEPT + 7, 1, 3 * KEPT, KEPT - 1, 2, WAITING + 1, 5];
        let expected: Vec<_> = counts
            .iter()
            .enumerate()
            .flat_map(|(task, count)| (0..*count).map(move |at| (task, at)))
            .collect();
        for (threads, memory) in [(1, usize::MAX), (2, usize::MAX), (4, usize::MAX), (1, 0), (3, 0)] {
            let (seen, end) = run(&counts, threads, usize::MAX, memory);
            end.unwrap();
            assert!(seen == expected, "{threads} threads");
            let (seen, end) = run(&counts, threads, KEPT + 20, memory);
            assert_eq!(end.unwrap_err().to_string(), "enough");
            assert!(seen == expected[..KEPT + 20]);
        }
    }

    #[test]
    fn nobody_waits_for_a_task_that_panicked() {
        let ordered = Ordered::new(usize::MAX, |_: usize| Ok(()));
        let work = std::panic::AssertUnwindSafe(|| {
            each(0..4_usize, 2, |number| {
                let mut task = ordered.task(number);
                assert!(number > 0, "the first one fails");
                (0..2 * KEPT).for_each(|at| task.push(at));
                task.finish();
            })
        });
        assert!(std::panic::catch_unwind(work).is_err());
    }
}
