//! The documents of a namespace: by number, by id, and each with those that were dropped in its favour.

use crate::chunk::{self, CHUNK, Chunk, Fields};
pub(crate) use crate::chunk::{Entry, Grounds, NONE};
use crate::content::Content;
use crate::document::Key;
use crate::growing_table::GrowingTable;
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use twinsplit_core::hash::mix;

/// The lowest bytes of a number, as tables of ids have it: all numbers that are there at one time differ in them.
type Low = [u8; 5];

/// Numbers that are there at one time differ by less.
pub(crate) const WINDOW: u64 = 1 << 40;

/// All documents of a namespace.
#[derive(Debug)]
pub(crate) struct Entries {
    /// By number; nothing where no document is left.
    chunks: VecDeque<Option<Box<Chunk>>>,
    /// The number of the first chunk.
    first: u64,
    /// Before this number there is nothing.
    base: u64,
    /// The number of the next document.
    next: u64,
    /// Numbers by the hashes of ids.
    ids: GrowingTable<Low>,
    /// Kept documents, each with the last one that was dropped in its favour, where there is one.
    favoured: GrowingTable<[Low; 2]>,
    hasher: RandomState,
    held: u64,
    kept: u64,
    /// Bytes of chunks.
    bytes: u64,
}

/// Whether the documents of a run are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// They are, before others.
    First,
    /// Where there is no other.
    Last,
    /// They are not.
    Not,
}

/// A document that was taken out.
pub(crate) struct Gone {
    pub id: Box<[u8]>,
    pub key: Key,
    pub run: u32,
    pub is_kept: bool,
    pub content: Option<Box<Content>>,
}

impl Default for Entries {
    fn default() -> Self {
        Self {
            chunks: VecDeque::new(),
            first: 0,
            base: 0,
            next: 0,
            ids: GrowingTable::default(),
            favoured: GrowingTable::default(),
            hasher: RandomState::new(),
            held: 0,
            kept: 0,
            bytes: 0,
        }
    }
}

fn low(number: u64) -> Low {
    let [a, b, c, d, e, ..] = number.to_le_bytes();
    [a, b, c, d, e]
}

/// The number of some lowest bytes, from `base` on.
fn whole([a, b, c, d, e]: Low, base: u64) -> u64 {
    let low = u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]);
    base + (low.wrapping_sub(base) & (WINDOW - 1))
}

/// The hash by which a kept document is looked up.
fn hash_of([a, b, c, d, e]: Low) -> u64 {
    mix(u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]))
}

fn chunk_of(chunks: &VecDeque<Option<Box<Chunk>>>, first: u64, number: u64) -> Option<&Chunk> {
    let place = (number / CHUNK).checked_sub(first)?;
    chunks.get(place as usize)?.as_deref()
}

fn entry_of(chunks: &VecDeque<Option<Box<Chunk>>>, first: u64, number: u64) -> Option<Entry<'_>> {
    chunk_of(chunks, first, number)?.get(number, number % CHUNK)
}

impl Entries {
    /// How many there are.
    pub fn len(&self) -> u64 {
        self.held
    }

    /// How many of them are kept.
    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// The number of the next document.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Before this number there is nothing.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Bytes that they take, about.
    pub fn bytes(&self) -> u64 {
        self.bytes
            + 8 * self.chunks.len() as u64
            + GrowingTable::<Low>::BYTES * self.ids.len()
            + GrowingTable::<[Low; 2]>::BYTES * self.favoured.len()
    }

    /// The hash of an id.
    pub fn hash(&self, id: &[u8]) -> u64 {
        self.hasher.hash_one(id)
    }

    /// The document of an id, whose hash is given; documents of several runs may have the same. What comes with a run is asked of `seen`.
    pub fn find(&self, id: &[u8], hash: u64, seen: impl Fn(u32) -> Seen) -> Option<Entry<'_>> {
        let (mut found, mut other) = (None, None);
        let is_first = |low: &Low| {
            let entry = self.get(whole(*low, self.base)).filter(|entry| entry.id() == id);
            match entry.map(|entry| seen(entry.run())) {
                Some(Seen::First) => found = entry,
                Some(Seen::Last) => other = entry,
                Some(Seen::Not) | None => {}
            }
            found.is_some()
        };
        self.ids.find(hash, is_first);
        found.or(other)
    }

    /// The document of a number.
    pub fn get(&self, number: u64) -> Option<Entry<'_>> {
        entry_of(&self.chunks, self.first, number)
    }

    /// A number, or the first behind it before which there is no document, where the chunk that it begins has none.
    pub fn skip_empty(&self, mut number: u64) -> u64 {
        while number.is_multiple_of(CHUNK)
            && number < self.next
            && chunk_of(&self.chunks, self.first, number).is_none()
        {
            number += CHUNK;
        }
        number
    }

    /// All of them, by number.
    pub fn all(&self) -> impl Iterator<Item = Entry<'_>> {
        let chunks = (self.first..).zip(&self.chunks).filter_map(|(at, chunk)| Some((at, chunk.as_deref()?)));
        chunks
            .flat_map(|(at, chunk)| (0..CHUNK).filter_map(move |place| chunk.get(at * CHUNK + place, place)))
    }

    /// Many documents come: the table of ids is made for them at once. There are none yet.
    pub fn make_tables_for(&mut self, documents: u64) {
        self.ids = GrowingTable::of_tables_for(documents);
    }

    /// Does something with the chunk of a number, and keeps count of its bytes.
    fn change<T>(&mut self, number: u64, change: impl FnOnce(&mut Chunk, u64) -> T) -> Option<T> {
        let place = (number / CHUNK).checked_sub(self.first)?;
        let chunk = self.chunks.get_mut(place as usize)?.as_deref_mut()?;
        let before = chunk.memory();
        let out = change(chunk, number % CHUNK);
        self.bytes = self.bytes + chunk.memory() - before;
        Some(out)
    }

    fn with_bytes(&mut self, number: u64, change: impl FnOnce(&mut [u8])) {
        self.change(number, |chunk, place| chunk.get_mut(place).map(change));
    }

    /// A document was found at this time.
    pub fn renew(&mut self, number: u64, time: u64) {
        self.with_bytes(number, |record| chunk::renew(record, time));
    }

    /// Leaves numbers without documents up to this one; whether there may be so many.
    pub fn skip_to(&mut self, number: u64) -> bool {
        if self.held == 0 {
            // There is nothing before.
            self.chunks.clear();
            (self.first, self.base, self.next, self.bytes) = (number / CHUNK, number, number, 0);
            (0..number % CHUNK).for_each(|_| self.skip());
            return true;
        }
        if number - self.base >= WINDOW {
            return false;
        }
        while self.next < number {
            if self.next.is_multiple_of(CHUNK) && number - self.next >= CHUNK {
                self.seal();
                self.chunks.push_back(None);
                self.next += CHUNK;
            } else {
                self.skip();
                self.next += 1;
            }
        }
        true
    }

    fn skip(&mut self) {
        let chunk = self.open();
        let before = chunk.memory();
        chunk.skip();
        let more = chunk.memory() - before;
        self.bytes += more;
    }

    /// The chunk that the next document comes into.
    fn open(&mut self) -> &mut Chunk {
        if self.chunks.is_empty() {
            self.first = self.next / CHUNK;
        }
        if self.chunks.back().is_none_or(|last| last.as_deref().is_none_or(|last| last.len() == CHUNK)) {
            self.seal();
            self.chunks.push_back(None);
        }
        let last = self.chunks.len() - 1;
        let bytes = &mut self.bytes;
        self.chunks[last].get_or_insert_with(|| {
            let chunk = Box::<Chunk>::default();
            *bytes += chunk.memory();
            chunk
        })
    }

    /// What is full gives back what it does not need.
    fn seal(&mut self) {
        let Some(place) = self.chunks.back_mut() else { return };
        match place {
            Some(chunk) if chunk.live == 0 => {
                self.bytes -= chunk.memory();
                *place = None;
            }
            Some(chunk) => chunk.seal(),
            None => {}
        }
    }

    /// Takes a document in, whose id is not there, and gives its number.
    pub fn insert(&mut self, fields: Fields<'_>, hash: u64, content: Option<Box<Content>>) -> u64 {
        let number = self.next;
        let chunk = self.open();
        let before = chunk.memory();
        chunk.push(&fields, content);
        let more = chunk.memory() - before;
        self.bytes += more;
        self.next += 1;
        self.held += 1;
        self.kept += u64::from(fields.dropped.is_none());
        let Self { chunks, first, base, ids, hasher, .. } = self;
        let rehash = |low: &Low| {
            let entry = entry_of(chunks, *first, whole(*low, *base));
            hasher.hash_one(entry.map_or(&[][..], |entry| entry.id()))
        };
        ids.insert(hash, low(number), rehash);
        number
    }

    /// Of those that were dropped in favour of a document, the last one.
    fn last(&self, of: u64) -> Option<u64> {
        let found = self.favoured.find(hash_of(low(of)), |[known, _]| *known == low(of));
        found.map(|[_, last]| whole(*last, self.base))
    }

    /// Says which one is the last, and gives the one before.
    fn put_last(&mut self, of: u64, number: u64) -> Option<u64> {
        let before = self.last(of);
        let (of, number) = (low(of), low(number));
        match self.favoured.find_mut(hash_of(of), |[known, _]| *known == of) {
            Some(known) => *known = [of, number],
            None => self.favoured.insert(hash_of(of), [of, number], |[of, _]| hash_of(*of)),
        }
        before
    }

    /// Links a document that was dropped to those that were dropped for the same.
    pub fn favour(&mut self, number: u64, of: u64) {
        let after = self.put_last(of, number).unwrap_or(NONE);
        self.with_bytes(number, |record| chunk::link(record, 1, after));
        self.with_bytes(after, |record| chunk::link(record, 0, number));
    }

    fn unlink(&mut self, of: u64, [before, after]: [u64; 2]) {
        self.with_bytes(before, |record| chunk::link(record, 1, after));
        self.with_bytes(after, |record| chunk::link(record, 0, before));
        match (before, after) {
            (NONE, NONE) => drop(self.favoured.remove(hash_of(low(of)), |[known, _]| *known == low(of))),
            (NONE, after) => drop(self.put_last(of, after)),
            _ => {}
        }
    }

    /// Says that a document was dropped for this, whatever was said of it before.
    pub fn drop_for(&mut self, number: u64, grounds: Grounds) {
        let Some(entry) = self.get(number) else { return };
        let mut fields = entry.fields();
        let before = fields.dropped.replace((grounds, [NONE; 2]));
        let mut record = Vec::new();
        chunk::encode(&fields, &mut record);
        match before {
            None => self.kept -= 1,
            Some((grounds, links)) => self.unlink(grounds.of, links),
        }
        self.change(number, |chunk, place| chunk.replace(place, &record));
        self.favour(number, grounds.of);
    }

    /// Takes a document out. What was dropped in its favour has to be taken out before.
    pub fn remove(&mut self, number: u64) -> Option<Gone> {
        let fields = self.get(number)?.fields();
        let mut gone = Gone {
            id: fields.id.into(),
            key: fields.key,
            run: fields.run,
            is_kept: fields.dropped.is_none(),
            content: None,
        };
        let hash = self.hash(fields.id);
        if let Some((grounds, links)) = fields.dropped {
            self.unlink(grounds.of, links);
        }
        self.ids.remove(hash, |other| *other == low(number));
        self.held -= 1;
        self.kept -= u64::from(gone.is_kept);
        let is_open = self.next.div_ceil(CHUNK) == number / CHUNK + 1;
        let left = self.change(number, |chunk, place| {
            gone.content = chunk.remove(place);
            chunk.live
        });
        if left == Some(0) && !is_open {
            let place = (number / CHUNK - self.first) as usize;
            let chunk = self.chunks.get_mut(place).and_then(Option::take);
            self.bytes -= chunk.map_or(0, |chunk| chunk.memory());
        }
        self.advance();
        Some(gone)
    }

    /// Finds the first number of a document, and lets go of what is before.
    fn advance(&mut self) {
        while self.base < self.next {
            match chunk_of(&self.chunks, self.first, self.base) {
                None => self.base = self.next.min((self.base / CHUNK + 1) * CHUNK),
                Some(chunk) if chunk.get(self.base, self.base % CHUNK).is_none() => self.base += 1,
                Some(_) => break,
            }
        }
        while self.first < self.base / CHUNK && self.chunks.len() > 1 {
            if let Some(chunk) = self.chunks.pop_front().flatten() {
                self.bytes -= chunk.memory();
            }
            self.first += 1;
        }
    }

    /// The numbers of those that were dropped in favour of a document, ascending.
    pub fn dropped_for(&self, number: u64) -> Vec<u64> {
        let next = |number: &u64| self.get(*number)?.fields().dropped.map(|(_, [_, after])| after);
        let mut all: Vec<u64> =
            std::iter::successors(self.last(number), next).take_while(|one| *one != NONE).collect();
        all.sort_unstable();
        all
    }
}
