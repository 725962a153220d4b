//! `--and FIELD:TAU`: of the pairs that the chain has found, those whose documents are alike in another field, too.
//!
//! The chain compares one text. When its answer is complete, the documents that are in its pairs are read again, each such pair is checked by the features
//! of the other field, exactly, and clusters are made of the pairs that are left: stars, so that a document that is dropped is alike in both to the one
//! that is kept. Documents whose texts are too short for features, and equal, are in no pair and are checked in the same way.
//!
//! The ids of these documents and the features of their other field are held in memory, and 32 bytes for each pair that is left.

mod asked;
mod documents;

use crate::documents::{Inputs, each_line_of_document};
use crate::options::RunOpts;
use crate::output::owned::KEPT;
use crate::same_form::size;
use asked::refuse;
pub use asked::{AND, AndField, parameters};
use documents::Documents;
use std::path::{Path, PathBuf};
use std::time::Instant;
use twinsplit_core::cluster::dropped::{BELOW, BEYOND, DISTANCE, DROPPED};
use twinsplit_core::cluster::ids::Ids;
use twinsplit_core::cluster::star::star;
use twinsplit_core::join::overlap;
use twinsplit_core::similarity::{Score, SetSimilarity, Similarity};
use twinsplit_engine::progress::{Done, Progress, Unit};
use twinsplit_engine::steps::answer_file;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal::plural;
use twinsplit_io::{AtomicFile, each_row};
use twinsplit_rows::chains::{CLUSTERS, PAIRS};
use twinsplit_rows::plan::{KeptForm, Plan};
use twinsplit_rows::record::Record;
use twinsplit_rows::record::cluster::{ClusterRow, Verdict};
use twinsplit_rows::record::document::{DocumentOpts, FieldPath};
use twinsplit_rows::record::near::AnswerPair;
use twinsplit_rows::stages::options::{FeatureOpts, KeepOpts, SimilarityOpts};

/// The check of a run.
pub struct And {
    /// The name of the other field.
    field: String,
    /// How the documents of the run are read.
    document: DocumentOpts,
    /// The same of the other field.
    other: DocumentOpts,
    /// The same where a number stands there, which is read as a score.
    number: DocumentOpts,
    features: FeatureOpts,
    similarity: Similarity,
    keep: KeepOpts,
    fingerprints: bool,
    /// Whether the lines of kept documents are written.
    writes_kept: bool,
    /// Bytes for documents and pairs.
    room: usize,
}

impl And {
    /// That of a run, if it has one.
    ///
    /// # Errors
    /// When the run asks for what does not go with it, and when a value is none.
    pub fn of(plan: &Plan, opts: &RunOpts) -> Result<Option<Self>> {
        let Some(asked) = &opts.and else { return Ok(None) };
        refuse(plan, opts)?;
        let mut params = plan.params.clone();
        params.set("tau", &*asked.tau);
        params.set("text", &*asked.field);
        if let Some(features) = &asked.features {
            params.set("features", &**features);
        }
        let wrong = |problem: String| Error::Usage(format!("invalid value '{asked}' for '--and': {problem}"));
        let other: DocumentOpts = params.parse()?;
        let number =
            DocumentOpts { score: Some(FieldPath::new(&asked.field)), date: None, ..plan.params.parse()? };
        let features: FeatureOpts = params.parse()?;
        features.spec().map_err(|error| wrong(error.to_string()))?;
        let SimilarityOpts(similarity) = params.parse().map_err(|error| wrong(error.to_string()))?;
        Ok(Some(Self {
            field: asked.field.clone(),
            document: plan.params.parse()?,
            other: DocumentOpts { date: None, score: None, ..other },
            number,
            features,
            similarity,
            keep: plan.params.parse()?,
            fingerprints: plan.family.compares_fingerprints(),
            writes_kept: opts.write_kept == Some(KeptForm::Jsonl),
            room: opts.memory_bytes() / 2,
        }))
    }
}

/// The counter of documents that are in pairs, or equal by their texts, before the check.
const IN_PAIRS: &str = "documents_in_pairs";
/// The counter of those of them that have nothing in the other field.
const WITHOUT_FIELD: &str = "documents_without_field";

/// Two documents that are alike in both, and how alike they are in the text; nothing where the measure has no number for equal texts.
type Edge = (u32, u32, Option<Score>);

impl And {
    /// The files that it writes beside those of the chain.
    pub fn files(&self) -> Vec<&'static str> {
        self.writes_kept.then_some(KEPT).into_iter().collect()
    }

    /// Checks the answer in its folder, and writes pairs, clusters and kept documents again. `inputs` are the documents as the run has read them, `before` the
    /// steps, of which those counters go that say something of clusters that are no more.
    pub fn write(
        &self,
        answer: &Path,
        inputs: &[PathBuf],
        before: &mut [Done],
        progress: &Progress,
    ) -> Result<Done> {
        let start = Instant::now();
        let [pairs, clusters] = [PAIRS, CLUSTERS].map(|data| answer.join(answer_file(data)));
        let mut documents = self.documents(&pairs, &clusters)?;
        let inputs = Inputs::of(inputs.to_vec());
        let lacking = self.read(&inputs, &mut documents, progress)?;
        let (compared, mut edges, checked) = self.check(&pairs, &documents, progress)?;
        let left = edges.len();
        self.add_equal_texts(&documents, &mut edges);
        let dropped = self.cluster(&clusters, &documents, edges)?;
        let mut counters = vec![
            ("pairs_compared", compared),
            (IN_PAIRS, documents.ids.len() as u64),
            (WITHOUT_FIELD, lacking),
            ("pairs", left as u64),
            ("clusters", dropped.clusters),
            (DROPPED, dropped.ids.len() as u64),
            (if self.fingerprints { BEYOND } else { BELOW }, 0),
        ];
        for step in before {
            let gone = ["pairs", "clusters", "equal_texts", DROPPED, BELOW, BEYOND, DISTANCE];
            step.counters.retain(|name, _| !gone.contains(&name.as_str()));
        }
        if self.writes_kept {
            counters.push((
                "documents_kept",
                self.write_kept(&answer.join(KEPT), &inputs, &dropped.ids, progress)?,
            ));
        }
        // Last: a run that is stopped before finds the same documents again, whose texts are equal and which are in no pair.
        checked.finish()?;
        let counters = counters.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        Ok(Done { name: AND.to_owned(), seconds: start.elapsed().as_secs_f64(), counters })
    }

    /// What a user who expects all documents to have the field is told.
    pub fn warning(&self, done: &Done) -> Option<String> {
        let [without, all] =
            [WITHOUT_FIELD, IN_PAIRS].map(|name| done.counters.get(name).copied().unwrap_or(0));
        (without > 0).then(|| {
            format!(
                "{without} of {} that the text puts into pairs have neither a text nor a number in the field {:?} and are in no pair; give --and a field that all have",
                plural(all, "document", "documents"),
                self.field
            )
        })
    }

    /// Whether two documents are alike in the other field.
    fn is_alike(&self, documents: &Documents, x: u32, y: u32) -> bool {
        let [Some(x), Some(y)] = [x, y].map(|number| documents.known[number as usize].as_ref()) else {
            return false;
        };
        match (x.set.len(), y.set.len()) {
            (0, 0) => x.text.is_some() && x.text == y.text,
            (a, b) => {
                let shared = overlap(&x.set, &y.set);
                shared > 0 && self.similarity.accepts(shared, a as u64, b as u64)
            }
        }
    }

    /// Leaves the pairs that are alike; gives how many there were, those that are left, and the file of these, which is to be finished.
    fn check(
        &self,
        pairs: &Path,
        documents: &Documents,
        progress: &Progress,
    ) -> Result<(u64, Vec<Edge>, AtomicFile)> {
        progress.start(AND, "checking", Unit::Bytes, size(pairs));
        let mut file = AtomicFile::create(pairs)?;
        let (mut compared, mut edges, mut written) = (0, Vec::new(), Ok(()));
        each_row(pairs, |line| {
            let pair = AnswerPair::of_run(line, self.fingerprints)?;
            let (a, b) = pair.ids();
            compared += 1;
            progress.add(line.len() as u64 + 1);
            let [Some(x), Some(y)] = [a, b].map(|id| documents.ids.find(id)) else { return Ok(()) };
            if written.is_ok() && self.is_alike(documents, x, y) {
                edges.push((x, y, Some(pair.score())));
                written = file.line(line);
            }
            Ok(())
        })?;
        written.map(|()| (compared, edges, file))
    }

    /// Adds those with equal texts that are alike in the other field.
    fn add_equal_texts(&self, documents: &Documents, edges: &mut Vec<Edge>) {
        let score = match self.fingerprints {
            true => Some(Score::Count(0)),
            false => self.similarity.measure().score_of_equals(),
        };
        for group in &documents.groups {
            for (at, &x) in group.iter().enumerate() {
                let alike = group[..at].iter().filter(|y| self.is_alike(documents, x, **y));
                edges.extend(alike.map(|&y| (x, y, score)));
            }
        }
    }

    /// Makes stars and writes them.
    fn cluster(&self, clusters: &Path, documents: &Documents, edges: Vec<Edge>) -> Result<Dropped> {
        let count = documents.ids.len();
        let key = |number: &u32| {
            let known = documents.known[*number as usize].as_ref();
            (known.map_or("", |known| known.rank.as_str()), documents.ids.get(*number))
        };
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_unstable_by(|x, y| key(x).cmp(&key(y)));
        let mut ranks = vec![0; count];
        (0..).zip(&order).for_each(|(rank, number)| ranks[*number as usize] = rank);
        let pairs: Vec<(u32, u32)> = edges.iter().map(|(x, y, _)| (*x, *y)).collect();
        let centres = star(count, &ranks, &pairs);
        let mut rows: Vec<(u32, u32, Verdict)> = Vec::new();
        for (x, y, score) in edges {
            for (document, centre) in [(x, y), (y, x)] {
                if centres[document as usize] == centre {
                    rows.push((centre, document, Verdict::Drop(score)));
                }
            }
        }
        let mut kept: Vec<u32> = rows.iter().map(|(centre, ..)| *centre).collect();
        kept.sort_unstable();
        kept.dedup();
        rows.extend(kept.iter().map(|centre| (*centre, *centre, Verdict::Keep)));
        let id = |number: u32| documents.ids.get(number);
        rows.sort_unstable_by(|x, y| (id(x.0), id(x.1)).cmp(&(id(y.0), id(y.1))));
        let mut dropped = Dropped { clusters: kept.len() as u64, ids: Ids::default() };
        let (mut file, mut line) = (AtomicFile::create(clusters)?, Vec::new());
        for (kept, document, verdict) in rows {
            line.clear();
            ClusterRow { kept: id(kept), id: id(document), verdict }.encode(&mut line);
            file.line(&line)?;
            if verdict != Verdict::Keep {
                dropped.ids.number(id(document));
            }
        }
        file.finish()?;
        Ok(dropped)
    }

    /// Writes the lines of the documents that are not dropped; gives how many these are.
    fn write_kept(&self, to: &Path, inputs: &Inputs, dropped: &Ids, progress: &Progress) -> Result<u64> {
        progress.start(AND, "writing", Unit::Bytes, inputs.iter().map(|file| size(file)).sum());
        let (mut file, mut kept) = (AtomicFile::create(to)?, 0);
        let read = |bytes| progress.set(bytes);
        each_line_of_document(inputs, &self.document, AND, read, |document, line, _| {
            if dropped.find(&document.id).is_some() {
                return Ok(());
            }
            kept += 1;
            file.line(line)
        })?;
        file.finish()?;
        Ok(kept)
    }
}

/// What clusters drop.
struct Dropped {
    clusters: u64,
    ids: Ids,
}
