//! Texts and fingerprints of requests as documents, by the options that runs have.

use crate::content::Content;
use crate::document::{Document, Key, sent_digest};
use crate::settings::Comparison;
use twinsplit_core::hash;
use twinsplit_core::similarity::Similarity;
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
    /// The least different features of a text that is compared by them.
    pub least: u64,
    /// What is made of them.
    pub sketched: Sketched,
}

/// What is made of the features of a text.
#[derive(Clone, Debug)]
pub enum Sketched {
    /// A fingerprint.
    Fingerprints(Fingerprinting),
    /// A set, by this similarity.
    Sets(Similarity),
}

/// How features become a fingerprint.
#[derive(Clone, Debug)]
pub struct Fingerprinting {
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

/// A document as a client has sent it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sent {
    /// A text, of which a [`Sketch`] makes the document.
    Text(Box<str>),
    /// A fingerprint, which is all that there is to its document.
    Fingerprint(Document),
}

impl Sent {
    /// Bytes of a text.
    pub fn text(&self) -> usize {
        match self {
            Sent::Text(text) => text.len(),
            Sent::Fingerprint(_) => 0,
        }
    }
}

/// Makes documents. It holds buffers that are reused from text to text: each thread has one.
#[derive(Debug)]
pub struct Sketch {
    extractor: Extractor,
    least: u64,
    making: Making,
}

#[derive(Debug)]
enum Making {
    Fingerprints(Box<MakingFingerprints>),
    Sets(Vec<u64>),
}

#[derive(Debug)]
struct MakingFingerprints {
    sketcher: Sketcher,
    contents: Option<Contents>,
    distances: Distances,
}

impl Sketching {
    /// What makes documents.
    pub fn sketch(&self) -> Sketch {
        let Self { features, least, sketched } = self;
        let making = match sketched {
            Sketched::Fingerprints(of) => {
                let Fingerprinting { weights, idf, hash, bits, tie, distances, check } = of;
                let sketcher =
                    Sketcher::new(features.clone(), *least, *weights, idf.clone(), *hash, *bits, *tie);
                Making::Fingerprints(Box::new(MakingFingerprints {
                    sketcher,
                    contents: check.map(|check| Contents::new(check.measure, features.clone())),
                    distances: distances.clone(),
                }))
            }
            Sketched::Sets(_) => Making::Sets(Vec::new()),
        };
        Sketch { extractor: Extractor::new(features.clone()), least: (*least).max(1), making }
    }

    /// The document of a fingerprint in hex digits.
    ///
    /// # Errors
    /// It has another number of digits; texts are needed, for a second stage or for sets.
    pub fn of_fingerprint(&self, digits: &[u8]) -> Result<Document, String> {
        let (distances, bits) = match &self.sketched {
            Sketched::Fingerprints(of) if of.check.is_none() => (&of.distances, of.bits),
            Sketched::Fingerprints(_) => {
                return Err("this service compares texts (--check): give TEXT and a text".to_owned());
            }
            Sketched::Sets(_) => {
                let problem =
                    "this service compares sets of features (--chain doc-split): give TEXT and a text";
                return Err(problem.to_owned());
            }
        };
        let is_lower = digits.iter().all(|digit| !digit.is_ascii_uppercase());
        let found = match is_lower {
            true => Fingerprint::from_hex(digits),
            false => Fingerprint::from_hex(&digits.to_ascii_lowercase()),
        };
        let fingerprint = found.filter(|found| found.bits == bits).ok_or_else(|| {
            format!("expected a fingerprint of {} hex digits, found {} bytes", bits.count() / 4, digits.len())
        })?;
        let Fingerprint { value, .. } = fingerprint;
        let key = Key::Fingerprint { value, most: distances.all() };
        Ok(Document { key, digest: sent_digest(value), content: None })
    }

    /// When two documents are alike.
    pub fn comparison(&self) -> Comparison {
        match &self.sketched {
            Sketched::Fingerprints(Fingerprinting { bits, distances, check, .. }) => {
                Comparison::Fingerprints { bits: *bits, distance: distances.most(), check: *check }
            }
            Sketched::Sets(similarity) => Comparison::Sets(*similarity),
        }
    }
}

impl Sketch {
    /// The document of what was sent.
    pub(crate) fn of(&mut self, sent: Sent) -> Document {
        match sent {
            Sent::Text(text) => self.of_text(&text),
            Sent::Fingerprint(document) => document,
        }
    }

    /// The document of a text. One with too few features is known by the hash of the text.
    pub fn of_text(&mut self, text: &str) -> Document {
        let Self { extractor, least, making } = self;
        let (key, content) = match making {
            Making::Fingerprints(making) => {
                let MakingFingerprints { sketcher, contents, distances, .. } = &mut **making;
                let key = sketcher.fingerprint(text).map(|fingerprint| Key::Fingerprint {
                    value: fingerprint.value,
                    most: distances.of_text(text),
                });
                (key, contents.as_mut().map(|contents| Content::Checked(contents.content(text))))
            }
            Making::Sets(features) => {
                extractor.set(text, features);
                let is_set = features.len() as u64 >= *least;
                (is_set.then_some(Key::Set), is_set.then(|| Content::Set(features[..].into())))
            }
        };
        let key = key.unwrap_or_else(|| extractor.text_hash(text).map_or(Key::Nothing, Key::Text));
        Document { key, digest: hash::feature(text.as_bytes()), content: content.map(Box::new) }
    }
}
