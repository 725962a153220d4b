//! Numbers, documents and verdicts as bytes, as logs and snapshots have them.

mod ended;

pub(crate) use self::ended::{ended, mode, put_ended, put_mode};
use crate::content::Content;
use crate::document::{Document, Key, Measure};
use crate::entries::Grounds;

use twinsplit_core::similarity::Measure as SetMeasure;
use twinsplit_core::similarity::text::{Content as TextContent, TEXT_MEASURES};

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
const SET: u8 = 3;

const NO_CONTENT: u8 = 0;
const COUNTS: u8 = 1;
const CHARACTERS: u8 = 2;
const FEATURES: u8 = 3;

/// Appends a document.
pub(crate) fn put_document((key, digest, content): (Key, u64, Option<&Content>), out: &mut Vec<u8>) {
    match key {
        Key::Nothing => out.push(NOTHING),
        Key::Set => out.push(SET),
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
        Some(Content::Checked(TextContent::Text(text))) => {
            out.push(CHARACTERS);
            put_bytes(text.as_bytes(), out);
        }
        Some(Content::Set(features)) => {
            out.push(FEATURES);
            put_number(features.len() as u64, out);
            features.iter().for_each(|feature| out.extend_from_slice(&feature.to_le_bytes()));
        }
        Some(Content::Checked(TextContent::Counts(counts))) => {
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
        SET => Key::Set,
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
        CHARACTERS => {
            let text = String::from_utf8(from.bytes()?.to_vec()).ok()?;
            Some(Content::Checked(TextContent::Text(text)))
        }
        FEATURES => {
            let count = usize::try_from(from.number()?).ok().filter(|count| *count <= from.0.len() / 8)?;
            let mut features = Vec::with_capacity(count);
            for _ in 0..count {
                features.push(u64::from_le_bytes(from.fixed()?));
            }
            // What is compared ascends.
            let ascends = features.windows(2).all(|two| two[0] < two[1]);
            Some(Content::Set(Some(features).filter(|_| ascends)?.into()))
        }
        COUNTS => {
            let count = from.number()?;
            // Each takes nine bytes at least, so nothing is allocated for what is not there.
            let count = usize::try_from(count).ok().filter(|count| *count <= from.0.len() / 9)?;
            let mut counts = Vec::with_capacity(count);
            for _ in 0..count {
                counts.push((u64::from_le_bytes(from.fixed()?), from.number()?));
            }
            Some(Content::Checked(TextContent::Counts(counts)))
        }
        _ => return None,
    };
    // A set is found by its features, and nothing else has any.
    if (key == Key::Set) != matches!(content, Some(Content::Set(_))) {
        return None;
    }
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
        Measure::Set(measure, share) => {
            let place = SET_MEASURES.iter().position(|one| *one == measure).unwrap_or(0);
            (BY_SET + place as u8, Some(share))
        }
    }
}

/// Reads a measure, whose first byte is given.
fn measure(kind: u8, from: &mut Reader<'_>) -> Option<Measure> {
    measure_of(kind, || u32::try_from(from.number()?).ok()).filter(|measure| match measure {
        Measure::Hamming | Measure::EqualText | Measure::Set(SetMeasure::Overlap, _) => true,
        Measure::Text(_, share) | Measure::Set(_, share) => *share <= 1_000_000,
    })
}

/// The measure that a byte stands for, which may have a share.
pub(crate) fn measure_of(kind: u8, share: impl FnOnce() -> Option<u32>) -> Option<Measure> {
    Some(match kind {
        HAMMING => Measure::Hamming,
        EQUAL_TEXT => Measure::EqualText,
        BY_SET.. => Measure::Set(*SET_MEASURES.get(usize::from(kind - BY_SET))?, share()?),
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
const BY_SET: u8 = 16;

/// The measures of sets: the byte that stands for one is its place, so new ones come last.
const SET_MEASURES: [SetMeasure; 6] = [
    SetMeasure::Jaccard,
    SetMeasure::Containment,
    SetMeasure::Cosine,
    SetMeasure::Dice,
    SetMeasure::Overlap,
    SetMeasure::QueryContainment,
];

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
            ".*".prop_map(|text| Some(Content::Checked(TextContent::Text(text)))),
            prop::collection::vec(any::<(u64, u64)>(), 0..9)
                .prop_map(|counts| Some(Content::Checked(TextContent::Counts(counts)))),
        ];
        let set = prop::collection::btree_set(any::<u64>(), 0..9)
            .prop_map(|set| (Key::Set, Some(Content::Set(set.into_iter().collect()))));
        let compared = prop_oneof![4 => (key, content), 1 => set];
        (compared, any::<u64>()).prop_map(|((key, content), digest)| Document {
            key,
            digest,
            content: content.map(Box::new),
        })
    }

    /// A document of a set has one, and no other has.
    #[test]
    fn a_set_is_read_where_it_ascends() {
        let read = |key: u8, features: &[u64]| {
            let mut out = vec![key];
            out.extend([0; 8]);
            out.extend([FEATURES, features.len() as u8]);
            features.iter().for_each(|feature| out.extend(feature.to_le_bytes()));
            document(&mut Reader(&out)).map(|document| document.key)
        };
        assert_eq!(read(SET, &[1, 5]), Some(Key::Set));
        assert_eq!([read(SET, &[5, 1]), read(SET, &[5, 5]), read(NOTHING, &[1])], [None; 3]);
        assert_eq!(document(&mut Reader(&[&[SET][..], &[0; 9]].concat())), None);
    }

    pub(crate) fn all_grounds() -> impl Strategy<Value = Option<Grounds>> {
        let measure = (0usize..11, 0u32..=1_000_000).prop_map(|(kind, share)| match kind {
            0 => Measure::Hamming,
            1 => Measure::EqualText,
            kind @ 2..5 => Measure::Text(TEXT_MEASURES[kind - 2], share),
            kind => Measure::Set(SET_MEASURES[kind - 5], share),
        });
        prop::option::of((any::<u64>(), 0u32..9, measure).prop_map(|(of, distance, measure)| Grounds {
            of,
            distance,
            measure,
        }))
    }
}
