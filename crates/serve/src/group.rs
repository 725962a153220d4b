//! Requests that are decided together, written together and synced once.

use crate::disk::LogDisk;
use crate::document::Refused;
use crate::engine::Engine;
use crate::prefetch::TOGETHER;
use crate::recent::Recent;
use crate::state::{Answer, Operation};

/// What is asked of a namespace, or what is wrong with it.
pub(crate) type Ready = (Box<[u8]>, Result<Operation, String>);

/// Requests of some clients, in the order in which they are decided.
#[derive(Debug, Default)]
pub(crate) struct Group {
    asked: Vec<Ready>,
    clients: Vec<(usize, usize)>,
}

/// Clients by their numbers, and the answers to each.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    /// Each with how many answers it has.
    clients: Vec<(usize, usize)>,
    /// Those to the first client first, in the order of its requests.
    answers: Vec<Answer>,
}

impl Answered {
    /// Whether nobody waits for an answer.
    pub fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }

    /// The clients, each with its answers, or with none where nothing was decided.
    pub fn each(&self) -> impl Iterator<Item = (usize, Option<&[Answer]>)> {
        let mut rest = &self.answers[..];
        self.clients.iter().map(move |(client, count)| {
            let answers = rest.split_at_checked(*count);
            rest = answers.map_or(rest, |(_, behind)| behind);
            (*client, answers.map(|(answers, _)| answers))
        })
    }
}

impl Group {
    /// Requests in it.
    pub fn len(&self) -> usize {
        self.asked.len()
    }

    /// Whether nobody waits for an answer.
    pub fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }

    /// The requests.
    pub fn operations(&self) -> impl Iterator<Item = (&[u8], &Operation)> {
        self.asked.iter().filter_map(|(namespace, asked)| Some((&**namespace, asked.as_ref().ok()?)))
    }

    /// Puts the requests of a client in.
    pub fn push(&mut self, client: usize, asked: impl Iterator<Item = Ready>) {
        let before = self.asked.len();
        self.asked.extend(asked);
        self.clients.push((client, self.asked.len() - before));
    }

    /// Answers all of them, one after the other; some at a time are searched for together.
    pub fn answer<D: LogDisk>(
        &mut self,
        engine: &mut Engine<D>,
        now: u64,
        mut recent: Option<&mut Recent>,
    ) -> Vec<Answer> {
        let mut answers = Vec::with_capacity(self.asked.len());
        for some in self.asked.chunks_mut(TOGETHER) {
            let is_alone = some.len() == 1;
            if !is_alone {
                engine
                    .prefetch(some.iter().filter_map(|(name, asked)| Some((&**name, asked.as_ref().ok()?))));
            }
            for (namespace, asked) in some {
                answers.push(match asked {
                    Ok(operation) => {
                        let answer = engine.ask(now, namespace, operation);
                        if let Some(recent) = &mut recent {
                            recent.note(now, namespace, operation, &answer);
                        }
                        answer
                    }
                    Err(problem) => Answer::Refused(Refused::Wrong(std::mem::take(problem))),
                });
            }
            if !is_alone {
                engine.end_prefetch();
            }
        }
        answers
    }

    /// Takes the requests out; the clients go on waiting for the answers to them.
    pub fn take_asked(&mut self) -> Vec<Ready> {
        std::mem::take(&mut self.asked)
    }

    /// Takes the clients out, with the answers to all of them, or with none.
    pub fn take(&mut self, answers: Vec<Answer>) -> Answered {
        self.asked.clear();
        Answered { clients: std::mem::take(&mut self.clients), answers }
    }
}
