//! Of the pairs that a task finds, those that clusters follow from: a spanning forest.

use super::cluster::{ClusterKind, ClusterKindOpts};
use super::components::ForestSize;
use super::options::{SimilarityOpts, Write, WriteOpts};
use crate::stage::Task;
use twinsplit_core::cluster::components::Components;

twinsplit_core::options! {
    /// Whether all pairs are written, or those that connect components.
    pub struct PairsOpts {}
    with {
        write: WriteOpts,
        kind: ClusterKindOpts,
    }
}

twinsplit_core::options! {
    /// The same with the size of a forest that says which these are.
    pub struct ForestOpts {}
    with {
        pairs: PairsOpts,
        size: ForestSize,
    }
}

impl PairsOpts {
    /// Whether components are all that is made of the pairs.
    pub fn is_of_components(&self) -> bool {
        self.write.write == Write::Clusters && self.kind.cluster == ClusterKind::Components
    }
}

twinsplit_core::options! {
    /// What a stage that writes pairs of sets asks for.
    pub struct JoinedOpts {}
    with {
        /// The threshold.
        pub similarity: SimilarityOpts,
        /// Which pairs are written.
        pub forest: ForestOpts,
    }
}

/// Passes on the pairs that connect what those before did not. The forests of all tasks together have the components
/// of all pairs, and so has what comes of starting a new forest when the old one is too large: only more pairs are
/// passed on. Stars need every pair.
pub struct Forest {
    /// `None` passes on every pair.
    size: Option<ForestSize>,
    graph: Components,
    left_out: u64,
}

impl Forest {
    /// A forest, or what passes on every pair, as the options ask.
    pub fn new(opts: &ForestOpts) -> Self {
        let size = opts.pairs.is_of_components().then(|| opts.size.clone());
        Self { size, graph: Components::default(), left_out: 0 }
    }

    /// What passes on every pair.
    pub fn of_all() -> Self {
        Self { size: None, graph: Components::default(), left_out: 0 }
    }

    /// Whether pairs are asked for that connect components, and no others.
    pub fn connects(&self) -> bool {
        self.size.is_some()
    }

    /// By id, of some, a number of its component, as far as it is known.
    pub fn components<'i>(&mut self, ids: impl Iterator<Item = &'i [u8]>) -> Vec<u32> {
        self.graph.of(ids)
    }

    /// Whether a pair is to be written.
    pub fn needs(&mut self, a: &[u8], b: &[u8]) -> bool {
        let Some(size) = &self.size else { return true };
        if size.is_full(&self.graph) {
            self.graph.clear();
        }
        let needed = self.graph.union(a, b);
        self.left_out += u64::from(!needed);
        needed
    }

    /// Counts what was left out.
    pub fn finish(&self, task: &mut Task<'_>) {
        if self.size.is_some() {
            task.count("pairs_inside_clusters", self.left_out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use twinsplit_core::cluster::union_find::UnionFind;

    fn components(edges: &[(u8, u8)]) -> Vec<u32> {
        let mut sets = UnionFind::new(20);
        edges.iter().for_each(|(x, y)| {
            sets.union((*x).into(), (*y).into());
        });
        sets.into_labels()
    }

    proptest! {
        /// However often a forest is started anew, the components stay, and an endless one is a forest.
        #[test]
        fn a_forest_has_the_components_of_all_pairs(
            edges in prop::collection::vec((0u8..20, 0u8..20), 0..60), limit in 2usize..24,
        ) {
            let size = Some(ForestSize { forest: limit });
            let mut forest = Forest { size, graph: Components::default(), left_out: 0 };
            let kept: Vec<_> = edges.iter().copied().filter(|(x, y)| forest.needs(&[*x], &[*y])).collect();
            prop_assert_eq!(components(&kept), components(&edges));
            prop_assert_eq!(forest.left_out as usize, edges.len() - kept.len());
            if limit > 21 {
                prop_assert!(kept.len() < 20);
            }
        }
    }
}
