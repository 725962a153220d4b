//! A slice in memory whose components are asked for by sets that come from anywhere, one after the other.
//!
//! As where a whole collection is joined ([`super`]): neighbours are united first, the slice's sets are put in the order of components, and a query passes over
//! what it is known to be connected with. Here the forest takes each pair in at once, for there is one thread, and knows the slice's sets alone:
//! sets from elsewhere connect these, and leave nothing else behind.

use super::{Costs, Part, ranges_of};
use crate::cluster::union_find::UnionFind;
use crate::join::kernel::known::Connected;
use crate::join::kernel::neighbours::{ByHash, Sketch, Sketched};
use crate::join::kernel::{Index, Purpose, Scratch, Shard, overlap_of_sets};
use crate::join::sets::{Sets, TokenClasses};
use crate::similarity::Similarity;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// So many unions may go by before stretches are put together by component anew, where they are more than a share of the sets.
const STALE: usize = 256;

/// See the module.
pub struct ConnectedSlice {
    similarity: Similarity,
    part: Part,
    index: Index<Sets>,
    sketches: Vec<Sketch>,
    by_hash: ByHash,
    forest: UnionFind,
    /// The part's stretches by component, as the forest was some unions ago.
    roots: Vec<u32>,
    ranges: Vec<Range<u32>>,
    unions: usize,
    /// How many pairs were compared but by the index.
    compared: u64,
    scratch: Scratch,
}

impl ConnectedSlice {
    /// The sets, in the order of sizes; sets of one size are in any order.
    pub fn sets(&self) -> &Sets {
        self.index.sets()
    }

    /// Indexes sets, of which there are some, in the order of sizes; `link` takes the pairs that are found on the way, with their overlap. All pairs
    /// of the slice that it was told of connect what is passed over later.
    pub fn build(sets: Sets, similarity: Similarity, mut link: impl FnMut(usize, usize, u64)) -> Self {
        let all = 0..sets.len();
        let mut forest = UnionFind::new(sets.len() as u32);
        let found = |x: u32, y: u32| {
            let (x, y) = (x as usize, y as usize);
            let overlap = overlap_of_sets(sets.get(x), sets.get(y), 0);
            link(x, y, overlap.unwrap_or_default().into());
        };
        let shard = Shard::range(all.clone());
        let (part, sketches, copy) = Part::of(&sets, all.clone(), shard, similarity, 1, &mut forest, found);
        let sets = copy.unwrap_or(sets);
        let costs = Costs { words: false, ..Costs::default() };
        let asked = (similarity, Purpose::SelfJoin);
        // Queries may have some tokens of a class, and not others.
        let index = Index::build_at(sets, all.clone(), asked, TokenClasses::default(), costs, 1);
        let sketched = Sketched { sets: index.sets(), range: all, similarity, sketches };
        let by_hash = part.representatives(&sketched, 1);
        let sketches = sketched.sketches;
        let (roots, ranges) = part.by_component(&forest);
        let (unions, compared, scratch) = (0, part.compared, Scratch::default());
        Self { similarity, part, index, sketches, by_hash, forest, roots, ranges, unions, compared, scratch }
    }

    /// How many pairs were compared.
    pub fn verified(&self) -> u64 {
        self.compared + self.scratch.work().candidates
    }

    /// Calls `hit` with number, size and overlap of sets that are in the answer together with a set: of those that are not larger, and where it is one of the slice
    /// itself, `own`, stand before it, so many that these pairs connect what all pairs do. A set of another slice may meet a larger one, too.
    ///
    /// The set has these tokens of the slice, which ascend, and so many others.
    pub fn query(
        &mut self,
        own: Option<usize>,
        (tokens, others): (&[u32], usize),
        mut hit: impl FnMut(usize, usize, u64),
    ) {
        if self.unions > STALE.max(self.forest.len() / 16) {
            self.forest.flatten();
            (self.roots, self.ranges) = self.part.by_component(&self.forest);
            self.unions = 0;
        }
        let Self { part, index, forest, .. } = self;
        let limit = own.map_or(usize::MAX, |own| part.places[own] as usize);
        let root = own.map_or(u32::MAX, |own| forest.root(own as u32));
        let ranges = ranges_of(&self.roots, &self.ranges, root);
        let mut known =
            Connected { forest, numbers: &part.numbers, root, joined: FxHashSet::default(), ranges };
        let mut found: Vec<(usize, u64)> = Vec::new();
        if own.is_none() && !self.ranges.is_empty() {
            let range = 0..self.sketches.len();
            let sketches = std::mem::take(&mut self.sketches);
            let sketched = Sketched { sets: index.sets(), range, similarity: self.similarity, sketches };
            let (compared, like) = sketched.find((tokens, tokens.len() + others), &self.by_hash);
            self.compared += compared;
            self.sketches = sketched.sketches;
            if let Some(place) = like {
                let overlap = overlap_of_sets(tokens, index.sets().get(place as usize), 0);
                found.push((place as usize, overlap.unwrap_or_default().into()));
                let root = forest.root(part.numbers[place as usize]);
                known.joined.insert(root);
                known.ranges = ranges_of(&self.roots, &self.ranges, root);
            }
        }
        index.query_besides(&mut known, (tokens, others), limit, &mut self.scratch, |place, overlap| {
            found.push((place, overlap));
        });
        let mut first = own;
        for (place, overlap) in found {
            let set = part.numbers[place] as usize;
            hit(set, index.sets().size(place), overlap);
            match first {
                Some(first) => self.unions += usize::from(forest.union(first as u32, set as u32)),
                None => first = Some(set),
            }
        }
    }
}
