//! All namespaces, and what can be operation of them. Nothing here knows of clocks, files or sockets: times are handed in, and what has changed is handed
//! out, as bytes for a log.

use crate::codec::{self, Change};
use crate::document::{Document, Key, Refused, Verdict};
use crate::namespace::Namespace;
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
}

impl State {
    /// No namespaces.
    pub fn new(settings: Settings) -> Self {
        Self { settings, namespaces: BTreeMap::new(), now: 0 }
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
        self.namespaces.values().map(Namespace::bytes).sum()
    }

    /// Forgets what is too old. Nothing of it has to be in a log: what is operation later would forget it first.
    pub fn expire(&mut self, now: u64) {
        self.now = self.now.max(now);
        let now = self.now;
        self.namespaces.values_mut().for_each(|namespace| namespace.expire(now));
    }

    /// Does what is operation of a namespace. For each change `changed` is called with bytes from which [`State::replay`] makes it again.
    pub fn ask(
        &mut self,
        now: u64,
        namespace: &[u8],
        operation: Operation,
        changed: &mut dyn FnMut(&[u8]),
    ) -> Answer {
        self.now = self.now.max(now);
        let now = self.now;
        match operation {
            Operation::CheckAdd(id, document) => answer(self.add(namespace, &id, document, true, changed)),
            Operation::Add(id, document) => answer(self.add(namespace, &id, document, false, changed)),
            Operation::CheckAddAll(all) => {
                let mut add =
                    |(id, document): (Box<[u8]>, Document)| self.add(namespace, &id, document, true, changed);
                Answer::Verdicts(all.into_iter().map(&mut add).collect())
            }
            Operation::Check(document) => {
                let namespace = self.namespaces.get_mut(namespace);
                Answer::Verdict(namespace.map_or(Verdict::New, |namespace| namespace.check(now, &document)))
            }
            Operation::Delete(id) => {
                let orphans = self.namespaces.get_mut(namespace).and_then(|held| held.delete(now, &id));
                if orphans.is_some() {
                    let mut bytes = Vec::new();
                    codec::put_deleted(now, namespace, &id, &mut bytes);
                    changed(&bytes);
                }
                Answer::Orphans(orphans)
            }
            Operation::Why(one, other) => {
                let compared = self.namespaces.get_mut(namespace).and_then(|namespace| {
                    namespace.expire(now);
                    compared(namespace, self.settings.check.map(TextComparer::new), [&one, &other])
                });
                Answer::Why(compared.map(Box::new))
            }
            Operation::Count => {
                let (all, kept) = self.namespaces.get_mut(namespace).map_or((0, 0), |namespace| {
                    namespace.expire(now);
                    namespace.held()
                });
                Answer::Count(all, kept)
            }
        }
    }

    fn add(
        &mut self,
        namespace: &[u8],
        id: &[u8],
        document: Document,
        search: bool,
        changed: &mut dyn FnMut(&[u8]),
    ) -> Result<Verdict, Refused> {
        let now = self.now;
        let is_there = self.namespaces.get_mut(namespace).is_some_and(|held| {
            held.expire(now);
            held.entry(id).is_some()
        });
        // A retry takes no memory.
        if !is_there && self.bytes() >= self.settings.memory {
            return Err(Refused::Memory(self.settings.memory));
        }
        let held = self.namespace(namespace)?;
        let mut bytes = Vec::new();
        let content = document.content.clone();
        let (key, digest) = (document.key, document.digest);
        let (verdict, taken) = held.add(now, id, document, search)?;
        if let Some(taken) = taken {
            codec::put_added((now, namespace, id), (key, digest, content.as_deref()), taken, &mut bytes);
            changed(&bytes);
        }
        Ok(verdict)
    }

    fn namespace(&mut self, name: &[u8]) -> Result<&mut Namespace, Refused> {
        if !self.namespaces.contains_key(name) {
            if self.namespaces.len() >= self.settings.namespaces {
                return Err(Refused::Namespaces(self.settings.namespaces));
            }
            self.namespaces.insert(name.into(), Namespace::new(&self.settings));
        }
        self.namespaces.get_mut(name).ok_or(Refused::Namespaces(self.settings.namespaces))
    }

    /// The namespace of a name, which is made where it is not there, whatever the bound is.
    pub(crate) fn restored(&mut self, name: &[u8], now: u64) -> &mut Namespace {
        self.now = self.now.max(now);
        let settings = &self.settings;
        self.namespaces.entry(name.into()).or_insert_with(|| Namespace::new(settings))
    }

    /// Makes a change again.
    ///
    /// # Errors
    /// The bytes are no change, or not one that follows.
    pub fn replay(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        let (now, name, change) = codec::change(bytes).ok_or("it is no change that is known here")?;
        let namespace = self.restored(name, now);
        match change {
            Change::Added { id, document, taken } => namespace.replay(now, taken, id, document),
            Change::Deleted { id } => {
                namespace.delete(now, id).map(drop).ok_or("a document is deleted that is not there")
            }
        }
    }
}

fn answer(verdict: Result<Verdict, Refused>) -> Answer {
    verdict.map_or_else(Answer::Refused, Answer::Verdict)
}

fn compared(namespace: &Namespace, comparer: Option<TextComparer>, ids: [&[u8]; 2]) -> Option<Compared> {
    let one = namespace.entry(ids[0])?;
    let other = namespace.entry(ids[1])?;
    let verdicts = [one, other].map(|entry| namespace.entries.verdict(entry));
    let (mut distance, mut share, mut equal_texts) = (None, None, None);
    let alike = match (one.key(), other.key()) {
        (Key::Fingerprint { value: x, most: a }, Key::Fingerprint { value: y, most: b }) => {
            let bits = (x ^ y).count_ones();
            distance = Some((bits, a.min(b)));
            let by_text = comparer.is_none_or(|mut comparer| {
                let measure =
                    crate::namespace::alike(&mut comparer, one.content.as_deref(), other.content.as_deref());
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
