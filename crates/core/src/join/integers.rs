//! Sets of any integers become a collection for the [kernel](super::kernel): tokens numbered from rare to frequent, sets
//! sorted by size, equal sets once.
//!
//! **Tokens.** A table over all integers that occur counts them, and then holds their numbers. Integers that are too large
//! or too scattered for a table are numbered by first occurrence before. Tokens of one set alone are *singletons*: they get no
//! number, and their sets know only how many they have.
//!
//! **Sets.** A set that has fewer tokens which others have too than the least overlap that any partner asks of it is in
//! no pair, and is left out. In text that is most of them.

use super::kernel::classes_pay;
use super::memory;
use super::sets::Sets;
use crate::similarity::{SetSimilarity, Similarity};
use crate::threads::{each, lock};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use std::sync::Mutex;

/// Sets as they are read: integers in any order, possibly repeated.
#[derive(Clone, Debug, Default)]
pub struct RawSets {
    /// Integers below [`WIDE`]; `WIDE` and the place in `wide` for others.
    tokens: Vec<u32>,
    /// Where each set ends in `tokens`.
    ends: Vec<usize>,
    wide: Vec<u64>,
    /// The largest of `tokens`.
    largest: u32,
}

/// The first integer that does not fit into half of a `u32`.
const WIDE: u32 = 1 << 31;

/// A table may have this many entries, and some for each token read: beyond that integers are scattered.
const TABLE: usize = 1 << 20;
const TABLE_SHARE: usize = 8;

impl RawSets {
    /// Room for so many tokens.
    pub fn with_capacity(tokens: usize) -> Self {
        Self { tokens: Vec::with_capacity(tokens), ..Self::default() }
    }

    /// Adds a token to the set that is being read.
    #[inline]
    pub fn push(&mut self, token: u64) {
        let narrow = if token < u64::from(WIDE) { token as u32 } else { self.widen(token) };
        self.tokens.push(narrow);
    }

    /// Adds a token of at most eight digits.
    #[inline]
    pub fn push_small(&mut self, token: u32) {
        debug_assert!(token < WIDE);
        self.tokens.push(token);
    }

    #[cold]
    fn widen(&mut self, token: u64) -> u32 {
        self.wide.push(token);
        WIDE | (self.wide.len() - 1) as u32
    }

    /// Ends the set; the next token begins another one.
    pub fn end_set(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        self.largest = self.tokens[start..].iter().fold(self.largest, |most, token| most.max(*token));
        self.ends.push(self.tokens.len());
    }

    /// About how many bytes these sets ask of memory until they are joined: as they are read, as a part of a collection, and with their
    /// index; integers that are numbered by a table of their own take a place in that.
    pub fn bytes(&self) -> usize {
        8 * self.tokens.len() + 64 * self.ends.len() + 30 * self.wide.len()
    }

    /// The number of sets.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn sets(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.tokens[start..end])
    }

    /// The sets as they were read.
    pub fn to_lines(&self) -> Vec<Vec<u64>> {
        self.sets().map(|set| set.iter().map(|&token| self.value(token)).collect()).collect()
    }

    fn value(&self, token: u32) -> u64 {
        if token < WIDE { token.into() } else { self.wide[(token - WIDE) as usize] }
    }
}

/// A collection ready to be joined, and where its sets came from.
#[derive(Debug, Default)]
pub struct Collection {
    /// The different sets that may be in a pair with another one, or have equals.
    pub sets: Sets,
    /// The numbers of the sets that were read, from 0, by set of the collection; equal ones ascend.
    members: Vec<u32>,
    /// Where the members of each set begin, and at the end where the last one's end.
    starts: Vec<u32>,
}

impl Collection {
    /// The numbers of the sets that were read and are equal to this one, ascending.
    pub fn members(&self, set: u32) -> &[u32] {
        &self.members[self.starts[set as usize] as usize..self.starts[set as usize + 1] as usize]
    }

    /// Brings sets that were read in parts into order. Together they are fewer than 2^32.
    pub fn new(mut parts: Vec<RawSets>, similarity: Similarity, threads: usize) -> Self {
        let total: usize = parts.iter().map(|part| part.tokens.len()).sum();
        let largest = parts.iter().map(|part| part.largest).max().unwrap_or(0);
        if largest as usize >= TABLE + TABLE_SHARE * total {
            number_by_occurrence(&mut parts);
        }
        let table = number_by_frequency(count(&parts, threads), threads);
        let mut before = 0;
        let parts = parts.into_iter().map(|part| {
            let first = before;
            before += part.len() as u32;
            (first, part)
        });
        let parts = each(parts.collect::<Vec<_>>(), threads, |(first, part): (u32, RawSets)| {
            Part::of(part, first, &table, similarity)
        });
        drop(table);
        arrange(&parts, similarity, threads)
    }
}

/// Replaces integers by the order of their first occurrence.
fn number_by_occurrence(parts: &mut [RawSets]) {
    let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
    for part in parts {
        let mut tokens = std::mem::take(&mut part.tokens);
        for token in &mut tokens {
            let next = numbers.len() as u32;
            *token = *numbers.entry(part.value(*token)).or_insert(next);
        }
        part.tokens = tokens;
        part.largest = (numbers.len() as u32).saturating_sub(1);
    }
}

/// How often each integer occurs.
fn count(parts: &[RawSets], threads: usize) -> Vec<u32> {
    let size =
        parts.iter().filter(|part| !part.tokens.is_empty()).map(|part| part.largest as usize + 1).max();
    let next = Mutex::new(parts.iter());
    // A table for each thread, which takes parts as long as there are any.
    let tables = each(0..threads.clamp(1, parts.len().max(1)), threads, |_| {
        let mut table = memory::zeros(size.unwrap_or(0));
        let take = || lock(&next).next();
        while let Some(part) = take() {
            part.tokens.iter().for_each(|&token| table[token as usize] += 1_u32);
        }
        table
    });
    let mut tables = tables.into_iter();
    let mut sum = tables.next().unwrap_or_default();
    let others: Vec<Vec<u32>> = tables.collect();
    let share = sum.len().div_ceil(threads.max(1)).max(1);
    let shares: Vec<_> = (0..).step_by(share).zip(sum.chunks_mut(share)).collect();
    each(shares, threads, |(first, sum): (usize, &mut [u32])| {
        for other in &others {
            sum.iter_mut().zip(&other[first..]).for_each(|(sum, more)| *sum += more);
        }
    });
    sum
}

/// Stands for a token that occurs once.
const LONE: u32 = u32::MAX;

/// Counting sort by frequency reaches so far; the few tokens that are more frequent are sorted by comparison.
const REACH: usize = 1 << 16;

/// Replaces counts by numbers, from rare to frequent; ties in the order of the integers.
///
/// Each thread has a share of the table. Of equally frequent tokens, those of the first share come first.
fn number_by_frequency(mut table: Vec<u32>, threads: usize) -> Vec<u32> {
    let share = table.len().div_ceil(threads.max(1)).max(1);
    let mut shares = each(table.chunks(share), threads, frequencies);
    let reach = shares.iter().map(|(tokens, _)| tokens.len()).max().unwrap_or(0);
    let mut next = 0;
    for count in 0..reach {
        for tokens in shares.iter_mut().filter_map(|(tokens, _)| tokens.get_mut(count)) {
            let first = next;
            next += *tokens;
            *tokens = first;
        }
    }
    let mut frequent = Vec::new();
    for (first, (_, own)) in (0..).step_by(share).zip(&shares) {
        frequent.extend(own.iter().map(|&(count, token)| (count, first + token)));
    }
    frequent.sort_unstable();
    let work: Vec<_> = table.chunks_mut(share).zip(shares).collect();
    each(work, threads, |(counts, (mut next, _)): (&mut [u32], Frequencies)| {
        for count in counts {
            if *count <= 1 {
                *count = LONE;
            } else if let Some(number) = next.get_mut(*count as usize) {
                *count = *number;
                *number += 1;
            }
        }
    });
    for (number, (_, token)) in (next..).zip(frequent) {
        table[token] = number;
    }
    table
}

/// Of a share of a table, how many tokens have which frequency; above [`REACH`] the frequency and the token itself.
type Frequencies = (Vec<u32>, Vec<(u32, usize)>);

fn frequencies(counts: &[u32]) -> Frequencies {
    let (mut tokens, mut frequent) = (vec![0_u32; 2], Vec::new());
    // Those that get no number are not counted: they are many, and each count of them would wait for the one before.
    for (token, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 1) {
        let at = count as usize;
        if at >= REACH {
            frequent.push((count, token));
            continue;
        }
        if at >= tokens.len() {
            tokens.resize((at + 1).next_power_of_two(), 0);
        }
        tokens[at] += 1;
    }
    (tokens, frequent)
}

/// The number of the token so many places ahead is asked of memory while one is moved.
const AHEAD: usize = 32;

/// Sets that may be in a pair, with their tokens numbered.
struct Part {
    tokens: Vec<u32>,
    rows: Vec<Row>,
}

/// A set of a part.
struct Row {
    /// The number it was read as.
    number: u32,
    size: u32,
    /// Where it stands among the sets of its size: equal ones have the same.
    order: u32,
    start: usize,
    end: usize,
}

impl Part {
    fn of(raw: RawSets, first: u32, table: &[u32], similarity: Similarity) -> Self {
        // Each set moves towards the front, over those that are read.
        let RawSets { mut tokens, ends, .. } = raw;
        let (mut rows, mut from, mut end) = (Vec::new(), 0, 0);
        for (number, to) in (first..).zip(ends) {
            let start = end;
            for at in from..to {
                if let Some(later) = tokens.get(at + AHEAD) {
                    memory::soon::<1, _>(table, *later as usize);
                }
                let token = table[tokens[at] as usize];
                tokens[end] = token;
                // No branch: which tokens are of one set alone nobody can foresee.
                end += usize::from(token != LONE);
            }
            let singleton = to - from - (end - start);
            from = to;
            end = start + sort_and_dedup(&mut tokens[start..end]);
            let (stored, size) = (end - start, (end - start + singleton) as u64);
            let least = similarity.overlap_needed(size, similarity.min_partner(size));
            if size == 0 || (stored as u64) < least {
                end = start;
                continue;
            }
            // Singletons are the set's own: with one, it equals no other.
            let order = if singleton == 0 { hash(&tokens[start..end]) } else { number };
            rows.push(Row { number, size: size as u32, order, start, end });
        }
        tokens.truncate(end);
        Part { tokens, rows }
    }
}

/// Sorts tokens and removes repeats: how many are left, at the front. Most sets come in order.
fn sort_and_dedup(tokens: &mut [u32]) -> usize {
    if tokens.is_sorted_by(|a, b| a < b) {
        return tokens.len();
    }
    tokens.sort_unstable();
    let mut end = 0;
    for at in 0..tokens.len() {
        if end == 0 || tokens[end - 1] != tokens[at] {
            tokens[end] = tokens[at];
            end += 1;
        }
    }
    end
}

/// The same for equal sets, and hardly ever for others.
fn hash(tokens: &[u32]) -> u32 {
    let mut hasher = FxHasher::default();
    tokens.iter().for_each(|&token| hasher.write_u32(token));
    (hasher.finish() >> 32) as u32
}

/// Where a set stands: the key by which it is sorted, the part, and the row there.
type Place = (u64, u32, u32);

/// Sorts sets by size, equal ones next to each other, and stores each different one.
fn arrange(parts: &[Part], similarity: Similarity, threads: usize) -> Collection {
    let mut order: Vec<Place> = Vec::with_capacity(parts.iter().map(|part| part.rows.len()).sum());
    for (at, part) in (0..).zip(parts) {
        let key = |row: &Row| u64::from(row.size) << 32 | u64::from(row.order);
        order.extend((0..).zip(&part.rows).map(|(row, own)| (key(own), at, row)));
    }
    let share = order.len().div_ceil(threads.max(1)).max(1);
    each(order.chunks_mut(share), threads, <[Place]>::sort_unstable);
    // What is sorted in stretches is merged.
    order.sort();

    let row = |&(_, part, row): &Place| &parts[part as usize].rows[row as usize];
    let set = |place: &Place| &parts[place.1 as usize].tokens[row(place).start..row(place).end];
    let mut collection = Collection::default();
    collection.members.reserve(order.len());
    let mut different = Vec::with_capacity(order.len());
    for run in order.chunk_by_mut(|x, y| x.0 == y.0) {
        if run.len() > 1 {
            // Different sets with one hash are rare, and equal ones must be neighbours.
            run.sort_by(|x, y| set(x).cmp(set(y)).then(row(x).number.cmp(&row(y).number)));
        }
        // Singletons are the set's own: with one, it equals no other.
        let equal = |x: &Place, y: &Place| set(x) == set(y) && set(x).len() == row(x).size as usize;
        for equal in run.chunk_by(equal) {
            let first = set(&equal[0]);
            different.push((first, row(&equal[0]).size as usize - first.len()));
            collection.starts.push(collection.members.len() as u32);
            collection.members.extend(equal.iter().map(|place| row(place).number));
        }
    }
    collection.starts.push(collection.members.len() as u32);
    collection.sets = Sets::of(&different, threads);
    if classes_pay(&collection.sets, similarity) {
        collection.sets.group_tokens(threads);
    }
    collection
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        /// Rare ones first, then by the integer; those of one set have no number.
        #[test]
        fn numbers_ascend_by_frequency(
            table in prop::collection::vec(prop_oneof![0u32..5, Just(REACH as u32 - 1), 65_530u32..70_000], 0..60),
            threads in 1usize..6,
        ) {
            let mut order: Vec<usize> = (0..table.len()).filter(|token| table[*token] > 1).collect();
            order.sort_by_key(|token| (table[*token], *token));
            let mut expected = vec![LONE; table.len()];
            (0..).zip(order).for_each(|(number, token)| expected[token] = number);
            prop_assert_eq!(number_by_frequency(table, threads), expected);
        }
    }

    proptest! {
        /// Every line that may be in a pair, once, with its size; equal ones together; for any number of parts and threads.
        #[test]
        fn collections_hold_the_lines(
            lines in prop::collection::vec(prop::collection::btree_set(0u64..12, 0..4), 0..60),
            parts in 1usize..4, threads in 1usize..6,
        ) {
            let similarity = Similarity::Overlap(crate::similarity::overlap::Overlap(1));
            let mut raw: Vec<RawSets> = Vec::new();
            for some in lines.chunks(lines.len().div_ceil(parts).max(1)) {
                let mut part = RawSets::default();
                for line in some {
                    line.iter().for_each(|token| part.push(*token));
                    part.end_set();
                }
                raw.push(part);
            }
            let collection = Collection::new(raw, similarity, threads);
            let mut groups: BTreeMap<(usize, &BTreeSet<u64>), Vec<u32>> = BTreeMap::new();
            let count = |token: &u64| lines.iter().filter(|line| line.contains(token)).count();
            for (number, line) in (0..).zip(&lines) {
                if line.iter().any(|token| count(token) > 1) {
                    groups.entry((line.len(), line)).or_default().push(number);
                }
            }
            let sizes: Vec<usize> = (0..collection.sets.len()).map(|set| collection.sets.size(set)).collect();
            let expected: Vec<usize> = groups.keys().map(|(size, _)| *size).collect();
            prop_assert_eq!(sizes, expected);
            let members: BTreeSet<&[u32]> = (0..collection.sets.len()).map(|set| collection.members(set as u32)).collect();
            prop_assert_eq!(members, groups.values().map(Vec::as_slice).collect::<BTreeSet<_>>());
            for set in 0..collection.sets.len() {
                let line = &lines[collection.members(set as u32)[0] as usize];
                prop_assert_eq!(line.len(), collection.sets.size(set));
                prop_assert_eq!(line.iter().filter(|token| count(token) > 1).count(), collection.sets.get(set).len());
            }
        }
    }

    /// Large sets that share whole passages have classes of tokens, where prefixes are no small part of them.
    #[test]
    fn large_sets_have_classes() {
        for (tau, has_classes) in [("0.5", true), ("0.95", false)] {
            let mut lines = RawSets::default();
            for line in 0..40 {
                let passages = [line % 4, 4 + line % 5, 9 + line % 7];
                passages
                    .iter()
                    .for_each(|passage| (0..30).for_each(|token| lines.push(16 * token + passage)));
                lines.end_set();
            }
            let similarity = crate::similarity::Measure::Jaccard.reaching(tau).unwrap();
            let sets = Collection::new(vec![lines], similarity, 2).sets;
            assert_eq!((sets.len(), sets.stored(0)), (40, 90));
            let behind: Vec<usize> = (0..480).map(|token| sets.classes().rest_of_class(token)).collect();
            assert_eq!(
                behind,
                (0..480).map(|token| if has_classes { 29 - token % 30 } else { 0 }).collect::<Vec<_>>()
            );
        }
    }
}
