//! Fingerprints brought into parts by a key, in bounded memory: the first step of a radix sort.
//!
//! Each thread has a share of the fingerprints. It is counted first how many of each share go into each part, so that each thread knows
//! where its own stand, no two write to one place, and what a part holds is in the order of the fingerprints. Where the parts do not fit into the
//! memory that is allowed, there are several rounds, and each reads all fingerprints again: that costs a tenth of what is done with them.

use super::bits::Fingerprint;
use super::values::Values;
use std::ops::Range;
use twinsplit_core::join::memory;
use twinsplit_core::threads::each;
use twinsplit_io::error::{Error, Result};

/// A fingerprint, and where it stands; in 12 bytes where it has 64 bits.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, packed(4))]
pub struct Entry<F> {
    /// The fingerprint.
    pub value: F,
    /// Its number.
    pub at: u32,
}

/// Fingerprints of a part, on average. Some ten thousand fit into the second of the caches.
const EACH: usize = 1 << 15;

/// How many parts so many fingerprints are brought into, as a power of two: at most 2^10, for each is written to in turn.
pub fn part_bits(count: usize) -> u32 {
    (count / EACH).next_power_of_two().trailing_zeros().min(10)
}

/// How the fingerprints are brought into parts.
pub struct Parts<'v, F, P> {
    /// All fingerprints.
    pub values: Values<'v, F>,
    /// How many parts there are.
    pub parts: usize,
    /// The part of a fingerprint, and what is kept of it and of its number.
    pub place: P,
    /// Threads.
    pub threads: usize,
    /// Bytes for what is kept at one time.
    pub memory: usize,
    /// How many times as much was allowed in all.
    pub times: usize,
}

impl<F: Fingerprint, E: Copy + Default + Send, P: Fn(F, u32) -> (usize, E) + Sync> Parts<'_, F, P> {
    /// How many fingerprints each part has, by share.
    ///
    /// # Errors
    /// The fingerprints cannot be read.
    pub fn sizes(&self) -> Result<Vec<Vec<usize>>> {
        let shares = each(self.shares(), self.threads, |share| {
            let mut sizes = vec![0_usize; self.parts];
            let count =
                |values: &[F], _| values.iter().for_each(|value| sizes[(self.place)(*value, 0).0] += 1);
            self.values.blocks(share, count)?;
            Ok(sizes)
        });
        shares.into_iter().collect()
    }

    fn shares(&self) -> Vec<Range<usize>> {
        let all = self.values.len();
        let share = all.div_ceil(self.threads.max(1)).max(1);
        (0..all).step_by(share).map(|start| start..all.min(start + share)).collect()
    }

    /// Cuts the parts into rounds for which the memory suffices.
    ///
    /// # Errors
    /// One part of fingerprints in a file takes more. Those that are in memory have had more themselves.
    pub fn rounds(&self, sizes: &[usize]) -> Result<Vec<Range<usize>>> {
        let largest = sizes.iter().max().map_or(0, |size| size * size_of::<E>());
        if largest > self.memory && self.values.are_in_file() {
            let megabytes = |bytes: usize| bytes.div_ceil(1 << 20);
            return Err(Error::Limit(format!(
                "many fingerprints are equal in some of their bits: {} of {} stand together and take {} MB, where {} MB are left for \
                 them; give at least {} MB of memory",
                largest / size_of::<E>(),
                self.values.len(),
                megabytes(largest),
                self.memory >> 20,
                megabytes(largest * self.times)
            )));
        }
        Ok(cut(sizes, (self.memory / size_of::<E>()).max(1)))
    }

    /// Calls `work` with the number of the first of some parts and what these hold, until all parts had their turn; in their order. The
    /// room is used again by who has several sets of parts: new memory costs as much as what is written to it.
    ///
    /// # Errors
    /// The first of `work`; those of [`rounds`](Self::rounds); the fingerprints cannot be read.
    pub fn each(
        &self,
        sizes: &[Vec<usize>],
        room: &mut Vec<E>,
        mut work: impl FnMut(usize, Vec<&mut [E]>) -> Result<()>,
    ) -> Result<()> {
        let all = total(sizes, self.parts);
        let rounds = self.rounds(&all)?;
        let held = rounds.iter().map(|round| all[round.clone()].iter().sum::<usize>());
        let held = held.max().unwrap_or(0);
        if room.len() < held {
            // Not both at once.
            *room = Vec::new();
            *room = memory::filled(E::default(), held);
        }
        for round in rounds {
            // Of each part, one share after the other.
            let mut places: Vec<Vec<std::slice::IterMut<'_, E>>> = sizes.iter().map(|_| Vec::new()).collect();
            let mut rest = &mut room[..];
            for part in round.clone() {
                for (places, sizes) in places.iter_mut().zip(sizes) {
                    let (own, others) = rest.split_at_mut(sizes[part]);
                    places.push(own.iter_mut());
                    rest = others;
                }
            }
            let shares: Vec<_> = self.shares().into_iter().zip(places).collect();
            let put = each(shares, self.threads, |(share, mut places)| {
                self.values.blocks(share, |values, first| {
                    for (value, at) in values.iter().zip(first..) {
                        let (part, entry) = (self.place)(*value, at);
                        let place = part.checked_sub(round.start).and_then(|part| places.get_mut(part));
                        if let Some(place) = place.and_then(Iterator::next) {
                            *place = entry;
                        }
                    }
                })
            });
            put.into_iter().collect::<Result<()>>()?;
            let mut rest = &mut room[..];
            let mut parts = Vec::with_capacity(round.len());
            for size in &all[round.clone()] {
                let (own, others) = rest.split_at_mut(*size);
                parts.push(own);
                rest = others;
            }
            work(round.start, parts)?;
        }
        Ok(())
    }
}

/// How many each part has of all shares.
pub fn total(sizes: &[Vec<usize>], parts: usize) -> Vec<usize> {
    let mut all = vec![0; parts];
    for share in sizes {
        all.iter_mut().zip(share).for_each(|(all, size)| *all += size);
    }
    all
}

/// Cuts parts into ranges that hold at most so many entries, or are one part.
fn cut(sizes: &[usize], most: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut held) = (0, 0);
    for (part, size) in sizes.iter().enumerate() {
        if held + size > most && part > start {
            ranges.push(start..part);
            (start, held) = (part, 0);
        }
        held += size;
    }
    if start < sizes.len() {
        ranges.push(start..sizes.len());
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_its_own_in_order_whatever_the_memory() {
        let values: Vec<u64> = (0..1000).map(|n: u64| n.mixed()).collect();
        for (threads, memory, rounds) in [(1, usize::MAX, 1), (2, 3000, 5), (3, 1, 16)] {
            let place = |value: u64, at| (value.top(4) as usize, Entry { value, at });
            let parts =
                Parts { values: Values::Memory(&values), parts: 16, place, threads, memory, times: 1 };
            let sizes = parts.sizes().unwrap();
            let (mut found, mut turns) = (Vec::new(), 0);
            let done = parts.each(&sizes, &mut Vec::new(), |first, parts| {
                assert_eq!(first, found.len());
                turns += 1;
                for entries in parts {
                    assert!(entries.iter().all(|entry| { entry.value }.top(4) as usize == found.len()));
                    assert!(entries.iter().all(|entry| values[entry.at as usize] == entry.value));
                    assert!(entries.is_sorted_by_key(|entry| entry.at));
                    found.push(entries.len());
                }
                Ok(())
            });
            done.unwrap();
            assert!(turns >= rounds, "{turns}");
            assert_eq!(found, total(&sizes, 16));
            assert_eq!(found.iter().sum::<usize>(), 1000);
        }
    }
}
