//! Posting lists one after the other, and the way to the one of a token.

use crate::join::memory;
use crate::join::sets::TokenClasses;
use crate::threads::each;
use std::ops::Range;

/// 64 tokens: which of them have a list, and how many lists come before theirs.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    bits: u64,
    before: u32,
}

/// The lists of some tokens.
///
/// Most tokens have none in an index over a slice, or in one over the rare ends of sets. A table of where each
/// token's list starts would be read at random and be mostly empty; a bitmap with a count for each word takes a
/// quarter of a byte for each token there is, and 4 bytes for each list.
#[derive(Debug)]
pub(super) struct Lists<P> {
    words: Vec<Word>,
    /// Where each list starts in `postings`, and at the end where the last one ends.
    starts: Vec<u32>,
    postings: Vec<P>,
}

/// The mean length of the list that a posting of these rows stands in; queries meet lists as postings do.
pub(super) fn mean_length<'r, I: ExactSizeIterator<Item = &'r [u32]>>(
    rows: impl Fn() -> I + Sync,
    classes: &TokenClasses,
    threads: usize,
) -> usize {
    let shares = token_shares(rows(), threads);
    let sums = each(shares.iter(), threads, |share| {
        let mut lengths: Vec<u32> = Vec::new();
        each_first_token(rows(), classes, share, |token| {
            let at = token as usize - 64 * share.start;
            if lengths.len() <= at {
                lengths.resize(at + 1, 0);
            }
            lengths[at] += 1;
        });
        squares(lengths.into_iter())
    });
    mean(sums.into_iter().fold((0, 0), |all, own| (all.0 + own.0, all.1 + own.1)))
}

/// The sum of the squares of some lengths, and of these lengths.
fn squares(lengths: impl Iterator<Item = u32>) -> (u64, u64) {
    lengths
        .fold((0, 0), |(squares, all), length| (squares + u64::from(length).pow(2), all + u64::from(length)))
}

/// The mean length of the list that a posting stands in, of the [sums](squares) of all lists.
fn mean((squares, all): (u64, u64)) -> usize {
    (squares / all.max(1)) as usize
}

impl<P: Copy + Default + Send> Lists<P> {
    /// The lists of the tokens of some rows, on so many threads. In each row tokens ascend; `posting` makes the posting of the
    /// token that stands at a place of a row. Postings of a list come in the order of the rows.
    ///
    /// # Panics
    /// When there are 2^32 postings or more.
    pub fn of<'r, R, I>(
        rows: impl Fn() -> I + Sync,
        classes: &TokenClasses,
        posting: impl Fn(&R, usize) -> P + Sync,
        threads: usize,
    ) -> Self
    where
        I: ExactSizeIterator<Item = (R, &'r [u32])>,
    {
        // Counting sort by token: which tokens, lengths of lists, where they start, then the postings. Every share of the tokens is
        // a stretch of the words, of the lists and of the postings; whoever works at it goes through all rows.
        let tokens = || rows().map(|(_, tokens)| tokens);
        let shares = token_shares(tokens(), threads);
        let found = each(shares.iter(), threads, |share| words_in(tokens(), classes, share));
        let (mut words, mut ends, mut before) = (Vec::new(), Vec::new(), 0);
        for (share, (own, count)) in shares.iter().zip(found) {
            words.resize(share.start.max(words.len()), Word { bits: 0, before });
            words.reserve_exact(own.len());
            words.extend(own.iter().map(|word| Word { before: before + word.before, ..*word }));
            before += count;
            ends.push(before as usize);
        }

        // Behind the place of each list's start is room for where it ends.
        let mut starts = memory::zeros(before as usize + 1);
        let lists = split(&mut starts[1..], &ends);
        let sizes = each(shares.iter().zip(lists), threads, |(share, (first, lengths))| {
            each_first_token(tokens(), classes, share, |token| {
                if let Some(list) = rank(&words, token) {
                    lengths[list - first] += 1;
                }
            });
            lengths.iter().map(|length| *length as usize).sum::<usize>()
        });
        let mut total = 0;
        let end = |size: &usize| {
            total += size;
            total
        };
        let posting_ends: Vec<usize> = sizes.iter().map(end).collect();
        assert!(u32::try_from(total).is_ok(), "more than 2^32 - 1 prefix tokens in one index");

        let mut postings = memory::from_fn(total, threads, |_| P::default());
        let lists = split(&mut starts[1..], &ends);
        let work = shares.iter().zip(lists).zip(split(&mut postings, &posting_ends));
        each(work, threads, |((share, (first_list, ends)), (first, postings))| {
            let mut next = first;
            for end in ends.iter_mut() {
                next += std::mem::replace(end, next as u32) as usize;
            }
            // What stands for a list's end is where its next posting goes, until it is its end.
            for (row, tokens) in rows() {
                let own = within(tokens, share);
                for (at, token, _) in classes.first_tokens(&tokens[own.clone()]) {
                    if let Some(list) = rank(&words, token) {
                        let end = &mut ends[list - first_list];
                        postings[*end as usize - first] = posting(&row, own.start + at);
                        *end += 1;
                    }
                }
            }
        });
        Lists { words, starts, postings }
    }
}

/// Stretches of some values that end at these places: where each starts, and its values.
fn split<'v, T>(mut values: &'v mut [T], ends: &[usize]) -> Vec<(usize, &'v mut [T])> {
    let mut first = 0;
    let stretch = |end: &usize| {
        let own;
        (own, values) = std::mem::take(&mut values).split_at_mut(end - first);
        (std::mem::replace(&mut first, *end), own)
    };
    ends.iter().map(stretch).collect()
}

/// Words of tokens, in shares of about as many postings each.
pub(in crate::join) fn token_shares<'r>(
    rows: impl ExactSizeIterator<Item = &'r [u32]>,
    threads: usize,
) -> Vec<Range<usize>> {
    let mut cuts = vec![0];
    if threads > 1 {
        // A part of some rows, for to sort all tokens of a thousand large ones takes longer than what is shared out.
        let step = rows.len().div_ceil(1024).max(1);
        let mut sample: Vec<u32> = rows.step_by(step).flatten().step_by(32).copied().collect();
        sample.sort_unstable();
        let cut = |share: usize| sample.get(sample.len() * share / threads).map(|token| *token as usize / 64);
        cuts.extend((1..threads).filter_map(cut));
    }
    let ends = cuts.iter().skip(1).copied().chain([usize::MAX]);
    cuts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Where the tokens of a row stand that are in a share.
#[inline]
pub(in crate::join) fn within(tokens: &[u32], share: &Range<usize>) -> Range<usize> {
    let place = |word: usize| match word {
        0 => 0,
        usize::MAX => tokens.len(),
        _ => tokens.partition_point(|token| (*token as usize) < 64 * word),
    };
    place(share.start)..place(share.end)
}

/// Shows the first token of each class in a share's stretch of the rows, once for each row that has it: those tokens have a list.
fn each_first_token<'r>(
    rows: impl Iterator<Item = &'r [u32]>,
    classes: &TokenClasses,
    share: &Range<usize>,
    mut visit: impl FnMut(u32),
) {
    for tokens in rows {
        classes.first_tokens(&tokens[within(tokens, share)]).for_each(|(_, token, _)| visit(token));
    }
}

/// The words of a share, counting lists from its first one, and how many lists it has.
fn words_in<'r>(
    rows: impl Iterator<Item = &'r [u32]>,
    classes: &TokenClasses,
    share: &Range<usize>,
) -> (Vec<Word>, u32) {
    let mut words: Vec<Word> = Vec::new();
    each_first_token(rows, classes, share, |token| {
        let at = token as usize / 64 - share.start;
        if words.len() <= at {
            words.resize(at + 1, Word::default());
        }
        words[at].bits |= 1 << (token % 64);
    });
    let mut count = 0;
    for word in &mut words {
        word.before = count;
        count += word.bits.count_ones();
    }
    (words, count)
}

/// The number of a token's list.
#[inline]
fn rank(words: &[Word], token: u32) -> Option<usize> {
    let word = words.get(token as usize / 64)?;
    let bit = 1_u64 << (token % 64);
    let lower = (word.bits & (bit - 1)).count_ones();
    (word.bits & bit != 0).then_some((word.before + lower) as usize)
}

impl<P: Copy> Lists<P> {
    /// The number of a token's list, `None` when it has none.
    #[inline]
    pub fn rank(&self, token: u32) -> Option<usize> {
        rank(&self.words, token)
    }

    /// Where each list starts among all postings, and at the end where the last one ends.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// It is asked soon where a list stands.
    #[inline]
    pub fn soon(&self, list: usize) {
        memory::soon::<1, _>(&self.starts, list);
    }

    /// Where a list stands among all postings.
    #[inline]
    pub fn range(&self, list: usize) -> Range<usize> {
        self.starts[list] as usize..self.starts[list + 1] as usize
    }

    /// All postings, list by list.
    #[inline]
    pub fn postings(&self) -> &[P] {
        &self.postings
    }

    /// Removes the postings that are not kept; `moved` hears of each other one where it stood and where it stands.
    pub fn retain(&mut self, keep: impl Fn(&P) -> bool, mut moved: impl FnMut(usize, usize)) {
        let (mut to, mut from) = (0, 0);
        for list in 1..self.starts.len() {
            let end = self.starts[list] as usize;
            for at in from..end {
                let posting = self.postings[at];
                if keep(&posting) {
                    self.postings[to] = posting;
                    moved(at, to);
                    to += 1;
                }
            }
            from = end;
            self.starts[list] = to as u32;
        }
        self.postings.truncate(to);
    }

    /// The mean length of the list that a posting stands in.
    pub fn mean(&self) -> usize {
        mean(squares(self.starts.windows(2).map(|two| two[1] - two[0])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        /// Rows of some words of tokens, in shares of any number of threads.
        #[test]
        fn lists_hold_rows_and_places(
            rows in prop::collection::vec(prop::collection::btree_set(0u32..400, 0..12), 0..40), threads in 1usize..6,
        ) {
            let mut expected: BTreeMap<u32, Vec<(usize, usize)>> = BTreeMap::new();
            for (row, tokens) in rows.iter().enumerate() {
                let places = tokens.iter().enumerate();
                places.for_each(|(at, token)| expected.entry(*token).or_default().push((row, at)));
            }
            let rows: Vec<Vec<u32>> = rows.iter().map(BTreeSet::iter).map(|row| row.copied().collect()).collect();
            let lists = Lists::of(|| rows.iter().map(Vec::as_slice).enumerate(), &TokenClasses::default(), |row, at| (*row, at), threads);
            prop_assert_eq!(lists.starts().len(), expected.len() + 1);
            for token in 0..500 {
                let own = lists.rank(token).map(|list| lists.postings()[lists.range(list)].to_vec());
                prop_assert_eq!(own, expected.get(&token).cloned());
            }
            let numbers: Vec<_> = expected.keys().map(|token| lists.rank(*token)).collect();
            prop_assert_eq!(numbers, (0..expected.len()).map(Some).collect::<Vec<_>>());
        }
    }
}
