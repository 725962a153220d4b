//! What documents of a cluster are compared by, at the end of a row.

use super::set::{Features, Member};
use super::{Fields, push_number, tag};
use twinsplit_core::sketch::simhash::Fingerprint;
use twinsplit_io::error::FieldError;

/// What members of a cluster are compared by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compared<'a> {
    /// A set.
    Set(Features<'a>),
    /// A fingerprint, and the greatest distance of a pair that it is in.
    Fingerprint(Fingerprint, u32),
}

impl<'a> Compared<'a> {
    /// That of a row of the joined stream, with its document; copies have none.
    pub fn of(member: &Member<'a>) -> Option<(&'a [u8], Self)> {
        match member {
            Member::Doc(doc) => Some((doc.id, Compared::Set(doc.features))),
            Member::Fingerprint(one) if one.representative.is_none() => {
                Some((one.id, Compared::Fingerprint(one.fingerprint, one.distance)))
            }
            Member::Copy(_) | Member::Fingerprint(_) | Member::Meta(_) => None,
        }
    }

    /// The set.
    ///
    /// # Errors
    /// It is a fingerprint.
    pub fn set(&self) -> Result<Features<'a>, FieldError> {
        match self {
            Compared::Set(features) => Ok(*features),
            Compared::Fingerprint(..) => Err(self.is_no("a set of features")),
        }
    }

    /// The fingerprint, and the greatest distance of a pair that it is in.
    ///
    /// # Errors
    /// It is a set.
    pub fn fingerprint(&self) -> Result<(Fingerprint, u32), FieldError> {
        match self {
            Compared::Fingerprint(fingerprint, distance) => Ok((*fingerprint, *distance)),
            Compared::Set(_) => Err(self.is_no("a fingerprint and a distance")),
        }
    }

    fn is_no(&self, expected: &'static str) -> FieldError {
        let mut found = Vec::new();
        self.encode(&mut found);
        FieldError::new("features", expected, &found)
    }

    /// Reads it at the end of a row.
    pub(super) fn decode(text: &'a [u8]) -> Result<Self, FieldError> {
        if !text.starts_with(tag::FINGERPRINT) {
            return Features::decode(text).map(Compared::Set);
        }
        let mut fields = Fields::of(text);
        fields.next("tag", r"\#")?;
        let (fingerprint, distance) = (fields.fingerprint()?, fields.distance()?);
        fields.done()?;
        Ok(Compared::Fingerprint(fingerprint, distance))
    }

    /// Appends it to a row.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Compared::Set(features) => features.encode(out),
            Compared::Fingerprint(fingerprint, distance) => {
                out.extend_from_slice(tag::FINGERPRINT);
                out.push(b'\t');
                fingerprint.push_hex(out);
                out.push(b'\t');
                push_number(out, (*distance).into());
            }
        }
    }
}
