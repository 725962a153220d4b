//! What was found, read back from the files that a run wrote.

use super::share;
use serde::Serialize;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use twinsplit_core::similarity::containment::Relation;
use twinsplit_core::similarity::{Measure, Score};
use twinsplit_engine::stores::CHANGES;
use twinsplit_io::error::{Error, FieldError, Place, Result};
use twinsplit_rows::chains::Family;
use twinsplit_rows::record::Record;
use twinsplit_rows::record::cluster::{ClusterRow, Verdict};
use twinsplit_rows::record::id::unescape;
use twinsplit_rows::record::near::Near;
use twinsplit_rows::record::pair;

/// The near-duplicates of a collection.
///
/// What [`Dedup`](crate::Dedup) finds is in files of a temporary folder, which goes with this value. [`Duplicates::open`] reads
/// what a run of the command line left:
///
/// ```no_run
/// use std::collections::HashSet;
/// # fn main() -> twinsplit::Result<()> {
/// let found = twinsplit::Duplicates::open("out")?;
/// let dropped: HashSet<String> = found.dropped()?.collect::<Result<_, _>>()?;
/// println!("{} of {} documents can go", dropped.len(), found.documents());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Duplicates {
    folder: Folder,
    documents: u64,
    /// Whether pairs are of fingerprints.
    near: bool,
}

/// Where the files are.
#[derive(Debug)]
enum Folder {
    /// Of this value.
    Own(TempDir),
    /// Of a run that has ended.
    Foreign(PathBuf),
}

/// Two documents whose similarity reaches the threshold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// The smaller id, or the query.
    pub a: String,
    /// The larger id, or the document.
    pub b: String,
    /// How many features are in both.
    pub overlap: u64,
    /// How many features `a` has.
    pub size_a: u64,
    /// How many features `b` has.
    pub size_b: u64,
    /// What they were compared by.
    pub measure: Measure,
}

impl Pair {
    /// The similarity, by the formula of the [measure](Measure): a number in (0, 1], for [`Measure::Overlap`] the number of
    /// shared features. With containment it is the CCS of wei2013.
    ///
    /// Of two documents without features, which are a pair where a query has the text of a document, it is 1.
    pub fn similarity(&self) -> f64 {
        if self.size_a == 0 && self.size_b == 0 && self.measure != Measure::Overlap {
            return 1.0;
        }
        share(self.measure, self.overlap, self.size_a, self.size_b)
    }

    /// The smaller size as a share of the larger one, in (0, 1]: the CLR of wei2013.
    pub fn size_ratio(&self) -> f64 {
        self.size_a.min(self.size_b) as f64 / self.size_a.max(self.size_b) as f64
    }

    /// With [`Measure::Containment`], what `a` is to `b`; other measures do not tell.
    pub fn relation(&self) -> Option<Relation> {
        (self.measure == Measure::Containment).then(|| Relation::of(self.size_a, self.size_b))
    }
}

/// Documents that belong together, and the one of them to keep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cluster {
    /// The document to keep.
    pub kept: String,
    /// The others, in the order of their ids.
    pub dropped: Vec<Dropped>,
}

/// A document of a cluster that is not kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dropped {
    /// Its id.
    pub id: String,
    /// Its similarity to the kept document, rounded to six decimals. In components it may lie below the threshold. Texts that
    /// are too short for features and equal have 1, and with [`Measure::Overlap`] none.
    pub similarity: Option<f64>,
}

impl Duplicates {
    pub(super) fn new(folder: TempDir, documents: u64, near: bool) -> Self {
        Self { folder: Folder::Own(folder), documents, near }
    }

    /// What `twinsplit run` with the engine local or pipes wrote into this folder.
    ///
    /// # Errors
    /// When there is no `run.json` of such a run.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder = folder.into();
        let path = folder.join("run.json");
        let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        let run: Value = serde_json::from_str(&text).unwrap_or_default();
        let problem = match run["counters"].is_object() {
            true => {
                "does not say how many documents were read, so another version of twinsplit wrote it; run again"
            }
            false => "is not the run.json of a run of twinsplit",
        };
        let unknown = || Error::File { path, problem: problem.to_owned() };
        let documents = run["documents"].as_u64().ok_or_else(unknown)?;
        let family = run["chain"].as_str().and_then(Family::named);
        let near = family.is_some_and(Family::compares_fingerprints);
        Ok(Self { folder: Folder::Foreign(folder), documents, near })
    }

    /// Whether its pairs are of fingerprints, and are [near pairs](Self::near_pairs).
    pub fn compares_fingerprints(&self) -> bool {
        self.near
    }

    /// How many documents were read.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    fn path(&self, name: &str) -> PathBuf {
        match &self.folder {
            Folder::Own(folder) => folder.path().join(name),
            Folder::Foreign(folder) => folder.join(name),
        }
    }

    /// All pairs, in the order of their ids.
    ///
    /// # Errors
    /// When the run wrote clusters alone ([`Dedup::clusters_only`](crate::Dedup::clusters_only)), and for pairs of fingerprints, which have
    /// [distances](Self::near_pairs).
    pub fn pairs(&self) -> Result<Pairs> {
        self.has(false)?;
        Rows::open(self.path("pairs.tsv")).map(|rows| Pairs { rows })
    }

    /// All pairs of fingerprints (the chain `simhash`), in the order of their ids.
    ///
    /// # Errors
    /// When the run wrote clusters alone, and for pairs of sets, which have [shared features](Self::pairs).
    pub fn near_pairs(&self) -> Result<NearPairs> {
        self.has(true)?;
        Rows::open(self.path("pairs.tsv")).map(|rows| NearPairs { rows })
    }

    /// Refuses to read pairs of one kind as those of the other.
    fn has(&self, near: bool) -> Result<()> {
        match (near, self.near) {
            (false, true) => {
                Err(Error::Usage("these are pairs of fingerprints: near_pairs has them".to_owned()))
            }
            (true, false) => Err(Error::Usage("these are pairs of sets: pairs has them".to_owned())),
            _ => Ok(()),
        }
    }

    /// All clusters, in the order of the kept documents' ids.
    pub fn clusters(&self) -> Result<Clusters> {
        let mut rows = Rows::open(self.path("clusters.tsv"))?;
        let next = rows.next_row(row)?;
        Ok(Clusters { rows, next })
    }

    /// After a run with a [store](crate::Dedup::store): the documents of earlier batches for which another one is kept now than before.
    ///
    /// # Errors
    /// When the run had no store.
    pub fn changes(&self) -> Result<impl Iterator<Item = Result<Change>>> {
        let mut rows = Rows::open(self.path(CHANGES))?;
        Ok(std::iter::from_fn(move || rows.next_row(change).transpose()))
    }

    /// The ids of all documents that are not kept.
    pub fn dropped(&self) -> Result<impl Iterator<Item = Result<String>>> {
        let clusters = self.clusters()?;
        Ok(clusters.flat_map(|cluster| match cluster {
            Ok(cluster) => cluster.dropped.into_iter().map(|dropped| Ok(dropped.id)).collect(),
            Err(error) => vec![Err(error)],
        }))
    }
}

/// What has changed for a document of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its id.
    pub id: String,
    /// The document that was kept of its cluster; itself where it was kept, or in no cluster.
    pub before: String,
    /// The one that is kept now.
    pub now: String,
}

fn change(line: &[u8]) -> Result<Change, FieldError> {
    let mut fields = line.split(|byte| *byte == b'\t');
    let mut next = |name| {
        let field = fields.next().filter(|field| !field.is_empty());
        field.map(unescape).ok_or_else(|| FieldError::new(name, "an id", b""))
    };
    Ok(Change { id: next("id")?, before: next("kept before")?, now: next("kept now")? })
}

/// The lines of a file.
#[derive(Debug)]
struct Rows {
    path: PathBuf,
    file: BufReader<File>,
    line: Vec<u8>,
    number: u64,
}

impl Rows {
    fn open(path: PathBuf) -> Result<Self> {
        let file = BufReader::new(File::open(&path).map_err(Error::io("open", &path))?);
        Ok(Self { path, file, line: Vec::new(), number: 0 })
    }

    /// What `decode` makes of the next line; `None` at the end.
    fn next_row<T>(&mut self, decode: impl FnOnce(&[u8]) -> Result<T, FieldError>) -> Result<Option<T>> {
        self.line.clear();
        let read = self.file.read_until(b'\n', &mut self.line).map_err(Error::io("read", &self.path))?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let file = self.path.file_name().map(Path::new).unwrap_or(&self.path);
        let place = || Place { file: file.to_string_lossy().into(), line: self.number, ..Place::default() };
        decode(line).map(Some).map_err(|error| Error::Record { stage: "run", place: place(), error })
    }
}

/// All pairs: see [`Duplicates::pairs`].
#[derive(Debug)]
pub struct Pairs {
    rows: Rows,
}

impl Iterator for Pairs {
    type Item = Result<Pair>;

    fn next(&mut self) -> Option<Self::Item> {
        let pair = |line: &[u8]| {
            let row = pair::Pair::decode(line)?;
            Ok(Pair {
                a: unescape(row.a),
                b: unescape(row.b),
                overlap: row.overlap,
                size_a: row.size_a,
                size_b: row.size_b,
                measure: row.measure,
            })
        };
        self.rows.next_row(pair).transpose()
    }
}

/// Two documents whose fingerprints are near.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NearPair {
    /// The smaller id.
    pub a: String,
    /// The larger id.
    pub b: String,
    /// The bits in which their fingerprints differ.
    pub distance: u32,
    /// The similarity of their texts, where these were compared (the option `check`), rounded to six decimals.
    pub similarity: Option<f64>,
}

/// All pairs of fingerprints: see [`Duplicates::near_pairs`].
#[derive(Debug)]
pub struct NearPairs {
    rows: Rows,
}

impl Iterator for NearPairs {
    type Item = Result<NearPair>;

    fn next(&mut self) -> Option<Self::Item> {
        let pair = |line: &[u8]| {
            let row = Near::decode(line)?;
            let similarity = row.checked.map(|checked| number(checked.score));
            Ok(NearPair { a: unescape(row.a), b: unescape(row.b), distance: row.distance, similarity })
        };
        self.rows.next_row(pair).transpose()
    }
}

/// A score as a number, for reading.
fn number(score: Score) -> f64 {
    match score {
        Score::Share(millionths) => f64::from(millionths) / 1e6,
        Score::Count(features) => features as f64,
    }
}

/// A row of `clusters.tsv`: the kept document, and a document that is not.
type Row = (String, Option<Dropped>);

fn row(line: &[u8]) -> Result<Row, FieldError> {
    let row = ClusterRow::decode(line)?;
    let similarity = match row.verdict {
        Verdict::Keep => return Ok((unescape(row.kept), None)),
        Verdict::Drop(score) => score.map(number),
    };
    Ok((unescape(row.kept), Some(Dropped { id: unescape(row.id), similarity })))
}

/// All clusters: see [`Duplicates::clusters`].
#[derive(Debug)]
pub struct Clusters {
    rows: Rows,
    /// The first row of the next cluster.
    next: Option<Row>,
}

impl Iterator for Clusters {
    type Item = Result<Cluster>;

    fn next(&mut self) -> Option<Self::Item> {
        let (kept, first) = self.next.take()?;
        let mut dropped: Vec<Dropped> = first.into_iter().collect();
        loop {
            match self.rows.next_row(row) {
                Ok(Some((same, other))) if same == kept => dropped.extend(other),
                Ok(next) => {
                    self.next = next;
                    return Some(Ok(Cluster { kept, dropped }));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
