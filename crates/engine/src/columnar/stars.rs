//! Star clusters: from edges between sets, and without most of their pairs ([`StarJoin`]).

use super::groups::Groups;
use super::join::{Found, edge_sorter};
use super::sorter::{Sorter, pack, unpack};
use super::{ColumnarRun, IndexParts, counters_of};
use crate::memory::Budget;
use std::sync::Mutex;
use twinsplit_core::cluster::star::Stars;
use twinsplit_core::join::kernel::{JoinPair, Source, StarJoin, Work};
use twinsplit_core::threads::{lock, unlocked};
use twinsplit_io::error::Result;
use twinsplit_rows::stage::Counters;

/// The edge of a pair of sets: their ranks, the worse one first.
pub fn edge(ranks: &[u32], pair: &JoinPair) -> u64 {
    let (x, y) = (ranks[pair.a as usize], ranks[pair.b as usize]);
    pack(x.max(y), x.min(y))
}

/// The stars of so many sets by their edges, which go to `visit` as well. Gives besides how many bytes were dealt out again on disk.
pub fn stars_of(
    edges: &Sorter<'_, u64>,
    sets: u32,
    threads: usize,
    mut visit: impl FnMut(u64) -> Result<()>,
) -> Result<(Stars, u64)> {
    let mut stars = Stars::new(sets as usize);
    let spilled = edges.drain_all(threads, &mut |edges| {
        edges.iter().try_for_each(|edge| {
            let (worse, better) = unpack(*edge);
            stars.edge(worse, better);
            visit(*edge)
        })
    })?;
    Ok((stars, spilled))
}

impl ColumnarRun<'_> {
    /// By set the label of its star, where no pairs are written; `ranks` are by set. Gives besides what was counted.
    pub(super) fn stars(
        &self,
        groups: &Groups,
        ranks: &[u32],
        budget: &Budget,
    ) -> Result<(Vec<u32>, Counters)> {
        let (store, sets) = (&groups.store, groups.count());
        let IndexParts { parts, shards, threads, held } = self.index_parts(store, Found::Stars, budget)?;
        let mut join = StarJoin::new(store, &parts, self.opts.similarity.0, ranks, threads)?;
        let (mut work, mut joined, mut spilled) = (Work::default(), 0, 0);
        let mut edges = edge_sorter((budget, self.work), sets);
        let labels = loop {
            self.start_joining(store, &shards);
            let writer = Mutex::new((edges.writer(), &mut joined));
            let take = |pairs: &[JoinPair]| {
                let (writer, joined) = &mut *lock(&writer);
                **joined += pairs.len() as u64;
                pairs.iter().try_for_each(|pair| writer.push(edge(ranks, pair)))
            };
            work += join.round(&shards, &|sets| self.progress.add(sets as u64), &take)?;
            unlocked(writer).0.finish()?;
            spilled += edges.spilled();

            // A sorter is empty when it has been read, and another round's pairs come in between these.
            let next = edge_sorter((budget, self.work), sets);
            let mut kept = join.has_members().then(|| next.writer());
            let keep = |edge| kept.as_mut().map_or(Ok(()), |kept| kept.push(edge));
            let (stars, again) = stars_of(&edges, sets, self.threads, keep)?;
            spilled += again;
            kept.map_or(Ok(()), |kept| kept.finish())?;
            let centre = |set: usize| stars.centre(ranks[set]);
            if !join.next_round(|set| centre(set) == ranks[set]) {
                break (0..store.sets()).map(centre).collect();
            }
            edges = next;
        };
        budget.release(held);
        let mut counters = counters_of(work);
        counters.insert("slices".to_owned(), parts.len() as u64);
        counters.insert("joined_pairs".to_owned(), joined);
        counters.insert("spilled_bytes".to_owned(), spilled);
        Ok((labels, counters))
    }
}
