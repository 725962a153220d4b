//! What is compared of texts whose fingerprints are near ([`crate::similarity::text`]).

use crate::similarity::text::{Content, TextMeasure};
use crate::text::{Extractor, FeatureSpec};

/// Turns texts into what is compared of them. It holds buffers that are reused from text to text: make one for each thread.
#[derive(Debug)]
pub struct Contents {
    measure: TextMeasure,
    extractor: Extractor,
    features: Vec<u64>,
}

impl Contents {
    /// For a measure, and features as a specification says.
    pub fn new(measure: TextMeasure, spec: FeatureSpec) -> Self {
        Self { measure, extractor: Extractor::new(spec), features: Vec::new() }
    }

    /// What is compared of a text.
    pub fn content(&mut self, text: &str) -> Content {
        match self.measure {
            TextMeasure::Edit => Content::Text(self.extractor.normalised(text).to_owned()),
            TextMeasure::Jaccard => {
                self.extractor.set(text, &mut self.features);
                Content::Counts(self.features.iter().map(|feature| (*feature, 1)).collect())
            }
            TextMeasure::Cosine => {
                self.extractor.hashes(text, &mut self.features);
                self.features.sort_unstable();
                let equal = self.features.chunk_by(|x, y| x == y);
                Content::Counts(equal.map(|equal| (equal[0], equal.len() as u64)).collect())
            }
        }
    }
}
