//! The rows by which features are looked up in an IDF range without a list of them: a join on the feature, then one
//! back on the document's id.

use super::count::FeatureCount;
use super::meta::Meta;
use super::set;
use super::tokenized::{self, SetRow};
use super::{Fields, Keys, Record, tag};
use twinsplit_io::error::FieldError;

/// What `idf-left` reads: the document frequencies, and the documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LeftInput<'a> {
    /// A feature's document frequency, below 10^15; without a feature, the number of documents.
    Count(FeatureCount),
    /// A set; what the keep rule needs is passed over.
    Row(SetRow<'a>),
}

impl<'a> Record<'a> for LeftInput<'a> {
    const FIELDS: &'static str = "feature or -⇥documents; id⇥features; what the keep rule needs";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let second = super::second_field(line).unwrap_or_default();
        // Counts have fewer digits than a feature, so that none is taken for a set of one feature.
        match second.len() {
            1..set::FEATURE_DIGITS if second != tag::TEXT && second != tag::META => {
                FeatureCount::decode(line).map(LeftInput::Count)
            }
            _ => SetRow::decode(line).map(LeftInput::Row),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LeftInput::Count(count) => count.encode(out),
            LeftInput::Row(row) => row.encode(out),
        }
    }
}

/// Rows of the first join: under each feature the word that it is in the range, then the documents that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftRow<'a> {
    /// The feature is in the range.
    Kept(u64),
    /// A document has the feature.
    Posting {
        /// The feature.
        feature: u64,
        /// The document.
        id: &'a [u8],
    },
}

impl LeftRow<'_> {
    /// The feature.
    pub fn feature(&self) -> u64 {
        match self {
            LeftRow::Kept(feature) | LeftRow::Posting { feature, .. } => *feature,
        }
    }
}

impl<'a> Record<'a> for LeftRow<'a> {
    const FIELDS: &'static str = "feature⇥0; feature⇥1⇥id";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let feature = fields.feature("feature")?;
        let row = match fields.next("tag", "0 or 1")? {
            b"0" => LeftRow::Kept(feature),
            b"1" => LeftRow::Posting { feature, id: fields.id("id")? },
            other => return Err(FieldError::new("tag", "0 or 1", other)),
        };
        fields.done()?;
        Ok(row)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        set::push_feature(out, self.feature());
        match self {
            LeftRow::Kept(_) => out.extend_from_slice(b"\t0"),
            LeftRow::Posting { id, .. } => {
                out.extend_from_slice(b"\t1\t");
                out.extend_from_slice(id);
            }
        }
    }
}

/// A feature in the range, on its way back to a document that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptFeature<'a> {
    /// The document.
    pub id: &'a [u8],
    /// The feature.
    pub feature: u64,
}

impl<'a> Record<'a> for KeptFeature<'a> {
    const FIELDS: &'static str = "id⇥1⇥feature";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        fields.exactly("tag", b"1", "1")?;
        let feature = fields.feature("feature")?;
        fields.done()?;
        Ok(Self { id, feature })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.id);
        out.extend_from_slice(b"\t1\t");
        set::push_feature(out, self.feature);
    }
}

/// What `idf-right` reads: the features in the range, and the documents again, of which some have none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RightInput<'a> {
    /// A feature of a document.
    Feature(KeptFeature<'a>),
    /// A document's set, or what the keep rule needs of it.
    Row(SetRow<'a>),
}

impl<'a> Record<'a> for RightInput<'a> {
    const FIELDS: &'static str =
        r"id⇥1⇥feature; id⇥features, or id⇥\~⇥hash of the text⇥features; what the keep rule needs";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        if super::second_field(line) == Some(b"1") {
            KeptFeature::decode(line).map(RightInput::Feature)
        } else {
            SetRow::decode(line).map(RightInput::Row)
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RightInput::Feature(kept) => kept.encode(out),
            RightInput::Row(row) => row.encode(out),
        }
    }
}

const DOCUMENT: &str = "- or a hash of 32 lower-case hex digits";

/// Rows of the second join: under each id the word that it is a document's, then its features, ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightRow<'a> {
    /// There is a document with this id, and maybe a hash of its text.
    Document {
        /// The document.
        id: &'a [u8],
        /// [`text`](crate::record::tokenized::Tokenized::text).
        text: Option<u128>,
    },
    /// One of its features.
    Feature(KeptFeature<'a>),
    /// What the keep rule needs of the document, which goes on as it is.
    Meta(Meta<'a>),
}

impl<'a> Record<'a> for RightRow<'a> {
    const FIELDS: &'static str = "id⇥0⇥- or hash of the text; id⇥1⇥feature; what the keep rule needs";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 3 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match super::second_field(line) {
            Some(b"1") => return KeptFeature::decode(line).map(RightRow::Feature),
            Some(tag::META) => return Meta::decode(line).map(RightRow::Meta),
            _ => {}
        }
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        fields.exactly("tag", b"0", "0 or 1")?;
        let text = match fields.next("text", DOCUMENT)? {
            b"-" => None,
            hash => Some(tokenized::parse_hash(hash).ok_or_else(|| FieldError::new("text", DOCUMENT, hash))?),
        };
        fields.done()?;
        Ok(RightRow::Document { id, text })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RightRow::Document { id, text } => {
                out.extend_from_slice(id);
                out.extend_from_slice(b"\t0\t");
                match text {
                    None => out.push(b'-'),
                    Some(hash) => tokenized::push_hash(out, *hash),
                }
            }
            RightRow::Feature(kept) => kept.encode(out),
            RightRow::Meta(meta) => meta.encode(out),
        }
    }
}
