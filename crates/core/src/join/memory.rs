//! What the system and the processor are told of memory, for a join waits for it more than for anything else.
//!
//! **Large pages.** A join reads its index at random: nearly each look-up of a list is in another page, and with pages of 4 KB finding out where
//! a page lies in memory costs as much as the look-up. With pages of 2 MB the table of pages fits into the processor's own.
//!
//! **Lines that are read soon.** A look-up of a list is followed by a few dozen postings; by the time the processor has seen that they
//! are read one after the other, the list is at its end.

use crate::threads::fill;
use std::mem::MaybeUninit;

/// The size of a large page of x86-64; elsewhere the system takes what it has.
const PAGE: usize = 2 << 20;

/// Arrays below this are in few pages of any size.
const LEAST: usize = 2 * PAGE;

/// Room for so many values, where the system may use large pages once they are filled in. It is a wish: without large pages
/// all is the same, and slower.
pub fn with_capacity<T>(values: usize) -> Vec<T> {
    let room = Vec::with_capacity(values);
    #[cfg(target_os = "linux")]
    linux::wish(&room);
    room
}

/// So many values of a kind, in large pages if there are many.
pub fn filled<T: Clone>(value: T, values: usize) -> Vec<T> {
    let mut all = with_capacity(values);
    all.resize(values, value);
    all
}

/// So many values, each by its place, in large pages if there are many. So many threads make them, which are the first to write there.
#[allow(unsafe_code)]
pub fn from_fn<T: Send>(values: usize, threads: usize, value: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut all = with_capacity(values);
    fill(&mut all.spare_capacity_mut()[..values], threads, |at| MaybeUninit::new(value(at)));
    // SAFETY: the array was empty, and each of the places from its first one on has a value.
    unsafe { all.set_len(values) };
    all
}

/// So many zeros, in large pages if there are many. The system hands the pages out when they are written to first, so that
/// several threads can take part.
pub fn zeros<T: Clone + From<u8>>(values: usize) -> Vec<T> {
    let all = vec![T::from(0); values];
    #[cfg(target_os = "linux")]
    linux::wish(&all);
    all
}

/// The values from `at` on are read soon: as many as so many lines of a cache hold.
#[inline]
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub fn soon<const LINES: usize, T>(values: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..LINES {
        if let Some(value) = values.get(at + line * x86::LINE / size_of::<T>()) {
            x86::fetch(value);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

    /// Bytes of a line of the caches.
    pub const LINE: usize = 64;

    #[inline]
    pub fn fetch<T>(value: &T) {
        // SAFETY: every x86-64 has the instruction, and it reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
mod linux {
    use super::{LEAST, PAGE};
    use rustix::mm::{Advice, madvise};

    /// Asks for large pages for all whole ones of an array's room.
    pub fn wish<T>(room: &Vec<T>) {
        let bytes = room.capacity() * size_of::<T>();
        if bytes < LEAST {
            return;
        }
        let start = room.as_ptr().addr();
        let before = start.next_multiple_of(PAGE) - start;
        let whole = (bytes - before) / PAGE * PAGE;
        let first = room.as_ptr().cast::<u8>().wrapping_add(before).cast_mut().cast();
        // SAFETY: the range lies inside of what the array owns, and this advice changes no byte of it. An error means that
        // there are no large pages.
        let _ = unsafe { madvise(first, whole, Advice::LinuxHugepage) };
    }
}

/// From now on what this process lets go of goes back to the system at once, where it is large: 4 MB, for what is made for each text is smaller. The GNU C library keeps blocks of up to 32 MB for
/// later by itself, and a process that lives long and builds indexes of all sizes holds half as much again as it uses. With other
/// libraries nothing changes.
pub fn give_back_large() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    gnu::give_back_large();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
mod gnu {
    unsafe extern "C" {
        fn mallopt(parameter: i32, value: i32) -> i32;
    }

    /// The size from which on blocks are mapped one by one, in `malloc.h`.
    const MMAP_THRESHOLD: i32 = -3;

    pub fn give_back_large() {
        // SAFETY: the signature is that of the GNU C library, which takes any values. An error means that nothing has changed.
        let _ = unsafe { mallopt(MMAP_THRESHOLD, 4 << 20) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_as_large_as_asked() {
        for values in [0, 1, LEAST / 4 - 1, LEAST / 4, LEAST] {
            let all = filled(7_u32, values);
            assert_eq!(from_fn(values, 3, |at| at), (0..values).collect::<Vec<_>>());
            assert_eq!(zeros::<u32>(values), vec![0; values]);
            assert_eq!(
                (all.len(), all.iter().map(|value| u64::from(*value)).sum::<u64>()),
                (values, 7 * values as u64)
            );
        }
    }
}
