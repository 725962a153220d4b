//! Which two of the documents under one key are looked at: all, or those that components need.
//!
//! Documents that are alike have their keys in common, and each two of a list are a pair. Where components alone are asked for, a list is
//! gone through twice. First each document is paired with its *hub*, the list's first one, and with the one before it. What is connected
//! by such pairs is known then; the second time the other pairs are left out whose two ends are connected already. So a list of documents
//! that are alike costs as many pairs as it has documents, and what is left out changes no component.

use super::components::ForestSize;
use crate::record::Record;
use crate::record::cluster::Label;
use crate::record::posting::{BlockPair, Posting};
use crate::stage::SideFile;
use std::ops::Range;
use std::path::PathBuf;
use twinsplit_core::cluster::components::Components;
use twinsplit_io as io;
use twinsplit_io::error::Result;

twinsplit_core::options! {
    /// Which pairs of a list are candidates.
    pub struct ListPairsOpts {
        /// Pair each document of a list with the list's first one and with the one before it alone; set by chains
        hubs: Hubs = "off";
        /// Documents that are connected, as large-star-reduce wrote them: pair two of these with --hubs alone, and all others; set by chains
        connected: Option<PathBuf>, "FILE";
    }
    with {
        size: ForestSize,
    }
}

twinsplit_core::choice! {
    /// See [`ListPairsOpts`].
    enum Hubs {
        /// All pairs.
        Off = "off",
        /// Those with hubs.
        On = "on",
    }
}

/// The option and its value by which a step asks for hubs alone.
pub const HUBS: (&str, &str) = ("hubs", "on");

/// The option that names what is connected.
pub const CONNECTED: &str = "connected";

/// Chooses the pairs of lists.
pub struct ListPairs {
    /// Those with hubs, and of the others none, or those that are not connected.
    hubs: bool,
    connected: Option<Components>,
}

impl ListPairs {
    /// The side file of what is connected.
    pub const SIDE: SideFile = SideFile {
        option: CONNECTED,
        about: "documents that are connected, as large-star-reduce wrote them; optional",
    };

    /// As the options ask. Of a file with more documents than a forest may have those that come first are known.
    pub fn open(opts: &ListPairsOpts) -> Result<Self> {
        let mut connected = None;
        if let Some(path) = &opts.connected {
            let graph = connected.insert(Components::default());
            io::each_row(path, |line| {
                let row = Label::decode(line)?;
                if !opts.size.is_full(graph) {
                    graph.union(row.id, row.label);
                }
                Ok(())
            })?;
        }
        Ok(Self { hubs: connected.is_some() || opts.hubs == Hubs::On, connected })
    }

    /// Whether some pairs are left out.
    pub fn leaves_out(&self) -> bool {
        self.hubs
    }

    /// The pairs of two blocks of a list, which hold these postings.
    pub fn of(&mut self, list: &BlockPair<'_>, postings: &[Posting<'_>]) -> Pairs {
        let ids = postings.iter().map(|posting| posting.id);
        let components = self.connected.as_mut().map(|graph| graph.of(ids));
        Pairs {
            left: list.left_count as usize,
            all: postings.len(),
            is_first: list.left == 0,
            is_one: list.left == list.right,
            hubs: self.hubs,
            components: components.filter(|all| all.iter().any(|component| *component != all[0])),
        }
    }
}

/// The pairs of two blocks.
pub struct Pairs {
    /// How many postings are of the left block, and how many there are.
    left: usize,
    all: usize,
    /// Whether the left block is the first of its list, and whether it is the right one, too.
    is_first: bool,
    is_one: bool,
    hubs: bool,
    /// By posting, where there are several.
    components: Option<Vec<u32>>,
}

impl Pairs {
    /// Calls `visit` with the places of each two postings that are a candidate, one of the left block and one of the right block.
    pub fn each(&self, mut visit: impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
        for at in 0..self.left {
            let all = if self.is_one { at + 1..self.left } else { self.left..self.all };
            let near = self.near(at, &all);
            near.clone().try_for_each(|other| visit(at, other))?;
            let Some(components) = &self.components else { continue };
            // What is near comes first, so that the others follow.
            let mut others = (near.end..all.end).filter(|other| components[at] != components[*other]);
            others.try_for_each(|other| visit(at, other))?;
        }
        Ok(())
    }

    /// Of all postings that one may be paired with, those that it is whatever is known: all where there are no hubs or it is the first of the
    /// list, and else the next one.
    fn near(&self, at: usize, all: &Range<usize>) -> Range<usize> {
        let count = match (!self.hubs || at == 0 && self.is_first, self.is_one) {
            (true, _) => all.len(),
            (false, true) => all.len().min(1),
            (false, false) => 0,
        };
        all.start..all.start + count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use twinsplit_core::cluster::union_find::UnionFind;

    /// The pairs of a list of so many documents, in blocks of so many.
    fn pairs(chosen: &mut ListPairs, count: usize, block: usize) -> Vec<(usize, usize)> {
        let ids: Vec<String> = (0..count).map(|id| format!("{id:03}")).collect();
        let posting = |at: usize| Posting { id: ids[at].as_bytes(), size: 1, mark: None };
        let blocks: Vec<Range<usize>> =
            (0..count).step_by(block).map(|start| start..count.min(start + block)).collect();
        let mut found = Vec::new();
        for (left, of_left) in blocks.iter().enumerate() {
            for (right, of_right) in blocks.iter().enumerate().skip(left) {
                let others = if left == right { 0..0 } else { of_right.clone() };
                let places: Vec<usize> = of_left.clone().chain(others).collect();
                let postings: Vec<Posting<'_>> = places.iter().map(|at| posting(*at)).collect();
                let (left, right, left_count) = (left as u64, right as u64, of_left.len() as u64);
                let list = BlockPair { feature: 0, left, right, marked: false, left_count, postings: b"" };
                let visit = |x: usize, y: usize| {
                    found.push((places[x].min(places[y]), places[x].max(places[y])));
                    Ok(())
                };
                chosen.of(&list, &postings).each(visit).unwrap();
            }
        }
        found.sort_unstable();
        found
    }

    proptest! {
        /// What is a candidate and a pair connects all that pairs of a list connect, each candidate comes once, and by hubs alone come two for each
        /// document at most.
        #[test]
        fn components_stay_and_alike_documents_cost_two_looks(
            count in 2usize..40, block in 1usize..40, edges in prop::collection::btree_set((0usize..40, 0usize..40), 0..80),
            alike in any::<bool>(),
        ) {
            let is_pair = |x: usize, y: usize| alike || edges.contains(&(x, y)) || edges.contains(&(y, x));
            let all = pairs(&mut ListPairs { hubs: false, connected: None }, count, block);
            prop_assert_eq!(all.len(), count * (count - 1) / 2);
            let by_hubs = pairs(&mut ListPairs { hubs: true, connected: None }, count, block);
            prop_assert!(by_hubs.len() <= 2 * count && by_hubs.len() >= count - 1);

            let mut connected = Components::default();
            for (x, y) in by_hubs.iter().filter(|(x, y)| is_pair(*x, *y)) {
                connected.union(format!("{x:03}").as_bytes(), format!("{y:03}").as_bytes());
            }
            let rest = pairs(&mut ListPairs { hubs: true, connected: Some(connected) }, count, block);
            prop_assert!(rest.windows(2).all(|two| two[0] < two[1]));
            prop_assert!(!alike || rest == by_hubs);
            let labels = |pairs: &[(usize, usize)]| {
                let mut forest = UnionFind::new(count as u32);
                pairs.iter().filter(|(x, y)| is_pair(*x, *y)).for_each(|(x, y)| {
                    forest.union(*x as u32, *y as u32);
                });
                forest.into_labels()
            };
            prop_assert_eq!(labels(&rest), labels(&all));
        }
    }
}
