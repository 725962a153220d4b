//! Reading: what is kept of each document, and its features on their way to be counted.
//!
//! A document has two numbers. Its *place* is its line's among the input's lines that are not empty, known when its
//! block is read, whichever thread reads it. Its *number* is that of its id among all ids in byte order, known when
//! all are read. While features are counted documents go by their places, after that by their numbers.
//!
//! Size and hash of a document's set are added up here, where its features are at hand. The hash is the sum of the
//! features, which are hashes already: it does not depend on their order, and a feature that is left out later is
//! simply subtracted.

use super::DenseOpts;
use super::budget::Budget;
use super::flat::Flat;
use super::sorter::{Row, SortWriter, Sorter};
use crate::bad_records::{self, BadRecords};
use crate::cluster::keep::KeepRule;
use crate::engine::progress::Progress;
use crate::engine::steps::{in_threads, lock};
use crate::error::{Error, FieldError, Place, Result};
use crate::io::{Block, Blocks, each_line};
use crate::record::cluster::Meta;
use crate::stage::Counters;
use crate::stages::cluster::rank_of;
use crate::text::{Extractor, dominant_script};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A feature of a document, which goes by its place.
#[derive(Clone, Copy, Debug, Default)]
pub struct FeatureRow {
    /// The feature.
    pub feature: u64,
    /// The document.
    pub document: u32,
}

/// In 8 bytes, most of the time: a bucket's features begin with the same byte, so 7 suffice, and the eighth is the
/// step from the document before, which is small because a thread reads documents in order.
impl Row for FeatureRow {
    const MOST: usize = 12;
    const LEAST: usize = 8;

    #[inline]
    fn key(&self) -> u64 {
        self.feature
    }

    #[inline]
    fn put(&self, before: &Self, out: &mut Vec<u8>) {
        let step = self.document.wrapping_sub(before.document);
        let low = self.feature << 8;
        if step < FAR {
            out.extend_from_slice(&(low | u64::from(step)).to_le_bytes());
        } else {
            out.extend_from_slice(&(low | u64::from(FAR)).to_le_bytes());
            out.extend_from_slice(&self.document.to_le_bytes());
        }
    }

    #[inline]
    fn get(bytes: &mut &[u8], before: &Self, first: u64) -> Option<Self> {
        let word = u64::from_le_bytes(bytes.split_off(..8)?.try_into().ok()?);
        let document = match word as u8 {
            far if u32::from(far) == FAR => u32::from_le_bytes(bytes.split_off(..4)?.try_into().ok()?),
            step => before.document.wrapping_add(step.into()),
        };
        Some(Self { feature: first & 0xff << 56 | word >> 8, document })
    }
}

/// Says that the document's place follows as it is.
const FAR: u32 = 0xff;

/// From this document on, lines follow one another in a file.
struct Run {
    document: u32,
    file: u32,
    line: u64,
}

/// What is kept of documents. By place, but for [`order`](Self::order).
#[derive(Default)]
pub struct Documents {
    /// Their ids.
    pub ids: Flat<u8>,
    /// What the keep rule sorts by, smallest first; nothing for the rule that looks at ids only.
    ranks: Option<Flat<u8>>,
    /// The script of most letters, as a number in `script_names`.
    scripts: Vec<u8>,
    script_names: Vec<&'static str>,
    /// Sizes of their sets.
    pub sizes: Vec<u32>,
    /// Sums of their features.
    pub hashes: Vec<u64>,
    /// By number: the place.
    pub order: Vec<u32>,
    /// Places of lines that are no documents, ascending; there the arrays hold nothing.
    pub bad: Vec<u32>,
    runs: Vec<Run>,
    files: Vec<Arc<str>>,
}

/// The documents of one block.
struct Batch {
    documents: Documents,
    scripts: Vec<&'static str>,
    bytes: u64,
}

/// Batches come from the threads in any order, and are put together in that of the input.
struct Gathered<'b> {
    budget: &'b Budget,
    all: Documents,
    waiting: BTreeMap<u64, Batch>,
    next: u64,
    bytes: u64,
}

impl Documents {
    /// Reads and tokenizes all documents in `threads` threads. Gives them and their features, and counts.
    ///
    /// Lines that are no documents go to a quarantine in the folder, where the options let them pass.
    pub fn read<'b>(
        blocks: Blocks,
        opts: &DenseOpts,
        threads: usize,
        features: &Sorter<'b, FeatureRow>,
        (budget, work): (&'b Budget, &Path),
        progress: &Progress,
    ) -> Result<(Self, Counters)> {
        let blocks = Mutex::new(blocks);
        let spec = opts.features.spec()?;
        let all = Documents { ranks: ranked(opts).then(Flat::default), ..Documents::default() };
        let gathered = Mutex::new(Gathered { budget, all, waiting: BTreeMap::new(), next: 0, bytes: 0 });
        // The first error in the order of the input: all blocks before the one that failed are with some thread.
        let failed: Mutex<Option<(u64, Error)>> = Mutex::default();
        let fail = |number, error| {
            let mut failed = lock(&failed);
            if failed.as_ref().is_none_or(|(known, _)| number < *known) {
                *failed = Some((number, error));
            }
        };
        in_threads(threads, threads, |number| {
            let mut bad = BadRecords::kept("tokenize", opts.document.bad_records, work, number as u32)?;
            let mut extractor = Extractor::new(spec.clone());
            let mut writer = features.writer();
            while lock(&failed).is_none() {
                let (block, raw) = {
                    let mut blocks = lock(&blocks);
                    (blocks.next_block(), blocks.raw_bytes())
                };
                progress.set(raw);
                let block = match block {
                    Ok(Some(block)) => block,
                    Ok(None) => break,
                    Err(error) => {
                        fail(u64::MAX, error);
                        break;
                    }
                };
                let batch = Batch::read(&block, opts, &mut extractor, &mut writer, &mut bad);
                if let Err(error) = batch.and_then(|batch| lock(&gathered).add(block.number, batch)) {
                    fail(block.number, error);
                }
            }
            bad.finish()?;
            writer.finish()
        })?;
        if let Some((_, error)) = lock(&failed).take() {
            return Err(error);
        }
        let Gathered { mut all, bytes, .. } =
            gathered.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.number()?;
        let mut counters = all.counters();
        counters.insert("map_records_in".to_owned(), all.places() as u64);
        counters.insert("map_bytes_in".to_owned(), bytes);
        counters.insert("spilled_bytes".to_owned(), features.spilled());
        Ok((all, counters))
    }

    /// How many documents there are, once they are numbered.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// How many places there are: those of documents, and of lines that are none.
    pub fn places(&self) -> usize {
        self.ids.len()
    }

    /// How many documents have a set of such a size.
    pub fn sets(&self, which: impl Fn(u64) -> bool) -> u64 {
        self.order.iter().filter(|place| which(self.sizes[**place as usize].into())).count() as u64
    }

    /// The id of a document, by number.
    pub fn id(&self, number: u32) -> &[u8] {
        self.ids.get(self.order[number as usize] as usize)
    }

    /// What documents are sorted by to choose the one to keep, by number.
    pub fn rank(&self, number: u32) -> (&[u8], u32) {
        let rank = self.ranks.as_ref().map(|ranks| ranks.get(self.order[number as usize] as usize));
        (rank.unwrap_or_default(), number)
    }

    /// The script of a document, by number.
    pub fn script(&self, number: u32) -> &'static str {
        self.script_names[usize::from(self.scripts[self.order[number as usize] as usize])]
    }

    /// Numbers the documents in byte order of their ids.
    fn number(&mut self) -> Result<()> {
        let ids = &self.ids;
        let id = |place: u32| ids.get(place as usize);
        let mut bad = self.bad.iter().copied().peekable();
        self.order = (0..ids.len() as u32).filter(|place| bad.next_if_eq(place).is_none()).collect();
        if !self.order.is_sorted_by(|x, y| id(*x) < id(*y)) {
            // Most comparisons end at eight bytes behind what all ids begin with.
            let first = id(self.order[0]);
            let common = self.order.iter().fold(first.len(), |common, place| {
                let same = first.iter().zip(id(*place)).take(common);
                same.take_while(|(x, y)| x == y).count()
            });
            let mut keyed: Vec<(u64, u32)> =
                self.order.drain(..).map(|place| (head(&id(place)[common..]), place)).collect();
            keyed.sort_unstable_by(|x, y| (x.0.cmp(&y.0)).then_with(|| (id(x.1), x.1).cmp(&(id(y.1), y.1))));
            self.order.extend(keyed.iter().map(|(_, place)| *place));
        }
        for two in self.order.windows(2) {
            if id(two[0]) == id(two[1]) {
                return Err(Error::DuplicateId {
                    stage: "doc-meta".to_owned(),
                    id: String::from_utf8_lossy(id(two[0])).into_owned(),
                    places: format!(" ({} and {})", self.place(two[0]), self.place(two[1])),
                });
            }
        }
        Ok(())
    }

    /// Where in the input a document stands.
    fn place(&self, document: u32) -> Place {
        let at = self.runs.partition_point(|run| run.document <= document) - 1;
        let run = &self.runs[at];
        let line = run.line + u64::from(document - run.document);
        Place { file: Arc::clone(&self.files[run.file as usize]), line, offset: 0 }
    }

    fn counters(&self) -> Counters {
        let mut counters = Counters::new();
        let mut counts = vec![(0, 0); self.script_names.len()];
        let mut bad = self.bad.iter().copied().peekable();
        for (place, (script, size)) in (0..).zip(self.scripts.iter().zip(&self.sizes)) {
            if bad.next_if_eq(&place).is_some() {
                continue;
            }
            let (documents, without) = &mut counts[usize::from(*script)];
            *documents += 1;
            *without += u64::from(*size == 0);
        }
        if !self.bad.is_empty() {
            counters.insert(bad_records::COUNTER.to_owned(), self.bad.len() as u64);
        }
        for (script, (documents, without)) in self.script_names.iter().zip(counts).filter(|(_, c)| c.0 > 0) {
            let mut add = |name: &str, count| *counters.entry(name.to_owned()).or_default() += count;
            add("documents", documents);
            add(&format!("documents.{script}"), documents);
            if without > 0 {
                add("without_features", without);
                add(&format!("without_features.{script}"), without);
            }
        }
        counters
    }

    /// Notes that the next document stands on this line.
    fn stands(&mut self, place: &Place) {
        let document = self.ids.len() as u32;
        let follows = self.runs.last().is_some_and(|run| {
            run.line + u64::from(document - run.document) == place.line
                && *self.files[run.file as usize] == *place.file
        });
        if !follows {
            if self.files.last() != Some(&place.file) {
                self.files.push(Arc::clone(&place.file));
            }
            self.runs.push(Run { document, file: self.files.len() as u32 - 1, line: place.line });
        }
    }
}

/// Whether the rule looks at more than ids.
fn ranked(opts: &DenseOpts) -> bool {
    opts.keep.keep != KeepRule::FirstId
}

/// The first eight bytes as a number that sorts like them.
fn head(bytes: &[u8]) -> u64 {
    let mut head = [0; 8];
    let known = bytes.len().min(8);
    head[..known].copy_from_slice(&bytes[..known]);
    u64::from_be_bytes(head)
}

impl Batch {
    fn read(
        block: &Block,
        opts: &DenseOpts,
        extractor: &mut Extractor,
        writer: &mut SortWriter<'_, '_, FeatureRow>,
        bad: &mut BadRecords,
    ) -> Result<Self> {
        let first = u32::try_from(block.first + block.lines).ok().filter(|last| *last < u32::MAX);
        if first.is_none() {
            return Err(Error::Limit(format!(
                "tokenize: {}: more than {} documents; split the collection, or take doc-split --engine pipes",
                block.place,
                u32::MAX - 1
            )));
        }
        let mut batch = Batch {
            documents: Documents { ranks: ranked(opts).then(Flat::default), ..Documents::default() },
            scripts: Vec::new(),
            bytes: block.bytes.len() as u64,
        };
        let mut set = Vec::new();
        each_line(block, |line, place| {
            let document = block.first as u32 + batch.documents.places() as u32;
            match batch.document(line, place, opts, extractor, &mut set) {
                Ok(()) => set.iter().try_for_each(|&feature| writer.push(FeatureRow { feature, document })),
                Err(error) => {
                    batch.pass(place);
                    bad.pass(line, place, error)
                }
            }
        })?;
        Ok(batch)
    }

    /// Reads a document; its features are in `set` then.
    fn document(
        &mut self,
        line: &[u8],
        place: &Place,
        opts: &DenseOpts,
        extractor: &mut Extractor,
        set: &mut Vec<u64>,
    ) -> Result<(), FieldError> {
        let document = opts.document.read(line, place)?;
        let script = dominant_script(&document.text);
        let own = &mut self.documents;
        if let Some(ranks) = &mut own.ranks {
            let meta = Meta {
                id: &document.id,
                length: document.text.chars().count() as u64,
                date: &document.date,
                score: document.score.as_bytes(),
                script: script.as_bytes(),
            };
            ranks.push(&rank_of(opts.keep.keep, &meta)?);
        }
        extractor.set(&document.text, set);
        own.stands(place);
        own.ids.push(&document.id);
        own.sizes.push(set.len() as u32);
        own.hashes.push(set.iter().fold(0, |sum, feature| sum.wrapping_add(*feature)));
        self.scripts.push(script);
        Ok(())
    }
}

impl Batch {
    /// Leaves the place of a line that is no document empty.
    fn pass(&mut self, place: &Place) {
        let own = &mut self.documents;
        own.stands(place);
        own.bad.push(own.places() as u32);
        own.ids.push(&[]);
        if let Some(ranks) = &mut own.ranks {
            ranks.push(&[]);
        }
        own.sizes.push(0);
        own.hashes.push(0);
        self.scripts.push(dominant_script(""));
    }
}

impl Gathered<'_> {
    /// Adds a block's documents as soon as all before them are there.
    fn add(&mut self, number: u64, batch: Batch) -> Result<()> {
        self.waiting.insert(number, batch);
        while let Some(batch) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.append(batch)?;
        }
        Ok(())
    }

    fn append(&mut self, batch: Batch) -> Result<()> {
        let Batch { documents, scripts, bytes } = batch;
        let names = |documents: &Documents| {
            documents.ids.items().len()
                + documents.ranks.as_ref().map_or(0, |ranks| ranks.items().len() + 8 * ranks.len())
        };
        self.budget.hold(documents.places() * super::budget::DOCUMENT + names(&documents));
        let all = &mut self.all;
        let base = all.places() as u32;
        all.bad.extend(documents.bad.iter().map(|place| base + place));
        for run in &documents.runs {
            all.files.extend(
                documents.files.get(run.file as usize).filter(|file| all.files.last() != Some(file)).cloned(),
            );
            all.runs.push(Run {
                document: base + run.document,
                file: all.files.len() as u32 - 1,
                line: run.line,
            });
        }
        all.ids.append(&documents.ids);
        if let (Some(ranks), Some(more)) = (&mut all.ranks, &documents.ranks) {
            ranks.append(more);
        }
        all.sizes.extend_from_slice(&documents.sizes);
        all.hashes.extend_from_slice(&documents.hashes);
        for script in scripts {
            let known = all.script_names.iter().position(|name| *name == script).unwrap_or_else(|| {
                all.script_names.push(script);
                all.script_names.len() - 1
            });
            // Unicode has fewer scripts than a byte has values.
            all.scripts.push(known as u8);
        }
        self.bytes += bytes;
        self.budget.admit_documents(all.places(), names(all))
    }
}
