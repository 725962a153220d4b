//! Which way through an index is the cheapest for the sets at hand, by a sample of them.
//!
//! What is chosen decides how long a join takes, never what it finds.

use super::Purpose;
use super::bitmap::Signature;
use super::bitmap_index::{BitmapCoverage, bitmap_coverage};
use super::build::indexed;
use super::verify::{merge_steps, prefix};
use crate::hash::pseudo_random;
use crate::join::sets::Sets;
use crate::similarity::{SetSimilarity, Similarity};
use crate::threads::each;
use std::fmt;
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

impl JoinStrategy {
    /// All that there are.
    pub fn all() -> impl Iterator<Item = Self> {
        let lists = CHOICES.map(|common| (common, false));
        let ways = lists.into_iter().chain([(1, true)]);
        ways.flat_map(|(common, bitmaps)| [false, true].map(|words| Self { common, bitmaps, words }))
    }

    /// What a self-join of the range takes where nothing else is asked for.
    pub fn of(sets: &Sets, range: Range<usize>, similarity: Similarity, threads: usize) -> Self {
        let coverage = bitmap_coverage(sets, range.clone());
        cheapest(sets, range, similarity, coverage, true, threads)
    }
}

/// `lists`, with the number of common tokens where it is not 1, or `bitmaps`; `+words` behind it.
impl fmt::Display for JoinStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.bitmaps, self.common) {
            (true, _) => f.write_str("bitmaps")?,
            (false, 1) => f.write_str("lists")?,
            (false, common) => write!(f, "lists:{common}")?,
        }
        f.write_str(if self.words { "+words" } else { "" })
    }
}

/// What there is to choose from.
const CHOICES: [u64; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 24];

/// The largest number of common tokens that may be chosen.
pub const MOST: u64 = CHOICES[CHOICES.len() - 1];

/// Where the first choice stands that is larger than a number below [`MOST`].
const FIRST_CHOICE: [usize; MOST as usize] = {
    let mut first = [0; MOST as usize];
    let mut number = 1;
    while number < first.len() {
        first[number] = first[number - 1] + (CHOICES[first[number - 1]] <= number as u64) as usize;
        number += 1;
    }
    first
};

/// What a candidate costs that sizes and bitmaps turn away, in contacts.
const TURNED_AWAY: u128 = 2;

/// What one costs whose sets are looked up, where all sets are in a core's caches and where they lie anywhere in memory.
const VERIFIED: [u128; 2] = [12, 40];

/// What five steps of a merge cost, and how many tokens behind the prefixes are compared as words at the price of a contact.
const FIVE_STEPS: u128 = 2;
const BY_WORDS: u128 = 48;

/// Caches hold so many tokens.
const CACHED: usize = 4 << 20;

/// What it costs to make the words of a set, and of each of its tokens.
const SET_AS_WORDS: u128 = 30;
const TOKEN_AS_WORDS: u128 = 1;

/// How many contacts are held against their bitmaps at the price of one that is counted, and what those cost that pass.
const BITMAPS: u128 = 2;
const PASSING: u128 = 6;

/// What a posting more in the index costs, in contacts.
const POSTING: u128 = 8;

/// Words are made where sets have so many tokens, on average.
const LARGE: usize = 32;

/// Classes of tokens are looked for where sets have so many tokens, on average, and of these one in `IN_PREFIX` or more is in a prefix.
const CLASSES_FROM: usize = 64;
const IN_PREFIX: usize = 6;

/// Smaller collections are joined before a sample would say anything.
const FEWEST: usize = 1000;

/// Each sampled set is held against so many.
const PARTNERS: usize = 16;

/// Costs of a sampled set are counted in so many parts of a contact, for each pair stands for others.
const ONE: usize = 64;

/// Whether an index over so many sets, of so many stored tokens in all, may verify by words.
pub fn may_have_words(stored: usize, sets: usize) -> bool {
    sets >= FEWEST && stored >= LARGE * sets
}

/// Whether to find a collection's [classes of tokens](Sets::classes) costs less than a self-join saves by them: sets are large, and their prefixes no
/// small part of them. Whether there are classes worth it shows on the way.
pub fn classes_pay(sets: &Sets, similarity: Similarity) -> bool {
    let stored: usize = (0..sets.len()).map(|set| sets.stored(set)).sum();
    let prefixes =
        || indexed(sets, 0..sets.len(), similarity, Purpose::SelfJoin, 1).map(|(_, prefix)| prefix.len());
    stored >= CLASSES_FROM * sets.len().max(1) && prefixes().sum::<usize>() >= stored / IN_PREFIX
}

/// The way that a self-join of the range costs least; with words only where they are `allowed`.
pub(super) fn cheapest(
    sets: &Sets,
    range: Range<usize>,
    similarity: Similarity,
    coverage: BitmapCoverage,
    allowed: bool,
    threads: usize,
) -> JoinStrategy {
    let bitmaps = coverage != BitmapCoverage::Little;
    let plain = JoinStrategy { common: 1, bitmaps, words: false };
    if coverage == BitmapCoverage::Exact || range.len() < FEWEST {
        return plain;
    }
    let costs = Costs::of_sample(sets, range.clone(), similarity, threads);
    let stored: usize = range.clone().map(|set| sets.stored(set)).sum();
    let words = allowed && may_have_words(stored, range.len());
    let ways = JoinStrategy::all().filter(|way| (bitmaps || !way.bitmaps) && (words || !way.words));
    // The first of the cheapest ones.
    ways.min_by_key(|way| costs.of(*way, range.len() as u128, stored)).unwrap_or(plain)
}

/// Where a number of common tokens stands in what there is to choose from.
fn rank(common: u64) -> usize {
    CHOICES.iter().position(|choice| *choice == common).unwrap_or(0)
}

#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    contacts: u128,
    /// Candidates that sizes and bitmaps turn away.
    turned_away: u128,
    /// Those whose sets are looked up.
    verified: u128,
    /// The tokens behind both prefixes of these.
    behind: u128,
    /// The steps of merging them.
    steps: u128,
}

impl Cost {
    fn and(&mut self, more: &Self) {
        self.contacts += more.contacts;
        self.turned_away += more.turned_away;
        self.verified += more.verified;
        self.behind += more.behind;
        self.steps += more.steps;
    }
}

/// What the pairs of a range cost, by way.
#[derive(Debug, Default)]
struct Costs {
    /// By number of common tokens.
    lists: [Cost; CHOICES.len()],
    /// The contacts with one common token that bitmaps let pass.
    passing: u128,
}

impl Costs {
    /// What all pairs of a range cost, estimated by a sample: pairs at even distances, about one for every four sets, so that merging them costs less
    /// than reading the sets does.
    fn of_sample(sets: &Sets, range: Range<usize>, similarity: Similarity, threads: usize) -> Self {
        let samples = (range.len() / 4).div_ceil(PARTNERS);
        let of = |sample: usize| {
            let x = range.start + (range.len() * sample / samples).saturating_sub(1);
            let smallest = similarity.min_partner(sets.size(x) as u64);
            let first = sets.count_up_to(smallest.saturating_sub(1)).max(range.start);
            let left = x.saturating_sub(first);
            let partners = PARTNERS.min(left);
            let mut costs = Costs::default();
            for partner in 0..partners {
                // Anywhere in its share: sets that are alike are as large, and stand close together.
                let anywhere = pseudo_random((x * PARTNERS + partner) as u64) as usize % left;
                let y = first + (left * partner + anywhere) / partners;
                costs.add(sets, x, y, similarity);
            }
            // They stand for all partners that the length filter leaves.
            costs.scale(left * ONE, partners);
            costs
        };
        let mut costs = Costs::default();
        each(1..samples + 1, threads, of).iter().for_each(|of| costs.and(of));
        costs.scale(range.len(), samples * ONE);
        costs
    }

    /// What a join of so many sets, with so many stored tokens in all, costs by a way, in contacts.
    fn of(&self, way: JoinStrategy, sets: u128, stored: usize) -> u128 {
        let Cost { contacts, turned_away, verified, behind, steps } = self.lists[rank(way.common)];
        let met = if way.bitmaps {
            contacts / BITMAPS + PASSING * self.passing
        } else {
            contacts + TURNED_AWAY * turned_away
        };
        let verifying = VERIFIED[usize::from(stored > CACHED)] * verified
            + if way.words { behind / BY_WORDS } else { steps * FIVE_STEPS / 5 };
        let postings = POSTING * u128::from(way.common - 1) * sets;
        let words = if way.words { SET_AS_WORDS * sets + TOKEN_AS_WORDS * stored as u128 } else { 0 };
        met + verifying + postings + words
    }

    /// Adds what other pairs cost.
    fn and(&mut self, other: &Self) {
        self.lists.iter_mut().zip(&other.lists).for_each(|(cost, more)| cost.and(more));
        self.passing += other.passing;
    }

    /// Multiplies by a fraction.
    fn scale(&mut self, numerator: usize, denominator: usize) {
        let scale = |cost: &mut u128| *cost = *cost * numerator as u128 / denominator.max(1) as u128;
        scale(&mut self.passing);
        for Cost { contacts, turned_away, verified, behind, steps } in &mut self.lists {
            [contacts, turned_away, verified, behind, steps].into_iter().for_each(scale);
        }
    }

    /// Adds what a pair costs.
    fn add(&mut self, sets: &Sets, x: usize, y: usize, similarity: Similarity) {
        let (a, b) = (sets.get(x), sets.get(y));
        let needed = similarity.overlap_needed(sets.size(x) as u64, sets.size(y) as u64);
        // Contacts, and the tokens that they count, by the first choice whose prefixes hold them; then of that and all before.
        let (mut contacts, mut shared) = ([0_u32; CHOICES.len()], [0_u32; CHOICES.len()]);
        let (mut i, mut j) = (0, 0);
        // No prefix reaches a place from which fewer are left.
        let fewest = needed.saturating_sub(MOST - 1) as usize;
        while i + fewest <= a.len() && j + fewest <= b.len() {
            let (Some(u), Some(v)) = (a.get(i), b.get(j)) else { break };
            match u.cmp(v) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    let left = (a.len() - i).min(b.len() - j) as u64;
                    let first = FIRST_CHOICE[needed.saturating_sub(left) as usize];
                    let of_class = 1 + sets.classes().rest_of_class(*u);
                    contacts[first] += 1;
                    shared[first] += of_class as u32;
                    (i, j) = (i + of_class, j + of_class);
                }
            }
        }
        for next in 1..CHOICES.len() {
            contacts[next] += contacts[next - 1];
            shared[next] += shared[next - 1];
        }
        let lists = || shared.iter().zip(CHOICES);
        for (cost, count) in self.lists.iter_mut().zip(contacts) {
            cost.contacts += u128::from(count);
        }
        let is_candidate = |count: u32, common: u64| u64::from(count) >= common.min(needed);
        if !lists().any(|(count, common)| is_candidate(*count, common)) {
            return;
        }
        let signature = |set: usize| Signature::of(sets.get(set), sets.singleton(set));
        let passes = signature(x).most_shared(signature(y)) >= needed;
        self.passing += if passes { u128::from(contacts[0]) } else { 0 };
        let needed = usize::try_from(needed).unwrap_or(usize::MAX);
        let mut steps = None;
        for (cost, (count, common)) in self.lists.iter_mut().zip(lists()) {
            if !is_candidate(*count, common) {
                continue;
            }
            if !passes {
                cost.turned_away += 1;
                continue;
            }
            let behind = |set: &[u32]| set.len() - prefix(set.len(), needed, common as usize);
            cost.verified += 1;
            cost.behind += (behind(a) + behind(b)) as u128;
            cost.steps += u128::from(*steps.get_or_insert_with(|| merge_steps(a, b, needed)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::corpus;
    use super::*;
    use crate::similarity::tau::Tau;

    /// What the pairs of a collection cost, and what a sample says of that.
    fn truth_and_told(sets: &Sets, similarity: Similarity) -> [Cost; 2] {
        let mut all = Costs::default();
        for x in 0..sets.len() {
            let smallest = similarity.min_partner(sets.size(x) as u64);
            let first = sets.count_up_to(smallest.saturating_sub(1));
            (first..x).for_each(|y| all.add(sets, x, y, similarity));
        }
        [all.lists[0], Costs::of_sample(sets, 0..sets.len(), similarity, 2).lists[0]]
    }

    /// Sizes of one to four hundred at .9: the length filter leaves a few pairs in a hundred, which the sample must not take for all.
    #[test]
    fn a_sample_tells_what_all_pairs_cost() {
        let sets = corpus(7, 4_000, 900, 400, true, 0);
        for (tau, least) in [("0.9", 10_000), ("0.5", 1_000_000)] {
            let similarity: Similarity = tau.parse::<Tau>().unwrap().into();
            let [truth, told] = truth_and_told(&sets, similarity).map(|cost| cost.contacts);
            assert!(truth > least, "{tau}: {truth} contacts say nothing");
            assert!(told < 2 * truth && truth < 2 * told, "{tau}: {truth} contacts, {told} by the sample");
        }
    }

    /// Copies of one size stand close together, where pairs at even distances pass over them.
    #[test]
    fn a_sample_meets_neighbours() {
        let mut sets = Sets::default();
        (0..4_000)
            .for_each(|set| sets.push(&(0..20).map(|token| set / 100 * 20 + token).collect::<Vec<_>>()));
        let [truth, told] = truth_and_told(&sets, "0.8".parse::<Tau>().unwrap().into());
        assert_eq!((truth.verified, truth.steps), (40 * 100 * 99 / 2, 40 * 100 * 99 / 2 * 6));
        assert!(told.verified < 2 * truth.verified && truth.verified < 2 * told.verified, "{told:?}");
        assert_eq!(told.steps / told.verified, 6);
    }
}
