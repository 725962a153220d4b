//! One kind of features as fingerprints: all pairs a little beyond the greatest distance, then each distance by itself.

use super::Kind;
use super::excerpt::difference;
use super::measure::{Example, Measured, Row, clusters_of, text};
use super::threshold::{Numbers, Threshold};
use crate::options::MEMORY;
use crate::sample::Sample;
use crate::sketches::Counted;
use twinsplit_core::join::kernel::JoinPair;
use twinsplit_core::similarity::Measure;
use twinsplit_engine::columnar::documents::Documents;
use twinsplit_engine::columnar::fingerprints::Fingerprints;
use twinsplit_engine::columnar::groups::Groups;
use twinsplit_engine::columnar::output::Answer;
use twinsplit_engine::columnar::{Front, labels};
use twinsplit_engine::memory::Budget;
use twinsplit_engine::progress::Progress;
use twinsplit_io::error::Result;
use twinsplit_io::{Blocks, WorkFolder};
use twinsplit_rows::stage::Counters;
use twinsplit_rows::stages::simhash::FingerprintOpts;

/// How far beyond the greatest distance pairs are looked for: there must be something to show there.
const MARGIN: u32 = 3;

/// Measures a sample at these distances, ascending. Of documents with one fingerprint, the one with the smallest id stands for
/// all in the examples.
pub fn measure(
    sample: &Sample,
    kind: &Kind,
    fingerprints: &FingerprintOpts,
    distances: &[u32],
    examples: usize,
    threads: usize,
) -> Result<Measured> {
    let floor = distances.last().map_or(0, |greatest| greatest + MARGIN);
    let work = WorkFolder::temporary()?;
    let (budget, progress) = (Budget::new(MEMORY.bytes(), threads)?, Progress::default());
    let mut opts = kind.opts.clone();
    if fingerprints.counts() {
        let mut counted = Counted::new(fingerprints.sketch.features.spec()?);
        (0..sample.lines.len() as u32)
            .try_for_each(|at| text(sample, kind, at).map(|text| counted.add(&text)))?;
        opts.idf_of_weights = Some(counted.idf());
    }
    opts.fingerprints = Some(fingerprints.clone());
    let (work, budget) = (work.path(), &budget);
    let front = Front { opts: &opts, threads, budget, work, progress: &progress };
    let mut counters = Counters::new();
    let blocks = Blocks::of_lines(&sample.lines);
    let (documents, groups) = front.fingerprints(blocks, |_, more| counters.extend(more))?;
    let count = |name: &str| counters.get(name).copied().unwrap_or(0);
    let (left_out, equal_texts) = (count("without_features"), count("equal_texts"));
    let found = Found { sample, kind, documents: &documents, groups: &groups };
    let pairs = pairs(&Fingerprints::of(&documents, fingerprints), &groups, floor);
    let answer = Answer::new(&documents, &groups, Measure::default(), threads);
    let rows = distances.iter().map(|distance| {
        let (accepted, rejected) = pairs.split_at(pairs.partition_point(|pair| pair.overlap <= *distance));
        // From the distance inwards; pairs of one distance in the order of their ids.
        let nearest = accepted.chunk_by(|x, y| x.overlap == y.overlap).rev().flatten();
        let nearest = nearest.map(|pair| found.pair(pair)).chain(found.equal());
        let chosen = answer.choose(&labels(kind.opts.cluster.cluster, &documents, &groups, accepted));
        let [clusters, dropped, largest] = clusters_of(&chosen);
        Ok(Row {
            at: Threshold::Distance(*distance),
            pairs: found.count(accepted),
            clusters,
            dropped,
            largest,
            above: found.examples(nearest, examples)?,
            below: found.examples(rejected.iter().map(|pair| found.pair(pair)), examples)?,
        })
    });
    let rows = rows.collect::<Result<Vec<Row>>>()?;
    let (name, least) = (kind.name.clone(), opts.least.min_features.max(1));
    let without = if least == 1 { left_out } else { 0 };
    let floor = Threshold::Distance(floor);
    Ok(Measured { kind: name, least, without, left_out, equal_texts, floor, rows })
}

/// Each two groups within a distance, nearest first, then by their documents.
fn pairs(fingerprints: &Fingerprints<'_>, groups: &Groups, most: u32) -> Vec<JoinPair> {
    let of = |set: u32| groups.members(set)[0];
    let mut pairs = Vec::new();
    for a in 0..groups.count() {
        for b in a + 1..groups.count() {
            let overlap = fingerprints.distance(of(a), of(b)).0;
            if overlap <= most {
                let (a, b) = if of(a) < of(b) { (a, b) } else { (b, a) };
                pairs.push(JoinPair { a, b, overlap });
            }
        }
    }
    pairs.sort_unstable_by_key(|pair| (pair.overlap, of(pair.a), of(pair.b)));
    pairs
}

/// Where examples come from.
struct Found<'a> {
    sample: &'a Sample,
    kind: &'a Kind,
    documents: &'a Documents,
    groups: &'a Groups,
}

impl Found<'_> {
    /// Two documents and their distance.
    fn pair(&self, pair: &JoinPair) -> (u32, u32, u32) {
        (self.groups.members(pair.a)[0], self.groups.members(pair.b)[0], pair.overlap)
    }

    /// Of each group of equal fingerprints the two smallest ids, in their order.
    fn equal(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let two = |set| match self.groups.members(set) {
            [a, b, ..] => Some((*a, *b, 0)),
            _ => None,
        };
        let mut pairs: Vec<_> = (0..self.groups.count()).filter_map(two).collect();
        pairs.sort_unstable();
        pairs.into_iter()
    }

    /// How many pairs of documents these pairs of groups are, together with those inside groups.
    fn count(&self, pairs: &[JoinPair]) -> u64 {
        let size = |set| self.groups.size(set);
        let between = pairs.iter().map(|pair| size(pair.a) * size(pair.b));
        between.chain((0..self.groups.count()).map(|set| size(set) * (size(set) - 1) / 2)).sum()
    }

    fn examples(&self, from: impl Iterator<Item = (u32, u32, u32)>, most: usize) -> Result<Vec<Example>> {
        let id = |document: u32| String::from_utf8_lossy(self.documents.id(document)).into_owned();
        from.take(most)
            .map(|(a, b, bits)| {
                let [x, y] = [a, b].map(|document| text(self.sample, self.kind, document));
                let difference = difference(&x?, &y?);
                Ok(Example { a: id(a), b: id(b), numbers: Numbers::Bits(bits), difference })
            })
            .collect()
    }
}
