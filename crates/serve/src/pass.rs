//! A snapshot of a namespace while documents come and go: some at a time, and as all were at one moment.
//!
//! The pass goes by number up to that of the moment. What is forgotten before the pass has come to it is saved then; what comes later has a larger number.
//! The time at which a document was last found may be a later one than that of the moment: the log that follows has that as well, and
//! what lives until it is found again is forgotten no sooner for that.

use crate::chunk::Fields;
use crate::codec::{self, Reader, put_bytes, put_document, put_grounds, put_number};
use crate::document::Document;
use crate::entries::{Entry, Grounds};
use crate::namespace::Namespace;
use std::collections::HashSet;

/// How far a snapshot of a namespace is.
#[derive(Debug)]
pub(crate) struct SnapshotPass {
    /// Documents with smaller numbers are in the snapshot.
    at: u64,
    /// Those with this one or larger ones came later.
    end: u64,
    /// Documents that were forgotten or changed before the pass came to them.
    saved: Vec<u8>,
    count: u64,
    /// The numbers of those that were changed: they are in the snapshot.
    changed: HashSet<u64>,
}

/// A document of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Saved<'b> {
    pub id: &'b [u8],
    pub number: u64,
    pub time: u64,
    pub renewed: bool,
    pub forced: bool,
    pub run: u32,
    pub document: Document,
    pub grounds: Option<Grounds>,
}

impl SnapshotPass {
    /// Begins a snapshot of a namespace as it is now.
    pub fn begin(namespace: &mut Namespace) {
        let end = namespace.next();
        namespace.pass = Some(Self { at: 0, end, saved: Vec::new(), count: 0, changed: HashSet::new() });
    }

    /// Takes note of a document that is forgotten.
    pub fn save(&mut self, entry: &Entry<'_>) {
        if (self.at..self.end).contains(&entry.number) && !self.changed.remove(&entry.number) {
            put_saved(entry, &mut self.saved);
            self.count += 1;
        }
    }

    /// Takes note of a document of which something else is said from now on.
    pub fn save_changed(&mut self, entry: &Entry<'_>) {
        self.save(entry);
        if (self.at..self.end).contains(&entry.number) {
            self.changed.insert(entry.number);
        }
    }
}

// The bits of a byte of a saved document.
const RENEWED: u8 = 1;
const FORCED: u8 = 2;
const IN_RUN: u8 = 4;

fn put_saved(entry: &Entry<'_>, out: &mut Vec<u8>) {
    put_bytes(entry.id(), out);
    put_number(entry.number, out);
    put_number(entry.time(), out);
    let Fields { renewed, forced, run, .. } = entry.fields();
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    out.push(flag(renewed, RENEWED) | flag(forced, FORCED) | flag(run > 0, IN_RUN));
    if run > 0 {
        put_number(run.into(), out);
    }
    put_grounds(entry.grounds(), out);
    put_document((entry.key(), entry.digest(), entry.content), out);
}

/// Reads a document of a snapshot.
pub(crate) fn saved<'b>(from: &mut Reader<'b>) -> Option<Saved<'b>> {
    let (id, number, time) = (from.bytes()?, from.number()?, from.number()?);
    let flags = from.byte().filter(|flags| *flags <= RENEWED | FORCED | IN_RUN)?;
    let is = |flag: u8| flags & flag > 0;
    let run = if is(IN_RUN) { u32::try_from(from.number()?).ok()? } else { 0 };
    let grounds = codec::grounds(from)?;
    let (renewed, forced) = (is(RENEWED), is(FORCED));
    Some(Saved { id, number, time, renewed, forced, run, grounds, document: codec::document(from)? })
}

/// Numbers that are looked at for a document, at most.
const NUMBERS: u64 = 16;

/// Appends the next documents of a snapshot, about so many; how many they are, and `None` at its end.
pub(crate) fn step(namespace: &mut Namespace, most: u64, out: &mut Vec<u8>) -> Option<u64> {
    let mut pass = namespace.pass.take()?;
    pass.at = pass.at.max(namespace.entries.base());
    let mut count = std::mem::take(&mut pass.count);
    out.append(&mut pass.saved);
    // Most numbers of a shard are other shards'.
    let (mut looked, all) = (0, count + most);
    while pass.at < pass.end && looked < NUMBERS * most && count < all {
        let number = pass.at;
        pass.at = namespace.entries.skip_empty(number + 1).min(pass.end);
        looked += 1;
        if pass.changed.remove(&number) {
            continue;
        }
        if let Some(entry) = namespace.entries.get(number) {
            put_saved(&entry, out);
            count += 1;
        }
    }
    let goes_on = pass.at < pass.end || count > 0;
    if goes_on {
        namespace.pass = Some(pass);
    }
    goes_on.then_some(count)
}
