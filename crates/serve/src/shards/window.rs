//! The documents that an epoch has taken in so far: whoever merges has all of them, and compares those that come one by one.

use super::answers::Found;
use super::request::Request;
use crate::content::Content;
use crate::document::Key;
use crate::kept::near;
use std::collections::HashMap;
use twinsplit_core::similarity::text::TextComparer;

/// A document that was taken in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Taken {
    pub number: u64,
    pub time: u64,
    pub request: Request,
    /// What it was dropped for.
    pub dropped: Option<Found>,
}

impl Taken {
    /// When what it lives as long as came: itself, or what it was dropped for.
    fn came(&self) -> u64 {
        self.dropped.as_ref().map_or(self.time, |found| found.time)
    }
}

/// Those of a namespace, by their places.
#[derive(Debug, Default)]
struct Places {
    by_id: HashMap<Box<[u8]>, usize>,
    all: Vec<usize>,
    kept: Vec<usize>,
}

/// The documents of an epoch.
#[derive(Debug)]
pub(crate) struct Window {
    comparer: Option<TextComparer>,
    taken: Vec<Taken>,
    namespaces: HashMap<Box<[u8]>, Places>,
}

impl Window {
    /// None.
    pub fn new(comparer: Option<TextComparer>) -> Self {
        Self { comparer, taken: Vec::new(), namespaces: HashMap::new() }
    }

    /// Takes one in, whose number is larger than all before.
    pub fn put(&mut self, taken: Taken) {
        let place = self.taken.len();
        let places = self.namespaces.entry(taken.request.namespace.clone()).or_default();
        places.by_id.insert(taken.request.id.clone(), place);
        places.all.push(place);
        if taken.dropped.is_none() {
            places.kept.push(place);
        }
        self.taken.push(taken);
    }

    /// The document of the request's id. Whether what came at a time is still there is asked of `is_kept`.
    pub fn said(&self, request: &Request, is_kept: impl Fn(u64) -> bool) -> Option<&Taken> {
        let place = self.namespaces.get(&*request.namespace)?.by_id.get(&*request.id)?;
        self.taken.get(*place).filter(|taken| is_kept(taken.came()))
    }

    /// The first kept document that is like the request's.
    pub fn find(&mut self, request: &Request, is_kept: impl Fn(u64) -> bool) -> Option<Found> {
        let Self { comparer, taken, namespaces } = self;
        let places = &namespaces.get(&*request.namespace)?.kept;
        places.iter().find_map(|place| {
            let kept = taken.get(*place).filter(|kept| is_kept(kept.time))?;
            let (distance, measure) = near(compared(&kept.request), compared(request), comparer)?;
            let id = kept.request.id.clone();
            Some(Found { of: kept.number, distance, measure, time: kept.time, id })
        })
    }

    /// How many there are in a namespace, and how many of them are kept.
    pub fn count(&self, namespace: &[u8], is_kept: impl Fn(u64) -> bool) -> (u64, u64) {
        let Some(places) = self.namespaces.get(namespace) else { return (0, 0) };
        let there = |places: &[usize]| {
            let taken = places.iter().filter_map(|place| self.taken.get(*place));
            taken.filter(|taken| is_kept(taken.came())).count() as u64
        };
        (there(&places.all), there(&places.kept))
    }

    /// Takes all out, in the order of their numbers.
    pub fn take(&mut self) -> Vec<Taken> {
        self.namespaces.clear();
        std::mem::take(&mut self.taken)
    }
}

fn compared(request: &Request) -> (Key, Option<&Content>) {
    (request.document.key, request.document.content.as_deref())
}
