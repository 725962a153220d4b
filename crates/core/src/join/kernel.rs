//! The join kernel: an inverted index over part of a collection, and a query that finds every
//! indexed set whose similarity with the queried one reaches the threshold.
//!
//! Comparing all pairs is quadratic. An index over all tokens compares only sets that share one, but
//! frequent tokens are shared by nearly all. The kernel is a *prefix join*, the line of work from
//! AllPairs (bayardo2007) over PPJoin (xiao2008) to the comparison of mann2016: order the tokens from rare to frequent, and the rare ends of two similar
//! sets must already share a token. The rest of this page says which filters are used and why each of
//! them loses nothing.
//!
//! ```text
//! for each part of the sets, by ascending size                                  index shards
//!     choose l, bitmaps and words by a sample                                   strategy
//!     index the prefix of each set y of the part                                prefix filter
//!     for each set x of the part and behind it, up to the largest partner
//!         for each class of tokens in the prefix of x, from the rarest             classes of tokens
//!             for each of its postings whose set has a size that x may have     length filter
//!                 if x is not too large for the posting                         position filter
//!                 and its bitmap lets it pass, where there is one               bitmaps
//!                     count its tokens; the l-th makes y a candidate            longer prefixes
//!         for each candidate y
//!             if sizes and bitmaps allow it                                     bitmaps
//!             and a merge, words or all comparisons reach t(a, b)               verification
//!                 (x, y) is a pair
//!         now and then: drop the postings that no later x can use               pruning
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | `x`, `y` | the query and an indexed set, tokens from rare to frequent |
//! | `a`, `b` | their sizes, singletons included; `kx`, `ky`: their stored tokens |
//! | `t`, `t(a, b)` | the least overlap with which they are in the answer |
//! | `i`, `j` | the position of a shared token in `x` and `y`, from 0 |
//! | `l` | how many tokens the prefixes of a pair must share |
//! | `px`, `py` | the lengths of the pair's prefixes |
//!
//! What each filter gains, at most, where it was switched off on real sets (`docs/decisions/ways-through-an-index.md`); the first
//! three make a join possible at all:
//!
//! | filter | source | times as fast |
//! |---|---|---|
//! | prefix, length | bayardo2007 | |
//! | position | xiao2008 | |
//! | longer prefixes | wang2012 | 5.6 in a crawl, 1.08 in collections of a few thousand texts |
//! | bitmaps beside postings | after sandes2020 | 2.6 |
//! | windows of bitmaps | | 1.08, exact ones 10 |
//! | bitmaps of candidates | sandes2020 | 1.25 |
//! | verification by words | | 1.9 |
//! | verification of small sets by all comparisons | | 1.16 |
//! | classes of tokens | | 1.16 |
//! | pruning of expired postings | | 1.33 |
//! | index shards | | 1.12 |
//! | remembered windows (`cursors`) | | 1.10 |
//!
//! # The overlap of a pair
//! Let `x` be the query with `a` tokens, `y` an indexed set with `b` tokens and `t` the least overlap
//! with which they are in the answer ([`SetSimilarity::overlap_needed`]). Number the positions of both from 0.
//!
//! **Prefix filter.** Suppose the first token they share stands at position `i` of `x` and `j` of `y`.
//! All they share lies from there on, so the overlap is at most `min(a - i, b - j)`. If the pair is in
//! the answer, then `i <= a - t` and `j <= b - t`. Call these positions the *pair's prefixes*: a pair
//! of the answer shares a token within them, and only such pairs become candidates.
//!
//! **What is indexed.** `t` depends on both sizes, an index is built before the query is known. It
//! holds the positions that can be in a prefix of any pair: [`SetSimilarity::index_prefix`] tokens of each set
//! when queries are at least as large ([`Purpose::SelfJoin`]), [`SetSimilarity::probe_prefix`] otherwise.
//!
//! **Length and position, for the query.** Fix position `i` of the query. `i <= a - t` is a bound on
//! `b`, for `t` grows with `b`: only sets up to [`SetSimilarity::max_partner_sharing`]`(a, a - i)` qualify, and
//! none is smaller than [`SetSimilarity::min_partner`]`(a)`. Sets are numbered by ascending size and a posting
//! list ascends by set number, so both bounds cut a list at its ends. The upper one falls as `i`
//! grows; the query is over when it meets the lower one, which is the end of the probe prefix.
//!
//! **Position, for the indexed set.** `j <= b - t` is likewise a bound on `a`: the posting stores
//! [`SetSimilarity::max_partner_sharing`]`(b, b - j)`, the largest query that it can serve, and a comparison
//! with `a` decides. Both filters look at one posting and nothing else, no first contact has to be
//! remembered, and what remains is exactly the contacts within the pair's prefixes.
//!
//! All of this asks of a similarity no more than its overlap needed `t(a, b)`, which never falls when `b` grows, so
//! every [`Similarity`] is joined by the same code.
//!
//! **Bitmap** (sandes2020)**.** Each set is also hashed into 64 bits. A bit that is on for one set only comes from a
//! token that the other lacks, so two such maps bound the overlap from above: with `k` stored tokens each, maps that
//! differ in `d` bits leave an overlap of at most `(kx + ky - d) / 2`. Most candidates of small sets end here,
//! without a look at their tokens.
//!
//! # Bitmaps beside postings
//! Where few tokens are shared by many sets, lists are long, most contacts are with sets that are not similar, and what costs
//! is to look up each of them. An index with long lists therefore keeps the 64 bits beside each posting, and
//! a contact whose bitmap says no is not counted. That depends on the two sets alone, so of a pair either all contacts are
//! counted or none, and a counter that is not 0 is still the exact overlap of the prefixes.
//!
//! A pair passes when `d <= kx + ky - 2·t(a, b)`. To leave one addition and one comparison for each posting, the right side
//! is split. Let `m` be the size of the largest set of the range; the posting stores `ky - 2·t(m, b)`, and the query adds
//! `kx + max(2·t(m, b) - 2·t(a, b))` over the sizes `b` of its window, which is at least what is missing for every one of
//! them. So no pair is lost, and where `t` is linear in `b`, as for Jaccard, what passes in vain is only due to rounding.
//!
//! With up to 512 tokens in all, each has a bit of its own. Such maps are exact: two of them share as many bits as the sets
//! share tokens, and nothing is left to verify. When a query has more contacts than its window has sets (times the words of a
//! map, and a factor that was measured), it passes over the lists altogether and compares its map with that of each set
//! between the smallest partner and the largest one that the first shared token could have. Every pair of the answer
//! lies in that window, by the length filter.
//!
//! # Longer prefixes
//! Where many pairs share a token or two by chance, and sets are large, candidates cost more than postings. A pair of the
//! answer shares `t` tokens, so it shares more than one of the rare ones: let `l <= t`, and let the `l`-th token that they
//! share, from the rarest, stand at position `i` of `x` and `j` of `y`. All they share but `l - 1` tokens lies from there
//! on, so `i <= a - t + l - 1` and `j <= b - t + l - 1`. Prefixes that are `l - 1` longer thus hold `l` common tokens of
//! each pair of the answer, and a set whose counter stays below `l` (below `t`, where that is less: the prefixes
//! are whole sets then) is no candidate. It costs a few longer lists, and no look at any set (wang2012).
//! Everything said above of position `i` holds with `a - i + l - 1` in place of `a - i`. A sample (`strategy`) of the sets
//! decides which `l` is cheapest, and whether bitmaps are cheaper still; it is 1 for most data.
//!
//! # Singletons
//! A token that stands in one set only is in no overlap. Such tokens count in `a` and `b`, and nothing
//! else need be known of them: put them first in the order, as the rarest they belong there, and leave
//! them out. A set of size `a` with `l` singleton tokens then has the tokens it stores at the positions `l`,
//! `l + 1`, …, and everything above holds as it stands, for any total order will do: the prefix of `p`
//! tokens is its `p - l` first stored ones, none when `l >= p`, and `a - i`, the bound from position
//! `i`, is the number of stored tokens from there on. Because that bound starts at `a - l`, a set whose
//! singleton tokens are more than `a - ceil(tau·a)` costs a look at its size. What a slice of the collection
//! does not hold is as good as a singleton for a query to that slice. The bitmap counts stored tokens only;
//! the decision, [`SetSimilarity::accepts`], the sizes.
//!
//! # Verification
//! The counter of a candidate is thus the exact overlap of the pair's prefixes, `x[..px]` and
//! `y[..py]` with `px = a - t + l`, `py = b - t + l`, or all of a set that is not longer. Compare their last tokens. If `x[px - 1]` is the
//! smaller one, no token of `x[..px]` can stand in `y` behind `py`: all of `x[..px]` is settled and the
//! merge goes on with `x[px..]`. At least `counter` tokens of `y` are used up, too, for each match lies
//! at a different position. The other case is its mirror image. The merge stops as soon as even a
//! match of all that is left would not reach `t`. Singletons change nothing: a candidate was met within
//! the pair's prefixes, at a stored token from which at least `t - l + 1` stored ones are left on either side,
//! so the stored prefix, `px` less the singleton tokens, is at least 1, and is what is left of the stored
//! tokens when the last `t - l` are taken away. (A candidate from a window of bitmaps that are not exact is merged from its
//! start, with nothing known.)
//!
//! **By words** (`words`)**.** Where sets are large and candidates many, most of these are pairs in truth, and a merge takes a step for every few tokens
//! of either. Such an index holds its sets once more, in words of 64 tokens, and a query counts what it shares with a candidate from the
//! smaller of `x[px - 1]` and `y[py - 1]` on: up to there all is counted. It takes 12 bytes for each word.
//! One or two candidates are merged all the same, for that is sooner done than to mark the query's words.
//!
//! **By all comparisons** (`small`)**.** Where a query has few tokens, a merge is over before a processor has foreseen its branches. Each token of the
//! query is then compared with each one of the candidate, eight at a time and from the start.
//!
//! # Classes of tokens
//! Tokens that stand in the same sets have posting lists that say the same. Where a collection knows such *classes* ([`TokenClasses`]), their tokens have numbers
//! one after the other, so they stand together in each set, and a class has one list: that of its first token. Give all tokens of a class the position of
//! the first one. All above holds as it stands, with one change: a contact counts as many tokens as the class has, and what is counted is the overlap of
//! prefixes that end with a class. They are at most one class longer, and both sets of a pair have all of it. So a counter
//! that reaches `l` may go past it at once, and a merge begins behind the whole class.
//! That holds for queries that are sets of the collection; others may have only some tokens of a class, and an index for them ([`Index::build`]) has a list for
//! each token.
//!
//! # Components and stars
//! Who asks for the components of the pairs does not ask for each pair. [`join_components`] finds them without most of them (`forest`),
//! and [`StarJoin`] finds those that decide over star clusters (`stars`).
//!
//! # Pruning of expired postings
//! The queries of a self-join ascend in size. A posting that the query at hand is too large for serves no later one
//! either, nor does one of a set that is too small; on large collections of frequent tokens that is a third of all
//! that would be visited. From time to time, when many postings have been visited, the index drops them
//! (`Index::prune_expired`).
//!
//! # Index shards
//! Where lists are long, an index and its counters are larger than a cache, and what a posting costs is to wait for both. A
//! self-join then takes one part of the sets after the other ([`index_shards`]): queries go past an index that stays in a core's
//! caches, and look up each list as often as there are parts. That pays while a look-up is followed by a few dozen postings.
//! Each part has its own `l`, besides, which fits its sizes better than one for all.
//!
//! # Once
//! A self-join asks each set `x` for partners with smaller numbers only, so each pair is found once,
//! and for a pair of equal sizes the caller's order decides which is the earlier.

mod bitmap;
mod bitmap_index;
mod bitmap_scan;
mod bounds;
mod build;
mod counters;
mod cursors;
mod forest;
mod known;
mod lists;
mod neighbours;
mod parallel;
mod shards;
mod small;
mod stars;
mod strategy;
#[cfg(test)]
mod tests;
mod verify;
mod words;
mod work;

use std::borrow::Borrow;
use std::ops::Range;

use super::memory;
use super::sets::{Sets, TokenClasses};
use crate::similarity::{SetSimilarity, Similarity};
use bitmap::Signature;
use bitmap_index::BitmapIndex;
pub use bitmap_index::may_have_bitmaps;
use bounds::Bounds;
use counters::Counters;
use cursors::Cursors;
pub use forest::{ConnectedSlice, join_components};
use known::{Known, Nothing};
use lists::Lists;
pub(super) use lists::{token_shares, within};
pub use parallel::{Asked, JoinPair, Shard, Sink, Source, join_shards, queries, whole};
pub use shards::index_shards;
pub use stars::StarJoin;
pub use strategy::{JoinStrategy, MOST as MOST_COMMON, classes_pay, may_have_words};
pub use verify::{overlap_of_candidate, overlap_of_sets};
use words::{Check, Marks, Words};
pub use words::{WORD_BYTES, count as words_of};
pub use work::Work;

/// Which queries an [`Index`] must serve; this decides how much of each set is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Queries find partners of at most their own size: the short index prefix suffices.
    SelfJoin,
    /// Queries of any size, such as documents of a new batch: the probe prefix is needed.
    Foreign,
}

/// One token of one indexed set.
#[derive(Clone, Copy, Debug, Default)]
struct Posting {
    /// The set, counted from the start of the indexed range.
    set: u32,
    /// The size of the largest query that can reach the set through this token.
    largest: u32,
}

/// An inverted index over the prefixes of a range of sets, which it borrows or owns.
#[derive(Debug)]
pub struct Index<S> {
    /// No other index of the process has this number.
    number: u64,
    sets: S,
    range: Range<usize>,
    similarity: Similarity,
    purpose: Purpose,
    /// How many tokens the prefixes of a pair must share: the `l` of the page above.
    common: u64,
    /// Whether candidates are verified, or are themselves what is asked for.
    verifies: bool,
    /// Which tokens have one list together: that of the first.
    classes: TokenClasses,
    lists: Lists<Posting>,
    /// Size and bitmap of each set of the range.
    signatures: Vec<Signature>,
    /// Where lists are long.
    bitmaps: Option<BitmapIndex>,
    /// Where candidates are large and many.
    words: Option<Words>,
    /// How many sets of the range are smaller than so many tokens, up to the largest size plus one.
    smaller_than: Vec<u32>,
}

/// Postings of one list that a query may visit: those of the range up to the first whose set is not before `end`.
#[derive(Clone, Debug)]
struct Visit {
    list: usize,
    postings: Range<usize>,
    end: u32,
    /// How many tokens have the list.
    tokens: u32,
}

/// How many tokens have the lists of some visits.
fn tokens_of(visits: &[Visit]) -> u32 {
    visits.iter().fold(0, |tokens, visit| tokens.saturating_add(visit.tokens))
}

/// The postings of so many lists ahead are asked of memory while one is visited, and the tokens of so many candidates while one
/// is verified.
const AHEAD: usize = 2;

/// The working memory of a query; one for each thread, used again and again, with any index.
#[derive(Debug, Default)]
pub struct Scratch {
    bounds: Bounds,
    /// For each indexed set the overlap of the prefixes so far.
    counters: Counters,
    cursors: Cursors,
    /// The sets whose counter reached what a candidate needs.
    candidates: Vec<u32>,
    /// Set number and overlap.
    hits: Vec<(u32, u32)>,
    /// Where the postings stand that a query may visit.
    visits: Vec<Visit>,
    /// Those of them that bitmaps let pass.
    places: Vec<u32>,
    /// What is verified by words: the query's, and its candidates.
    marks: Marks,
    checks: Vec<Check>,
    /// What all queries did.
    work: Work,
}

impl Scratch {
    /// What all queries did.
    pub fn work(&self) -> Work {
        self.work
    }
}

impl<S: Borrow<Sets>> Index<S> {
    /// How many postings there are.
    fn postings(&self) -> usize {
        self.lists.postings().len()
    }

    /// The collection.
    pub fn sets(&self) -> &Sets {
        self.sets.borrow()
    }

    /// Calls `hit` with number and overlap of each indexed set that is in the answer together with the
    /// set of these `tokens` and so many `singleton` ones, in ascending order of the number.
    ///
    /// Only sets numbered below `limit` are asked for; in a self-join that is the number of the
    /// queried set. An index for [`Purpose::SelfJoin`] answers with sets of at most the query's size.
    ///
    /// The tokens ascend, and there are at most `u32::MAX` with the singleton ones. Tokens that occur in no set
    /// of the range may be counted as singletons, or take part with numbers of their own.
    pub fn query(
        &self,
        tokens: &[u32],
        singleton: usize,
        limit: usize,
        scratch: &mut Scratch,
        hit: impl FnMut(usize, u64),
    ) {
        self.find(&mut Nothing, (tokens, singleton), limit, scratch);
        scratch.hits.sort_unstable();
        self.report_hits(scratch, hit);
    }

    /// As [`query`](Self::query), but for sets that are known, and in any order; candidates that are not verified come in order.
    fn query_besides<K: Known>(
        &self,
        known: &mut K,
        set: (&[u32], usize),
        limit: usize,
        scratch: &mut Scratch,
        hit: impl FnMut(usize, u64),
    ) {
        self.find(known, set, limit, scratch);
        self.report_hits(scratch, hit);
    }

    /// Calls `hit` with what was found.
    fn report_hits(&self, scratch: &mut Scratch, mut hit: impl FnMut(usize, u64)) {
        for (set, overlap) in scratch.hits.drain(..) {
            hit(self.range.start + set as usize, u64::from(overlap));
        }
    }

    /// Finds the sets that are in the answer and not known.
    fn find<K: Known>(
        &self,
        known: &mut K,
        (tokens, singleton): (&[u32], usize),
        limit: usize,
        scratch: &mut Scratch,
    ) {
        debug_assert!(tokens.is_sorted_by(|a, b| a < b), "tokens out of order");
        let size = (tokens.len() + singleton) as u64;
        scratch.bounds.begin(self.number, self.similarity, size);
        if K::ANY {
            let (first, end) = self.window(scratch.bounds.smallest(), size, limit);
            if known.ranges().iter().any(|range| range.start <= first && end <= range.end) {
                return;
            }
        }
        // A query may be asked of many parts and meet nothing in most of them: what it costs before its first list is little.
        let window = self.visits(tokens, size, limit, scratch);
        if K::ANY {
            known::cut(&mut scratch.visits, known.ranges(), self.lists.postings(), |posting| posting.set);
        }
        if scratch.visits.is_empty() {
            return;
        }
        let signature = Signature::of(tokens, singleton);
        match &self.bitmaps {
            None => {
                self.collect(signature.size(), scratch);
                Self::leave(known, scratch);
                if self.verifies {
                    self.verify(known, tokens, signature, scratch);
                } else {
                    // They are handed over in order.
                    let Scratch { counters, candidates, hits, .. } = scratch;
                    candidates.sort_unstable();
                    hits.extend(candidates.drain(..).map(|set| (set, counters.of(set))));
                }
            }
            Some(bitmaps) => self.query_bitmaps(bitmaps, known, tokens, signature, window, scratch),
        }
    }

    /// The sets that a query of this size and with this smallest partner may meet at all, by number in the range: the first, and the one behind the last.
    fn window(&self, smallest: u64, size: u64, limit: usize) -> (u32, u32) {
        let smallest = self.smaller_than(smallest);
        let end = limit.saturating_sub(self.range.start).min(self.range.len()) as u32;
        match self.purpose {
            Purpose::SelfJoin => (smallest, end.min(self.smaller_than(size + 1))),
            Purpose::Foreign => (smallest, end),
        }
    }

    /// Finds where the postings stand that a query may visit, and the window of sets that they are of.
    ///
    /// All lists are looked up before one is visited, step by step: each step waits for memory, and those of all lists wait side
    /// by side.
    fn visits(&self, tokens: &[u32], size: u64, limit: usize, scratch: &mut Scratch) -> Range<usize> {
        let Scratch { bounds, cursors, visits, .. } = scratch;
        let (smallest, mut end) = self.window(bounds.smallest(), size, limit);
        let mut places = cursors.begin(self.number, &self.lists, smallest);
        let mut window = smallest as usize..smallest as usize;
        visits.clear();
        for (at, token, count) in self.classes.first_tokens(tokens) {
            let left = (tokens.len() - at) as u64;
            end = end.min(bounds.end(size - left, || {
                let largest = self.similarity.max_partner_sharing(size, left + self.common - 1);
                self.smaller_than(largest.saturating_add(1))
            }));
            if end <= smallest {
                break;
            }
            window.end = window.end.max(end as usize);
            let Some(list) = self.lists.rank(token) else { continue };
            self.lists.soon(list);
            places.soon(list);
            visits.push(Visit { list, postings: 0..0, end, tokens: count as u32 });
        }
        visits.iter().for_each(|visit| places.postings_soon(&self.lists, visit.list));
        for Visit { list, postings, .. } in visits {
            *postings = places.first(&self.lists, *list)..self.lists.range(*list).end;
        }
        window
    }

    /// Fills in the candidates of a query of this size, those that it meets often enough, and the overlaps of their prefixes.
    fn collect(&self, size: u64, scratch: &mut Scratch) {
        let Scratch { bounds, counters, visits, candidates, work, .. } = scratch;
        let least = self.least(bounds);
        let mut counting = counters.begin(self.range.len(), tokens_of(visits), least);
        let mut visited = 0;
        let size32 = u32::try_from(size).unwrap_or(u32::MAX);
        let postings = self.lists.postings();
        for (at, visit) in visits.iter().enumerate() {
            if let Some(later) = visits.get(at + AHEAD) {
                memory::soon::<2, _>(postings, later.postings.start);
            }
            let (own, end) = (&postings[visit.postings.clone()], visit.end);
            let mut rest = own.iter();
            for posting in rest.by_ref() {
                if posting.set >= end {
                    break;
                }
                if size32 <= posting.largest && counting.reaches(posting.set, visit.tokens) {
                    candidates.push(posting.set);
                }
            }
            visited += (own.len() - rest.len()) as u64;
        }
        work.postings += visited;
    }

    /// How many tokens the prefixes of a query with these bounds and any partner share, at least.
    fn least(&self, bounds: &mut Bounds) -> u32 {
        bounds.needed(self.similarity, bounds.smallest()).min(self.common) as u32
    }

    /// How many indexed sets have fewer tokens: the number, within the range, of the first that has not.
    #[inline]
    fn smaller_than(&self, size: u64) -> u32 {
        let known = usize::try_from(size).ok().and_then(|size| self.smaller_than.get(size));
        known.copied().unwrap_or(self.range.len() as u32)
    }
}
