//! Ids as numbers, in little memory: one array of bytes and one table of numbers.

use crate::hash;
use hashbrown::HashTable;

/// Different ids, numbered in the order in which they came. An id takes its bytes and about 15 more.
#[derive(Default)]
pub struct Ids {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
}

impl Ids {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The id of a number.
    pub fn get(&self, number: u32) -> &[u8] {
        at(&self.bytes, &self.ends, number)
    }

    /// The number of an id that may be here.
    pub fn find(&self, id: &[u8]) -> Option<u32> {
        self.table.find(hash::id(id), |&number| self.get(number) == id).copied()
    }

    /// The number of an id, a new one if it was not here.
    ///
    /// # Panics
    /// When there are 2^32 ids.
    pub fn number(&mut self, id: &[u8]) -> u32 {
        let hash = hash::id(id);
        if let Some(&number) = self.table.find(hash, |&number| at(&self.bytes, &self.ends, number) == id) {
            return number;
        }
        assert!(self.ends.len() < u32::MAX as usize, "2^32 ids in one task");
        let number = self.ends.len() as u32;
        self.bytes.extend_from_slice(id);
        self.ends.push(self.bytes.len());
        self.table.insert_unique(hash, number, |&other| hash::id(at(&self.bytes, &self.ends, other)));
        number
    }

    /// All numbers in byte order of their ids.
    pub fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_unstable_by_key(|&number| self.get(number));
        order
    }

    /// Drops all ids and keeps the room.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.table.clear();
    }
}

fn at<'a>(bytes: &'a [u8], ends: &[usize], number: u32) -> &'a [u8] {
    let number = number as usize;
    &bytes[number.checked_sub(1).map_or(0, |before| ends[before])..ends[number]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn numbers_are_those_of_a_map(ids in prop::collection::vec("[ab]{0,4}", 0..60)) {
            let (mut numbers, mut map) = (Ids::default(), BTreeMap::new());
            for id in &ids {
                let next = map.len() as u32;
                let expected = *map.entry(id.clone()).or_insert(next);
                prop_assert_eq!(numbers.number(id.as_bytes()), expected);
            }
            prop_assert_eq!(numbers.len(), map.len());
            for (id, number) in &map {
                prop_assert_eq!(numbers.get(*number), id.as_bytes());
                prop_assert_eq!(numbers.find(id.as_bytes()), Some(*number));
            }
            prop_assert_eq!(numbers.find(b"c"), None);
            let sorted: Vec<_> = numbers.sorted().iter().map(|number| numbers.get(*number).to_vec()).collect();
            prop_assert_eq!(sorted, map.keys().map(|id| id.as_bytes().to_vec()).collect::<Vec<_>>());
            numbers.clear();
            prop_assert!(numbers.is_empty() && numbers.find(b"a").is_none());
        }
    }
}
