//! Clients' requests become records of the log, and the answers theirs.

use super::front::Front;
use super::request::{Kind, Request};
use crate::asked::{Answer, Operation};
use crate::decider::Decides;
use crate::document::{Document, Refused, Verdict};
use crate::group::{Answered, Group};
use crate::info::{Figures, Sequence};
use crate::recent::Recent;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use twinsplit_io::error::Result;

/// How often a front reads what others have put into the log.
const TICK: Duration = Duration::from_millis(50);

/// The records of a request of a client.
enum Part {
    /// It has an answer without.
    Refused(Refused),
    /// One.
    One,
    /// So many, whose answers are given together.
    All(usize),
}

/// A front as what decides for clients.
pub(crate) struct Asking {
    front: Front,
    /// When it reads what others have put into the log, where nobody asks for anything.
    reads: Instant,
}

/// Puts what is asked into records; the documents are taken out.
fn records(namespace: &[u8], operation: &mut Operation, out: &mut Vec<Request>) -> Part {
    let mut put = |kind: Kind, id: &[u8], document: &mut Document| {
        let document = std::mem::take(document);
        out.push(Request { kind, namespace: namespace.into(), id: id.into(), document });
    };
    match operation {
        Operation::CheckAdd(id, document) => put(Kind::CheckAdd, id, document),
        Operation::Add(id, document) => put(Kind::Add, id, document),
        Operation::Check(document) => put(Kind::Check, b"", document),
        Operation::Count => put(Kind::Count, b"", &mut Document::default()),
        Operation::CheckAddAll(all) => {
            all.iter_mut().for_each(|(id, document)| put(Kind::CheckAdd, id, document));
            return Part::All(all.len());
        }
        other => return Part::Refused(Refused::Wrong(format!("ERR {}", refusal(other)))),
    }
    Part::One
}

/// Why something is not there.
fn refusal(operation: &Operation) -> &'static str {
    match operation {
        Operation::Delete(_) => {
            "FP.DEL is not there with --log: shards answer from what was there when an epoch began, and forget by the log's times alone (--retain)"
        }
        Operation::Why(..) => {
            "FP.WHY is not there with --log: the two documents may be held by different shards; a verdict names what it rests on"
        }
        Operation::ReadOnly(_) => {
            "FP.READONLY is not there with --log: take the right to write the topic from the front"
        }
        _ => {
            "runs of a crawler are not there with --log: a commit compares all documents of a run at one moment, which are held by different shards"
        }
    }
}

impl Asking {
    /// One of a front.
    pub fn new(front: Front) -> Self {
        Self { front, reads: Instant::now() }
    }

    fn answers(&mut self, group: &mut Group, mut recent: Option<&mut Recent>) -> Vec<Answer> {
        let (mut requests, mut parts) = (Vec::new(), Vec::new());
        let mut asked = group.take_asked();
        for (namespace, asked) in &mut asked {
            parts.push(match asked {
                Ok(operation) => records(namespace, operation, &mut requests),
                Err(problem) => Part::Refused(Refused::Wrong(std::mem::take(problem))),
            });
        }
        let mut said = self.front.ask(&requests).into_iter().map(|(_, answer)| answer);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let mut answers = Vec::with_capacity(parts.len());
        for (part, (namespace, asked)) in parts.into_iter().zip(&asked) {
            let answer = match part {
                Part::Refused(refused) => Answer::Refused(refused),
                Part::One => said.next().unwrap_or_else(nothing),
                Part::All(count) => Answer::Verdicts(said.by_ref().take(count).map(verdict).collect()),
            };
            if let (Some(recent), Ok(operation)) = (&mut recent, asked) {
                recent.note(now, namespace, operation, &answer);
            }
            answers.push(answer);
        }
        answers
    }
}

/// Each record has an answer.
fn nothing() -> Answer {
    Answer::Refused(Refused::Unanswered("UNANSWERED a record has no answer: send it again".to_owned()))
}

fn verdict(answer: Answer) -> std::result::Result<Verdict, Refused> {
    match answer {
        Answer::Verdict(verdict) => Ok(verdict),
        Answer::Refused(refused) => Err(refused),
        _ => Err(Refused::Wrong("ERR the record of the log is another request".to_owned())),
    }
}

impl Decides for Asking {
    fn decide(&mut self, group: &mut Group, recent: Option<&mut Recent>) -> Result<Answered> {
        if !group.is_empty() {
            let answers = self.answers(group, recent);
            self.reads = Instant::now() + TICK;
            return Ok(group.take(answers));
        }
        if self.reads <= Instant::now() {
            self.front.catch_up();
            self.reads = Instant::now() + TICK;
        }
        Ok(group.take(Vec::new()))
    }

    /// It waits for others, so it is lent: clients are read and told that the service is there meanwhile.
    fn work(&self, group: &Group) -> u64 {
        if group.is_empty() && self.reads > Instant::now() { 0 } else { u64::MAX }
    }

    fn patience(&self) -> Duration {
        TICK
    }

    fn figures(&self) -> Figures {
        let (end, next) = self.front.place();
        let sequence = Sequence { next, end: end.max(next), snapshot: 0 };
        Figures { namespaces: Vec::new(), bytes: 0, last: 0, log_bytes: 0, sequence }
    }

    fn end(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
