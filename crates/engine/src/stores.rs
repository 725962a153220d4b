//! Runs with a store: documents are compared with all that came before, and with one another (`twinsplit_store`).
//!
//! Texts become sets by the stage `tokenize`, as for any chain. The answer is files, as that of any run.

mod answer;
mod open;

pub use answer::{BATCHES, CHANGES, change};
pub use open::open;

use crate::progress::{Done, Progress};
use crate::steps::LocalSteps;
use answer::Answer;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use twinsplit_core::cluster::dropped::DROPPED;
use twinsplit_core::cluster::keep::{Date, KeepRule};
use twinsplit_core::hash;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::{each_row, expand_inputs};
use twinsplit_rows::chains::{Part, QUERIES, sets_of_documents};
use twinsplit_rows::params::Params;
use twinsplit_rows::plan::{Engine, Plan};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::tokenized::Tokenized;
use twinsplit_rows::stages::options::{
    EqualTextsOpts, FeatureOpts, IdfOpts, KeepOpts, MaxPairsOpts, MinFeaturesOpts, SimilarityOpts,
};
use twinsplit_rows::stages::reduce::REDUCE_TO;
use twinsplit_store::{Finished, Settings, Store};

/// The longest name of a batch, in bytes: names stand in tables, and in lists between commas.
const MOST_OF_ID: usize = 256;

/// The counter of documents that a run has added to a store.
pub const ADDED: &str = "documents_added";

twinsplit_core::choice! {
    /// What becomes of a document of which the store has the id with another text.
    #[derive(Default)]
    pub enum KnownId {
        /// An error, which names the batch of the earlier text
        Refuse = "refuse"; default,
        /// A new version, in whose favour the earlier one is forgotten
        Version = "version",
    }
}

/// What is said of a batch.
#[derive(Clone, Copy, Debug, Default)]
pub struct BatchOf<'a> {
    /// The batches that it is compared with, where these are not all.
    pub only: &'a [String],
    /// What becomes of documents that are there with another text.
    pub known_id: KnownId,
    /// What it is called; otherwise by a digest of its documents.
    pub id: Option<&'a str>,
    /// When it came; otherwise now.
    pub time: Option<Date>,
}

/// The time of a batch of which nobody says when it came. Only what expires depends on it.
fn now() -> Result<Date> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| {
        Error::Usage(
            "the clock of this machine stands before 1970; say with --batch-time when the batch came"
                .to_owned(),
        )
    })?;
    Date::of_number(&since.as_secs().to_string()).map_err(|error| Error::Usage(error.to_string()))
}

/// The counter of those of them that have taken the place of an earlier version.
pub const REPLACED: &str = "documents_replaced";

/// A run with a store.
pub struct StoreRun<'a> {
    folder: &'a Path,
    adds: bool,
    batch: BatchOf<'a>,
    settings: Settings,
    memory: usize,
    max_pairs: u64,
}

twinsplit_core::options! {
    /// What is asked of a chain for a store.
    struct ChainOpts {}
    with {
        features: FeatureOpts,
        similarity: SimilarityOpts,
        least: MinFeaturesOpts,
        texts: EqualTextsOpts,
        idf: IdfOpts,
        keep: KeepOpts,
        max_pairs: MaxPairsOpts,
    }
}

/// What is said of options that a store has not.
fn refused(what: &str) -> Error {
    Error::Usage(format!("a store {what}"))
}

impl<'a> StoreRun<'a> {
    /// A run of a plan with the store in this folder, to which its documents are added or not, as this batch. It takes so many threads and bytes.
    ///
    /// # Errors
    /// When the plan asks for what stores have not.
    pub fn of(
        plan: &Plan,
        (folder, adds): (&'a Path, bool),
        batch: BatchOf<'a>,
        (threads, memory): (usize, usize),
    ) -> Result<Self> {
        let is_no_name = |id: &str| {
            !(1..=MOST_OF_ID).contains(&id.len()) || id.contains(|c: char| c.is_control() || c == ',')
        };
        if batch.id.is_some_and(is_no_name) {
            return Err(refused(&format!(
                "calls a batch by a name of 1 to {MOST_OF_ID} bytes without commas and control characters; give another --batch-id"
            )));
        }
        if plan.family.name != "doc-split" {
            return Err(refused(&format!(
                "holds sets of features, which doc-split compares exactly; it is not for {}",
                plan.family.name
            )));
        }
        if plan.engine != Engine::Local {
            return Err(refused("is read and written by one process; leave --engine out"));
        }
        let chain: ChainOpts = plan.params.parse()?;
        if plan.params.get(QUERIES).is_some() {
            return Err(refused("is compared with the documents of --input; leave --queries out"));
        }
        if !chain.idf.idf.is_everything() {
            return Err(refused(
                "compares all features, for frequencies change with each batch; leave --idf out",
            ));
        }
        if plan.params.get(REDUCE_TO).is_some() {
            return Err(refused(
                "has clusters that grow from batch to batch; leave --reduce-to out, or --store and --against",
            ));
        }
        if plan.params.is("cluster", "star") {
            return Err(refused(
                "has clusters that grow together (components); give --cluster components with --write-kept, or leave --cluster out",
            ));
        }
        if plan.params.is("write", "clusters") {
            return Err(refused("writes the pairs of the batch; leave --write out"));
        }
        if chain.keep.keep != KeepRule::SmallestId {
            return Err(refused("keeps the document with the smallest id; leave --keep out"));
        }
        let ChainOpts { features, similarity, least, texts, max_pairs, .. } = chain;
        let similarity = similarity.0;
        let mut made_with = features.parameters()?;
        made_with.extend([
            ("similarity", similarity.measure().name().to_owned()),
            ("tau", similarity.threshold()),
            ("min-features", least.min_features.max(1).to_string()),
            ("equal-texts", texts.equal_texts.name().to_owned()),
        ]);
        let settings = Settings {
            made_with,
            similarity,
            least: least.min_features.max(1),
            equal_texts: texts.are_compared(),
            memory: open::for_documents(memory),
            threads,
        };
        Ok(Self { folder, adds, batch, settings, memory, max_pairs: max_pairs.max_pairs })
    }

    /// Says before documents are read whether the store takes them: it was made with the same options, and has the batches that are named.
    ///
    /// # Errors
    /// It does not, or cannot be read.
    pub fn check(&self) -> Result<()> {
        // A folder that is not there becomes a store.
        if self.adds && !self.folder.exists() {
            return Ok(());
        }
        let mut store = Store::open(self.folder, self.settings.clone())?;
        match self.batch.only {
            [] => Ok(()),
            only => store.restrict(only.iter().map(String::as_str)),
        }
    }

    /// Compares the documents of the files with the store, and writes what has come of it into a folder.
    ///
    /// # Errors
    /// When a document is bad, the store is another one's or cannot be read or written, or there are too many pairs.
    pub fn execute(
        &self,
        documents: (&[PathBuf], &Params),
        folders: (&Path, &Path),
        write_kept: bool,
        progress: &Progress,
    ) -> Result<StoreRan> {
        let is_new = self.adds && !self.folder.exists();
        let ran = self.compare(documents, folders, write_kept, progress);
        if is_new && ran.is_err() {
            Store::remove_empty(self.folder);
        }
        ran
    }

    fn compare(
        &self,
        (inputs, params): (&[PathBuf], &Params),
        (work, answer): (&Path, &Path),
        write_kept: bool,
        progress: &Progress,
    ) -> Result<StoreRan> {
        let mut store = match self.adds {
            true => Store::writable(self.folder, self.settings.clone())?,
            false => Store::open(self.folder, self.settings.clone())?,
        };
        if !self.batch.only.is_empty() {
            store.restrict(self.batch.only.iter().map(String::as_str))?;
        }
        let mut engine = LocalSteps::new(inputs, work, params, self.settings.threads, self.memory, progress)?;
        let step = sets_of_documents();
        let mut done = engine.run_parts(&[Part::Step(step.clone())], "")?;
        // In the order of ids, so that segments are the same for any number of threads.
        let sets = work.join("sorted-sets");
        engine.sort(step.output, &sets)?;
        let start = Instant::now();
        let answer = RefCell::new(Answer::start(work, answer, &self.settings, self.max_pairs)?);
        let fresh = work.join("_segments");
        fs::create_dir_all(&fresh).map_err(Error::io("create", &fresh))?;
        let time = self.batch.time.map_or_else(now, Ok)?;
        let mut batch = store.batch(self.batch.id, &fresh).dated(time);
        let mut sink = |pair: twinsplit_store::Pair<'_>| answer.borrow_mut().pair(pair);
        if self.batch.known_id == KnownId::Version {
            each_document(&sets, |id, text, features| {
                batch.announce(id, text, features.len() as u64);
                Ok(())
            })?;
            batch.replace_announced()?;
        }
        each_document(&sets, |id, text, features| batch.add(id, text, features, &mut sink))?;
        let finished =
            batch.finish(&mut sink, |added, store| answer.borrow_mut().write(&engine, added, store))?;
        let mut again = None;
        let counters = match finished {
            Finished::Now(added) => {
                let dropped = answer.borrow().dropped();
                vec![
                    (ADDED, added.added),
                    (REPLACED, added.replaced),
                    ("pairs", added.pairs),
                    ("candidate_pairs", added.verified),
                    ("clusters", added.clusters.len() as u64),
                    (DROPPED, dropped),
                ]
            }
            Finished::Before(batch, parts) => {
                let [pairs, clusters, dropped] = answer.borrow().write_again(&parts)?;
                again = Some(batch.id);
                vec![(ADDED, 0), ("pairs", pairs), ("clusters", clusters), (DROPPED, dropped)]
            }
        };
        let counters = counters.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        done.push(Done { name: "store".to_owned(), seconds: start.elapsed().as_secs_f64(), counters });
        if write_kept {
            done.extend(answer.borrow().kept(&mut engine)?);
        }
        Ok(StoreRan { steps: done, again })
    }
}

/// What a run with a store has done.
pub struct StoreRan {
    /// The steps.
    pub steps: Vec<Done>,
    /// The id of the batch, where it was in the store already, and its answer is that of then.
    pub again: Option<String>,
}

/// Calls `take` with id, text and features of each document of a file.
fn each_document(sets: &Path, mut take: impl FnMut(&[u8], u128, &[u64]) -> Result<()>) -> Result<()> {
    let mut features = Vec::new();
    let mut failed = Ok(());
    for file in expand_inputs(&[sets.to_owned()])? {
        each_row(&file, |line| {
            let Tokenized { doc, text } = Tokenized::decode(line)?;
            doc.features.read(&mut features)?;
            if failed.is_ok() {
                failed = take(doc.id, content(text, &features), &features);
            }
            Ok(())
        })?;
    }
    failed
}

/// What a document is known by when it comes again: the hash of its text, or, where texts are not compared, that of its features; 0 for a text that is blank.
fn content(text: Option<u128>, features: &[u64]) -> u128 {
    match text {
        Some(text) => text,
        None if features.is_empty() => 0,
        None => hash::set(features).into(),
    }
}
