//! Fingerprints made once more as a run made them, for what shows its answer.

use super::documents::{Inputs, each_document};
use super::run::refuse_streams;
use std::sync::Arc;
use twinsplit_core::sketch::{Frequencies, Idf, Sketcher};
use twinsplit_core::text::{Extractor, FeatureSpec};
use twinsplit_io::error::Result;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_rows::stages::simhash::SketchOpts;

/// Document frequencies, as they are counted.
pub struct Counted {
    extractor: Extractor,
    set: Vec<u64>,
    of: Frequencies,
}

impl Counted {
    /// None yet, of features as a specification says.
    pub fn new(spec: FeatureSpec) -> Self {
        Self { extractor: Extractor::new(spec), set: Vec::new(), of: Frequencies::default() }
    }

    /// Counts a document's features.
    pub fn add(&mut self, text: &str) {
        self.of.documents += 1;
        self.extractor.set(text, &mut self.set);
        self.set.iter().for_each(|feature| *self.of.of.entry(*feature).or_default() += 1);
    }

    /// What weights are made of.
    pub fn idf(self) -> Idf {
        Idf::Of(Arc::new(self.of))
    }
}

/// What makes the fingerprints of a run over these inputs, which are read where frequencies have to be counted.
pub fn sketcher(
    inputs: &Inputs,
    document: &DocumentOpts,
    opts: &SketchOpts,
    command: &'static str,
) -> Result<Sketcher> {
    if let Some(idf) = opts.idf()? {
        return opts.sketcher(idf);
    }
    refuse_streams(inputs, "document frequencies for --weights are counted first")?;
    let mut counted = Counted::new(opts.features.spec()?);
    each_document(inputs, document, command, |document| {
        counted.add(&document.text);
        Ok(())
    })?;
    opts.sketcher(counted.idf())
}
