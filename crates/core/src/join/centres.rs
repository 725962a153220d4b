//! Star clusters of sets, by their definition: in keep order each set is held against the centres before it.
//!
//! A set joins the first centre that it pairs with, and is a centre where there is none. So pairs of two sets that are no centres are not
//! looked at, which of sets that are alike are nearly all, and nothing is held but the centres.
//!
//! Where two sets are a pair only under a common key, centres are indexed by their keys. Else they are by their probe prefixes (as in [`prefix`](super::prefix)), in an order of features that is given: those that few of the sets have come first.
//! A set asks the lists of its own probe prefix, because partners come in any order of sizes, and takes what it meets in keep order, until one is a pair.

use super::overlap;
use crate::similarity::{SetSimilarity, Similarity};
use rustc_hash::FxHashMap;

/// How often features occur among the sets that are to come.
#[derive(Default)]
pub struct Frequencies(FxHashMap<u64, u32>);

impl Frequencies {
    /// Counts the features of a set.
    pub fn count(&mut self, features: &[u64]) {
        features.iter().for_each(|feature| *self.0.entry(*feature).or_default() += 1);
    }
}

/// By what sets meet centres.
#[derive(Clone, Copy, Debug)]
pub enum Meets<'k> {
    /// By their prefixes: where they are similar at all.
    Prefix,
    /// By these keys of the set.
    Keys(&'k [u64]),
}

/// The centres so far.
pub struct Centres {
    similarity: Similarity,
    /// By feature that several sets have its place in the order, from rare to frequent.
    order: FxHashMap<u64, u32>,
    /// By place or key the centres that have it in their prefixes, or among their keys.
    lists: FxHashMap<u64, Vec<u32>>,
    /// By centre its number among all sets, its size, and where its places end, which ascend.
    centres: Vec<(u32, u64, usize)>,
    places: Vec<u32>,
    sets: u32,
    /// How many sets were compared with a centre.
    pub compared: u64,
    set: Vec<u32>,
    asked: Vec<u64>,
    met: Vec<u32>,
}

impl Centres {
    /// None yet, of sets whose features have these frequencies.
    pub fn new(similarity: Similarity, frequencies: Frequencies) -> Self {
        // What one set has alone is in no overlap.
        let shared = frequencies.0.into_iter().filter(|(_, sets)| *sets > 1);
        let mut shared: Vec<(u32, u64)> = shared.map(|(feature, sets)| (sets, feature)).collect();
        shared.sort_unstable();
        Self {
            similarity,
            lists: FxHashMap::default(),
            order: (0..).zip(shared).map(|(place, (_, feature))| (feature, place)).collect(),
            centres: Vec::new(),
            places: Vec::new(),
            sets: 0,
            compared: 0,
            set: Vec::new(),
            asked: Vec::new(),
            met: Vec::new(),
        }
    }

    /// The number of the centre of the next set in keep order: its own where it becomes one.
    pub fn next(&mut self, features: &[u64], meets: Meets<'_>) -> u32 {
        let own = self.sets;
        self.sets += 1;
        let size = features.len() as u64;
        self.set.clear();
        self.set.extend(features.iter().filter_map(|feature| self.order.get(feature)));
        self.set.sort_unstable();
        // Features of one set alone are the rarest, so they stand first in the prefix.
        let alone = size - self.set.len() as u64;
        let prefix = self.similarity.probe_prefix(size).saturating_sub(alone).min(self.set.len() as u64);
        let places = self.set[..prefix as usize].iter().map(|place| u64::from(*place));
        self.asked.clear();
        match meets {
            Meets::Prefix => self.asked.extend(places),
            Meets::Keys(keys) => self.asked.extend_from_slice(keys),
        }
        self.met.clear();
        self.met.extend(self.asked.iter().filter_map(|list| self.lists.get(list)).flatten());
        self.met.sort_unstable();
        self.met.dedup();
        for centre in &self.met {
            let at = *centre as usize;
            let (number, other, end) = self.centres[at];
            let start = at.checked_sub(1).map_or(0, |before| self.centres[before].2);
            self.compared += 1;
            let shared = overlap(&self.set, &self.places[start..end]);
            if shared > 0 && self.similarity.accepts(shared, size, other) {
                return number;
            }
        }
        let centre = self.centres.len() as u32;
        self.asked.iter().for_each(|list| self.lists.entry(*list).or_default().push(centre));
        self.places.extend_from_slice(&self.set);
        self.centres.push((own, size, self.places.len()));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::star::star;
    use crate::similarity::tests::{all, truth};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// By prefixes, or by these keys of each set.
    fn stars(similarity: Similarity, sets: &[Vec<u64>], keys: Option<&[Vec<u64>]>) -> (Vec<u32>, u64) {
        let mut frequencies = Frequencies::default();
        sets.iter().for_each(|set| frequencies.count(set));
        let mut centres = Centres::new(similarity, frequencies);
        let meets = |set: usize| keys.map_or(Meets::Prefix, |keys| Meets::Keys(&keys[set]));
        let found = (0..sets.len()).map(|set| centres.next(&sets[set], meets(set))).collect();
        (found, centres.compared)
    }

    proptest! {
        /// The stars of all pairs, for sets in any order of sizes.
        #[test]
        fn stars_are_those_of_all_pairs(
            sets in prop::collection::vec(prop::collection::btree_set(0u64..20, 0..14), 1..40),
            keys in prop::collection::vec(prop::collection::vec(0u64..4, 0..3), 40),
            by_keys in any::<bool>(), twentieths in 1u32..=20, kind in 0usize..5, least in 1u64..6,
        ) {
            let tau = format!("{}.{:02}", twentieths / 20, twentieths % 20 * 5).parse().unwrap();
            let similarity = all(tau, least)[kind];
            let mut pairs = Vec::new();
            for (x, a) in sets.iter().enumerate() {
                for (y, b) in sets.iter().enumerate().skip(x + 1) {
                    let shared = a.intersection(b).count() as u64;
                    let meet = !by_keys || keys[x].iter().any(|key| keys[y].contains(key));
                    if shared > 0 && meet && truth(similarity, shared, a.len() as u64, b.len() as u64) {
                        pairs.push((x as u32, y as u32));
                    }
                }
            }
            let ranks: Vec<u32> = (0..sets.len() as u32).collect();
            let listed: Vec<Vec<u64>> = sets.iter().map(|set: &BTreeSet<u64>| set.iter().copied().collect()).collect();
            let keys = by_keys.then_some(&keys[..]);
            prop_assert_eq!(stars(similarity, &listed, keys).0, star(sets.len(), &ranks, &pairs));
        }
    }

    /// Sets that are all alike cost a comparison each.
    #[test]
    fn sets_that_are_alike_are_held_against_their_centre() {
        let set = |own: u64| (0..50).chain([1000 + own]).collect::<Vec<u64>>();
        let sets: Vec<Vec<u64>> = (0..300).map(set).collect();
        let similarity = all("0.9".parse().unwrap(), 1)[0];
        assert_eq!(stars(similarity, &sets, None), (vec![0; 300], 299));
    }
}
