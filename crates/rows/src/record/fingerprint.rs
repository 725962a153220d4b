//! Documents as fingerprints.

use super::meta::Meta;
use super::near::push_text_measure;
use super::set::push_feature;
use super::{Fields, Keys, Record, parse_number, push_number, push_padded, push_tagged, second_field, tag};
use twinsplit_core::similarity::text::TextMeasure;
use twinsplit_core::sketch::simhash::{Bits, Fingerprint};
use twinsplit_core::sketch::tables::Tables;
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

fn push_print(out: &mut Vec<u8>, fingerprint: Fingerprint, distance: u32) {
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

/// How many fingerprints a task has seen, and the greatest distance among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FingerprintCount {
    /// Fingerprints.
    pub fingerprints: u64,
    /// Their greatest distance.
    pub distance: u32,
    /// Their bits; `None` where there are none.
    pub bits: Option<Bits>,
}

impl<'a> Record<'a> for FingerprintCount {
    const FIELDS: &'static str = "fingerprints⇥distance⇥64, 128 or -";
    const KEYS: Option<Keys> = Some(Keys { partition: 0, sort: 0 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let (fingerprints, distance) = (fields.number("fingerprints")?, fields.distance()?);
        let expected = "64, 128 or -";
        let bits = match fields.next("bits", expected)? {
            b"64" => Some(Bits::B64),
            b"128" => Some(Bits::B128),
            b"-" => None,
            other => return Err(FieldError::new("bits", expected, other)),
        };
        fields.done()?;
        Ok(Self { fingerprints, distance, bits })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_number(out, self.fingerprints);
        out.push(b'\t');
        push_number(out, self.distance.into());
        out.push(b'\t');
        match self.bits {
            Some(bits) => push_number(out, bits.count().into()),
            None => out.push(b'-'),
        }
    }
}

/// The name of a table among all: how the bits are split, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// The split that it is of.
    pub tables: Tables,
    /// Its place among them, from 0.
    pub number: u32,
}

impl Table {
    fn read(fields: &mut Fields<'_>) -> Result<Self, FieldError> {
        let expected = "blocks, blocks of a key and table, with a point between them";
        let found = fields.next("table", expected)?;
        let read = || {
            let mut parts = found.split(|byte| *byte == b'.').map(parse_number);
            let (blocks, chosen, number) = (parts.next()??, parts.next()??, parts.next()??);
            let tables = Tables::of(u32::try_from(blocks).ok()?, u32::try_from(chosen).ok()?)?;
            let number = u32::try_from(number).ok().filter(|number| *number < tables.count())?;
            parts.next().is_none().then_some(Self { tables, number })
        };
        read().ok_or_else(|| FieldError::new("table", expected, found))
    }

    fn push(self, out: &mut Vec<u8>) {
        push_number(out, self.tables.blocks().into());
        out.push(b'.');
        push_number(out, self.tables.chosen().into());
        out.push(b'.');
        push_padded(out, self.number.into(), 4);
    }
}

/// A fingerprint in a table, under those of its bits that must agree there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableRow<'a> {
    /// The table.
    pub table: Table,
    /// The bits of the key.
    pub key: u128,
    /// The document.
    pub id: &'a [u8],
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// The greatest distance of a pair that it is in.
    pub distance: u32,
}

const KEY: &str = "a key of 32 lower-case hex digits";

/// A number of 128 bits.
fn read_wide(
    fields: &mut Fields<'_>,
    field: &'static str,
    expected: &'static str,
) -> Result<u128, FieldError> {
    let found = fields.next(field, expected)?;
    let number = Fingerprint::from_hex(found).filter(|number| number.bits == Bits::B128);
    number.map(|number| number.value).ok_or_else(|| FieldError::new(field, expected, found))
}

fn push_wide(out: &mut Vec<u8>, number: u128) {
    Fingerprint { bits: Bits::B128, value: number }.push_hex(out);
}

impl<'a> Record<'a> for TableRow<'a> {
    const FIELDS: &'static str = "table⇥key⇥id⇥fingerprint⇥distance";
    const KEYS: Option<Keys> = Some(Keys { partition: 2, sort: 3 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let (table, key, id) =
            (Table::read(&mut fields)?, read_wide(&mut fields, "key", KEY)?, fields.id("id")?);
        let row = Self { table, key, id, fingerprint: fields.fingerprint()?, distance: fields.distance()? };
        fields.done()?;
        Ok(row)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.table.push(out);
        out.push(b'\t');
        push_wide(out, self.key);
        out.push(b'\t');
        out.extend_from_slice(self.id);
        out.push(b'\t');
        push_print(out, self.fingerprint, self.distance);
    }
}

/// Two blocks of the fingerprints under one key, or one block with itself, as [`super::posting::BlockPair`] has those of a
/// posting list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FingerprintBlocks<'a> {
    /// The table.
    pub table: Table,
    /// Number of the left block under its key.
    pub left: u64,
    /// Number of the right block, at least `left`; only one of the two is written when they are equal.
    pub right: u64,
    /// How many fingerprints the left block holds.
    pub left_count: u64,
    /// The encoded fingerprints of the left block, then those of the right one.
    pub fingerprints: &'a [u8],
}

impl<'a> FingerprintBlocks<'a> {
    /// Replaces `out` by the fingerprints in their order.
    pub fn read(&self, out: &mut Vec<PrintedFingerprint<'a>>) -> Result<(), FieldError> {
        out.clear();
        let mut fields = Fields::of(self.fingerprints);
        while !fields.is_done() {
            let (id, fingerprint, distance) = (fields.id("id")?, fields.fingerprint()?, fields.distance()?);
            out.push(PrintedFingerprint { id, fingerprint, distance });
        }
        if self.left_count > out.len() as u64 {
            let found = self.left_count.to_string();
            return Err(FieldError::new("n_i", "at most the number of fingerprints", found.as_bytes()));
        }
        Ok(())
    }

    /// Appends one in the form that [`FingerprintBlocks::fingerprints`] holds, a TAB before all but the first.
    pub fn push(row: &TableRow<'_>, out: &mut Vec<u8>) {
        if !out.is_empty() {
            out.push(b'\t');
        }
        out.extend_from_slice(row.id);
        out.push(b'\t');
        push_print(out, row.fingerprint, row.distance);
    }
}

impl<'a> Record<'a> for FingerprintBlocks<'a> {
    const FIELDS: &'static str = "table⇥i⇥j⇥n_i⇥id⇥fingerprint⇥distance for each fingerprint";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let table = Table::read(&mut fields)?;
        let (left, right, left_count) = (fields.number("i")?, fields.number("j")?, fields.number("n_i")?);
        if fields.is_done() {
            return Err(FieldError::missing("fingerprints", "at least one fingerprint"));
        }
        Ok(Self { table, left, right, left_count, fingerprints: fields.rest() })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.table.push(out);
        for number in [self.left, self.right] {
            out.push(b'\t');
            push_padded(out, number, 6);
        }
        out.push(b'\t');
        push_number(out, self.left_count);
        out.push(b'\t');
        out.extend_from_slice(self.fingerprints);
    }
}
