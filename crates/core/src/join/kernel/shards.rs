//! Parts of a collection whose indexes stay in a core's caches.

use super::bitmap_index::{BitmapCoverage, bitmap_coverage};
use super::build::indexed;
use super::parallel::{Shard, Source};
use super::{Purpose, lists};
use crate::join::sets::Sets;
use crate::similarity::Similarity;
use std::ops::Range;

/// How many postings should follow, on average, where a list of a part is looked up.
const VISITED: usize = 64;

/// An index of fewer postings is in the caches as it is. Tests join a few dozen sets.
const LEAST: usize = if cfg!(test) { 64 } else { 512 << 10 };

/// Cuts parts of neighbouring sets into smaller ones, where the lists of an index are long enough for that to pay; a join of
/// the parts finds the same pairs. Parts that are dealt out stay as they are. Lists are counted by so many threads.
pub fn index_shards<S: Source>(
    source: &S,
    parts: &[Shard],
    similarity: impl Into<Similarity>,
    threads: usize,
) -> Result<Vec<Shard>, S::Error> {
    let similarity = similarity.into();
    let (mut smaller, mut buffer) = (Vec::new(), Sets::default());
    for part in parts {
        if part.step != 1 || part.first >= part.end {
            smaller.push(*part);
            continue;
        }
        let (sets, base) = source.load(part.first..part.end, &mut buffer)?;
        let ranges = ranges(sets, part.first - base..part.end - base, similarity, threads);
        smaller.extend(ranges.into_iter().map(|range| Shard::range(range.start + base..range.end + base)));
    }
    Ok(smaller)
}

/// Ranges of about as many postings each, of which there is one where all sets together have few postings, or none.
fn ranges(sets: &Sets, range: Range<usize>, similarity: Similarity, threads: usize) -> Vec<Range<usize>> {
    let prefixes = || indexed(sets, range.clone(), similarity, Purpose::SelfJoin, 1);
    let postings = |prefix: &[u32]| sets.classes().count(prefix);
    let total: usize = prefixes().map(|(_, prefix)| postings(prefix)).sum();
    // What an index with exact bitmaps looks at is no list.
    let pieces = if total < 2 * LEAST || bitmap_coverage(sets, range.clone()) == BitmapCoverage::Exact {
        1
    } else {
        (lists::mean_length(|| prefixes().map(|(_, prefix)| prefix), sets.classes(), threads) / VISITED)
            .clamp(1, total / LEAST)
    };
    if pieces == 1 {
        return vec![range];
    }
    let each = total.div_ceil(pieces);
    let (mut ranges, mut start, mut held) = (Vec::new(), range.start, 0);
    for (set, prefix) in prefixes() {
        if held >= each {
            ranges.push(start..set);
            (start, held) = (set, 0);
        }
        held += postings(prefix);
    }
    match ranges.last_mut() {
        // An index of no posting is asked by every later set all the same.
        Some(last) if held == 0 => last.end = range.end,
        _ => ranges.push(start..range.end),
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::tau::Tau;

    /// Every set of `sets` has its own number and some that it shares.
    fn collection(sets: u32, shared: impl Fn(u32) -> Vec<u32>) -> Sets {
        let mut all = Sets::default();
        (0..sets).for_each(|set| all.push(&shared(set)));
        all
    }

    fn cuts(sets: &Sets) -> Vec<Range<usize>> {
        let tau: Tau = "0.5".parse().unwrap();
        let Ok(parts) = index_shards(sets, &[Shard::range(0..sets.len())], tau, 2);
        let ranges: Vec<Range<usize>> = parts.iter().map(|part| part.first..part.end).collect();
        // One after the other, and nothing left out.
        assert!(ranges.windows(2).all(|two| two[0].end == two[1].start && !two[0].is_empty()));
        assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, sets.len()));
        ranges
    }

    #[test]
    fn long_lists_are_cut_into_even_parts() {
        // Ten of a thousand tokens: lists of ten in two thousand sets of two postings each.
        let short = collection(2000, |set| (0..3).map(|n| 3 * (set % 400) + n).collect());
        assert_eq!(cuts(&short).len(), 1);
        // The same number of postings in two lists for each of ten groups: 200 or more in each list.
        let long = collection(4000, |set| (0..3).map(|n| 600 + 3 * (set % 10) + n).collect());
        let parts = cuts(&long);
        assert!(parts.len() > 3, "{parts:?}");
        let sizes: Vec<usize> = parts.iter().map(ExactSizeIterator::len).collect();
        assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 2 * sizes.len(), "{sizes:?}");
    }

    /// Where no set has a posting, or hardly any has, there is nothing to divide.
    #[test]
    fn sets_without_postings_are_not_cut() {
        for count in [500, 1000] {
            // Up to 66 of 100 words may be shared by sets that are no pairs.
            for (shared, singleton) in [(60, 40), (66, 34)] {
                let mut sets = Sets::default();
                let shared: Vec<u32> = (0..shared).collect();
                (0..count).for_each(|_| sets.push_with_singletons(&shared, singleton));
                assert_eq!(cuts(&sets).len(), 1);
                // Two sets with postings, then a thousand without.
                let mut sets = collection(2, |set| (700 + set..799 + set).collect());
                (0..count).for_each(|_| sets.push_with_singletons(&shared, 100 - shared.len()));
                assert_eq!(cuts(&sets).len(), 1);
            }
        }
    }

    /// Larger sets than the rest, with postings and without, add no more parts than they have postings for.
    #[test]
    fn large_sets_and_sets_without_postings_behind_others_add_few_parts() {
        let of_lists =
            |count: u32| collection(count, |set| (0..3).map(|n| 600 + 3 * (set % 10) + n).collect());
        // Six parts of the same number of postings to the last one.
        let parts = cuts(&of_lists(4200)).len();
        assert_eq!(parts, 6);
        let mut sets = of_lists(4200);
        (0..1000).for_each(|_| sets.push_with_singletons(&[1, 2, 3], 7));
        assert_eq!(cuts(&sets).len(), parts);
        for count in [4000, 8000] {
            let mut sets = of_lists(count);
            (0..20).for_each(|set| sets.push(&(1000 * set..1000 * set + 3000).collect::<Vec<u32>>()));
            let postings = count as usize * 2 + 20 * 1001;
            assert!(cuts(&sets).len() <= 1 + postings / LEAST, "{}", cuts(&sets).len());
        }
    }

    #[test]
    fn bitmaps_that_are_exact_need_no_parts() {
        let few = collection(4000, |set| (0..3).map(|n| 3 * (set % 10) + n).collect());
        assert_eq!(cuts(&few).len(), 1);
    }
}
