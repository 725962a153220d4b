//! The documents that others are compared with: how they are found, by fingerprints or by sets of features.

use crate::content::Content;
use crate::document::{Key, Measure};
use crate::entries::{Entries, Entry, Grounds};
use crate::index::FingerprintIndex;
use crate::prefetch::Prefetched;
use crate::settings::{Comparison, Settings};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use twinsplit_core::join::growing::{GrowingIndex, Room};
use twinsplit_core::similarity::text::TextComparer;
use twinsplit_core::similarity::{Score, Similarity};
use twinsplit_core::sketch::simhash::Bits;
use twinsplit_io::error::Result;

/// The documents of a namespace that are kept, as others find them.
#[derive(Debug)]
pub(crate) struct KeptIndex {
    by: By,
    /// The hashes of texts that have too few features for anything else, with their numbers.
    texts: BTreeSet<(u128, u64)>,
    /// Whether nothing is put in or taken out until all are put in together, and nobody asks.
    deferred: bool,
}

#[derive(Debug)]
enum By {
    Fingerprints(Box<Fingerprints>),
    Sets(Box<Sets>),
}

#[derive(Debug)]
struct Fingerprints {
    index: FingerprintIndex,
    bits: Bits,
    distance: u32,
    /// What was searched for before it is asked for.
    prefetched: Prefetched,
    near: Vec<(u64, u32)>,
    /// The first number that the index may hold.
    cut: u64,
    comparer: Option<TextComparer>,
    /// Bytes of the index when it was last looked at, and how many were put in since.
    bytes: (u64, u32),
}

#[derive(Debug)]
struct Sets {
    similarity: Similarity,
    index: GrowingIndex,
    room: Room,
}

/// How often the index of fingerprints is asked for its bytes.
const ASKED: u32 = 1024;
/// How many documents may be gone before their fingerprints are.
const CUT: u64 = 4096;

impl KeptIndex {
    /// None.
    pub fn new(settings: &Settings) -> Self {
        let by = match &settings.comparison {
            Comparison::Fingerprints { bits, distance, check } => By::Fingerprints(Box::new(Fingerprints {
                index: FingerprintIndex::new(*bits, *distance),
                bits: *bits,
                distance: *distance,
                prefetched: Prefetched::default(),
                near: Vec::new(),
                cut: 0,
                comparer: check.map(TextComparer::new),
                bytes: (0, 0),
            })),
            Comparison::Sets(similarity) => By::Sets(Box::new(Sets {
                similarity: *similarity,
                index: GrowingIndex::new(*similarity),
                room: Room::default(),
            })),
        };
        Self { by, texts: BTreeSet::new(), deferred: false }
    }

    /// None, until [`fill`](Self::fill) puts all in together.
    pub fn to_be_filled(settings: &Settings) -> Self {
        Self { deferred: true, ..Self::new(settings) }
    }

    /// Bytes that it takes, about.
    pub fn bytes(&self) -> u64 {
        let index = match &self.by {
            By::Fingerprints(by) => by.bytes.0,
            By::Sets(by) => by.index.memory(),
        };
        index + 48 * self.texts.len() as u64
    }

    /// Searches for documents of these fingerprints together: they are asked for next, in this order.
    pub fn prefetch(&mut self, values: impl Iterator<Item = u128>) {
        if let By::Fingerprints(by) = &mut self.by {
            by.prefetched.search(&by.index, values);
        }
    }

    /// Those that were searched for have been asked for.
    pub fn end_prefetch(&mut self) {
        if let By::Fingerprints(by) = &mut self.by {
            by.prefetched.forget();
        }
    }

    /// The first that is like a document, of those that count.
    pub fn find(
        &mut self,
        (key, content): (Key, Option<&Content>),
        entries: &Entries,
        counts: impl Fn(&Entry<'_>) -> bool,
    ) -> Option<Grounds> {
        match (key, &mut self.by) {
            (Key::Text(hash), _) => {
                let mut equal = self.texts.range((hash, 0)..=(hash, u64::MAX));
                let (_, of) = equal.find(|(_, of)| entries.get(*of).is_some_and(|entry| counts(&entry)))?;
                Some(Grounds { of: *of, distance: 0, measure: Measure::EqualText })
            }
            (Key::Fingerprint { value, most }, By::Fingerprints(by)) => {
                by.find((value, most), content, entries, counts)
            }
            (Key::Set, By::Sets(by)) => by.find(content?.set()?, entries, counts),
            _ => None,
        }
    }

    /// Puts in a document that is kept, whose number is larger than all before.
    ///
    /// # Errors
    /// The index cannot be built.
    pub fn insert(&mut self, number: u64, key: Key, entries: &Entries) -> Result<()> {
        if self.deferred {
            return Ok(());
        }
        match (key, &mut self.by) {
            (Key::Text(hash), _) => drop(self.texts.insert((hash, number))),
            (Key::Fingerprint { value, .. }, By::Fingerprints(by)) => return by.insert(number, value),
            (Key::Set, By::Sets(by)) => {
                if let Some(set) = set_of(entries, number) {
                    by.index.insert(number, set, |number| set_of(entries, number));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Puts in all that are kept, where they wait for that.
    ///
    /// # Errors
    /// The index cannot be built.
    pub fn fill(&mut self, entries: &Entries) -> Result<()> {
        if !std::mem::take(&mut self.deferred) {
            return Ok(());
        }
        let keys = || entries.all().filter(Entry::is_kept).map(|entry| (entry.number, entry.key()));
        self.texts.extend(keys().filter_map(|(number, key)| match key {
            Key::Text(hash) => Some((hash, number)),
            _ => None,
        }));
        match &mut self.by {
            By::Fingerprints(by) => {
                let fingerprints = keys().filter_map(|(number, key)| match key {
                    Key::Fingerprint { value, .. } => Some((number, value)),
                    _ => None,
                });
                by.index = FingerprintIndex::of(by.bits, by.distance, fingerprints)?;
                by.bytes = (by.index.memory(), 0);
            }
            By::Sets(by) => {
                let numbers = keys().filter(|(_, key)| *key == Key::Set).map(|(number, _)| number);
                let set = |number| set_of(entries, number);
                by.index = GrowingIndex::over(by.similarity, numbers.collect(), set);
            }
        }
        Ok(())
    }

    /// Takes out a document that was kept.
    pub fn remove(&mut self, number: u64, key: Key, content: Option<&Content>) {
        if self.deferred {
            return;
        }
        match (key, &mut self.by) {
            (Key::Text(hash), _) => drop(self.texts.remove(&(hash, number))),
            (Key::Fingerprint { .. }, By::Fingerprints(by)) => by.index.remove(number),
            (Key::Set, By::Sets(by)) => {
                content.and_then(Content::set).map(|set| by.index.remove(number, set));
            }
            _ => {}
        }
    }

    /// Takes out the first of all; it may still be there until others are forgotten with it.
    pub fn remove_first(&mut self, number: u64, key: Key, content: Option<&Content>) {
        match key {
            Key::Fingerprint { .. } => {}
            _ => self.remove(number, key, content),
        }
    }

    /// There is nothing before this number.
    pub fn begins_at(&mut self, base: u64) {
        if let By::Fingerprints(by) = &mut self.by
            && !self.deferred
            && base - by.cut >= CUT
        {
            by.cut = base;
            by.index.expire_before(base);
        }
    }

    /// By what a document is like another one of the same content.
    pub fn measure_of_same(&mut self, one: &Entry<'_>, other: &Entry<'_>) -> Measure {
        match (one.key(), &mut self.by) {
            (Key::Fingerprint { .. }, By::Fingerprints(by)) => match &mut by.comparer {
                None => Measure::Hamming,
                Some(comparer) => alike(comparer, one.content, other.content).unwrap_or(Measure::Hamming),
            },
            (Key::Set, By::Sets(by)) => {
                let size = one.content.and_then(Content::set).map_or(0, <[u64]>::len) as u64;
                set_measure(by.similarity, size, [size, size])
            }
            _ => Measure::EqualText,
        }
    }
}

impl Fingerprints {
    fn find(
        &mut self,
        (value, most): (u128, u32),
        content: Option<&Content>,
        entries: &Entries,
        counts: impl Fn(&Entry<'_>) -> bool,
    ) -> Option<Grounds> {
        let Self { index, distance, prefetched, near, comparer, .. } = self;
        prefetched.near(index, value, *distance, near);
        near.iter().find_map(|(of, distance)| {
            let (of, distance) = (*of, *distance);
            let entry = entries.get(of).filter(&counts)?;
            let Key::Fingerprint { most: theirs, .. } = entry.key() else { return None };
            let measure = measured((distance, most.min(theirs)), comparer, [entry.content, content])?;
            Some(Grounds { of, distance, measure })
        })
    }

    fn insert(&mut self, number: u64, value: u128) -> Result<()> {
        let inserted = self.index.insert(number, value);
        self.prefetched.put_in(number, value);
        self.bytes.1 += 1;
        if self.bytes.1 == ASKED {
            self.bytes = (self.index.memory(), 0);
        }
        inserted
    }
}

impl Sets {
    fn find(
        &mut self,
        set: &[u64],
        entries: &Entries,
        counts: impl Fn(&Entry<'_>) -> bool,
    ) -> Option<Grounds> {
        let Self { similarity, index, room } = self;
        let mut found = None;
        index.search(
            set,
            |number| set_of(entries, number),
            room,
            |of, overlap| {
                let entry = entries.get(of).filter(&counts);
                let Some(size) = entry.and_then(|entry| entry.content?.set()).map(<[u64]>::len) else {
                    return ControlFlow::Continue(());
                };
                let measure = set_measure(*similarity, overlap, [set.len() as u64, size as u64]);
                found = Some(Grounds { of, distance: 0, measure });
                ControlFlow::Break(())
            },
        );
        found
    }
}

/// By what documents are alike whose fingerprints differ in so many bits, of which so many are allowed; the content of the kept one first.
fn measured(
    (distance, most): (u32, u32),
    comparer: &mut Option<TextComparer>,
    [kept, content]: [Option<&Content>; 2],
) -> Option<Measure> {
    if distance > most {
        return None;
    }
    match comparer {
        None => Some(Measure::Hamming),
        Some(comparer) => alike(comparer, kept, content),
    }
}

/// In how many bits a document differs from one that is kept, and by what they are alike, without an index; sets are never.
pub(crate) fn near(
    kept: (Key, Option<&Content>),
    document: (Key, Option<&Content>),
    comparer: &mut Option<TextComparer>,
) -> Option<(u32, Measure)> {
    match (kept.0, document.0) {
        (Key::Text(x), Key::Text(y)) if x == y => Some((0, Measure::EqualText)),
        (Key::Fingerprint { value: x, most: theirs }, Key::Fingerprint { value: y, most }) => {
            let distance = (x ^ y).count_ones();
            let measure = measured((distance, most.min(theirs)), comparer, [kept.1, document.1])?;
            Some((distance, measure))
        }
        _ => None,
    }
}

fn set_of(entries: &Entries, number: u64) -> Option<&[u64]> {
    entries.get(number)?.content?.set()
}

/// How alike two contents are, where they are enough.
pub(crate) fn alike(
    comparer: &mut TextComparer,
    one: Option<&Content>,
    other: Option<&Content>,
) -> Option<Measure> {
    let score = comparer.compare(one?.checked()?, other?.checked()?)?;
    let Score::Share(share) = score else { return None };
    Some(Measure::Text(comparer.measure(), share))
}

/// How alike sets of these sizes are that share so many features, of which the first one is the query.
fn set_measure(similarity: Similarity, overlap: u64, sizes: [u64; 2]) -> Measure {
    let measure = similarity.measure();
    let score = measure.score(overlap, sizes[0], sizes[1]);
    Measure::Set(
        measure,
        match score {
            Score::Share(share) => share,
            Score::Count(count) => u32::try_from(count).unwrap_or(u32::MAX),
        },
    )
}
