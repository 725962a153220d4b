//! The options of a run; what takes documents is in [`run`].

mod run;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use twinsplit_core::cluster::keep::KeepRule;
use twinsplit_core::idf::IdfRange;
use twinsplit_core::options::Field;
use twinsplit_core::similarity::Measure;
use twinsplit_core::text::{FeatureKind, Marks, NormalForm};
use twinsplit_engine::progress::{Phase, Watch};
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::chains::{FAMILIES, Family};
use twinsplit_rows::config::Config;
use twinsplit_rows::plan::{Given, Origin};
use twinsplit_rows::stages::all_options;
use twinsplit_rows::stages::cluster::ClusterKind;
use twinsplit_rows::stages::options::{SimilarityOpts, Write};

/// Finds the near-duplicates of a collection: every pair of documents whose sets of features are similar to a threshold, the
/// clusters that the pairs form, and the document to keep of each.
///
/// Without options features are three consecutive words, the similarity is Jaccard and the threshold 0.65, clusters are connected
/// components and the smallest id is kept, as on the command line. Environment variables change nothing here.
///
/// ```
/// use twinsplit::{ClusterKind, Dedup, Document, KeepRule};
/// # fn main() -> twinsplit::Result<()> {
/// let dedup = Dedup::new()
///     .features("chars:4")?
///     .tau("0.6")?
///     .cluster(ClusterKind::Star)
///     .keep(KeepRule::Newest)
///     .threads(2);
/// let found = dedup.run([
///     Document::new("draft", "The ferry left at six.").date("2024-03-01"),
///     Document::new("final", "The ferry left at seven.").date("2024-03-02"),
/// ])?;
/// let cluster = found.clusters()?.next().transpose()?;
/// assert_eq!(cluster.map(|cluster| cluster.kept).as_deref(), Some("final"));
/// # Ok(())
/// # }
/// ```
///
/// A program that throws away what is said twice, and reads documents from where reading may fail:
///
/// ```
/// use std::collections::HashSet;
/// use std::io::{self, BufRead};
/// use twinsplit::{ClusterKind, Dedup, Document, KeepRule};
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     # let input = io::Cursor::new("Rain fell on the harbour.\nNobody saw it go.\nRain fell on the harbour!\n");
///     let lines = |input| io::BufReader::new(input).lines().enumerate();
///     let documents = lines(input.clone()).map(|(number, line)| Ok::<_, io::Error>((number.to_string(), line?)));
///     let dedup = Dedup::new().features("words:2")?.cluster(ClusterKind::Star).keep(KeepRule::First);
///     let found = dedup.clusters_only().try_run(documents)?;
///
///     let dropped: HashSet<String> = found.dropped()?.collect::<Result<_, _>>()?;
///     let mut kept = Vec::new();
///     for (number, line) in lines(input).filter(|(number, _)| !dropped.contains(&number.to_string())) {
///         kept.push((number, line?));
///     }
///     assert_eq!(kept, [(0, "Rain fell on the harbour.".to_owned()), (1, "Nobody saw it go.".to_owned())]);
///     Ok(())
/// }
/// ```
///
/// One that finds what quotes what:
///
/// ```
/// use twinsplit::{Dedup, Measure, Relation};
/// # fn main() -> twinsplit::Result<()> {
/// let dedup = Dedup::new().features("words:2")?.similarity(Measure::Containment, "0.8")?;
/// let found = dedup.run([
///     ("wire", "Rain fell on the harbour all night."),
///     ("paper", "The mayor spoke at noon. Rain fell on the harbour all night. The ferry left at six, as ever."),
/// ])?;
/// let pair = found.pairs()?.next().transpose()?.unwrap();
/// assert_eq!((&*pair.a, pair.relation(), &*pair.b), ("paper", Some(Relation::Contains), "wire"));
/// assert_eq!(pair.similarity(), 1.0);
/// assert!(pair.size_ratio() < 0.5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Dedup {
    chain: Option<String>,
    given: Given,
    threads: usize,
    memory: usize,
    folder: PathBuf,
    store: Option<StoreFolder>,
    watch: Watch,
}

/// A store that documents are compared with.
#[derive(Clone, Debug)]
struct StoreFolder {
    path: PathBuf,
    adds: bool,
    batch_id: Option<String>,
}

impl Default for Dedup {
    fn default() -> Self {
        Self::new()
    }
}

/// Bytes that a run may hold by default: 2 GB.
pub(crate) const MEMORY: usize = 2 << 30;

impl Dedup {
    /// The defaults, and as many threads as there are cores.
    pub fn new() -> Self {
        Self {
            chain: None,
            given: Given::default(),
            threads: cores(),
            memory: MEMORY,
            folder: std::env::temp_dir(),
            store: None,
            watch: Watch::default(),
        }
    }

    /// How pairs are found: the name of a chain, such as `minhash`, as `twinsplit run` has it. Without a name the chain that suits the options;
    /// `doc-split`, which finds all pairs, where any does.
    pub fn chain(self, name: &str) -> Result<Self> {
        let unknown = || {
            let names: Vec<_> = FAMILIES.iter().map(|family| family.name).collect();
            invalid("chain", name, format!("expected one of {}", names.join(", ")))
        };
        let family = Family::named(name).ok_or_else(unknown)?;
        Ok(Self { chain: Some(family.name.to_owned()), ..self })
    }

    /// An option of the chain by its name on the command line, such as `bands`, or by the other name that it has there, such as `threshold`.
    pub fn option(self, name: &str, value: &str) -> Result<Self> {
        let fields = all_options();
        let unknown = || invalid("option", name, "no chain has an option of this name");
        let is_called = |field: &&Field| field.name == name || field.alias == Some(name);
        let field = fields.iter().find(is_called).ok_or_else(unknown)?;
        (field.check)(value.as_ref())
            .map_err(|problem| invalid("option", &format!("{name}={value}"), problem))?;
        Ok(self.set(&field.name, value))
    }

    /// All options that [`option`](Self::option) takes: their names, what they mean, their defaults.
    pub fn options() -> Vec<Field> {
        all_options()
    }

    /// The chain and options of a file, as `twinsplit run --config` takes them; what was set before stays, unless it stands in the file.
    pub fn config(self, path: impl AsRef<Path>) -> Result<Self> {
        let Config { chain, options, beside } = Config::read(path.as_ref())?;
        // A store is named by whoever compares with one.
        if let Some((name, value)) = beside.iter().find(|(name, _)| ["unit", "and"].contains(name)) {
            let problem = "is an option of `twinsplit run` alone, and the answer depends on it; set the other options one by one";
            return Err(invalid("config", &format!("{name}={value}"), problem));
        }
        let with_chain = Self { chain: chain.or(self.chain.clone()), ..self };
        Ok(options.iter().fold(with_chain, |dedup, (name, value)| dedup.set(name, value)))
    }

    /// What is compared: `words:K`, `chars:K`, `spotsigs`, `spotsigs:zh`, `spotsigs:FILE`, `sentence-ends:K`, `sentences:K` or `lines`.
    pub fn features(self, kind: &str) -> Result<Self> {
        FeatureKind::parse(kind, &read_file).map_err(|error| invalid("features", kind, error))?;
        Ok(self.set("features", kind))
    }

    /// What documents are compared by, and the least similarity of a pair: a decimal in (0, 1] with at most 9 places, for
    /// [`Measure::Overlap`] a whole number from 1. It is a text because 0.7 as a binary number is a little less than 7/10.
    pub fn similarity(self, measure: Measure, threshold: &str) -> Result<Self> {
        measure.reaching(threshold).map_err(|error| invalid("tau", threshold, error))?;
        Ok(self.set("similarity", measure.name()).set("tau", threshold))
    }

    /// The least similarity of a pair, by what [`similarity`](Self::similarity) says or else by Jaccard.
    pub fn tau(self, tau: &str) -> Result<Self> {
        let SimilarityOpts(similarity) = self.given.params.parse()?;
        self.similarity(similarity.measure(), tau)
    }

    /// Compares only features whose normalised IDF, ln(N/df)/ln(N), lies in this range, such as `0.1,1`. An upper bound below 1 leaves out
    /// what one document or few have.
    pub fn idf(self, range: &str) -> Result<Self> {
        self.checked::<IdfRange>("idf", range)
    }

    /// Documents with fewer features pair with nothing.
    pub fn min_features(self, least: u64) -> Self {
        self.set("min-features", least.to_string())
    }

    /// The normal form to which texts are brought before features are made of them; [NFKC](NormalForm::Nfkc) by default.
    pub fn normalise(self, form: NormalForm) -> Self {
        self.set("normalise", form.name())
    }

    /// What becomes of the marks that Arabic and Hebrew are written with and without; they are left out by default.
    pub fn marks(self, marks: Marks) -> Self {
        self.set("marks", marks.name())
    }

    /// Whether a feature counts as often as it stands in a document; it counts once by default. Documents are weighted sets then, and
    /// Jaccard is the sum of the smaller counts over that of the larger ones.
    pub fn counts(self, on: bool) -> Self {
        self.set("counts", switch(on))
    }

    /// Whether the case of letters is folded; it is by default.
    pub fn case_fold(self, on: bool) -> Self {
        self.set("case-fold", switch(on))
    }

    /// Whether documents with too few features are copies where their texts are equal; they are by default.
    pub fn equal_texts(self, on: bool) -> Self {
        self.set("equal-texts", switch(on))
    }

    /// What a cluster is. In [components](ClusterKind::Components), the default, chains of pairs join documents that may be
    /// unlike; take [stars](ClusterKind::Star) where what is not kept is thrown away.
    pub fn cluster(self, kind: ClusterKind) -> Self {
        self.set("cluster", kind.name())
    }

    /// Which document of a cluster is kept.
    pub fn keep(self, rule: KeepRule) -> Self {
        self.set("keep", rule.name())
    }

    /// Keeps as many documents, those that are least alike: of all pairs, by descending similarity, the document that is the worse one by
    /// [`keep`](Self::keep) is dropped until so many are left. Too few pairs are an error of the run.
    pub fn reduce_to(self, documents: u64) -> Self {
        self.set("reduce-to", documents.to_string())
    }

    /// Finds clusters and no [pairs](crate::Duplicates::pairs), which grow with the square of what is alike.
    pub fn clusters_only(self) -> Self {
        self.set("write", Write::Clusters.name())
    }

    /// Finds the pairs of a query and a document, instead of those of two documents. The queries are documents in a file of JSON lines, in a folder of such, or in those
    /// that a pattern names. Each [pair](crate::Duplicates::pairs) has the query first, and there are no clusters.
    ///
    /// ```
    /// use twinsplit::{Dedup, Measure};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let folder = tempfile::tempdir()?;
    /// let asked = folder.path().join("benchmark.jsonl");
    /// std::fs::write(&asked, r#"{"id": "q1", "text": "Which ferry left the harbour at six?"}"#)?;
    /// let dedup = Dedup::new().features("words:2")?.queries(&asked).similarity(Measure::QueryContainment, "0.8")?;
    /// let found = dedup.run([
    ///     ("page", "Quiz night. Which ferry left the harbour at six? Nobody knew, and the ferry was late."),
    ///     ("other", "Rain fell on the harbour all night."),
    /// ])?;
    /// let pair = found.pairs()?.next().transpose()?.unwrap();
    /// assert_eq!((&*pair.a, &*pair.b, pair.similarity()), ("q1", "page", 1.0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn queries(self, path: impl AsRef<Path>) -> Self {
        self.set("queries", path.as_ref().to_string_lossy())
    }

    /// Compares the documents of a run with those of the store in this folder, too, and adds them to it as a batch; a folder that is not there becomes a
    /// store. What is found is the pairs that hold a document of the batch, the clusters that these are in, and what has [changed](crate::Duplicates::changes)
    /// for documents of earlier batches. The batch is called by `id`, or else by a digest of its documents: sent again, it changes nothing and finds what it has found.
    ///
    /// ```
    /// use twinsplit::Dedup;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("news.store");
    /// let dedup = Dedup::new().features("words:2")?;
    /// dedup.clone().store(&path, Some("monday")).run([("m1", "The ferry left the harbour at six.")])?;
    /// let found = dedup.clone().store(&path, Some("tuesday")).run([("a1", "The ferry left the harbour at six!")])?;
    /// let pair = found.pairs()?.next().transpose()?.unwrap();
    /// assert_eq!((&*pair.a, &*pair.b), ("a1", "m1"));
    /// let change = found.changes()?.next().transpose()?.unwrap();
    /// assert_eq!((&*change.id, &*change.before, &*change.now), ("m1", "m1", "a1"));
    /// // Compared only: nothing is added.
    /// assert_eq!(dedup.against(&path).run([("x", "Rain fell all night.")])?.pairs()?.count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn store(self, path: impl Into<PathBuf>, id: Option<&str>) -> Self {
        let batch_id = id.map(str::to_owned);
        Self { store: Some(StoreFolder { path: path.into(), adds: true, batch_id }), ..self }
    }

    /// The same, and leaves the store as it is.
    pub fn against(self, path: impl Into<PathBuf>) -> Self {
        Self { store: Some(StoreFolder { path: path.into(), adds: false, batch_id: None }), ..self }
    }

    /// Stops with [`Error::Limit`] when there are more pairs than this; 10⁹ by default.
    pub fn max_pairs(self, most: u64) -> Self {
        self.set("max-pairs", most.to_string())
    }

    /// The names of the fields of [files](Self::run_files) that hold id and text, `id` and `text` by default.
    pub fn fields(self, id: &str, text: &str) -> Self {
        self.set("id", id).set("text", text)
    }

    /// The name of the field of [files](Self::run_files) that holds a document's date.
    pub fn date_field(self, name: &str) -> Self {
        self.set("date", name)
    }

    /// The name of the field of [files](Self::run_files) that holds a document's score.
    pub fn score_field(self, name: &str) -> Self {
        self.set("score", name)
    }

    /// Bytes that a run may hold in memory, 2 GB by default; what does not fit goes to disk. An [`Index`](crate::Index) is in memory, whatever
    /// is said here.
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// How many threads work; 0 for as many as there are cores, which is the default. What is found is the same for any number.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: if threads == 0 { cores() } else { threads }, ..self }
    }

    /// A folder for what does not fit into memory and for what is found, instead of the system's for temporary files.
    pub fn folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), ..self }
    }

    /// Stops a run or the making of an index soon after this becomes true, with [`Error::Cancelled`]. Its temporary files go, and a
    /// [store](Self::store) stays as it was.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// use twinsplit::{Dedup, Error};
    /// let stop = Arc::new(AtomicBool::new(false));
    /// let endless = (0..).map(|number: u64| {
    ///     if number == 100_000 {
    ///         stop.store(true, Ordering::Relaxed);
    ///     }
    ///     (number.to_string(), "Rain fell on the harbour all night.")
    /// });
    /// let found = Dedup::new().cancelled_by(&stop).run(endless);
    /// assert!(matches!(found, Err(Error::Cancelled)));
    /// ```
    pub fn cancelled_by(mut self, stop: &Arc<AtomicBool>) -> Self {
        self.watch.cancelled = stop.clone();
        self
    }

    /// Tells how far a run is: the phase, and how much of its total is done. `tell` is called when a phase begins, and at most ten times a second
    /// while it lasts, by a thread that works; it should not take long.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use twinsplit::Dedup;
    /// # fn main() -> twinsplit::Result<()> {
    /// let steps = Arc::new(Mutex::new(Vec::new()));
    /// let told = steps.clone();
    /// let dedup = Dedup::new().on_progress(move |phase, _| told.lock().unwrap().push(phase.step.clone()));
    /// dedup.run([("a", "Rain fell all night."), ("b", "Rain fell all night!")])?;
    /// assert!(steps.lock().unwrap().contains(&"tokenize".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(mut self, tell: impl Fn(&Phase, u64) + Send + Sync + 'static) -> Self {
        self.watch.tell = Some(Arc::new(tell));
        self
    }

    fn checked<T: FromStr<Err: Display>>(self, name: &'static str, value: &str) -> Result<Self> {
        value.parse::<T>().map_err(|error| invalid(name, value, error))?;
        Ok(self.set(name, value))
    }

    pub(crate) fn set(mut self, name: &str, value: impl Into<String>) -> Self {
        self.given.set(name, value, Origin::Program);
        self
    }
}

pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The text of a file that describes features.
fn read_file(path: &str) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

fn invalid(name: &'static str, value: &str, problem: impl Display) -> Error {
    Error::Value { name, value: value.to_owned(), problem: problem.to_string() }
}

fn switch(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}
