//! Pairs that are alike in truth, verified 64 tokens at a time.
//!
//! A merge of two large sets that share much is a step, and a branch that nobody can foresee, for every few tokens. An index whose candidates
//! are large and many therefore holds its sets once more, as *words*: the number of a block of 64 tokens, and a bit for each of them. A query
//! puts its own words into a table over all blocks ([`Marks`]), once for all of its candidates. What it shares with one is then a look into the
//! table for each of the candidate's words, of which none waits for another: bits that both have, counted by one instruction where the
//! processor has it.
//!
//! Up to the smaller one of the last tokens of the pair's prefixes all common tokens are counted already (the page of the [kernel](super)
//! says why), so only words from there on are looked at.

use crate::join::memory;
use crate::join::sets::{Sets, even_ranges};
use crate::processor::{self, Instructions, Work};
use crate::threads::{each, fill};
use std::ops::Range;

/// So many candidates ahead the words of one are asked of memory.
const AHEAD: usize = 2;

/// The block of a token, and its bit there.
#[inline(always)]
fn place(token: u32) -> (u32, u64) {
    (token / u64::BITS, 1 << (token % u64::BITS))
}

/// The sets of a range as words.
#[derive(Debug)]
pub(super) struct Words {
    /// By set where its words begin, and at the end where the last one's end.
    starts: Vec<usize>,
    /// By word the number of its block; ascending in each set.
    blocks: Vec<u32>,
    /// By word the tokens that the set has there.
    bits: Vec<u64>,
    /// One more than the largest block.
    end: usize,
}

/// What a word takes.
pub const WORD_BYTES: u64 = 12;

/// How many words the tokens of a set take.
pub fn count(tokens: &[u32]) -> usize {
    // Each token that begins a word, without a branch: where words begin nobody can foresee.
    let behind = tokens.get(1..).unwrap_or_default();
    let begin = tokens.iter().zip(behind).filter(|(before, token)| place(**before).0 != place(**token).0);
    usize::from(!tokens.is_empty()) + begin.count()
}

/// Stands for the block of no token.
const NONE: u32 = u32::MAX;

/// Shows with each token of a set the word that it and those before it make: how many words come before, the block, and the bits so far. Gives how
/// many words there are. No branch: a word is shown anew with each of its tokens.
#[inline]
fn scan_words(tokens: &[u32], mut show: impl FnMut(usize, u32, u64)) -> usize {
    let (mut end, mut last, mut bits) = (0, NONE, 0);
    for &token in tokens {
        let (block, bit) = place(token);
        let begins = block != last;
        end += usize::from(begins);
        bits = if begins { bit } else { bits | bit };
        show(end - 1, block, bits);
        last = block;
    }
    end
}

impl Words {
    pub fn of(sets: &Sets, range: Range<usize>, threads: usize) -> Self {
        let mut starts = vec![0; range.len() + 1];
        fill(&mut starts[1..], threads, |local| count(sets.get(range.start + local)));
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let (mut blocks, mut bits) = (memory::zeros::<u32>(total), memory::zeros::<u64>(total));
        let mut shares = Vec::new();
        let (mut blocks_left, mut bits_left) = (&mut blocks[..], &mut bits[..]);
        for sets in even_ranges(&starts, threads) {
            let own = starts[sets.end] - starts[sets.start];
            let (own_blocks, other_blocks) = blocks_left.split_at_mut(own);
            let (own_bits, other_bits) = bits_left.split_at_mut(own);
            shares.push((range.start + sets.start..range.start + sets.end, own_blocks, own_bits));
            (blocks_left, bits_left) = (other_blocks, other_bits);
        }
        each(shares, threads, |(numbers, blocks, bits): (Range<usize>, &mut [u32], &mut [u64])| {
            let mut end = 0;
            for set in numbers {
                end += scan_words(sets.get(set), |before, block, own| {
                    (blocks[end + before], bits[end + before]) = (block, own);
                });
            }
        });
        let end = blocks.iter().max().map_or(0, |last| *last as usize + 1);
        Words { starts, blocks, bits, end }
    }

    /// Adds to each check what the set shares with the query behind its token.
    pub fn check(&self, marks: &Marks, checks: &mut [Check]) {
        processor::run(Instructions::Popcnt, CountShared { words: self, marks: &marks.words, checks });
    }
}

/// A candidate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Check {
    /// The set, numbered within the index.
    pub set: u32,
    /// The overlap with which it is in the answer.
    pub needed: u32,
    /// Up to this token all that it shares with the query is counted.
    pub upto: u32,
    /// So many.
    pub shared: u32,
}

/// The words of a query, by block; cleared before the next one.
#[derive(Debug, Default)]
pub(super) struct Marks {
    words: Vec<u64>,
    blocks: Vec<u32>,
}

impl Marks {
    /// Holds the tokens of a query, those that an index may have.
    pub fn set(&mut self, tokens: &[u32], index: &Words) {
        for block in self.blocks.drain(..) {
            self.words[block as usize] = 0;
        }
        if self.words.len() < index.end {
            self.words = memory::filled(0, index.end);
        }
        let marks = &mut self.words[..index.end];
        let known = tokens.partition_point(|token| (place(*token).0 as usize) < marks.len());
        self.blocks.resize(known, 0);
        let words = scan_words(&tokens[..known], |before, block, bits| {
            (marks[block as usize], self.blocks[before]) = (bits, block);
        });
        self.blocks.truncate(words);
    }
}

/// What [`Words::check`] does.
struct CountShared<'a> {
    words: &'a Words,
    marks: &'a [u64],
    checks: &'a mut [Check],
}

impl Work for CountShared<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { words, marks, checks } = self;
        for at in 0..checks.len() {
            if let Some(later) = checks.get(at + AHEAD) {
                let start = words.starts[later.set as usize];
                memory::soon::<4, _>(&words.blocks, start);
                memory::soon::<8, _>(&words.bits, start);
            }
            let Check { set, upto, .. } = checks[at];
            let range = words.starts[set as usize]..words.starts[set as usize + 1];
            let (blocks, bits) = (&words.blocks[range.clone()], &words.bits[range]);
            let (block, bit) = place(upto);
            let look = |block: u32| marks.get(block as usize).copied().unwrap_or(0);
            let mut first = blocks.partition_point(|own| *own < block);
            let mut shared = 0;
            // Of the first block only what stands behind the token.
            if blocks.get(first) == Some(&block) {
                shared += (bits[first] & !(bit | (bit - 1)) & look(block)).count_ones();
                first += 1;
            }
            for (block, bits) in blocks[first..].iter().zip(&bits[first..]) {
                shared += (bits & look(*block)).count_ones();
            }
            checks[at].shared += shared;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// What sets share behind a token, counted one by one; queries one after the other, and tokens that no set has.
        #[test]
        fn words_share_what_sets_do(
            mut sets in prop::collection::vec(prop::collection::btree_set(0u32..700, 0..200), 1..20),
            queries in prop::collection::vec((prop::collection::btree_set(0u32..2000, 0..300), 0u32..900), 1..5),
            from in 0usize..20, threads in 1usize..4,
        ) {
            sets.sort_by_key(BTreeSet::len);
            let mut all = Sets::default();
            sets.iter().for_each(|set| all.push(&set.iter().copied().collect::<Vec<_>>()));
            let range = from % sets.len()..sets.len();
            let words = Words::of(&all, range.clone(), threads);
            let blocks = |set: &BTreeSet<u32>| set.iter().map(|token| token / 64).collect::<BTreeSet<_>>().len();
            prop_assert_eq!(words.bits.len(), sets[range.clone()].iter().map(blocks).sum::<usize>());
            let mut marks = Marks::default();
            for (query, upto) in queries {
                marks.set(&query.iter().copied().collect::<Vec<_>>(), &words);
                let of = |set: u32| Check { set, needed: 0, upto, shared: 3 };
                let mut checks: Vec<Check> = (0..range.len() as u32).map(of).collect();
                let mut plain = checks.clone();
                words.check(&marks, &mut checks);
                processor::run(Instructions::Plain, CountShared { words: &words, marks: &marks.words, checks: &mut plain });
                for (found, plain) in checks.iter().zip(plain) {
                    let own = &sets[range.start + found.set as usize];
                    let expected = 3 + own.intersection(&query).filter(|token| **token > upto).count() as u32;
                    prop_assert_eq!((found.shared, plain.shared), (expected, expected));
                }
            }
        }
    }
}
