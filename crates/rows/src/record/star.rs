//! The rows that make star clusters component by component.

use super::cluster::Label;
use super::near::AnyPair;
use super::{Fields, Keys, Record, second_field, tag};
use twinsplit_io::error::FieldError;

/// Appends fields with a TAB between two.
pub(super) fn row(out: &mut Vec<u8>, fields: &[&[u8]]) {
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        out.extend_from_slice(field);
    }
}

/// Under each id its component (if it is in one at all), its rank by the keep rule, and whose copy it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankRow<'a> {
    /// The document's component.
    Component(Label<'a>),
    /// The document's rank: bytes that sort the best document first.
    Rank {
        /// The document.
        id: &'a [u8],
        /// The rank.
        rank: &'a [u8],
    },
    /// The document is a copy.
    Copy {
        /// The copy.
        id: &'a [u8],
        /// Its representative.
        representative: &'a [u8],
    },
}

impl<'a> Record<'a> for RankRow<'a> {
    const FIELDS: &'static str = "id⇥0⇥component; id⇥1⇥rank; id⇥2⇥representative";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        let row = match fields.next("tag", "0, 1 or 2")? {
            b"0" => RankRow::Component(Label { id, label: fields.id("component")? }),
            b"1" => RankRow::Rank { id, rank: fields.next("rank", "a rank")? },
            b"2" => RankRow::Copy { id, representative: fields.id("representative")? },
            tag => return Err(FieldError::new("tag", "0, 1 or 2", tag)),
        };
        fields.done()?;
        Ok(row)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RankRow::Component(label) => row(out, &[label.id, b"0", label.label]),
            RankRow::Rank { id, rank } => row(out, &[id, b"1", rank]),
            RankRow::Copy { id, representative } => row(out, &[id, b"2", representative]),
        }
    }
}

/// A document of a component, under its representative (itself, if it is no copy).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StarMember<'a> {
    /// The representative of its group of equal sets.
    pub representative: &'a [u8],
    /// The document's rank by the keep rule.
    pub rank: &'a [u8],
    /// The document.
    pub id: &'a [u8],
    /// The component.
    pub component: &'a [u8],
}

impl<'a> StarMember<'a> {
    pub(super) fn rest(representative: &'a [u8], mut fields: Fields<'a>) -> Result<Self, FieldError> {
        let rank = fields.next("rank", "a rank")?;
        let (id, component) = (fields.id("id")?, fields.id("component")?);
        fields.done()?;
        Ok(Self { representative, rank, id, component })
    }
}

impl<'a> Record<'a> for StarMember<'a> {
    const FIELDS: &'static str = r"representative⇥\s⇥rank⇥id⇥component";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let representative = fields.id("representative")?;
        fields.exactly("tag", tag::MEMBER, r"\s")?;
        Self::rest(representative, fields)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        row(out, &[self.representative, tag::MEMBER, self.rank, self.id, self.component]);
    }
}

/// What `star-link` reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkInput<'a> {
    /// A document of a component.
    Member(StarMember<'a>),
    /// A pair of representatives.
    Pair(AnyPair<'a>),
}

impl<'a> Record<'a> for LinkInput<'a> {
    const FIELDS: &'static str = r"representative⇥\s⇥rank⇥id⇥component; pairs";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match second_field(line) {
            Some(tag::MEMBER) => StarMember::decode(line).map(LinkInput::Member),
            _ => AnyPair::decode(line).map(LinkInput::Pair),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LinkInput::Member(member) => member.encode(out),
            LinkInput::Pair(pair) => pair.encode(out),
        }
    }
}

/// Under each representative the documents with its set first, then the representatives that it pairs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkRow<'a> {
    /// A document with the representative's set.
    Member(StarMember<'a>),
    /// A pair.
    Pair {
        /// The representative.
        representative: &'a [u8],
        /// The other one.
        other: &'a [u8],
    },
}

impl<'a> Record<'a> for LinkRow<'a> {
    const FIELDS: &'static str = "representative⇥0⇥rank⇥id⇥component; representative⇥1⇥other";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let representative = fields.id("representative")?;
        match fields.next("tag", "0 or 1")? {
            b"0" => StarMember::rest(representative, fields).map(LinkRow::Member),
            b"1" => {
                let other = fields.id("other")?;
                fields.done()?;
                Ok(LinkRow::Pair { representative, other })
            }
            tag => Err(FieldError::new("tag", "0 or 1", tag)),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LinkRow::Member(member) => {
                row(out, &[member.representative, b"0", member.rank, member.id, member.component]);
            }
            LinkRow::Pair { representative, other } => row(out, &[representative, b"1", other]),
        }
    }
}

/// A pair in one of its directions, with the place of its representative in the keep order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StarLink<'a> {
    /// The component.
    pub component: &'a [u8],
    /// The rank of the best document with the representative's set.
    pub rank: &'a [u8],
    /// That document.
    pub best: &'a [u8],
    /// The representative.
    pub representative: &'a [u8],
    /// The representative that it pairs with.
    pub other: &'a [u8],
}

impl<'a> StarLink<'a> {
    fn rest(component: &'a [u8], mut fields: Fields<'a>) -> Result<Self, FieldError> {
        let link = Self {
            component,
            rank: fields.next("rank", "a rank")?,
            best: fields.id("best")?,
            representative: fields.id("representative")?,
            other: fields.id("other")?,
        };
        fields.done()?;
        Ok(link)
    }
}

impl<'a> Record<'a> for StarLink<'a> {
    const FIELDS: &'static str = "component⇥0⇥rank⇥best⇥representative⇥other";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let component = fields.id("component")?;
        match fields.next("tag", "0")? {
            b"0" => Self::rest(component, fields),
            tag => Err(FieldError::new("tag", "0", tag)),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        row(out, &[self.component, b"0", self.rank, self.best, self.representative, self.other]);
    }
}

/// What `star` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StarInput<'a> {
    /// A pair in one of its directions.
    Link(StarLink<'a>),
    /// A document of a component.
    Member(StarMember<'a>),
}

impl<'a> Record<'a> for StarInput<'a> {
    const FIELDS: &'static str =
        r"component⇥0⇥rank⇥best⇥representative⇥other; representative⇥\s⇥rank⇥id⇥component";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match second_field(line) {
            Some(tag::MEMBER) => StarMember::decode(line).map(StarInput::Member),
            _ => StarLink::decode(line).map(StarInput::Link),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            StarInput::Link(link) => link.encode(out),
            StarInput::Member(member) => member.encode(out),
        }
    }
}

/// A component: its pairs in the keep order of their first document, then its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StarRow<'a> {
    /// A pair in one of its directions.
    Link(StarLink<'a>),
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

impl<'a> Record<'a> for StarRow<'a> {
    const FIELDS: &'static str = "component⇥0⇥rank⇥best⇥representative⇥other; component⇥1⇥representative⇥id";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 4 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let component = fields.id("component")?;
        match fields.next("tag", "0 or 1")? {
            b"0" => StarLink::rest(component, fields).map(StarRow::Link),
            b"1" => {
                let (representative, id) = (fields.id("representative")?, fields.id("id")?);
                fields.done()?;
                Ok(StarRow::Member { component, representative, id })
            }
            tag => Err(FieldError::new("tag", "0 or 1", tag)),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            StarRow::Link(link) => link.encode(out),
            StarRow::Member { component, representative, id } => {
                row(out, &[component, b"1", representative, id]);
            }
        }
    }
}
