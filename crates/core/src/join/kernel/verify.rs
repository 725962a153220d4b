//! Which candidates are in the answer: the exact overlap of a pair, by its sets' words, by all comparisons of their tokens, or by merging them.

use super::bitmap::Signature;
use super::bounds::Bounds;
use super::counters::Counters;
use super::known::Known;
use super::words::{Check, Marks, Words};
use super::{AHEAD, Index, Scratch, small};
use crate::join::memory;
use crate::join::sets::Sets;
use crate::processor::{self, Instructions, Work};
use std::borrow::Borrow;

/// To mark the words of a query pays for so many candidates; fewer are merged.
const WORTH_MARKING: usize = 3;

impl<S: Borrow<Sets>> Index<S> {
    /// Leaves the candidates that are not known, and counts them.
    pub(super) fn leave<K: Known>(known: &K, scratch: &mut Scratch) {
        if K::ANY {
            scratch.candidates.retain(|set| !known.contains(*set));
        }
        scratch.work.candidates += scratch.candidates.len() as u64;
    }

    /// Finds out which candidates are in the answer.
    pub(super) fn verify<K: Known>(
        &self,
        known: &mut K,
        tokens: &[u32],
        signature: Signature,
        scratch: &mut Scratch,
    ) {
        let Scratch { bounds, counters, candidates, hits, marks, checks, .. } = scratch;
        // First those go that sizes and bitmaps turn away.
        checks.clear();
        processor::run(
            Instructions::Popcnt,
            CandidateFilter { index: self, signature, bounds, counters, candidates, checks },
        );
        candidates.clear();
        if let Some(words) = self.words.as_ref().filter(|_| checks.len() >= WORTH_MARKING) {
            self.check_by_words(words, tokens, marks, checks);
        } else if (1..=small::MAX_QUERY).contains(&tokens.len()) {
            small::check(self.sets(), self.range.start, tokens, checks);
        } else {
            self.verify_by_merging(known, tokens, checks, hits);
            return;
        }
        for check in checks.drain(..).filter(|check| check.shared >= check.needed) {
            known.found(check.set);
            hits.push((check.set, check.shared));
        }
    }

    /// Finds out about each candidate that is not known by then whether it shares enough.
    fn verify_by_merging<K: Known>(
        &self,
        known: &mut K,
        tokens: &[u32],
        checks: &[Check],
        hits: &mut Vec<(u32, u32)>,
    ) {
        let sets = self.sets();
        let place = |set: u32| self.range.start + set as usize;
        for (at, &Check { set, needed, shared, .. }) in checks.iter().enumerate() {
            if let Some(later) = checks.get(at + AHEAD) {
                sets.tokens_soon(place(later.set));
            }
            if K::ANY && known.contains(set) {
                continue;
            }
            let with_prefix = |set| (set, self.counted_prefix(set, needed));
            let (x, y) = (with_prefix(tokens), with_prefix(sets.get(place(set))));
            if let Some(overlap) = overlap(x, y, shared, needed as usize) {
                known.found(set);
                hits.push((set, overlap));
            }
        }
    }

    /// The length of the prefix of so many stored tokens, of a pair with this overlap needed.
    fn prefix(&self, stored: usize, needed: u32) -> usize {
        prefix(stored, needed as usize, self.common as usize)
    }

    /// The length of what is counted of a set in such a pair: its prefix up to the end of a class, for a class is counted as a whole.
    fn counted_prefix(&self, set: &[u32], needed: u32) -> usize {
        let end = self.prefix(set.len(), needed);
        end + self.classes.rest_of_class(set[end - 1])
    }

    /// Finds out how much each candidate shares.
    fn check_by_words(&self, words: &Words, tokens: &[u32], marks: &mut Marks, checks: &mut [Check]) {
        let sets = self.sets();
        let place = |check: &Check| self.range.start + check.set as usize;
        let last = |set: &[u32], needed: u32| set[self.counted_prefix(set, needed) - 1];
        for at in 0..checks.len() {
            if let Some(later) = checks.get(at + 2 * AHEAD) {
                let set = place(later);
                sets.token_soon(set, self.prefix(sets.stored(set), later.needed) - 1);
            }
            let check = &mut checks[at];
            check.upto = last(tokens, check.needed).min(last(sets.get(place(check)), check.needed));
        }
        marks.set(tokens, words);
        words.check(marks, checks);
    }
}

/// Leaves the candidates whose counters, sizes and bitmaps allow it to be checked.
struct CandidateFilter<'a, S> {
    index: &'a Index<S>,
    /// The query's.
    signature: Signature,
    bounds: &'a mut Bounds,
    counters: &'a Counters,
    candidates: &'a [u32],
    checks: &'a mut Vec<Check>,
}

impl<S: Borrow<Sets>> Work for CandidateFilter<'_, S> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { index, signature, bounds, counters, candidates, checks } = self;
        let signatures = &index.signatures[..];
        checks.resize(candidates.len(), Check::default());
        let (mut at, mut passing) = (0, 0);
        // Whether a candidate passes nobody can foresee, so each is put down, and the next one in its place where it does not.
        let mut put = |set: u32, other: Signature, needed: u64| {
            let shared = counters.of(set);
            let passes =
                (u64::from(shared) >= needed.min(index.common)) & (signature.most_shared(other) >= needed);
            checks[passing] = Check { set, needed: needed as u32, upto: 0, shared };
            passing += usize::from(passes);
        };
        while at < candidates.len() {
            let known = bounds.known();
            while let Some(&set) = candidates.get(at) {
                // Candidates lie anywhere in memory, which is asked for each a while before it is read.
                if let Some(&later) = candidates.get(at + 4 * AHEAD) {
                    memory::soon::<1, _>(signatures, later as usize);
                }
                let other = signatures[set as usize];
                let Some(needed) = known.needed(other.size()) else { break };
                put(set, other, needed);
                at += 1;
            }
            // One that is not known yet is found, and kept for the others.
            if let Some(&set) = candidates.get(at) {
                let other = signatures[set as usize];
                put(set, other, bounds.needed(index.similarity, other.size()));
                at += 1;
            }
        }
        checks.truncate(passing);
        checks.iter().for_each(|check| index.sets().soon(index.range.start + check.set as usize));
    }
}

/// The overlap of `x` and `y`, or `None` when it is below `needed`.
///
/// `prefix_overlap` counts what their prefixes of these lengths share, of which none is empty. The page of the [kernel](super) says why the
/// merge may start where it does.
#[inline]
fn overlap(
    (x, x_prefix): (&[u32], usize),
    (y, y_prefix): (&[u32], usize),
    prefix_overlap: u32,
    needed: usize,
) -> Option<u32> {
    let used = prefix_overlap as usize;
    if x[x_prefix - 1] < y[y_prefix - 1] {
        merge(&x[x_prefix..], &y[used..], used, needed)
    } else {
        merge(&x[used..], &y[y_prefix..], used, needed)
    }
}

/// How many steps a merge takes to find out about a pair, with nothing known of it.
pub(super) fn merge_steps(x: &[u32], y: &[u32], needed: usize) -> u64 {
    let mut steps = 0;
    merge_counting(x, y, 0, needed, || steps += 1);
    steps
}

/// The length of a prefix of so many stored tokens, of a pair that is in the answer with the overlap `needed`.
#[inline]
pub(super) fn prefix(stored: usize, needed: usize, common: usize) -> usize {
    (stored + common).saturating_sub(needed).clamp(1, stored)
}

/// The overlap of a pair that [`join_shards`](super::join_shards) hands over as a candidate, or `None` when it is below `needed`: the stored
/// tokens of both, how many of them their prefixes share, and the overlap with which they would be in the answer.
#[inline]
pub fn overlap_of_candidate(x: &[u32], y: &[u32], prefix_overlap: u32, needed: usize) -> Option<u32> {
    let prefix = |set: &[u32]| prefix(set.len(), needed, 1);
    overlap((x, prefix(x)), (y, prefix(y)), prefix_overlap, needed)
}

/// The overlap of two sets by their stored tokens, or `None` when it is below `needed`.
#[inline]
pub fn overlap_of_sets(x: &[u32], y: &[u32], needed: usize) -> Option<u32> {
    merge(x, y, 0, needed)
}

/// `known` plus the number of common tokens, or `None` when that is below `needed`.
pub(super) fn merge(x: &[u32], y: &[u32], known: usize, needed: usize) -> Option<u32> {
    merge_counting(x, y, known, needed, || ())
}

/// The same; `step` is called for each comparison.
#[inline]
fn merge_counting(x: &[u32], y: &[u32], known: usize, needed: usize, mut step: impl FnMut()) -> Option<u32> {
    // How many tokens of each side may still go unmatched.
    let mut x_spare = (x.len() + known).checked_sub(needed)?;
    let mut y_spare = (y.len() + known).checked_sub(needed)?;
    let (mut i, mut j, mut overlap) = (0, 0, known);
    while let (Some(&u), Some(&v)) = (x.get(i), y.get(j)) {
        step();
        if u == v {
            // Near-duplicates share long runs, which are compared eight tokens at a time.
            let eight = x[i..].first_chunk::<8>();
            let run = if eight.is_some() && eight == y[j..].first_chunk() { 8 } else { 1 };
            overlap += run;
            i += run;
            j += run;
        } else if u < v {
            x_spare = x_spare.checked_sub(1)?;
            i += 1;
        } else {
            y_spare = y_spare.checked_sub(1)?;
            j += 1;
        }
    }
    // The spare tokens sufficed up to the end of one side; the other side's rest matches nothing.
    (overlap >= needed).then_some(overlap as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn equals_the_intersection(
            x in prop::collection::btree_set(0u32..40, 1..30),
            y in prop::collection::btree_set(0u32..40, 1..30),
            share in 1usize..=30,
            common in 1usize..=5,
        ) {
            let needed = share.min(x.len()).min(y.len());
            let truth = x.intersection(&y).count();
            let (xs, ys): (Vec<u32>, Vec<u32>) = (x.iter().copied().collect(), y.iter().copied().collect());
            let length = |set: &[u32]| (set.len() + common - needed).min(set.len());
            let head: BTreeSet<u32> = xs[..length(&xs)].iter().copied().collect();
            let prefix_overlap = ys[..length(&ys)].iter().filter(|t| head.contains(t)).count();
            if prefix_overlap < common.min(needed) {
                prop_assert!(truth < needed, "the prefix filter");
            }
            if prefix_overlap > 0 {
                let expected = (truth >= needed).then_some(truth as u32);
                let (x, y) = ((&xs[..], length(&xs)), (&ys[..], length(&ys)));
                prop_assert_eq!(overlap(x, y, prefix_overlap as u32, needed), expected);
            }
        }
    }
}
