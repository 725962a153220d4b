//! Clusters of MinHash without most of their candidates: those of all candidates that pass the check.
//!
//! **Components.** What is connected already is not looked at ([`twinsplit_core::cluster::bucket`]). Bands go in rounds; during one the forest stays
//! as it is, so that what is counted does not depend on threads. What shares a key of a round before has been compared there, and is no pair
//! where it is not connected; what shares two keys of one round may be compared twice.
//!
//! **Stars.** In keep order, a document is held against the centres before it that share a key with it, best first, and joins the
//! first that it is similar to; where there is none it is a centre. That is the definition, and no two documents are compared of which
//! neither is a centre. The documents of a block are held against the centres before the block by all threads, and those that are left
//! against the centres inside of it one after the other.

use super::{Comparer, Met, MinHashJoin};
use crate::columnar::join::edge_sorter;
use crate::columnar::sorter::{pack, unpack};
use std::sync::atomic::{AtomicU64, Ordering};
use twinsplit_core::cluster::bucket::connect;
use twinsplit_core::cluster::union_find::UnionFind;
use twinsplit_core::threads::in_threads;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stage::Counters;

/// Bands of a round.
const ROUND: usize = 4;

/// Rows of a block, and documents of it that a thread takes at a time.
const BLOCK: usize = if cfg!(test) { 16 } else { 1 << 14 };
const SOME: usize = if cfg!(test) { 2 } else { 64 };

/// No entry.
const NONE: u32 = u32::MAX;

/// Centres by the keys that they share.
#[derive(Default)]
struct Centres {
    /// By key the last entry.
    last: Vec<u32>,
    /// The rank of a centre, and the entry before, which is of a better one.
    entries: Vec<(u32, u32)>,
}

impl Centres {
    /// The ranks of the centres from one on that share some key of these rows, ascending.
    fn of(&self, rows: &[u64], from: u32) -> Vec<u32> {
        let mut ranks = Vec::new();
        for row in rows {
            let mut at = self.last[unpack(*row).1 as usize];
            while at != NONE && self.entries[at as usize].0 >= from {
                ranks.push(self.entries[at as usize].0);
                at = self.entries[at as usize].1;
            }
        }
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// The document of these rows is a centre.
    fn add(&mut self, rows: &[u64]) {
        for (rank, key) in rows.iter().map(|row| unpack(*row)) {
            let last = &mut self.last[key as usize];
            self.entries.push((rank, std::mem::replace(last, self.entries.len() as u32)));
        }
    }

    fn bytes(&self) -> usize {
        self.last.len() * 4 + self.entries.len() * 8
    }
}

impl MinHashJoin<'_> {
    /// Connects the sets of the candidates that pass the check; gives how many pairs joined two components.
    pub(super) fn connect(&self, forest: &mut UnionFind, met: &Met) -> Result<u64> {
        let (bands, mut joined) = (self.band_count(), 0);
        for first in (0..bands).step_by(ROUND) {
            let known = &*forest;
            let links = self.bands(first..bands.min(first + ROUND), |band| {
                let (mut by, mut bucket, mut links) = (Comparer::default(), Vec::new(), Vec::new());
                self.buckets(band, met, |same| {
                    bucket.clear();
                    bucket.extend(same.iter().map(|(_, set)| (known.root(*set), *set)));
                    links.extend(connect(&mut bucket, |x, y| {
                        self.admit(1, met)?;
                        Ok::<bool, Error>(self.compare((x, y), first, &mut by)?.is_some())
                    })?);
                    Ok(())
                })?;
                met.add(&by);
                Ok(links)
            })?;
            for (x, y) in links.concat() {
                joined += u64::from(forest.union(x, y));
            }
            forest.flatten();
        }
        Ok(joined)
    }

    /// By set the label of its star; `ranks` are by set, the lowest the first in keep order. Gives besides what was counted.
    pub fn stars(&self, ranks: &[u32]) -> Result<(Vec<u32>, Counters)> {
        let (met, keys) = (Met::default(), AtomicU64::new(0));
        let rows = edge_sorter((self.budget, self.run.work), self.groups.count());
        self.bands(0..self.band_count(), |band| {
            let mut writer = rows.writer();
            self.buckets(band, &met, |same| {
                let key = u32::try_from(keys.fetch_add(1, Ordering::Relaxed)).ok().filter(|key| *key < NONE);
                let key = key.ok_or_else(|| {
                    Error::Limit("lsh-bands: four billion keys are shared; give fewer --bands".to_owned())
                })?;
                same.iter().try_for_each(|(_, set)| writer.push(pack(ranks[*set as usize], key)))
            })?;
            writer.finish()
        })?;
        let mut sets = vec![0; ranks.len()];
        (0..).zip(ranks).for_each(|(set, rank)| sets[*rank as usize] = set);
        let centres = Centres { last: vec![NONE; keys.into_inner() as usize], entries: Vec::new() };
        let mut stars = Stars { join: self, met: &met, sets, centres, centre_of: ranks.to_vec(), held: 0 };
        let mut pending: Vec<u64> = Vec::new();
        let mut again = rows.drain_all(self.run.threads, &mut |rows| {
            for row in rows {
                // The rows of a document come one after the other.
                let is_next = pending.last().is_some_and(|last| unpack(*last).0 != unpack(*row).0);
                if is_next && pending.len() >= BLOCK {
                    stars.block(&pending)?;
                    pending.clear();
                }
                pending.push(*row);
            }
            Ok(())
        })?;
        stars.block(&pending)?;
        again += rows.spilled();
        let Stars { centre_of, held, .. } = stars;
        self.budget.release(held);
        let joined = (0..).zip(ranks);
        let joined = joined.filter(|(set, rank): &(usize, &u32)| centre_of[*set] != **rank).count() as u64;
        let mut counters = met.counters();
        counters.extend(self.audit()?);
        counters.insert("joined_pairs".to_owned(), joined);
        counters.insert("spilled_bytes".to_owned(), again);
        Ok((centre_of, counters))
    }
}

/// Stars in the making.
struct Stars<'j> {
    join: &'j MinHashJoin<'j>,
    met: &'j Met,
    /// By rank.
    sets: Vec<u32>,
    centres: Centres,
    /// By set the rank of its centre.
    centre_of: Vec<u32>,
    /// Bytes of the budget.
    held: usize,
}

impl Stars<'_> {
    /// Settles the documents of some rows.
    fn block(&mut self, rows: &[u64]) -> Result<()> {
        let documents: Vec<&[u64]> = rows.chunk_by(|x, y| unpack(*x).0 == unpack(*y).0).collect();
        let Some(first) = documents.first().map(|rows| unpack(rows[0]).0) else { return Ok(()) };
        let some: Vec<&[&[u64]]> = documents.chunks(SOME).collect();
        let before = in_threads(some.len(), self.join.run.threads, |at| {
            let mut by = Comparer::default();
            let found = some[at].iter().map(|rows| self.first_centre(rows, 0, &mut by));
            let found = found.collect::<Result<Vec<Option<u32>>>>()?;
            self.met.add(&by);
            Ok::<_, Error>(found)
        })?;
        let mut by = Comparer::default();
        for (rows, before) in documents.iter().zip(before.concat()) {
            let centre = match before {
                Some(centre) => Some(centre),
                None => self.first_centre(rows, first, &mut by)?,
            };
            match centre {
                Some(centre) => {
                    let set = self.sets[unpack(rows[0]).0 as usize];
                    self.centre_of[set as usize] = centre;
                }
                None => self.centres.add(rows),
            }
        }
        self.met.add(&by);
        self.hold()
    }

    /// The best centre, from a rank on, that the document of these rows is similar to.
    fn first_centre(&self, rows: &[u64], from: u32, by: &mut Comparer) -> Result<Option<u32>> {
        let set = self.sets[unpack(rows[0]).0 as usize];
        for rank in self.centres.of(rows, from) {
            self.join.admit(1, self.met)?;
            if self.join.compare((self.sets[rank as usize], set), 0, by)?.is_some() {
                return Ok(Some(rank));
            }
        }
        Ok(None)
    }

    /// Holds what centres take.
    fn hold(&mut self) -> Result<()> {
        let bytes = self.centres.bytes();
        if let Some(enough) = self.join.budget.enough_for(bytes) {
            return Err(Error::Limit(format!(
                "lsh-bands: the keys that centres of stars share take {} MB beside their documents; give at least --memory {}",
                bytes.div_ceil(1 << 20),
                enough.div_ceil(1 << 20)
            )));
        }
        self.join.budget.hold(bytes.saturating_sub(self.held));
        self.held = self.held.max(bytes);
        Ok(())
    }
}
