//! A snapshot of a namespace while documents come and go: some at a time, and as all were at one moment.
//!
//! The pass goes by number up to that of the moment. What is forgotten before the pass has come to it is saved then; what comes later has a larger number.
//! The time at which a document was last found may be a later one than that of the moment: the log that follows has that as well, and
//! what lives until it is found again is forgotten no sooner for that.

use crate::codec::{self, Reader, put_bytes, put_document, put_grounds, put_number};
use crate::document::Document;
use crate::entries::{Entry, Grounds};
use crate::namespace::Namespace;

/// How far a snapshot of a namespace is.
#[derive(Debug)]
pub(crate) struct SnapshotPass {
    /// Documents with smaller numbers are in the snapshot.
    at: u64,
    /// Those with this one or larger ones came later.
    end: u64,
    /// Documents that were forgotten before the pass came to them.
    saved: Vec<u8>,
    count: u64,
}

/// A document of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Saved {
    pub id: Box<[u8]>,
    pub number: u64,
    pub time: u64,
    pub renewed: bool,
    pub document: Document,
    pub grounds: Option<Grounds>,
}

impl SnapshotPass {
    /// Begins a snapshot of a namespace as it is now.
    pub fn begin(namespace: &mut Namespace) {
        let end = namespace.next();
        namespace.pass = Some(Self { at: 0, end, saved: Vec::new(), count: 0 });
    }

    /// Takes note of a document that is forgotten.
    pub fn save(&mut self, entry: &Entry<'_>) {
        if (self.at..self.end).contains(&entry.number) {
            put_saved(entry, &mut self.saved);
            self.count += 1;
        }
    }
}

fn put_saved(entry: &Entry<'_>, out: &mut Vec<u8>) {
    put_bytes(entry.id(), out);
    put_number(entry.number, out);
    put_number(entry.time(), out);
    out.push(entry.renewed().into());
    put_grounds(entry.grounds(), out);
    put_document((entry.key(), entry.digest(), entry.content), out);
}

/// Reads a document of a snapshot.
pub(crate) fn saved(from: &mut Reader<'_>) -> Option<Saved> {
    let (id, number, time) = (from.bytes()?.into(), from.number()?, from.number()?);
    let renewed = from.byte()? != 0;
    let grounds = codec::grounds(from)?;
    Some(Saved { id, number, time, renewed, grounds, document: codec::document(from)? })
}

/// Appends the next documents of a snapshot, about so many; how many they are, and `None` at its end.
pub(crate) fn step(namespace: &mut Namespace, most: u64, out: &mut Vec<u8>) -> Option<u64> {
    let mut pass = namespace.pass.take()?;
    pass.at = pass.at.max(namespace.entries.base());
    let mut count = std::mem::take(&mut pass.count);
    out.append(&mut pass.saved);
    let until = pass.end.min(pass.at.saturating_add(most));
    for number in pass.at..until {
        if let Some(entry) = namespace.entries.get(number) {
            put_saved(&entry, out);
            count += 1;
        }
    }
    pass.at = pass.at.max(until);
    let goes_on = pass.at < pass.end || count > 0;
    if goes_on {
        namespace.pass = Some(pass);
    }
    goes_on.then_some(count)
}
