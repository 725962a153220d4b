//! Reading: what is kept of each document, and its features on their way to be counted.
//!
//! A document has two numbers. Its *place* is its line's among the input's lines that are not empty, known when its
//! block is read, whichever thread reads it. Its *number* is that of its id among all ids in byte order, known when
//! all are read. While features are counted documents go by their places, after that by their numbers.
//!
//! Size and hash of a document's set are added up here, where its features are at hand. The hash is the sum of the
//! features, which are hashes already: it does not depend on their order, and a feature that is left out later is
//! simply subtracted.
//!
//! Documents whose sets are too small for a join go no further, but for the hashes of their texts, by which equal ones
//! are found when all are read.

mod feature;
mod field_count;
mod gathered;
mod long;
mod read;
mod sites;
mod texts;

use super::minhash::band_keys::BandKeys;
use super::ragged::Ragged;
use super::sorter::Sorter;
use crate::memory::Budget;
pub use feature::FeatureRow;
use field_count::FieldCount;
pub use sites::Sites;
use std::sync::Arc;
pub use texts::{EqualTexts, TextRow};
use twinsplit_io::Contents;
use twinsplit_io::error::{Error, Place, Result};
use twinsplit_rows::bad_records;
use twinsplit_rows::record::document::SURROGATES;
use twinsplit_rows::stage::Counters;

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
    pub ids: Ragged<u8>,
    /// What the keep rule sorts by, smallest first; nothing for rules that look at ids or places only.
    ranks: Option<Ragged<u8>>,
    /// Whether equal ranks go by place, and not by number.
    by_place: bool,
    /// What the keep rule needs of documents.
    field: FieldCount,
    /// The script of most letters, as a number in `script_names`.
    scripts: Vec<u8>,
    script_names: Vec<&'static str>,
    /// Their sites, until features are counted; nothing where nobody asks for them.
    pub sites: Option<Sites>,
    /// Sizes of their sets.
    pub sizes: Vec<u32>,
    /// Sums of their features.
    pub hashes: Vec<u64>,
    /// The keys of each, where MinHash joins them.
    pub keys: BandKeys,
    /// The fingerprint of each, where these are joined, as `fingerprints` has it.
    pub fingerprints: Vec<u64>,
    /// By number: the place.
    pub order: Vec<u32>,
    /// Places of lines that are no documents, ascending; there the arrays hold nothing.
    pub bad: Vec<u32>,
    /// Documents whose sets are too small for a join and whose texts are equal, by number, once they are found.
    pub texts: EqualTexts,
    /// Documents whose sets are too small for a join and whose texts are nothing but white space.
    without_text: u64,
    /// Lone surrogates in their texts.
    surrogates: u64,
    runs: Vec<Run>,
    files: Vec<Arc<str>>,
    /// What was read of each input.
    pub read: Vec<Contents>,
}

impl Documents {
    /// How many documents there are, once they are numbered.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// The keys are no longer needed.
    pub fn drop_keys(&mut self, budget: &Budget) {
        budget.release_documents(std::mem::take(&mut self.keys).bytes());
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
        let place = self.order[number as usize];
        let rank = self.ranks.as_ref().map(|ranks| ranks.get(place as usize));
        (rank.unwrap_or_default(), if self.by_place { place } else { number })
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
                    stage: "equal-sets".to_owned(),
                    id: String::from_utf8_lossy(id(two[0])).into_owned(),
                    places: format!(" ({} and {})", self.place(two[0]), self.place(two[1])),
                });
            }
        }
        Ok(())
    }

    /// Finds the documents whose texts are equal among those that are too small by the sizes of their sets as they are now.
    pub fn find_equal_texts(
        &mut self,
        rows: &Sorter<'_, TextRow>,
        threads: usize,
        admits: impl Fn(u64) -> bool + Sync,
    ) -> Result<()> {
        let short = |place: u32| !admits(self.sizes[place as usize].into());
        self.texts = EqualTexts::of(rows, &self.numbers(), &short, threads)?;
        Ok(())
    }

    /// By place the number; no document's at places of lines that are none.
    fn numbers(&self) -> Vec<u32> {
        let mut numbers = vec![u32::MAX; self.places()];
        (0..).zip(&self.order).for_each(|(number, place)| numbers[*place as usize] = number);
        numbers
    }

    /// Where in the input a document stands.
    pub fn place(&self, document: u32) -> Place {
        let at = self.runs.partition_point(|run| run.document <= document) - 1;
        let run = &self.runs[at];
        let line = run.line + u64::from(document - run.document);
        Place { file: Arc::clone(&self.files[run.file as usize]), line, ..Place::default() }
    }

    fn counters(&self) -> Counters {
        let mut counters = self.field.counters();
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
        if let Some(sites) = &self.sites {
            counters.insert("documents_without_site".to_owned(), sites.without(self.bad.len()));
        }
        if self.without_text > 0 {
            counters.insert("documents_without_text".to_owned(), self.without_text);
        }
        if self.surrogates > 0 {
            counters.insert(SURROGATES.to_owned(), self.surrogates);
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

/// The first eight bytes as a number that sorts like them.
fn head(bytes: &[u8]) -> u64 {
    let mut head = [0; 8];
    let known = bytes.len().min(8);
    head[..known].copy_from_slice(&bytes[..known]);
    u64::from_be_bytes(head)
}
