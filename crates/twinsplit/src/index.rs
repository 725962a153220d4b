//! A collection in memory, to be asked for the documents that are like a text.
//!
//! Features are numbered as for a join, from rare to frequent, and go into the join [kernel]. A query
//! may be of any size, smaller than what is indexed too, so the kernel's index is one for [`Purpose::Foreign`]: of each set
//! it holds the probe prefix, which is longer than what a self-join needs. A feature that stands in one document alone is
//! no singleton here, for a query may have it; the features of a query that no document has are.

use super::dedup::Dedup;
use super::document::Document;
use super::share;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::sync::Mutex;
use twinsplit_core::join::kernel::{self, Purpose, Scratch};
use twinsplit_core::join::sets::Sets;
use twinsplit_core::similarity::Measure;
use twinsplit_core::similarity::containment::Relation;
use twinsplit_core::text::{Extractor, FeatureSpec};
use twinsplit_core::threads::{in_threads, lock};
use twinsplit_engine::columnar::ColumnarOpts;
use twinsplit_io::error::{Error, Result};

/// Documents of a round, for each thread.
const ROUND: usize = 256;

/// A collection that is asked for the documents that are like a text.
///
/// ```
/// use twinsplit::Dedup;
/// # fn main() -> twinsplit::Result<()> {
/// let index = Dedup::new().features("words:2")?.tau("0.5")?.index([
///     ("news", "Rain fell on the harbour all night."),
///     ("sport", "Nobody saw the ball go in."),
/// ])?;
/// let matches = index.query("All night rain fell on the harbour.");
/// assert_eq!(matches.len(), 1);
/// assert_eq!((matches[0].id, matches[0].overlap, matches[0].size), ("news", 5, 6));
/// # Ok(())
/// # }
/// ```
///
/// It is as exact as a run, under every similarity and for texts that are shorter or longer than the documents: what it finds
/// for a document is what is in a pair with it. Features are kept by the IDF of the indexed documents, of which a feature that
/// none of them has counts as one of frequency 1. Texts with too few features find nothing, and are found by nothing.
///
/// Many threads may ask at once, each for itself; here each asks which of the old pages a new one was taken from:
///
/// ```
/// use twinsplit::{Dedup, Measure, Relation};
/// # fn main() -> twinsplit::Result<()> {
/// let index = Dedup::new().features("chars:3")?.similarity(Measure::Containment, "0.9")?.index([
///     ("harbour", "Rain fell on the harbour all night. The ferry left at six."),
///     ("market", "The market opens at eight on Sundays."),
/// ])?;
/// let new = ["The ferry left at six.", "Snow fell.", "He said: The market opens at eight on Sundays. Nobody came, and so on."];
/// let found: Vec<_> = std::thread::scope(|scope| {
///     let asked = new.map(|text| scope.spawn(|| index.query(text)));
///     asked.map(|thread| thread.join().unwrap()).into()
/// });
/// assert_eq!((found[0][0].id, found[0][0].relation()), ("harbour", Some(Relation::Contains)));
/// assert!(found[1].is_empty());
/// assert_eq!(found[2][0].id, "market");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Index {
    kernel: kernel::Index<Sets>,
    /// By set the id of its document.
    ids: Vec<String>,
    tokens: Tokens,
    spec: FeatureSpec,
    least: u64,
    measure: Measure,
    /// What queries that are over have left for later ones.
    workspaces: Mutex<Vec<Workspace>>,
}

/// The numbers of features.
#[derive(Debug)]
struct Tokens {
    /// Those that are compared and stand in a document.
    numbers: FxHashMap<u64, u32>,
    /// Those that stand in documents and are not compared, for they are out of the IDF range.
    left_out: FxHashSet<u64>,
    /// Whether features that stand in no document are compared.
    unknown: bool,
}

/// A document that is like a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Match<'i> {
    /// The document.
    pub id: &'i str,
    /// How many features are in both.
    pub overlap: u64,
    /// How many features the document has.
    pub size: u64,
    /// How many features the text has.
    pub query_size: u64,
    /// What they were compared by.
    pub measure: Measure,
}

impl Match<'_> {
    /// The similarity, by the formula of the [measure](Measure): a number in (0, 1], for [`Measure::Overlap`] the number of
    /// shared features.
    pub fn similarity(&self) -> f64 {
        share(self.measure, self.overlap, self.size, self.query_size)
    }

    /// The smaller size as a share of the larger one, in (0, 1].
    pub fn size_ratio(&self) -> f64 {
        self.size.min(self.query_size) as f64 / self.size.max(self.query_size) as f64
    }

    /// With [`Measure::Containment`], what the document is to the text; other measures do not tell.
    pub fn relation(&self) -> Option<Relation> {
        (self.measure == Measure::Containment).then(|| Relation::of(self.size, self.query_size))
    }

    /// What matches are compared by.
    fn counts(&self) -> (u64, u64, u64) {
        (self.overlap, self.size, self.query_size)
    }
}

/// What a query works with.
#[derive(Debug)]
struct Workspace {
    extractor: Extractor,
    features: Vec<u64>,
    tokens: Vec<u32>,
    scratch: Scratch,
}

impl Index {
    /// An index with the default options; [`Dedup::index`] makes one with others.
    pub fn build<D: Into<Document>>(documents: impl IntoIterator<Item = D>) -> Result<Self> {
        Dedup::new().index(documents)
    }

    pub(super) fn of(
        opts: &ColumnarOpts,
        threads: usize,
        documents: impl Iterator<Item = Result<Document>>,
    ) -> Result<Self> {
        let spec = opts.features.spec()?;
        let read = read(&spec, threads, documents)?;
        let (least, most) = opts.idf.idf.df_range(read.ids.len() as u64);
        let keeps =
            |frequency: u32| (least..=most).contains(&frequency.into()) || opts.idf.idf.is_everything();
        let tokens = Tokens::of(&read.features, keeps)?;

        let mut order: Vec<(Vec<u32>, String)> = Vec::with_capacity(read.ids.len());
        let mut start = 0;
        for (id, end) in read.ids.into_iter().zip(read.ends) {
            let mut set: Vec<u32> = read.features[start..end]
                .iter()
                .filter_map(|feature| tokens.numbers.get(feature).copied())
                .collect();
            set.sort_unstable();
            if opts.least.admits(set.len() as u64) {
                order.push((set, id));
            }
            start = end;
        }
        order.sort_by_key(|(set, _)| set.len());
        let total: usize = order.iter().map(|(set, _)| set.len()).sum();
        if total > u32::MAX as usize {
            return Err(Error::Limit(format!(
                "an index of {total} features; more than {} do not fit",
                u32::MAX
            )));
        }
        let mut sets = Sets::with_capacity(order.len(), total);
        order.iter().for_each(|(set, _)| sets.push(set));
        let ids: Vec<String> = order.into_iter().map(|(_, id)| id).collect();
        let similarity = opts.similarity.0;
        let kernel = kernel::Index::build(sets, 0..ids.len(), similarity, Purpose::Foreign);
        let (least, measure) = (opts.least.min_features.max(1), similarity.measure());
        Ok(Self { kernel, ids, tokens, spec, least, measure, workspaces: Mutex::default() })
    }

    /// How many documents can be found: those with enough features.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether no document can be found.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The documents whose similarity to the text reaches the threshold, the most similar ones first, equally similar ones in the
    /// order of their ids.
    pub fn query(&self, text: &str) -> Vec<Match<'_>> {
        let left = lock(&self.workspaces).pop();
        let mut workspace = left.unwrap_or_else(|| Workspace::new(&self.spec));
        let mut matches = self.query_with(text, &mut workspace);
        lock(&self.workspaces).push(workspace);
        matches.sort_by(|x, y| self.measure.compare(y.counts(), x.counts()).then_with(|| x.id.cmp(y.id)));
        matches
    }

    fn query_with(&self, text: &str, workspace: &mut Workspace) -> Vec<Match<'_>> {
        let Workspace { extractor, features, tokens, scratch } = workspace;
        extractor.set(text, features);
        tokens.clear();
        let mut unknown = 0;
        for feature in features.iter() {
            match self.tokens.numbers.get(feature) {
                Some(number) => tokens.push(*number),
                None if self.tokens.left_out.contains(feature) => {}
                None => unknown += usize::from(self.tokens.unknown),
            }
        }
        let size = (tokens.len() + unknown) as u64;
        let mut matches = Vec::new();
        if size >= self.least {
            tokens.sort_unstable();
            self.kernel.query(tokens, unknown, self.ids.len(), scratch, |set, overlap| {
                let size_of = self.kernel.sets().size(set) as u64;
                matches.push(Match {
                    id: &self.ids[set],
                    overlap,
                    size: size_of,
                    query_size: size,
                    measure: self.measure,
                });
            });
        }
        matches
    }
}

impl Workspace {
    fn new(spec: &FeatureSpec) -> Self {
        Self {
            extractor: Extractor::new(spec.clone()),
            features: Vec::new(),
            tokens: Vec::new(),
            scratch: Scratch::default(),
        }
    }
}

/// The features of documents, one document's after the other's.
#[derive(Default)]
struct Read {
    ids: Vec<String>,
    features: Vec<u64>,
    ends: Vec<usize>,
}

/// Reads the documents in rounds, of which each thread takes a share.
fn read(
    spec: &FeatureSpec,
    threads: usize,
    mut documents: impl Iterator<Item = Result<Document>>,
) -> Result<Read> {
    let mut read = Read::default();
    let mut places = FxHashMap::default();
    loop {
        let round: Vec<Document> = documents.by_ref().take(ROUND * threads).collect::<Result<_>>()?;
        if round.is_empty() {
            return Ok(read);
        }
        let shares: Vec<&[Document]> = round.chunks(ROUND).collect();
        let sets = in_threads(shares.len(), threads, |at| {
            let mut extractor = Extractor::new(spec.clone());
            let set = |document: &Document| {
                let mut features = Vec::new();
                extractor.set(&document.text, &mut features);
                features
            };
            Ok::<_, Error>(shares[at].iter().map(set).collect::<Vec<_>>())
        })?;
        for (document, features) in round.into_iter().zip(sets.into_iter().flatten()) {
            let place = read.ids.len() + 1;
            if let Some(other) = places.insert(document.id.clone(), place) {
                return Err(Error::DuplicateId {
                    stage: "index".to_owned(),
                    places: format!(" (documents, line {other} and documents, line {place})"),
                    id: document.id,
                });
            }
            read.ids.push(document.id);
            read.features.extend(features);
            read.ends.push(read.features.len());
        }
    }
}

impl Tokens {
    /// Numbers the features that `keeps` keeps by their frequencies, from rare to frequent.
    fn of(features: &[u64], keeps: impl Fn(u32) -> bool) -> Result<Self> {
        let mut frequencies: FxHashMap<u64, u32> = FxHashMap::default();
        features.iter().for_each(|feature| *frequencies.entry(*feature).or_default() += 1);
        let (mut kept, left_out): (Vec<_>, Vec<_>) = frequencies
            .into_iter()
            .map(|(feature, frequency)| (frequency, feature))
            .partition(|(frequency, _)| keeps(*frequency));
        kept.sort_unstable();
        if u32::try_from(kept.len()).is_err() {
            return Err(Error::Limit(format!(
                "an index of {} different features; they have 2^32 numbers",
                kept.len()
            )));
        }
        Ok(Self {
            numbers: kept.into_iter().map(|(_, feature)| feature).zip(0..).collect(),
            left_out: left_out.into_iter().map(|(_, feature)| feature).collect(),
            unknown: keeps(1),
        })
    }
}
