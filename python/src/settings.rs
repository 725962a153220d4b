//! The options of a run, and what is done with them.

use crate::found::{Found, Ids};
use crate::raised;
use crate::sketches::{MinHash, SimHash};
use crate::texts::Texts;
use crate::watched::watched;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use twinsplit::{Dedup, Document, Result};

/// An option: its name, its other name, what it means, and its default.
type Told = (String, Option<&'static str>, String, Option<String>);

/// All options of all chains.
#[pyfunction]
pub fn options() -> Vec<Told> {
    let fields = Dedup::options().into_iter();
    fields.map(|field| (field.name, field.alias, field.about, field.default)).collect()
}

/// The options of a run.
#[pyclass(frozen, module = "twinsplit._twinsplit")]
pub struct Settings(Dedup);

/// Documents as columns of one length.
struct Columns<'a> {
    texts: &'a Texts,
    ids: &'a Ids,
    dates: Option<Vec<Option<String>>>,
    scores: Option<Vec<Option<f64>>>,
}

impl Columns<'_> {
    /// The documents; rows without a text are none.
    fn documents(&self) -> impl Iterator<Item = Document> {
        self.texts.iter().enumerate().filter_map(|(row, text)| {
            let mut document = Document::new(self.ids.name(row), text?);
            if let Some(date) = self.dates.as_ref().and_then(|dates| dates[row].as_deref()) {
                document = document.date(date);
            }
            if let Some(score) = self.scores.as_ref().and_then(|scores| scores[row]) {
                document = document.score(score);
            }
            Some(document)
        })
    }
}

#[pymethods]
impl Settings {
    /// Options by their names, as the command line has them; no threads are as many as there are cores.
    #[new]
    #[pyo3(signature = (chain, options, *, threads=0, memory=None, folder=None))]
    fn new(
        chain: Option<&str>,
        options: Vec<(String, String)>,
        threads: usize,
        memory: Option<usize>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        let dedup = || -> Result<Dedup> {
            let mut dedup = Dedup::new().threads(threads);
            if let Some(chain) = chain {
                dedup = dedup.chain(chain)?;
            }
            for (name, value) in &options {
                dedup = dedup.option(name, value)?;
            }
            if let Some(bytes) = memory {
                dedup = dedup.memory(bytes);
            }
            Ok(match folder {
                Some(folder) => dedup.folder(folder),
                None => dedup,
            })
        };
        dedup().map(Self).map_err(raised)
    }

    /// Refuses options that the chain does not use.
    fn refuse_unused(&self) -> PyResult<()> {
        self.0.refuse_unused().map_err(raised)
    }

    /// The same with a store in a folder, to which documents are added or not, as a batch of this id.
    #[pyo3(signature = (folder, *, adds, batch=None))]
    fn with_store(&self, folder: PathBuf, adds: bool, batch: Option<&str>) -> Self {
        let dedup = self.0.clone();
        Self(if adds { dedup.store(folder, batch) } else { dedup.against(folder) })
    }

    /// The same with queries, which are documents in a file of JSON lines.
    fn with_queries(&self, path: PathBuf) -> Self {
        Self(self.0.clone().queries(path))
    }

    /// Finds the near-duplicates of the texts. They have names, or `ranks`: of each row its place in the order of ids.
    #[pyo3(signature = (texts, *, ranks=None, names=None, dates=None, scores=None, tell=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn run(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, Texts>,
        ranks: Option<Vec<u32>>,
        names: Option<Vec<String>>,
        dates: Option<Vec<Option<String>>>,
        scores: Option<Vec<Option<f64>>>,
        tell: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Found> {
        let texts = texts.get();
        let ids = Ids::new(ranks, names, texts.count());
        let lengths = [ids.count(), dates.as_ref().map_or(texts.count(), Vec::len)];
        let lengths = lengths.into_iter().chain(scores.as_ref().map(Vec::len));
        if let Some(other) = lengths.into_iter().find(|length| *length != texts.count()) {
            let count = texts.count();
            return Err(PyValueError::new_err(format!("{count} texts, and a column of {other}")));
        }
        let columns = Columns { texts, ids: &ids, dates, scores };
        let found = watched(py, &self.0, tell, |dedup| dedup.run(columns.documents()))?;
        Ok(Found::new(found, ids))
    }

    /// An index of texts.
    #[pyo3(signature = (texts, *, tell=None))]
    fn index(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, Texts>,
        tell: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Index> {
        let texts = texts.get();
        let ids = Ids::new(None, None, texts.count());
        let columns = Columns { texts, ids: &ids, dates: None, scores: None };
        watched(py, &self.0, tell, |dedup| dedup.index(columns.documents())).map(Index)
    }

    /// Two texts held against each other: (shared features, of the first, of the second, similarity, whether they are a pair, passages in the context
    /// of each text, lines of arithmetic).
    #[expect(clippy::type_complexity, reason = "Python gives it names")]
    fn compare(
        &self,
        py: Python<'_>,
        a: &str,
        b: &str,
    ) -> PyResult<(u64, u64, u64, f64, bool, Vec<(u64, String, String)>, Vec<String>)> {
        let same = py.detach(|| self.0.compare(a, b)).map_err(raised)?;
        let (counts, similarity) = (same.counts, same.similarity());
        let lines = same.arithmetic.into();
        Ok((counts.overlap, counts.size_a, counts.size_b, similarity, same.is_pair, same.passages, lines))
    }

    /// What makes signatures.
    fn min_hash(&self) -> PyResult<MinHash> {
        self.0.min_hash().map(MinHash).map_err(raised)
    }

    /// What makes fingerprints.
    fn sim_hash(&self) -> PyResult<SimHash> {
        self.0.sim_hash().map(SimHash).map_err(raised)
    }
}

/// An index of texts, by their row numbers.
#[pyclass(frozen, module = "twinsplit._twinsplit")]
pub struct Index(twinsplit::Index);

#[pymethods]
impl Index {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The rows that are like a text, the most similar first: (row, shared features, of the document, of the text, similarity).
    fn query(&self, py: Python<'_>, text: &str) -> Vec<(u32, u64, u64, u64, f64)> {
        let row = |name: &str| name.parse().unwrap_or_default();
        py.detach(|| {
            let matches = self.0.query(text).into_iter();
            matches
                .map(|one| (row(one.id), one.overlap, one.size, one.query_size, one.similarity()))
                .collect()
        })
    }
}
