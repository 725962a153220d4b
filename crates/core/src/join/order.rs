//! A total order of features: those that are known to be frequent come last. Any total order makes the prefix filter exact (bayardo2007); this
//! one keeps posting lists short.

use rustc_hash::FxHashMap;

/// Features that are ranked come last, in ascending order of frequency; all others come before them, by hash. The default is the order by
/// hash alone.
#[derive(Debug, Default)]
pub struct Order {
    /// From 1, ascending frequency.
    ranks: FxHashMap<u64, u32>,
}

impl Order {
    /// Adds the next ranked feature.
    pub fn push(&mut self, feature: u64) {
        let next = self.ranks.len() as u32 + 1;
        self.ranks.insert(feature, next);
    }

    fn key(&self, feature: u64) -> (u32, u64) {
        (self.ranks.get(&feature).copied().unwrap_or(0), feature)
    }

    /// Sorts the features of a document, those shared by the fewest first.
    pub fn sort(&self, features: &mut [u64]) {
        features.sort_unstable_by_key(|feature| self.key(*feature));
    }

    /// The first features of a set in this order, so many or all; each stands behind its rank, which is 0 where it has none.
    pub fn prefix(&self, set: &[u64], length: u64, keys: &mut Vec<(u32, u64)>) {
        keys.clear();
        keys.extend(set.iter().map(|feature| self.key(*feature)));
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if let Some(last) = length.checked_sub(1).filter(|last| *last < keys.len()) {
            keys.select_nth_unstable(last);
        }
        keys.truncate(length);
        keys.sort_unstable();
    }

    /// Bytes that it takes, about.
    pub fn memory(&self) -> usize {
        (size_of::<(u64, u32)>() + 1) * self.ranks.capacity()
    }
}
