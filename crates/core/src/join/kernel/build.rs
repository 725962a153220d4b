//! How an index is made, and made smaller while a self-join goes on.

use super::bitmap::Signature;
use super::bitmap_index::{self, BitmapCoverage, BitmapIndex, Costs};
use super::lists::Lists;
use super::parallel::Asked;
use super::strategy::{self, JoinStrategy};
use super::words::Words;
use super::{Index, Posting, Purpose};
use crate::join::memory;
use crate::join::sets::{Sets, TokenClasses};
use crate::similarity::{SetSimilarity, Similarity};
use std::borrow::Borrow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that no other index of the process has.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The sets of a range with the tokens that an index holds of them, when the prefixes of a pair must share so many.
pub(super) fn indexed(
    sets: &Sets,
    range: Range<usize>,
    similarity: Similarity,
    purpose: Purpose,
    common: u64,
) -> impl ExactSizeIterator<Item = (usize, &[u32])> + Clone {
    let prefix = move |size: u64| match purpose {
        Purpose::SelfJoin => similarity.index_prefix(size),
        Purpose::Foreign => similarity.probe_prefix(size),
    };
    // The sets of a size stand together, and to divide takes longer than all else that is done for a set here.
    let mut last = (0, 0);
    range.map(move |set| {
        let size = sets.size(set) as u64;
        if size != last.0 {
            let length = prefix(size);
            last = (size, if length == 0 { 0 } else { (length + common - 1).min(size) });
        }
        (set, &sets.get(set)[..(last.1 as usize).saturating_sub(sets.singleton(set))])
    })
}

impl<S: Borrow<Sets>> Index<S> {
    /// Indexes `sets[range]` for queries with this similarity, Jaccard for a bare threshold.
    ///
    /// # Panics
    /// When the range is not one of `sets`, or holds 2^32 prefix tokens or more.
    pub fn build(
        collection: S,
        range: Range<usize>,
        similarity: impl Into<Similarity>,
        purpose: Purpose,
    ) -> Self {
        // Words are for the many queries of a self-join.
        let costs = Costs { words: false, ..Costs::default() };
        // Queries may have some tokens of a class, and not others.
        let classes = TokenClasses::default();
        Self::build_at(collection, range, (similarity.into(), purpose), classes, costs, 1)
    }

    /// Indexes `sets[range]` for a self-join, on so many threads. Where candidates are asked for, a query gives every set that
    /// shares a token within the pair's prefixes, with the number of tokens that the prefixes share.
    pub(super) fn build_to_join(
        collection: S,
        range: Range<usize>,
        similarity: Similarity,
        asked: Asked,
        threads: usize,
    ) -> Self {
        let strategy = match asked {
            Asked::Pairs => None,
            Asked::PairsBy(strategy) => Some(strategy),
            Asked::Candidates => Some(JoinStrategy { common: 1, bitmaps: false, words: false }),
        };
        let verifies = asked != Asked::Candidates;
        let classes = if verifies { collection.borrow().classes().clone() } else { TokenClasses::default() };
        let (costs, asked) = (Costs { strategy, ..Costs::default() }, (similarity, Purpose::SelfJoin));
        let index = Self::build_at(collection, range, asked, classes, costs, threads);
        Index { verifies, ..index }
    }

    /// The tokens of a class have one list, so that each query must have all of a class or none. The index is the same for any number of threads.
    pub(super) fn build_at(
        collection: S,
        range: Range<usize>,
        (similarity, purpose): (Similarity, Purpose),
        classes: TokenClasses,
        costs: Costs,
        threads: usize,
    ) -> Self {
        let sets = collection.borrow();
        assert!(range.start <= range.end && range.end <= sets.len(), "no such range of sets");
        let coverage = bitmap_index::bitmap_coverage(sets, range.clone());
        let strategy = costs.strategy.unwrap_or_else(|| {
            strategy::cheapest(sets, range.clone(), similarity, coverage, costs.words, threads)
        });
        let JoinStrategy { common, bitmaps, words } = strategy;
        let prefixes = || indexed(sets, range.clone(), similarity, purpose, common);
        let posting = |set: &usize, at: usize| {
            let left = (sets.get(*set).len() - at) as u64;
            let largest = similarity.max_partner_sharing(sets.size(*set) as u64, left + common - 1);
            Posting { set: (set - range.start) as u32, largest: u32::try_from(largest).unwrap_or(u32::MAX) }
        };
        let lists = Lists::of(prefixes, &classes, posting, threads);

        let mut smaller_than = vec![0];
        for (local, set) in (0_u32..).zip(range.clone()) {
            smaller_than.resize((sets.size(set) + 1).max(smaller_than.len()), local);
        }
        smaller_than.push(range.len() as u32);
        let signatures = memory::from_fn(range.len(), threads, |local| {
            let set = range.start + local;
            Signature::of(sets.get(set), sets.singleton(set))
        });
        let pays = bitmaps && coverage != BitmapCoverage::Little && lists.mean() >= costs.long;
        let exact = coverage == BitmapCoverage::Exact;
        let bitmap_index = pays
            .then(|| {
                let postings = lists.postings();
                BitmapIndex::new(
                    sets,
                    range.clone(),
                    similarity,
                    &signatures,
                    (exact, costs),
                    postings,
                    threads,
                )
            })
            .flatten();
        let words = words && costs.words && !bitmap_index.as_ref().is_some_and(|bitmaps| bitmaps.exact);
        let words = words.then(|| Words::of(sets, range.clone(), threads));
        Index {
            number: next_number(),
            signatures,
            bitmaps: bitmap_index,
            words,
            sets: collection,
            range,
            similarity,
            purpose,
            common,
            verifies: true,
            classes,
            lists,
            smaller_than,
        }
    }

    /// Drops the postings that only queries of fewer tokens could use. An index for [`Purpose::SelfJoin`] answers later
    /// queries of at least `size` tokens as before, and no smaller ones.
    pub(super) fn prune_expired(&mut self, size: u64) {
        let smallest = self.smaller_than(self.similarity.min_partner(size));
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        let serves = |posting: &Posting| size <= posting.largest && posting.set >= smallest;
        if let Some(bitmaps) = &mut self.bitmaps {
            self.lists.retain(serves, |from, to| bitmaps.moves(from, to));
            bitmaps.truncate(self.lists.postings().len());
        } else {
            self.lists.retain(serves, |_, _| ());
        }
        // Places in the lists are remembered by number.
        self.number = next_number();
    }
}
