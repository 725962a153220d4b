//! Of the pairs that a task finds, those that clusters follow from: a spanning forest.

use super::cluster::{ClusterKind, ClusterKindOpts};
use super::options::{TauOpts, Write, WriteOpts};
use crate::cluster::ids::Ids;
use crate::cluster::union_find::UnionFind;
use crate::stage::Task;
use clap::Args;

/// Whether all pairs are written.
#[derive(Args, Clone, Debug)]
pub struct ForestOpts {
    #[command(flatten)]
    write: WriteOpts,
    #[command(flatten)]
    kind: ClusterKindOpts,
    /// With --write clusters: documents whose forest a task holds (about 60 bytes each) before it starts another
    #[arg(long, env = "TWINSPLIT_FOREST", default_value_t = 1_000_000, value_name = "N")]
    forest: usize,
}

/// What a stage that writes pairs of sets asks for.
#[derive(Args, Clone, Debug)]
pub struct JoinedOpts {
    /// The threshold.
    #[command(flatten)]
    pub tau: TauOpts,
    /// Which pairs are written.
    #[command(flatten)]
    pub forest: ForestOpts,
}

/// Passes on the pairs that connect what those before did not. The forests of all tasks together have the components
/// of all pairs, and so has what comes of starting a new forest when the old one is too large: only more pairs are
/// passed on. Stars need every pair.
pub struct Forest {
    limit: Option<usize>,
    ids: Ids,
    components: UnionFind,
    left_out: u64,
}

impl Forest {
    /// A forest, or what passes on every pair, as the options ask.
    pub fn new(opts: &ForestOpts) -> Self {
        let clusters = opts.write.write == Write::Clusters && opts.kind.cluster == ClusterKind::Components;
        let limit = clusters.then_some(opts.forest.max(2));
        Self { limit, ids: Ids::default(), components: UnionFind::new(0), left_out: 0 }
    }

    /// Whether a pair is to be written.
    pub fn needs(&mut self, a: &[u8], b: &[u8]) -> bool {
        let Some(limit) = self.limit else { return true };
        if self.ids.len() + 2 > limit {
            self.ids.clear();
            self.components = UnionFind::new(0);
        }
        let (x, y) = (self.ids.number(a), self.ids.number(b));
        while self.components.len() < self.ids.len() {
            self.components.push();
        }
        let needed = self.components.union(x, y);
        self.left_out += u64::from(!needed);
        needed
    }

    /// Counts what was left out.
    pub fn finish(&self, task: &mut Task<'_>) {
        if self.limit.is_some() {
            task.count("pairs_inside_clusters", self.left_out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            let mut forest =
                Forest { limit: Some(limit), ids: Ids::default(), components: UnionFind::new(0), left_out: 0 };
            let kept: Vec<_> = edges.iter().copied().filter(|(x, y)| forest.needs(&[*x], &[*y])).collect();
            prop_assert_eq!(components(&kept), components(&edges));
            prop_assert_eq!(forest.left_out as usize, edges.len() - kept.len());
            if limit > 21 {
                prop_assert!(kept.len() < 20);
            }
        }
    }
}
