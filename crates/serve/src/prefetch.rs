//! Searches for documents that are about to be decided, together: while memory is waited for for one, so it is for the others.
//!
//! What is found is what there is before the first of them. Those that come after that are few, and are compared one by one, so
//! that each has the same verdict as if it had been searched for alone.

use crate::index::{FingerprintIndex, Room};
use std::ops::Range;
use twinsplit_hamming::Fresh;

/// How many documents are searched for together.
pub(crate) const TOGETHER: usize = 256;

/// What was found ahead, in the order in which it will be asked for.
#[derive(Debug, Default)]
pub(crate) struct Prefetched {
    values: Vec<u128>,
    /// Of each value the place of what was found.
    ranges: Vec<Range<u32>>,
    /// Numbers and distances, ascending for each value.
    found: Vec<(u64, u32)>,
    /// Values that have been asked for.
    at: usize,
    /// What was put in since.
    since: Fresh<u128>,
    triples: Vec<(u32, u64, u32)>,
    room: Room,
}

impl Prefetched {
    /// Searches for some values.
    pub fn search(&mut self, index: &FingerprintIndex, values: impl Iterator<Item = u128>) {
        self.forget();
        self.values.extend(values);
        let Self { values, triples, room, .. } = self;
        triples.clear();
        index.search(values, room, |place, number, distance| triples.push((place as u32, number, distance)));
        triples.sort_unstable();
        let mut at = 0;
        for place in 0..self.values.len() as u32 {
            let count = self.triples[at..].iter().take_while(|(of, ..)| *of == place).count();
            self.ranges.push(at as u32..(at + count) as u32);
            at += count;
        }
        self.found.extend(self.triples.iter().map(|(_, number, distance)| (*number, *distance)));
    }

    /// Lets go of what was found.
    pub fn forget(&mut self) {
        let Self { values, ranges, found, since, at, .. } = self;
        values.clear();
        ranges.clear();
        found.clear();
        since.clear();
        *at = 0;
    }

    /// Takes note of what is put in.
    pub fn put_in(&mut self, number: u64, value: u128) {
        // Nobody asks when all have been asked for.
        if self.at < self.values.len() {
            self.since.push(number, value);
        }
    }

    /// The numbers of all within a distance of a value, ascending, and their distances. Some of them may be gone since they were found.
    pub fn near(&mut self, index: &FingerprintIndex, value: u128, most: u32, near: &mut Vec<(u64, u32)>) {
        near.clear();
        // Those before it were not asked for, for they had an answer without.
        let place = self.values.iter().skip(self.at).position(|known| *known == value);
        let Some(place) = place.map(|place| self.at + place) else {
            index.search(&[value], &mut self.room, |_, number, distance| near.push((number, distance)));
            near.sort_unstable();
            return;
        };
        self.at = place + 1;
        let range = self.ranges[place].clone();
        near.extend_from_slice(&self.found[range.start as usize..range.end as usize]);
        self.since.search(value, most, |number, distance| near.push((number, distance)));
    }
}
