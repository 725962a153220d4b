//! Tokens that stand in the same sets, numbered one after the other.
//!
//! Who copies a passage copies all of its shingles: they stand in the same documents, and each has a posting list of its own that says the same. Such
//! tokens are a *class*, an equivalence class of "stands in the same sets". A join needs one list for a class, whose postings count as many tokens as
//! the class has.
//!
//! 1. Each set has a pseudo-random number, and each token the sum of those of its sets, modulo 2⁶⁴. Tokens of the same sets have the same sum.
//! 2. Tokens of one sum get numbers one after the other, in the order of the first token of each sum.
//! 3. Each set is checked while its tokens are numbered anew: it must have all tokens of a sum, or none. Should different tokens have the
//!    same sum by chance, the sets keep their new numbers, and there are no classes.

use super::Sets;
use crate::hash::pseudo_random;
use crate::join::kernel::{token_shares, within};
use crate::join::memory;
use crate::threads::each;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// Larger classes are cut into those of so many tokens.
const MOST: usize = 1 << u8::BITS;

/// Tokens are numbered anew where they are so many times as many as their classes, or more.
const WORTH: (usize, usize) = (5, 4);

/// Which tokens are of one class. By default each is one of its own.
#[derive(Clone, Debug, Default)]
pub struct TokenClasses {
    /// By token, how many of its class come behind it; 0 for those that are missing.
    behind: Arc<[u8]>,
}

impl TokenClasses {
    /// Whether each token is one of its own.
    pub fn is_empty(&self) -> bool {
        self.behind.is_empty()
    }

    /// How many tokens of a token's class come behind it.
    #[inline]
    pub fn rest_of_class(&self, token: u32) -> usize {
        self.behind.get(token as usize).map_or(0, |behind| usize::from(*behind))
    }

    /// How many of some of a set's tokens, one after the other, are the first of a class.
    #[inline]
    pub fn count(&self, tokens: &[u32]) -> usize {
        if self.is_empty() { tokens.len() } else { self.first_tokens(tokens).count() }
    }

    /// Of some of a set's tokens, one after the other, those that are the first of a class: where each stands, the token, and how many its class has.
    #[inline]
    pub fn first_tokens(&self, tokens: &[u32]) -> impl Iterator<Item = (usize, u32, usize)> {
        // A class that has begun before them is passed over.
        let begun = |token: &&u32| token.checked_sub(1).is_some_and(|before| self.rest_of_class(before) > 0);
        let mut next = tokens.first().filter(begun).map_or(0, |token| 1 + self.rest_of_class(*token));
        std::iter::from_fn(move || {
            let (at, token) = (next, *tokens.get(next)?);
            let count = 1 + self.rest_of_class(token);
            next += count;
            Some((at, token, count))
        })
    }
}

/// Marks a token that is not the first of its class.
const LATER: u32 = 1 << 31;

/// No class, and no set.
const NONE: u32 = u32::MAX;

/// New numbers for the tokens of a collection.
pub(super) struct Numbering {
    /// By token its class, with [`LATER`] where it is not the first. Tokens of no set are a class as well.
    classes: Vec<u32>,
    /// By class its first number, and at the end one more than the last of all.
    starts: Vec<u32>,
}

impl Numbering {
    /// What it takes for each token while it is made, at most: the sum, the class, a class's first number, and the table by sum, which has up to 16/7 places
    /// of 17 bytes for each sum while there is another one of half the size.
    pub const BYTES: usize = 8 + 4 + 4 + 17 * 24_usize.div_ceil(7);

    /// What each thread takes besides that applies it.
    pub const BYTES_OF_THREAD: usize = 4;

    /// That of the tokens of a collection; `None` where they are more than can be numbered.
    pub fn of(sets: &Sets, threads: usize) -> Option<Self> {
        Self::by(&sums(sets, threads))
    }

    /// Numbers tokens of one sum one after the other.
    fn by(sums: &[u64]) -> Option<Self> {
        if sums.len() >= LATER as usize {
            return None;
        }
        let mut by_sum: FxHashMap<u64, u32> = FxHashMap::default();
        let (mut classes, mut starts) = (memory::with_capacity(sums.len()), Vec::new());
        // Neighbours are often of one class.
        let mut last = (0, NONE);
        for &sum in sums {
            if sum != last.0 || last.1 == NONE {
                let next = starts.len() as u32;
                last = (sum, *by_sum.entry(sum).or_insert(next));
                if last.1 == next {
                    starts.push(0_u32);
                }
            }
            let class = last.1;
            let count = &mut starts[class as usize];
            classes.push(if *count == 0 { class } else { class | LATER });
            *count += 1;
        }
        let mut next = 0;
        for start in &mut starts {
            (*start, next) = (next, next + *start);
        }
        starts.push(next);
        Some(Numbering { classes, starts })
    }

    /// Whether tokens are [`WORTH`] times as many as their classes.
    pub fn is_worth_it(&self) -> bool {
        self.classes.len() * WORTH.1 >= (self.starts.len() - 1) * WORTH.0
    }

    /// The classes.
    pub fn classes(&self) -> TokenClasses {
        let mut behind = vec![0; self.classes.len()];
        for two in self.starts.windows(2) {
            for class in behind[two[0] as usize..two[1] as usize].chunks_mut(MOST) {
                (0..=u8::MAX).zip(class.iter_mut().rev()).for_each(|(behind, place)| *place = behind);
            }
        }
        TokenClasses { behind: behind.into() }
    }

    /// Gives the tokens of some sets their numbers, ascending in each; whether each set has all tokens of a sum, or none.
    pub fn apply<'s>(&self, sets: impl Iterator<Item = &'s mut [u32]>) -> bool {
        // By class, the last set that has it.
        let mut seen = vec![NONE; self.starts.len()];
        let (mut tokens, mut by_token) = (Vec::new(), None);
        for (number, set) in (0..).zip(sets) {
            tokens.clear();
            tokens.extend_from_slice(set);
            if self.write_classes(number, &mut seen, &tokens, set).is_some_and(|count| count == set.len()) {
                continue;
            }
            let by_token = by_token.get_or_insert_with(|| self.by_token());
            set.iter_mut().zip(&tokens).for_each(|(place, token)| *place = by_token[*token as usize]);
            set.sort_unstable();
        }
        by_token.is_none()
    }

    /// Writes the numbers of all classes whose first token a set has, and says how many they are: `None` where another token is of no such class,
    /// or there is no room for them. If they are as many as the set's tokens, they are these tokens' own.
    #[inline]
    fn write_classes(
        &self,
        set: u32,
        seen: &mut [u32],
        tokens: &[u32],
        numbers: &mut [u32],
    ) -> Option<usize> {
        let (mut end, mut last) = (0, NONE);
        for &token in tokens {
            let class = self.classes[token as usize];
            if class & LATER == 0 {
                let own = self.starts[class as usize]..self.starts[class as usize + 1];
                let places = numbers.get_mut(end..end + own.len())?;
                end += own.len();
                places.iter_mut().zip(own).for_each(|(place, number)| *place = number);
                seen[class as usize] = set;
                last = class | LATER;
            } else if class != last {
                last = class;
                if seen[(class & !LATER) as usize] != set {
                    return None;
                }
            }
        }
        Some(end)
    }

    /// By token its number.
    #[cold]
    fn by_token(&self) -> Vec<u32> {
        let mut next = self.starts.clone();
        let of = |class: &u32| {
            let next = &mut next[(class & !LATER) as usize];
            *next += 1;
            *next - 1
        };
        self.classes.iter().map(of).collect()
    }
}

/// By token, the sum of its sets' pseudo-random numbers.
fn sums(sets: &Sets, threads: usize) -> Vec<u64> {
    let rows = || (0..sets.len()).map(|set| sets.get(set));
    let end = rows().filter_map(<[u32]>::last).max().map_or(0, |last| *last as usize + 1);
    let mut sums = memory::zeros(end);
    let (mut work, mut left) = (Vec::new(), &mut sums[..]);
    for share in token_shares(rows(), threads) {
        let first = share.start.saturating_mul(64);
        let (own, others) = left.split_at_mut(share.end.saturating_mul(64).min(end).saturating_sub(first));
        work.push((share, first as u32, own));
        left = others;
    }
    each(work, threads, |(share, first, sums): (Range<usize>, u32, &mut [u64])| {
        for (number, tokens) in (0..).zip(rows()) {
            let number = pseudo_random(number);
            for token in &tokens[within(tokens, &share)] {
                let sum = &mut sums[(token - first) as usize];
                *sum = sum.wrapping_add(number);
            }
        }
    });
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    type Rows = Vec<(Vec<u32>, usize)>;

    /// Sets that each have some classes, of these sizes; tokens of a class are far apart.
    fn rows(sets: &[BTreeSet<usize>], sizes: &[u32]) -> Rows {
        let mut rows: Rows = sets
            .iter()
            .map(|set| {
                let class =
                    |class: usize| (0..sizes[class % sizes.len()]).map(move |nth| nth * 50 + class as u32);
                let mut row: Vec<u32> = set.iter().flat_map(|own| class(*own)).collect();
                row.sort_unstable();
                (row, set.len() % 3)
            })
            .collect();
        rows.sort_by_key(|(row, singleton)| row.len() + singleton);
        rows
    }

    fn sets_of(rows: &Rows) -> Sets {
        let mut sets = Sets::default();
        rows.iter().for_each(|(row, singleton)| sets.push_with_singletons(row, *singleton));
        sets
    }

    /// By token the rows that have it.
    fn places<'r>(rows: impl Iterator<Item = &'r [u32]>) -> BTreeMap<u32, Vec<usize>> {
        let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (row, tokens) in rows.enumerate() {
            tokens.iter().for_each(|token| places.entry(*token).or_default().push(row));
        }
        places
    }

    /// Whether sets are the rows with other numbers: as many tokens stand in the same ones.
    fn are_renumbered(sets: &Sets, rows: &Rows) -> Result<(), TestCaseError> {
        let all = || (0..sets.len()).map(|set| sets.get(set));
        prop_assert!(all().all(|set| set.is_sorted_by(|a, b| a < b)));
        let sizes: Vec<usize> = (0..sets.len()).map(|set| sets.size(set)).collect();
        prop_assert_eq!(sizes, rows.iter().map(|(row, singleton)| row.len() + singleton).collect::<Vec<_>>());
        let of = |places: BTreeMap<u32, Vec<usize>>| {
            let mut of: Vec<Vec<usize>> = places.into_values().collect();
            of.sort_unstable();
            of
        };
        prop_assert_eq!(of(places(all())), of(places(rows.iter().map(|row| &row.0[..]))));
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        /// Tokens are of one class exactly if they stand in the same sets, up to the largest class there is.
        #[test]
        fn classes_are_the_tokens_of_the_same_sets(
            sets in prop::collection::vec(prop::collection::btree_set(0usize..40, 0..6), 0..20),
            sizes in prop::collection::vec(prop_oneof![8 => 1u32..5, 1 => Just(256), 1 => Just(300), 1 => Just(600)], 1..5), threads in 1usize..4, from: u16,
        ) {
            let rows = rows(&sets, &sizes);
            let mut grouped = sets_of(&rows);
            let numbering = Numbering::of(&grouped, threads).unwrap();
            grouped.number(&numbering, threads);
            are_renumbered(&grouped, &rows)?;
            let places = places((0..grouped.len()).map(|set| grouped.get(set)));
            let of: BTreeMap<&Vec<usize>, usize> =
                places.values().collect::<BTreeSet<_>>().into_iter().zip(0..).collect();
            let end = places.last_key_value().map_or(0, |(token, _)| *token as usize + 1);
            let mut kinds = vec![None; end];
            places.iter().for_each(|(token, own)| kinds[*token as usize] = Some(of[own]));
            let is_same = |x: u32, y: u32| {
                let kind = |token: u32| kinds.get(token as usize).copied().flatten();
                kind(x).is_some() && kind(x) == kind(y)
            };
            for &token in places.keys() {
                let before = (1..=token).take_while(|back| is_same(token, token - back)).count();
                let behind = (1..).take_while(|on| is_same(token, token + on)).count();
                let in_class = before % MOST;
                prop_assert_eq!(grouped.classes().rest_of_class(token), behind.min(MOST - 1 - in_class));
            }
            // None of them stands elsewhere.
            let runs = places.keys().filter(|token| **token == 0 || !is_same(**token - 1, **token)).count();
            prop_assert_eq!(runs, of.len());
            for set in 0..grouped.len() {
                let tokens = grouped.get(set);
                let from = usize::from(from) % (tokens.len() + 1);
                let is_first = |token: u32| token == 0 || grouped.classes().rest_of_class(token - 1) == 0;
                let expected: Vec<(usize, u32, usize)> = (0..)
                    .zip(&tokens[from..])
                    .filter(|(_, token)| is_first(**token))
                    .map(|(at, token)| (at, *token, 1 + grouped.classes().rest_of_class(*token)))
                    .collect();
                prop_assert_eq!(grouped.classes().count(&tokens[from..]), expected.len());
                prop_assert_eq!(grouped.classes().first_tokens(&tokens[from..]).collect::<Vec<_>>(), expected);
            }
        }

        /// Tokens of one sum that do not stand in the same sets are no class, and lose nothing.
        #[test]
        fn equal_sums_do_no_harm(
            sets in prop::collection::vec(prop::collection::btree_set(0usize..12, 1..6), 2..20), kinds in 1u64..9, threads in 1usize..4,
        ) {
            let rows = rows(&sets, &[1, 2]);
            let mut grouped = sets_of(&rows);
            let wrong: Vec<u64> = sums(&grouped, 1).iter().map(|sum| sum % kinds).collect();
            let numbering = Numbering::by(&wrong).unwrap();
            grouped.number(&numbering, threads);
            are_renumbered(&grouped, &rows)?;
            let places = places((0..grouped.len()).map(|set| grouped.get(set)));
            for &token in places.keys() {
                for on in 1..=grouped.classes().rest_of_class(token) as u32 {
                    prop_assert_eq!(&places[&token], &places[&(token + on)]);
                }
            }
        }
    }

    /// Where few tokens stand in the same sets, they keep their numbers.
    #[test]
    fn tokens_without_company_keep_their_numbers() {
        let alone: Rows = (0..40).map(|set| (vec![set, set + 1, set + 3], 0)).collect();
        let mut sets = sets_of(&alone);
        sets.group_tokens(2);
        assert!((0..40).all(|set| sets.get(set) == alone[set].0));
        let two: Rows = (0..40).map(|set| (vec![set, set + 1, 100 + set, 101 + set], 0)).collect();
        let mut sets = sets_of(&two);
        sets.group_tokens(2);
        assert_eq!((sets.get(0), sets.get(1)), (&[0, 1, 2, 3][..], &[2, 3, 4, 5][..]));
        assert_eq!((0..4).map(|token| sets.classes().rest_of_class(token)).collect::<Vec<_>>(), [1, 0, 1, 0]);
        // Another set may have one of two.
        sets.push(&[0, 2, 4, 6, 8]);
        assert!(sets.classes().is_empty());
    }
}
