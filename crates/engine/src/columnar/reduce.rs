//! `--reduce-to`: which documents are dropped, so that as many stay as are asked for ([`twinsplit_core::cluster::reduce`]).
//!
//! The pairs of sets have to be in the order of their similarity, and are gone through twice. They stay in memory, 12 bytes each.

use super::documents::Documents;
use super::groups::Groups;
use super::{ColumnarOpts, named};
use crate::memory::Budget;
use std::cmp::Ordering;
use twinsplit_core::cluster::reduce::{Edge, Reduced, reduce, spare};
use twinsplit_core::join::kernel::{JoinPair, Source};
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stage::Counters;
use twinsplit_rows::stages::reduce::{Likeness, Outcome};

/// Pairs of sets by the ranks of these, with what they share, or the distance of fingerprints.
pub struct AlikePairs<'b> {
    edges: Vec<Edge<u32>>,
    budget: &'b Budget,
    held: usize,
}

impl<'b> AlikePairs<'b> {
    /// None yet.
    pub fn new(budget: &'b Budget) -> Self {
        Self { edges: Vec::new(), budget, held: 0 }
    }

    /// Takes in a pair.
    ///
    /// # Errors
    /// When there is no memory for as many.
    pub fn push(&mut self, ranks: &[u32], pair: &JoinPair) -> Result<()> {
        if self.edges.len() == self.edges.capacity() {
            self.grow()?;
        }
        self.edges.push(Edge::of(ranks[pair.a as usize], ranks[pair.b as usize], pair.overlap));
        Ok(())
    }

    /// Makes room for half as many more.
    fn grow(&mut self) -> Result<()> {
        let more = (self.edges.len() / 2).max(1 << 12);
        let bytes = more * size_of::<Edge<u32>>();
        // What spill files hold goes to disk for it.
        self.budget.hold(bytes);
        self.held += bytes;
        if let Some(enough) = self.budget.enough_for(self.held) {
            return Err(Error::Limit(format!(
                "--reduce-to holds the pairs of sets in memory, and there are more than {}; give at least --memory {}, or a higher --tau",
                self.edges.len(),
                enough.div_ceil(1 << 20)
            )));
        }
        self.edges.reserve_exact(more);
        Ok(())
    }
}

/// What came of it.
pub struct Reduction {
    /// By set the label of its cluster.
    pub labels: Vec<u32>,
    /// Documents that stay although they have the set or the text of another one, by number, ascending.
    pub spared: Vec<u32>,
    /// What was counted.
    pub counters: Counters,
}

impl From<Vec<u32>> for Reduction {
    /// Clusters that every document of theirs is in.
    fn from(labels: Vec<u32>) -> Self {
        Self { labels, spared: Vec::new(), counters: Counters::new() }
    }
}

/// Drops documents until as many are left as are `wanted`. `ranks` are by set.
pub fn reduced(
    (opts, wanted): (&ColumnarOpts, u64),
    documents: &Documents,
    groups: &Groups,
    ranks: &[u32],
    mut pairs: AlikePairs<'_>,
) -> Result<Reduction> {
    let drop = (documents.count() as u64).saturating_sub(wanted);
    let of_sets = (0..groups.count()).map(|set| groups.members(set));
    let mut copies: Vec<u32> = of_sets
        .chain(documents.texts.groups())
        .filter(|members| members.len() > 1)
        .flat_map(|members| {
            let best = members.iter().copied().min_by_key(|member| documents.rank(*member));
            members.iter().copied().filter(move |member| Some(*member) != best)
        })
        .collect();
    let mut spared = spare(&mut copies, drop, |copy| documents.rank(copy));
    spared.sort_unstable();

    let mut sets = vec![0; ranks.len()];
    (0_u32..).zip(ranks).for_each(|(set, rank)| sets[*rank as usize] = set);
    let (similarity, by_distance) = (opts.similarity.0, opts.fingerprints.is_some());
    let likeness = |edge: &Edge<u32>| match by_distance {
        true => Likeness::Fingerprints(edge.likeness, None),
        false => {
            let size = |rank: u32| groups.store.size_of(sets[rank as usize] as usize) as u64;
            Likeness::Sets(edge.likeness.into(), size(edge.worse), size(edge.better))
        }
    };
    let order =
        |x: &Edge<u32>, y: &Edge<u32>| -> Ordering { likeness(x).order(&likeness(y), similarity.measure()) };
    let dropped = copies.len() as u64;
    let Reduced { stands, last, lacking } = reduce(ranks.len(), &mut pairs.edges, drop - dropped, order);
    pairs.budget.release(pairs.held);
    let (documents, last) = (documents.count() as u64, last.as_ref().map(likeness));
    let outcome = Outcome { wanted, documents, copies: dropped, last, lacking };
    Ok(Reduction {
        labels: ranks.iter().map(|rank| sets[stands[*rank as usize] as usize]).collect(),
        spared,
        counters: named(&outcome.counters(similarity, by_distance)?),
    })
}
