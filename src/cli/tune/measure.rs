//! One kind of features: one join a little below the smallest threshold, then each threshold by the exact overlaps.

use super::Kind;
use super::excerpt::{Difference, difference};
use super::sample::Sample;
use crate::engine::dense::answer::Groups;
use crate::engine::dense::corpus::{Corpus, Representatives};
use crate::engine::dense::labels;
use crate::error::{Error, Result};
use crate::join::kernel::{JoinPair, self_join};
use crate::join::tau::Tau;
use std::borrow::Cow;
use std::cmp::Ordering;

/// How far below the smallest threshold pairs are looked for, in billionths: there must be something to show there.
const MARGIN: u32 = 50_000_000;

/// What was found for a kind of features.
pub struct Measured {
    /// The kind.
    pub kind: String,
    /// The least number of features with which a document takes part.
    pub least: u64,
    /// Documents without features.
    pub without: u64,
    /// Documents with fewer features than `least`, those without among them.
    pub left_out: u64,
    /// Pairs were looked for down to here.
    pub floor: Tau,
    /// One for each threshold, ascending.
    pub rows: Vec<Row>,
}

/// What was found at a threshold.
pub struct Row {
    /// The threshold.
    pub tau: Tau,
    /// Pairs of documents.
    pub pairs: u64,
    /// Clusters of two and more documents.
    pub clusters: u64,
    /// Documents that are not kept.
    pub dropped: u64,
    /// Documents of the largest cluster; 0 without a cluster.
    pub largest: u64,
    /// The pairs nearest to the threshold, those it accepts.
    pub above: Vec<Example>,
    /// The pairs nearest to the threshold, those it does not accept.
    pub below: Vec<Example>,
}

/// A pair to look at.
pub struct Example {
    /// The smaller id.
    pub a: String,
    /// The other id.
    pub b: String,
    /// Features in both.
    pub overlap: u64,
    /// Features of the first.
    pub size_a: u64,
    /// Features of the other.
    pub size_b: u64,
    /// Where the two texts part.
    pub difference: Difference,
}

impl Example {
    /// Features in one or both.
    pub fn union(&self) -> u64 {
        self.size_a + self.size_b - self.overlap
    }
}

/// Measures a sample. Of documents with equal sets, the one with the smallest id stands for all in the examples.
pub fn measure(
    sample: &Sample,
    kind: &Kind,
    taus: &[Tau],
    examples: usize,
    threads: usize,
) -> Result<Measured> {
    let Some(smallest) = taus.first() else { return Err(Error::Usage("--taus names no tau".to_owned())) };
    let floor = below(*smallest);
    let mut corpus = Corpus::of_lines(&sample.lines, &kind.opts, threads)?;
    let (sets, _) = corpus.take_sets(&kind.opts, threads)?;
    let count = |keeps: &dyn Fn(u64) -> bool| {
        (0..sets.len()).filter(|at| keeps(sets.get(*at).len() as u64)).count() as u64
    };
    let (without, left_out) = (count(&|size| size == 0), count(&|size| !kind.opts.least.admits(size)));
    let own = Representatives::of(&sets, |size| kind.opts.least.admits(size));
    drop(sets);
    let mut pairs = self_join(&own.sets, floor, threads);
    pairs.sort_unstable_by(|x, y| {
        by_similarity(&own, x, y).then_with(|| documents(&own, x).cmp(&documents(&own, y)))
    });

    let groups = Groups::new(&corpus, &own, &[]);
    let found = Found { sample, kind, corpus: &corpus, own: &own };
    let rows = taus.iter().map(|tau| {
        let edge = pairs.partition_point(|pair| {
            let [a, b] = [pair.a, pair.b].map(|set| own.sets.size(set as usize) as u64);
            !tau.accepts(pair.overlap.into(), a, b)
        });
        let (rejected, accepted) = pairs.split_at(edge);
        // From the threshold downwards; pairs of one similarity in the order of their ids, as everywhere.
        let backwards = rejected.chunk_by(|x, y| by_similarity(&own, x, y).is_eq()).rev().flatten();
        let (clusters, dropped) = groups.choose(&labels(kind.opts.cluster.cluster, &corpus, &own, accepted));
        let largest = clusters.iter().map(|(_, others)| others.len() as u64 + 1).max();
        Ok(Row {
            tau: *tau,
            pairs: own.count_pairs(accepted),
            clusters: clusters.len() as u64,
            dropped: dropped.len() as u64,
            largest: largest.unwrap_or(0),
            // Different sets never reach 1, so equal ones are the farthest from any edge.
            above: found
                .examples(accepted.iter().map(|pair| found.pair(pair)).chain(found.equal()), examples)?,
            below: found.examples(backwards.map(|pair| found.pair(pair)), examples)?,
        })
    });
    let rows = rows.collect::<Result<Vec<Row>>>()?;
    Ok(Measured {
        kind: kind.name.clone(),
        least: kind.opts.least.min_features.max(1),
        without,
        left_out,
        floor,
        rows,
    })
}

/// Where the join stops below the smallest threshold.
fn below(tau: Tau) -> Tau {
    let billionths = tau.billionths();
    let lower = billionths.saturating_sub(MARGIN).max(billionths / 2);
    Tau::from_billionths(lower).unwrap_or(tau)
}

/// The order of two similarities.
fn by_similarity(own: &Representatives, x: &JoinPair, y: &JoinPair) -> Ordering {
    let union = |pair: &JoinPair| {
        let sizes = own.sets.size(pair.a as usize) + own.sets.size(pair.b as usize);
        sizes as u128 - u128::from(pair.overlap)
    };
    (u128::from(x.overlap) * union(y)).cmp(&(u128::from(y.overlap) * union(x)))
}

/// The documents that stand for two sets, the one with the smaller id first.
fn documents(own: &Representatives, pair: &JoinPair) -> (u32, u32) {
    let (a, b) = (own.documents[pair.a as usize], own.documents[pair.b as usize]);
    (a.min(b), a.max(b))
}

/// Where examples come from.
struct Found<'a> {
    sample: &'a Sample,
    kind: &'a Kind,
    corpus: &'a Corpus,
    own: &'a Representatives,
}

/// Two documents and what their sets share.
struct Candidate {
    documents: (u32, u32),
    overlap: u64,
    sizes: (u64, u64),
}

impl Found<'_> {
    fn pair(&self, pair: &JoinPair) -> Candidate {
        let documents = documents(self.own, pair);
        let [a, b] = [pair.a, pair.b].map(|set| self.own.sets.size(set as usize) as u64);
        let turned = documents.0 != self.own.documents[pair.a as usize];
        let sizes = if turned { (b, a) } else { (a, b) };
        Candidate { documents, overlap: pair.overlap.into(), sizes }
    }

    /// Of each group of equal sets the two smallest ids, in their order.
    fn equal(&self) -> impl Iterator<Item = Candidate> {
        let mut pairs: Vec<Candidate> = (0..self.own.documents.len())
            .filter_map(|set| {
                let size = self.own.sets.size(set) as u64;
                let documents = (self.own.documents[set], *self.own.copies.get(set).first()?);
                Some(Candidate { documents, overlap: size, sizes: (size, size) })
            })
            .collect();
        pairs.sort_unstable_by_key(|pair| pair.documents);
        pairs.into_iter()
    }

    fn examples(&self, from: impl Iterator<Item = Candidate>, most: usize) -> Result<Vec<Example>> {
        let id = |document: u32| String::from_utf8_lossy(self.corpus.ids.get(document as usize)).into_owned();
        from.take(most)
            .map(|Candidate { documents: (a, b), overlap, sizes: (size_a, size_b) }| {
                let difference = difference(&self.text(a)?, &self.text(b)?);
                Ok(Example { a: id(a), b: id(b), overlap, size_a, size_b, difference })
            })
            .collect()
    }

    /// A document's text; documents are numbered in the order of the sample's lines.
    fn text(&self, document: u32) -> Result<Cow<'_, str>> {
        let (place, line) = &self.sample.lines[document as usize];
        let read = self.kind.opts.document.read(line, place);
        let read =
            read.map_err(|error| Error::Record { stage: "tune".to_owned(), place: place.clone(), error });
        Ok(read?.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_join_goes_a_little_below_the_smallest_threshold() {
        for (tau, floor) in [("0.3", "0.25"), ("1", "0.95"), ("0.06", "0.03"), ("0.000000001", "0.000000001")]
        {
            assert_eq!(below(tau.parse().unwrap()).to_string(), floor);
        }
    }
}
