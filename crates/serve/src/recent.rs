//! The last duplicates, for the page: by name alone, so that nothing is held that was deleted.

use crate::content::Content;
use crate::document::Verdict;
use crate::state::{Answer, Operation, State};
use std::collections::VecDeque;
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

/// The last documents that were dropped, the newest first.
#[derive(Debug, Default)]
pub(crate) struct Recent(VecDeque<Dropped>);

impl Recent {
    /// Takes note of the duplicates among the answers to what was asked of a namespace. A retry is there already.
    pub fn note(&mut self, time: u64, namespace: &[u8], operation: &Operation, answer: &Answer) {
        let operation = if let Operation::InRun(_, operation) = operation { operation } else { operation };
        match (operation, answer) {
            (Operation::CheckAdd(id, _), Answer::Verdict(verdict)) => {
                self.note_one(time, namespace, id, verdict);
            }
            (Operation::CheckAddAll(all), Answer::Verdicts(said)) => {
                for ((id, _), verdict) in all.iter().zip(said) {
                    verdict.iter().for_each(|verdict| self.note_one(time, namespace, id, verdict));
                }
            }
            _ => {}
        }
    }

    fn note_one(&mut self, time: u64, namespace: &[u8], id: &[u8], verdict: &Verdict) {
        let Verdict::Duplicate { id: of, .. } = verdict else { return };
        if self.0.iter().any(|known| *known.id == *id && *known.namespace == *namespace) {
            return;
        }
        self.0.truncate(MOST - 1);
        let (of, verdict) = (of.clone(), verdict.clone());
        self.0.push_front(Dropped { namespace: namespace.into(), id: id.into(), time, of, verdict });
    }

    /// All, the newest first.
    pub fn all(&self) -> impl Iterator<Item = &Dropped> {
        self.0.iter()
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
