//! The last duplicates, for the page: by name alone, so that nothing is held that was deleted.

use crate::content::Content;
use crate::document::Verdict;
use crate::state::{Answer, Operation, State};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use twinsplit_core::similarity::text;

/// How many there are at most.
const MOST: usize = 50;

/// A document that was dropped.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dropped {
    pub namespace: Box<[u8]>,
    pub id: Box<[u8]>,
    /// Milliseconds since 1970.
    pub time: u64,
    pub of: Box<[u8]>,
    pub verdict: Verdict,
}

/// The last documents that were dropped.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<VecDeque<Dropped>>);

/// The namespace and the ids of the documents that a request takes in.
pub(crate) type Names = (Box<[u8]>, Vec<Box<[u8]>>);

/// Those of some requests, in their order.
pub(crate) fn names(asked: &[(Box<[u8]>, Operation)]) -> Vec<Names> {
    let of = |(namespace, operation): &(Box<[u8]>, Operation)| {
        let operation = if let Operation::InRun(_, operation) = operation { operation } else { operation };
        match operation {
            Operation::CheckAdd(id, _) => (namespace.clone(), vec![id.clone()]),
            Operation::CheckAddAll(all) => {
                (namespace.clone(), all.iter().map(|(id, _)| id.clone()).collect())
            }
            _ => Names::default(),
        }
    };
    asked.iter().map(of).collect()
}

impl Recent {
    /// Takes note of the duplicates among some answers. A retry is there already.
    pub fn note(&self, names: Vec<Names>, answers: &[Answer]) {
        let mut found = Vec::new();
        for ((namespace, ids), answer) in names.into_iter().zip(answers) {
            let mut note = |id: Box<[u8]>, verdict: &Verdict| {
                if let Verdict::Duplicate { id: of, .. } = verdict {
                    let (namespace, of, verdict) = (namespace.clone(), of.clone(), verdict.clone());
                    found.push(Dropped { namespace, id, time: 0, of, verdict });
                }
            };
            match answer {
                Answer::Verdict(verdict) => ids.into_iter().for_each(|id| note(id, verdict)),
                Answer::Verdicts(all) => {
                    let said = ids.into_iter().zip(all);
                    said.for_each(|(id, one)| one.iter().for_each(|verdict| note(id.clone(), verdict)));
                }
                _ => {}
            }
        }
        if found.is_empty() {
            return;
        }
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = found.len().saturating_sub(MOST);
        for dropped in found.drain(first..) {
            let is_known = |known: &Dropped| known.id == dropped.id && known.namespace == dropped.namespace;
            if !all.iter().any(is_known) {
                all.truncate(MOST - 1);
                all.push_front(Dropped { time, ..dropped });
            }
        }
    }

    /// All, the newest first.
    pub fn all(&self) -> Vec<Dropped> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Characters of a text that are shown.
const SHOWN: usize = 2000;

/// A document by its namespace and id.
pub(crate) type Named = (Box<[u8]>, Box<[u8]>);

/// How the texts of documents begin that are held as texts, of those that count for all.
pub(crate) fn texts(state: &State, of: &[Named]) -> Vec<Option<String>> {
    let text = |(namespace, id): &Named| match state.get(namespace)?.entry(id, 0)?.content? {
        Content::Checked(text::Content::Text(text)) => Some(text.chars().take(SHOWN).collect()),
        Content::Checked(text::Content::Counts(_)) | Content::Set(_) => None,
    };
    of.iter().map(text).collect()
}
