//! What can be asked of a service, and what is answered.

use crate::content::Content;
use crate::document::{Document, Key, Measure, Refused, Verdict};
use crate::kept::alike;
use crate::namespace::Namespace;
use crate::runs::{Mode, RunFigures, Settled};
use crate::settings::Comparison;
use twinsplit_core::join::overlap;
use twinsplit_core::similarity::text::TextComparer;
use twinsplit_core::similarity::{Score, SetSimilarity};

/// What is asked, of documents as they are compared or as they were sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation<D = Document> {
    /// What a document is, which is taken in at once.
    CheckAdd(Box<[u8]>, D),
    /// The same of several, one after the other.
    CheckAddAll(Vec<(Box<[u8]>, D)>),
    /// What a document is, and nothing changes.
    Check(D),
    /// To take a document in and to keep it, whatever it is like.
    Add(Box<[u8]>, D),
    /// To forget a document.
    Delete(Box<[u8]>),
    /// How two documents compare.
    Why(Box<[u8]>, Box<[u8]>),
    /// How many documents there are.
    Count,
    /// To begin a run.
    Begin(Box<[u8]>, Mode),
    /// To commit a run.
    Commit(Box<[u8]>),
    /// To cancel a run.
    Cancel(Box<[u8]>),
    /// Which runs there are.
    Runs,
    /// To have requests that would change the namespace refused from here on, or not.
    ReadOnly(bool),
    /// Something of the first six, as a run sees the documents; what is taken in belongs to it.
    InRun(Box<[u8]>, Box<Operation<D>>),
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
    /// A run has begun.
    Begun,
    /// The documents of a run whose verdicts have changed when it was committed.
    Committed(Vec<(Box<[u8]>, Settled)>),
    /// The runs.
    Runs(Vec<RunFigures>),
    /// Whether the namespace is read-only now.
    ReadOnly(bool),
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
    /// The features of one, of the other and of both, where sets are compared.
    pub features: Option<[u64; 3]>,
    /// How alike the sets are; or how alike the texts are, where there is a second stage and they are alike enough.
    pub similarity: Option<Score>,
    /// Whether the texts are equal, where both are too short for anything else.
    pub equal_texts: Option<bool>,
    /// Whether one would be a duplicate of the other.
    pub alike: bool,
}

impl<D> Operation<D> {
    /// The same of other forms of its documents.
    pub(crate) fn map<T>(self, of: &mut impl FnMut(D) -> T) -> Operation<T> {
        match self {
            Operation::CheckAdd(id, document) => Operation::CheckAdd(id, of(document)),
            Operation::CheckAddAll(all) => {
                Operation::CheckAddAll(all.into_iter().map(|(id, document)| (id, of(document))).collect())
            }
            Operation::Check(document) => Operation::Check(of(document)),
            Operation::Add(id, document) => Operation::Add(id, of(document)),
            Operation::Delete(id) => Operation::Delete(id),
            Operation::Why(one, other) => Operation::Why(one, other),
            Operation::Count => Operation::Count,
            Operation::Begin(run, mode) => Operation::Begin(run, mode),
            Operation::Commit(run) => Operation::Commit(run),
            Operation::Cancel(run) => Operation::Cancel(run),
            Operation::Runs => Operation::Runs,
            Operation::ReadOnly(is) => Operation::ReadOnly(is),
            Operation::InRun(run, operation) => Operation::InRun(run, Box::new(operation.map(of))),
        }
    }

    /// Its documents.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &D> {
        let operation = if let Operation::InRun(_, operation) = self { operation } else { self };
        let (one, all) = match operation {
            Operation::CheckAdd(_, document) | Operation::Check(document) | Operation::Add(_, document) => {
                (Some(document), &[][..])
            }
            Operation::CheckAddAll(all) => (None, &all[..]),
            _ => (None, &[][..]),
        };
        one.into_iter().chain(all.iter().map(|(_, document)| document))
    }
}

impl Operation {
    /// The fingerprints for which is searched.
    pub(crate) fn searched(&self) -> impl Iterator<Item = u128> {
        let operation = if let Operation::InRun(_, operation) = self { operation } else { self };
        // What is kept whatever there is needs no search.
        let searches = !matches!(operation, Operation::Add(..));
        self.documents().filter(move |_| searches).filter_map(|document| match document.key {
            Key::Fingerprint { value, .. } => Some(value),
            _ => None,
        })
    }
}

/// How the documents of two ids compare, as a run sees them; `None` where one of them is not there.
pub(crate) fn compared(
    namespace: &Namespace,
    comparison: &Comparison,
    ids: [&[u8]; 2],
    run: u32,
) -> Option<Compared> {
    let one = namespace.entry(ids[0], run)?;
    let other = namespace.entry(ids[1], run)?;
    let verdicts = [one, other].map(|entry| namespace.verdict(&entry, run));
    let (mut distance, mut similarity, mut equal_texts, mut features) = (None, None, None, None);
    let alike = match (one.key(), other.key()) {
        (Key::Fingerprint { value: x, most: a }, Key::Fingerprint { value: y, most: b }) => {
            let bits = (x ^ y).count_ones();
            distance = Some((bits, a.min(b)));
            let by_text = comparison.check().is_none_or(|check| {
                let measure = alike(&mut TextComparer::new(check), one.content, other.content);
                if let Some(Measure::Text(_, share)) = measure {
                    similarity = Score::share(share);
                }
                measure.is_some()
            });
            bits <= a.min(b) && by_text
        }
        (Key::Set, Key::Set) => {
            let [a, b] = [one, other].map(|entry| entry.content.and_then(Content::set).unwrap_or_default());
            let (x, y, shared) = (a.len() as u64, b.len() as u64, overlap(a, b));
            features = Some([x, y, shared]);
            match comparison {
                Comparison::Sets(by) => {
                    similarity = Some(by.measure().score(shared, x, y));
                    by.accepts(shared, x, y)
                }
                Comparison::Fingerprints { .. } => false,
            }
        }
        (Key::Text(x), Key::Text(y)) => {
            equal_texts = Some(x == y);
            x == y
        }
        _ => false,
    };
    Some(Compared { verdicts, distance, features, similarity, equal_texts, alike })
}
