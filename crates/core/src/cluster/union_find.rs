//! Connected components by union-find.

/// A partition of the numbers below `n`, coarsened by [`union`](UnionFind::union).
///
/// Every number points towards the root of its set; a root points to itself. The smaller root always
/// wins, so that the label of a component is its smallest member, whatever the order of the pairs.
/// Path halving alone keeps the paths short: `m` operations take O(m log n) steps.
///
/// ```
/// use twinsplit_core::cluster::union_find::UnionFind;
/// let mut sets = UnionFind::new(5);
/// assert!(sets.union(4, 2) && sets.union(2, 1) && !sets.union(1, 4));
/// assert_eq!(sets.into_labels(), [0, 1, 1, 3, 1]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct UnionFind {
    /// Never larger than the index.
    parents: Vec<u32>,
}

impl UnionFind {
    /// Each of the numbers below `n` by itself.
    pub fn new(n: u32) -> Self {
        UnionFind { parents: (0..n).collect() }
    }

    /// One number more, by itself.
    pub fn push(&mut self) {
        self.parents.push(self.parents.len() as u32);
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// The smallest member of the set of `x`.
    ///
    /// # Panics
    /// When `x` is not below `n`.
    pub fn find(&mut self, mut x: u32) -> u32 {
        loop {
            let parent = self.parents[x as usize];
            if parent == x {
                return x;
            }
            // Halving: every other element of the path skips its parent.
            let grandparent = self.parents[parent as usize];
            self.parents[x as usize] = grandparent;
            x = grandparent;
        }
    }

    /// As [`find`](Self::find), for several threads at once: no path is shortened.
    ///
    /// # Panics
    /// When `x` is not below `n`.
    #[inline]
    pub fn root(&self, mut x: u32) -> u32 {
        loop {
            let parent = self.parents[x as usize];
            if parent == x {
                return x;
            }
            x = parent;
        }
    }

    /// Makes one set of the sets of `x` and `y`; false when they already were one, in which case the
    /// pair is not needed in a spanning forest.
    ///
    /// # Panics
    /// When `x` or `y` is not below `n`.
    pub fn union(&mut self, x: u32, y: u32) -> bool {
        let (x, y) = (self.find(x), self.find(y));
        self.parents[x.max(y) as usize] = x.min(y);
        x != y
    }

    /// Makes every number point to its root.
    pub fn flatten(&mut self) {
        // Parents are smaller than their children: one ascending pass finishes every path.
        for x in 0..self.parents.len() {
            self.parents[x] = self.parents[self.parents[x] as usize];
        }
    }

    /// The smallest member of the set of each number.
    pub fn into_labels(mut self) -> Vec<u32> {
        self.flatten();
        self.parents
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against labels that are spread along the pairs until nothing changes.
        #[test]
        fn labels_are_the_smallest_members(
            n in 1u32..60,
            pairs in prop::collection::vec((0u32..60, 0u32..60), 0..60),
        ) {
            let pairs: Vec<_> = pairs.into_iter().map(|(x, y)| (x % n, y % n)).collect();
            let mut labels: Vec<u32> = (0..n).collect();
            loop {
                let before = labels.clone();
                for &(x, y) in &pairs {
                    let least = labels[x as usize].min(labels[y as usize]);
                    labels[x as usize] = least;
                    labels[y as usize] = least;
                }
                if labels == before {
                    break;
                }
            }
            let mut sets = UnionFind::new(n);
            let forest = pairs.iter().filter(|&&(x, y)| sets.union(x, y)).count();
            let components = (0..n).filter(|&x| labels[x as usize] == x).count();
            prop_assert_eq!(forest, n as usize - components);
            prop_assert!((0..n).all(|x| sets.root(x) == labels[x as usize]));
            prop_assert!((0..n).all(|x| sets.find(x) == labels[x as usize]));
            prop_assert_eq!(sets.into_labels(), labels);
        }
    }

    #[test]
    fn long_chains_are_no_trouble() {
        let n = 1_000_000;
        let mut sets = UnionFind::new(n);
        (1..n).rev().for_each(|x| assert!(sets.union(x - 1, x)));
        assert!(sets.into_labels().iter().all(|&label| label == 0));
    }
}
