//! The rows that make star clusters of sets or fingerprints, component by component, without their pairs.

use super::compared::Compared;
use super::set::Member;
use super::star::{StarMember, row};
use super::{Fields, Keys, Record, second_field, tag};
use twinsplit_io::error::FieldError;

/// What `star-sets` reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StarSetsInput<'a> {
    /// A document of a component.
    Member(StarMember<'a>),
    /// A set, a fingerprint, or what is passed over.
    Set(Member<'a>),
}

impl<'a> Record<'a> for StarSetsInput<'a> {
    const FIELDS: &'static str =
        r"representative⇥\s⇥rank⇥id⇥component; id⇥features; id⇥\#⇥fingerprint⇥distance; copies";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match second_field(line) {
            Some(tag::MEMBER) => StarMember::decode(line).map(StarSetsInput::Member),
            _ => Member::decode(line).map(StarSetsInput::Set),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            StarSetsInput::Member(member) => member.encode(out),
            StarSetsInput::Set(set) => set.encode(out),
        }
    }
}

/// Under each representative the documents that it stands for first, where they are in a component, then what is compared of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StarSetsRow<'a> {
    /// A document that the representative stands for.
    Member(StarMember<'a>),
    /// What is compared of the representative.
    Set(&'a [u8], Compared<'a>),
}

impl<'a> Record<'a> for StarSetsRow<'a> {
    const FIELDS: &'static str = "representative⇥0⇥rank⇥id⇥component; representative⇥1⇥features; representative⇥1⇥\\#⇥fingerprint⇥distance";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let representative = fields.id("representative")?;
        match fields.next("tag", "0 or 1")? {
            b"0" => StarMember::rest(representative, fields).map(StarSetsRow::Member),
            b"1" => {
                let compared = Compared::decode(fields.rest())?;
                Ok(StarSetsRow::Set(representative, compared))
            }
            tag => Err(FieldError::new("tag", "0 or 1", tag)),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            StarSetsRow::Member(member) => {
                row(out, &[member.representative, b"0", member.rank, member.id, member.component]);
            }
            StarSetsRow::Set(representative, compared) => {
                row(out, &[representative, b"1", b""]);
                compared.encode(out);
            }
        }
    }
}

/// A set or a fingerprint with its place in the keep order of its component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StarSet<'a> {
    /// The component.
    pub component: &'a [u8],
    /// The rank of the best document that has it.
    pub rank: &'a [u8],
    /// That document.
    pub best: &'a [u8],
    /// The representative of the documents that have it.
    pub representative: &'a [u8],
    /// What is compared of it.
    pub compared: Compared<'a>,
}

impl<'a> StarSet<'a> {
    fn rest(component: &'a [u8], mut fields: Fields<'a>) -> Result<Self, FieldError> {
        let rank = fields.next("rank", "a rank")?;
        let (best, representative) = (fields.id("best")?, fields.id("representative")?);
        let compared = Compared::decode(fields.rest())?;
        Ok(Self { component, rank, best, representative, compared })
    }
}

impl<'a> Record<'a> for StarSet<'a> {
    const FIELDS: &'static str = "component⇥0⇥rank⇥best⇥representative⇥features; component⇥0⇥rank⇥best⇥representative⇥\\#⇥fingerprint⇥distance";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let component = fields.id("component")?;
        fields.exactly("tag", b"0", "0")?;
        Self::rest(component, fields)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        row(out, &[self.component, b"0", self.rank, self.best, self.representative, b""]);
        self.compared.encode(out);
    }
}

/// What `star-centres` reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StarCentresInput<'a> {
    /// A set or a fingerprint.
    Set(StarSet<'a>),
    /// A document of a component.
    Member(StarMember<'a>),
}

impl<'a> Record<'a> for StarCentresInput<'a> {
    const FIELDS: &'static str = r"component⇥0⇥rank⇥best⇥representative⇥features; component⇥0⇥rank⇥best⇥representative⇥\#⇥fingerprint⇥distance; representative⇥\s⇥rank⇥id⇥component";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match second_field(line) {
            Some(tag::MEMBER) => StarMember::decode(line).map(StarCentresInput::Member),
            _ => StarSet::decode(line).map(StarCentresInput::Set),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            StarCentresInput::Set(set) => set.encode(out),
            StarCentresInput::Member(member) => member.encode(out),
        }
    }
}

/// A component: its sets or fingerprints in keep order, then its documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StarCentresRow<'a> {
    /// A set or a fingerprint.
    Set(StarSet<'a>),
    /// A document.
    Member {
        /// The component.
        component: &'a [u8],
        /// The document's representative.
        representative: &'a [u8],
        /// The document.
        id: &'a [u8],
    },
}

impl<'a> Record<'a> for StarCentresRow<'a> {
    const FIELDS: &'static str = "component⇥0⇥rank⇥best⇥representative⇥features; component⇥0⇥rank⇥best⇥representative⇥\\#⇥fingerprint⇥distance; component⇥1⇥representative⇥id";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 4 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let component = fields.id("component")?;
        match fields.next("tag", "0 or 1")? {
            b"0" => StarSet::rest(component, fields).map(StarCentresRow::Set),
            b"1" => {
                let (representative, id) = (fields.id("representative")?, fields.id("id")?);
                fields.done()?;
                Ok(StarCentresRow::Member { component, representative, id })
            }
            tag => Err(FieldError::new("tag", "0 or 1", tag)),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            StarCentresRow::Set(set) => set.encode(out),
            StarCentresRow::Member { component, representative, id } => {
                row(out, &[component, b"1", representative, id]);
            }
        }
    }
}
