//! What an index has besides when its lists are long: bitmaps that are looked at in the order in which they lie in memory.
//!
//! See the page of the [kernel](super) for what they do and why nothing is lost.

use super::bitmap::Signature;
use super::bitmap_scan::{Bitmaps, near};
use super::known::{Known, outside};
use super::strategy::JoinStrategy;
use super::{Index, Posting, Scratch, Visit, tokens_of, verify};
use crate::join::memory;
use crate::join::sets::Sets;
use crate::similarity::{SetSimilarity, Similarity};
use std::borrow::Borrow;
use std::ops::Range;

/// The most words of an exact bitmap.
const WORDS: usize = 8;

/// Sets with more tokens than this leave hardly a bit of a single word off.
const TOKENS: usize = 64;

/// The largest set for which what a bitmap is allowed is taken for a small number.
const LARGEST: usize = 1 << 20;

/// When which way through an index is the cheaper one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// The mean length from which lists are long.
    pub long: usize,
    /// Of how many words of bitmaps the comparison costs as much as a contact in a list.
    pub contact: usize,
    /// Chosen by a sample when nothing is said.
    pub strategy: Option<JoinStrategy>,
    /// Whether candidates may be verified by words, which takes all of a query's at once.
    pub words: bool,
}

impl Default for Costs {
    /// As measured.
    fn default() -> Self {
        Costs { long: 64, contact: 6, strategy: None, words: true }
    }
}

/// What bitmaps can say of sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BitmapCoverage {
    /// Everything: each token can have a bit of its own.
    Exact,
    /// How far two sets may be alike.
    Bound,
    /// Hardly anything: the sets are so large that nearly all bits of a word are on.
    Little,
}

/// What bitmaps can say of the sets of a range.
pub(super) fn bitmap_coverage(sets: &Sets, range: Range<usize>) -> BitmapCoverage {
    let end = |set: usize| sets.get(set).last().map_or(0, |last| *last as usize + 1);
    let tokens = range.clone().map(end).max().unwrap_or(0);
    let stored: usize = range.clone().map(|set| sets.get(set).len()).sum();
    if tokens <= WORDS * 64 {
        BitmapCoverage::Exact
    } else if may_have_bitmaps(stored, range.len(), tokens) {
        BitmapCoverage::Bound
    } else {
        BitmapCoverage::Little
    }
}

/// Whether an index over sets that store so many tokens in all, so many of them different, may have bitmaps beside its
/// postings.
pub fn may_have_bitmaps(stored: usize, sets: usize, tokens: usize) -> bool {
    tokens <= WORDS * 64 || stored <= TOKENS * sets
}

/// Bitmaps of sets, and of postings.
#[derive(Debug)]
pub(super) struct BitmapIndex {
    /// By word, then by set: bitmaps that show each token there is, or the bits of the signatures.
    columns: Vec<Vec<u64>>,
    /// Whether each token has a bit of its own.
    pub exact: bool,
    /// What is allowed a set.
    allowed: Vec<i32>,
    /// By posting: the bits of its set's signature, and what is allowed it.
    bits: Vec<u64>,
    posting_allowed: Vec<i32>,
    /// The size that `allowed` refers to.
    reference: u64,
    contact: usize,
}

/// A query, ready to be compared.
pub(super) struct Probe {
    words: [u64; WORDS],
    /// Tokens that have a bit.
    known: i64,
    /// The size, singleton tokens included.
    size: u64,
}

impl BitmapIndex {
    /// Bitmaps for the sets of a range, unless they are too large to be compared so; `exact` when each token can have a
    /// bit of its own.
    pub fn new(
        sets: &Sets,
        range: Range<usize>,
        similarity: Similarity,
        signatures: &[Signature],
        (exact, costs): (bool, Costs),
        postings: &[Posting],
        threads: usize,
    ) -> Option<Self> {
        let reference = sets.size(range.clone().last()?);
        if reference > LARGEST {
            return None;
        }
        let columns = if exact {
            let last = range.clone().filter_map(|set| sets.get(set).last()).max();
            let mut columns = vec![vec![0_u64; range.len()]; last.map_or(0, |last| *last as usize / 64 + 1)];
            for (local, set) in range.clone().enumerate() {
                sets.get(set)
                    .iter()
                    .for_each(|token| columns[*token as usize / 64][local] |= 1 << (token % 64));
            }
            columns
        } else {
            vec![signatures.iter().map(|signature| signature.bits()).collect()]
        };
        let reference = reference as u64;
        let allowed: Vec<i32> = signatures
            .iter()
            .map(|own| own.known() as i32 - 2 * similarity.overlap_needed(reference, own.size()) as i32)
            .collect();
        let set_of = |at: usize| postings[at].set as usize;
        let bits = memory::from_fn(postings.len(), threads, |at| signatures[set_of(at)].bits());
        let posting_allowed = memory::from_fn(postings.len(), threads, |at| allowed[set_of(at)]);
        Some(BitmapIndex {
            columns,
            exact,
            allowed,
            bits,
            posting_allowed,
            reference,
            contact: costs.contact,
        })
    }

    /// Where the bits of postings stand that move, each towards the front.
    pub fn moves(&mut self, from: usize, to: usize) {
        self.bits[to] = self.bits[from];
        self.posting_allowed[to] = self.posting_allowed[from];
    }

    /// Leaves the bits of so many postings.
    pub fn truncate(&mut self, postings: usize) {
        self.bits.truncate(postings);
        self.posting_allowed.truncate(postings);
    }

    /// Whether it is cheaper to look at each set of a window than at so many contacts.
    pub fn prefers_window(&self, window: usize, contacts: usize) -> bool {
        window * self.columns.len() < contacts.saturating_mul(self.contact)
    }

    /// A query for exact bitmaps, or for a signature's.
    pub fn probe(&self, tokens: &[u32], signature: Signature) -> Probe {
        let mut words = [0; WORDS];
        let mut known = tokens.len() as i64;
        if self.exact {
            for &token in tokens {
                match words[..self.columns.len()].get_mut(token as usize / 64) {
                    Some(word) => *word |= 1 << (token % 64),
                    // It stands in no set of the range.
                    None => known -= 1,
                }
            }
        } else {
            words[0] = signature.bits();
        }
        Probe { words, known, size: signature.size() }
    }

    /// What the query is allowed, with sets of these sizes, beside what they are.
    fn most(&self, known: i64, size: u64, sizes: Range<u64>, similarity: Similarity) -> i32 {
        let more = |b: u64| {
            2 * similarity.overlap_needed(self.reference, b) as i64
                - 2 * similarity.overlap_needed(size, b) as i64
        };
        let most = known + sizes.map(more).max().unwrap_or(0);
        most.clamp((i32::MIN / 2).into(), (i32::MAX / 2).into()) as i32
    }

    /// Appends the sets of a window whose bitmaps allow enough common tokens with the query.
    pub fn window(
        &self,
        probe: &Probe,
        window: Range<usize>,
        sizes: Range<u64>,
        similarity: Similarity,
        places: &mut Vec<u32>,
    ) {
        let mut columns = [&[][..]; WORDS];
        for (place, column) in columns.iter_mut().zip(&self.columns) {
            *place = &column[window.clone()];
        }
        let count = self.columns.len();
        let most = self.most(probe.known, probe.size, sizes, similarity);
        let before = places.len();
        near(
            Bitmaps { columns: &columns[..count], allowed: &self.allowed[window.clone()] },
            &probe.words[..count],
            most,
            places,
        );
        places[before..].iter_mut().for_each(|place| *place += window.start as u32);
    }

    /// Appends the places, within a range of the postings, of those whose sets' signatures allow enough common tokens.
    pub fn postings(&self, signature: Signature, range: Range<usize>, most: i32, places: &mut Vec<u32>) {
        let bitmaps =
            Bitmaps { columns: &[&self.bits[range.clone()]], allowed: &self.posting_allowed[range] };
        near(bitmaps, &[signature.bits()], most, places);
    }

    /// What the query's signature is allowed with sets of these sizes.
    pub fn most_of(&self, signature: Signature, sizes: Range<u64>, similarity: Similarity) -> i32 {
        self.most(signature.known() as i64, signature.size(), sizes, similarity)
    }

    /// How many tokens a set and the query share, where bitmaps are exact.
    pub fn overlap(&self, probe: &Probe, set: usize) -> u64 {
        let words = self.columns.iter().zip(&probe.words);
        words.map(|(column, word)| u64::from((column[set] & word).count_ones())).sum()
    }
}

impl<S: Borrow<Sets>> Index<S> {
    /// A query where lists are long: by contacts, or by a look at each set of the window, whichever costs less.
    pub(super) fn query_bitmaps<K: Known>(
        &self,
        bitmaps: &BitmapIndex,
        known: &mut K,
        tokens: &[u32],
        signature: Signature,
        window: Range<usize>,
        scratch: &mut Scratch,
    ) {
        let postings = self.lists.postings();
        scratch.visits.retain_mut(|Visit { postings: range, end, .. }| {
            range.end = range.start + postings[range.clone()].partition_point(|posting| posting.set < *end);
            range.start < range.end
        });
        if scratch.visits.is_empty() {
            return;
        }
        let set = |local: usize| self.range.start + local;
        let sizes =
            self.sets().size(set(window.start)) as u64..self.sets().size(set(window.end - 1)) as u64 + 1;
        let contacts = scratch.visits.iter().map(|visit| visit.postings.len()).sum();
        scratch.work.postings += contacts as u64;
        let probe = bitmaps.probe(tokens, signature);
        let sets: usize = outside(window.clone(), known.ranges()).map(|part| part.len()).sum();
        let whole_window = bitmaps.prefers_window(sets, contacts);
        if whole_window {
            scratch.visits.clear();
            for part in outside(window, known.ranges()) {
                bitmaps.window(&probe, part, sizes.clone(), self.similarity, &mut scratch.candidates);
            }
        } else {
            let most = bitmaps.most_of(signature, sizes, self.similarity);
            self.count_by_bitmap(bitmaps, signature, most, scratch);
        }
        Self::leave(known, scratch);
        if !whole_window && !bitmaps.exact {
            return self.verify(known, tokens, signature, scratch);
        }
        let Scratch { bounds, candidates, hits, .. } = scratch;
        for local in candidates.drain(..) {
            if K::ANY && known.contains(local) {
                continue;
            }
            let other = self.signatures[local as usize];
            let needed = bounds.needed(self.similarity, other.size());
            let overlap = if bitmaps.exact {
                Some(bitmaps.overlap(&probe, local as usize) as u32)
                    .filter(|overlap| u64::from(*overlap) >= needed)
            } else {
                verify::merge(tokens, self.sets().get(set(local as usize)), 0, needed as usize)
            };
            if let Some(overlap) = overlap {
                known.found(local);
                hits.push((local, overlap));
            }
        }
    }

    /// Counts the contacts with sets whose bitmaps let them pass.
    fn count_by_bitmap(&self, bitmaps: &BitmapIndex, signature: Signature, most: i32, scratch: &mut Scratch) {
        let Scratch { bounds, counters, candidates, visits, places, .. } = scratch;
        let least = self.least(bounds);
        let mut counting = counters.begin(self.range.len(), tokens_of(visits), least);
        for visit in visits.drain(..) {
            let postings = &self.lists.postings()[visit.postings.clone()];
            bitmaps.postings(signature, visit.postings, most, places);
            for place in places.drain(..) {
                let posting = postings[place as usize];
                let largest = u64::from(posting.largest);
                if signature.size() <= largest && counting.reaches(posting.set, visit.tokens) {
                    candidates.push(posting.set);
                }
            }
        }
    }
}
