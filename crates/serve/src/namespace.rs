//! A namespace: documents that are compared with each other, one after the other.
//!
//! **What is compared.** A document is held against those that are kept. It is a duplicate of the first of them, by number, that is near enough, and is
//! dropped then: nothing is ever dropped in favour of a dropped one, so what is kept holds something like everything that came. Its id and
//! its verdict are remembered as long as the kept document is.
//!
//! **Time** is handed in, and never runs backwards; what is too old is forgotten before anything else is done. So the same requests with the
//! same times have the same answers, in a replay as well.

use crate::chunk::Fields;
use crate::content::Content;
use crate::document::{Document, Key, Refused, Verdict};
use crate::entries::{Entries, Entry, Grounds, NONE};
use crate::kept::KeptIndex;
use crate::pass::SnapshotPass;
use crate::runs::Runs;
use crate::settings::{Retention, Settings};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
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
    /// Before this number there is nothing that was not found again.
    pub(crate) cursor: u64,
    /// Those that were, by the time of that, which may be an older one than the entry has by now.
    pub(crate) renewed: BinaryHeap<Reverse<(u64, u64)>>,
    pub(crate) kept: KeptIndex,
    pub(crate) runs: Runs,
    pub(crate) counts: Counts,
    /// Whether requests that would change it are refused.
    pub(crate) read_only: bool,
    /// A snapshot on its way.
    pub(crate) pass: Option<SnapshotPass>,
}

impl Namespace {
    /// An empty one.
    pub fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            entries: Entries::default(),
            cursor: 0,
            renewed: BinaryHeap::new(),
            kept: KeptIndex::new(settings),
            runs: Runs::default(),
            counts: Counts::default(),
            read_only: false,
            pass: None,
        }
    }

    /// An empty one, of which nothing is asked before all is back and [`fill`](Self::fill)ed in.
    pub(crate) fn to_be_filled(settings: &Settings) -> Self {
        Self { kept: KeptIndex::to_be_filled(settings), ..Self::new(settings) }
    }

    /// All is back that a snapshot and a log have.
    ///
    /// # Errors
    /// The index cannot be built.
    pub(crate) fn fill(&mut self) -> Result<()> {
        self.kept.fill(&self.entries)
    }

    /// The number of the next document.
    pub fn next(&self) -> u64 {
        self.entries.next()
    }

    /// How many documents it holds, and how many of them are kept.
    pub fn held(&self) -> (u64, u64) {
        (self.entries.len(), self.entries.kept())
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
        self.entries.bytes() + self.kept.bytes() + self.runs.bytes()
    }

    /// Searches for documents of these fingerprints together: they are asked for next, in this order.
    pub(crate) fn prefetch(&mut self, values: impl Iterator<Item = u128>) {
        self.kept.prefetch(values);
    }

    /// Those that were searched for have been asked for.
    pub(crate) fn end_prefetch(&mut self) {
        self.kept.end_prefetch();
    }

    /// The first kept document that is like this one, of those that a run sees (0 for none) and that count.
    pub(crate) fn find(
        &mut self,
        key: Key,
        content: Option<&Content>,
        viewer: u32,
        counts: impl Fn(&Entry<'_>) -> bool,
    ) -> Option<Grounds> {
        let Self { kept, entries, runs, .. } = self;
        let counts = |entry: &Entry<'_>| entry.is_kept() && runs.sees(viewer, entry.run()) && counts(entry);
        kept.find((key, content), entries, counts)
    }

    /// What a document is, without taking it in.
    pub(crate) fn check(&mut self, now: u64, document: &Document, viewer: u32) -> Verdict {
        self.expire(now);
        match self.find(document.key, document.content.as_deref(), viewer, |_| true) {
            None => Verdict::New,
            Some(grounds) => self.said(grounds, viewer),
        }
    }

    pub(crate) fn said(&self, grounds: Grounds, viewer: u32) -> Verdict {
        let Grounds { of, distance, measure } = grounds;
        let Some(kept) = self.entries.get(of) else { return Verdict::New };
        let pending = self.runs.pending(viewer, kept.run()).map(Into::into);
        let distance = measure.has_distance().then_some(distance);
        Verdict::Duplicate { id: kept.id().into(), distance, measure, pending }
    }

    /// What was said of a document.
    pub(crate) fn verdict(&self, entry: &Entry<'_>, viewer: u32) -> Verdict {
        entry.grounds().map_or(Verdict::New, |grounds| self.said(grounds, viewer))
    }

    /// Takes a document in, and says what it is: in one step, so that of two that are alike one is kept. What came under this id with the same
    /// content has its first verdict again. What is taken in is handed out before, with its number and what it rests on.
    pub(crate) fn add(
        &mut self,
        arrival: Arrival<'_>,
        document: Document,
        taken_in: impl FnOnce(&Document, Taken),
    ) -> Result<Verdict, Refused> {
        let Arrival { now, id, run, search, refused } = arrival;
        self.expire(now);
        let hash = self.entries.hash(id);
        if let Some(entry) = self.entries.find(id, hash, self.runs.seen_by(run)) {
            if entry.digest() != document.digest {
                return Err(Refused::Conflict);
            }
            let verdict = self.verdict(&entry, run);
            self.counts.retries += 1;
            return Ok(verdict);
        }
        if let Some(refused) = refused {
            return Err(refused);
        }
        self.make_room();
        let Document { key, content, .. } = &document;
        let grounds = if search { self.find(*key, content.as_deref(), run, |_| true) } else { None };
        let verdict = grounds.map_or(Verdict::New, |grounds| self.said(grounds, run));
        let taken = Taken { number: self.next(), grounds, run, forced: run > 0 && !search };
        taken_in(&document, taken);
        // An index that cannot be built anew has the document all the same, and tries again with the next one.
        let _ = self.put(now, (id, hash), document, taken);
        Ok(verdict)
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
        let hash = self.entries.hash(id);
        let Taken { run, .. } = taken;
        if run > 0 && !self.runs.is_open(run) {
            return Err("a document comes with a run that is not open");
        }
        if self.entries.find(id, hash, self.runs.seen_by(run)).is_some() {
            return Err("a document comes twice");
        }
        self.make_room();
        if taken.number != self.next() {
            return Err("a document's number is not the next one");
        }
        if taken.grounds.is_some_and(|grounds| self.entries.get(grounds.of).is_none()) {
            return Err("a verdict rests on a document that is not there");
        }
        self.put(now, (id, hash), document, taken).map_err(|_| "the index cannot be built")
    }

    fn put(&mut self, now: u64, (id, hash): (&[u8], u64), document: Document, taken: Taken) -> Result<()> {
        let Document { key, digest, content } = document;
        let Taken { grounds, run, forced, .. } = taken;
        let dropped = grounds.map(|grounds| (grounds, [NONE; 2]));
        let fields = Fields { id, time: now, renewed: false, forced, key, digest, run, dropped };
        let number = self.entries.insert(fields, hash, content);
        if run > 0 {
            self.runs.put_in(run, number, self.entries.base());
        }
        if let Some(grounds) = grounds {
            self.renew(grounds.of, now);
            self.entries.favour(number, grounds.of);
            self.counts.duplicates += 1;
            return Ok(());
        }
        self.counts.new += 1;
        self.kept.insert(number, key, &self.entries)
    }

    /// Forgets a document, and those that were dropped in its favour, whose ids are given: whoever sends them again has a new verdict. `None` where there is
    /// no such document.
    pub(crate) fn delete(&mut self, now: u64, id: &[u8], viewer: u32) -> Option<Vec<Box<[u8]>>> {
        self.expire(now);
        let number = self.entry(id, viewer)?.number;
        let orphans = self.take_out(number);
        self.counts.deleted += 1;
        self.counts.orphans += orphans.len() as u64;
        Some(orphans)
    }

    /// Whether a run is isolated, and sees a document of this id that it has not brought: what it does counts for others when it is committed, so it cannot delete
    /// that.
    pub(crate) fn is_of_others(&mut self, now: u64, id: &[u8], viewer: u32) -> bool {
        self.expire(now);
        self.runs.is_isolated(viewer) && self.entry(id, viewer).is_some_and(|entry| entry.run() != viewer)
    }

    /// The document of an id, as a run sees it.
    pub(crate) fn entry(&self, id: &[u8], viewer: u32) -> Option<Entry<'_>> {
        self.entries.find(id, self.entries.hash(id), self.runs.seen_by(viewer))
    }
}

/// A document that comes.
#[derive(Clone, Debug)]
pub(crate) struct Arrival<'a> {
    pub now: u64,
    pub id: &'a [u8],
    /// The run that it comes with; 0 for none.
    pub run: u32,
    /// Whether it is searched for; else it is kept whatever there is.
    pub search: bool,
    /// Why it is refused where it is not there already.
    pub refused: Option<Refused>,
}

/// A document that was taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Its number.
    pub number: u64,
    /// What its verdict rests on; nothing where it is kept.
    pub grounds: Option<Grounds>,
    /// The run that it came with; 0 for none.
    pub run: u32,
    /// Whether it was kept whatever there was; told of runs alone, for what comes with none is never compared again.
    pub forced: bool,
}
