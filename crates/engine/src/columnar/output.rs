//! From joined sets to the files of the answer.

use super::documents::Documents;
use super::fingerprints::Fingerprints;
use super::groups::{Groups, NO_SET};
use super::join::PairRow;
use super::sorter::{Sorter, pack, unpack};
use crate::progress::Progress;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::hash::Hash;
use std::path::Path;
use twinsplit_core::cluster::dropped::Dropped;
use twinsplit_core::join::kernel::Source;
use twinsplit_core::join::overlap;
use twinsplit_core::join::sets::Sets;
use twinsplit_core::similarity::{Measure, Similarity};
use twinsplit_core::threads::in_threads;
use twinsplit_io::AtomicFile;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::cluster::{ClusterRow, Verdict};
use twinsplit_rows::record::near::Near;
use twinsplit_rows::record::pair::Pair;

/// A cluster that holds more than one in so many of all documents may be an accident of the features.
pub const LARGE_SHARE: u64 = 100;

/// A cluster of more than one in [`LARGE_SHARE`] documents.
pub struct LargeCluster {
    /// Its kept document.
    pub kept: String,
    /// Its documents.
    pub size: u64,
    /// Its documents by script.
    pub scripts: BTreeMap<String, u64>,
    /// What its sets have in common; nothing but of the largest.
    pub sets: CommonFeatures,
}

/// What most of some different sets have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommonFeatures {
    /// Features that more than half of the sets have.
    pub common: u64,
    /// Features of a set on average, rounded down.
    pub features: u64,
}

impl CommonFeatures {
    /// Sets that are looked at: the first ones by their documents' ids.
    pub const SETS: usize = 50;

    /// Whether a set of this size is looked at.
    pub fn takes(size: u64) -> bool {
        size <= 100_000
    }
}

/// In how many sets features are.
#[derive(Default)]
pub struct FeatureCounts<F> {
    of: FxHashMap<F, u32>,
    sets: u64,
    features: u64,
}

impl<F: Copy + Eq + Hash> FeatureCounts<F> {
    /// Adds a set of so many features, of which these may be in others.
    pub fn add(&mut self, set: &[F], size: u64) {
        self.sets += 1;
        self.features += size;
        set.iter().for_each(|feature| *self.of.entry(*feature).or_default() += 1);
    }

    /// What most sets have in common.
    pub fn common(&self) -> CommonFeatures {
        let common = self.of.values().filter(|count| 2 * u64::from(**count) > self.sets).count() as u64;
        CommonFeatures { common, features: self.features.checked_div(self.sets).unwrap_or(0) }
    }
}

/// Lines that a thread encodes at a time.
const PIECE: usize = 8 << 10;

/// Everything that the files are made of.
pub struct Answer<'a> {
    documents: &'a Documents,
    groups: &'a Groups,
    /// By number of a document: its set.
    set_of: Vec<u32>,
    measure: Measure,
    /// What documents are compared by, where it is not their sets.
    fingerprints: Option<Fingerprints<'a>>,
    threads: usize,
}

/// Lines and bytes written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    /// Lines.
    pub lines: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A file of lines.
struct Lines {
    file: AtomicFile,
    written: Written,
}

impl Lines {
    /// Writes encoded lines, each with its end.
    fn write(&mut self, lines: u64, text: &[u8]) -> Result<()> {
        let Some(text) = text.strip_suffix(b"\n") else { return Ok(()) };
        self.written.lines += lines;
        self.written.bytes += text.len() as u64 + 1;
        self.file.line(text)
    }
}

impl<'a> Answer<'a> {
    /// Brings documents and groups together.
    pub fn new(documents: &'a Documents, groups: &'a Groups, measure: Measure, threads: usize) -> Self {
        let set_of = groups.set_of(documents.count());
        Self { documents, groups, set_of, measure, fingerprints: None, threads }
    }

    /// The same of documents that are compared by their fingerprints, where there are these.
    pub fn comparing(self, fingerprints: Option<Fingerprints<'a>>) -> Self {
        Self { fingerprints, ..self }
    }

    fn set(&self, number: u32) -> usize {
        self.set_of[number as usize] as usize
    }

    /// Writes all pairs of documents, in order of their ids.
    pub fn write_pairs(
        &self,
        pairs: &Sorter<'_, PairRow>,
        path: &Path,
        progress: &Progress,
    ) -> Result<Written> {
        let mut file = Lines { file: AtomicFile::create(path)?, written: Written::default() };
        let encode = |row: &PairRow, text: &mut Vec<u8>| {
            let (a, b) = unpack(row.documents);
            let size = |number| self.groups.store.size_of(self.set(number)) as u64;
            let (id_a, id_b) = (self.documents.id(a), self.documents.id(b));
            if self.fingerprints.is_some() {
                Near { a: id_a, b: id_b, distance: row.overlap, checked: None }.encode(text);
                return text.push(b'\n');
            }
            let overlap = row.overlap.into();
            let (size_a, size_b, measure) = (size(a), size(b), self.measure);
            let pair = Pair { a: id_a, b: id_b, overlap, size_a, size_b, measure };
            pair.encode(text);
            text.push(b'\n');
        };
        pairs.drain_all(self.threads, &mut |rows| {
            for rows in rows.chunks(PIECE * self.threads) {
                let pieces: Vec<&[PairRow]> = rows.chunks(PIECE).collect();
                let texts = in_threads(pieces.len(), self.threads, |at| {
                    let mut text = Vec::with_capacity(pieces[at].len() * 64);
                    pieces[at].iter().for_each(|row| encode(row, &mut text));
                    Ok::<_, Error>(text)
                })?;
                pieces.iter().zip(texts).try_for_each(|(rows, text)| file.write(rows.len() as u64, &text))?;
                progress.add(rows.len() as u64);
            }
            Ok(())
        })?;
        file.file.finish()?;
        Ok(file.written)
    }

    /// Chooses the kept document of each cluster of two and more. `labels` are by set, and below the number of sets.
    /// Gives (kept, document) for each document of these clusters, the kept one too, in order.
    pub fn choose(&self, labels: &[u32]) -> Vec<u64> {
        self.choose_without(labels, &[])
    }

    /// The same where some documents, ascending, are in no cluster. None of them is the best of its set or text.
    pub fn choose_without(&self, labels: &[u32], spared: &[u32]) -> Vec<u64> {
        let mut sizes = vec![0_u32; labels.len()];
        for (set, label) in (0..).zip(labels) {
            sizes[*label as usize] += self.groups.size(set) as u32;
        }
        let in_clusters: usize = sizes.iter().filter(|size| **size > 1).map(|size| *size as usize).sum();
        let texts = &self.documents.texts;
        let mut rows = Vec::with_capacity(in_clusters + texts.documents());
        for (set, label) in (0..).zip(labels) {
            if sizes[*label as usize] > 1 {
                rows.extend(self.groups.members(set).iter().map(|member| pack(*label, *member)));
            }
        }
        // Equal texts are clusters of their own: their documents have no sets.
        for (label, members) in (labels.len() as u32..).zip(texts.groups()) {
            rows.extend(members.iter().map(|member| pack(label, *member)));
        }
        if !spared.is_empty() {
            rows.retain(|row| spared.binary_search(&unpack(*row).1).is_err());
        }
        rows.sort_unstable();
        if !spared.is_empty() {
            // Who is left alone is in no cluster.
            let clusters = rows.chunk_by(|x, y| unpack(*x).0 == unpack(*y).0);
            rows = clusters.filter(|cluster| cluster.len() > 1).flatten().copied().collect();
        }
        for cluster in rows.chunk_by_mut(|x, y| unpack(*x).0 == unpack(*y).0) {
            let numbers = cluster.iter().map(|row| unpack(*row).1);
            let Some(kept) = numbers.min_by_key(|number| self.documents.rank(*number)) else { continue };
            cluster.iter_mut().for_each(|row| *row = pack(kept, unpack(*row).1));
        }
        rows.sort_unstable();
        rows
    }

    /// The clusters that hold more than one in [`LARGE_SHARE`] of all documents, by script.
    pub fn large_clusters(&self, rows: &[u64]) -> Result<Vec<LargeCluster>> {
        let documents = self.documents.count() as u64;
        let clusters = || rows.chunk_by(|x, y| unpack(*x).0 == unpack(*y).0);
        // Of equally large ones the last, as it is shown.
        let largest = clusters().max_by_key(|cluster| cluster.len()).map(|cluster| unpack(cluster[0]).0);
        clusters()
            .filter(|cluster| cluster.len() as u64 * LARGE_SHARE > documents)
            .map(|cluster| {
                let mut scripts = BTreeMap::new();
                for row in cluster {
                    *scripts.entry(self.documents.script(unpack(*row).1).to_owned()).or_default() += 1;
                }
                let kept = String::from_utf8_lossy(self.documents.id(unpack(cluster[0]).0)).into_owned();
                let looked_at = largest == Some(unpack(cluster[0]).0) && self.fingerprints.is_none();
                let sets = if looked_at { self.common_features(cluster)? } else { CommonFeatures::default() };
                Ok(LargeCluster { kept, size: cluster.len() as u64, scripts, sets })
            })
            .collect()
    }

    /// What the sets of a cluster's documents have in common.
    fn common_features(&self, cluster: &[u64]) -> Result<CommonFeatures> {
        let (mut counts, mut buffer, mut seen) =
            (FeatureCounts::default(), Sets::default(), FxHashSet::default());
        for row in cluster {
            let set = self.set_of[unpack(*row).1 as usize];
            if set == NO_SET || !seen.insert(set) || seen.len() > CommonFeatures::SETS {
                continue;
            }
            let size = self.groups.store.size_of(set as usize) as u64;
            if CommonFeatures::takes(size) {
                counts.add(self.groups.store.get(set as usize, &mut buffer)?, size);
            }
        }
        Ok(counts.common())
    }

    /// Writes the clusters, in order of the kept documents' ids, then of the members'. Counts the dropped documents.
    pub fn write_clusters(
        &self,
        rows: &[u64],
        similarity: Similarity,
        path: &Path,
        progress: &Progress,
    ) -> Result<(Written, Dropped)> {
        let mut dropped = Dropped::below(similarity);
        let mut file = Lines { file: AtomicFile::create(path)?, written: Written::default() };
        for rows in rows.chunks(PIECE * self.threads) {
            let pieces: Vec<&[u64]> = rows.chunks(PIECE).collect();
            let texts =
                in_threads(pieces.len(), self.threads, |at| self.cluster_lines(pieces[at], similarity))?;
            for (rows, (text, counted)) in pieces.iter().zip(texts) {
                file.write(rows.len() as u64, &text)?;
                dropped.append(&counted);
            }
            progress.add(rows.len() as u64);
        }
        file.file.finish()?;
        Ok((file.written, dropped))
    }

    /// The lines of some rows, with exact similarities to the kept documents; these are counted.
    fn cluster_lines(&self, rows: &[u64], similarity: Similarity) -> Result<(Vec<u8>, Dropped)> {
        let mut dropped = Dropped::below(similarity);
        let mut text = Vec::with_capacity(rows.len() * 48);
        let (mut kept_sets, mut own_sets) = (Sets::default(), Sets::default());
        for cluster in rows.chunk_by(|x, y| unpack(*x).0 == unpack(*y).0) {
            let kept = unpack(cluster[0]).0;
            let kept_set = match self.set_of[kept as usize] {
                NO_SET => &[],
                set => self.groups.store.get(set as usize, &mut kept_sets)?,
            };
            for row in cluster {
                let number = unpack(*row).1;
                let verdict = if number == kept {
                    Verdict::Keep
                } else if let Some(fingerprints) = &self.fingerprints {
                    let equal_texts = self.set_of[kept as usize] == NO_SET;
                    let (distance, within) =
                        if equal_texts { (0, true) } else { fingerprints.distance(kept, number) };
                    Verdict::Drop(Some(dropped.add_distance(distance, within)))
                } else {
                    Verdict::Drop(dropped.add(self.shared(kept, kept_set, number, &mut own_sets)?))
                };
                let id = |number| self.documents.id(number);
                ClusterRow { kept: id(kept), id: id(number), verdict }.encode(&mut text);
                text.push(b'\n');
            }
        }
        Ok((text, dropped))
    }

    /// What a document shares with the kept one, and both sizes; `None` for equal texts, which have no sets here.
    fn shared(
        &self,
        kept: u32,
        kept_set: &[u32],
        number: u32,
        buffer: &mut Sets,
    ) -> Result<Option<(u64, u64, u64)>> {
        if self.set_of[kept as usize] == NO_SET {
            return Ok(None);
        }
        let (x, y) = (self.set(kept), self.set(number));
        let store = &self.groups.store;
        let (a, b) = (store.size_of(x) as u64, store.size_of(y) as u64);
        let shared = if x == y { a } else { overlap(kept_set, store.get(y, buffer)?) };
        Ok(Some((shared, a, b)))
    }

    /// The places in the input of the documents that are dropped, and of lines that are no documents, ascending.
    pub fn dropped(&self, rows: &[u64]) -> Vec<u32> {
        let dropped = rows.iter().map(|row| unpack(*row)).filter(|(kept, number)| kept != number);
        let mut places: Vec<u32> = dropped.map(|(_, number)| self.documents.order[number as usize]).collect();
        places.extend(&self.documents.bad);
        places.sort_unstable();
        places
    }
}

/// How many clusters there are among (kept, document).
pub fn count_clusters(rows: &[u64]) -> u64 {
    rows.iter().filter(|row| unpack(**row).0 == unpack(**row).1).count() as u64
}
