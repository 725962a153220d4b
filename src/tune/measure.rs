//! One kind of features: one join a little below the smallest threshold, then each threshold by the exact overlaps.

use super::Kind;
use super::excerpt::{Difference, difference};
use super::threshold::{Numbers, Threshold};
use crate::options::MEMORY;
use crate::sample::Sample;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Mutex;
use twinsplit_core::join::kernel::{Asked, JoinPair, Shard, Source, join_shards};
use twinsplit_core::similarity::overlap::Overlap;
use twinsplit_core::similarity::tau::Tau;
use twinsplit_core::similarity::{Measure, SetSimilarity, Similarity};
use twinsplit_core::threads::{lock, unlocked};
use twinsplit_engine::columnar::documents::Documents;
use twinsplit_engine::columnar::groups::Groups;
use twinsplit_engine::columnar::output::Answer;
use twinsplit_engine::columnar::sorter::unpack;
use twinsplit_engine::columnar::{Front, labels};
use twinsplit_engine::memory::Budget;
use twinsplit_engine::progress::Progress;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{Blocks, WorkFolder};
use twinsplit_rows::stage::Counters;

/// How far below the smallest threshold pairs are looked for, in billionths: there must be something to show there. Below
/// a number of features it is a tenth of that.
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
    /// Of these, copies by their texts, which are in clusters at every threshold.
    pub equal_texts: u64,
    /// Pairs were looked for down to here.
    pub floor: Threshold,
    /// One for each threshold, ascending.
    pub rows: Vec<Row>,
}

/// What was found at a threshold.
pub struct Row {
    /// The threshold.
    pub at: Threshold,
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
    /// What was compared.
    pub numbers: Numbers,
    /// Where the two texts part.
    pub difference: Difference,
}

/// Measures a sample. Of documents with equal sets, the one with the smallest id stands for all in the examples.
pub fn measure(
    sample: &Sample,
    kind: &Kind,
    similarities: &[Similarity],
    examples: usize,
    threads: usize,
) -> Result<Measured> {
    let Some((smallest, more)) = similarities.split_first() else {
        return Err(Error::Usage("--taus names no tau".to_owned()));
    };
    if let (Similarity::Overlap(_), false) = (smallest, more.is_empty()) {
        // Which documents take part depends on the threshold itself.
        let mut measured = measure(sample, kind, &[*smallest], examples, threads)?;
        for one in more {
            measured.rows.extend(measure(sample, kind, &[*one], examples, threads)?.rows);
        }
        return Ok(measured);
    }
    let floor = below(*smallest);
    let work = WorkFolder::temporary()?;
    let (budget, progress) = (Budget::new(MEMORY.bytes(), threads)?, Progress::default());
    let mut opts = kind.opts.clone();
    opts.similarity.0 = floor;
    if let Similarity::Overlap(Overlap(least)) = *smallest {
        opts.least.min_features = opts.least.min_features.max(least);
    }
    let least = opts.least.min_features.max(1);
    let (work, budget) = (work.path(), &budget);
    let front = Front { opts: &opts, threads, budget, work, progress: &progress };
    let mut counters = Counters::new();
    let (documents, groups) =
        front.groups(Blocks::of_lines(&sample.lines), |_, more| counters.extend(more))?;
    let count = |name: &str| counters.get(name).copied().unwrap_or(0);
    let (without, left_out) = (count("sets_without_features"), count("sets_below_min_features"));
    let equal_texts = count("equal_texts");
    let pairs = Mutex::new(Vec::new());
    let all = [Shard::range(0..groups.count() as usize)];
    join_shards(&groups.store, &all, floor, Asked::Pairs, threads, &|_| {}, &|found| {
        lock(&pairs).extend_from_slice(found);
        Ok::<_, Error>(())
    })?;
    let mut pairs = unlocked(pairs);
    let found = Found { sample, kind, measure: floor.measure(), documents: &documents, groups: &groups };
    pairs.sort_unstable_by(|x, y| {
        found.by_similarity(x, y).then_with(|| found.documents(x).cmp(&found.documents(y)))
    });

    let answer = Answer::new(&documents, &groups, floor.measure(), threads);
    let rows = similarities.iter().map(|similarity| {
        let edge = pairs.partition_point(|pair| {
            let [a, b] = [pair.a, pair.b].map(|set| groups.store.size_of(set as usize) as u64);
            !similarity.accepts(pair.overlap.into(), a, b)
        });
        let (rejected, accepted) = pairs.split_at(edge);
        // From the threshold downwards; pairs of one similarity in the order of their ids, as everywhere.
        let backwards = rejected.chunk_by(|x, y| found.by_similarity(x, y).is_eq()).rev().flatten();
        let chosen = answer.choose(&labels(kind.opts.cluster.cluster, &documents, &groups, accepted));
        let [clusters, dropped, largest] = clusters_of(&chosen);
        Ok(Row {
            at: Threshold::Similarity(*similarity),
            pairs: found.count(accepted),
            clusters,
            dropped,
            largest,
            above: found.examples(found.nearest(accepted), examples)?,
            below: found.examples(backwards.map(|pair| found.pair(pair)), examples)?,
        })
    });
    let rows = rows.collect::<Result<Vec<Row>>>()?;
    let floor = Threshold::Similarity(floor);
    Ok(Measured { kind: kind.name.clone(), least, without, left_out, equal_texts, floor, rows })
}

/// How many clusters and dropped documents there are, and how many documents the largest cluster has, of (kept, document), those
/// of a cluster together, the kept one among them.
pub fn clusters_of(chosen: &[u64]) -> [u64; 3] {
    let sizes = || chosen.chunk_by(|x, y| unpack(*x).0 == unpack(*y).0).map(|cluster| cluster.len() as u64);
    let clusters = sizes().count() as u64;
    [clusters, chosen.len() as u64 - clusters, sizes().max().unwrap_or(0)]
}

/// A document's text; documents are numbered in the order of the sample's lines.
pub fn text<'s>(sample: &'s Sample, kind: &Kind, document: u32) -> Result<Cow<'s, str>> {
    let (place, line) = &sample.lines[document as usize];
    let read = kind.opts.document.read(line, place);
    let read = read.map_err(|error| Error::Record { stage: "tune", place: place.clone(), error });
    Ok(read?.text)
}

/// Where the join stops below the smallest threshold.
fn below(similarity: Similarity) -> Similarity {
    if let Similarity::Overlap(Overlap(least)) = similarity {
        return Similarity::Overlap(Overlap((least - least.div_ceil(10)).max(1)));
    }
    let lower = |tau: Tau| {
        let billionths = tau.billionths();
        let lower = billionths.saturating_sub(MARGIN).max(billionths / 2);
        Tau::from_billionths(lower).unwrap_or(tau).to_string()
    };
    let lower = similarity.tau().map(lower).and_then(|tau| similarity.measure().reaching(&tau).ok());
    lower.unwrap_or(similarity)
}

/// Where examples come from.
struct Found<'a> {
    sample: &'a Sample,
    kind: &'a Kind,
    measure: Measure,
    documents: &'a Documents,
    groups: &'a Groups,
}

/// Two documents and what their sets share.
struct Candidate {
    documents: (u32, u32),
    overlap: u64,
    sizes: (u64, u64),
}

impl Found<'_> {
    fn size(&self, set: u32) -> u64 {
        self.groups.store.size_of(set as usize) as u64
    }

    /// The order of two similarities.
    fn by_similarity(&self, x: &JoinPair, y: &JoinPair) -> Ordering {
        let counts = |pair: &JoinPair| (pair.overlap.into(), self.size(pair.a), self.size(pair.b));
        self.measure.compare(counts(x), counts(y))
    }

    /// The documents that stand for two sets, the one with the smaller id first.
    fn documents(&self, pair: &JoinPair) -> (u32, u32) {
        let (a, b) = (self.groups.members(pair.a)[0], self.groups.members(pair.b)[0]);
        (a.min(b), a.max(b))
    }

    /// How many pairs of documents these pairs of sets are, together with those of equal sets.
    fn count(&self, pairs: &[JoinPair]) -> u64 {
        let between = pairs.iter().map(|pair| self.groups.size(pair.a) * self.groups.size(pair.b));
        let inside =
            (0..self.groups.count()).map(|set| self.groups.size(set) * (self.groups.size(set) - 1) / 2);
        between.chain(inside).sum()
    }

    fn pair(&self, pair: &JoinPair) -> Candidate {
        let documents = self.documents(pair);
        let (a, b) = (self.size(pair.a), self.size(pair.b));
        let turned = documents.0 != self.groups.members(pair.a)[0];
        let sizes = if turned { (b, a) } else { (a, b) };
        Candidate { documents, overlap: pair.overlap.into(), sizes }
    }

    /// Pairs of sets, which ascend, and those of equal sets, from the least similar on.
    fn nearest(&self, accepted: &[JoinPair]) -> impl Iterator<Item = Candidate> {
        let mut all: Vec<Candidate> =
            accepted.iter().map(|pair| self.pair(pair)).chain(self.equal()).collect();
        let counts = |pair: &Candidate| (pair.overlap, pair.sizes.0, pair.sizes.1);
        all.sort_by(|x, y| self.measure.compare(counts(x), counts(y)));
        all.into_iter()
    }

    /// Of each group of equal sets the two smallest ids, in their order.
    fn equal(&self) -> impl Iterator<Item = Candidate> {
        let mut pairs: Vec<Candidate> = (0..self.groups.count())
            .filter_map(|set| match self.groups.members(set) {
                [a, b, ..] => {
                    let size = self.size(set);
                    Some(Candidate { documents: (*a, *b), overlap: size, sizes: (size, size) })
                }
                _ => None,
            })
            .collect();
        pairs.sort_unstable_by_key(|pair| pair.documents);
        pairs.into_iter()
    }

    fn examples(&self, from: impl Iterator<Item = Candidate>, most: usize) -> Result<Vec<Example>> {
        let id = |document: u32| String::from_utf8_lossy(self.documents.id(document)).into_owned();
        from.take(most)
            .map(|Candidate { documents: (a, b), overlap, sizes: (size_a, size_b) }| {
                let [x, y] = [a, b].map(|document| text(self.sample, self.kind, document));
                let difference = difference(&x?, &y?);
                let numbers = Numbers::Sets(overlap, size_a, size_b);
                Ok(Example { a: id(a), b: id(b), numbers, difference })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_join_goes_a_little_below_the_smallest_threshold() {
        for (tau, floor) in [("0.3", "0.25"), ("1", "0.95"), ("0.06", "0.03"), ("0.000000001", "0.000000001")]
        {
            assert_eq!(below(Measure::Dice.reaching(tau).unwrap()), Measure::Dice.reaching(floor).unwrap());
        }
        for (least, floor) in [(1, 1), (2, 1), (20, 18), (100, 90)] {
            assert_eq!(below(Similarity::Overlap(Overlap(least))), Similarity::Overlap(Overlap(floor)));
        }
    }
}
