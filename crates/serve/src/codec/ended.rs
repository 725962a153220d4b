//! How runs end, as bytes.

use super::{NEW, Reader, distance, measure, put_bytes, put_measure, put_number};
use crate::document::Verdict;
use crate::runs::{Ended, Mode, Settled};

/// Appends a verdict.
fn put_verdict(verdict: &Verdict, out: &mut Vec<u8>) {
    let Verdict::Duplicate { id, distance, measure, pending } = verdict else {
        out.push(NEW);
        return;
    };
    put_measure(*measure, out);
    put_bytes(id, out);
    out.push(distance.unwrap_or(0) as u8);
    // A run has a name.
    put_bytes(pending.as_deref().unwrap_or_default(), out);
}

/// Reads a verdict.
fn verdict(from: &mut Reader<'_>) -> Option<Verdict> {
    let measure = match from.byte()? {
        NEW => return Some(Verdict::New),
        kind => measure(kind, from)?,
    };
    let (id, distance, pending) = (from.bytes()?.into(), distance(from)?, from.bytes()?);
    let distance = measure.has_distance().then_some(distance);
    let pending = (!pending.is_empty()).then(|| pending.into());
    Some(Verdict::Duplicate { id, distance, measure, pending })
}

const COMMITTED: u8 = 1;
const CANCELLED: u8 = 2;

const DUPLICATE: u8 = 0;
const ORPHAN: u8 = 1;
const CONFLICT: u8 = 2;

/// Appends how a run has ended.
pub(crate) fn put_ended(ended: &Ended, out: &mut Vec<u8>) {
    match ended {
        Ended::Committed(all) => {
            out.push(COMMITTED);
            put_number(all.len() as u64, out);
            for (id, settled) in all {
                put_bytes(id, out);
                match settled {
                    Settled::Duplicate(verdict) => {
                        out.push(DUPLICATE);
                        put_verdict(verdict, out);
                    }
                    Settled::Orphan => out.push(ORPHAN),
                    Settled::Conflict => out.push(CONFLICT),
                }
            }
        }
        Ended::Cancelled(all) => {
            out.push(CANCELLED);
            put_number(all.len() as u64, out);
            all.iter().for_each(|id| put_bytes(id, out));
        }
    }
}

/// Reads how a run has ended.
pub(crate) fn ended(from: &mut Reader<'_>) -> Option<Ended> {
    let (kind, count) = (from.byte()?, from.number()?);
    Some(match kind {
        COMMITTED => {
            let mut all = Vec::new();
            for _ in 0..count {
                let id = from.bytes()?.into();
                let settled = match from.byte()? {
                    DUPLICATE => Settled::Duplicate(verdict(from)?),
                    ORPHAN => Settled::Orphan,
                    CONFLICT => Settled::Conflict,
                    _ => return None,
                };
                all.push((id, settled));
            }
            Ended::Committed(all)
        }
        CANCELLED => {
            let mut all = Vec::new();
            for _ in 0..count {
                all.push(from.bytes()?.into());
            }
            Ended::Cancelled(all)
        }
        _ => return None,
    })
}

const ISOLATED: u8 = 0;
const SHARED: u8 = 1;

/// Appends the mode of a run.
pub(crate) fn put_mode(mode: Mode, out: &mut Vec<u8>) {
    out.push(if mode == Mode::Isolated { ISOLATED } else { SHARED });
}

/// Reads the mode of a run.
pub(crate) fn mode(from: &mut Reader<'_>) -> Option<Mode> {
    match from.byte()? {
        ISOLATED => Some(Mode::Isolated),
        SHARED => Some(Mode::Shared),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests::all_grounds;
    use crate::entries::Grounds;
    use proptest::prelude::*;

    proptest! {
        /// What is read is what was put; what is cut off is nothing.
        #[test]
        fn any_end_of_a_run_is_read_as_it_was_put(
            committed: bool, ids in prop::collection::vec(any::<(Vec<u8>, u8)>(), 0..9), grounds in all_grounds(),
            pending in "[a-z]{0,3}", cut: prop::sample::Index,
        ) {
            let verdict = grounds.map_or(Verdict::New, |Grounds { distance, measure, .. }| Verdict::Duplicate {
                id: b"kept"[..].into(),
                distance: measure.has_distance().then_some(distance),
                measure,
                pending: (!pending.is_empty()).then(|| pending.as_bytes().into()),
            });
            let settled = |kind: u8| match kind % 3 {
                0 => Settled::Duplicate(verdict.clone()),
                1 => Settled::Orphan,
                _ => Settled::Conflict,
            };
            let end = match committed {
                true => Ended::Committed(ids.iter().map(|(id, kind)| (id.clone().into(), settled(*kind))).collect()),
                false => Ended::Cancelled(ids.iter().map(|(id, _)| id.clone().into()).collect()),
            };
            let mut out = Vec::new();
            put_ended(&end, &mut out);
            prop_assert_eq!(ended(&mut Reader(&out)), Some(end));
            prop_assert_eq!(ended(&mut Reader(&out[..cut.index(out.len())])), None);
        }
    }
}
