//! All namespaces, and what can be operation of them. Nothing here knows of clocks, files or sockets: times are handed in, and what has changed is handed
//! out, as bytes for a log.

use crate::chunk::LATEST;
use crate::codec::{self, Change};
use crate::document::{Document, Key, Refused, Verdict};
use crate::namespace::{Arrival, Namespace};
use crate::settings::{Retention, Settings};
use std::collections::BTreeMap;
use twinsplit_core::similarity::text::TextComparer;

/// What is operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// What a document is, which is taken in at once.
    CheckAdd(Box<[u8]>, Document),
    /// The same of several, one after the other.
    CheckAddAll(Vec<(Box<[u8]>, Document)>),
    /// What a document is, and nothing changes.
    Check(Document),
    /// To take a document in and to keep it, whatever it is like.
    Add(Box<[u8]>, Document),
    /// To forget a document.
    Delete(Box<[u8]>),
    /// How two documents compare.
    Why(Box<[u8]>, Box<[u8]>),
    /// How many documents there are.
    Count,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// What a document is.
    Verdict(Verdict),
    /// The same of several, in their order.
    Verdicts(Vec<Result<Verdict, Refused>>),
    /// The ids of the documents that were dropped in favour of what is deleted; `None` where there was no such document.
    Orphans(Option<Vec<Box<[u8]>>>),
    /// How two documents compare; `None` where one of them is not there.
    Why(Option<Box<Compared>>),
    /// How many documents there are, and how many of them are kept.
    Count(u64, u64),
    /// The request is refused.
    Refused(Refused),
}

/// How two documents compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// What was said of each.
    pub verdicts: [Verdict; 2],
    /// In how many bits their fingerprints differ, where both have one, and in how many they may.
    pub distance: Option<(u32, u32)>,
    /// How alike the texts are, in millionths, where there is a second stage and they are alike enough.
    pub share: Option<u32>,
    /// Whether the texts are equal, where both are too short for fingerprints.
    pub equal_texts: Option<bool>,
    /// Whether one would be a duplicate of the other.
    pub alike: bool,
}

/// All namespaces.
#[derive(Debug)]
pub struct State {
    settings: Settings,
    namespaces: BTreeMap<Box<[u8]>, Namespace>,
    /// The latest time that was handed in.
    now: u64,
    /// Bytes of all namespaces, as they were after the last change.
    bytes: u64,
    /// The bytes of a change.
    change: Vec<u8>,
}

impl State {
    /// No namespaces.
    pub fn new(settings: Settings) -> Self {
        Self { settings, namespaces: BTreeMap::new(), now: 0, bytes: 0, change: Vec::new() }
    }

    /// What it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// From now on documents are kept so long.
    pub(crate) fn keep(&mut self, retention: Retention) {
        self.settings.retention = retention;
        self.namespaces.values_mut().for_each(|namespace| namespace.keep(retention));
    }

    /// The latest time that was handed in, milliseconds since 1970.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The namespaces and their names, in the order of these.
    pub fn namespaces(&self) -> impl Iterator<Item = (&[u8], &Namespace)> {
        self.namespaces.iter().map(|(name, namespace)| (&**name, namespace))
    }

    pub(crate) fn namespaces_mut(&mut self) -> impl Iterator<Item = (&[u8], &mut Namespace)> {
        self.namespaces.iter_mut().map(|(name, namespace)| (&**name, namespace))
    }

    /// Bytes that all of it takes, about.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Forgets what is too old. Nothing of it has to be in a log: what is operation later would forget it first.
    pub fn expire(&mut self, now: u64) {
        let now = self.at(now);
        self.namespaces.values_mut().for_each(|namespace| namespace.expire(now));
        self.count_bytes();
    }

    /// Time goes on, or stands still where the clock went back.
    fn at(&mut self, now: u64) -> u64 {
        self.now = self.now.max(now.min(LATEST));
        self.now
    }

    /// Does something with a namespace that is there, and keeps count of its bytes.
    fn with<T>(&mut self, name: &[u8], work: impl FnOnce(&mut Namespace) -> T) -> Option<T> {
        let namespace = self.namespaces.get_mut(name)?;
        let before = namespace.bytes();
        let out = work(namespace);
        self.bytes = self.bytes + namespace.bytes() - before;
        Some(out)
    }

    /// Searches ahead for what is asked next, in this order, of one namespace after the other. Answers are the same without.
    pub(crate) fn look_ahead<'a>(&mut self, asked: impl Iterator<Item = (&'a [u8], &'a Operation)> + Clone) {
        let mut names: Vec<&[u8]> = asked.clone().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let Some(namespace) = self.namespaces.get_mut(name) else { continue };
            let of_it = asked.clone().filter(|(of, _)| *of == name);
            namespace.look_ahead(of_it.flat_map(|(_, operation)| operation.searched()));
        }
    }

    /// What was searched for has been asked for.
    pub(crate) fn look_no_further(&mut self) {
        self.namespaces.values_mut().for_each(Namespace::look_no_further);
    }

    /// Does what is operation of a namespace. For each change `changed` is called with bytes from which [`State::replay`] makes it again.
    pub fn ask(
        &mut self,
        now: u64,
        namespace: &[u8],
        operation: Operation,
        changed: &mut dyn FnMut(&[u8]),
    ) -> Answer {
        let now = self.at(now);
        match operation {
            Operation::CheckAdd(id, document) => answer(self.add(namespace, &id, document, true, changed)),
            Operation::Add(id, document) => answer(self.add(namespace, &id, document, false, changed)),
            Operation::CheckAddAll(all) => {
                let mut add =
                    |(id, document): (Box<[u8]>, Document)| self.add(namespace, &id, document, true, changed);
                Answer::Verdicts(all.into_iter().map(&mut add).collect())
            }
            Operation::Check(document) => {
                let verdict = self.with(namespace, |namespace| namespace.check(now, &document));
                Answer::Verdict(verdict.unwrap_or(Verdict::New))
            }
            Operation::Delete(id) => {
                let orphans = self.with(namespace, |held| held.delete(now, &id)).flatten();
                if orphans.is_some() {
                    self.change.clear();
                    codec::put_deleted(now, namespace, &id, &mut self.change);
                    changed(&self.change);
                }
                Answer::Orphans(orphans)
            }
            Operation::Why(one, other) => {
                let comparer = self.settings.check.map(TextComparer::new);
                let compared = self.with(namespace, |namespace| {
                    namespace.expire(now);
                    compared(namespace, comparer, [&one, &other])
                });
                Answer::Why(compared.flatten().map(Box::new))
            }
            Operation::Count => {
                let held = self.with(namespace, |namespace| {
                    namespace.expire(now);
                    namespace.held()
                });
                let (all, kept) = held.unwrap_or_default();
                Answer::Count(all, kept)
            }
        }
    }

    fn add(
        &mut self,
        name: &[u8],
        id: &[u8],
        document: Document,
        search: bool,
        changed: &mut dyn FnMut(&[u8]),
    ) -> Result<Verdict, Refused> {
        let now = self.now;
        if !self.namespaces.contains_key(name) {
            self.make(name)?;
        }
        let memory = self.settings.memory;
        // A retry takes no memory.
        let refused = (self.bytes >= memory).then_some(Refused::Memory(memory));
        let arrival = Arrival { now, id, search, refused };
        let mut change = std::mem::take(&mut self.change);
        let verdict = self.with(name, |namespace| {
            namespace.add(arrival, document, |document, taken| {
                change.clear();
                let Document { key, digest, content } = document;
                codec::put_added((now, name, id), (*key, *digest, content.as_deref()), taken, &mut change);
                changed(&change);
            })
        });
        self.change = change;
        verdict.unwrap_or(Err(Refused::Namespaces(self.settings.namespaces)))
    }

    /// Makes a namespace.
    fn make(&mut self, name: &[u8]) -> Result<(), Refused> {
        let Settings { memory, namespaces, .. } = self.settings;
        if self.bytes >= memory {
            return Err(Refused::Memory(memory));
        }
        if self.namespaces.len() >= namespaces {
            return Err(Refused::Namespaces(namespaces));
        }
        self.namespaces.insert(name.into(), Namespace::new(&self.settings));
        Ok(())
    }

    /// The namespace of a name, which is made where it is not there, whatever the bound is.
    pub(crate) fn restored(&mut self, name: &[u8], now: u64) -> &mut Namespace {
        self.at(now);
        let settings = &self.settings;
        self.namespaces.entry(name.into()).or_insert_with(|| Namespace::new(settings))
    }

    /// Makes a change again.
    ///
    /// # Errors
    /// The bytes are no change, or not one that follows.
    pub fn replay(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        let (now, name, change) = codec::change(bytes).ok_or("it is no change that is known here")?;
        self.restored(name, now);
        let made = self.with(name, |namespace| match change {
            Change::Added { id, document, taken } => namespace.replay(now, taken, id, document),
            Change::Deleted { id } => {
                namespace.delete(now, id).map(drop).ok_or("a document is deleted that is not there")
            }
        });
        made.unwrap_or(Ok(()))
    }

    /// Counts the bytes of all that a log and a snapshot have brought back.
    pub(crate) fn count_bytes(&mut self) {
        self.bytes = self.namespaces.values().map(Namespace::bytes).sum();
    }
}

impl Operation {
    /// The fingerprints for which is searched.
    fn searched(&self) -> impl Iterator<Item = u128> {
        let (one, all) = match self {
            Operation::CheckAdd(_, document) | Operation::Check(document) => (Some(document), &[][..]),
            Operation::CheckAddAll(all) => (None, &all[..]),
            _ => (None, &[][..]),
        };
        let all = one.into_iter().chain(all.iter().map(|(_, document)| document));
        all.filter_map(|document| match document.key {
            Key::Fingerprint { value, .. } => Some(value),
            _ => None,
        })
    }
}

fn answer(verdict: Result<Verdict, Refused>) -> Answer {
    verdict.map_or_else(Answer::Refused, Answer::Verdict)
}

fn compared(namespace: &Namespace, comparer: Option<TextComparer>, ids: [&[u8]; 2]) -> Option<Compared> {
    let one = namespace.entry(ids[0])?;
    let other = namespace.entry(ids[1])?;
    let verdicts = [one, other].map(|entry| namespace.verdict(&entry));
    let (mut distance, mut share, mut equal_texts) = (None, None, None);
    let alike = match (one.key(), other.key()) {
        (Key::Fingerprint { value: x, most: a }, Key::Fingerprint { value: y, most: b }) => {
            let bits = (x ^ y).count_ones();
            distance = Some((bits, a.min(b)));
            let by_text = comparer.is_none_or(|mut comparer| {
                let measure = crate::namespace::alike(&mut comparer, one.content, other.content);
                if let Some(crate::document::Measure::Text(_, of)) = measure {
                    share = Some(of);
                }
                measure.is_some()
            });
            bits <= a.min(b) && by_text
        }
        (Key::Text(x), Key::Text(y)) => {
            equal_texts = Some(x == y);
            x == y
        }
        _ => false,
    };
    Some(Compared { verdicts, distance, share, equal_texts, alike })
}
