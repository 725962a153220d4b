//! Star clusters (aslam2004): every member resembles the centre.
//!
//! Take the documents in keep order, the best first. A document becomes a centre unless a better
//! neighbour is a centre already; a document that does not joins its best centre neighbour. The
//! centres are the lexicographically first maximal independent set of the graph of pairs, so no two
//! centres resemble each other and every document is a centre or resembles one. The result depends on
//! the pairs and the order only, not on the order in which the pairs come.
//!
//! Sorted by their worse document, the pairs need a single pass: when a document's pairs are up, all
//! better documents are settled, and the best of them that is a centre is its centre.

/// The centre of each document below `n`; a centre, and a document without a pair, is its own.
///
/// `ranks[i]` is the position of document `i` in keep order; the ranks are the numbers below `n`, each
/// once. `pairs` are the neighbours, each in either direction; repeats, and a document paired with
/// itself, do no harm.
///
/// ```
/// use twinsplit_core::cluster::star::star;
/// // A chain 0 - 1 - 2 - 3: 2 does not resemble 0, and so starts a star of its own.
/// assert_eq!(star(4, &[0, 1, 2, 3], &[(0, 1), (1, 2), (2, 3)]), [0, 0, 2, 2]);
/// // With 1 as the best document, 3 is on its own.
/// assert_eq!(star(4, &[1, 0, 2, 3], &[(0, 1), (1, 2), (2, 3)]), [1, 1, 1, 3]);
/// ```
///
/// # Panics
/// When `ranks` is not a permutation of the numbers below `n`, or a pair holds a number beyond.
pub fn star(n: usize, ranks: &[u32], pairs: &[(u32, u32)]) -> Vec<u32> {
    assert_eq!(ranks.len(), n, "one rank for each document");
    let mut order = vec![u32::MAX; n];
    for (document, &rank) in (0_u32..).zip(ranks) {
        let place = &mut order[rank as usize];
        assert_eq!(*place, u32::MAX, "rank {rank} given twice");
        *place = document;
    }

    let mut edges: Vec<(u32, u32)> = pairs
        .iter()
        .map(|&(x, y)| (ranks[x as usize], ranks[y as usize]))
        .map(|(x, y)| (x.max(y), x.min(y)))
        .collect();
    edges.sort_unstable();

    let mut stars = Stars::new(n);
    edges.into_iter().for_each(|(worse, better)| stars.edge(worse, better));
    ranks.iter().map(|&rank| order[stars.centre(rank) as usize]).collect()
}

/// The single pass: documents go by their ranks.
#[derive(Debug)]
pub struct Stars {
    /// Who points to itself is a centre so far.
    centres: Vec<u32>,
}

impl Stars {
    /// Each of `n` documents by itself.
    pub fn new(n: usize) -> Self {
        Stars { centres: (0_u32..).take(n).collect() }
    }

    /// One document more, after all others.
    pub fn push(&mut self) {
        self.centres.push(self.centres.len() as u32);
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.centres.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.centres.is_empty()
    }

    /// Takes a pair; pairs come in ascending order of their worse documents.
    pub fn edge(&mut self, worse: u32, better: u32) {
        if self.centres[better as usize] == better {
            let centre = &mut self.centres[worse as usize];
            *centre = better.min(*centre);
        }
    }

    /// The centre of a document, once all pairs are in.
    pub fn centre(&self, rank: u32) -> u32 {
        self.centres[rank as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, word for word.
    fn by_definition(n: usize, ranks: &[u32], pairs: &[(u32, u32)]) -> Vec<u32> {
        let adjacent = |x: u32, y: u32| pairs.contains(&(x, y)) || pairs.contains(&(y, x));
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&document| ranks[document as usize]);
        let mut centre: Vec<u32> = (0..n as u32).collect();
        for (at, &document) in order.iter().enumerate() {
            let mut centres = order[..at].iter().filter(|&&other| centre[other as usize] == other);
            if let Some(&first) = centres.find(|&&other| adjacent(document, other)) {
                centre[document as usize] = first;
            }
        }
        centre
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn is_what_the_definition_says(
            ranks in (1u32..24).prop_flat_map(|n| Just((0..n).collect::<Vec<u32>>()).prop_shuffle()),
            pairs in prop::collection::vec((0u32..24, 0u32..24), 0..70),
        ) {
            let n = ranks.len();
            let pairs: Vec<_> = pairs.into_iter().map(|(x, y)| (x % n as u32, y % n as u32)).collect();
            let found = star(n, &ranks, &pairs);
            prop_assert_eq!(&found, &by_definition(n, &ranks, &pairs));

            let mut shuffled: Vec<_> = pairs.iter().rev().map(|&(x, y)| (y, x)).collect();
            shuffled.extend(&pairs);
            prop_assert_eq!(star(n, &ranks, &shuffled), found);
        }
    }

    #[test]
    #[should_panic(expected = "given twice")]
    fn ranks_are_a_permutation() {
        star(2, &[1, 1], &[]);
    }
}
