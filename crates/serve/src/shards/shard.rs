//! What a shard holds, and what it answers.
//!
//! It is the state of a service on one machine, of which the numbers of documents are those of the log. What is dropped is held where what it was dropped
//! for is, so both are forgotten together, and no shard asks another one.

use super::Sharding;
use super::answers::{Answer, Found, Full, Row};
use super::request::{Kind, Request};
use super::window::Taken;
use crate::document::Key;
use crate::entries::{Entry, Grounds};
use crate::namespace::Namespace;
use crate::state::State;
use std::collections::BTreeMap;

/// A shard.
#[derive(Debug)]
pub(crate) struct Shard {
    sharding: Sharding,
    index: usize,
    pub state: State,
}

impl Shard {
    /// The shard of a place among all, of what it holds.
    pub fn new(sharding: Sharding, index: usize, state: State) -> Self {
        Self { sharding, index, state }
    }

    /// What it answers to requests, each at its time, of one epoch; none says nothing.
    pub fn rows(&mut self, requests: &[(u64, Option<&Request>)]) -> Vec<Row> {
        let full = self.full();
        // All are searched for together, as memory is waited for.
        let mut values: BTreeMap<&[u8], Vec<u128>> = BTreeMap::new();
        for request in requests.iter().filter_map(|(_, request)| *request) {
            if let (true, Key::Fingerprint { value, .. }) = (request.kind.searches(), request.document.key) {
                values.entry(&request.namespace).or_default().push(value);
            }
        }
        for (name, values) in values {
            if let Some(namespace) = self.state.get_mut(name) {
                namespace.prefetch(values.into_iter());
            }
        }
        let rows = requests.iter().map(|(now, request)| {
            let answer = request.map_or(Answer::Nothing, |request| self.answer(*now, request));
            let full = request.and_then(|request| full.of(&self.state, request));
            Row { answer, full }
        });
        let rows = rows.collect();
        self.state.end_prefetch();
        rows
    }

    fn full(&self) -> Fulness {
        let settings = self.state.settings();
        Fulness {
            memory: (self.state.bytes() >= settings.memory).then_some(Full::Memory(settings.memory)),
            namespaces: (self.state.namespaces().count() >= settings.namespaces)
                .then_some(Full::Namespaces(settings.namespaces as u64)),
        }
    }

    fn answer(&mut self, now: u64, request: &Request) -> Answer {
        let Self { sharding, state, .. } = self;
        let Some(namespace) = state.get_mut(&request.namespace) else {
            return if request.kind == Kind::Count { Answer::Count(0, 0) } else { Answer::Nothing };
        };
        let is_kept = |came: u64| sharding.is_kept(came, now);
        if request.kind == Kind::Count {
            let (all, kept) = held(namespace, is_kept);
            return Answer::Count(all, kept);
        }
        if request.kind.takes_in()
            && let Some(said) = said(namespace, request, is_kept)
        {
            return said;
        }
        if !request.kind.searches() {
            return Answer::Nothing;
        }
        let (key, content) = (request.document.key, request.document.content.as_deref());
        let grounds = namespace.find(key, content, 0, |entry| is_kept(entry.time()));
        let found = grounds.and_then(|grounds| found(namespace, grounds));
        found.map_or(Answer::Nothing, Answer::Near)
    }

    /// Takes in what is its own of an epoch that ended at a time.
    ///
    /// # Errors
    /// It does not follow what is there.
    pub fn take_in(&mut self, taken: Vec<Taken>, now: u64) -> Result<(), &'static str> {
        for Taken { number, time, request, dropped } in taken {
            let owner = self.sharding.shard_of(dropped.as_ref().map_or(number, |found| found.of));
            if owner != self.index {
                continue;
            }
            let grounds =
                dropped.map(|Found { of, distance, measure, .. }| Grounds { of, distance, measure });
            let Request { namespace, id, document, .. } = request;
            self.state.place((time, &namespace, &id), number, grounds, document)?;
        }
        self.state.expire(now);
        Ok(())
    }
}

/// Why nothing more is taken in.
struct Fulness {
    memory: Option<Full>,
    namespaces: Option<Full>,
}

impl Fulness {
    fn of(&self, state: &State, request: &Request) -> Option<Full> {
        if !request.kind.takes_in() {
            return None;
        }
        self.memory.or(self.namespaces.filter(|_| state.get(&request.namespace).is_none()))
    }
}

/// The kept document that something rests on.
fn found(namespace: &Namespace, grounds: Grounds) -> Option<Found> {
    let Grounds { of, distance, measure } = grounds;
    let kept = namespace.entries.get(of)?;
    Some(Found { of, distance, measure, time: kept.time(), id: kept.id().into() })
}

/// What was said of the request's id, where it is there.
fn said(namespace: &Namespace, request: &Request, is_kept: impl Fn(u64) -> bool) -> Option<Answer> {
    let entry = namespace.entry(&request.id, 0)?;
    let found = match entry.grounds() {
        None => None,
        Some(grounds) => Some(found(namespace, grounds)?),
    };
    if !is_kept(found.as_ref().map_or(entry.time(), |found| found.time)) {
        return None;
    }
    let is_same = entry.digest() == request.document.digest;
    Some(if is_same { Answer::Said(found) } else { Answer::Conflict })
}

/// How many documents there are, and how many of them are kept. Those that are too old by now are the first, and what was dropped for them.
fn held(namespace: &Namespace, is_kept: impl Fn(u64) -> bool) -> (u64, u64) {
    let (mut all, mut kept) = namespace.held();
    let old = namespace.entries.all().take_while(|entry| !is_kept(entry.time()));
    for entry in old.filter(Entry::is_kept) {
        kept -= 1;
        all -= 1 + namespace.entries.dropped_for(entry.number).len() as u64;
    }
    (all, kept)
}
