//! A collection of sets as two flat arrays.

mod classes;

use super::memory;
use crate::threads::each;
use classes::Numbering;
pub use classes::TokenClasses;
use std::ops::Range;

/// Sets of token numbers, stored one after the other (compressed rows).
///
/// The order is part of the type, for a join gets its speed from it:
/// - within a set, token numbers ascend strictly;
/// - token numbers ascend with document frequency, so that a set starts with its rarest tokens (any
///   numbering gives the same answer, this one the shortest posting lists);
/// - sets ascend by size; sets of one size stand in the caller's order, which decides which of two
///   is "the earlier" in a pair.
///
/// A token that stands in one set alone matches nothing. Of such *singletons*, the rarest of all, a set
/// need only know how many it has: they are part of its size and need not be stored. The page of the
/// [kernel](super::kernel) says what follows from that.
///
/// A collection holds at most `u32::MAX` sets of at most `u32::MAX` tokens each.
///
/// ```
/// use twinsplit_core::join::sets::Sets;
/// let mut sets = Sets::with_capacity(2, 5);
/// sets.push(&[3, 7]);
/// sets.push(&[0, 3, 7]);
/// sets.push_with_singletons(&[3], 4);
/// assert_eq!((sets.len(), sets.size(1), sets.get(0)), (3, 3, &[3, 7][..]));
/// assert_eq!((sets.size(2), sets.get(2)), (5, &[3][..]));
/// ```
#[derive(Clone, Debug)]
pub struct Sets {
    /// Where each set starts in `tokens`, and at the end where the last one ends.
    offsets: Vec<usize>,
    tokens: Vec<u32>,
    /// With singleton tokens.
    sizes: Vec<u32>,
    classes: TokenClasses,
}

impl Default for Sets {
    fn default() -> Self {
        Sets::with_capacity(0, 0)
    }
}

impl Sets {
    /// An empty collection with room for so many sets and, in all of them, so many tokens.
    pub fn with_capacity(sets: usize, tokens: usize) -> Self {
        let mut offsets = Vec::with_capacity(sets + 1);
        offsets.push(0);
        let (tokens, sizes) = (memory::with_capacity(tokens), Vec::with_capacity(sets));
        Sets { offsets, tokens, sizes, classes: TokenClasses::default() }
    }

    /// The sets of these tokens and so many singleton ones each, copied by so many threads. They must keep the order of the
    /// [type](Self).
    ///
    /// # Panics
    /// When there are more than a collection holds.
    pub fn of(rows: &[(&[u32], usize)], threads: usize) -> Self {
        let mut sets = Sets::with_capacity(rows.len(), 0);
        let mut total = 0;
        for (tokens, singleton) in rows {
            total += tokens.len();
            sets.end(total, tokens.len() + singleton);
        }
        let mut tokens = memory::zeros(total);
        each(shares(&sets.offsets, &mut tokens, threads), threads, |(first, offsets, all): Share<'_>| {
            for ((tokens, _), place) in rows[first..].iter().zip(split(offsets, all)) {
                debug_assert!(tokens.is_sorted_by(|a, b| a < b), "tokens out of order");
                place.copy_from_slice(tokens);
            }
        });
        sets.tokens = tokens;
        sets
    }

    /// Gives the tokens new numbers: those that stand in the same sets have numbers one after the other, so that they are
    /// [classes](Self::classes). Where that would spare a join little, tokens keep their numbers, and there are no classes. Whether they have new ones.
    pub fn group_tokens(&mut self, threads: usize) -> bool {
        let Some(numbering) = Numbering::of(self, threads).filter(Numbering::is_worth_it) else {
            return false;
        };
        self.number(&numbering, threads);
        true
    }

    /// What [`group_tokens`](Self::group_tokens) takes for each number that tokens have, in bytes: while it works, and from then on.
    pub fn bytes_to_group(threads: usize) -> (usize, usize) {
        (Numbering::BYTES + threads * Numbering::BYTES_OF_THREAD, 1)
    }

    fn number(&mut self, numbering: &Numbering, threads: usize) {
        let shares = shares(&self.offsets, &mut self.tokens, threads);
        let exact =
            each(shares, threads, |(_, offsets, all): Share<'_>| numbering.apply(split(offsets, all)));
        self.classes =
            if exact.into_iter().all(|exact| exact) { numbering.classes() } else { TokenClasses::default() };
    }

    /// Appends a set, which must keep the order of the [type](Self); a debug build checks that.
    ///
    /// # Panics
    /// When the collection is full.
    pub fn push(&mut self, set: &[u32]) {
        self.push_with_singletons(set, 0);
    }

    /// Appends a set that holds, besides these tokens, so many singleton ones.
    ///
    /// # Panics
    /// When the collection is full.
    pub fn push_with_singletons(&mut self, set: &[u32], singleton: usize) {
        debug_assert!(set.is_sorted_by(|a, b| a < b), "tokens out of order");
        self.tokens.extend_from_slice(set);
        self.end(self.tokens.len(), set.len() + singleton);
    }

    /// Appends all sets of another collection, which must keep the order of the [type](Self).
    ///
    /// # Panics
    /// When the collection is full.
    pub fn append(&mut self, other: &Self) {
        let start = self.tokens.len();
        self.tokens.extend_from_slice(&other.tokens);
        for (end, size) in other.offsets[1..].iter().zip(&other.sizes) {
            self.end(start + end, *size as usize);
        }
    }

    /// Appends tokens to a set that [`end_set`](Self::end_set) completes.
    pub fn extend(&mut self, tokens: impl Iterator<Item = u32>) {
        self.tokens.extend(tokens);
    }

    /// Completes the set of the tokens since the last one, which holds so many singleton ones besides.
    ///
    /// # Panics
    /// When the collection is full.
    pub fn end_set(&mut self, singleton: usize) {
        let start = self.offsets.last().copied().unwrap_or(0);
        debug_assert!(self.tokens[start..].is_sorted_by(|a, b| a < b), "tokens out of order");
        self.end(self.tokens.len(), self.tokens.len() - start + singleton);
    }

    /// Ends a set of this size at this place among the tokens.
    fn end(&mut self, end: usize, size: usize) {
        let full = u32::MAX as usize;
        assert!(self.len() < full && size <= full, "more than 2^32 - 1 sets or tokens");
        debug_assert!(
            self.sizes.last().is_none_or(|&last| last as usize <= size),
            "a set smaller than the one before"
        );
        self.offsets.push(end);
        self.sizes.push(size as u32);
        // The new set may have some tokens of a class, and not others.
        if !self.classes.is_empty() {
            self.classes = TokenClasses::default();
        }
    }

    /// Makes room for so many more sets and tokens, and no more than that.
    pub fn reserve(&mut self, sets: usize, tokens: usize) {
        self.offsets.reserve_exact(sets);
        self.tokens.reserve_exact(tokens);
        self.sizes.reserve_exact(sets);
    }

    /// Takes all sets out; the room for them stays.
    pub fn clear(&mut self) {
        self.offsets.truncate(1);
        self.tokens.clear();
        self.sizes.clear();
        self.classes = TokenClasses::default();
    }

    /// The number of sets.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is no set (one empty set is not none).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tokens of set `i`, ascending, without its singleton ones.
    #[inline]
    pub fn get(&self, i: usize) -> &[u32] {
        &self.tokens[self.offsets[i]..self.offsets[i + 1]]
    }

    /// The tokens of all sets, set after set.
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// The tokens of set `i`, and behind them those of the sets that follow.
    #[inline]
    pub fn get_onwards(&self, i: usize) -> &[u32] {
        &self.tokens[self.offsets[i]..]
    }

    /// Set `i` is asked for soon.
    #[inline]
    pub fn soon(&self, i: usize) {
        memory::soon::<1, _>(&self.offsets, i);
    }

    /// The tokens of set `i` are read soon.
    #[inline]
    pub fn tokens_soon(&self, i: usize) {
        memory::soon::<4, _>(&self.tokens, self.offsets[i]);
    }

    /// The token of set `i` at this place is read soon.
    #[inline]
    pub fn token_soon(&self, i: usize, at: usize) {
        memory::soon::<1, _>(&self.tokens, self.offsets[i] + at);
    }

    /// The number of tokens of set `i` that are stored.
    #[inline]
    pub fn stored(&self, i: usize) -> usize {
        self.offsets[i + 1] - self.offsets[i]
    }

    /// The number of tokens of set `i`, singleton ones included.
    #[inline]
    pub fn size(&self, i: usize) -> usize {
        self.sizes[i] as usize
    }

    /// The number of singleton tokens of set `i`.
    #[inline]
    pub fn singleton(&self, i: usize) -> usize {
        self.size(i) - self.get(i).len()
    }

    /// Which tokens stand in the same sets, as far as [`group_tokens`](Self::group_tokens) found out.
    pub fn classes(&self) -> &TokenClasses {
        &self.classes
    }

    /// The number of sets with at most `size` tokens: where the larger ones start.
    pub fn count_up_to(&self, size: u64) -> usize {
        self.sizes.partition_point(|&own| u64::from(own) <= size)
    }
}

/// Some sets: the number of the first, where each starts and the last one ends, and their tokens.
type Share<'s> = (usize, &'s [usize], &'s mut [u32]);

/// Sets in shares of as many tokens for each thread, for sets ascend by size.
fn shares<'s>(offsets: &'s [usize], tokens: &'s mut [u32], threads: usize) -> Vec<Share<'s>> {
    let (mut shares, mut left) = (Vec::new(), tokens);
    for Range { start, end } in even_ranges(offsets, threads) {
        let own;
        (own, left) = left.split_at_mut(offsets[end] - offsets[start]);
        shares.push((start, &offsets[start..=end], own));
    }
    shares
}

/// So many ranges of rows of about as much each, of where each row starts, from 0, and the last one ends.
pub(in crate::join) fn even_ranges(starts: &[usize], ranges: usize) -> Vec<Range<usize>> {
    let (total, ranges) = (starts.last().copied().unwrap_or(0), ranges.max(1));
    let end =
        |range: usize| starts.partition_point(|start| *start <= total * range / ranges).saturating_sub(1);
    let ends: Vec<usize> = (1..=ranges).map(end).collect();
    [0].iter().chain(&ends).zip(&ends).map(|(start, end)| *start..*end).collect()
}

/// The tokens of each set of a share.
fn split<'s>(offsets: &'s [usize], mut tokens: &'s mut [u32]) -> impl Iterator<Item = &'s mut [u32]> {
    offsets.windows(2).map(move |two| {
        let own;
        (own, tokens) = std::mem::take(&mut tokens).split_at_mut(two[1] - two[0]);
        own
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_sets_apart() {
        let mut sets = Sets::default();
        assert!(sets.is_empty());
        for set in [&[][..], &[], &[4], &[2], &[1, 9]] {
            sets.push(set);
        }
        assert_eq!(sets.len(), 5);
        assert_eq!(sets.get(0), &[] as &[u32]);
        assert_eq!((sets.get(3), sets.get(4)), (&[2][..], &[1, 9][..]));
        let mut more = Sets::default();
        more.push_with_singletons(&[5], 2);
        more.push(&[0, 7, 8, 9]);
        let mut both = sets.clone();
        both.append(&more);
        assert_eq!(
            (both.len(), both.get(4), both.get(5), both.get(6)),
            (7, &[1, 9][..], &[5][..], &[0, 7, 8, 9][..])
        );
        assert_eq!((both.size(5), both.singleton(5), both.tokens().len()), (3, 2, 9));
        let counts: Vec<usize> = (0..4).map(|size| sets.count_up_to(size)).collect();
        assert_eq!(counts, [2, 4, 5, 5]);
        assert_eq!(sets.count_up_to(u64::MAX), 5);
    }

    #[test]
    fn ranges_have_about_as_much_each() {
        let starts = [0, 1, 2, 3, 10];
        assert_eq!(even_ranges(&starts, 1).first(), Some(&(0..4)));
        assert_eq!(even_ranges(&starts, 2), [0..3, 3..4]);
        assert_eq!(even_ranges(&starts, 5), [0..2, 2..3, 3..3, 3..3, 3..4]);
        assert_eq!(even_ranges(&[0], 2), [0..0, 0..0]);
        assert_eq!(even_ranges(&[0, 0, 0], 0).first(), Some(&(0..2)));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "out of order")]
    fn notices_tokens_out_of_order() {
        Sets::default().push(&[2, 1]);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "smaller")]
    fn notices_sets_out_of_order() {
        let mut sets = Sets::default();
        sets.push(&[1, 2]);
        sets.push(&[1]);
    }
}
