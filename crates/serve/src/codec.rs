//! Numbers, documents and changes as bytes, as logs and snapshots have them.

use crate::document::{Document, Key, Measure};
use crate::entries::Grounds;
use crate::namespace::Taken;
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
    match measure {
        Measure::Hamming => out.push(HAMMING),
        Measure::EqualText => out.push(EQUAL_TEXT),
        Measure::Text(measure, share) => {
            let place = TEXT_MEASURES.iter().position(|one| *one == measure).unwrap_or(0);
            out.push(BY_TEXT + place as u8);
            put_number(share.into(), out);
        }
    }
    put_number(of, out);
    out.push(distance as u8);
}

/// Reads what a verdict rests on.
pub(crate) fn grounds(from: &mut Reader<'_>) -> Option<Option<Grounds>> {
    let measure = match from.byte()? {
        NEW => return Some(None),
        HAMMING => Measure::Hamming,
        EQUAL_TEXT => Measure::EqualText,
        other => {
            let measure = *TEXT_MEASURES.get(usize::from(other.checked_sub(BY_TEXT)?))?;
            let share = u32::try_from(from.number()?).ok().filter(|share| *share <= 1_000_000)?;
            Measure::Text(measure, share)
        }
    };
    Some(Some(Grounds { of: from.number()?, distance: distance(from)?, measure }))
}

/// What happened, as the log has it: what was decided, and not only what was asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change<'b> {
    /// A document was taken in.
    Added {
        /// The id.
        id: &'b [u8],
        /// The document.
        document: Document,
        /// Its number, and what was said of it.
        taken: Taken,
    },
    /// A document was forgotten.
    Deleted {
        /// Its id.
        id: &'b [u8],
    },
}

const ADDED: u8 = 1;
const DELETED: u8 = 2;

/// Appends that a document was taken in.
pub(crate) fn put_added(
    (now, namespace, id): (u64, &[u8], &[u8]),
    document: (Key, u64, Option<&Content>),
    taken: Taken,
    out: &mut Vec<u8>,
) {
    out.push(ADDED);
    put_number(now, out);
    put_bytes(namespace, out);
    put_bytes(id, out);
    put_number(taken.number, out);
    put_grounds(taken.grounds, out);
    put_document(document, out);
}

/// Appends that one was deleted.
pub(crate) fn put_deleted(now: u64, namespace: &[u8], id: &[u8], out: &mut Vec<u8>) {
    out.push(DELETED);
    put_number(now, out);
    put_bytes(namespace, out);
    put_bytes(id, out);
}

/// Reads when what happened in which namespace.
pub(crate) fn change(bytes: &[u8]) -> Option<(u64, &[u8], Change<'_>)> {
    let mut from = Reader(bytes);
    let kind = from.byte()?;
    let (now, namespace, id) = (from.number()?, from.bytes()?, from.bytes()?);
    let change = match kind {
        ADDED => {
            let number = from.number()?;
            let grounds = grounds(&mut from)?;
            Change::Added { id, document: document(&mut from)?, taken: Taken { number, grounds } }
        }
        DELETED => Change::Deleted { id },
        _ => return None,
    };
    from.end()?;
    Some((now, namespace, change))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn documents() -> impl Strategy<Value = Document> {
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

    fn all_grounds() -> impl Strategy<Value = Option<Grounds>> {
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
        /// What is read is what was put; what is cut off, or followed by more, is nothing.
        #[test]
        fn any_change_is_read_as_it_was_put(
            document in documents(), grounds in all_grounds(),
            now: u64, number: u64, namespace: Vec<u8>, id: Vec<u8>, cut: prop::sample::Index,
        ) {
            let mut out = Vec::new();
            let taken = Taken { number, grounds };
            put_added((now, &namespace, &id), (document.key, document.digest, document.content.as_deref()), taken, &mut out);
            let expected = Change::Added { id: &id, document, taken };
            prop_assert_eq!(change(&out), Some((now, &namespace[..], expected)));
            prop_assert_eq!(change(&out[..cut.index(out.len())]), None);
            out.push(0);
            prop_assert_eq!(change(&out), None);
            let mut out = Vec::new();
            put_deleted(now, &namespace, &id, &mut out);
            prop_assert_eq!(change(&out), Some((now, &namespace[..], Change::Deleted { id: &id })));
        }
    }
}
