//! The self-join of a whole collection: part by part, and on several threads.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::known::Nothing;
use super::strategy::JoinStrategy;
use super::{Index, Scratch, Work};
use crate::join::sets::Sets;
use crate::similarity::{SetSimilarity, Similarity};
use crate::threads::each;

/// A pair of the answer: the numbers of two sets, `a < b`, and how many tokens they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JoinPair {
    /// The earlier set, which is not the larger one.
    pub a: u32,
    /// The later set.
    pub b: u32,
    /// The number of tokens in both.
    pub overlap: u32,
}

/// Queries that a thread takes at a time: enough to make the counter cheap, few enough to share out
/// the large sets at the end of the collection.
pub(super) const BLOCK: usize = 64;

/// Pairs that a thread holds before it hands them over.
const BATCH: usize = 4096;

/// Where a join takes its sets from: a collection in memory, or one that is read as it is needed. Its sets
/// are in the order that [`Sets`] asks for.
pub trait Source: Sync {
    /// Why a set could not be had.
    type Error: Send;

    /// The number of sets.
    fn sets(&self) -> usize;

    /// The number of tokens of a set, singleton ones included.
    fn size_of(&self, set: usize) -> usize;

    /// The end of the sets of a range, from its first one on, that should be loaded at once: all, where they take no room.
    fn at_once(&self, range: Range<usize>) -> usize {
        range.end
    }

    /// A collection that holds the sets of a range, and the number that its first set has here. What has to be read is
    /// read into `buffer`.
    fn load<'s>(
        &'s self,
        range: Range<usize>,
        buffer: &'s mut Sets,
    ) -> Result<(&'s Sets, usize), Self::Error>;
}

impl Source for Sets {
    type Error = Infallible;

    fn sets(&self) -> usize {
        self.len()
    }

    fn size_of(&self, set: usize) -> usize {
        self.size(set)
    }

    fn load<'s>(&'s self, _: Range<usize>, _: &'s mut Sets) -> Result<(&'s Sets, usize), Infallible> {
        Ok((self, 0))
    }
}

/// Takes pairs in, a few thousand at a time, of several threads at once.
pub type Sink<'s, E> = dyn Fn(&[JoinPair]) -> Result<(), E> + Sync + 's;

/// A part of a collection that is indexed at once: every `step`th of the sets from `first` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The first set.
    pub first: usize,
    /// The sets of the part are numbered below.
    pub end: usize,
    /// 1 for a slice of neighbouring sizes; `n` for one of `n` shares of a collection that is dealt out.
    pub step: usize,
}

impl Shard {
    /// The sets of a range.
    pub fn range(range: Range<usize>) -> Self {
        Shard { first: range.start, end: range.end, step: 1 }
    }

    /// How many sets there are in the part.
    pub(super) fn len(&self) -> usize {
        self.before(self.end)
    }

    /// How many sets of the part stand before set `x`.
    pub(super) fn before(&self, x: usize) -> usize {
        x.min(self.end).saturating_sub(self.first).div_ceil(self.step)
    }

    /// The number of the part's set that has so many before it.
    pub(super) fn number(&self, local: usize) -> usize {
        self.first + local * self.step
    }
}

/// A collection in memory as a single part, or as few as there can be.
pub fn whole(sets: &Sets) -> Vec<Shard> {
    // An index counts its postings in 32 bits; only a collection beyond that needs a second slice.
    let mut parts = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for set in 0..sets.len() {
        if tokens + sets.size(set) > u32::MAX as usize {
            parts.push(Shard::range(start..set));
            (start, tokens) = (set, 0);
        }
        tokens += sets.size(set);
    }
    parts.push(Shard::range(start..sets.len()));
    parts
}

/// What a join hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Every pair of similar sets.
    Pairs,
    /// The same, with one way through the index of every part, whatever a sample says; to measure it.
    PairsBy(JoinStrategy),
    /// Every pair that shares a token within both prefixes, with the number of tokens that the prefixes share. Those of one
    /// thread come ascending by the later set, then by the earlier.
    Candidates,
}

/// Hands what is `asked` of the pairs of `source` to `sink`, each once, with an index over one part at a time. Gives what that took.
///
/// It ends soon after an error of `sink`. Each set is in one of the parts. The pairs come in any order, a few thousand at a
/// time. `on_progress` is told how many sets have been held against a part, as that happens.
///
/// # Panics
/// When a part holds 2^32 prefix tokens or more, and when `sink` or `on_progress` panics.
pub fn join_shards<S: Source, E: From<S::Error> + Send>(
    source: &S,
    parts: &[Shard],
    similarity: impl Into<Similarity>,
    asked: Asked,
    threads: usize,
    on_progress: &(dyn Fn(usize) + Sync),
    sink: &Sink<'_, E>,
) -> Result<Work, E> {
    let similarity = similarity.into();
    let mut work = Work::default();
    let mut scratches: Vec<Scratch> = (0..threads.max(1)).map(|_| Scratch::default()).collect();
    let (mut buffer, mut share) = (Sets::default(), Sets::default());
    for part in parts.iter().filter(|part| part.len() > 0) {
        let (sets, range) = load_part(source, *part, &mut buffer, &mut share)?;
        let index = Index::build_to_join(sets, range, similarity, asked, threads);
        let queries = queries_of(source, part, similarity);
        work.shards += 1;
        let index = PartIndex { index, numbers: *part, asks: |_: usize| true };
        work += index.hold(source, queries, &mut scratches, on_progress, sink)?;
    }
    Ok(work)
}

/// The sets of a part: a collection that holds them, and where. What has to be read or dealt out goes into `buffer` and `share`.
pub(super) fn load_part<'s, S: Source>(
    source: &'s S,
    part: Shard,
    buffer: &'s mut Sets,
    share: &'s mut Sets,
) -> Result<(&'s Sets, Range<usize>), S::Error> {
    if part.step == 1 {
        let (sets, base) = source.load(part.first..part.end, buffer)?;
        return Ok((sets, part.first - base..part.end - base));
    }
    share.clear();
    deal(source, part, share)?;
    Ok((share, 0..part.len()))
}

/// Which sets of a collection an index holds, in order.
pub(super) trait Numbering: Sync {
    /// How many of them stand before set `x`.
    fn before(&self, x: usize) -> usize;

    /// The number of the one that has so many before it.
    fn number(&self, local: usize) -> usize;
}

impl Numbering for Shard {
    fn before(&self, x: usize) -> usize {
        Shard::before(self, x)
    }

    fn number(&self, local: usize) -> usize {
        Shard::number(self, local)
    }
}

/// Numbers of sets, ascending.
impl Numbering for Vec<u32> {
    fn before(&self, x: usize) -> usize {
        self.partition_point(|number| (*number as usize) < x)
    }

    fn number(&self, local: usize) -> usize {
        self[local] as usize
    }
}

/// After a stretch of its queries an index may prune what no later one can use: there are so many stretches, but none of
/// fewer queries. It does so when, since it did last, so many times its postings were visited: to prune is to visit each
/// once. Tests join a few dozen sets, so there it prunes after every few of them.
pub(super) const STRETCHES: usize = 32;
pub(super) const STRETCH: usize = if cfg!(test) { 8 } else { 4096 };
pub(super) const WORTH: u64 = if cfg!(test) { 0 } else { 8 };

/// How many sets hold at most `size` tokens.
fn count_up_to(source: &impl Source, size: u64) -> usize {
    let (mut low, mut high) = (0, source.sets());
    while low < high {
        let middle = low + (high - low) / 2;
        if source.size_of(middle) as u64 <= size { low = middle + 1 } else { high = middle }
    }
    low
}

/// The sets that may have an earlier partner in a part that is not empty.
pub(super) fn queries_of(source: &impl Source, part: &Shard, similarity: Similarity) -> Range<usize> {
    queries_between(source, part.first, part.number(part.len() - 1), similarity)
}

/// The same for some sets of which these are the first and the last.
pub(super) fn queries_between(
    source: &impl Source,
    first: usize,
    last: usize,
    similarity: Similarity,
) -> Range<usize> {
    // The first of them has none; sets far larger than all have none.
    let largest = similarity.max_partner(source.size_of(last) as u64);
    first + 1..count_up_to(source, largest).max(first + 1)
}

/// How many sets a join has to hold against its parts in all: what `on_progress` will have been told in the end.
pub fn queries(source: &impl Source, parts: &[Shard], similarity: impl Into<Similarity>) -> usize {
    let similarity = similarity.into();
    let parts = parts.iter().filter(|part| part.len() > 0);
    parts.map(|part| queries_of(source, part, similarity).len()).sum()
}

/// Gathers the sets of a part that are no neighbours.
fn deal<S: Source>(source: &S, part: Shard, share: &mut Sets) -> Result<(), S::Error> {
    let mut buffer = Sets::default();
    let mut end = 0;
    while end < part.end {
        let start = end;
        end = source.at_once(start..(start + BLOCK).min(part.end));
        let (sets, base) = source.load(start..end, &mut buffer)?;
        for local in part.before(start)..part.before(end) {
            let set = part.number(local) - base;
            share.push_with_singletons(sets.get(set), sets.singleton(set));
        }
    }
    Ok(())
}

/// An index, the sets that it holds, and which sets are held against it.
pub(super) struct PartIndex<'s, N, A> {
    pub index: Index<&'s Sets>,
    pub numbers: N,
    pub asks: A,
}

impl<N: Numbering, A: Fn(usize) -> bool + Sync> PartIndex<'_, N, A> {
    /// Holds the sets of a range against the index, which drops on the way what no later one can use. Gives what that took.
    pub fn hold<S: Source, E: From<S::Error> + Send>(
        mut self,
        source: &S,
        queries: Range<usize>,
        scratches: &mut [Scratch],
        on_progress: &(dyn Fn(usize) + Sync),
        sink: &Sink<'_, E>,
    ) -> Result<Work, E> {
        let stretch = queries.len().div_ceil(STRETCHES).max(STRETCH);
        let (mut work, mut start, mut visited) = (Work::default(), queries.start, 0);
        while start < queries.end {
            let end = queries.end.min(start.saturating_add(stretch));
            let of_stretch = self.hold_stretch(source, start..end, scratches, on_progress, sink)?;
            visited += of_stretch.postings;
            work += of_stretch;
            if end < queries.end && visited >= self.index.postings() as u64 * WORTH {
                self.index.prune_expired(source.size_of(end) as u64);
                visited = 0;
            }
            start = end;
        }
        Ok(work)
    }

    /// Holds some of them against the index as it is, on a thread for each scratch.
    fn hold_stretch<S: Source, E: From<S::Error> + Send>(
        &self,
        source: &S,
        queries: Range<usize>,
        scratches: &mut [Scratch],
        on_progress: &(dyn Fn(usize) + Sync),
        sink: &Sink<'_, E>,
    ) -> Result<Work, E> {
        let Self { index, numbers, asks } = self;
        let next = AtomicUsize::new(queries.start);
        let threads = scratches.len();
        let work = |scratch: &mut Scratch| {
            let (mut pairs, mut asked) = (Vec::with_capacity(BATCH), 0);
            let mut buffer = Sets::default();
            let hand_over = |pairs: &mut Vec<JoinPair>| {
                let result = sink(pairs);
                pairs.clear();
                if result.is_err() {
                    next.store(queries.end, Ordering::Relaxed);
                }
                result
            };
            loop {
                let start = next.fetch_add(BLOCK, Ordering::Relaxed);
                if start >= queries.end {
                    return hand_over(&mut pairs).map(|()| asked);
                }
                let end = (start + BLOCK).min(queries.end);
                let (mut failed, mut loaded) = (Ok(()), start);
                while loaded < end {
                    let some = loaded..source.at_once(loaded..end);
                    loaded = some.end;
                    let (sets, base) = source.load(some.clone(), &mut buffer)?;
                    for x in some.filter(|x| asks(*x)) {
                        asked += 1;
                        let limit = index.range.start + numbers.before(x);
                        let query = x - base;
                        let set = (sets.get(query), sets.singleton(query));
                        let hit = |y: usize, overlap: u64| {
                            let a = numbers.number(y - index.range.start) as u32;
                            pairs.push(JoinPair { a, b: x as u32, overlap: overlap as u32 });
                            if pairs.len() >= BATCH && failed.is_ok() {
                                failed = hand_over(&mut pairs);
                            }
                        };
                        index.query_besides(&mut Nothing, set, limit, scratch, hit);
                    }
                }
                failed?;
                on_progress(end - start);
            }
        };
        let asked: Result<Vec<u64>, E> = each(scratches.iter_mut(), threads, work).into_iter().collect();
        let mut all = Work { queries: asked?.iter().sum(), ..Work::default() };
        scratches.iter_mut().for_each(|scratch| all += std::mem::take(&mut scratch.work));
        Ok(all)
    }
}
