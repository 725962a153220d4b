//! A hash table that grows by little steps: linear hashing (litwin1980).
//!
//! It is many small tables. When there is one entry too many, one of them is cut in two, in turn: nobody ever waits for all entries to be moved, and the room that is
//! free stays the same share of all.

use hashbrown::HashTable;

/// How many entries a table has, on average: one that is cut takes a fraction of a millisecond, with an id to be read for each.
const EACH: u64 = if cfg!(test) { 8 } else { 1024 };

/// The bits of a hash that choose the table begin here: a table looks at the lowest ones, and at the topmost.
const CHOOSING: u32 = 16;

/// Entries of some kind, found by their hashes.
#[derive(Debug)]
pub(crate) struct GrowingTable<T> {
    /// By the lowest bits that choose: all of them, or all but one where that table has not been made.
    tables: Vec<HashTable<T>>,
    len: u64,
}

impl<T> Default for GrowingTable<T> {
    fn default() -> Self {
        Self { tables: vec![HashTable::new()], len: 0 }
    }
}

impl<T> GrowingTable<T> {
    /// What an entry takes: a byte beside it, and places that are free, which are one of eight at least and nine of sixteen at most.
    pub const BYTES: u64 = (size_of::<T>() as u64 + 1) * 3 / 2;

    /// An empty one with the tables that so many entries will need.
    pub fn of_tables_for(entries: u64) -> Self {
        let tables = entries.div_ceil(EACH).max(1);
        Self { tables: (0..tables).map(|_| HashTable::new()).collect(), len: 0 }
    }

    /// How many entries there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    fn place(&self, hash: u64) -> usize {
        let count = self.tables.len();
        let round = count.next_power_of_two();
        let place = (hash >> CHOOSING) as usize & (round - 1);
        if place < count { place } else { place - round / 2 }
    }

    /// The first entry of this hash that is the one.
    pub fn find(&self, hash: u64, is: impl FnMut(&T) -> bool) -> Option<&T> {
        self.tables.get(self.place(hash))?.find(hash, is)
    }

    /// The same, to be changed.
    pub fn find_mut(&mut self, hash: u64, is: impl FnMut(&T) -> bool) -> Option<&mut T> {
        let place = self.place(hash);
        self.tables.get_mut(place)?.find_mut(hash, is)
    }

    /// Puts one in; `rehash` gives the hash of any that is there.
    pub fn insert(&mut self, hash: u64, value: T, rehash: impl Fn(&T) -> u64) {
        let place = self.place(hash);
        if let Some(table) = self.tables.get_mut(place) {
            table.insert_unique(hash, value, &rehash);
            self.len += 1;
        }
        if self.len > EACH * self.tables.len() as u64 {
            self.cut(rehash);
        }
    }

    /// Makes one more table, of a half of the one whose turn it is.
    fn cut(&mut self, rehash: impl Fn(&T) -> u64) {
        let from = self.tables.len() - (self.tables.len() + 1).next_power_of_two() / 2;
        let Some(table) = self.tables.get_mut(from) else { return };
        // With room for about a half each: what grows while it is filled is hashed again, each time.
        let half = || HashTable::with_capacity(table.len() / 2 + table.len() / 16);
        let new = half();
        let emptied = half();
        let all = std::mem::replace(table, emptied);
        self.tables.push(new);
        for value in all {
            let hash = rehash(&value);
            let place = self.place(hash);
            if let Some(table) = self.tables.get_mut(place) {
                table.insert_unique(hash, value, &rehash);
            }
        }
    }

    /// Takes the first entry of this hash out that is the one.
    pub fn remove(&mut self, hash: u64, is: impl FnMut(&T) -> bool) -> Option<T> {
        let place = self.place(hash);
        let found = self.tables.get_mut(place)?.find_entry(hash, is).ok()?;
        self.len -= 1;
        Some(found.remove().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use twinsplit_core::hash::mix;

    proptest! {
        /// Against a map: what was put in and not taken out is found, and nothing else, whatever the number of tables.
        #[test]
        fn it_holds_what_was_put_in(steps in prop::collection::vec((any::<bool>(), 0u64..500), 0..2000)) {
            let mut table = GrowingTable::<(u64, u64)>::default();
            let mut truth = BTreeMap::new();
            for (step, (puts, key)) in (0_u64..).zip(steps) {
                let is = |entry: &(u64, u64)| entry.0 == key;
                if puts && !truth.contains_key(&key) {
                    table.insert(mix(key), (key, step), |(key, _)| mix(*key));
                    truth.insert(key, step);
                } else if puts {
                    table.find_mut(mix(key), is).unwrap().1 = step;
                    truth.insert(key, step);
                } else {
                    prop_assert_eq!(table.remove(mix(key), is), truth.remove_entry(&key));
                }
                prop_assert_eq!(table.len(), truth.len() as u64);
            }
            for key in 0..500 {
                prop_assert_eq!(table.find(mix(key), |entry| entry.0 == key).map(|entry| entry.1), truth.get(&key).copied());
            }
        }
    }

    #[test]
    fn tables_are_cut_in_turn() {
        let mut table = GrowingTable::<u64>::default();
        for key in 0..1000 {
            table.insert(mix(key), key, |key| mix(*key));
            assert_eq!(table.tables.len() as u64, (key + 1).div_ceil(EACH).max(1));
            let longest = table.tables.iter().map(HashTable::len).max();
            assert!(longest < Some(8 * EACH as usize), "{longest:?} of {key}");
        }
    }
}
