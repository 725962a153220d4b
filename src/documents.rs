//! What the commands that look at single documents share: a run's `run.json`, reading the documents again, and
//! which features lie in the IDF range.

use super::manifest::{QUERIES, digest};
use super::output::owned::{ANSWER, DOCUMENTS, RUN, UNITS, WORK};
use super::output::tidy;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twinsplit_core::hash::Checksum;
use twinsplit_core::idf::IdfRange;
use twinsplit_core::text::{Extractor, FeatureKind, FeatureSpec};
use twinsplit_core::visible;
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_io::terminal::plural;
use twinsplit_io::{Blocks, document_files, each_line, each_row, expand_inputs, name_of};
use twinsplit_rows::bad_records::BadRecords;
use twinsplit_rows::chains::Family;
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::{Document, DocumentOpts};
use twinsplit_rows::stages::feature_order::read_reference;
use twinsplit_rows::stages::options::{
    EqualTextsOpts, FeatureOpts, IdfOpts, MinFeaturesOpts, SimilarityOpts,
};

twinsplit_core::options! {
    /// What the decision on a pair depends on, declared with the stages.
    pub struct PairOpts {}
    with {
        /// How documents are read.
        pub document: DocumentOpts,
        /// How a text becomes features.
        pub features: FeatureOpts,
        /// Which features count.
        pub idf: IdfOpts,
        /// Which documents count.
        pub least: MinFeaturesOpts,
        /// Which texts are compared as a whole.
        pub texts: EqualTextsOpts,
        /// The threshold.
        pub similarity: SimilarityOpts,
    }
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

    /// Reads the `run.json` of a run that has clusters, and its options.
    ///
    /// # Errors
    /// The run has looked for pairs with queries, and has none.
    pub fn of_clusters(folder: &Path) -> Result<(Self, Params)> {
        let run = Self::read(folder)?;
        let mut params = Params::default();
        run.complete(&mut params);
        match params.get("queries") {
            None => Ok((run, params)),
            Some(_) => Err(Error::Usage(format!(
                "the run in {0} has looked for pairs with queries and made no clusters; \
                 twinsplit explain QUERY ID --run {0} shows a pair",
                visible::path(folder)
            ))),
        }
    }

    /// Whether the run compared fingerprints: what its answer calls a similarity is a distance.
    pub fn compares_fingerprints(&self) -> bool {
        let family = self.value["chain"].as_str().and_then(Family::named);
        family.is_some_and(Family::compares_fingerprints)
    }

    /// What is said of a document that is not among those of the run, whose clusters and pairs may have others where it was compared with a store.
    fn elsewhere(&self) -> &'static str {
        match ["store", "against"].iter().any(|name| self.value["parameters"][*name].is_string()) {
            true => "; the run has compared its documents with those of a store, which has no texts",
            false => "",
        }
    }

    /// What a command reads that shows this run: the answer, and the documents as they were named then and are named now.
    pub fn reads(&self, given: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let answer = [RUN, "pairs.tsv", "clusters.tsv", "kept.jsonl"].map(|name| self.folder().join(name));
        Ok([answer.to_vec(), self.inputs(), expand_inputs(given)?].concat())
    }

    /// Sets the options of the run that `params` does not hold yet; files that they name are found where they were.
    pub fn complete(&self, params: &mut Params) {
        for (name, value) in self.value["parameters"].as_object().into_iter().flatten() {
            if let (None, Some(value)) = (params.get(name), value.as_str()) {
                let file = FeatureKind::file_of(value).unwrap_or(value);
                let is_file =
                    name == "queries" || Params::default().with(name, value).named_files().len() == 1;
                let known = ["parameter_files", "inputs"].iter().flat_map(|list| self.list(list));
                let mut known = known.filter(|known| is_file && known["path"] == file);
                let found = known.find_map(|known| known["absolute"].as_str()).map(visible::named);
                let found =
                    found.filter(|path| path.exists()).and_then(|path| path.to_str().map(str::to_owned));
                let kind = &value[..value.len() - file.len()];
                params.set(name, found.map_or_else(|| value.to_owned(), |path| format!("{kind}{path}")));
            }
        }
    }

    fn list(&self, name: &str) -> &[Value] {
        self.value[name].as_array().map_or(&[], Vec::as_slice)
    }

    /// The checksum that is recorded of a file of the answer; `None` when the run did not write it.
    pub fn checksum(&self, name: &str) -> Option<&str> {
        let is_it = |path: &str| Path::new(path).file_name().is_some_and(|file| file == name);
        let mut listed = self.list("outputs").iter();
        listed.find(|output| output["path"].as_str().is_some_and(is_it))?["xxh3"].as_str()
    }

    /// Calls `visit` with each line of a file of the answer, which must be the one that the run wrote.
    pub fn each_row(&self, name: &str, mut visit: impl FnMut(&[u8]) -> Result<(), FieldError>) -> Result<()> {
        let path = self.folder().join(name);
        let mut checksum = Checksum::default();
        each_row(&path, |line| {
            checksum.line(line);
            visit(line)
        })?;
        if self.checksum(name) == Some(checksum.hex().as_str()) {
            return Ok(());
        }
        let problem = format!("is not the {name} that {} describes; run again", visible::path(&self.path));
        Err(Error::File { path, problem })
    }

    /// The folder of the answer.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// What is known of the files that the run read as documents: those that it converted, in the answer, or its inputs.
    fn recorded(&self) -> Vec<&Value> {
        self.converted().map_or_else(|| self.given(), |converted| vec![converted])
    }

    /// What is known of the documents that the run converted, if it did.
    fn converted(&self) -> Option<&Value> {
        let is_it = |path: &str| made_name(&visible::named(path)).is_some();
        self.list("outputs").iter().find(|output| output["path"].as_str().is_some_and(is_it))
    }

    /// Whether the run converted its documents.
    pub fn has_converted(&self) -> bool {
        self.converted().is_some()
    }

    /// What is known of the files that the run was given. The queries are no part of them.
    fn given(&self) -> Vec<&Value> {
        self.list("inputs").iter().filter(|input| input[QUERIES] != true).collect()
    }

    /// Where a file that the run read is now: beside the answer, where it was, or by the name that was given.
    fn place(&self, recorded: &Value) -> PathBuf {
        let path = |field: &str| recorded[field].as_str().map(visible::named);
        let given = path("path").unwrap_or_default();
        if let (Some(name), true) = (made_name(&given), self.list("outputs").contains(recorded)) {
            return self.folder().join(name);
        }
        path("absolute").filter(|path| path.exists()).unwrap_or(given)
    }

    /// The files that the run read as documents.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.recorded().into_iter().map(|recorded| self.place(recorded)).collect()
    }

    /// The documents that the run read, as they were then: in the files given, where they have moved, or else where they were. A
    /// stream cannot be read again: who waits for it waits for ever. What to do without the documents is put behind the advice.
    pub fn documents(&self, given: &[PathBuf], without: &str) -> Result<Inputs> {
        self.as_recorded(&self.recorded(), given, ("input", without))
    }

    /// The queries that the run read, as they were then; none where it had none.
    pub fn queries(&self) -> Result<Inputs> {
        let queries: Vec<&Value> =
            self.list("inputs").iter().filter(|input| input[QUERIES] == true).collect();
        self.as_recorded(&queries, &[], ("queries", ""))
    }

    /// The files that the run was given, in their own form; in the same way.
    pub fn originals(&self, given: &[PathBuf]) -> Result<Inputs> {
        self.as_recorded(&self.given(), given, ("input", ""))
    }

    /// `option` is that which names the files.
    fn as_recorded(
        &self,
        recorded: &[&Value],
        given: &[PathBuf],
        (option, without): (&str, &str),
    ) -> Result<Inputs> {
        let is_stream = |path: &PathBuf| path == Path::new("-") || (path.exists() && !path.is_file());
        let there = || recorded.iter().map(|recorded| self.place(recorded)).collect();
        let files: Vec<PathBuf> = if given.is_empty() { there() } else { document_files(given)? };
        if let (true, Some(stream)) = (given.is_empty(), files.iter().find(|path| is_stream(path))) {
            let name = |path: &PathBuf| match path == Path::new("-") {
                true => "standard input".to_owned(),
                false => visible::path(path),
            };
            let all: Vec<_> = files.iter().map(name).collect();
            return Err(Error::Usage(format!(
                "the run in {} read {}, and {} cannot be read again; give the same documents as files with --{option}{without}",
                visible::path(self.folder()),
                all.join(", "),
                name(stream)
            )));
        }
        // What was a stream has no digest, and a run on a cluster knows none.
        if !recorded.iter().all(|recorded| recorded["xxh3"].is_string()) || files.iter().any(is_stream) {
            let missing = files.iter().find(|path| given.is_empty() && !path.exists());
            let elsewhere = self.elsewhere();
            return match missing {
                Some(path) => Err(self.gone(path, option, without)),
                None => Ok(Inputs { elsewhere, ..Inputs::of(files) }),
            };
        }
        if files.len() != recorded.len() {
            return Err(Error::Usage(format!(
                "--{option} names {}, and the run in {} read {}; name the same files in the same order{without}",
                plural(files.len() as u64, "file", "files"),
                visible::path(self.folder()),
                recorded.len()
            )));
        }
        for (file, recorded) in files.iter().zip(recorded) {
            if !file.exists() {
                return Err(self.gone(file, option, without));
            }
            let now = digest(file)?;
            if now["bytes"] != recorded["bytes"] || now["xxh3"] != recorded["xxh3"] {
                let was = format!(
                    "the run read {} bytes with xxh3 {}",
                    recorded["bytes"],
                    recorded["xxh3"].as_str().unwrap_or_default()
                );
                let problem = match given.is_empty() {
                    true => format!(
                        "is an input of the run and has changed since ({was}); restore the file, name it with --{option} where it has moved, \
                         or run again{without}"
                    ),
                    false => format!(
                        "is not what the run in {} read as {} ({was}); name the same files in the same order{without}",
                        visible::path(self.folder()),
                        recorded["path"].as_str().unwrap_or_default()
                    ),
                };
                return Err(Error::File { path: file.clone(), problem });
            }
        }
        // A run that converted its documents read them before they had their place.
        let name = |recorded: &&Value| {
            let path = visible::named(recorded["path"].as_str().unwrap_or_default());
            name_of(&match made_name(&path).filter(|_| self.list("outputs").contains(recorded)) {
                Some(name) => path.with_file_name(WORK).join(ANSWER).join(name),
                None => path,
            })
        };
        Ok(Inputs { names: recorded.iter().map(name).collect(), files, elsewhere: self.elsewhere() })
    }

    fn gone(&self, path: &Path, option: &str, without: &str) -> Error {
        let problem = format!(
            "is an input of the run in {} and is not there; where it has moved, name it with --{option}{without}",
            visible::path(self.folder())
        );
        Error::File { path: path.to_owned(), problem }
    }
}

/// The name of a file of an answer that has what the run read: documents that it has converted, or their units.
fn made_name(path: &Path) -> Option<&'static str> {
    [DOCUMENTS, UNITS].into_iter().find(|name| path.file_name() == Some(name.as_ref()))
}

/// Files of documents, and the names that places and automatic ids have of them.
#[derive(Clone, Debug)]
pub struct Inputs {
    files: Vec<PathBuf>,
    names: Vec<Arc<str>>,
    /// What is said of a document that is not among them.
    elsewhere: &'static str,
}

impl Inputs {
    /// Files by their own names.
    pub fn of(files: Vec<PathBuf>) -> Self {
        Self { names: files.iter().map(|file| name_of(file)).collect(), files, elsewhere: "" }
    }

    /// The name of the file of this number, counted from 0.
    pub fn name(&self, at: usize) -> &Arc<str> {
        &self.names[at]
    }

    /// What is to be said behind a word on a document that is not among them, such as where it may be.
    pub fn elsewhere(&self) -> &'static str {
        self.elsewhere
    }

    /// These and others.
    pub fn and(&self, others: &Self) -> Self {
        let mut all = self.clone();
        all.files.extend_from_slice(&others.files);
        all.names.extend_from_slice(&others.names);
        all
    }
}

impl Deref for Inputs {
    type Target = [PathBuf];

    fn deref(&self) -> &[PathBuf] {
        &self.files
    }
}

/// Calls `visit` with each document of the inputs, in their order; bad lines pass as in the run.
pub fn each_document(
    inputs: &Inputs,
    opts: &DocumentOpts,
    stage: &'static str,
    mut visit: impl FnMut(Document<'_>) -> Result<()>,
) -> Result<()> {
    each_line_of_document(inputs, opts, stage, |_| {}, |document, _, _| visit(document))
}

/// The same with the line of each document and its place; `read` is called with how many bytes of the files have been read.
pub fn each_line_of_document(
    inputs: &Inputs,
    opts: &DocumentOpts,
    stage: &'static str,
    read: impl Fn(u64),
    mut visit: impl FnMut(Document<'_>, &[u8], &Place) -> Result<()>,
) -> Result<()> {
    let mut bad = BadRecords::counted(stage, opts.bad_records);
    let mut blocks =
        Blocks::new(inputs.to_vec(), 1 << 20).of_documents(opts.max_line).with_names(inputs.names.clone());
    while let Some(block) = blocks.next_block()? {
        each_line(&block, |line, place| match opts.read(line, place) {
            Ok(document) => visit(document, line, place),
            Err(error) => bad.pass(line, place, error),
        })?;
        read(blocks.raw_bytes());
    }
    Ok(())
}

/// Those of `features` that lie in the IDF range, their frequencies counted over the inputs or taken from the table.
pub fn in_range(
    inputs: &Inputs,
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
