//! The join, part by part, and what becomes of a pair of sets.
//!
//! When the sets and an index over all of them fit, there is one part. Otherwise the sets are cut into as few parts as
//! the memory allows; the index of one is in memory while the sets that may have partners there are streamed past it.
//!
//! No pair is kept that the answer does not need: components grow as pairs come, stars need the pairs of sets, and
//! pairs of documents, when they are written, go through a sorter. They are counted before anything is
//! written: above `--max-pairs` no more are taken in, and the count goes on, so that the message can give it.

use super::ColumnarOpts;
use super::documents::Documents;
use super::groups::Groups;
use super::reduce::AlikePairs;
use super::sorter::{FrameOfReference, Row, SortWriter, Sorter, pack};
use super::stars::edge;
use super::store::Store;
use crate::memory::Budget;
use std::ops::Range;
use std::path::Path;
use twinsplit_core::cluster::union_find::UnionFind;
use twinsplit_core::join::kernel::{JoinPair, MOST_COMMON, Shard, Source, may_have_bitmaps, may_have_words};
use twinsplit_core::join::slices::{SizeCount, Wanted, plan_slices};
use twinsplit_core::similarity::{SetSimilarity, Similarity};
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stages::index_doc::Partition;

/// A pair of documents by number, and what they share.
#[derive(Clone, Copy, Debug, Default)]
pub struct PairRow {
    /// Both, the smaller number first.
    pub documents: u64,
    /// How many features they share.
    pub overlap: u32,
}

impl Row for PairRow {
    const MOST: usize = 12;

    #[inline]
    fn least(_: FrameOfReference) -> usize {
        Self::MOST
    }

    #[inline]
    fn key(&self) -> u64 {
        self.documents
    }

    #[inline]
    fn put(&self, _: &Self, _: FrameOfReference, out: &mut [u8]) -> usize {
        out[..8].copy_from_slice(&self.documents.to_le_bytes());
        out[8..12].copy_from_slice(&self.overlap.to_le_bytes());
        12
    }

    #[inline]
    fn get(bytes: &mut &[u8], _: &Self, _: FrameOfReference) -> Option<Self> {
        let documents = bytes.split_off(..8)?.try_into().ok().map(u64::from_le_bytes)?;
        let overlap = bytes.split_off(..4)?.try_into().ok().map(u32::from_le_bytes)?;
        Some(Self { documents, overlap })
    }
}

/// Some sets, and what an index over them takes.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    sets: usize,
    stored: usize,
    postings: usize,
}

impl Load {
    /// Adds a set of such a size, of which so many tokens are stored.
    fn add(&mut self, stored: usize, size: usize, similarity: Similarity) {
        let longest = (similarity.index_prefix(size as u64) + MOST_COMMON) as usize;
        self.sets += 1;
        self.stored += stored;
        self.postings += longest.saturating_sub(size - stored).min(stored);
    }

    /// One of so many equal shares.
    fn share(&self, shares: usize) -> Self {
        let of = |all: usize| all.div_ceil(shares);
        Self { sets: of(self.sets), stored: of(self.stored), postings: of(self.postings) }
    }

    /// Bytes of the index, of the sets themselves as often as they are copied, and of what each thread counts and remembers. An
    /// index has a list for each of at most so many tokens. A posting takes 8 bytes, and 12 with its bitmap; a list its start
    /// and each thread's place in it, 4 each; a set its signature and its share of what grows with queries; words what their kind
    /// takes for each token, and each thread's bits of all tokens.
    fn bytes(&self, of: &Held) -> usize {
        let lists = self.postings.min(of.tokens);
        let bitmaps = if may_have_bitmaps(self.stored, self.sets, of.tokens) { 12 } else { 0 };
        let sets = of.copies * (self.stored * 4 + self.sets * 12);
        let words = of.words.filter(|_| may_have_words(self.stored, self.sets));
        let words = words.map_or(0, |bytes| self.stored * bytes + of.threads * of.tokens / 8);
        let order = match of.found {
            Found::Components => self.sets * 64,
            Found::Stars => self.sets * 80,
            Found::Pairs | Found::Candidates => 0,
        };
        let index = self.postings * (8 + bitmaps) + lists * (4 + 4 * of.threads);
        sets + words + order + index + self.sets * (92 + of.threads * 16)
    }
}

/// What a join finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Pairs, as Doc-Split does.
    Pairs,
    /// Pairs, from candidates that are put down before.
    Candidates,
    /// Components, without pairs: of sets in the order of their components.
    Components,
    /// Stars, with few pairs: of sets by what they are to their star.
    Stars,
}

/// What is held with an index.
struct Held {
    found: Found,
    /// Different tokens.
    tokens: usize,
    /// How often the sets of the index are copied.
    copies: usize,
    threads: usize,
    /// Bytes of the sets as words, for each stored token, where there may be words.
    words: Option<usize>,
}

impl Held {
    fn of(store: &Store, found: Found, threads: usize, copied: bool) -> Self {
        let copies = usize::from(copied) + usize::from(matches!(found, Found::Components | Found::Stars));
        let words = matches!(found, Found::Pairs | Found::Stars).then(|| store.word_bytes());
        Self { found, tokens: store.tokens(), copies, threads, words }
    }
}

/// Stops when the largest set that enters the join, of the document with this number, does not fit: what is in memory of it at
/// least is itself as it is made, or an index of it and itself as a query.
pub fn admit_largest(
    documents: &Documents,
    (number, stored): (u32, usize),
    similarity: Similarity,
    budget: &Budget,
) -> Result<()> {
    let place = documents.order[number as usize];
    let size = documents.sizes[place as usize] as usize;
    let mut load = Load::default();
    load.add(stored, size, similarity);
    let one = Held { found: Found::Pairs, tokens: stored, copies: 1, threads: 1, words: None };
    let index = load.bytes(&one) + stored * 4;
    let needs = (index + index / 8).max(stored * 8);
    let Some(enough) = budget.enough_for(needs) else { return Ok(()) };
    let megabytes = |bytes: usize| bytes.div_ceil(1 << 20);
    Err(Error::Limit(format!(
        "equal-sets: {}: the document has {size} features, {stored} of them in others too, which take {} MB while they are \
         compared; --memory {} is too small: give at least {} MB, or correct the file (--max-line bounds the length of a line)",
        documents.place(place),
        megabytes(needs),
        megabytes(budget.memory()),
        megabytes(enough)
    )))
}

/// The parts that are indexed one at a time, and the bytes that the largest takes.
pub fn parts(
    store: &Store,
    opts: &ColumnarOpts,
    found: Found,
    threads: usize,
    budget: &Budget,
) -> (Vec<Shard>, usize) {
    let similarity = opts.similarity.0;
    let all = store.sets();
    if opts.partition.partition == Partition::ByTask {
        let mut total = Load::default();
        (0..all).for_each(|set| total.add(store.stored(set), store.size_of(set), similarity));
        let asked = opts.slices.slices.map_or(threads, |slices| slices.clamp(1, u32::MAX.into()) as usize);
        let held = Held::of(store, found, threads, true);
        let share = |shares: usize| total.share(shares).bytes(&held);
        let (room, most) = (room(threads, budget), all.max(1));
        let shares = (asked.min(most)..most).find(|shares| share(*shares) <= room).unwrap_or(most);
        let parts = (0..shares).map(|first| Shard { first, end: all, step: shares }).collect();
        return (parts, share(shares));
    }
    neighbours(store, opts.slices.slices.unwrap_or(1), (similarity, found), threads, budget)
}

/// Bytes for the index of a part: half of what is to spare, or the buffers that sort rows, none of which is in use while sets are joined.
/// Without these a run whose documents leave nothing to spare would make a part of each set, and hold all sets against each.
fn room(threads: usize, budget: &Budget) -> usize {
    (budget.spare() / 2).max(threads * budget.sort_buffer())
}

/// As [`parts`], of neighbouring sets: so many slices, and more where one does not fit.
pub fn neighbours(
    store: &Store,
    slices: u64,
    (similarity, found): (Similarity, Found),
    threads: usize,
    budget: &Budget,
) -> (Vec<Shard>, usize) {
    let room = room(threads, budget);
    let held = Held::of(store, found, threads, store.in_memory().is_none());
    let bytes = |load: Load| load.bytes(&held);
    let (mut parts, mut largest) = (Vec::new(), 0);
    for range in ranges(store, slices, similarity) {
        let (mut start, mut held) = (range.start, Load::default());
        for set in range.clone() {
            let before = held;
            let (stored, size) = (store.stored(set), store.size_of(set));
            held.add(stored, size, similarity);
            if bytes(held) > room && set > start {
                parts.push(Shard::range(start..set));
                largest = largest.max(bytes(before));
                start = set;
                held = Load::default();
                held.add(stored, size, similarity);
            }
        }
        largest = largest.max(bytes(held));
        parts.push(Shard::range(start..range.end));
    }
    (parts, largest)
}

/// So many slices as ranges of sets, which are sorted by size.
fn ranges(store: &Store, slices: u64, similarity: Similarity) -> Vec<Range<usize>> {
    let mut counts: Vec<SizeCount> = Vec::new();
    for set in 0..store.sets() {
        let size = store.size_of(set) as u64;
        match counts.last_mut() {
            Some(count) if count.size == size => count.docs += 1,
            _ => counts.push(SizeCount { size, docs: 1 }),
        }
    }
    let mut start = 0;
    plan_slices(&counts, similarity, Wanted::Slices(slices))
        .iter()
        .map(|slice| {
            let range = start..start + slice.docs as usize;
            start = range.end;
            range
        })
        .collect()
}

/// What the clusters need of the pairs of sets.
pub enum Links<'s, 'b> {
    /// For components.
    Forest(UnionFind),
    /// For stars: pairs of ranks, the worse one first.
    Edges {
        /// By set.
        ranks: &'s [u32],
        /// Where they go.
        edges: SortWriter<'s, 'b, u64>,
    },
    /// Where as many documents are dropped as are too many: pairs of ranks, and how alike they are.
    Alike {
        /// By set.
        ranks: &'s [u32],
        /// All of them.
        pairs: AlikePairs<'b>,
    },
}

/// What is left of the links when all pairs are in.
pub enum Linked<'b> {
    /// The components.
    Forest(UnionFind),
    /// The edges are where they were to go.
    Edges,
    /// The pairs.
    Alike(AlikePairs<'b>),
}

/// Takes in the pairs of sets as the join finds them.
pub struct Pairs<'s, 'b> {
    groups: &'s Groups,
    links: Links<'s, 'b>,
    /// Where pairs of documents go, when they are written.
    written: Option<SortWriter<'s, 'b, PairRow>>,
    limit: u64,
    joined: u64,
    count: u64,
}

impl<'s, 'b> Pairs<'s, 'b> {
    /// Starts with the pairs inside groups of equal sets.
    pub fn new(
        groups: &'s Groups,
        links: Links<'s, 'b>,
        written: Option<SortWriter<'s, 'b, PairRow>>,
        limit: u64,
    ) -> Result<Self> {
        let mut pairs = Self { groups, links, written, limit, joined: 0, count: 0 };
        for set in 0..groups.count() {
            let members = groups.members(set);
            let overlap = groups.store.size_of(set as usize) as u32;
            pairs.count += groups.size(set) * (groups.size(set) - 1) / 2;
            if pairs.writes() {
                for (at, &x) in members.iter().enumerate().skip(1) {
                    pairs.write(&members[..at], x, overlap)?;
                }
            }
        }
        Ok(pairs)
    }

    /// What is to be found.
    pub fn found(&self) -> Found {
        match &self.links {
            Links::Forest(_) if self.written.is_none() => Found::Components,
            _ => Found::Pairs,
        }
    }

    /// The forest and the number of pairs that grow it, where components alone are to be found.
    pub fn forest_alone(&mut self) -> Option<(&mut UnionFind, &mut u64)> {
        match &mut self.links {
            Links::Forest(forest) if self.written.is_none() => Some((forest, &mut self.joined)),
            _ => None,
        }
    }

    /// Takes in pairs of sets.
    pub fn take(&mut self, found: &[JoinPair]) -> Result<()> {
        for pair in found {
            let counts = match &mut self.links {
                Links::Forest(forest) => forest.union(pair.a, pair.b) || self.written.is_some(),
                Links::Edges { ranks, edges } => {
                    edges.push(edge(ranks, pair))?;
                    true
                }
                Links::Alike { ranks, pairs } => {
                    pairs.push(ranks, pair)?;
                    true
                }
            };
            self.joined += u64::from(counts);
            self.count += self.groups.size(pair.a) * self.groups.size(pair.b);
            if self.writes() {
                for &x in self.groups.members(pair.a) {
                    self.write(self.groups.members(pair.b), x, pair.overlap)?;
                }
            }
        }
        Ok(())
    }

    /// Whether pairs of documents are written, and there are not too many already.
    fn writes(&self) -> bool {
        self.written.is_some() && self.count <= self.limit
    }

    /// Writes the pairs of one document with others.
    fn write(&mut self, others: &[u32], x: u32, overlap: u32) -> Result<()> {
        let Some(written) = &mut self.written else { return Ok(()) };
        others
            .iter()
            .try_for_each(|&y| written.push(PairRow { documents: pack(x.min(y), x.max(y)), overlap }))
    }

    /// How many pairs of sets there were, how many of documents, and what the clusters need. Pairs above
    /// the limit are an error where they would be written.
    pub fn finish(self) -> Result<(u64, u64, Linked<'b>)> {
        if let Some(written) = self.written {
            if self.count > self.limit {
                return Err(Error::Limit(format!(
                    "there are {} pairs, more than --max-pairs {}; --write clusters writes none of them",
                    self.count, self.limit
                )));
            }
            written.finish()?;
        }
        let linked = match self.links {
            Links::Forest(forest) => Linked::Forest(forest),
            Links::Edges { edges, .. } => {
                edges.finish()?;
                Linked::Edges
            }
            Links::Alike { pairs, .. } => Linked::Alike(pairs),
        };
        Ok((self.joined, self.count, linked))
    }
}

/// A place in which sets and rows may go to files.
pub type Place<'b> = (&'b Budget, &'b Path);

/// A sorter of pairs of documents, of which there are so many documents.
pub fn pair_sorter<'b>((budget, folder): Place<'b>, documents: usize) -> Sorter<'b, PairRow> {
    Sorter::new(budget, folder, 0, pack((documents as u32).saturating_sub(1), u32::MAX))
}

/// A sorter of edges between so many sets.
pub fn edge_sorter<'b>((budget, folder): Place<'b>, sets: u32) -> Sorter<'b, u64> {
    Sorter::new(budget, folder, 0, pack(sets.saturating_sub(1), u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::store::{StorePart, StoreWriter};
    use super::*;
    use crate::memory::{PROGRAM, THREAD};
    use twinsplit_rows::params::Params;

    /// The parts of so many sets when all memory is held, half a megabyte for each thousand of them.
    fn parts_without_memory(sets: u32, partition: &str) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let budget = Budget::new(PROGRAM + 2 * THREAD + sets as usize * 500, 2).unwrap();
        budget.hold(budget.spare());
        let mut writer =
            StoreWriter::new(&budget, folder.path(), sets as usize, u64::from(sets) * 20).unwrap();
        let mut part = StorePart::default();
        (0..sets).for_each(|set| part.push(&(10 * set..10 * set + 20).collect::<Vec<u32>>(), 0));
        writer.append(&part).unwrap();
        let store = writer.finish().unwrap();
        assert!(store.in_memory().is_none() && budget.spare() == 0);
        let mut params = Params::default();
        for (name, value) in [("features", "lines"), ("tau", "0.5"), ("partition", partition)] {
            params.set(name, value);
        }
        let (parts, _) = parts(&store, &params.parse::<ColumnarOpts>().unwrap(), Found::Pairs, 2, &budget);
        parts.len()
    }

    /// Memory grows with the sets here, and so does the size of a part.
    #[test]
    fn parts_do_not_grow_with_the_sets_when_no_memory_is_to_spare() {
        for partition in ["by-size", "by-task"] {
            let (some, twice) =
                (parts_without_memory(2_000, partition), parts_without_memory(4_000, partition));
            assert!(some <= 20 && twice <= some + 1, "{partition}: {some}, then {twice}");
        }
    }
}
