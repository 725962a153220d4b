//! Star clusters of documents of which many have equal sets.
//!
//! Copies of a set pair with each other and have the same other partners, so the definition of star clusters on all
//! documents can be followed on groups of copies: a group is met when its best member is, and if that one is no
//! earlier centre's neighbour it becomes a centre which its copies join. So a group stands in the order where its best
//! member does, and all its members share a cluster.

use super::star::star;

/// The cluster of each of `n` documents: the representative of its centre's group. `copies` are (copy,
/// representative), `pairs` are pairs of representatives, and documents are in the keep order when `key` ascends;
/// keys are unique.
pub fn star_of_groups<K: Ord>(
    n: usize,
    copies: &[(u32, u32)],
    pairs: &[(u32, u32)],
    key: impl Fn(u32) -> K,
) -> Vec<u32> {
    let mut representative: Vec<u32> = (0..n as u32).collect();
    for &(copy, of) in copies {
        representative[copy as usize] = of;
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by_key(|&document| key(document));
    // The rank of a group is that of its best member; copies are alone in the graph, so theirs do not matter.
    let mut ranks = vec![u32::MAX; n];
    let mut next = 0;
    for &document in &order {
        let group = representative[document as usize] as usize;
        if ranks[group] == u32::MAX {
            ranks[group] = next;
            next += 1;
        }
    }
    for rank in ranks.iter_mut().filter(|rank| **rank == u32::MAX) {
        *rank = next;
        next += 1;
    }
    let centres = star(n, &ranks, pairs);
    representative.iter().map(|&group| centres[group as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The same clusters as star clusters of all documents, each pair of equal sets a pair.
        #[test]
        fn equals_star_on_all_documents(
            groups in prop::collection::vec(0u32..12, 1..24),
            edges in prop::collection::vec((0u32..12, 0u32..12), 0..20),
            shuffle in prop::collection::vec(any::<u32>(), 24),
        ) {
            let n = groups.len();
            let first = |group: u32| groups.iter().position(|g| *g == group).map(|at| at as u32);
            let key = |document: u32| (shuffle[document as usize] % 5, document);
            let copies: Vec<_> = (0..n as u32)
                .filter_map(|d| first(groups[d as usize]).filter(|f| *f != d).map(|f| (d, f)))
                .collect();
            let pairs: Vec<_> = edges
                .iter()
                .filter(|(x, y)| x != y)
                .filter_map(|(x, y)| Some((first(*x)?, first(*y)?)))
                .collect();
            let mut all = Vec::new();
            for x in 0..n as u32 {
                for y in 0..x {
                    let (gx, gy) = (groups[x as usize], groups[y as usize]);
                    if gx == gy || edges.contains(&(gx, gy)) || edges.contains(&(gy, gx)) {
                        all.push((x, y));
                    }
                }
            }
            let mut order: Vec<u32> = (0..n as u32).collect();
            order.sort_by_key(|d| key(*d));
            let mut ranks = vec![0; n];
            (0..).zip(&order).for_each(|(rank, d)| ranks[*d as usize] = rank);
            let direct = star(n, &ranks, &all);
            let grouped = star_of_groups(n, &copies, &pairs, key);
            for x in 0..n {
                for y in 0..n {
                    prop_assert_eq!(direct[x] == direct[y], grouped[x] == grouped[y], "{} and {}", x, y);
                }
            }
        }
    }
}
