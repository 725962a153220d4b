//! Posting lists one after the other, and the way to the one of a token.

use crate::join::memory;
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

/// The mean length of the list that a posting stands in, of lists of these lengths.
pub(super) fn mean(lengths: impl Iterator<Item = u32>) -> usize {
    let add = |(squares, all), length| (squares + u64::from(length).pow(2), all + u64::from(length));
    let (squares, all) = lengths.fold((0, 0), add);
    (squares / all.max(1)) as usize
}

/// Lists that are being filled: the start of a list moves towards its end with each posting.
pub(super) struct Filling<P>(Lists<P>);

impl<P: Copy + Default> Lists<P> {
    /// Makes room for lists; `tokens` are those of all postings, in any order.
    ///
    /// # Panics
    /// When there are 2^32 postings or more.
    pub fn filling(tokens: impl Iterator<Item = u32> + Clone) -> Filling<P> {
        // Counting sort by token: which tokens, lengths of lists, where they start, then the postings.
        let mut words: Vec<Word> = Vec::new();
        for token in tokens.clone() {
            let at = token as usize / 64;
            if words.len() <= at {
                words.resize(at + 1, Word::default());
            }
            words[at].bits |= 1 << (token % 64);
        }
        let mut count = 0;
        for word in &mut words {
            word.before = count;
            count += word.bits.count_ones();
        }
        let mut lists = Lists { words, starts: memory::filled(0, count as usize + 1), postings: Vec::new() };
        let mut total = 0_usize;
        for token in tokens {
            total += 1;
            if let Some(list) = lists.rank(token) {
                lists.starts[list] += 1;
            }
        }
        assert!(u32::try_from(total).is_ok(), "more than 2^32 - 1 prefix tokens in one index");
        let mut next = 0;
        for start in &mut lists.starts {
            next += std::mem::replace(start, next);
        }
        lists.postings = memory::filled(P::default(), total);
        Filling(lists)
    }

    /// The number of a token's list, `None` when it has none.
    #[inline]
    pub fn rank(&self, token: u32) -> Option<usize> {
        let word = self.words.get(token as usize / 64)?;
        let bit = 1_u64 << (token % 64);
        let lower = (word.bits & (bit - 1)).count_ones();
        (word.bits & bit != 0).then_some((word.before + lower) as usize)
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
        mean(self.starts.windows(2).map(|two| two[1] - two[0]))
    }
}

impl<P: Copy + Default> Filling<P> {
    /// Adds to the list of a token that there is room for.
    #[inline]
    pub fn push(&mut self, token: u32, posting: P) {
        if let Some(list) = self.0.rank(token) {
            let slot = &mut self.0.starts[list];
            self.0.postings[*slot as usize] = posting;
            *slot += 1;
        }
    }

    /// The lists, once all postings are in.
    pub fn finish(mut self) -> Lists<P> {
        // Each start has moved to the end of its list, which is the start of the next one.
        self.0.starts.rotate_right(1);
        self.0.starts[0] = 0;
        self.0
    }
}
