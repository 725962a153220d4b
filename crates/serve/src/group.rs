//! Requests that are decided together, written together and synced once.

use crate::disk::LogDisk;
use crate::document::Refused;
use crate::engine::Engine;
use crate::prefetch::TOGETHER;
use crate::recent::Recent;
use crate::state::{Answer, Operation};

/// What is asked of a namespace, or what is wrong with it.
pub(crate) type Ready = (Box<[u8]>, Result<Operation, String>);

/// Answers to one client, by its number.
pub(crate) type Answered = (usize, Vec<Answer>);

/// Requests of some clients, and then the answers to them.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Requests in the order in which they are decided, with the places of their clients.
    asked: Vec<(usize, Ready)>,
    answered: Vec<Answered>,
}

impl Group {
    /// Requests in it that have no answer yet.
    pub fn len(&self) -> usize {
        self.asked.len()
    }

    /// Puts the requests of a client in.
    pub fn push(&mut self, client: usize, asked: impl ExactSizeIterator<Item = Ready>) {
        let place = self.answered.len();
        self.answered.push((client, Vec::with_capacity(asked.len())));
        self.asked.extend(asked.map(|ready| (place, ready)));
    }

    /// Answers all of them, one after the other; some at a time are searched for together.
    pub fn answer<D: LogDisk>(&mut self, engine: &mut Engine<D>, now: u64, mut recent: Option<&mut Recent>) {
        for some in self.asked.chunks_mut(TOGETHER) {
            let is_alone = some.len() == 1;
            if !is_alone {
                engine.prefetch(
                    some.iter().filter_map(|(_, (name, asked))| Some((&**name, asked.as_ref().ok()?))),
                );
            }
            for (place, (namespace, asked)) in some {
                let answer = match asked {
                    Ok(operation) => {
                        let answer = engine.ask(now, namespace, operation);
                        if let Some(recent) = &mut recent {
                            recent.note(now, namespace, operation, &answer);
                        }
                        answer
                    }
                    Err(problem) => Answer::Refused(Refused::Wrong(std::mem::take(problem))),
                };
                if let Some((_, answers)) = self.answered.get_mut(*place) {
                    answers.push(answer);
                }
            }
            if !is_alone {
                engine.end_prefetch();
            }
        }
        self.asked.clear();
    }

    /// Takes the answers out, those to each client in the order of its requests.
    pub fn take(&mut self) -> Vec<Answered> {
        self.asked.clear();
        std::mem::take(&mut self.answered)
    }
}
