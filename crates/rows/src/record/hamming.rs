//! Fingerprints on their way to others that are near: counted, under their keys in tables, and in blocks of these.

use super::fingerprint::{PrintedFingerprint, push_print, push_wide, read_wide};
use super::{Fields, Keys, Record, parse_number, push_number, push_padded};
use twinsplit_core::sketch::simhash::{Bits, Fingerprint};
use twinsplit_core::sketch::tables::Tables;
use twinsplit_io::error::FieldError;

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
