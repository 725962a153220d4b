//! Documents in memory: ids, ranks and sets of numbered features, documents numbered in byte order of their ids.

use super::DenseOpts;
use super::numbering::{Counted, number};
use crate::engine::steps::{in_threads, lock};
use crate::error::{Error, FieldError, Place, Result};
use crate::index::idf::IdfRange;
use crate::io::{Blocks, each_line};
use crate::join::kernel::JoinPair;
use crate::join::sets::Sets;
use crate::record::cluster::Meta;
use crate::stage::Counters;
use crate::stages::cluster::rank_of;
use crate::stages::feature_order::read_reference;
use crate::text::{Extractor, dominant_script};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;

/// Bytes of input that a thread takes at a time.
const BLOCK: usize = 1 << 20;
/// Lines in memory that a thread takes at a time.
const LINES: usize = 256;

/// Values of different lengths, one after the other.
#[derive(Debug)]
pub struct Flat<T> {
    items: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Default for Flat<T> {
    fn default() -> Self {
        Self { items: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Copy> Flat<T> {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The value of a number.
    pub fn get(&self, at: usize) -> &[T] {
        &self.items[self.range(at)]
    }

    /// Where the value of a number stands among all items.
    pub fn range(&self, at: usize) -> Range<usize> {
        at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]
    }

    /// All values' items, one after the other.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Adds a value.
    pub fn push(&mut self, value: &[T]) {
        self.items.extend_from_slice(value);
        self.ends.push(self.items.len());
    }

    /// Adds all values of another.
    pub fn append(&mut self, other: &Self) {
        let base = self.items.len();
        self.items.extend_from_slice(&other.items);
        self.ends.extend(other.ends.iter().map(|end| base + end));
    }
}

/// What was read of some documents, in the order of the input.
#[derive(Default)]
struct Batch {
    ids: Flat<u8>,
    features: Flat<u64>,
    ranks: Flat<u8>,
    scripts: Vec<&'static str>,
    places: Vec<Place>,
}

/// All documents.
pub struct Corpus {
    /// By number, in byte order.
    pub ids: Flat<u8>,
    /// By number: what the keep rule sorts by.
    pub ranks: Flat<u8>,
    /// By number: the script of most letters.
    pub scripts: Vec<&'static str>,
    /// By number: the document's place among the input's lines, from 0.
    pub input_order: Vec<u32>,
    features: Flat<u64>,
}

impl Corpus {
    /// Reads and tokenizes all documents in `threads` threads.
    pub fn read(inputs: &[PathBuf], opts: &DenseOpts, threads: usize) -> Result<Self> {
        let blocks = Mutex::new(Blocks::new(inputs.to_vec(), BLOCK));
        let spec = opts.features.spec()?;
        let workers = in_threads(threads, threads, |_| {
            let mut extractor = Extractor::new(spec.clone());
            let mut batches = Vec::new();
            loop {
                let Some(block) = lock(&blocks).next_block()? else { return Ok(batches) };
                let mut batch = Batch::default();
                each_line(&block, |line, place| batch.read(line, place, opts, &mut extractor))?;
                batches.push((block.number, batch));
            }
        })?;
        let mut batches: Vec<_> = workers.into_iter().flatten().collect();
        batches.sort_unstable_by_key(|(number, _)| *number);
        Self::of(batches.into_iter().map(|(_, batch)| batch))
    }

    /// Tokenizes documents whose lines are in memory, in `threads` threads.
    pub fn of_lines(lines: &[(Place, Vec<u8>)], opts: &DenseOpts, threads: usize) -> Result<Self> {
        let spec = opts.features.spec()?;
        let batches = in_threads(lines.len().div_ceil(LINES), threads, |number| {
            let mut extractor = Extractor::new(spec.clone());
            let mut batch = Batch::default();
            for (place, line) in lines[number * LINES..].iter().take(LINES) {
                batch.read(line, place, opts, &mut extractor)?;
            }
            Ok(batch)
        })?;
        Self::of(batches.into_iter())
    }

    fn of(batches: impl Iterator<Item = Batch>) -> Result<Self> {
        let mut all = Batch::default();
        for batch in batches {
            all.ids.append(&batch.ids);
            all.features.append(&batch.features);
            all.ranks.append(&batch.ranks);
            all.scripts.extend(batch.scripts);
            all.places.extend(batch.places);
        }
        Self::number(all)
    }

    fn number(batch: Batch) -> Result<Self> {
        let mut order: Vec<u32> = (0..batch.ids.len() as u32).collect();
        order.sort_by_key(|&at| batch.ids.get(at as usize));
        for two in order.windows(2) {
            let (x, y) = (two[0] as usize, two[1] as usize);
            if batch.ids.get(x) == batch.ids.get(y) {
                return Err(Error::DuplicateId {
                    stage: "doc-meta".to_owned(),
                    id: String::from_utf8_lossy(batch.ids.get(x)).into_owned(),
                    places: format!(" ({} and {})", batch.places[x], batch.places[y]),
                });
            }
        }
        let mut ids = Flat::default();
        let mut ranks = Flat::default();
        let mut features = Flat::default();
        for &at in &order {
            ids.push(batch.ids.get(at as usize));
            ranks.push(batch.ranks.get(at as usize));
            features.push(batch.features.get(at as usize));
        }
        let scripts = order.iter().map(|&at| batch.scripts[at as usize]).collect();
        Ok(Self { ids, ranks, scripts, input_order: order, features })
    }

    /// Counters of `tokenize`.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters::new();
        let mut add = |name: String| *counters.entry(name).or_default() += 1;
        for (number, script) in self.scripts.iter().enumerate() {
            add("documents".to_owned());
            add(format!("documents.{script}"));
            if self.features.get(number).is_empty() {
                add("without_features".to_owned());
                add(format!("without_features.{script}"));
            }
        }
        counters
    }

    /// Numbers the features in the IDF range by ascending document frequency and gives each document's set of
    /// numbers. The features themselves are dropped.
    pub fn take_sets(&mut self, opts: &DenseOpts, threads: usize) -> Result<(Flat<u32>, Counted)> {
        let features = std::mem::take(&mut self.features);
        let range: IdfRange = opts.idf.idf;
        let documents = self.ids.len() as u64;
        if range.is_everything() {
            return number(&features, |_, _| true, threads);
        }
        let Some(path) = &opts.idf.idf_table else {
            let (least, most) = range.df_range(documents);
            return number(&features, |_, frequency| (least..=most).contains(&frequency), threads);
        };
        let table = read_reference(path)?;
        let (least, most) = range.df_range(table.documents);
        let known: FxHashMap<u64, u64> = table.rows.into_iter().collect();
        let keeps = |feature, _| (least..=most).contains(&known.get(&feature).copied().unwrap_or(1));
        number(&features, keeps, threads)
    }
}

impl Batch {
    fn read(
        &mut self,
        line: &[u8],
        place: &Place,
        opts: &DenseOpts,
        extractor: &mut Extractor,
    ) -> Result<()> {
        let wrong =
            |error: FieldError| Error::Record { stage: "tokenize".to_owned(), place: place.clone(), error };
        let document = opts.document.read(line, place).map_err(wrong)?;
        let mut features = Vec::new();
        extractor.set(&document.text, &mut features);
        let script = dominant_script(&document.text);
        let meta = Meta {
            id: &document.id,
            length: document.text.chars().count() as u64,
            date: &document.date,
            score: document.score.as_bytes(),
            script: script.as_bytes(),
        };
        self.ranks.push(&rank_of(opts.keep.keep, &meta).map_err(wrong)?);
        self.ids.push(&document.id);
        self.features.push(&features);
        self.scripts.push(script);
        self.places.push(place.clone());
        Ok(())
    }
}

/// Sets that enter the join: one of each group of equal ones, smaller sets first.
pub struct Representatives {
    /// The sets, by size, then by document.
    pub sets: Sets,
    /// The document of each set: the smallest of its group.
    pub documents: Vec<u32>,
    /// For each set the other documents of its group, ascending.
    pub copies: Flat<u32>,
}

impl Representatives {
    /// Finds groups of equal sets among those of at least `least` features.
    pub fn of(sets: &Flat<u32>, least: impl Fn(u64) -> bool) -> Self {
        let mut groups: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut by_hash: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        let mut wide = Vec::new();
        for number in 0..sets.len() {
            let set = sets.get(number);
            if !least(set.len() as u64) {
                continue;
            }
            wide.clear();
            wide.extend(set.iter().map(|token| u64::from(*token)));
            let met = by_hash.entry(crate::hash::set(&wide)).or_default();
            match met.iter().find(|group| sets.get(groups[**group as usize].0 as usize) == set) {
                Some(group) => groups[*group as usize].1.push(number as u32),
                None => {
                    met.push(groups.len() as u32);
                    groups.push((number as u32, Vec::new()));
                }
            }
        }
        groups.sort_by_key(|(document, _)| (sets.get(*document as usize).len(), *document));
        let tokens = groups.iter().map(|(document, _)| sets.get(*document as usize).len()).sum();
        let mut own = Self {
            sets: Sets::with_capacity(groups.len(), tokens),
            documents: Vec::with_capacity(groups.len()),
            copies: Flat::default(),
        };
        for (document, copies) in groups {
            own.sets.push(sets.get(document as usize));
            own.documents.push(document);
            own.copies.push(&copies);
        }
        own
    }

    /// How many documents have a set.
    pub fn group_size(&self, set: u32) -> u64 {
        1 + self.copies.get(set as usize).len() as u64
    }

    /// How many pairs of documents these pairs of sets make, those of equal sets with them.
    pub fn count_pairs(&self, pairs: &[JoinPair]) -> u64 {
        let sizes = (0..self.documents.len() as u32).map(|set| self.group_size(set));
        let equal: u64 = sizes.map(|size| size * (size - 1) / 2).sum();
        equal + pairs.iter().map(|pair| self.group_size(pair.a) * self.group_size(pair.b)).sum::<u64>()
    }
}
