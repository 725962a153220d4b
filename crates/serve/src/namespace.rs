//! A namespace: documents that are compared with each other, one after the other.
//!
//! **What is compared.** A document is held against those that are kept. It is a duplicate of the first of them, by number, that is near enough, and is
//! dropped then: nothing is ever dropped in favour of a dropped one, so what is kept holds something like everything that came. Its id and
//! its verdict are remembered as long as the kept document is.
//!
//! **Time** is handed in, and never runs backwards; what is too old is forgotten before anything else is done. So the same requests with the
//! same times have the same answers, in a replay as well.

use crate::document::{Document, Key, Measure, Refused, Verdict};
use crate::entries::{Entries, Entry, Grounds, NONE};
use crate::index::FingerprintIndex;
use crate::pass::SnapshotPass;
use crate::settings::{Retention, Settings};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use twinsplit_core::similarity::Score;
use twinsplit_core::similarity::text::{Content, TextComparer};
use twinsplit_io::error::Result;

/// Counts of what has been asked of a namespace, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Documents that were kept.
    pub new: u64,
    /// Documents that were dropped.
    pub duplicates: u64,
    /// Requests that had their first verdict again.
    pub retries: u64,
    /// Documents that were deleted.
    pub deleted: u64,
    /// Documents that were forgotten for their age or number.
    pub expired: u64,
    /// Documents whose verdict was forgotten because what it rested on was.
    pub orphans: u64,
}

/// Documents that are compared with each other.
#[derive(Debug)]
pub struct Namespace {
    pub(crate) settings: Settings,
    pub(crate) entries: Entries,
    /// The slot of each number from `base` on; [`NONE`] where there is nothing any more.
    pub(crate) order: VecDeque<u32>,
    pub(crate) base: u64,
    /// Before this number there is nothing that was not found again.
    pub(crate) cursor: u64,
    /// Those that were, by the time of that, which may be an older one than the entry has by now.
    pub(crate) renewed: BinaryHeap<Reverse<(u64, u64)>>,
    pub(crate) index: FingerprintIndex,
    /// The first number that the index may hold.
    pub(crate) cut: u64,
    /// Kept texts without fingerprints, by hash and number.
    pub(crate) texts: BTreeSet<(u128, u64)>,
    comparer: Option<TextComparer>,
    pub(crate) counts: Counts,
    /// A snapshot on its way.
    pub(crate) pass: Option<SnapshotPass>,
    /// Bytes of the index when it was last looked at, and how many were put in since.
    index_bytes: (u64, u32),
}

/// How often the index is asked for its bytes.
const ASKED: u32 = 1024;

impl Namespace {
    /// An empty one.
    pub fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            entries: Entries::default(),
            order: VecDeque::new(),
            base: 0,
            cursor: 0,
            renewed: BinaryHeap::new(),
            index: FingerprintIndex::new(settings.bits, settings.distance),
            cut: 0,
            texts: BTreeSet::new(),
            comparer: settings.check.map(TextComparer::new),
            counts: Counts::default(),
            pass: None,
            index_bytes: (0, 0),
        }
    }

    /// The number of the next document.
    pub fn next(&self) -> u64 {
        self.base + self.order.len() as u64
    }

    /// Before this number there is nothing.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// How many documents it holds, and how many of them are kept.
    pub fn held(&self) -> (u64, u64) {
        (self.entries.len() as u64, self.entries.kept())
    }

    /// From now on documents are kept so long.
    pub(crate) fn keep(&mut self, retention: Retention) {
        self.settings.retention = retention;
    }

    /// Counts of what was asked.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Bytes that it takes, about.
    pub fn bytes(&self) -> u64 {
        self.entries.bytes() + self.index_bytes.0 + 48 * self.texts.len() as u64
    }

    /// The slot of a number; what was forgotten has none.
    pub(crate) fn slot(&self, number: u64) -> Option<u32> {
        let place = number.checked_sub(self.base)?;
        self.order.get(place as usize).copied().filter(|slot| *slot != NONE)
    }

    /// The first kept document that is like this one.
    fn find(&mut self, document: &Document) -> Option<Grounds> {
        match document.key {
            Key::Nothing => None,
            Key::Text(hash) => {
                let (_, of) = self.texts.range((hash, 0)..=(hash, u64::MAX)).next()?;
                Some(Grounds { of: *of, distance: 0, measure: Measure::EqualText })
            }
            Key::Fingerprint { value, most } => {
                let found = self.index.search(value);
                found.into_iter().find_map(|(of, distance)| {
                    let slot = self.slot(of)?;
                    let entry = self.entries.get(slot)?;
                    let Key::Fingerprint { most: theirs, .. } = entry.key() else { return None };
                    if distance > most.min(theirs) {
                        return None;
                    }
                    let measure = match &mut self.comparer {
                        None => Measure::Hamming,
                        Some(comparer) => {
                            alike(comparer, entry.content.as_deref(), document.content.as_deref())?
                        }
                    };
                    Some(Grounds { of, distance, measure })
                })
            }
        }
    }

    /// What a document is, without taking it in.
    pub fn check(&mut self, now: u64, document: &Document) -> Verdict {
        self.expire(now);
        match self.find(document) {
            None => Verdict::New,
            Some(grounds) => self.said(grounds),
        }
    }

    fn said(&self, grounds: Grounds) -> Verdict {
        let kept = self.slot(grounds.of).and_then(|slot| self.entries.get(slot));
        match kept {
            None => Verdict::New,
            Some(kept) => {
                let Grounds { distance, measure, .. } = grounds;
                Verdict::Duplicate { id: kept.id.clone(), distance, measure }
            }
        }
    }

    /// Takes a document in, and says what it is: in one step, so that of two that are alike one is kept. With `search` off it is kept whatever there
    /// is. What came under this id with the same content has its first verdict again; the number is that of what was taken in.
    pub(crate) fn add(
        &mut self,
        now: u64,
        id: &[u8],
        document: Document,
        search: bool,
    ) -> Result<(Verdict, Option<Taken>), Refused> {
        self.expire(now);
        if let Some(entry) = self.entries.find(id).and_then(|slot| self.entries.get(slot)) {
            if entry.digest != document.digest {
                return Err(Refused::Conflict);
            }
            let verdict = self.entries.verdict(entry);
            self.counts.retries += 1;
            return Ok((verdict, None));
        }
        self.make_room();
        let grounds = if search { self.find(&document) } else { None };
        let verdict = grounds.map_or(Verdict::New, |grounds| self.said(grounds));
        let number = self.next();
        // An index that cannot be built anew has the document all the same, and tries again with the next one.
        let _ = self.put(now, number, id, document, grounds);
        Ok((verdict, Some(Taken { number, grounds })))
    }

    /// Takes in what was taken in before, and was said to be this.
    ///
    /// # Errors
    /// It does not follow what is here: the log or the snapshot is not that of this namespace.
    pub(crate) fn replay(
        &mut self,
        now: u64,
        taken: Taken,
        id: &[u8],
        document: Document,
    ) -> Result<(), &'static str> {
        self.expire(now);
        if self.entries.find(id).is_some() {
            return Err("a document comes twice");
        }
        self.make_room();
        if taken.number != self.next() {
            return Err("a document's number is not the next one");
        }
        if taken.grounds.is_some_and(|grounds| self.slot(grounds.of).is_none()) {
            return Err("a verdict rests on a document that is not there");
        }
        self.put(now, taken.number, id, document, taken.grounds).map_err(|_| "the index cannot be built")
    }

    fn put(
        &mut self,
        now: u64,
        number: u64,
        id: &[u8],
        document: Document,
        grounds: Option<Grounds>,
    ) -> Result<()> {
        let key = document.key;
        let dropped = grounds.and_then(|grounds| {
            let slot = self.slot(grounds.of)?;
            self.renew(slot, now);
            Some((slot, grounds.distance, grounds.measure))
        });
        let slot = self.entries.insert((id, number, now), document, dropped);
        self.order.push_back(slot);
        if dropped.is_some() {
            self.counts.duplicates += 1;
            return Ok(());
        }
        self.counts.new += 1;
        match key {
            Key::Nothing => Ok(()),
            Key::Text(hash) => {
                self.texts.insert((hash, number));
                Ok(())
            }
            Key::Fingerprint { value, .. } => {
                let inserted = self.index.insert(number, value);
                self.index_bytes.1 += 1;
                if self.index_bytes.1 == ASKED {
                    self.index_bytes = (self.index.memory(), 0);
                }
                inserted
            }
        }
    }

    /// Forgets a document, and those that were dropped in its favour, whose ids are given: whoever sends them again has a new verdict. `None` where there is
    /// no such document.
    pub fn delete(&mut self, now: u64, id: &[u8]) -> Option<Vec<Box<[u8]>>> {
        self.expire(now);
        let slot = self.entries.find(id)?;
        let orphans = self.take_out(slot);
        self.counts.deleted += 1;
        self.counts.orphans += orphans.len() as u64;
        Some(orphans)
    }

    /// The document of an id.
    pub(crate) fn entry(&self, id: &[u8]) -> Option<&Entry> {
        self.entries.find(id).and_then(|slot| self.entries.get(slot))
    }

    /// Puts in what a snapshot holds, in the order of the numbers, of which the next one is given; the namespace is empty.
    ///
    /// # Errors
    /// The index cannot be built.
    pub(crate) fn restore(
        &mut self,
        rows: Vec<crate::pass::Saved>,
        next: u64,
        counts: Counts,
    ) -> Result<bool> {
        self.base = rows.first().map_or(next, |row| row.number);
        let (mut numbers, mut values) = (Vec::new(), Vec::new());
        for row in rows {
            let grounds = row.grounds;
            if row.number < self.next() || row.number >= next || self.entries.find(&row.id).is_some() {
                return Ok(false);
            }
            let dropped = match grounds {
                None => None,
                Some(grounds) => match self.slot(grounds.of) {
                    Some(slot) => Some((slot, grounds.distance, grounds.measure)),
                    None => return Ok(false),
                },
            };
            match (row.document.key, dropped) {
                (Key::Fingerprint { value, .. }, None) => {
                    numbers.push(row.number);
                    values.push(value);
                }
                (Key::Text(hash), None) => drop(self.texts.insert((hash, row.number))),
                _ => {}
            }
            self.order.resize((row.number - self.base) as usize, NONE);
            let slot = self.entries.insert((&row.id, row.number, row.time), row.document, dropped);
            self.order.push_back(slot);
            if row.renewed {
                self.renewed.push(Reverse((row.time, row.number)));
                if let Some(entry) = self.entries.get_mut(slot) {
                    entry.renewed = true;
                }
            }
        }
        self.order.resize((next - self.base) as usize, NONE);
        if !numbers.is_empty() {
            self.index =
                FingerprintIndex::over(self.settings.bits, self.settings.distance, &numbers, &values)?;
        }
        self.index_bytes = (self.index.memory(), 0);
        self.counts = counts;
        Ok(true)
    }
}

/// A document that was taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Its number.
    pub number: u64,
    /// What its verdict rests on; nothing where it is kept.
    pub grounds: Option<Grounds>,
}

/// How alike two contents are, where they are enough.
pub(crate) fn alike(
    comparer: &mut TextComparer,
    one: Option<&Content>,
    other: Option<&Content>,
) -> Option<Measure> {
    let score = comparer.compare(one?, other?)?;
    let Score::Share(share) = score else { return None };
    Some(Measure::Text(comparer.measure(), share))
}
