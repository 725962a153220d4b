//! Fingerprints brought into parts by a key, in bounded memory.
//!
//! Each thread has a share of the parts: it reads all fingerprints and keeps those of its share, so that no two threads write to
//! one place, and what a part holds is in the order of the fingerprints. Where the parts do not fit into the memory that is
//! allowed, there are several rounds, and each reads all fingerprints again: that costs a tenth of what is done with them.

use super::bits::Fingerprint;
use crate::threads::each;
use std::ops::Range;

/// A fingerprint, and where it stands.
#[derive(Clone, Copy, Debug, Default)]
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
pub struct Parts<'v, F, K> {
    /// All fingerprints.
    pub values: &'v [F],
    /// How many parts there are.
    pub parts: usize,
    /// The part of a fingerprint.
    pub key: K,
    /// Threads.
    pub threads: usize,
    /// Bytes for entries.
    pub memory: usize,
}

impl<F: Fingerprint, K: Fn(F) -> usize + Sync> Parts<'_, F, K> {
    /// How many fingerprints each part has.
    pub fn sizes(&self) -> Vec<usize> {
        let share = self.values.len().div_ceil(self.threads.max(1)).max(1);
        let counted = each(self.values.chunks(share), self.threads, |values| {
            let mut sizes = vec![0_usize; self.parts];
            values.iter().for_each(|value| sizes[(self.key)(*value)] += 1);
            sizes
        });
        let mut sizes = vec![0; self.parts];
        for more in counted {
            sizes.iter_mut().zip(more).for_each(|(size, more)| *size += more);
        }
        sizes
    }

    /// Does the work on each part, one thing each, in the order of the parts as far as it is begun.
    pub fn each<T: Send, R: Send>(
        &self,
        sizes: &[usize],
        things: impl IntoIterator<Item = T>,
        work: impl Fn(T, Vec<Entry<F>>) -> R + Sync,
    ) -> Vec<R> {
        let mut things = things.into_iter();
        let mut results = Vec::with_capacity(self.parts);
        for round in self.rounds(sizes) {
            let held: usize = sizes[round.clone()].iter().sum();
            let shares = cut(sizes, round, held.div_ceil(self.threads.max(1)).max(1));
            let filled = each(shares, self.threads, |share| self.fill(sizes, share));
            let parts: Vec<_> = filled.into_iter().flatten().zip(things.by_ref()).collect();
            results.append(&mut each(parts, self.threads, |(entries, thing)| work(thing, entries)));
        }
        results
    }

    /// Parts that fit into memory together.
    fn rounds(&self, sizes: &[usize]) -> Vec<Range<usize>> {
        cut(sizes, 0..self.parts, (self.memory / size_of::<Entry<F>>()).max(1))
    }

    /// The entries of some parts.
    fn fill(&self, sizes: &[usize], share: Range<usize>) -> Vec<Vec<Entry<F>>> {
        let mut parts: Vec<_> = sizes[share.clone()].iter().map(|size| Vec::with_capacity(*size)).collect();
        for (value, at) in self.values.iter().zip(0..) {
            if let Some(part) = (self.key)(*value).checked_sub(share.start).and_then(|key| parts.get_mut(key))
            {
                part.push(Entry { value: *value, at });
            }
        }
        parts
    }
}

/// Cuts a range of parts into ranges that hold at most so many entries, or are one part.
fn cut(sizes: &[usize], range: Range<usize>, most: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut held) = (range.start, 0);
    for part in range.clone() {
        if held + sizes[part] > most && part > start {
            ranges.push(start..part);
            (start, held) = (part, 0);
        }
        held += sizes[part];
    }
    if start < range.end {
        ranges.push(start..range.end);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_its_own_in_order_whatever_the_memory() {
        let values: Vec<u64> = (0..1000).map(|n: u64| n.mixed()).collect();
        for (threads, memory) in [(1, usize::MAX), (2, 3000), (3, 1)] {
            let parts = Parts {
                values: &values,
                parts: 16,
                key: |value: u64| value.top(4) as usize,
                threads,
                memory,
            };
            let sizes = parts.sizes();
            let found = parts.each(&sizes, 0..16, |part: usize, entries| {
                assert!(entries.iter().all(|entry| entry.value.top(4) as usize == part));
                assert!(entries.iter().all(|entry| values[entry.at as usize] == entry.value));
                assert!(entries.is_sorted_by_key(|entry| entry.at));
                entries.len()
            });
            assert_eq!(found, sizes);
            assert_eq!(found.iter().sum::<usize>(), 1000);
        }
    }
}
