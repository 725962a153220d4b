//! How a segment is made of documents.

use super::{Document, KIND, Order, PARTS, bucket_of, directory_bits};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use twinsplit_core::similarity::{SetSimilarity, Similarity};
use twinsplit_io::{checked_parts, parts_file};

/// Features that more documents of a segment have come last in its order.
const MANY: u32 = 32;
/// At most so many of them, so that a segment is open at once.
const FREQUENT: usize = 1 << 16;
/// Collects documents of a segment.
#[derive(Debug, Default)]
pub struct SegmentBuilder {
    documents: Vec<Document>,
    bytes: usize,
}

/// Bytes that a feature takes while a segment is made of it, at most, and a document beside its features and its id.
const OF_FEATURE: usize = 72;
const OF_DOCUMENT: usize = 160;

/// Bytes that it takes to make a segment of a document with an id of so many bytes, and so many features.
pub(super) fn bytes_of(id: usize, features: usize) -> usize {
    OF_DOCUMENT + id + OF_FEATURE * features
}

impl SegmentBuilder {
    /// Takes a document.
    pub fn push(&mut self, document: Document) {
        self.bytes += bytes_of(document.id.len(), document.features.len());
        self.documents.push(document);
    }

    /// The documents, in no order.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Bytes of memory that it takes to make the segment.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Two documents of one id, if there are such.
    pub fn repeated_id(&self) -> Option<&[u8]> {
        let mut ids: Vec<&[u8]> = self.documents.iter().map(|document| &*document.id).collect();
        ids.sort_unstable();
        ids.windows(2).find(|two| two[0] == two[1]).map(|two| two[0])
    }

    /// Makes the segment. Sets of fewer features than `least` are in no pair.
    pub fn finish(&self, similarity: Similarity, least: u64) -> SegmentFile {
        let mut documents: Vec<&Document> = self.documents.iter().collect();
        documents.sort_unstable_by(|x, y| (x.features.len(), &x.id).cmp(&(y.features.len(), &y.id)));
        let small = documents.partition_point(|document| (document.features.len() as u64) < least.max(1));
        let frequent = frequent(&documents[small..]);
        let postings = postings(&documents, small, &Order::of(&frequent), similarity);
        let parts = parts(&documents, small, &frequent, &postings);
        let parameters = [
            ("documents", documents.len().to_string()),
            ("small", small.to_string()),
            ("similarity", similarity.measure().name().to_owned()),
            ("tau", similarity.threshold()),
        ];
        let mut parts = Vec::from(parts);
        parts.push(checked_parts::sums(&slices(&parts)));
        let head = parts_file::head_of_parts(KIND, &parameters, &slices(&parts));
        SegmentFile { head, parts }
    }
}

fn slices(parts: &[Vec<u8>]) -> Vec<&[u8]> {
    parts.iter().map(Vec::as_slice).collect()
}

/// The bytes of a segment's file.
pub struct SegmentFile {
    head: Vec<u8>,
    parts: Vec<Vec<u8>>,
}

impl SegmentFile {
    /// All of them, in their order.
    pub fn pieces(&self) -> Vec<&[u8]> {
        parts_file::pieces(&self.head, &slices(&self.parts))
    }
}

/// The features that many documents have, the most frequent one last.
fn frequent(documents: &[&Document]) -> Vec<u64> {
    let mut counts: FxHashMap<u64, u32> = FxHashMap::default();
    for feature in documents.iter().flat_map(|document| document.features.iter()) {
        *counts.entry(*feature).or_default() += 1;
    }
    let mut many: Vec<(u32, u64)> = counts
        .into_iter()
        .filter(|(_, count)| *count > MANY)
        .map(|(feature, count)| (count, feature))
        .collect();
    many.sort_unstable_by_key(|many| Reverse(*many));
    many.truncate(FREQUENT);
    many.into_iter().rev().map(|(_, feature)| feature).collect()
}

/// A posting: a document, and the size of the largest one that may meet it under this feature.
#[derive(Clone, Copy)]
struct Posting {
    feature: u64,
    document: u32,
    largest: u32,
}

fn postings(documents: &[&Document], small: usize, order: &Order, similarity: Similarity) -> Vec<Posting> {
    let mut postings = Vec::new();
    let mut ordered = Vec::new();
    for (number, document) in documents.iter().enumerate().skip(small) {
        order.sort(&document.features, &mut ordered);
        let size = ordered.len() as u64;
        let prefix = similarity.probe_prefix(size).min(size) as usize;
        for (at, feature) in ordered[..prefix].iter().enumerate() {
            let largest = similarity.max_partner_sharing(size, size - at as u64).min(u32::MAX.into()) as u32;
            postings.push(Posting { feature: *feature, document: number as u32, largest });
        }
    }
    postings.sort_unstable_by_key(|posting| (posting.feature, posting.document));
    postings
}

fn longs(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    numbers.flat_map(u64::to_le_bytes).collect()
}

fn shorts(numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    numbers.flat_map(u32::to_le_bytes).collect()
}

/// Where each thing ends, of which the lengths are given.
fn ends(lengths: impl Iterator<Item = usize>) -> Vec<u8> {
    longs(lengths.scan(0, |end, length| {
        *end += length as u64;
        Some(*end)
    }))
}

/// The parts of a file; [`Segment`](super::Segment) names them in this order.
fn parts(documents: &[&Document], small: usize, frequent: &[u64], postings: &[Posting]) -> [Vec<u8>; PARTS] {
    let keys: Vec<&[Posting]> = postings.chunk_by(|x, y| x.feature == y.feature).collect();
    let bits = directory_bits(keys.len());
    let directory = (0..=1_u64 << bits)
        .map(|bucket| keys.partition_point(|key| bucket_of(key[0].feature, bits) < bucket) as u32);
    let mut by_id: Vec<u32> = (0..documents.len() as u32).collect();
    by_id.sort_unstable_by_key(|number| &documents[*number as usize].id);
    let mut by_text: Vec<u32> = (0..small as u32).collect();
    by_text.sort_unstable_by_key(|number| (documents[*number as usize].text, *number));
    [
        ends(documents.iter().map(|document| document.id.len())),
        documents.iter().flat_map(|document| document.id.iter().copied()).collect(),
        ends(documents.iter().map(|document| document.features.len())),
        longs(documents.iter().flat_map(|document| document.features.iter().copied())),
        documents.iter().flat_map(|document| document.text.to_le_bytes()).collect(),
        shorts(documents.iter().map(|document| document.batch)),
        longs(frequent.iter().copied()),
        longs(keys.iter().map(|key| key[0].feature)),
        ends(keys.iter().map(|key| key.len())),
        shorts(postings.iter().flat_map(|posting| [posting.document, posting.largest])),
        shorts(directory),
        shorts(by_id.into_iter().chain(by_text)),
    ]
}
