//! Which way through an index is the cheapest for the sets at hand, by a sample of them.
//!
//! What is chosen decides how long a join takes, never what it finds.

use super::Purpose;
use super::bitmap::Signature;
use super::bitmap_index::BitmapCoverage;
use super::build::indexed;
use crate::join::sets::Sets;
use crate::similarity::{SetSimilarity, Similarity};
use crate::threads::each;
use std::ops::Range;

/// A way through an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinStrategy {
    /// How many tokens the prefixes of a pair must share.
    pub common: u64,
    /// Whether bitmaps stand beside the postings, where lists are long.
    pub bitmaps: bool,
    /// Whether candidates are verified by words.
    pub words: bool,
}

/// What there is to choose from.
const CHOICES: [u64; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 24];

/// The largest number of common tokens that may be chosen.
pub const MOST: u64 = CHOICES[CHOICES.len() - 1];

/// What a candidate costs, in contacts: its tokens lie anywhere in memory, and are merged.
const CANDIDATE: u128 = 40;

/// How many contacts are turned away by their bitmaps at the price of one that is counted.
const BITMAPS: u128 = 4;

/// What a posting more in the index costs, in contacts.
const POSTING: u128 = 8;

/// Candidates are verified by words where sets have so many tokens behind their prefixes, on average, and so many candidates each.
const LARGE: usize = 32;
const MANY: u128 = 4;

/// Smaller collections are joined before a sample would say anything.
const FEWEST: usize = 1000;

/// Each sampled set is held against so many.
const PARTNERS: usize = 64;

/// Whether an index over so many sets, of so many stored tokens in all, may verify by words.
pub fn may_have_words(stored: usize, sets: usize) -> bool {
    sets >= FEWEST && stored >= LARGE * sets
}

/// The way that a self-join of the range costs least.
///
/// Pairs of sets are taken at even distances, about one for every four sets, so that merging them costs less than reading
/// the sets does.
pub(super) fn cheapest(
    sets: &Sets,
    range: Range<usize>,
    similarity: Similarity,
    coverage: BitmapCoverage,
    threads: usize,
) -> JoinStrategy {
    let bitmaps = coverage != BitmapCoverage::Little;
    if coverage == BitmapCoverage::Exact || range.len() < FEWEST {
        return JoinStrategy { common: 1, bitmaps, words: false };
    }
    let samples = (range.len() / 4).div_ceil(PARTNERS);
    let of = |sample: usize| {
        let mut costs = Costs::default();
        let x = range.start + (range.len() * sample / samples).saturating_sub(1);
        let smallest = similarity.min_partner(sets.size(x) as u64);
        let first = sets.count_up_to(smallest.saturating_sub(1)).max(range.start);
        for partner in 0..PARTNERS.min(x.saturating_sub(first)) {
            // Odd steps, so that periods of the collection do not show.
            let y = first + (x - first) * (2 * partner + 1) / (2 * PARTNERS);
            costs.add(sets, x, y, similarity);
        }
        costs
    };
    let mut costs = Costs::default();
    each(1..samples + 1, threads, of).iter().for_each(|of| costs.and(of));
    let all = range.len() as u128;
    // The sample stands for all pairs: those outside of the length filter cost nothing, and there are not many of them.
    let scaled = |cost: u128| all * all / 2 * cost / costs.pairs.max(1);
    let lists = |at: usize| {
        let Cost { contacts, candidates } = costs.lists[at];
        scaled(contacts + CANDIDATE * candidates) + POSTING * u128::from(CHOICES[at] - 1) * all
    };
    let at = (0..CHOICES.len()).min_by_key(|at| lists(*at)).unwrap_or(0);
    let Cost { contacts, candidates } = costs.bitmaps;
    let with_bitmaps = scaled(costs.lists[0].contacts / BITMAPS + contacts + CANDIDATE * candidates);
    let by_bitmaps = bitmaps && with_bitmaps <= lists(at);
    let (common, candidates) =
        if by_bitmaps { (1, candidates) } else { (CHOICES[at], costs.lists[at].candidates) };
    // Words are made in a pass over all tokens, and pay with a few candidates for each set that are large.
    let behind: usize = indexed(sets, range.clone(), similarity, Purpose::SelfJoin, common)
        .map(|(set, prefix)| sets.stored(set) - prefix.len())
        .sum();
    let words = behind >= LARGE * range.len() && scaled(candidates) >= MANY * all;
    JoinStrategy { common, bitmaps: by_bitmaps, words }
}

#[derive(Clone, Copy, Default)]
struct Cost {
    contacts: u128,
    candidates: u128,
}

/// What the pairs of a sample cost, by way.
#[derive(Default)]
struct Costs {
    pairs: u128,
    /// By number of common tokens, without bitmaps.
    lists: [Cost; CHOICES.len()],
    /// With bitmaps and one common token: what they let pass.
    bitmaps: Cost,
}

impl Costs {
    /// Adds what other pairs cost.
    fn and(&mut self, other: &Self) {
        self.pairs += other.pairs;
        let lists = self.lists.iter_mut().zip(&other.lists);
        for (cost, more) in lists.chain([(&mut self.bitmaps, &other.bitmaps)]) {
            cost.contacts += more.contacts;
            cost.candidates += more.candidates;
        }
    }

    /// Adds what a pair costs.
    fn add(&mut self, sets: &Sets, x: usize, y: usize, similarity: Similarity) {
        self.pairs += 1;
        let (a, b) = (sets.get(x), sets.get(y));
        let needed = similarity.overlap_needed(sets.size(x) as u64, sets.size(y) as u64);
        let mut shared = [0_u32; CHOICES.len()];
        let (mut i, mut j) = (0, 0);
        // No prefix reaches a place from which fewer are left.
        let fewest = needed.saturating_sub(MOST) as usize;
        while i + fewest < a.len() && j + fewest < b.len() {
            match a[i].cmp(&b[j]) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    let left = (a.len() - i).min(b.len() - j) as u64;
                    for (count, common) in shared.iter_mut().zip(CHOICES) {
                        *count += u32::from(left + common > needed);
                    }
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
        for ((cost, count), common) in self.lists.iter_mut().zip(shared).zip(CHOICES) {
            cost.contacts += u128::from(count);
            cost.candidates += u128::from(u64::from(count) >= common.min(needed));
        }
        let signature = |set: usize| Signature::of(sets.get(set), sets.singleton(set));
        if shared[0] > 0 && signature(x).most_shared(signature(y)) >= needed {
            self.bitmaps.contacts += u128::from(shared[0]);
            self.bitmaps.candidates += 1;
        }
    }
}
