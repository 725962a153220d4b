//! The answers of a shard to records of the log, which follow one another.
//!
//! | bytes of the value | what |
//! |---|---|
//! | 1 | the version, 1 |
//! | 8 | what the node was made with, little endian |
//! | | the shard; the first record's number; the time before it; how many answers follow; each of these |
//!
//! An answer is a byte, and what it says is behind it. A record may be answered twice, by a node that was killed and its
//! successor: the first answer in the partition counts.

use crate::codec::{Reader, grounds, put_bytes, put_grounds, put_number};
use crate::document::{Measure, Refused, Verdict};
use crate::entries::Grounds;

const VERSION: u8 = 1;

/// A kept document that is like another one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// Its number.
    pub of: u64,
    pub distance: u32,
    pub measure: Measure,
    /// When it came.
    pub time: u64,
    pub id: Box<[u8]>,
}

impl Found {
    /// What is said of the other one.
    pub fn verdict(&self) -> Verdict {
        let distance = self.measure.has_distance().then_some(self.distance);
        Verdict::Duplicate { id: self.id.clone(), distance, measure: self.measure, pending: None }
    }
}

/// What a shard has that a record is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// Nothing.
    Nothing,
    /// A document of this id with this content: what was said of it.
    Said(Option<Found>),
    /// A document of this id with other content.
    Conflict,
    /// The first kept one that is like it.
    Near(Found),
    /// So many documents, and so many that are kept.
    Count(u64, u64),
}

/// Why a shard takes nothing more in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// There is no more memory than this many bytes.
    Memory(u64),
    /// There may be so many namespaces.
    Namespaces(u64),
}

impl Full {
    /// What a client is told.
    pub fn refused(self) -> Refused {
        match self {
            Full::Memory(bytes) => Refused::Memory(bytes),
            Full::Namespaces(most) => Refused::Namespaces(usize::try_from(most).unwrap_or(usize::MAX)),
        }
    }
}

/// What a shard says of a record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub answer: Answer,
    pub full: Option<Full>,
}

impl Row {
    /// Bytes that it takes, at most.
    pub fn bytes(&self) -> usize {
        match &self.answer {
            Answer::Said(Some(found)) | Answer::Near(found) => 64 + found.id.len(),
            _ => 32,
        }
    }
}

/// What it says of some, which follow one another in one epoch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answers {
    pub shard: usize,
    /// The number of the first record.
    pub from: u64,
    /// The latest time of the records before it.
    pub before: u64,
    pub rows: Vec<Row>,
}

/// Why these are no answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// The node was made with other options.
    Foreign,
    /// They are damaged, or of a later version.
    Unknown,
}

impl Answers {
    /// The number behind the last record.
    pub fn to(&self) -> u64 {
        self.from.saturating_add(self.rows.len() as u64)
    }
}

const SAID_NEW: u8 = 1;
const SAID: u8 = 2;
const CONFLICT: u8 = 3;
const NEAR: u8 = 4;
const COUNT: u8 = 5;
const KINDS: u8 = 15;
const MEMORY: u8 = 16;
const NAMESPACES: u8 = 32;

fn put_found(found: &Found, out: &mut Vec<u8>) {
    let Found { of, distance, measure, time, id } = found;
    put_grounds(Some(Grounds { of: *of, distance: *distance, measure: *measure }), out);
    put_number(*time, out);
    put_bytes(id, out);
}

fn found(from: &mut Reader<'_>) -> Option<Found> {
    let Grounds { of, distance, measure } = grounds(from)??;
    Some(Found { of, distance, measure, time: from.number()?, id: from.bytes()?.into() })
}

fn put_row(row: &Row, out: &mut Vec<u8>) {
    let full = match row.full {
        None => 0,
        Some(Full::Memory(_)) => MEMORY,
        Some(Full::Namespaces(_)) => NAMESPACES,
    };
    let kind = match &row.answer {
        Answer::Nothing => 0,
        Answer::Said(None) => SAID_NEW,
        Answer::Said(Some(_)) => SAID,
        Answer::Conflict => CONFLICT,
        Answer::Near(_) => NEAR,
        Answer::Count(..) => COUNT,
    };
    out.push(kind | full);
    if let Some(Full::Memory(most) | Full::Namespaces(most)) = row.full {
        put_number(most, out);
    }
    match &row.answer {
        Answer::Said(Some(found)) | Answer::Near(found) => put_found(found, out),
        Answer::Count(all, kept) => {
            put_number(*all, out);
            put_number(*kept, out);
        }
        Answer::Nothing | Answer::Said(None) | Answer::Conflict => {}
    }
}

fn row(from: &mut Reader<'_>) -> Option<Row> {
    let byte = from.byte()?;
    let full = match byte & !KINDS {
        0 => None,
        MEMORY => Some(Full::Memory(from.number()?)),
        NAMESPACES => Some(Full::Namespaces(from.number()?)),
        _ => return None,
    };
    let answer = match byte & KINDS {
        0 => Answer::Nothing,
        SAID_NEW => Answer::Said(None),
        SAID => Answer::Said(Some(found(from)?)),
        CONFLICT => Answer::Conflict,
        NEAR => Answer::Near(found(from)?),
        COUNT => Answer::Count(from.number()?, from.number()?),
        _ => return None,
    };
    Some(Row { answer, full })
}

/// Answers as the partition has them.
pub(crate) fn encode(answers: &Answers, made_with: u64) -> Vec<u8> {
    let mut out = vec![VERSION];
    out.extend_from_slice(&made_with.to_le_bytes());
    for number in [answers.shard as u64, answers.from, answers.before, answers.rows.len() as u64] {
        put_number(number, &mut out);
    }
    answers.rows.iter().for_each(|row| put_row(row, &mut out));
    out
}

/// The answers of a record.
///
/// # Errors
/// It holds none that can be merged.
pub(crate) fn decode(value: &[u8], made_with: u64) -> Result<Answers, Wrong> {
    let mut from = Reader(value);
    let head = from.byte().zip(from.fixed());
    let (_, made) = head.filter(|(version, _)| *version == VERSION).ok_or(Wrong::Unknown)?;
    if u64::from_le_bytes(made) != made_with {
        return Err(Wrong::Foreign);
    }
    let mut read = || {
        let shard = usize::try_from(from.number()?).ok()?;
        let (first, before) = (from.number()?, from.number()?);
        // Each takes a byte at least, so nothing is allocated for what is not there.
        let count = usize::try_from(from.number()?).ok().filter(|count| *count <= from.0.len())?;
        let mut rows = Vec::with_capacity(count);
        for _ in 0..count {
            rows.push(row(&mut from)?);
        }
        from.end()?;
        Some(Answers { shard, from: first, before, rows })
    };
    read().ok_or(Wrong::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests::all_grounds;
    use proptest::prelude::*;

    fn founds() -> impl Strategy<Value = Found> {
        let grounds = all_grounds().prop_filter_map("a verdict that rests on something", |grounds| grounds);
        (grounds, any::<u64>(), any::<Vec<u8>>()).prop_map(|(grounds, time, id)| {
            let Grounds { of, distance, measure } = grounds;
            Found { of, distance, measure, time, id: id.into() }
        })
    }

    fn rows() -> impl Strategy<Value = Row> {
        let answer = prop_oneof![
            Just(Answer::Nothing),
            Just(Answer::Said(None)),
            founds().prop_map(|found| Answer::Said(Some(found))),
            Just(Answer::Conflict),
            founds().prop_map(Answer::Near),
            any::<(u64, u64)>().prop_map(|(all, kept)| Answer::Count(all, kept)),
        ];
        let full = prop_oneof![
            Just(None),
            any::<u64>().prop_map(|most| Some(Full::Memory(most))),
            any::<u64>().prop_map(|most| Some(Full::Namespaces(most))),
        ];
        (answer, full).prop_map(|(answer, full)| Row { answer, full })
    }

    proptest! {
        /// What is read is what was put, and takes no more room than is counted for it; what is of other options is known for it, and any other bytes
        /// are refused.
        #[test]
        fn any_answers_are_read_as_they_were_put(
            rows in prop::collection::vec(rows(), 0..20), shard in 0usize..100, from: u64, before: u64, made_with: u64,
            cut: prop::sample::Index, bytes: Vec<u8>,
        ) {
            for row in &rows {
                let mut out = Vec::new();
                put_row(row, &mut out);
                prop_assert!(out.len() <= row.bytes());
            }
            let answers = Answers { shard, from, before, rows };
            let out = encode(&answers, made_with);
            prop_assert_eq!(decode(&out, made_with), Ok(answers));
            prop_assert_eq!(decode(&out, !made_with), Err(Wrong::Foreign));
            prop_assert_eq!(decode(&out[..cut.index(out.len())], made_with), Err(Wrong::Unknown));
            prop_assert_eq!(decode(&[&out[..], &[0]].concat(), made_with), Err(Wrong::Unknown));
            prop_assert!(decode(&bytes, made_with).is_err());
        }
    }
}
