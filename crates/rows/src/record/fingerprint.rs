//! Documents as fingerprints.

use super::meta::Meta;
use super::near::push_text_measure;
use super::set::push_feature;
use super::{Fields, Keys, Record, parse_number, push_number, push_tagged, second_field, tag};
use twinsplit_core::similarity::text::TextMeasure;
use twinsplit_core::sketch::simhash::{Bits, Fingerprint};
use twinsplit_io::error::FieldError;

const FINGERPRINT: &str = "a fingerprint of 16 or 32 lower-case hex digits";
const DISTANCE: &str = "a distance from 0 to 128";
const TEXT: &str = "a hash of 32 lower-case hex digits";

/// No two fingerprints differ in more bits.
const FARTHEST: u64 = 128;

impl<'a> Fields<'a> {
    /// The next field as a fingerprint.
    pub fn fingerprint(&mut self) -> Result<Fingerprint, FieldError> {
        let found = self.next("fingerprint", FINGERPRINT)?;
        Fingerprint::from_hex(found).ok_or_else(|| FieldError::new("fingerprint", FINGERPRINT, found))
    }

    /// The next field as a distance.
    pub fn distance(&mut self) -> Result<u32, FieldError> {
        let found = self.next("distance", DISTANCE)?;
        let distance = parse_number(found).filter(|distance| *distance <= FARTHEST);
        distance.map(|distance| distance as u32).ok_or_else(|| FieldError::new("distance", DISTANCE, found))
    }
}

/// What `simhash` makes of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprinted<'a> {
    /// The document.
    pub id: &'a [u8],
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// The greatest distance of a pair that it is in, where that is not the same for all, or there is a content.
    pub distance: Option<u32>,
    /// The hash of what is compared of texts; always with a distance.
    pub content: Option<u128>,
}

impl<'a> Record<'a> for Fingerprinted<'a> {
    const FIELDS: &'static str = "id⇥fingerprint, with --distance for classes of length ⇥distance, with --check of texts \
                                  ⇥distance⇥hash of the content";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let (id, fingerprint) = (fields.id("id")?, fields.fingerprint()?);
        let distance = if fields.is_done() { None } else { Some(fields.distance()?) };
        let content = if fields.is_done() { None } else { Some(read_wide(&mut fields, "content", CONTENT)?) };
        fields.done()?;
        Ok(Self { id, fingerprint, distance, content })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.id);
        out.push(b'\t');
        self.fingerprint.push_hex(out);
        if let Some(distance) = self.distance {
            out.push(b'\t');
            push_number(out, distance.into());
            self.content.iter().for_each(|content| push_content(out, *content));
        }
    }
}

pub(super) fn push_print(out: &mut Vec<u8>, fingerprint: Fingerprint, distance: u32) {
    fingerprint.push_hex(out);
    out.push(b'\t');
    push_number(out, distance.into());
}

const CONTENT: &str = "the hash of a content, 32 lower-case hex digits";

fn push_content(out: &mut Vec<u8>, content: u128) {
    out.push(b'\t');
    push_wide(out, content);
}

/// A document under its fingerprint, its distance and its content, by which equal ones meet, the smallest id first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupedFingerprint<'a> {
    /// The fingerprint.
    pub fingerprint: Fingerprint,
    /// The greatest distance of a pair that it is in.
    pub distance: u32,
    /// The hash of what is compared of texts, where these are compared.
    pub content: Option<u128>,
    /// The document.
    pub id: &'a [u8],
}

impl<'a> Record<'a> for GroupedFingerprint<'a> {
    const FIELDS: &'static str = "fingerprint⇥distance⇥hash of the content or -⇥id";
    const KEYS: Option<Keys> = Some(Keys { partition: 3, sort: 4 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let (fingerprint, distance) = (fields.fingerprint()?, fields.distance()?);
        let mut none = fields.clone();
        let content = match none.exactly("content", b"-", CONTENT) {
            Ok(()) => {
                fields = none;
                None
            }
            Err(_) => Some(read_wide(&mut fields, "content", CONTENT)?),
        };
        let row = Self { fingerprint, distance, content, id: fields.id("id")? };
        fields.done()?;
        Ok(row)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_print(out, self.fingerprint, self.distance);
        match self.content {
            Some(content) => push_content(out, content),
            None => out.extend_from_slice(b"\t-"),
        }
        out.push(b'\t');
        out.extend_from_slice(self.id);
    }
}

/// A document without a fingerprint, whose text is compared as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortText<'a> {
    /// The document.
    pub id: &'a [u8],
    /// [`twinsplit_core::hash::text`] of its text.
    pub text: u128,
}

impl<'a> ShortText<'a> {
    fn read(id: &'a [u8], mut fields: Fields<'a>) -> Result<Self, FieldError> {
        fields.exactly("tag", tag::TEXT, r"\~")?;
        let text = read_wide(&mut fields, "text", TEXT)?;
        fields.done()?;
        Ok(Self { id, text })
    }
}

impl<'a> Record<'a> for ShortText<'a> {
    const FIELDS: &'static str = r"id⇥\~⇥hash of the text";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        Self::read(fields.id("id")?, fields)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_tagged(out, self.id, tag::TEXT);
        push_wide(out, self.text);
    }
}

/// What stages that read documents write for a chain: fingerprints, hashes of texts that are too short for these, and what the keep
/// rule needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FingerprintRow<'a> {
    /// A document's fingerprint.
    Fingerprint(Fingerprinted<'a>),
    /// The hash of a document's text.
    Text(ShortText<'a>),
    /// What the keep rule needs of a document.
    Meta(Meta<'a>),
}

impl<'a> Record<'a> for FingerprintRow<'a> {
    const FIELDS: &'static str = r"id⇥fingerprint, with --distance for classes of length ⇥distance, with --check of texts ⇥distance⇥hash of the content; id⇥\~⇥hash of the text; id⇥\m⇥length⇥date⇥score⇥script⇥input⇥offset⇥file⇥line";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match second_field(line) {
            Some(tag::META) => Meta::decode(line).map(FingerprintRow::Meta),
            Some(tag::TEXT) => ShortText::decode(line).map(FingerprintRow::Text),
            _ => Fingerprinted::decode(line).map(FingerprintRow::Fingerprint),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            FingerprintRow::Fingerprint(one) => one.encode(out),
            FingerprintRow::Text(one) => one.encode(out),
            FingerprintRow::Meta(meta) => meta.encode(out),
        }
    }
}

/// A row of the shuffle in which equal fingerprints meet, and the documents of one id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupedRow<'a> {
    /// A document under its fingerprint.
    Fingerprint(GroupedFingerprint<'a>),
    /// A document under the hash of its text.
    Text(ShortText<'a>),
    /// What the keep rule needs of a document, under the [hash of its id](twinsplit_core::hash::id).
    Meta(Meta<'a>),
}

impl<'a> Record<'a> for GroupedRow<'a> {
    const FIELDS: &'static str = r"fingerprint⇥distance⇥hash of the content or -⇥id; hash of the text⇥\~⇥-⇥id; hash of the id⇥\m⇥id⇥length⇥date⇥score⇥script⇥input⇥offset⇥file⇥line";
    const KEYS: Option<Keys> = GroupedFingerprint::KEYS;

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        match second_field(line) {
            Some(tag::META) => {}
            Some(tag::TEXT) => {
                let text = read_wide(&mut fields, "text", TEXT)?;
                fields.exactly("tag", tag::TEXT, r"\~")?;
                fields.exactly("content", b"-", "-")?;
                let id = fields.id("id")?;
                fields.done()?;
                return Ok(GroupedRow::Text(ShortText { id, text }));
            }
            _ => return GroupedFingerprint::decode(line).map(GroupedRow::Fingerprint),
        }
        fields.feature("hash")?;
        fields.next("tag", r"\m")?;
        let id = fields.id("id")?;
        Meta::after_id(id, fields).map(GroupedRow::Meta)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            GroupedRow::Fingerprint(one) => one.encode(out),
            GroupedRow::Text(ShortText { id, text }) => {
                push_wide(out, *text);
                out.push(b'\t');
                // As wide as the key of a fingerprint, so that rows are grouped and sorted alike.
                push_tagged(out, tag::TEXT, b"-");
                out.extend_from_slice(id);
            }
            GroupedRow::Meta(meta) => {
                push_feature(out, twinsplit_core::hash::id(meta.id));
                out.push(b'\t');
                push_tagged(out, tag::META, meta.id);
                meta.push_after_id(out);
            }
        }
    }
}

/// A fingerprint in the stream of what is joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberFingerprint<'a> {
    /// The document.
    pub id: &'a [u8],
    /// The document that stands for it in joins, which has the same fingerprint: the smallest id of them.
    pub representative: Option<&'a [u8]>,
    /// The fingerprint.
    pub fingerprint: Fingerprint,
    /// The greatest distance of a pair that it is in.
    pub distance: u32,
    /// What is compared of texts, in which it and its representative are equal too.
    pub measure: Option<TextMeasure>,
}

impl<'a> Record<'a> for MemberFingerprint<'a> {
    const FIELDS: &'static str = "id⇥\\#⇥fingerprint⇥distance, or id⇥\\#=⇥representative⇥fingerprint⇥distance, with --check of \
                                  texts ⇥its name";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        let expected = r"\# or \#=";
        let representative = match fields.next("tag", expected)? {
            tag::FINGERPRINT => None,
            tag::EQUAL_FINGERPRINT => Some(fields.id("representative")?),
            other => return Err(FieldError::new("tag", expected, other)),
        };
        let (fingerprint, distance) = (fields.fingerprint()?, fields.distance()?);
        let measure = if fields.is_done() { None } else { Some(fields.text_measure()?) };
        let row = Self { id, representative, fingerprint, distance, measure };
        fields.done()?;
        Ok(row)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self.representative {
            None => push_tagged(out, self.id, tag::FINGERPRINT),
            Some(representative) => {
                push_tagged(out, self.id, tag::EQUAL_FINGERPRINT);
                out.extend_from_slice(representative);
                out.push(b'\t');
            }
        }
        push_print(out, self.fingerprint, self.distance);
        push_text_measure(out, self.measure);
    }
}

/// Whether two fingerprints, each with the greatest distance of a pair that it is in, are near enough for one, and how far apart they are.
pub fn are_near((one, most): (Fingerprint, u32), (other, at_most): (Fingerprint, u32)) -> (bool, u32) {
    let distance = one.distance(other);
    (distance <= most.min(at_most), distance)
}

/// A fingerprint on its way to others of its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintedFingerprint<'a> {
    /// The document.
    pub id: &'a [u8],
    /// The fingerprint.
    pub fingerprint: Fingerprint,
    /// The greatest distance of a pair that it is in.
    pub distance: u32,
}

impl<'a> PrintedFingerprint<'a> {
    /// Whether two fingerprints are near enough for a pair, and how far apart they are.
    pub fn pairs_with(&self, other: &Self) -> (bool, u32) {
        let of = |one: &Self| (one.fingerprint, one.distance);
        are_near(of(self), of(other))
    }
}

/// A number of 128 bits.
pub(super) fn read_wide(
    fields: &mut Fields<'_>,
    field: &'static str,
    expected: &'static str,
) -> Result<u128, FieldError> {
    let found = fields.next(field, expected)?;
    let number = Fingerprint::from_hex(found).filter(|number| number.bits == Bits::B128);
    number.map(|number| number.value).ok_or_else(|| FieldError::new(field, expected, found))
}

pub(super) fn push_wide(out: &mut Vec<u8>, number: u128) {
    Fingerprint { bits: Bits::B128, value: number }.push_hex(out);
}
