//! A text as a multiset of weighted features, and the fingerprint of it.

use super::simhash::{Bits, Fingerprint, Sums, Tie, idf, levels};
use crate::hash;
use crate::text::{Extractor, FeatureSpec, jieba};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

crate::choice! {
    /// How much a feature of a document weighs in its fingerprint.
    pub enum Weights {
        /// 1, however often it occurs
        One = "1",
        /// As often as it occurs
        Tf = "tf",
        /// As often as it occurs, times its inverse document frequency
        TfIdf = "tf-idf",
        /// 1 to 5: the fifth of the document's features, by tf-idf, in which it is
        Levels = "levels",
    }
}

impl Weights {
    /// Whether document frequencies are needed.
    pub fn need_idf(self) -> bool {
        matches!(self, Weights::TfIdf | Weights::Levels)
    }
}

crate::choice! {
    /// Which hash of a feature's text a fingerprint is made of.
    pub enum Hash {
        /// XXH3 of 64 or 128 bits
        Xxh3 = "xxh3",
        /// MD5 as one big-endian number, of which 64 bits are the low ones
        Md5 = "md5",
    }
}

/// The document frequencies of a corpus.
#[derive(Clone, Debug, Default)]
pub struct Frequencies {
    /// How many documents there are.
    pub documents: u64,
    /// By feature ([`hash::feature`]) the documents that have it.
    pub of: FxHashMap<u64, u64>,
}

impl Frequencies {
    fn idf(&self, feature: u64) -> u64 {
        idf(self.documents, self.of.get(&feature).copied().unwrap_or(1))
    }
}

/// Where inverse document frequencies come from.
#[derive(Clone, Debug)]
pub enum Idf {
    /// Nowhere: the weights do without.
    None,
    /// From a corpus.
    Of(Arc<Frequencies>),
    /// From jieba's dictionary of words.
    Jieba,
}

/// A feature of a document, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighted {
    /// [`hash::feature`] of its text.
    pub feature: u64,
    /// The hash that the fingerprint is made of.
    pub hash: u128,
    /// How often it occurs.
    pub count: u64,
    /// How much it weighs.
    pub weight: u64,
}

/// Turns texts into fingerprints. It holds buffers that are reused from text to text: make one for each thread.
#[derive(Debug)]
pub struct Sketcher {
    extractor: Extractor,
    weights: Weights,
    idf: Idf,
    hash: Hash,
    tie: Tie,
    bits: Bits,
    least: u64,
    sums: Sums,
    features: Vec<u64>,
    weighted: Vec<Weighted>,
    /// Where a feature stands in `weighted`.
    places: FxHashMap<u64, u32>,
    levels: Vec<u64>,
}

impl Sketcher {
    /// A sketcher of texts with at least so many different features.
    pub fn new(
        spec: FeatureSpec,
        least: u64,
        weights: Weights,
        idf: Idf,
        hash: Hash,
        bits: Bits,
        tie: Tie,
    ) -> Self {
        Self {
            extractor: Extractor::new(spec),
            weights,
            idf,
            hash,
            tie,
            bits,
            least: least.max(1),
            sums: Sums::new(bits),
            features: Vec::new(),
            weighted: Vec::new(),
            places: FxHashMap::default(),
            levels: Vec::new(),
        }
    }

    /// The fingerprint of a text; `None` where it has too few different features.
    pub fn fingerprint(&mut self, text: &str) -> Option<Fingerprint> {
        if self.by_hash() && !self.weights.need_idf() {
            return self.of_hashes(text);
        }
        self.weigh(text);
        if (self.weighted.len() as u64) < self.least {
            return None;
        }
        for one in &self.weighted {
            self.sums.add(one.hash, one.weight);
        }
        Some(self.sums.fingerprint(self.tie))
    }

    /// The features of a text with their weights, each once, in the order in which they first occur where they are found
    /// by their texts.
    pub fn weighted(&mut self, text: &str) -> &[Weighted] {
        self.weigh(text);
        &self.weighted
    }

    /// What has been added to each bit of the fingerprint of these features.
    pub fn sums(&self, weighted: &[Weighted]) -> Vec<i64> {
        let mut sums = Sums::new(self.bits);
        weighted.iter().for_each(|one| sums.add(one.hash, one.weight));
        sums.sums()
    }

    /// Whether a feature's own hash is all that is needed of its text.
    fn by_hash(&self) -> bool {
        self.hash == Hash::Xxh3 && self.bits == Bits::B64 && !matches!(self.idf, Idf::Jieba)
    }

    /// Whether a fingerprint is made of the hashes of features one by one, in any order, and nothing is held of a text.
    pub fn adds_up(&self) -> bool {
        self.by_hash() && self.weights == Weights::Tf
    }

    /// Bytes of memory for a byte of a line of which the features have to be held together: its text and the normal form of it, words and
    /// hashes, which grow to twice their size; where features are told apart by their texts, what is kept of each as well.
    pub fn bytes_for_a_byte(&self) -> usize {
        if self.by_hash() { 16 } else { 64 }
    }

    /// The fingerprint of a text that comes piece by piece, where it [adds up](Self::adds_up): of what `pieces` hands over.
    pub fn fingerprint_of_pieces<T>(
        &mut self,
        pieces: impl FnOnce(&mut Extractor, &mut dyn FnMut(u64)) -> T,
    ) -> (Option<Fingerprint>, T) {
        let Self { extractor, sums, least, tie, .. } = self;
        // As many different ones as there must be.
        let mut distinct = FxHashSet::default();
        let done = pieces(extractor, &mut |feature| {
            if (distinct.len() as u64) < *least {
                distinct.insert(feature);
            }
            sums.add_one(feature.into());
        });
        // In any case, for the sums begin anew then.
        let fingerprint = sums.fingerprint(*tie);
        ((distinct.len() as u64 >= *least).then_some(fingerprint), done)
    }

    /// Weights of 1 for each occurrence, or for each feature: nothing has to be counted.
    fn of_hashes(&mut self, text: &str) -> Option<Fingerprint> {
        if self.weights == Weights::One {
            self.extractor.distinct(text, &mut self.features);
        } else {
            self.extractor.hashes(text, &mut self.features);
        }
        let enough = match self.features.len() as u64 {
            some if some < self.least => false,
            _ if self.least == 1 || self.weights == Weights::One => true,
            _ => {
                let mut distinct = self.features.clone();
                distinct.sort_unstable();
                distinct.dedup();
                distinct.len() as u64 >= self.least
            }
        };
        if !enough {
            return None;
        }
        self.features.iter().for_each(|feature| self.sums.add_one((*feature).into()));
        Some(self.sums.fingerprint(self.tie))
    }

    /// Finds the features of a text, how often each occurs, and what it weighs.
    fn weigh(&mut self, text: &str) {
        self.weighted.clear();
        if self.by_hash() {
            self.extractor.hashes(text, &mut self.features);
            self.features.sort_unstable();
            self.weighted.extend(self.features.chunk_by(|a, b| a == b).map(|run| Weighted {
                feature: run[0],
                hash: run[0].into(),
                count: run.len() as u64,
                weight: idf_of(&self.idf, run[0], ""),
            }));
        } else {
            self.places.clear();
            let Self { extractor, places, weighted, idf, hash, bits, .. } = self;
            extractor.texts(text, |text| {
                let feature = hash::feature(text.as_bytes());
                let place = *places.entry(feature).or_insert(weighted.len() as u32) as usize;
                if let Some(known) = weighted.get_mut(place) {
                    known.count += 1;
                    return;
                }
                let hash = hash_of(*hash, *bits, feature, text);
                weighted.push(Weighted { feature, hash, count: 1, weight: idf_of(idf, feature, text) });
            });
        }
        // Until here the weight is the inverse document frequency.
        for one in &mut self.weighted {
            one.weight = match self.weights {
                Weights::One => 1,
                Weights::Tf => one.count,
                Weights::TfIdf | Weights::Levels => one.count * one.weight,
            };
        }
        if self.weights == Weights::Levels {
            self.levels.clear();
            self.levels.extend(self.weighted.iter().map(|one| one.weight));
            levels(&mut self.levels);
            self.weighted.iter_mut().zip(&self.levels).for_each(|(one, level)| one.weight = *level);
        }
    }
}

/// 1 where there are no frequencies.
fn idf_of(idf: &Idf, feature: u64, text: &str) -> u64 {
    match idf {
        Idf::None => 1,
        Idf::Of(frequencies) => frequencies.idf(feature),
        Idf::Jieba => jieba::idf(text),
    }
}

fn hash_of(hash: Hash, bits: Bits, feature: u64, text: &str) -> u128 {
    match (hash, bits) {
        (Hash::Md5, _) => hash::md5(text.as_bytes()),
        (Hash::Xxh3, Bits::B64) => feature.into(),
        (Hash::Xxh3, Bits::B128) => hash::text(text.as_bytes()),
    }
}
