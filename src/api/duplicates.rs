//! What was found, read back from the files that the engine wrote.

use crate::engine::progress::Done;
use crate::error::{Error, FieldError, Place, Result};
use crate::record::Record;
use crate::record::cluster::{ClusterRow, Verdict};
use crate::record::id::unescape;
use crate::record::pair;
use crate::similarity::Score;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The near-duplicates of a collection. What was found is in files of a temporary folder, which goes with this value.
#[derive(Debug)]
pub struct Duplicates {
    folder: TempDir,
    counters: BTreeMap<String, u64>,
}

/// Two documents whose similarity is tau and more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The smaller id.
    pub a: String,
    /// The larger id.
    pub b: String,
    /// How many features are in both.
    pub overlap: u64,
    /// How many features `a` has.
    pub size_a: u64,
    /// How many features `b` has.
    pub size_b: u64,
}

impl Pair {
    /// The Jaccard similarity, |A∩B| / |A∪B|.
    pub fn similarity(&self) -> f64 {
        jaccard(self.overlap, self.size_a, self.size_b)
    }
}

/// Documents that belong together, and the one of them to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The document to keep.
    pub kept: String,
    /// The others, in the order of their ids.
    pub dropped: Vec<Dropped>,
}

/// A document of a cluster that is not kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    /// Its id.
    pub id: String,
    /// Its similarity to the kept document in six decimals. In components it may lie below tau; texts that are too short for
    /// features and equal have 1.
    pub similarity: f64,
}

/// The Jaccard similarity of sets of these sizes.
pub fn jaccard(overlap: u64, a: u64, b: u64) -> f64 {
    overlap as f64 / (a + b - overlap) as f64
}

impl Duplicates {
    pub(super) fn new(folder: TempDir, steps: &[Done]) -> Self {
        let mut counters = BTreeMap::new();
        for (name, count) in steps.iter().flat_map(|step| &step.counters) {
            *counters.entry(name.clone()).or_default() += count;
        }
        Self { folder, counters }
    }

    /// How many documents were read.
    pub fn documents(&self) -> u64 {
        self.counters.get("documents").copied().unwrap_or(0)
    }

    /// All pairs, in the order of their ids.
    pub fn pairs(&self) -> Result<Pairs> {
        Rows::open(self.folder.path().join("pairs.tsv")).map(|rows| Pairs { rows })
    }

    /// All clusters, in the order of the kept documents' ids.
    pub fn clusters(&self) -> Result<Clusters> {
        let mut rows = Rows::open(self.folder.path().join("clusters.tsv"))?;
        let next = rows.next_row(row)?;
        Ok(Clusters { rows, next })
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
            })
        };
        self.rows.next_row(pair).transpose()
    }
}

/// A row of `clusters.tsv`: the kept document, and a document that is not.
type Row = (String, Option<Dropped>);

fn row(line: &[u8]) -> Result<Row, FieldError> {
    let row = ClusterRow::decode(line)?;
    let similarity = match row.verdict {
        Verdict::Keep => return Ok((unescape(row.kept), None)),
        Verdict::Drop(Some(Score::Share(millionths))) => f64::from(millionths) / 1e6,
        // Runs of a program compare by Jaccard.
        Verdict::Drop(_) => return Err(FieldError::new("similarity", "six decimals", line)),
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
