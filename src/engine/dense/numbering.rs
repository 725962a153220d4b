//! Features become numbers in ascending order of document frequency, by sorting and not by hashing: a table of all
//! distinct features would be visited at random, a sort reads and writes memory in order.
//!
//! Features are dealt out to buckets by their first bits, so that threads sort buckets on their own. In a sorted
//! bucket equal features are neighbours, and the length of a run is the document frequency. Features of one document
//! are numbered as they come; only the others have to be ranked.

use super::corpus::Flat;
use crate::engine::steps::in_threads;
use crate::error::Result;
use std::ops::Range;

/// Buckets are chosen by this many leading bits.
const BUCKET_BITS: u32 = 7;
/// Stands for a feature that is left out.
const NOTHING: u32 = u32::MAX;

/// A feature and where it stands in the flat array of all documents' features.
type Place = (u64, usize);

/// A bucket: its features in order, and the runs of equal ones that are kept.
struct Bucket {
    places: Vec<Place>,
    runs: Vec<Range<usize>>,
    features: u64,
}

/// How many distinct features there were, and how many of them were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Distinct features.
    pub features: u64,
    /// Of these, left out.
    pub left_out: u64,
}

/// Each document's set as numbers: ascending document frequency, features of one document in any fixed order, the
/// others with ties by feature. `keeps` is asked for each feature and its document frequency.
pub fn number(
    features: &Flat<u64>,
    keeps: impl Fn(u64, u64) -> bool + Sync,
    threads: usize,
) -> Result<(Flat<u32>, Counted)> {
    let shares = deal(features.items(), threads)?;
    let buckets = in_threads(1 << BUCKET_BITS, threads, |bucket| {
        let size = shares.iter().map(|share| share[bucket].len()).sum();
        let mut places: Vec<Place> = Vec::with_capacity(size);
        shares.iter().for_each(|share| places.extend_from_slice(&share[bucket]));
        places.sort_unstable();
        let (mut runs, mut start, mut distinct) = (Vec::new(), 0, 0);
        for run in places.chunk_by(|x, y| x.0 == y.0) {
            distinct += 1;
            if keeps(run[0].0, run.len() as u64) {
                runs.push(start..start + run.len());
            }
            start += run.len();
        }
        Ok(Bucket { places, runs, features: distinct })
    })?;
    drop(shares);
    let counted = Counted {
        features: buckets.iter().map(|bucket| bucket.features).sum(),
        left_out: buckets.iter().map(|bucket| bucket.features - bucket.runs.len() as u64).sum(),
    };
    let tokens = tokens(&buckets, features.items().len());
    drop(buckets);
    Ok((gather(features, &tokens, threads)?, counted))
}

/// The places of all features by bucket, for each of some shares of the array.
fn deal(features: &[u64], threads: usize) -> Result<Vec<Vec<Vec<Place>>>> {
    let share = features.len().div_ceil(threads).max(1);
    in_threads(features.len().div_ceil(share), threads, |number| {
        let mut buckets: Vec<Vec<Place>> = vec![Vec::new(); 1 << BUCKET_BITS];
        let start = number * share;
        let end = (start + share).min(features.len());
        for (place, &feature) in (start..end).zip(&features[start..end]) {
            buckets[(feature >> (64 - BUCKET_BITS)) as usize].push((feature, place));
        }
        Ok(buckets)
    })
}

/// The number of the feature at each place.
fn tokens(buckets: &[Bucket], places: usize) -> Vec<u32> {
    let mut tokens = vec![NOTHING; places];
    let mut next = 0;
    let mut shared: Vec<(usize, u64, &[Place])> = Vec::new();
    for bucket in buckets {
        for run in &bucket.runs {
            let run = &bucket.places[run.clone()];
            if let [(_, place)] = run {
                tokens[*place] = next;
                next += 1;
            } else {
                shared.push((run.len(), run[0].0, run));
            }
        }
    }
    shared.sort_unstable_by_key(|(frequency, feature, _)| (*frequency, *feature));
    for (_, _, run) in shared {
        for (_, place) in run {
            tokens[*place] = next;
        }
        next += 1;
    }
    tokens
}

/// The sets, each sorted by number.
fn gather(features: &Flat<u64>, tokens: &[u32], threads: usize) -> Result<Flat<u32>> {
    let share = features.len().div_ceil(threads * 4).max(1);
    let parts = in_threads(features.len().div_ceil(share), threads, |number| {
        let (mut sets, mut set) = (Flat::default(), Vec::new());
        for document in number * share..((number + 1) * share).min(features.len()) {
            set.clear();
            let own = &tokens[features.range(document)];
            set.extend(own.iter().copied().filter(|token| *token != NOTHING));
            set.sort_unstable();
            sets.push(&set);
        }
        Ok(sets)
    })?;
    let mut sets = Flat::default();
    parts.iter().for_each(|part| sets.append(part));
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Equal features have equal numbers, different ones different numbers, and rarer ones smaller numbers.
        #[test]
        fn numbers_follow_frequencies(
            sets in prop::collection::vec(prop::collection::btree_set(0u64..40, 0..12), 0..30),
            threads in 1usize..4, least in 1u64..3,
        ) {
            let spread = |feature: u64| feature.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut flat = Flat::default();
            let mut frequencies: BTreeMap<u64, u64> = BTreeMap::new();
            for set in &sets {
                let features: Vec<u64> = set.iter().map(|f| spread(*f)).collect();
                features.iter().for_each(|f| *frequencies.entry(*f).or_default() += 1);
                flat.push(&features);
            }
            let (numbered, counted) = number(&flat, |_, frequency| frequency >= least, threads).unwrap();
            let left_out = frequencies.values().filter(|f| **f < least).count() as u64;
            prop_assert_eq!(counted, Counted { features: frequencies.len() as u64, left_out });
            let mut of: BTreeMap<u64, u32> = BTreeMap::new();
            for (document, set) in sets.iter().enumerate() {
                let kept: Vec<u64> = set.iter().map(|f| spread(*f)).filter(|f| frequencies[f] >= least).collect();
                prop_assert_eq!(numbered.get(document).len(), kept.len());
                prop_assert!(numbered.get(document).is_sorted());
                for token in numbered.get(document) {
                    let holders = sets.iter().enumerate().filter(|(d, _)| numbered.get(*d).contains(token)).count();
                    let matching = kept.iter().filter(|f| frequencies[*f] == holders as u64).count();
                    prop_assert!(matching > 0, "a number held by {} documents", holders);
                    of.insert(holders as u64, (*token).max(of.get(&(holders as u64)).copied().unwrap_or(0)));
                }
            }
            prop_assert!(of.values().is_sorted(), "{:?}", of);
            // What two documents share is the same in numbers.
            for (x, left) in sets.iter().enumerate() {
                for (y, right) in sets.iter().enumerate() {
                    let shared = left.intersection(right).filter(|f| frequencies[&spread(**f)] >= least).count();
                    let numbers = numbered.get(x).iter().filter(|t| numbered.get(y).contains(t)).count();
                    prop_assert_eq!(shared, numbers);
                }
            }
        }
    }
}
