//! Pairs of similar sets that are cheap to find: not all there are, and each of them in truth.
//!
//! **Sketch** (broder1997)**.** The tokens of a set are dealt out to a few bins by their hash, and of each bin the least hash is kept. Two
//! sets have the same least hash in a bin about as often as their Jaccard similarity says. So near-duplicates agree in a bin
//! nearly always, and sets that agree are held against each other in full.

use super::verify;
use crate::cluster::union_find::UnionFind;
use crate::join::sets::Sets;
use crate::similarity::{SetSimilarity, Similarity};
use crate::threads::{each, fill};
use std::ops::Range;

/// Least hashes that a sketch holds.
const BINS: usize = 4;

/// In how many of them two sets must agree to be compared: frequent tokens bring one about by chance.
const ALIKE: usize = 2;

/// Of the sets with one least hash, so many are compared with a set that is looked up.
const COMPARED: usize = 4;

/// Of fewer sets with one least hash all pairs are found sooner than a star is made.
const MANY: usize = if cfg!(test) { 3 } else { 32 };

/// The least hashes of a set, by bin; [`EMPTY`] where it has no token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sketch([u32; BINS]);

/// Stands for the least hash of a bin without tokens.
const EMPTY: u32 = u32::MAX;

/// Stands for a least hash that few have.
const NONE: u32 = u32::MAX;

impl Sketch {
    pub fn of(tokens: &[u32]) -> Self {
        let mut bins = [EMPTY; BINS];
        for token in tokens {
            // Two rounds of multiplying and folding: neighbouring tokens are far apart.
            let mixed = token.wrapping_mul(0x9e37_79b9);
            let hash = (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca6b);
            let least = &mut bins[hash as usize % BINS];
            *least = hash.min(*least);
        }
        Sketch(bins)
    }

    fn is_like(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).filter(|(own, other)| own == other).count() >= ALIKE
    }
}

/// Some sets of a collection, with their sketches.
pub(super) struct Sketched<'s> {
    pub sets: &'s Sets,
    pub range: Range<usize>,
    pub similarity: Similarity,
    /// By set of the range.
    pub sketches: Vec<Sketch>,
}

/// Sets by a least hash of theirs: for each bin (least hash, set of the range), sorted.
pub(super) type ByHash = Vec<Vec<(u32, u32)>>;

impl<'s> Sketched<'s> {
    pub fn new(sets: &'s Sets, range: Range<usize>, similarity: Similarity, threads: usize) -> Self {
        let mut sketches = vec![Sketch::default(); range.len()];
        fill(&mut sketches, threads, |local| Sketch::of(sets.get(range.start + local)));
        Sketched { sets, range, similarity, sketches }
    }

    /// The sets that `takes` by their least hashes.
    pub fn by_hash(&self, takes: impl Fn(u32) -> bool + Sync, threads: usize) -> ByHash {
        each(0..BINS, threads, |bin| {
            let hashes = (0..).zip(&self.sketches).map(|(local, sketch)| (sketch.0[bin], local));
            let mut all: Vec<(u32, u32)> =
                hashes.filter(|(hash, local)| *hash != EMPTY && takes(*local)).collect();
            all.sort_unstable();
            all
        })
    }

    /// Whether a set of the range is in the answer together with a set of these tokens and this size.
    fn is_pair(&self, (tokens, size): (&[u32], usize), local: u32) -> bool {
        let set = self.range.start + local as usize;
        let needed = self.similarity.overlap_needed(size as u64, self.sets.size(set) as u64);
        verify::merge(tokens, self.sets.get(set), 0, needed as usize).is_some()
    }

    /// Connects sets with a common least hash, each with the first and with the last one before it, where they are in the answer together;
    /// `number` is a set's in the forest, and `link` takes the pairs that joined two components. Gives how many pairs were compared, and
    /// how many of them joined two components.
    pub fn unite(
        &self,
        number: impl Fn(u32) -> u32,
        forest: &mut UnionFind,
        threads: usize,
        mut link: impl FnMut(u32, u32),
    ) -> (u64, u64) {
        let (mut compared, mut joined) = (0, 0);
        for all in self.by_hash(|_| true, threads) {
            for equal in all.chunk_by(|x, y| x.0 == y.0) {
                for (at, &(_, local)) in equal.iter().enumerate().skip(1) {
                    let set = self.range.start + local as usize;
                    let own = (self.sets.get(set), self.sets.size(set));
                    for (_, other) in [equal[0], equal[at - 1]] {
                        let like = self.sketches[local as usize].is_like(&self.sketches[other as usize]);
                        if like && forest.find(number(local)) != forest.find(number(other)) {
                            compared += 1;
                            if self.is_pair(own, other) {
                                joined += 1;
                                forest.union(number(local), number(other));
                                link(number(local), number(other));
                            }
                        }
                    }
                }
            }
        }
        (compared, joined)
    }

    /// The sets of the range that are in the answer together with an earlier one that is not among them, of those with a least hash
    /// that many have; `order` are all of them, as they are taken. Gives besides how many pairs were compared.
    pub fn members(&self, order: &[u32], threads: usize) -> (u64, Vec<u32>) {
        let mut hash_of = vec![[NONE; BINS]; self.sketches.len()];
        // By hash that many have: sets that are no members.
        let mut centres: Vec<Vec<u32>> = Vec::new();
        for (bin, all) in self.by_hash(|_| true, threads).into_iter().enumerate() {
            for equal in all.chunk_by(|x, y| x.0 == y.0).filter(|equal| equal.len() >= MANY) {
                equal.iter().for_each(|(_, local)| hash_of[*local as usize][bin] = centres.len() as u32);
                centres.push(Vec::new());
            }
        }
        let (mut compared, mut members, mut seen) = (0, Vec::new(), Vec::new());
        for &local in order {
            let hashes = hash_of[local as usize].iter().filter(|hash| **hash != NONE);
            seen.clear();
            seen.extend(hashes.clone().flat_map(|hash| &centres[*hash as usize]));
            seen.sort_unstable();
            seen.dedup();
            let set = self.range.start + local as usize;
            let own = (self.sets.get(set), self.sets.size(set));
            let is_near = |centre: &u32| {
                let like = self.sketches[local as usize].is_like(&self.sketches[*centre as usize]);
                compared += u64::from(like);
                like && self.is_pair(own, *centre)
            };
            if seen.iter().any(is_near) {
                members.push(local);
                continue;
            }
            for hash in hashes {
                let centres = &mut centres[*hash as usize];
                if centres.len() < COMPARED {
                    centres.push(local);
                }
            }
        }
        (compared, members)
    }

    /// The first set of `by_hash` that has a least hash in common with a set of these tokens and this size and is in the answer together
    /// with it. Gives besides how many were compared.
    pub fn find(&self, (tokens, size): (&[u32], usize), by_hash: &ByHash) -> (u64, Option<u32>) {
        let (sketch, mut compared) = (Sketch::of(tokens), 0);
        for (all, hash) in by_hash.iter().zip(sketch.0) {
            let first = all.partition_point(|(other, _)| *other < hash);
            let equal = all[first..].iter().take_while(|(other, _)| *other == hash).take(COMPARED);
            for &(_, local) in equal.filter(|(_, local)| sketch.is_like(&self.sketches[*local as usize])) {
                compared += 1;
                if self.is_pair((tokens, size), local) {
                    return (compared, Some(local));
                }
            }
        }
        (compared, None)
    }
}
