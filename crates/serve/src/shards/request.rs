//! The records of the log: what a client has asked for.
//!
//! | bytes of the value | what |
//! |---|---|
//! | 1 | the version, 1 |
//! | 8 | what the front was made with ([`Sharding::digest`](super::Sharding::digest)), little endian |
//! | 1 | the kind |
//! | | the namespace, behind how many bytes it has; the document, as logs have it |
//!
//! The key is the id. Nothing that a record holds can stop those who read it: what is none is passed over by all.

use super::topics::Record;
use crate::codec::{Reader, document, put_bytes, put_document};
use crate::document::Document;

/// What is asked of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What it is; it is taken in.
    CheckAdd,
    /// To keep it, whatever it is like.
    Add,
    /// What it is, and nothing changes.
    Check,
    /// How many there are.
    Count,
}

const KINDS: [Kind; 4] = [Kind::CheckAdd, Kind::Add, Kind::Check, Kind::Count];
const VERSION: u8 = 1;

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub kind: Kind,
    pub namespace: Box<[u8]>,
    /// Empty where nothing is taken in.
    pub id: Box<[u8]>,
    pub document: Document,
}

impl Kind {
    /// Whether a document is taken in.
    pub fn takes_in(self) -> bool {
        matches!(self, Kind::CheckAdd | Kind::Add)
    }

    /// Whether it is searched for.
    pub fn searches(self) -> bool {
        matches!(self, Kind::CheckAdd | Kind::Check)
    }
}

/// What a record of the log is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Logged {
    Request(Request),
    /// It is of a front that was made with other options.
    Foreign,
    /// It is nothing that is known here, or there is none of this number.
    Nothing,
}

/// A request as the log has it.
pub(crate) fn encode(request: &Request, made_with: u64) -> Record {
    let Request { kind, namespace, id, document } = request;
    let mut value = vec![VERSION];
    value.extend_from_slice(&made_with.to_le_bytes());
    value.push(KINDS.iter().position(|one| one == kind).unwrap_or(0) as u8);
    put_bytes(namespace, &mut value);
    put_document((document.key, document.digest, document.content.as_deref()), &mut value);
    Record { key: (!id.is_empty()).then(|| id.to_vec().into()), value: value.into() }
}

/// What a record of the log is.
pub(crate) fn decode(record: &Record, made_with: u64) -> Logged {
    read(record, made_with).unwrap_or(Logged::Nothing)
}

fn read(record: &Record, made_with: u64) -> Option<Logged> {
    let mut from = Reader(&record.value);
    if from.byte()? != VERSION {
        return None;
    }
    if u64::from_le_bytes(from.fixed()?) != made_with {
        return Some(Logged::Foreign);
    }
    let kind = *KINDS.get(usize::from(from.byte()?))?;
    let namespace = from.bytes()?.into();
    let document = document(&mut from)?;
    from.end()?;
    let id: Box<[u8]> = record.key.as_deref().unwrap_or_default().into();
    Some(Logged::Request(Request { kind, namespace, id, document }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests::documents;
    use proptest::prelude::*;

    proptest! {
        /// What is read is what was put, what is of other options is known for it, and any other bytes are nothing.
        #[test]
        fn any_request_is_read_as_it_was_put(
            kind in prop::sample::select(KINDS.to_vec()), namespace: Vec<u8>, id: Vec<u8>, document in documents(),
            made_with: u64, cut: prop::sample::Index, bytes: Vec<u8>,
        ) {
            let request = Request { kind, namespace: namespace.into(), id: id.into(), document };
            let record = encode(&request, made_with);
            prop_assert_eq!(decode(&record, made_with), Logged::Request(request));
            prop_assert_eq!(decode(&record, !made_with), Logged::Foreign);
            let part = record.value.slice(..cut.index(record.value.len()));
            prop_assert_eq!(decode(&Record { value: part, ..record.clone() }, made_with), Logged::Nothing);
            let more = [&record.value[..], &[0]].concat().into();
            prop_assert_eq!(decode(&Record { value: more, ..record }, made_with), Logged::Nothing);
            let read = decode(&Record { key: None, value: bytes.into() }, made_with);
            prop_assert!(!matches!(read, Logged::Request(_)));
        }
    }
}
