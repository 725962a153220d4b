//! Documents in little room: those of numbers that follow one another, as bytes.
//!
//! A document takes as many bytes as it has to, and its place among them is all that is kept besides. What is taken out leaves a hole; when
//! there are more bytes in holes than in documents, these are moved together.

use crate::codec::{kind_of, measure_of};
use crate::content::Content;
use crate::document::{Key, Measure, sent_digest};

/// How many numbers a chunk has.
pub(crate) const CHUNK: u64 = 1024;

/// No number of a document.
pub(crate) const NONE: u64 = u64::MAX;

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

/// All of a document but its number and its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'f> {
    /// Its id.
    pub id: &'f [u8],
    /// When it came, or was last found where that counts; milliseconds since 1970.
    pub time: u64,
    /// Whether it was found after it came, and that counts.
    pub renewed: bool,
    /// Whether it is kept whatever it is like.
    pub forced: bool,
    /// By what it finds others.
    pub key: Key,
    /// See [`crate::Document::digest`].
    pub digest: u64,
    /// The run that it came with; 0 where it came with none.
    pub run: u32,
    /// What it was dropped for, and those before and after it that were dropped for the same, or [`NONE`].
    pub dropped: Option<(Grounds, [u64; 2])>,
}

// The first byte: what there is of it, and the kind of its key in the highest three bits.
const DROPPED: u8 = 1;
const RENEWED: u8 = 2;
const FORCED: u8 = 4;
/// Its digest is not the one that follows from a fingerprint that was sent.
const DIGEST: u8 = 8;
const IN_RUN: u8 = 16;
const KIND: u32 = 5;

const NOTHING: u8 = 0;
const TEXT: u8 = 1;
const BITS_64: u8 = 2;
const BITS_128: u8 = 3;
const SET: u8 = 4;

/// Bytes of a key, by its kind.
const KEYS: [usize; 5] = [0, 16, 8, 16, 0];

/// Where the time begins, behind the first byte and that of the distances.
const TIME: usize = 2;
const KEY: usize = 8;
/// Of what a document was dropped for: the three numbers, the measure, the share.
const LINKS: usize = 3 * 8 + 1 + 4;

/// The latest time that is told from others, in the year 10889.
pub(crate) const LATEST: u64 = (1 << 48) - 1;

/// A document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'e> {
    /// Its number in the namespace: it came before those with larger ones.
    pub number: u64,
    bytes: &'e [u8],
    /// What is compared of it beside its key.
    pub content: Option<&'e Content>,
}

fn fixed<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(fixed(bytes, at))
}

fn put(bytes: &mut [u8], at: usize, part: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + part.len()) {
        place.copy_from_slice(part);
    }
}

/// Where the digest, the links, the run and the id begin.
fn places(flags: u8) -> [usize; 4] {
    let there = |flag: u8, bytes: usize| if flags & flag > 0 { bytes } else { 0 };
    let digest = KEY + KEYS.get(usize::from(flags >> KIND)).copied().unwrap_or(0);
    let links = digest + there(DIGEST, 8);
    let run = links + there(DROPPED, LINKS);
    [digest, links, run, run + there(IN_RUN, 4)]
}

impl<'e> Entry<'e> {
    fn flags(&self) -> u8 {
        self.bytes.first().copied().unwrap_or(0)
    }

    pub fn id(&self) -> &'e [u8] {
        self.bytes.get(places(self.flags())[3]..).unwrap_or_default()
    }

    pub fn time(&self) -> u64 {
        let [a, b, c, d, e, f] = fixed(self.bytes, TIME);
        u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
    }

    pub fn renewed(&self) -> bool {
        self.flags() & RENEWED > 0
    }

    pub fn is_kept(&self) -> bool {
        self.flags() & DROPPED == 0
    }

    pub fn key(&self) -> Key {
        let most = self.bytes.get(1).map_or(0, |distances| u32::from(distances & 15));
        match self.flags() >> KIND {
            NOTHING => Key::Nothing,
            SET => Key::Set,
            TEXT => Key::Text(u128::from_le_bytes(fixed(self.bytes, KEY))),
            BITS_64 => Key::Fingerprint { value: long(self.bytes, KEY).into(), most },
            _ => Key::Fingerprint { value: u128::from_le_bytes(fixed(self.bytes, KEY)), most },
        }
    }

    pub fn digest(&self) -> u64 {
        match self.key() {
            Key::Fingerprint { value, .. } if self.flags() & DIGEST == 0 => sent_digest(value),
            _ => long(self.bytes, places(self.flags())[0]),
        }
    }

    pub fn run(&self) -> u32 {
        if self.flags() & IN_RUN == 0 {
            return 0;
        }
        u32::from_le_bytes(fixed(self.bytes, places(self.flags())[2]))
    }

    /// What its verdict rests on.
    pub fn grounds(&self) -> Option<Grounds> {
        self.fields().dropped.map(|(grounds, _)| grounds)
    }

    pub fn fields(&self) -> Fields<'e> {
        let dropped = (!self.is_kept()).then(|| {
            let at = places(self.flags())[1];
            let distance = self.bytes.get(1).map_or(0, |distances| u32::from(distances >> 4));
            let share = u32::from_le_bytes(fixed(self.bytes, at + 25));
            let kind = self.bytes.get(at + 24).copied().unwrap_or(0);
            let measure = measure_of(kind, || Some(share)).unwrap_or(Measure::Hamming);
            let grounds = Grounds { of: long(self.bytes, at), distance, measure };
            (grounds, [long(self.bytes, at + 8), long(self.bytes, at + 16)])
        });
        Fields {
            id: self.id(),
            time: self.time(),
            renewed: self.renewed(),
            forced: self.flags() & FORCED > 0,
            key: self.key(),
            digest: self.digest(),
            run: self.run(),
            dropped,
        }
    }
}

/// Appends a document as bytes.
pub(crate) fn encode(fields: &Fields<'_>, out: &mut Vec<u8>) {
    let Fields { id, time, renewed, forced, key, digest, run, dropped } = fields;
    let (kind, most, follows) = match key {
        Key::Nothing => (NOTHING, 0, false),
        Key::Set => (SET, 0, false),
        Key::Text(_) => (TEXT, 0, false),
        Key::Fingerprint { value, most } => {
            let kind = if value >> 64 == 0 { BITS_64 } else { BITS_128 };
            (kind, *most, sent_digest(*value) == *digest)
        }
    };
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    let flags = kind << KIND
        | flag(dropped.is_some(), DROPPED)
        | flag(*renewed, RENEWED)
        | flag(*forced, FORCED)
        | flag(!follows, DIGEST)
        | flag(*run > 0, IN_RUN);
    let distance = dropped.map_or(0, |(grounds, _)| grounds.distance);
    out.extend_from_slice(&[flags, (most & 15) as u8 | (distance as u8) << 4]);
    out.extend_from_slice(&time.to_le_bytes()[..6]);
    match key {
        Key::Nothing | Key::Set => {}
        Key::Text(value) | Key::Fingerprint { value, .. } => {
            out.extend_from_slice(&value.to_le_bytes()[..KEYS[usize::from(kind)]]);
        }
    }
    if !follows {
        out.extend_from_slice(&digest.to_le_bytes());
    }
    if let Some((Grounds { of, measure, .. }, [before, after])) = dropped {
        [of, before, after].into_iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
        let (kind, share) = kind_of(*measure);
        out.push(kind);
        out.extend_from_slice(&share.unwrap_or(0).to_le_bytes());
    }
    if *run > 0 {
        out.extend_from_slice(&run.to_le_bytes());
    }
    out.extend_from_slice(id);
}

/// Writes another time into a document, which was found then.
pub(crate) fn renew(record: &mut [u8], time: u64) {
    put(record, TIME, &time.to_le_bytes()[..6]);
    if let Some(flags) = record.first_mut() {
        *flags |= RENEWED;
    }
}

/// Writes who stands before or after a document, 0 or 1, in the list of those that were dropped for the same.
pub(crate) fn link(record: &mut [u8], which: usize, number: u64) {
    let links = places(record.first().copied().unwrap_or(0))[1];
    put(record, links + 8 * (1 + which), &number.to_le_bytes());
}

/// The bit of a start behind which there is nothing.
const GONE: u32 = 1 << 31;

/// Words of a bit for each number.
const WORDS: usize = CHUNK as usize / 64;

/// Documents of [`CHUNK`] numbers that follow one another. A number without a document takes a bit: a shard has one in so many as there are shards.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    /// How many numbers it has by now.
    numbers: u64,
    /// A bit for each number that has had a document.
    had: [u64; WORDS],
    /// How many of them are before each word.
    before: [u16; WORDS],
    /// Where the documents begin, of these alone.
    starts: Vec<u32>,
    /// What is compared of documents beside their keys, where there is something.
    contents: Vec<Option<Box<Content>>>,
    /// Bytes of these.
    outside: usize,
    /// Documents that are there.
    pub live: u64,
    /// Bytes of those that are not.
    dead: usize,
}

impl Chunk {
    /// How many numbers it has by now.
    pub fn len(&self) -> u64 {
        self.numbers
    }

    /// Bytes that it takes, about.
    pub fn memory(&self) -> u64 {
        (size_of::<Self>()
            + self.bytes.len()
            + 4 * self.starts.len()
            + 8 * self.contents.len()
            + self.outside) as u64
    }

    /// Which of its documents has the number at a place.
    fn document(&self, place: u64) -> Option<usize> {
        let (word, bit) = ((place / 64) as usize, place % 64);
        let had = *self.had.get(word)?;
        let below = (had & ((1 << bit) - 1)).count_ones() as usize;
        (had >> bit & 1 == 1).then(|| usize::from(self.before[word]) + below)
    }

    /// The next number, which has a document or none.
    fn number(&mut self, has: bool) {
        let (word, bit) = ((self.numbers / 64) as usize, self.numbers % 64);
        if let Some(had) = self.had.get_mut(word) {
            if bit == 0 {
                self.before[word] = self.starts.len() as u16;
            }
            *had |= u64::from(has) << bit;
        }
        self.numbers += 1;
    }

    fn range(&self, document: usize) -> Option<std::ops::Range<usize>> {
        let start = *self.starts.get(document).filter(|start| **start & GONE == 0)?;
        let end = self.starts.get(document + 1).map_or(self.bytes.len(), |end| (end & !GONE) as usize);
        Some(start as usize..end)
    }

    /// The document of a number, whose place among those of the chunk is given.
    pub fn get(&self, number: u64, place: u64) -> Option<Entry<'_>> {
        let document = self.document(place)?;
        let bytes = self.bytes.get(self.range(document)?)?;
        let content = self.contents.get(document).and_then(Option::as_deref);
        Some(Entry { number, bytes, content })
    }

    /// Its bytes, to be changed.
    pub fn get_mut(&mut self, place: u64) -> Option<&mut [u8]> {
        let range = self.range(self.document(place)?)?;
        self.bytes.get_mut(range)
    }

    /// Takes the document of the next number in.
    pub fn push(&mut self, fields: &Fields<'_>, content: Option<Box<Content>>) {
        self.number(true);
        let document = self.starts.len();
        self.starts.push(self.bytes.len() as u32);
        encode(fields, &mut self.bytes);
        self.live += 1;
        if content.is_some() {
            self.outside += content.as_deref().map_or(0, Content::memory);
            self.contents.resize_with(document, || None);
            self.contents.push(content);
        }
    }

    /// Leaves the next number without a document.
    pub fn skip(&mut self) {
        self.number(false);
    }

    /// Puts other bytes into the place of a document.
    pub fn replace(&mut self, place: u64, record: &[u8]) {
        let Some(document) = self.document(place) else { return };
        let Some(range) = self.range(document) else { return };
        let (before, after) = (range.len(), record.len());
        self.bytes.splice(range, record.iter().copied());
        for start in self.starts.iter_mut().skip(document + 1) {
            *start = (*start + after as u32) - before as u32;
        }
    }

    /// Takes a document out, and gives its content.
    pub fn remove(&mut self, place: u64) -> Option<Box<Content>> {
        let document = self.document(place)?;
        let range = self.range(document)?;
        self.dead += range.len();
        self.live -= 1;
        if let Some(start) = self.starts.get_mut(document) {
            *start |= GONE;
        }
        let content = self.contents.get_mut(document).and_then(Option::take);
        self.outside -= content.as_deref().map_or(0, Content::memory);
        if 2 * self.dead > self.bytes.len() {
            self.close_up();
        }
        content
    }

    fn close_up(&mut self) {
        let mut bytes = Vec::with_capacity(self.bytes.len() - self.dead);
        let mut starts = Vec::with_capacity(self.starts.len());
        for document in 0..self.starts.len() {
            let record = self.range(document).and_then(|range| self.bytes.get(range));
            starts.push(bytes.len() as u32 | if record.is_none() { GONE } else { 0 });
            bytes.extend_from_slice(record.unwrap_or_default());
        }
        (self.bytes, self.starts, self.dead) = (bytes, starts, 0);
    }

    /// Gives back what no further document needs.
    pub fn seal(&mut self) {
        self.bytes.shrink_to_fit();
        self.starts.shrink_to_fit();
    }
}
