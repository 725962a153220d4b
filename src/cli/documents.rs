//! What the commands that look at single documents share: a run's `run.json`, reading the documents again, and
//! which features lie in the IDF range.

use super::manifest::QUERIES;
use super::output::owned::RUN;
use super::output::tidy;
use crate::bad_records::BadRecords;
use crate::error::{Error, Result};
use crate::index::idf::IdfRange;
use crate::io::{Blocks, each_line};
use crate::params::Params;
use crate::record::document::{Document, DocumentOpts};
use crate::stages::feature_order::read_reference;
use crate::stages::options::{EqualTextsOpts, FeatureOpts, IdfOpts, MinFeaturesOpts, SimilarityOpts};
use crate::text::{Extractor, FeatureSpec};
use crate::visible;
use clap::Args;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What the decision on a pair depends on, declared with the stages.
#[derive(Args, Clone, Debug)]
pub struct PairOpts {
    /// How documents are read.
    #[command(flatten)]
    pub document: DocumentOpts,
    /// How a text becomes features.
    #[command(flatten)]
    pub features: FeatureOpts,
    /// Which features count.
    #[command(flatten)]
    pub idf: IdfOpts,
    /// Which documents count.
    #[command(flatten)]
    pub least: MinFeaturesOpts,
    /// Which texts are compared as a whole.
    #[command(flatten)]
    pub texts: EqualTextsOpts,
    /// The threshold.
    #[command(flatten)]
    pub similarity: SimilarityOpts,
}

/// The `run.json` of an answer.
pub struct RunFile {
    /// Where it was read.
    pub path: PathBuf,
    /// What it holds.
    pub value: Value,
}

impl RunFile {
    /// Reads the `run.json` in the output folder of a run.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(RUN);
        let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        match serde_json::from_str(&text) {
            Ok(value) => {
                tidy(folder);
                Ok(Self { path, value })
            }
            Err(error) => Err(Error::File { path, problem: format!("is not what a run writes: {error}") }),
        }
    }

    /// Sets the options of the run that `params` does not hold yet.
    pub fn complete(&self, params: &mut Params) {
        for (name, value) in self.value["parameters"].as_object().into_iter().flatten() {
            if let (None, Some(value)) = (params.get(name), value.as_str()) {
                params.set(name, value);
            }
        }
    }

    /// The documents that the run read; those of a batch are no part of them.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let listed = self.value["inputs"].as_array().into_iter().flatten();
        let listed = listed.filter(|input| input[QUERIES] != true);
        listed.filter_map(|input| input["path"].as_str()).map(PathBuf::from).collect()
    }

    /// The same, to be read again. A stream cannot be: who waits for it waits for ever.
    pub fn readable_inputs(&self) -> Result<Vec<PathBuf>> {
        let inputs = self.inputs();
        let stream = |path: &&PathBuf| *path == Path::new("-") || (path.exists() && !path.is_file());
        let Some(stream) = inputs.iter().find(stream) else { return Ok(inputs) };
        let name = |path: &Path| match path == Path::new("-") {
            true => "standard input".to_owned(),
            false => visible::path(path),
        };
        let all: Vec<_> = inputs.iter().map(|path| name(path)).collect();
        Err(Error::Usage(format!(
            "the run in {} read {}, and {} cannot be read again; give the same documents as files with --input",
            visible::path(self.path.parent().unwrap_or(&self.path)),
            all.join(", "),
            name(stream)
        )))
    }
}

/// Calls `visit` with each document of the inputs, in their order; bad lines pass as in the run.
pub fn each_document(
    inputs: &[PathBuf],
    opts: &DocumentOpts,
    stage: &'static str,
    mut visit: impl FnMut(Document<'_>) -> Result<()>,
) -> Result<()> {
    let mut bad = BadRecords::counted(stage, opts.bad_records);
    let mut blocks = Blocks::new(inputs.to_vec(), 1 << 20).of_documents(opts.max_line);
    while let Some(block) = blocks.next_block()? {
        each_line(&block, |line, place| match opts.read(line, place) {
            Ok(document) => visit(document),
            Err(error) => bad.pass(line, place, error),
        })?;
    }
    Ok(())
}

/// Those of `features` that lie in the IDF range, their frequencies counted over the inputs or taken from the table.
pub fn in_range(
    inputs: &[PathBuf],
    opts: &PairOpts,
    spec: &FeatureSpec,
    stage: &'static str,
    features: impl Iterator<Item = u64>,
) -> Result<FxHashSet<u64>> {
    let range: IdfRange = opts.idf.idf;
    if range.is_everything() {
        return Ok(features.collect());
    }
    let mut frequencies: FxHashMap<u64, u64> = features.map(|feature| (feature, 0)).collect();
    let mut documents = 0;
    if let Some(path) = &opts.idf.table.idf_table {
        let table = read_reference(path, &opts.features)?;
        documents = table.documents;
        // A feature that the table does not know counts as one that stands in one document.
        frequencies.values_mut().for_each(|frequency| *frequency = 1);
        for (feature, frequency) in table.rows {
            frequencies.entry(feature).and_modify(|known| *known = frequency);
        }
    } else {
        let mut extractor = Extractor::new(spec.clone());
        let mut set = Vec::new();
        each_document(inputs, &opts.document, stage, |document| {
            documents += 1;
            extractor.set(&document.text, &mut set);
            for feature in &set {
                frequencies.entry(*feature).and_modify(|frequency| *frequency += 1);
            }
            Ok(())
        })?;
    }
    let (least, most) = range.df_range(documents);
    frequencies.retain(|_, frequency| (least..=most).contains(frequency));
    Ok(frequencies.into_keys().collect())
}
