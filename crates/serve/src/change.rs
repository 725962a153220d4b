//! Changes as the log has them: what was decided, and not only what was asked.

use crate::codec::{self, Reader, put_bytes, put_document, put_grounds, put_mode, put_number};
use crate::content::Content;
use crate::document::{Document, Key};
use crate::namespace::Taken;
use crate::runs::Mode;
use crate::settle::Decision;

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change<'b> {
    /// A document was taken in.
    Added {
        /// The id.
        id: &'b [u8],
        /// The document.
        document: Document,
        /// Its number, its run, and what was said of it.
        taken: Taken,
    },
    /// A document was forgotten.
    Deleted {
        /// Its id.
        id: &'b [u8],
        /// The run as which it was seen; 0 for none.
        run: u32,
    },
    /// A run has begun.
    Begun {
        /// Its name.
        run: &'b [u8],
        /// When what it brings counts.
        mode: Mode,
    },
    /// A run was committed.
    Committed {
        /// Its name.
        run: &'b [u8],
        /// What has become of its documents, by number.
        decisions: Vec<(u64, Decision)>,
    },
    /// A run was cancelled.
    Cancelled {
        /// Its name.
        run: &'b [u8],
    },
    /// From here on the namespace may be changed or not.
    ReadOnly(bool),
}

const ADDED: u8 = 1;
const DELETED: u8 = 2;
const ADDED_IN_RUN: u8 = 3;
const DELETED_IN_RUN: u8 = 4;
const BEGUN: u8 = 5;
const COMMITTED: u8 = 6;
const CANCELLED: u8 = 7;
const READ_ONLY: u8 = 8;

/// Appends what all changes begin with: the time, the namespace, and the id or the name of the run.
fn put_head(kind: u8, (now, namespace, name): (u64, &[u8], &[u8]), out: &mut Vec<u8>) {
    out.push(kind);
    put_number(now, out);
    put_bytes(namespace, out);
    put_bytes(name, out);
}

/// Appends that a document was taken in.
pub(crate) fn put_added(
    head: (u64, &[u8], &[u8]),
    document: (Key, u64, Option<&Content>),
    taken: Taken,
    out: &mut Vec<u8>,
) {
    let Taken { number, grounds, run, forced } = taken;
    put_head(if run > 0 { ADDED_IN_RUN } else { ADDED }, head, out);
    if run > 0 {
        put_number(run.into(), out);
        out.push(forced.into());
    }
    put_number(number, out);
    put_grounds(grounds, out);
    put_document(document, out);
}

/// Appends that one was deleted, as a run saw it.
pub(crate) fn put_deleted(head: (u64, &[u8], &[u8]), run: u32, out: &mut Vec<u8>) {
    put_head(if run > 0 { DELETED_IN_RUN } else { DELETED }, head, out);
    if run > 0 {
        put_number(run.into(), out);
    }
}

/// Appends that a run has begun.
pub(crate) fn put_begun(head: (u64, &[u8], &[u8]), mode: Mode, out: &mut Vec<u8>) {
    put_head(BEGUN, head, out);
    put_mode(mode, out);
}

const ORPHAN: u8 = 0;
const CONFLICT: u8 = 1;
const DROP: u8 = 2;
const MERGE: u8 = 3;

/// Appends that a run was committed, and what was decided of its documents.
pub(crate) fn put_committed(head: (u64, &[u8], &[u8]), decisions: &[(u64, Decision)], out: &mut Vec<u8>) {
    put_head(COMMITTED, head, out);
    put_number(decisions.len() as u64, out);
    for (number, decision) in decisions {
        put_number(*number, out);
        let (kind, grounds) = match decision {
            Decision::Orphan => (ORPHAN, None),
            Decision::Conflict => (CONFLICT, None),
            Decision::Drop(grounds) => (DROP, Some(*grounds)),
            Decision::Merge(grounds) => (MERGE, Some(*grounds)),
        };
        out.push(kind);
        if grounds.is_some() {
            put_grounds(grounds, out);
        }
    }
}

/// Appends that a run was cancelled.
pub(crate) fn put_cancelled(head: (u64, &[u8], &[u8]), out: &mut Vec<u8>) {
    put_head(CANCELLED, head, out);
}

/// Appends that a namespace may be changed from here on, or not, in the place of a name.
pub(crate) fn put_read_only(now: u64, namespace: &[u8], is: bool, out: &mut Vec<u8>) {
    put_head(READ_ONLY, (now, namespace, &[is.into()]), out);
}

fn decision(from: &mut Reader<'_>) -> Option<(u64, Decision)> {
    let number = from.number()?;
    Some((
        number,
        match from.byte()? {
            ORPHAN => Decision::Orphan,
            CONFLICT => Decision::Conflict,
            DROP => Decision::Drop(codec::grounds(from)??),
            MERGE => Decision::Merge(codec::grounds(from)??),
            _ => return None,
        },
    ))
}

/// Reads when what happened in which namespace.
pub(crate) fn change(bytes: &[u8]) -> Option<(u64, &[u8], Change<'_>)> {
    let mut from = Reader(bytes);
    let kind = from.byte()?;
    let (now, namespace, name) = (from.number()?, from.bytes()?, from.bytes()?);
    let run = match kind {
        ADDED_IN_RUN | DELETED_IN_RUN => u32::try_from(from.number()?).ok().filter(|run| *run > 0)?,
        _ => 0,
    };
    let change = match kind {
        ADDED | ADDED_IN_RUN => {
            let forced = kind == ADDED_IN_RUN && from.byte()? != 0;
            let number = from.number()?;
            let grounds = codec::grounds(&mut from)?;
            let document = codec::document(&mut from)?;
            Change::Added { id: name, document, taken: Taken { number, grounds, run, forced } }
        }
        DELETED | DELETED_IN_RUN => Change::Deleted { id: name, run },
        BEGUN => Change::Begun { run: name, mode: codec::mode(&mut from)? },
        COMMITTED => {
            let count = from.number()?;
            let mut decisions = Vec::new();
            for _ in 0..count {
                decisions.push(decision(&mut from)?);
            }
            Change::Committed { run: name, decisions }
        }
        CANCELLED => Change::Cancelled { run: name },
        READ_ONLY => Change::ReadOnly(match name {
            [0] => false,
            [1] => true,
            _ => return None,
        }),
        _ => return None,
    };
    from.end()?;
    Some((now, namespace, change))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests::{all_grounds, documents};
    use proptest::prelude::*;

    proptest! {
        /// What is read is what was put; what is cut off, or followed by more, is nothing.
        #[test]
        fn any_change_is_read_as_it_was_put(
            document in documents(), grounds in all_grounds(), run: u32, forced: bool, kinds in prop::collection::vec(0u8..4, 0..5),
            now: u64, number: u64, namespace: Vec<u8>, id: Vec<u8>, cut: prop::sample::Index,
        ) {
            let taken = Taken { number, grounds, run, forced: forced && run > 0 };
            let (head, mode) = ((now, &namespace[..], &id[..]), if forced { Mode::Shared } else { Mode::Isolated });
            let decision = |kind: u8| match (kind, grounds) {
                (2, Some(grounds)) => Decision::Drop(grounds),
                (3, Some(grounds)) => Decision::Merge(grounds),
                (0, _) => Decision::Orphan,
                _ => Decision::Conflict,
            };
            let decisions: Vec<_> = (number >> 1..).zip(kinds).map(|(number, kind)| (number, decision(kind))).collect();
            let mut all = [const { Vec::new() }; 6];
            put_added(head, (document.key, document.digest, document.content.as_deref()), taken, &mut all[0]);
            put_deleted(head, run, &mut all[1]);
            put_begun(head, mode, &mut all[2]);
            put_committed(head, &decisions, &mut all[3]);
            put_cancelled(head, &mut all[4]);
            put_read_only(now, &namespace, forced, &mut all[5]);
            let expected = [
                Change::Added { id: &id, document, taken },
                Change::Deleted { id: &id, run },
                Change::Begun { run: &id, mode },
                Change::Committed { run: &id, decisions },
                Change::Cancelled { run: &id },
                Change::ReadOnly(forced),
            ];
            for (out, expected) in all.into_iter().zip(expected) {
                prop_assert_eq!(change(&out), Some((now, &namespace[..], expected)));
                prop_assert_eq!(change(&out[..cut.index(out.len())]), None);
                let more = [&out[..], &[0]].concat();
                prop_assert_eq!(change(&more), None);
            }
        }
    }
}
