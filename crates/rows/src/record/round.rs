//! The rows of the rounds that find connected components.

use super::cluster::Label;
use super::near::AnyPair;
use super::set::Member;
use super::{Fields, Keys, Record, is_member, second_field, tag};
use twinsplit_io::error::FieldError;

/// What `large-star` reads: in the first round the graph, in later rounds what it has become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GraphInput<'a> {
    /// An edge of the graph of representatives.
    Pair(AnyPair<'a>),
    /// A copy, which is linked to its representative; sets are passed over.
    Member(Member<'a>),
    /// What the round before linked a document to.
    Label(Label<'a>),
}

impl<'a> Record<'a> for GraphInput<'a> {
    const FIELDS: &'static str = r"pairs; copies; sets; in later rounds id⇥\>⇥label";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match second_field(line) {
            Some(tag::LABEL) => Label::decode(line).map(GraphInput::Label),
            _ if is_member(line) => Member::decode(line).map(GraphInput::Member),
            _ => AnyPair::decode(line).map(GraphInput::Pair),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            GraphInput::Pair(pair) => pair.encode(out),
            GraphInput::Member(member) => member.encode(out),
            GraphInput::Label(label) => label.encode(out),
        }
    }
}

/// A document and a neighbour of it, the smallest neighbour first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour<'a> {
    /// The document.
    pub id: &'a [u8],
    /// The neighbour.
    pub neighbour: &'a [u8],
}

impl<'a> Record<'a> for Neighbour<'a> {
    const FIELDS: &'static str = "id⇥neighbour";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let row = Self { id: fields.id("id")?, neighbour: fields.id("neighbour")? };
        fields.done()?;
        Ok(row)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.id);
        out.push(b'\t');
        out.extend_from_slice(self.neighbour);
    }
}
