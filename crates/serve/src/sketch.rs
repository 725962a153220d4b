//! Texts and fingerprints of requests as documents, by the options that runs have.

use crate::document::{Document, Key, sent_digest};
use twinsplit_core::hash;
use twinsplit_core::similarity::text::TextCheck;
use twinsplit_core::sketch::content::Contents;
use twinsplit_core::sketch::distance::Distances;
use twinsplit_core::sketch::simhash::{Bits, Fingerprint, Tie};
use twinsplit_core::sketch::{Hash, Idf, Sketcher, Weights};
use twinsplit_core::text::{Extractor, FeatureSpec};

/// How texts become documents.
#[derive(Clone, Debug)]
pub struct Sketching {
    /// What the features are.
    pub features: FeatureSpec,
    /// The least different features of a text that has a fingerprint.
    pub least: u64,
    /// What a feature weighs.
    pub weights: Weights,
    /// Where inverse document frequencies come from.
    pub idf: Idf,
    /// The hash of a feature.
    pub hash: Hash,
    /// Bits of a fingerprint.
    pub bits: Bits,
    /// The bit where a sum is 0.
    pub tie: Tie,
    /// The greatest distance, by the length of texts.
    pub distances: Distances,
    /// The second stage, where there is one.
    pub check: Option<TextCheck>,
}

/// Makes documents. It holds buffers that are reused from text to text: each connection has one.
#[derive(Debug)]
pub struct Sketch {
    sketcher: Sketcher,
    extractor: Extractor,
    contents: Option<Contents>,
    distances: Distances,
    bits: Bits,
}

impl Sketching {
    /// What makes documents.
    pub fn sketch(&self) -> Sketch {
        let Self { features, least, weights, idf, hash, bits, tie, distances, check } = self;
        Sketch {
            sketcher: Sketcher::new(features.clone(), *least, *weights, idf.clone(), *hash, *bits, *tie),
            extractor: Extractor::new(features.clone()),
            contents: check.map(|check| Contents::new(check.measure, features.clone())),
            distances: distances.clone(),
            bits: *bits,
        }
    }
}

impl Sketch {
    /// The document of a text. One with too few features for a fingerprint is known by the hash of the text.
    pub fn of_text(&mut self, text: &str) -> Document {
        let key = match self.sketcher.fingerprint(text) {
            Some(fingerprint) => {
                Key::Fingerprint { value: fingerprint.value, most: self.distances.of_text(text) }
            }
            None => self.extractor.text_hash(text).map_or(Key::Nothing, Key::Text),
        };
        let content = self.contents.as_mut().map(|contents| Box::new(contents.content(text)));
        Document { key, digest: hash::feature(text.as_bytes()), content }
    }

    /// The document of a fingerprint in hex digits.
    ///
    /// # Errors
    /// It has another number of digits; texts are needed for a second stage.
    pub fn of_fingerprint(&self, digits: &[u8]) -> Result<Document, String> {
        if self.contents.is_some() {
            return Err("this service compares texts (--check): give TEXT and a text".to_owned());
        }
        let is_lower = digits.iter().all(|digit| !digit.is_ascii_uppercase());
        let found = match is_lower {
            true => Fingerprint::from_hex(digits),
            false => Fingerprint::from_hex(&digits.to_ascii_lowercase()),
        };
        let fingerprint = found.filter(|found| found.bits == self.bits).ok_or_else(|| {
            format!(
                "expected a fingerprint of {} hex digits, found {} bytes",
                self.bits.count() / 4,
                digits.len()
            )
        })?;
        let Fingerprint { value, .. } = fingerprint;
        let key = Key::Fingerprint { value, most: self.distances.all() };
        Ok(Document { key, digest: sent_digest(value), content: None })
    }
}
