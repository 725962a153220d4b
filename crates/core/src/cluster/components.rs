//! Components of a graph whose nodes are ids, while its edges come.

use super::ids::Ids;
use super::union_find::UnionFind;

/// Ids, and which of them edges connect. An id takes its bytes and about 20 more.
#[derive(Default)]
pub struct Components {
    /// The ids that have come.
    pub ids: Ids,
    sets: UnionFind,
}

impl Components {
    /// Takes an edge; false when its ends were connected before.
    pub fn union(&mut self, a: &[u8], b: &[u8]) -> bool {
        let (x, y) = (self.ids.number(a), self.ids.number(b));
        while self.sets.len() < self.ids.len() {
            self.sets.push();
        }
        self.sets.union(x, y)
    }

    /// By id, of some, a number of its component. One that no edge has is a component of its own.
    pub fn of<'i>(&mut self, ids: impl Iterator<Item = &'i [u8]>) -> Vec<u32> {
        let known = self.sets.len() as u32;
        let find = |(own, id)| self.ids.find(id).map_or(own, |number| self.sets.find(number));
        (known..).zip(ids).map(find).collect()
    }

    /// The number of the smallest id of each id's component.
    pub fn labels(&mut self) -> Vec<u32> {
        let mut least = vec![u32::MAX; self.sets.len()];
        let roots: Vec<u32> = (0..self.sets.len() as u32).map(|x| self.sets.find(x)).collect();
        for (x, &root) in (0..).zip(&roots) {
            let label = &mut least[root as usize];
            if *label == u32::MAX || self.ids.get(x) < self.ids.get(*label) {
                *label = x;
            }
        }
        roots.into_iter().map(|root| least[root as usize]).collect()
    }

    /// Drops all ids and keeps the room for them.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.sets = UnionFind::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn labels_are_the_smallest_ids(edges in prop::collection::vec((0u8..20, 0u8..20), 0..40)) {
            let (mut graph, mut sets) = (Components::default(), UnionFind::new(20));
            graph.union(b"old", b"older");
            graph.clear();
            for (a, b) in &edges {
                prop_assert_eq!(graph.union(&[*a], &[*b]), sets.union((*a).into(), (*b).into()));
            }
            let ids: Vec<[u8; 1]> = (0..20).map(|id| [id]).collect();
            let found = graph.of(ids.iter().map(|id| &id[..]));
            for (x, y) in (0..20).flat_map(|x| (0..20).map(move |y| (x, y))) {
                prop_assert_eq!(found[x as usize] == found[y as usize], sets.find(x) == sets.find(y));
            }
            let expected = sets.into_labels();
            let labels = graph.labels();
            prop_assert_eq!(labels.len(), graph.ids.len());
            for (x, label) in (0..).zip(labels) {
                let (id, label) = (graph.ids.get(x)[0], graph.ids.get(label)[0]);
                prop_assert_eq!(u32::from(label), expected[id as usize]);
            }
        }
    }
}
