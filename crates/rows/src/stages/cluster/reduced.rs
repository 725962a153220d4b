//! Clusters of which as many documents stay as `--reduce-to` asks for.

use super::ClusterReduce;
use crate::stage::Task;
use crate::stages::reduce::{Likeness, Outcome};
use twinsplit_core::cluster::reduce::{Edge, Reduced, reduce, spare};
use twinsplit_io::error::Result;

impl ClusterReduce {
    /// By document a document of its cluster, where `wanted` documents stay.
    pub(super) fn reduced(&mut self, wanted: u64, task: &mut Task<'_>) -> Result<Vec<u32>> {
        let drop = self.documents.saturating_sub(wanted);
        let count = self.graph.ids.len();
        let mut group: Vec<u32> = (0..count as u32).collect();
        self.copies.iter().for_each(|&(copy, of)| group[copy as usize] = of);
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_unstable_by(|x, y| self.key(*x).cmp(&self.key(*y)));
        // By representative the rank of its best document, which stands for it; the others are copies.
        let (mut ranks, mut best, mut copies) = (vec![u32::MAX; count], Vec::new(), Vec::new());
        for &document in &order {
            let rank = &mut ranks[group[document as usize] as usize];
            if *rank == u32::MAX {
                *rank = best.len() as u32;
                best.push(document);
            } else {
                copies.push(document);
            }
        }
        let mut places = vec![0; count];
        (0_u32..).zip(&order).for_each(|(place, document)| places[*document as usize] = place);
        let spared = spare(&mut copies, drop, |copy| places[copy as usize]);

        let rank = |representative: u32| ranks[representative as usize];
        let alike = std::mem::take(&mut self.alike);
        let mut pairs: Vec<_> =
            alike.into_iter().map(|(x, y, likeness)| Edge::of(rank(x), rank(y), likeness)).collect();
        let measure = self.similarity.measure();
        let fingerprints =
            pairs.first().is_some_and(|edge| matches!(edge.likeness, Likeness::Fingerprints(..)));
        let dropped = copies.len() as u64;
        let Reduced { stands, last, lacking } =
            reduce(best.len(), &mut pairs, drop - dropped, |x, y| x.likeness.order(&y.likeness, measure));
        let last = last.map(|edge| edge.likeness);
        let outcome = Outcome { wanted, documents: self.documents, copies: dropped, last, lacking };
        for (name, count) in outcome.counters(self.similarity, fingerprints)? {
            task.count(name, count);
        }
        let mut labels: Vec<u32> = group
            .iter()
            .map(|representative| best[stands[rank(*representative) as usize] as usize])
            .collect();
        spared.into_iter().for_each(|copy| labels[copy as usize] = copy);
        Ok(labels)
    }
}
