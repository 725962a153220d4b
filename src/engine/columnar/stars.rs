//! Star clusters without most of their pairs ([`StarJoin`]).

use super::groups::Groups;
use super::join::{Found, edge_sorter, parts};
use super::sorter::{pack, unpack};
use super::{ColumnarRun, counters_of};
use crate::cluster::star::Stars;
use crate::engine::memory::Budget;
use crate::engine::progress::Unit;
use crate::error::Result;
use crate::join::kernel::{JoinPair, Source, StarJoin, Work, index_shards, queries};
use crate::stage::Counters;
use crate::threads::{lock, unlocked};
use std::sync::Mutex;

impl ColumnarRun<'_> {
    /// By set the label of its star, where no pairs are written; `ranks` are by set. Gives besides what was counted.
    pub(super) fn stars(
        &self,
        groups: &Groups,
        ranks: &[u32],
        budget: &Budget,
    ) -> Result<(Vec<u32>, Counters)> {
        let (store, similarity) = (&groups.store, self.opts.similarity.0);
        let (parts, held) = parts(store, &self.opts, Found::Stars, self.threads, budget);
        let threads = store.readers(1, held, self.threads, budget);
        budget.hold(held);
        let smaller = index_shards(store, &parts, similarity)?;
        let mut join = StarJoin::new(store, &parts, similarity, ranks, threads)?;
        let (mut work, mut joined, mut spilled) = (Work::default(), 0, 0);
        let mut edges = edge_sorter((budget, self.work), groups.count());
        let labels = loop {
            self.progress.start(
                "docsplit-query",
                "joining",
                Unit::Sets,
                queries(store, &smaller, similarity) as u64,
            );
            let writer = Mutex::new((edges.writer(), &mut joined));
            let take = |pairs: &[JoinPair]| {
                let (writer, joined) = &mut *lock(&writer);
                **joined += pairs.len() as u64;
                pairs.iter().try_for_each(|pair| {
                    let (x, y) = (ranks[pair.a as usize], ranks[pair.b as usize]);
                    writer.push(pack(x.max(y), x.min(y)))
                })
            };
            work += join.round(&smaller, &|sets| self.progress.add(sets as u64), &take)?;
            unlocked(writer).0.finish()?;
            spilled += edges.spilled();

            // A sorter is empty when it has been read, and another round's pairs come in between these.
            let next = edge_sorter((budget, self.work), groups.count());
            let mut kept = join.has_members().then(|| next.writer());
            let mut stars = Stars::new(groups.count() as usize);
            spilled += edges.drain_all(self.threads, &mut |edges| {
                for edge in edges {
                    let (worse, better) = unpack(*edge);
                    stars.edge(worse, better);
                    if let Some(kept) = &mut kept {
                        kept.push(*edge)?;
                    }
                }
                Ok(())
            })?;
            if let Some(kept) = kept {
                kept.finish()?;
            }
            let centre = |set: usize| stars.centre(ranks[set]);
            if !join.goes_on(|set| centre(set) == ranks[set]) {
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
