//! The components of the pairs of a collection, without the pairs.
//!
//! Who asks for components does not ask for each pair, and of sets that are alike there are many: 20,000 pages of one template are 200
//! million pairs, of which 19,999 connect them all. What is left out here is known before it is looked at, so the components are those
//! of all pairs:
//!
//! 1. **Neighbours.** In each part, sets with least hashes in common are compared ([`neighbours`](super::neighbours)), and united where they are in
//!    the answer. Of a cluster that is nearly all there is to do.
//! 2. **Order.** The part's sets are put in the order of (size, component, number), so that of each posting list the sets of a component
//!    are a few stretches. The part's first set stays the first, and its component comes before others of its size: it is no query.
//!    Where stretches would be few and short, sets stay in their order, which spares a copy of them.
//! 3. **Queries** pass over the stretches of their own component ([`known`](super::known)), at the price of one search for each of them and list; a query
//!    whose window is one such stretch ends at once. Of the candidates that are left, none is verified that is connected with the query
//!    already, and one suffices of each component.
//!
//! The queries go in rounds. During a round the forest stays as it is, so that what is done does not depend on threads; the pairs that were
//! found are united after it.

mod slice;

use super::bitmap_index::Costs;
use super::known::Connected;
use super::neighbours::{ByHash, Sketch, Sketched};
use super::parallel::{BLOCK, STRETCH, STRETCHES, Shard, Source, WORTH, load_part, queries_of};
use super::{Index, Purpose, Scratch, Work};
use crate::cluster::union_find::UnionFind;
use crate::join::sets::Sets;
use crate::similarity::Similarity;
use crate::threads::each;
use rustc_hash::FxHashSet;
pub use slice::ConnectedSlice;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A stretch of fewer sets of one component is not worth a search in each list.
const LONG: usize = if cfg!(test) { 2 } else { 16 };

/// Where stretches hold no more pairs than so many for each set, to copy all sets costs more than these pairs.
const FEW_PAIRS: usize = 4;

/// Unites the sets of `source` that are in the answer together, by number, until no pair is left that would join two components. Gives
/// what that took, and how many pairs joined two of them.
///
/// Parts, progress and panics are as in [`join_shards`](super::join_shards).
pub fn join_components<S: Source>(
    source: &S,
    parts: &[Shard],
    similarity: impl Into<Similarity>,
    threads: usize,
    on_progress: &(dyn Fn(usize) + Sync),
    forest: &mut UnionFind,
) -> Result<(Work, u64), S::Error> {
    let similarity = similarity.into();
    let (mut work, mut joined) = (Work::default(), 0);
    let mut scratches: Vec<Scratch> = (0..threads.max(1)).map(|_| Scratch::default()).collect();
    for part in parts.iter().filter(|part| part.len() > 0) {
        let (mut buffer, mut share) = (Sets::default(), Sets::default());
        let (sets, range) = load_part(source, *part, &mut buffer, &mut share)?;
        let (part, sketches, copy) = Part::of(sets, range, *part, similarity, threads, forest, |_, _| ());
        let sets = match &copy {
            Some(copy) => {
                // What was read goes before there is an index.
                drop((buffer, share));
                copy
            }
            None => sets,
        };
        work.shards += 1;
        work.candidates += part.compared;
        joined += part.joined;
        joined += part.hold((sets, sketches), source, &mut scratches, on_progress, forest, &mut work)?;
    }
    Ok((work, joined))
}

/// The long stretches of sets of one component, of sets in this order: size, component and number of each. A member, and the sets.
fn long_stretches(order: &[(usize, u32, u32)]) -> Vec<(u32, Range<u32>)> {
    let (mut stretches, mut start) = (Vec::new(), 0);
    for stretch in order.chunk_by(|x, y| x.1 == y.1) {
        let end = start + stretch.len() as u32;
        if stretch.len() >= LONG {
            stretches.push((stretch[0].1, start..end));
        }
        start = end;
    }
    stretches
}

/// A part of a collection, ready for queries.
struct Part {
    shard: Shard,
    similarity: Similarity,
    /// By set, in the order of size, and where that is worth it then of component, its number in the collection.
    numbers: Vec<u32>,
    /// By set of the shard, in the collection's order, where it stands among these.
    places: Vec<u32>,
    /// What stretches of its sets are in one component: a member, and the sets.
    stretches: Vec<(u32, Range<u32>)>,
    compared: u64,
    joined: u64,
}

impl Part {
    /// Of the sets of a range, which are those of the shard. Gives their sketches in the order of the part, too, and a copy of them unless they
    /// have it already.
    fn of(
        sets: &Sets,
        range: Range<usize>,
        shard: Shard,
        similarity: Similarity,
        threads: usize,
        forest: &mut UnionFind,
        link: impl FnMut(u32, u32),
    ) -> (Self, Vec<Sketch>, Option<Sets>) {
        let number = |local: u32| shard.number(local as usize) as u32;
        let sketched = Sketched::new(sets, range.clone(), similarity, threads);
        let (compared, joined) = sketched.unite(number, forest, threads, link);

        let first = forest.find(number(0));
        let key = |(local, set): (u32, usize)| (sets.size(set), forest.find(number(local)), local);
        let mut order: Vec<(usize, u32, u32)> = (0..).zip(range.clone()).map(key).collect();
        order.sort_unstable_by_key(|&(size, component, local)| (size, component != first, component, local));
        let mut stretches = long_stretches(&order);
        // At most so many pairs are spared by this order.
        let spared = stretches.iter().map(|(_, sets)| sets.len() * sets.len() / 2).sum::<usize>();
        let (sketches, copy) = if range == (0..sets.len()) && spared <= FEW_PAIRS * order.len() {
            order.sort_unstable_by_key(|(_, _, local)| *local);
            stretches = long_stretches(&order);
            (sketched.sketches, None)
        } else {
            let locals = || order.iter().map(|(_, _, local)| *local as usize);
            let row = |set: usize| (sets.get(set), sets.singleton(set));
            let rows: Vec<(&[u32], usize)> = locals().map(|local| row(range.start + local)).collect();
            let sketches = locals().map(|local| sketched.sketches[local]).collect();
            (sketches, Some(Sets::of(&rows, threads)))
        };
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(place, (_, _, local))| places[*local as usize] = place);
        let numbers = order.iter().map(|(_, _, local)| number(*local)).collect();
        (Part { shard, similarity, numbers, places, stretches, compared, joined }, sketches, copy)
    }

    /// Holds all queries against the part, its sets with their sketches; gives how many pairs joined two components.
    fn hold<S: Source>(
        &self,
        (sets, sketches): (&Sets, Vec<Sketch>),
        source: &S,
        scratches: &mut [Scratch],
        on_progress: &(dyn Fn(usize) + Sync),
        forest: &mut UnionFind,
        work: &mut Work,
    ) -> Result<u64, S::Error> {
        let (all, threads) = (0..sets.len(), scratches.len());
        let costs = Costs { words: false, ..Costs::default() };
        let (similarity, purpose) = (self.similarity, Purpose::SelfJoin);
        let (asked, classes) = ((similarity, purpose), sets.classes().clone());
        let mut index = Index::build_at(sets, all.clone(), asked, classes, costs, threads);
        let sketched = Sketched { sets, range: all, similarity, sketches };
        let by_hash = self.representatives(&sketched, threads);
        let queries = queries_of(source, &self.shard, self.similarity);
        let step = queries.len().div_ceil(STRETCHES).max(STRETCH);
        let (mut start, mut visited, mut joined, mut since) = (queries.start, 0, 0, 0);
        while start < queries.end {
            let end = queries.end.min(start.saturating_add(step));
            let round = Round::new(self, &index, &sketched, &by_hash, forest);
            let (pairs, of_round) = round.queries(source, start..end, scratches, on_progress)?;
            for (x, y) in pairs {
                since += usize::from(forest.union(x, y));
            }
            visited += of_round.postings;
            *work += of_round;
            // Paths stay short, at the price of a visit of each set for a share of the pairs.
            if since > forest.len() / 16 {
                forest.flatten();
                (joined, since) = (joined + since, 0);
            }
            if end < queries.end && visited >= index.postings() as u64 * WORTH {
                index.prune_expired(source.size_of(end) as u64);
                visited = 0;
            }
            start = end;
        }
        Ok((joined + since) as u64)
    }

    /// The stretches by component, as the forest is now, ascending in each: the components, and the sets.
    fn by_component(&self, forest: &UnionFind) -> (Vec<u32>, Vec<Range<u32>>) {
        let root = |(member, stretch): &(u32, Range<u32>)| (forest.root(*member), stretch.start, stretch.end);
        let mut stretches: Vec<(u32, u32, u32)> = self.stretches.iter().map(root).collect();
        stretches.sort_unstable();
        // Components that have become one may be neighbours.
        stretches.dedup_by(|next, last| {
            let goes_on = next.0 == last.0 && next.1 == last.2;
            if goes_on {
                last.2 = next.2;
            }
            goes_on
        });
        stretches.into_iter().map(|(root, start, end)| (root, start..end)).unzip()
    }

    /// Sets of large components by their least hashes, for the sets that come from elsewhere: of each component and hash the first.
    fn representatives(&self, sketched: &Sketched<'_>, threads: usize) -> ByHash {
        let mut component = vec![u32::MAX; self.numbers.len()];
        for (of, stretch) in &self.stretches {
            component[stretch.start as usize..stretch.end as usize].fill(*of);
        }
        let mut by_hash = sketched.by_hash(|set| component[set as usize] != u32::MAX, threads);
        for all in &mut by_hash {
            all.dedup_by_key(|(hash, set)| (*hash, component[*set as usize]));
        }
        by_hash
    }
}

/// Pairs of sets, by number in the forest, each of which joins two components.
type Links = Vec<(u32, u32)>;

/// The stretches of a component, of those by component.
fn ranges_of<'r>(roots: &[u32], ranges: &'r [Range<u32>], root: u32) -> &'r [Range<u32>] {
    let first = roots.partition_point(|other| *other < root);
    &ranges[first..first + roots[first..].partition_point(|other| *other == root)]
}

/// Queries that see one state of the forest.
struct Round<'p> {
    part: &'p Part,
    index: &'p Index<&'p Sets>,
    sketched: &'p Sketched<'p>,
    by_hash: &'p ByHash,
    forest: &'p UnionFind,
    /// The part's stretches by component, ascending in each: the components, and the sets.
    roots: Vec<u32>,
    ranges: Vec<Range<u32>>,
}

impl<'p> Round<'p> {
    fn new(
        part: &'p Part,
        index: &'p Index<&'p Sets>,
        sketched: &'p Sketched<'p>,
        by_hash: &'p ByHash,
        forest: &'p UnionFind,
    ) -> Self {
        let (roots, ranges) = part.by_component(forest);
        Round { part, index, sketched, by_hash, forest, roots, ranges }
    }

    /// The stretches of a component.
    fn ranges(&self, root: u32) -> &[Range<u32>] {
        ranges_of(&self.roots, &self.ranges, root)
    }

    /// Pairs that join components, by number in the forest, and what it took to find them.
    fn queries<S: Source>(
        &self,
        source: &S,
        queries: Range<usize>,
        scratches: &mut [Scratch],
        on_progress: &(dyn Fn(usize) + Sync),
    ) -> Result<(Links, Work), S::Error> {
        let next = AtomicUsize::new(queries.start);
        let threads = scratches.len();
        let work = |scratch: &mut Scratch| {
            let (mut pairs, mut buffer) = (Vec::new(), Sets::default());
            loop {
                let start = next.fetch_add(BLOCK, Ordering::Relaxed);
                if start >= queries.end {
                    return Ok(pairs);
                }
                let end = (start + BLOCK).min(queries.end);
                let mut loaded = start;
                while loaded < end {
                    let some = loaded..source.at_once(loaded..end);
                    loaded = some.end;
                    let (sets, base) = source.load(some.clone(), &mut buffer)?;
                    for x in some {
                        let query = (sets.get(x - base), sets.singleton(x - base));
                        self.query(x, query, scratch, &mut pairs);
                    }
                }
                on_progress(end - start);
            }
        };
        let found: Result<Vec<Links>, S::Error> =
            each(scratches.iter_mut(), threads, work).into_iter().collect();
        let mut all = Work { queries: queries.len() as u64, ..Work::default() };
        scratches.iter_mut().for_each(|scratch| all += std::mem::take(&mut scratch.work));
        Ok((found?.concat(), all))
    }

    fn query(
        &self,
        x: usize,
        (tokens, singleton): (&[u32], usize),
        scratch: &mut Scratch,
        pairs: &mut Links,
    ) {
        let Part { shard, numbers, places, .. } = self.part;
        let member = x >= shard.first && x < shard.end && (x - shard.first).is_multiple_of(shard.step);
        // A set of the part is held against those before it there; any other one against all, and is none of them.
        let limit = if member { places[shard.before(x)] as usize } else { usize::MAX };
        let root = self.forest.root(x as u32);
        let (forest, ranges) = (self.forest, self.ranges(root));
        let mut known = Connected { forest, numbers, root, joined: FxHashSet::default(), ranges };
        if !member && known.ranges.is_empty() && !self.ranges.is_empty() {
            let (compared, like) = self.sketched.find((tokens, tokens.len() + singleton), self.by_hash);
            scratch.work.candidates += compared;
            if let Some(set) = like {
                let other = numbers[set as usize];
                pairs.push((x as u32, other));
                known.joined.insert(forest.root(other));
                known.ranges = self.ranges(forest.root(other));
            }
        }
        self.index.query_besides(&mut known, (tokens, singleton), limit, scratch, |set, _| {
            pairs.push((x as u32, numbers[set]));
        });
    }
}

#[cfg(test)]
mod tests;
