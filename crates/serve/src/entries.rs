//! The documents of a namespace: by slot, by id, and each with those that were dropped in its favour.

use crate::document::{Document, Key, Measure, Verdict};
use hashbrown::HashTable;
use std::hash::{BuildHasher, RandomState};
use twinsplit_core::similarity::text::Content;

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;

/// A document.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its id.
    pub id: Box<[u8]>,
    /// Its number in the namespace: it came before those with larger ones.
    pub seq: u64,
    /// When it came, or was last found where that counts; milliseconds since 1970.
    pub time: u64,
    /// Its [`Key`], in less room: the halves of its number, and what it is.
    halves: [u64; 2],
    kind: u8,
    /// See [`Document::digest`].
    pub digest: u64,
    /// What the second stage compares.
    pub content: Option<Box<Content>>,
    /// Whether it was found after it came, and that counts.
    pub renewed: bool,
    /// In how many bits it differs from what it was dropped for.
    distance: u8,
    measure: Measure,
    links: Links,
}

/// Slots, or [`NONE`].
#[derive(Debug)]
struct Links {
    /// The document in whose favour it was dropped.
    of: u32,
    /// Those that were dropped in its favour, as a list: the first of them, and its own place in such a list.
    first: u32,
    previous: u32,
    next: u32,
}

/// What a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grounds {
    /// The number of the document that is kept.
    pub of: u64,
    /// In how many bits the fingerprints differ.
    pub distance: u32,
    /// By what it was found.
    pub measure: Measure,
}

/// All documents of a namespace.
#[derive(Debug)]
pub(crate) struct Entries {
    slots: Vec<Option<Entry>>,
    free: Vec<u32>,
    /// Slots by the hashes of ids, in many tables: one that is full grows at once, and nobody waits for all of them.
    ids: Vec<HashTable<u32>>,
    held: usize,
    hasher: RandomState,
    /// How many are kept.
    kept: u64,
    /// Bytes of ids and contents.
    outside: u64,
}

/// What an id takes beside its bytes, and what an entry takes in the table of ids and in the order of a namespace.
const BESIDE: u64 = 16 + 7 + 4;

/// How many tables of ids there are.
const TABLES: usize = 256;

impl Default for Entries {
    fn default() -> Self {
        let ids = (0..TABLES).map(|_| HashTable::new()).collect();
        let (slots, free, hasher) = (Vec::new(), Vec::new(), RandomState::new());
        Self { slots, free, ids, held: 0, hasher, kept: 0, outside: 0 }
    }
}

/// The table of a hash: by bits that no table looks at.
fn table(hash: u64) -> usize {
    (hash >> 48) as usize % TABLES
}

impl Entries {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.held
    }

    /// How many of them are kept.
    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// Bytes that they take, about.
    pub fn bytes(&self) -> u64 {
        let slot = size_of::<Option<Entry>>() as u64 + BESIDE;
        self.outside + slot * self.held as u64
    }

    /// The slot of an id.
    pub fn find(&self, id: &[u8]) -> Option<u32> {
        let same = |slot: &u32| self.get(*slot).is_some_and(|entry| *entry.id == *id);
        let hash = self.hasher.hash_one(id);
        self.ids.get(table(hash))?.find(hash, same).copied()
    }

    /// What is in a slot.
    pub fn get(&self, slot: u32) -> Option<&Entry> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, slot: u32) -> Option<&mut Entry> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// Puts a document in, whose id is not there: kept, or dropped in favour of what is in the slot `of`.
    pub fn insert(
        &mut self,
        (id, seq, time): (&[u8], u64, u64),
        document: Document,
        dropped: Option<(u32, u32, Measure)>,
    ) -> u32 {
        let (of, distance, measure) = dropped.unwrap_or((NONE, 0, Measure::Hamming));
        let Document { key, digest, content } = document;
        let next = match self.get_mut(of) {
            Some(kept) => std::mem::replace(&mut kept.links.first, NONE),
            None => NONE,
        };
        let (halves, kind) = packed(key);
        let links = Links { of, first: NONE, previous: NONE, next };
        let distance = distance as u8;
        let entry = Entry {
            id: id.into(),
            seq,
            time,
            halves,
            kind,
            digest,
            content,
            renewed: false,
            distance,
            measure,
            links,
        };
        self.kept += u64::from(of == NONE);
        self.outside += outside(&entry);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = Some(entry);
        }
        if let Some(kept) = self.get_mut(of) {
            kept.links.first = slot;
        }
        if let Some(after) = self.get_mut(next) {
            after.links.previous = slot;
        }
        let Self { slots, ids, hasher, .. } = self;
        let of = |slot: &u32| {
            let entry = slots.get(*slot as usize).and_then(Option::as_ref);
            hasher.hash_one(entry.map_or(&[][..], |entry| &entry.id))
        };
        let hash = hasher.hash_one(id);
        if let Some(ids) = ids.get_mut(table(hash)) {
            ids.insert_unique(hash, slot, of);
        }
        self.held += 1;
        slot
    }

    /// Takes out what is in a slot. What was dropped in its favour has to be taken out before.
    pub fn remove(&mut self, slot: u32) -> Option<Entry> {
        let entry = self.slots.get_mut(slot as usize)?.take()?;
        let hash = self.hasher.hash_one(&*entry.id);
        let ids = self.ids.get_mut(table(hash))?;
        if let Ok(found) = ids.find_entry(hash, |other| *other == slot) {
            found.remove();
        }
        self.held -= 1;
        self.free.push(slot);
        self.kept -= u64::from(entry.links.of == NONE);
        self.outside -= outside(&entry);
        if let Some(before) = self.get_mut(entry.links.previous) {
            before.links.next = entry.links.next;
        } else if let Some(kept) = self.get_mut(entry.links.of) {
            kept.links.first = entry.links.next;
        }
        if let Some(after) = self.get_mut(entry.links.next) {
            after.links.previous = entry.links.previous;
        }
        Some(entry)
    }

    /// The slots of those that were dropped in favour of what is in a slot, in the order of their numbers.
    pub fn dropped_for(&self, slot: u32) -> Vec<u32> {
        let first = self.get(slot).map_or(NONE, |entry| entry.links.first);
        let next = |slot: &u32| self.get(*slot).map(|entry| entry.links.next);
        let all = std::iter::successors(Some(first), next).take_while(|slot| *slot != NONE);
        let mut slots: Vec<u32> = all.collect();
        slots.sort_unstable_by_key(|slot| self.get(*slot).map(|entry| entry.seq));
        slots
    }

    /// What was said of the document in a slot.
    pub fn verdict(&self, entry: &Entry) -> Verdict {
        match self.get(entry.links.of) {
            None => Verdict::New,
            Some(kept) => Verdict::Duplicate {
                id: kept.id.clone(),
                distance: entry.distance.into(),
                measure: entry.measure,
            },
        }
    }

    /// What that rests on.
    pub fn grounds(&self, entry: &Entry) -> Option<Grounds> {
        let of = self.get(entry.links.of)?.seq;
        Some(Grounds { of, distance: entry.distance.into(), measure: entry.measure })
    }
}

/// The kinds of keys; distances are added to the last.
const NOTHING: u8 = 0;
const TEXT: u8 = 1;
const FINGERPRINT: u8 = 2;

fn packed(key: Key) -> ([u64; 2], u8) {
    let halves = |value: u128| [value as u64, (value >> 64) as u64];
    match key {
        Key::Nothing => ([0; 2], NOTHING),
        Key::Text(hash) => (halves(hash), TEXT),
        Key::Fingerprint { value, most } => (halves(value), FINGERPRINT + most as u8),
    }
}

impl Entry {
    /// By which other documents it is found.
    pub fn key(&self) -> Key {
        let value = u128::from(self.halves[1]) << 64 | u128::from(self.halves[0]);
        match self.kind {
            NOTHING => Key::Nothing,
            TEXT => Key::Text(value),
            kind => Key::Fingerprint { value, most: (kind - FINGERPRINT).into() },
        }
    }

    /// Whether it is kept.
    pub fn is_kept(&self) -> bool {
        self.links.of == NONE
    }
}

/// Bytes of what an entry points to.
fn outside(entry: &Entry) -> u64 {
    let content = entry.content.as_deref().map_or(0, |content| match content {
        Content::Counts(counts) => size_of::<Content>() + 16 + 16 * counts.len(),
        Content::Text(text) => size_of::<Content>() + 32 + text.len(),
    });
    (entry.id.len() + content) as u64
}
