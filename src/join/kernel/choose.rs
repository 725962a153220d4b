//! How many tokens the prefixes of a pair should have to share, chosen by a sample.
//!
//! What is chosen decides how long a join takes, never what it finds.

use super::dense::Dense;
use crate::join::sets::Sets;
use crate::join::similarity::Similarity;
use std::ops::Range;

/// What there is to choose from.
const CHOICES: [u64; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 24];

/// The most that [`common`] chooses.
pub const MOST: u64 = CHOICES[CHOICES.len() - 1];

/// What a candidate costs, in contacts: its tokens lie anywhere in memory, and are merged.
const CANDIDATE: u128 = 40;

/// What a posting more in the index costs, in contacts.
const POSTING: u128 = 8;

/// Smaller collections are joined before a sample would say anything.
const FEWEST: usize = 1000;

/// Each sampled set is held against so many.
const PARTNERS: usize = 64;

/// The number of common tokens with which a self-join of the range costs least.
///
/// Pairs of sets are taken at even distances, about one for every four sets, so that merging them costs less than reading
/// the sets does. Where bitmaps may be had, they turn candidates away, and one common token will do.
pub fn common(sets: &Sets, range: Range<usize>, similarity: Similarity) -> u64 {
    let (bitmaps, _) = Dense::possible(sets, range.clone());
    if bitmaps || range.len() < FEWEST {
        return 1;
    }
    let samples = (range.len() / 4).div_ceil(PARTNERS);
    let mut costs = [Cost::default(); CHOICES.len()];
    let mut pairs = 0_u128;
    for sample in 1..=samples {
        let x = range.start + (range.len() * sample / samples).saturating_sub(1);
        let smallest = similarity.min_partner(sets.size(x) as u64);
        let first = sets.count_up_to(smallest.saturating_sub(1)).max(range.start);
        for partner in 0..PARTNERS.min(x.saturating_sub(first)) {
            // Odd steps, so that periods of the collection do not show.
            let y = first + (x - first) * (2 * partner + 1) / (2 * PARTNERS);
            look_at(sets, x, y, similarity, &mut costs);
            pairs += 1;
        }
    }
    let all = range.len() as u128;
    let cost = |at: usize| {
        let Cost { contacts, candidates } = costs[at];
        // The sample stands for all pairs: those outside of the length filter cost nothing, and there are not many of them.
        let join = all * all / 2 * (u128::from(contacts) + CANDIDATE * u128::from(candidates)) / pairs.max(1);
        join + POSTING * u128::from(CHOICES[at] - 1) * all
    };
    (0..CHOICES.len()).min_by_key(|at| cost(*at)).map_or(1, |at| CHOICES[at])
}

#[derive(Clone, Copy, Default)]
struct Cost {
    contacts: u32,
    candidates: u32,
}

/// Adds what a pair costs for each choice.
fn look_at(sets: &Sets, x: usize, y: usize, similarity: Similarity, costs: &mut [Cost; CHOICES.len()]) {
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
    for ((cost, count), common) in costs.iter_mut().zip(shared).zip(CHOICES) {
        cost.contacts += count;
        cost.candidates += u32::from(u64::from(count) >= common.min(needed));
    }
}
