//! One total order of features, and the list of features in an IDF range.
//!
//! The prefix filter needs *some* total order that every task shares; ascending document frequency makes it fast,
//! for the features that many documents share then stand where the filter need not look. Only the most frequent
//! features matter for that, so the order is: all features that are not among the K most frequent, by hash; then
//! those, the most frequent one last. K bounds the memory of every task that holds the order.

use crate::record::set::{parse_feature, push_feature};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

twinsplit_core::options! {
    /// The bound on the features that are ordered by frequency.
    pub struct RankedOpts {
        /// How many of the most frequent features are ordered by frequency; all others come before these, by hash
        pub ranked: usize = 1_000_000, "N";
    }
}

/// Collects the K most frequent features.
pub struct MostFrequent {
    heap: BinaryHeap<Reverse<(u64, u64)>>,
    limit: usize,
}

impl MostFrequent {
    /// Keeps at most `limit` features.
    pub fn new(limit: usize) -> Self {
        Self { heap: BinaryHeap::new(), limit }
    }

    /// Takes a feature with its document frequency. A feature of one document is shared by no pair and needs no rank.
    pub fn visit(&mut self, feature: u64, frequency: u64) {
        if frequency < 2 || self.limit == 0 {
            return;
        }
        let entry = Reverse((frequency, feature));
        if self.heap.len() < self.limit {
            self.heap.push(entry);
        } else if self.heap.peek().is_some_and(|least| entry < *least) {
            self.heap.pop();
            self.heap.push(entry);
        }
    }

    /// Gives the features, each behind its frequency, in ascending order of frequency, ties by feature; it holds none then.
    pub fn take(&mut self) -> Vec<(u64, u64)> {
        let mut entries: Vec<_> = self.heap.drain().map(|entry| entry.0).collect();
        entries.sort_unstable();
        entries
    }
}

/// Which features an order file lists besides the ranked ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listed {
    /// None: the IDF range is everything.
    #[default]
    Nothing,
    /// Those in the IDF range.
    Kept,
    /// Those of the corpus that are out of it.
    Dropped,
    /// None, though there is a range: features are looked up by a shuffle.
    Elsewhere,
}

impl Listed {
    /// The name in the file's first line.
    pub fn name(self) -> &'static str {
        match self {
            Listed::Nothing => "nothing",
            Listed::Kept => "kept",
            Listed::Dropped => "dropped",
            Listed::Elsewhere => "elsewhere",
        }
    }

    /// The value of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Listed::Nothing, Listed::Kept, Listed::Dropped, Listed::Elsewhere];
        all.into_iter().find(|listed| listed.name() == name)
    }
}

/// A line of an order file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderLine {
    /// The next feature in ascending order of frequency.
    Ranked(u64),
    /// A feature that the file's first line says is kept, or dropped.
    Listed(u64),
}

impl OrderLine {
    /// Appends the line.
    pub fn encode(self, out: &mut Vec<u8>) {
        let (tag, feature) = match self {
            OrderLine::Ranked(feature) => (b"rank\t", feature),
            OrderLine::Listed(feature) => (b"list\t", feature),
        };
        out.extend_from_slice(tag);
        push_feature(out, feature);
    }

    /// Reads a line.
    pub fn decode(line: &[u8]) -> Option<Self> {
        let (tag, feature) = line.split_at_checked(5)?;
        let feature = parse_feature(feature)?;
        match tag {
            b"rank\t" => Some(OrderLine::Ranked(feature)),
            b"list\t" => Some(OrderLine::Listed(feature)),
            _ => None,
        }
    }
}

/// The features of an IDF range in memory.
#[derive(Debug, Default)]
pub struct Filter {
    listed: Listed,
    features: FxHashSet<u64>,
}

impl Filter {
    /// A filter with the features that are listed.
    pub fn new(listed: Listed, features: FxHashSet<u64>) -> Self {
        Self { listed, features }
    }

    /// Whether a feature lies in the range.
    pub fn keeps(&self, feature: u64) -> bool {
        match self.listed {
            Listed::Nothing | Listed::Elsewhere => true,
            Listed::Kept => self.features.contains(&feature),
            Listed::Dropped => !self.features.contains(&feature),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twinsplit_core::join::order::Order;

    #[test]
    fn the_most_frequent_come_last_and_others_by_hash_before_them() {
        let mut most = MostFrequent::new(2);
        for (feature, frequency) in [(9, 5), (8, 2), (7, 5), (6, 3), (5, 1)] {
            most.visit(feature, frequency);
        }
        let mut order = Order::default();
        let taken = most.take();
        assert_eq!(taken, [(5, 7), (5, 9)]);
        assert!(most.take().is_empty());
        taken.into_iter().for_each(|(_, feature)| order.push(feature));
        let mut features = [5, 6, 7, 8, 9];
        order.sort(&mut features);
        assert_eq!(features, [5, 6, 8, 7, 9]);
    }

    #[test]
    fn a_filter_keeps_what_its_list_says() {
        for (listed, keeps) in
            [(Listed::Nothing, [true, true]), (Listed::Kept, [true, false]), (Listed::Dropped, [false, true])]
        {
            let filter = Filter::new(listed, [1].into_iter().collect());
            assert_eq!([filter.keeps(1), filter.keeps(2)], keeps);
            assert_eq!(Listed::from_name(listed.name()), Some(listed));
        }
    }
}
