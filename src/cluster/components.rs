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

    /// A number of the component of an id that an edge has.
    pub fn find(&mut self, id: &[u8]) -> Option<u32> {
        self.ids.find(id).map(|number| self.sets.find(number))
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
            let ids: Vec<Option<u32>> = (0..20).map(|id| graph.find(&[id])).collect();
            for (x, y) in (0..20).flat_map(|x| (0..20).map(move |y| (x, y))) {
                let (of_x, of_y) = (ids[x as usize], ids[y as usize]);
                prop_assert_eq!(of_x.is_some(), edges.iter().any(|(a, b)| u32::from(*a) == x || u32::from(*b) == x));
                prop_assert!(of_x.is_none() || (of_x == of_y) == (sets.find(x) == sets.find(y)));
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
