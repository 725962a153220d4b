//! Numbers, documents and verdicts as bytes, as logs and snapshots have them.

use crate::document::{Document, Key, Measure, Verdict};
use crate::entries::Grounds;
use crate::runs::{Ended, Mode, Settled};
use twinsplit_core::similarity::text::{Content, TEXT_MEASURES};

/// Appends a number, seven bits a byte, the lowest first.
pub(crate) fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends bytes behind their number.
pub(crate) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Reads what was put. Every method gives `None` where the bytes end too early or hold what cannot be there.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'b>(pub &'b [u8]);

impl<'b> Reader<'b> {
    pub fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                return None;
            }
            number |= part << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    pub fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    /// That nothing is left.
    pub fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

const NOTHING: u8 = 0;
const TEXT: u8 = 1;
const FINGERPRINT: u8 = 2;

const NO_CONTENT: u8 = 0;
const COUNTS: u8 = 1;
const CHARACTERS: u8 = 2;

/// Appends a document.
pub(crate) fn put_document((key, digest, content): (Key, u64, Option<&Content>), out: &mut Vec<u8>) {
    match key {
        Key::Nothing => out.push(NOTHING),
        Key::Text(hash) => {
            out.push(TEXT);
            out.extend_from_slice(&hash.to_le_bytes());
        }
        Key::Fingerprint { value, most } => {
            out.push(FINGERPRINT);
            out.push(most as u8);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
    out.extend_from_slice(&digest.to_le_bytes());
    match content {
        None => out.push(NO_CONTENT),
        Some(Content::Text(text)) => {
            out.push(CHARACTERS);
            put_bytes(text.as_bytes(), out);
        }
        Some(Content::Counts(counts)) => {
            out.push(COUNTS);
            put_number(counts.len() as u64, out);
            for (feature, count) in counts {
                out.extend_from_slice(&feature.to_le_bytes());
                put_number(*count, out);
            }
        }
    }
}

/// Reads a distance.
fn distance(from: &mut Reader<'_>) -> Option<u32> {
    Some(u32::from(from.byte()?)).filter(|distance| *distance <= twinsplit_hamming::MOST_DISTANCE)
}

/// Reads a document.
pub(crate) fn document(from: &mut Reader<'_>) -> Option<Document> {
    let key = match from.byte()? {
        NOTHING => Key::Nothing,
        TEXT => Key::Text(u128::from_le_bytes(from.fixed()?)),
        FINGERPRINT => {
            let most = distance(from)?;
            Key::Fingerprint { value: u128::from_le_bytes(from.fixed()?), most }
        }
        _ => return None,
    };
    let digest = u64::from_le_bytes(from.fixed()?);
    let content = match from.byte()? {
        NO_CONTENT => None,
        CHARACTERS => Some(Content::Text(String::from_utf8(from.bytes()?.to_vec()).ok()?)),
        COUNTS => {
            let count = from.number()?;
            // Each takes nine bytes at least, so nothing is allocated for what is not there.
            let count = usize::try_from(count).ok().filter(|count| *count <= from.0.len() / 9)?;
            let mut counts = Vec::with_capacity(count);
            for _ in 0..count {
                counts.push((u64::from_le_bytes(from.fixed()?), from.number()?));
            }
            Some(Content::Counts(counts))
        }
        _ => return None,
    };
    Some(Document { key, digest, content: content.map(Box::new) })
}

/// Appends a measure.
fn put_measure(measure: Measure, out: &mut Vec<u8>) {
    let (kind, share) = kind_of(measure);
    out.push(kind);
    share.iter().for_each(|share| put_number((*share).into(), out));
}

/// The byte that stands for a measure, and its share, where it has one.
pub(crate) fn kind_of(measure: Measure) -> (u8, Option<u32>) {
    match measure {
        Measure::Hamming => (HAMMING, None),
        Measure::EqualText => (EQUAL_TEXT, None),
        Measure::Text(measure, share) => {
            let place = TEXT_MEASURES.iter().position(|one| *one == measure).unwrap_or(0);
            (BY_TEXT + place as u8, Some(share))
        }
    }
}

/// Reads a measure, whose first byte is given.
fn measure(kind: u8, from: &mut Reader<'_>) -> Option<Measure> {
    measure_of(kind, || u32::try_from(from.number()?).ok().filter(|share| *share <= 1_000_000))
}

/// The measure that a byte stands for, which may have a share.
pub(crate) fn measure_of(kind: u8, share: impl FnOnce() -> Option<u32>) -> Option<Measure> {
    Some(match kind {
        HAMMING => Measure::Hamming,
        EQUAL_TEXT => Measure::EqualText,
        other => {
            let measure = *TEXT_MEASURES.get(usize::from(other.checked_sub(BY_TEXT)?))?;
            Measure::Text(measure, share()?)
        }
    })
}

const NEW: u8 = 0;
const HAMMING: u8 = 1;
const EQUAL_TEXT: u8 = 2;
const BY_TEXT: u8 = 3;

/// Appends what a verdict rests on.
pub(crate) fn put_grounds(grounds: Option<Grounds>, out: &mut Vec<u8>) {
    let Some(Grounds { of, distance, measure }) = grounds else {
        out.push(NEW);
        return;
    };
    put_measure(measure, out);
    put_number(of, out);
    out.push(distance as u8);
}

/// Reads what a verdict rests on.
pub(crate) fn grounds(from: &mut Reader<'_>) -> Option<Option<Grounds>> {
    let measure = match from.byte()? {
        NEW => return Some(None),
        kind => measure(kind, from)?,
    };
    Some(Some(Grounds { of: from.number()?, distance: distance(from)?, measure }))
}

/// Appends a verdict.
fn put_verdict(verdict: &Verdict, out: &mut Vec<u8>) {
    let Verdict::Duplicate { id, distance, measure, pending } = verdict else {
        out.push(NEW);
        return;
    };
    put_measure(*measure, out);
    put_bytes(id, out);
    out.push(*distance as u8);
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
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn documents() -> impl Strategy<Value = Document> {
        let key = prop_oneof![
            Just(Key::Nothing),
            any::<u128>().prop_map(Key::Text),
            (any::<u128>(), 0u32..9).prop_map(|(value, most)| Key::Fingerprint { value, most }),
        ];
        let content = prop_oneof![
            Just(None),
            ".*".prop_map(|text| Some(Box::new(Content::Text(text)))),
            prop::collection::vec(any::<(u64, u64)>(), 0..9)
                .prop_map(|counts| Some(Box::new(Content::Counts(counts)))),
        ];
        (key, any::<u64>(), content).prop_map(|(key, digest, content)| Document { key, digest, content })
    }

    pub(crate) fn all_grounds() -> impl Strategy<Value = Option<Grounds>> {
        let measure = (0usize..5, 0u32..=1_000_000).prop_map(|(kind, share)| match kind {
            0 => Measure::Hamming,
            1 => Measure::EqualText,
            kind => Measure::Text(TEXT_MEASURES[kind - 2], share),
        });
        prop::option::of((any::<u64>(), 0u32..9, measure).prop_map(|(of, distance, measure)| Grounds {
            of,
            distance,
            measure,
        }))
    }

    proptest! {
        /// What is read is what was put; what is cut off is nothing.
        #[test]
        fn any_end_of_a_run_is_read_as_it_was_put(
            committed: bool, ids in prop::collection::vec(any::<(Vec<u8>, u8)>(), 0..9), grounds in all_grounds(),
            pending in "[a-z]{0,3}", cut: prop::sample::Index,
        ) {
            let verdict = grounds.map_or(Verdict::New, |Grounds { distance, measure, .. }| Verdict::Duplicate {
                id: b"kept"[..].into(),
                distance,
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
