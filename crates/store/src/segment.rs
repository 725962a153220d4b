//! A segment: documents as sets of features, in one file that is never changed ([`parts_file`]), with an index of the prefixes of their sets.
//!
//! **The order of features** is the segment's own: by their hashes, but for those that many of its documents have, which come last, the most frequent one at the
//! end. The order is total, so the first feature that two similar sets share stands in the prefix of either (bayardo2007; [`kernel`](twinsplit_core::join::kernel)),
//! and only the frequent ones have to be known to put a document into it.
//!
//! **Damage** is found where it is read: each page of the file has a checksum, with which it is compared when it is looked at. Whoever makes something of what was
//! read asks [`Segment::check`] before.
//!
//! **Documents** are numbered by ascending size, then by id. Those that are too small to be compared come first, and are found by their text.

mod build;

use crate::batch::Side;
use crate::tombstones::Tombstones;
pub use build::{SegmentBuilder, SegmentFile};
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::Arc;
use twinsplit_core::join::overlap_reaching;
use twinsplit_core::similarity::{SetSimilarity, Similarity};
use twinsplit_io::checked_file::{Head, broken};
use twinsplit_io::checked_parts::{CheckedBytes, Pages};
use twinsplit_io::error::Result;
use twinsplit_io::mapped::Access;
use twinsplit_io::parts_file;

/// The kind that the first line names.
const KIND: &str = "store-segment";
/// Parts of a file, without the checksums of their pages.
const PARTS: usize = 12;
/// Keys of a bucket of the directory, on average.
const BUCKET: usize = 8;

/// A document of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its id, escaped.
    pub id: Box<[u8]>,
    /// The number of the batch that it came in.
    pub batch: u32,
    /// The hash of its text, by which equal texts are known.
    pub text: u128,
    /// Its features, ascending.
    pub features: Box<[u64]>,
}

/// How many bits of a key choose its bucket.
fn directory_bits(keys: usize) -> u32 {
    (keys / BUCKET).max(1).ilog2()
}

fn bucket_of(key: u64, bits: u32) -> u64 {
    if bits == 0 { 0 } else { key >> (64 - bits) }
}

/// The order of features of a segment.
#[derive(Clone)]
struct Order {
    /// From 1, the most frequent one last.
    ranks: FxHashMap<u64, u32>,
}

impl Order {
    fn of(frequent: &[u64]) -> Self {
        Self { ranks: frequent.iter().copied().zip(1..).collect() }
    }

    /// Puts ascending features into the order.
    fn sort(&self, features: &[u64], out: &mut Vec<u64>) {
        out.clear();
        out.extend(features.iter().filter(|feature| !self.ranks.contains_key(feature)));
        let rare = out.len();
        out.extend(features.iter().filter(|feature| self.ranks.contains_key(feature)));
        out[rare..].sort_unstable_by_key(|feature| self.ranks.get(feature));
    }
}

/// A segment that is open: its file is mapped. Its clones share that.
#[derive(Clone)]
pub struct Segment {
    id_ends: CheckedBytes,
    ids: CheckedBytes,
    set_ends: CheckedBytes,
    features: CheckedBytes,
    texts: CheckedBytes,
    batches: CheckedBytes,
    keys: CheckedBytes,
    key_ends: CheckedBytes,
    postings: CheckedBytes,
    directory: CheckedBytes,
    orders: CheckedBytes,
    order: Order,
    documents: usize,
    small: usize,
    bits: u32,
    forgotten: Tombstones,
    /// Nothing of a file that has no checksums of pages: such a one was compared as a whole.
    pages: Option<Arc<Pages>>,
}

/// The working memory of a thread that holds documents against segments.
#[derive(Debug, Default)]
pub struct Scratch {
    ordered: Vec<u64>,
    candidates: Vec<u32>,
    set: Vec<u64>,
    /// How many pairs were verified.
    pub verified: u64,
}

impl Segment {
    /// Opens a file, whose pages are compared with their checksums when they are looked at. One that was written before there were such is compared as a
    /// whole, by so many threads.
    ///
    /// # Errors
    /// It is no segment, of another version, truncated or, as far as it is compared, damaged.
    pub fn open(path: &Path, threads: usize) -> Result<Self> {
        let (head, parts, pages) = parts_file::open_checked(path, KIND, PARTS, threads)?;
        let segment = Self::of(path, &head, parts, pages)?;
        segment.expect(Access::Random);
        Ok(segment)
    }

    /// Says how its pages are going to be read; few of them, after it was opened. A file without checksums was read as a whole then.
    pub fn expect(&self, access: Access) {
        if let Some(pages) = &self.pages {
            pages.expect(access);
        }
    }

    /// Compares all of its pages with their checksums, by so many threads. A file without these was compared when it was opened.
    ///
    /// # Errors
    /// It is damaged.
    pub fn verify(&self, threads: usize) -> Result<()> {
        self.expect(Access::ReadAhead);
        match &self.pages {
            Some(pages) => pages.check_all(threads),
            None => Ok(()),
        }
    }

    /// Whether all that was read of it is as it was written.
    ///
    /// # Errors
    /// It is damaged.
    pub fn check(&self) -> Result<()> {
        self.pages.as_ref().map_or(Ok(()), |pages| pages.check())
    }

    fn of(path: &Path, head: &Head, parts: Vec<CheckedBytes>, pages: Option<Arc<Pages>>) -> Result<Self> {
        let wrong = || broken(path, "a part is missing, or has another size than its first line says");
        let (documents, small) =
            (head.number("documents", path)? as usize, head.number("small", path)? as usize);
        let parts: [CheckedBytes; PARTS] = parts.try_into().map_err(|_| wrong())?;
        let [
            id_ends,
            ids,
            set_ends,
            features,
            texts,
            batches,
            frequent,
            keys,
            key_ends,
            postings,
            directory,
            orders,
        ] = parts;
        let last = |ends: &CheckedBytes, count: usize| match count.checked_sub(1) {
            None => Some(0),
            Some(at) => ends.long(at).map(|end| end as usize),
        };
        let bits = directory_bits(keys.len() / 8);
        let sizes = [
            (id_ends.len(), documents.checked_mul(8)),
            (ids.len(), last(&id_ends, documents)),
            (set_ends.len(), documents.checked_mul(8)),
            (features.len(), last(&set_ends, documents).and_then(|features| features.checked_mul(8))),
            (texts.len(), documents.checked_mul(16)),
            (batches.len(), documents.checked_mul(4)),
            (key_ends.len(), Some(keys.len())),
            (postings.len(), last(&key_ends, keys.len() / 8).and_then(|postings| postings.checked_mul(8))),
            (directory.len(), Some(4 * ((1 << bits) + 1))),
            (orders.len(), documents.checked_add(small).and_then(|both| both.checked_mul(4))),
        ];
        if small > documents || sizes.iter().any(|(found, wanted)| Some(*found) != *wanted) {
            return Err(wrong());
        }
        let frequent: Vec<u64> = (0..frequent.len() / 8).filter_map(|at| frequent.long(at)).collect();
        let order = Order::of(&frequent);
        Ok(Self {
            id_ends,
            ids,
            set_ends,
            features,
            texts,
            batches,
            keys,
            key_ends,
            postings,
            directory,
            orders,
            order,
            documents,
            small,
            bits,
            forgotten: Tombstones::default(),
            pages,
        })
    }

    /// The same without some documents.
    #[must_use]
    pub fn without(self, forgotten: Tombstones) -> Self {
        Self { forgotten, ..self }
    }

    /// How many documents its file holds, whether they are forgotten or not.
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// The documents that are forgotten.
    pub fn forgotten(&self) -> &Tombstones {
        &self.forgotten
    }

    /// The numbers of the others.
    pub fn living(&self) -> impl Iterator<Item = usize> {
        (0..self.documents).filter(|number| !self.forgotten.has(*number))
    }

    /// How many others there are.
    pub fn count_living(&self) -> usize {
        self.documents - self.forgotten.len()
    }

    /// Where a thing begins, by where it and the one before end.
    fn span(ends: &CheckedBytes, number: usize) -> std::ops::Range<usize> {
        let start = number.checked_sub(1).and_then(|before| ends.long(before)).unwrap_or(0);
        start as usize..ends.long(number).unwrap_or(0).max(start) as usize
    }

    /// The id of a document.
    pub fn id(&self, number: usize) -> &[u8] {
        self.ids.get(Self::span(&self.id_ends, number)).unwrap_or_default()
    }

    /// How many features it has.
    pub fn size(&self, number: usize) -> u64 {
        Self::span(&self.set_ends, number).len() as u64
    }

    /// Bytes of memory that it takes in the making of a segment.
    pub fn bytes_to_build(&self, number: usize) -> usize {
        build::bytes_of(Self::span(&self.id_ends, number).len(), self.size(number) as usize)
    }

    /// The hash of its text.
    pub fn text(&self, number: usize) -> u128 {
        let sixteen = self.texts.get(16 * number..16 * number + 16).and_then(|bytes| bytes.first_chunk());
        sixteen.map_or(0, |sixteen| u128::from_le_bytes(*sixteen))
    }

    /// Whether it has this text, and so many features.
    pub fn is(&self, number: usize, text: u128, size: u64) -> bool {
        self.text(number) == text && self.size(number) == size
    }

    /// The number of the batch that it came in.
    pub fn batch(&self, number: usize) -> u32 {
        self.batches.number(number)
    }

    /// Replaces `out` by its features.
    pub fn features(&self, number: usize, out: &mut Vec<u64>) {
        let span = Self::span(&self.set_ends, number);
        let bytes = self.features.get(8 * span.start..8 * span.end).unwrap_or_default();
        out.clear();
        out.extend(bytes.as_chunks().0.iter().map(|eight| u64::from_le_bytes(*eight)));
    }

    /// The document as one of a pair.
    pub fn side(&self, number: usize) -> Side<'_> {
        Side { id: self.id(number), size: self.size(number), batch: self.batch(number) }
    }

    /// The whole document.
    pub fn document(&self, number: usize) -> Document {
        let mut features = Vec::new();
        self.features(number, &mut features);
        let (id, batch, text) = (self.id(number).into(), self.batch(number), self.text(number));
        Document { id, batch, text, features: features.into() }
    }

    /// The number of the document at a place in the order of ids.
    pub fn in_order(&self, place: usize) -> usize {
        self.orders.number(place) as usize
    }

    /// The number of the document of an id, if it is not forgotten.
    pub fn find(&self, id: &[u8]) -> Option<usize> {
        let place = partition_point(0, self.documents, |place| self.id(self.in_order(place)) < id);
        let found = (place < self.documents).then(|| self.in_order(place));
        found.filter(|number| self.id(*number) == id && !self.forgotten.has(*number))
    }

    /// The numbers of the documents that are too small to be compared and have this text, without those that are forgotten.
    pub fn of_text(&self, text: u128) -> impl Iterator<Item = usize> {
        let number = move |place: usize| self.in_order(self.documents + place);
        let first = partition_point(0, self.small, |place| self.text(number(place)) < text);
        let of_text = (first..self.small).map(number).take_while(move |number| self.text(*number) == text);
        of_text.filter(|number| !self.forgotten.has(*number))
    }

    /// The first document that has so many features.
    fn first_of_size(&self, size: u64) -> usize {
        partition_point(self.small, self.documents, |number| self.size(number) < size)
    }

    /// The postings of a feature.
    fn list(&self, feature: u64) -> std::ops::Range<usize> {
        let bucket = bucket_of(feature, self.bits) as usize;
        let (start, end) =
            (self.directory.number(bucket) as usize, self.directory.number(bucket + 1) as usize);
        let key = |at: usize| self.keys.long(at).unwrap_or(u64::MAX);
        let at = partition_point(start, end.max(start), |at| key(at) < feature);
        if at < end && key(at) == feature { Self::span(&self.key_ends, at) } else { 0..0 }
    }

    /// Calls `hit` with number and overlap of each document that is in the answer together with the one of these features, which ascend and are as many as
    /// documents need to be compared. One that is forgotten is in no answer.
    pub fn query(
        &self,
        similarity: Similarity,
        features: &[u64],
        scratch: &mut Scratch,
        mut hit: impl FnMut(usize, u64),
    ) {
        let Scratch { ordered, candidates, set, verified } = scratch;
        self.order.sort(features, ordered);
        let size = features.len() as u64;
        let smallest = similarity.min_partner(size);
        let first = self.first_of_size(smallest);
        candidates.clear();
        for (at, feature) in ordered.iter().enumerate() {
            let largest = similarity.max_partner_sharing(size, size - at as u64);
            if largest < smallest {
                break;
            }
            let list = self.list(*feature);
            if list.is_empty() {
                continue;
            }
            let document = |at: usize| self.postings.number(2 * at) as usize;
            let start = partition_point(list.start, list.end, |at| document(at) < first);
            for at in start..list.end {
                let document = document(at);
                if largest < self.size(document) {
                    break;
                }
                if u64::from(self.postings.number(2 * at + 1)) >= size && !self.forgotten.has(document) {
                    candidates.push(document as u32);
                }
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        for number in candidates.iter() {
            let number = *number as usize;
            self.features(number, set);
            *verified += 1;
            let needed = similarity.overlap_needed(size, set.len() as u64);
            if let Some(shared) = overlap_reaching(features, set, needed) {
                hit(number, shared);
            }
        }
    }
}

/// The first place of which `before` no longer holds.
fn partition_point(mut start: usize, mut end: usize, before: impl Fn(usize) -> bool) -> usize {
    while start < end {
        let middle = start + (end - start) / 2;
        if before(middle) { start = middle + 1 } else { end = middle }
    }
    start
}
