//! Work shared out among threads. What comes back never depends on which thread did what.
//!
//! Threads stay for the next time: until one that has just been started comes to a core of its own, a small join may be
//! over. (On a virtual machine of two cores that took 0.4 to 4.8 ms, and to wake one that waits 0.01 to 0.1.) The calling thread is one of them: it has a
//! core already. (Where it waited for two others, these took turns on one core for 4 to 11 ms.)

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::iter;
use std::ops::RangeInclusive;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Does the work on each of some things, on so many threads; the results are in their order. No work may wait for another's.
///
/// # Panics
/// When the work does.
pub fn each<T: Send, R: Send>(
    things: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator + Send>,
    threads: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let things = things.into_iter();
    let count = things.len();
    let threads = threads.min(count);
    let Some(pool) = (threads > 1).then(|| pool(threads - 1)).flatten() else {
        return things.map(work).collect();
    };
    let mut results: Vec<Option<R>> = iter::repeat_with(|| None).take(count).collect();
    let next = Mutex::new(things.zip(&mut results));
    let take = || lock(&next).next();
    in_each_thread(&pool, &|| {
        while let Some((thing, result)) = take() {
            *result = Some(work(thing));
        }
    });
    results.into_iter().flatten().collect()
}

/// Does the same in this thread and in each of a pool. One function for all kinds of work: what a pool needs for one is long when compiled.
fn in_each_thread(pool: &ThreadPool, work: &(dyn Fn() + Sync)) {
    pool.in_place_scope(|scope| {
        (0..pool.current_num_threads()).for_each(|_| scope.spawn(|_| work()));
        work();
    });
}

/// So many threads that wait for work; `None` when the system gives none.
fn pool(count: usize) -> Option<Arc<ThreadPool>> {
    static POOLS: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());
    let mut pools = lock(&POOLS);
    if let Some(pool) = pools.get(&count) {
        return Some(pool.clone());
    }
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(count).build().ok()?);
    pools.insert(count, pool.clone());
    Some(pool)
}

/// Runs `work` with 0, 1, … `count - 1` in `threads` threads; the results in that order, or the first error. What follows an
/// error is not begun.
pub fn in_threads<T: Send, E: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    in_threads_with(count, threads, || (), |(), number| work(number), Ok)
}

/// The same with something that each thread has for itself, which `end` takes when nothing is left to do.
pub fn in_threads_with<S, T: Send, E: Send>(
    count: usize,
    threads: usize,
    own: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
    end: impl Fn(S) -> Result<(), E> + Sync,
) -> Result<Vec<T>, E> {
    let mut results: Vec<Option<Result<T, E>>> = iter::repeat_with(|| None).take(count).collect();
    let next = Mutex::new(results.iter_mut().enumerate());
    let take = || lock(&next).next();
    let failed = AtomicBool::new(false);
    let threads = threads.min(count).max(1);
    let ends = each(0..threads, threads, |_| {
        let mut own = own();
        while !failed.load(Ordering::Relaxed)
            && let Some((number, result)) = take()
        {
            if result.insert(work(&mut own, number)).is_err() {
                failed.store(true, Ordering::Relaxed);
            }
        }
        end(own)
    });
    let results = results.into_iter().flatten().collect::<Result<_, E>>()?;
    ends.into_iter().collect::<Result<(), E>>()?;
    Ok(results)
}

/// Runs `work` with 0, 1, … `count - 1` in `threads` threads, and `visit` on the calling one with the results in that order, which
/// works too while there is nothing to visit. Stops at the first error. `admits` says whether the results of all these
/// numbers may be there at once; that of a number alone always may.
pub fn in_order<T: Send, E: Send>(
    count: usize,
    threads: usize,
    admits: impl Fn(RangeInclusive<usize>) -> bool + Sync,
    work: impl Fn(usize) -> Result<T, E> + Sync,
    mut visit: impl FnMut(usize, T) -> Result<(), E>,
) -> Result<(), E> {
    let ordered =
        OrderedWork { state: Mutex::new(State::default()), changed: Condvar::new(), count, admits, work };
    // Threads of their own: those of a pool may be asked for by `visit`, and here they wait for it.
    thread::scope(|scope| {
        let worker = || {
            let _stop = StopAtPanic(&ordered);
            ordered.work_until(None);
        };
        let workers =
            (1..threads.min(count)).map_while(|_| thread::Builder::new().spawn_scoped(scope, worker).ok());
        let workers: Vec<_> = workers.collect();
        let visited = {
            let _stop = Stop(&ordered);
            (0..count).try_for_each(|number| {
                // Without a result a thread has panicked.
                let Some(result) = ordered.work_until(Some(number)) else { return Ok(()) };
                visit(number, result?)?;
                lock(&ordered.state).visited = number + 1;
                ordered.changed.notify_all();
                Ok(())
            })
        };
        for worker in workers {
            worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        visited
    })
}

/// Work that is done by all, and visited by one.
struct OrderedWork<T, E, A, W> {
    state: Mutex<State<T, E>>,
    changed: Condvar,
    count: usize,
    admits: A,
    work: W,
}

struct State<T, E> {
    /// The first number that nobody works at.
    next: usize,
    /// The first that has not been visited.
    visited: usize,
    done: BTreeMap<usize, Result<T, E>>,
    stopped: bool,
}

impl<T, E> Default for State<T, E> {
    fn default() -> Self {
        Self { next: 0, visited: 0, done: BTreeMap::new(), stopped: false }
    }
}

impl<T, E, A: Fn(RangeInclusive<usize>) -> bool, W: Fn(usize) -> Result<T, E>> OrderedWork<T, E, A, W> {
    /// Works until the result of a number is there, or all are with some thread.
    fn work_until(&self, wanted: Option<usize>) -> Option<Result<T, E>> {
        let mut state = lock(&self.state);
        while !state.stopped {
            if let Some(result) = wanted.and_then(|number| state.done.remove(&number)) {
                return Some(result);
            }
            let (number, first) = (state.next, state.visited);
            if number < self.count && (number == first || (self.admits)(first..=number)) {
                state.next += 1;
                drop(state);
                let result = (self.work)(number);
                state = lock(&self.state);
                state.done.insert(number, result);
                self.changed.notify_all();
            } else if number == self.count && wanted.is_none() {
                break;
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        None
    }
}

/// However it ends: nobody waits for more.
struct Stop<'a, T, E, A, W>(&'a OrderedWork<T, E, A, W>);

impl<T, E, A, W> Drop for Stop<'_, T, E, A, W> {
    fn drop(&mut self) {
        lock(&self.0.state).stopped = true;
        self.0.changed.notify_all();
    }
}

/// The same where that is by a panic.
struct StopAtPanic<'a, T, E, A, W>(&'a OrderedWork<T, E, A, W>);

impl<T, E, A, W> Drop for StopAtPanic<'_, T, E, A, W> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            drop(Stop(self.0));
        }
    }
}

/// Fills an array in, each value by its place, in several shares for each thread: sets ascend by size, so that the last values take longest.
pub fn fill<T: Send>(values: &mut [T], threads: usize, value: impl Fn(usize) -> T + Sync) {
    let share = values.len().div_ceil(8 * threads.max(1)).max(1);
    let shares: Vec<_> = (0..).step_by(share).zip(values.chunks_mut(share)).collect();
    each(shares, threads, |(first, values): (usize, &mut [T])| {
        values.iter_mut().zip(first..).for_each(|(place, at)| *place = value(at));
    });
}

/// Locks a mutex whose data stays sound when a holder panics: the panic ends the scope anyway.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a mutex holds that no thread needs any more; see [`lock`].
pub fn unlocked<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn results_are_in_the_order_of_the_things() {
        for threads in [0, 1, 2, 7] {
            for count in [0, 1, 2, 50] {
                let squares: Vec<usize> = (0..count).map(|n| n * n).collect();
                assert_eq!(each(0..count, threads, |n| n * n), squares);
                assert_eq!(in_threads(count, threads, |n| Ok::<_, ()>(n * n)).unwrap(), squares);
                let mut filled = vec![0; count];
                fill(&mut filled, threads, |n| n * n);
                assert_eq!(filled, squares);
            }
        }
    }

    #[test]
    fn what_each_thread_has_for_itself_is_ended_once() {
        for threads in [0, 1, 2, 7] {
            for count in [0, 1, 2, 50] {
                let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let own = || {
                    begun.fetch_add(1, Ordering::Relaxed);
                    0
                };
                let work = |own: &mut usize, n| {
                    *own += n;
                    Ok::<_, ()>(n * n)
                };
                let end = |own| {
                    begun.fetch_sub(1, Ordering::Relaxed);
                    ended.fetch_add(own, Ordering::Relaxed);
                    Ok(())
                };
                let squares = in_threads_with(count, threads, own, work, end).unwrap();
                assert_eq!(squares, (0..count).map(|n| n * n).collect::<Vec<_>>());
                assert_eq!((begun.into_inner(), ended.into_inner()), (0, (0..count).sum()));
            }
        }
        let end = |()| Err("end");
        let fails =
            |n| in_threads_with(3, 2, || (), move |(), at| if at < n { Ok(()) } else { Err("work") }, end);
        // Why the work failed says more than what could not be ended for it.
        assert_eq!([9, 1].map(|n| fails(n).unwrap_err().to_string()), ["end", "work"]);
    }

    #[test]
    fn results_are_visited_in_order_and_few_wait() {
        for threads in [0, 1, 2, 7] {
            for count in [0, 1, 2, 50] {
                let (held, mut visited) = (AtomicUsize::new(0), Vec::new());
                let work = |n: usize| {
                    assert!(held.fetch_add(1, Ordering::Relaxed) < 3);
                    Ok::<_, ()>(n * n)
                };
                let visit = |n: usize, square: usize| {
                    held.fetch_sub(1, Ordering::Relaxed);
                    visited.push((n, square));
                    Ok(())
                };
                in_order(count, threads, |numbers| numbers.count() <= 3, work, visit).unwrap();
                assert_eq!(visited, (0..count).map(|n| (n, n * n)).collect::<Vec<_>>());
            }
        }
    }

    /// Nor does it wait for threads that wait for it.
    #[test]
    fn a_visit_may_share_out_work_of_its_own() {
        for threads in [2, 3, 4] {
            for own in [1, 2, 3, 4] {
                let visit = |n, _| {
                    assert_eq!(each(0..own, own, |at| at + n), (n..n + own).collect::<Vec<_>>());
                    Ok(())
                };
                in_order(20, threads, |numbers| numbers.count() <= 2, Ok::<_, ()>, visit).unwrap();
            }
        }
    }

    #[test]
    fn work_in_order_ends_at_an_error_and_at_a_panic() {
        for threads in [1, 2, 7] {
            let error = |n: usize| if n < 20 { Ok(n) } else { Err(n.to_string()) };
            let mut visited = 0;
            let result = in_order(
                50,
                threads,
                |_| true,
                error,
                |_, _| {
                    visited += 1;
                    Ok(())
                },
            );
            assert_eq!((result.unwrap_err().to_string().as_str(), visited), ("20", 20));
            let result = in_order(50, threads, |_| true, Ok, |_, n| error(n).map(drop));
            assert_eq!(result.unwrap_err().to_string(), "20");
            for in_work in [true, false] {
                let panic = |n: usize, here: bool| assert!(n != 3 || !here, "three");
                let run = AssertUnwindSafe(|| {
                    let work = |n| {
                        panic(n, in_work);
                        Ok::<_, ()>(n)
                    };
                    in_order(
                        9,
                        threads,
                        |_| true,
                        work,
                        |n, _| {
                            panic(n, !in_work);
                            Ok(())
                        },
                    )
                });
                let said = catch_unwind(run).unwrap_err();
                assert!(said.downcast_ref::<&str>().is_some_and(|said| said.contains("three")));
            }
        }
    }

    #[test]
    fn the_first_error_is_told_and_a_panic_passed_on() {
        for threads in [1, 2, 7] {
            let result = in_threads(50, threads, |n| match n {
                20.. => Err(n.to_string()),
                _ => Ok(()),
            });
            assert_eq!(result.unwrap_err().to_string(), "20");
            let panic = AssertUnwindSafe(|| each(0..9, threads, |n| assert_ne!(n, 3, "three")));
            let said = catch_unwind(panic).unwrap_err();
            assert!(said.downcast_ref::<String>().is_some_and(|said| said.contains("three")));
        }
    }
}
