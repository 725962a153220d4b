//! Room for long lines while they are read.

use super::{BUCKETS, Budget};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use twinsplit_core::threads::lock;
use twinsplit_io::error::{Error, Place, Result};

/// What a line needs until its features are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineNeeds {
    /// Bytes, however large the budget is.
    pub bytes: usize,
    /// Whether its features may be so many that they have a sorter of their own.
    pub sorter: bool,
}

impl LineNeeds {
    /// All bytes. Those of a sorter, its chunks and what is sorted at a time, grow with the budget.
    pub fn of(self, budget: &Budget) -> usize {
        let sorter = if self.sorter { BUCKETS * budget.chunk() + budget.sort_buffer() } else { 0 };
        self.bytes + sorter
    }
}

/// The room that long lines of a block take until their features are put down.
///
/// It is taken in the order of the input, by one thread at a time, and all of it before the block is worked at. So those
/// that have room never wait for those that have not, and when all have gone and there is still no room, there never is.
#[derive(Default)]
pub struct LineRoom<'b> {
    budget: Option<&'b Budget>,
    bytes: usize,
}

impl<'b> LineRoom<'b> {
    /// Takes so many bytes more; false when there are none. `make_room` puts down what has a place on disk, and says whether
    /// there was anything.
    pub fn take(
        &mut self,
        budget: &'b Budget,
        bytes: usize,
        mut make_room: impl FnMut() -> Result<bool>,
    ) -> Result<bool> {
        budget.hold(bytes);
        while budget.is_over() {
            if make_room()? {
                continue;
            }
            let lines = lock(&budget.lines);
            if *lines == usize::from(self.bytes > 0) {
                if budget.is_over() {
                    budget.release(bytes);
                    return Ok(false);
                }
            } else if budget.is_over() {
                drop(budget.gone.wait(lines).unwrap_or_else(PoisonError::into_inner));
            }
        }
        if self.bytes == 0 {
            *lock(&budget.lines) += 1;
        }
        self.budget = Some(budget);
        self.bytes += bytes;
        Ok(true)
    }

    /// The error about a line of the input of this length for which there is no room. It asks for the memory that has room
    /// for all that the line needs, itself included.
    pub fn refused(&self, budget: &Budget, place: &Place, length: usize, needs: LineNeeds) -> Error {
        let megabytes = |bytes: usize| bytes.div_ceil(1 << 20);
        let held = budget.held.load(Ordering::Relaxed).saturating_sub(self.bytes);
        // And some for the documents that are still unread.
        let enough = budget.admitting(needs, held) + (4 << 20);
        Error::Limit(format!(
            "tokenize: {place}: the line has {} MB and takes {} MB until its features are counted; \
             --memory {} is too small: give at least {} MB, or correct the file (--max-line bounds the length of a \
             line; --bad-records lets none pass that cannot be held)",
            megabytes(length),
            megabytes(needs.of(budget)),
            megabytes(budget.memory),
            megabytes(enough)
        ))
    }
}

impl Drop for LineRoom<'_> {
    fn drop(&mut self) {
        if let Some(budget) = self.budget {
            let mut lines = lock(&budget.lines);
            budget.release(self.bytes);
            *lines -= 1;
            budget.gone.notify_all();
        }
    }
}

impl Budget {
    /// Bytes for the whole process with which a line has room beside what is held.
    ///
    /// A sorter takes a third at most of what a larger budget adds for it, so the sizes come to an end.
    fn admitting(&self, needs: LineNeeds, held: usize) -> usize {
        let mut larger = Self::empty(self.work, self.memory, self.threads);
        loop {
            let all = needs.of(&larger) + held;
            if all <= larger.by_name() {
                return larger.memory;
            }
            larger.memory = self.memory_for(all).max(larger.memory + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of megabytes that an error asks for.
    fn asked(error: &Error) -> usize {
        let error = error.to_string();
        let words: Vec<_> = error.split(' ').collect();
        let at = words.windows(2).position(|two| two == ["at", "least"]).unwrap();
        words[at + 2].parse().unwrap()
    }

    /// Also where the sorter of its features takes more of a larger budget.
    #[test]
    fn what_is_asked_for_a_line_suffices() {
        for threads in [1, 2, 4, 16] {
            let budget = Budget::new((20 + 6 * threads) << 20, threads).unwrap();
            for megabytes in [1, 8, 60, 96, 200, 4000] {
                for (sorter, held) in [(true, 0), (true, 30 << 20), (false, 5 << 20)] {
                    let needs = LineNeeds { bytes: megabytes << 20, sorter };
                    budget.hold(held);
                    let error =
                        LineRoom::default().refused(&budget, &Place::default(), megabytes << 20, needs);
                    budget.release(held);
                    let case = format!("{megabytes} MB, {threads} threads, {held} held: {error}");
                    let admits = |memory: usize| {
                        let budget = Budget::new(memory << 20, threads).unwrap();
                        budget.hold(held);
                        let needs = needs.of(&budget);
                        LineRoom::default().take(&budget, needs, || Ok(false)).unwrap()
                    };
                    let enough = asked(&error);
                    assert!(admits(enough), "{case}");
                    // Four are for documents, and one is rounded up to.
                    assert!(budget.memory() == (enough - 4) << 20 || !admits(enough - 6), "{case}");
                }
            }
        }
    }

    #[test]
    fn a_line_waits_for_those_before_it_and_not_for_itself() {
        let budget = Budget::new(64 << 20, 2).unwrap();
        let all = budget.spare();
        let nothing = || Ok(false);
        let mut first = LineRoom::default();
        assert!(
            first.take(&budget, all / 2, nothing).unwrap() && first.take(&budget, all / 4, nothing).unwrap()
        );
        assert!(!first.take(&budget, all / 2, nothing).unwrap(), "none but itself would make room");
        assert_eq!(first.bytes, all / 2 + all / 4);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| LineRoom::default().take(&budget, all / 2, nothing).unwrap());
            while budget.spare() > 0 {
                std::thread::yield_now();
            }
            drop(first);
            assert!(second.join().unwrap());
        });
        assert_eq!(budget.spare(), all);
        // What can go to disk goes first.
        budget.hold(all);
        let mut spilled = all;
        let mut make_room = || Ok(std::mem::take(&mut spilled) > 0);
        let mut line = LineRoom::default();
        assert!(
            line.take(&budget, all, || make_room().inspect(|went: &bool| if *went {
                budget.release(all)
            }))
            .unwrap()
        );
        let needs = LineNeeds { bytes: 60 << 20, sorter: false };
        let error = line.refused(&budget, &Place::default(), 30 << 20, needs).to_string();
        for word in ["line 0", "30 MB", "60 MB", "--memory 64", "at least", "--max-line"] {
            assert!(error.contains(word), "{word:?} is not in: {error}");
        }
    }
}
