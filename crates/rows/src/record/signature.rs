//! MinHash signatures, and the rows that bring the two signatures of a candidate together: a join on one id, then on the
//! other, as that of sets in [`verify`](super::verify).

use super::pair::Candidate;
use super::{Fields, Keys, Record, push_number, push_tagged, tag};
use twinsplit_core::sketch::minhash::VALUE_BITS;
use twinsplit_io::error::FieldError;

const KEYS: Keys = Keys { partition: 1, sort: 3 };

const VALUES: &str = "values of 8 lower-case hex digits each, one or more, nothing between";
const LOW_BITS: &str = "bits of a value (1, 2, 4 or 8), a colon, how many values, a colon, and their bits as lower-case hex digits";

/// The values of a signature, as they stand in a line; digits are checked when they are read. Whole values stand there as they
/// are, and low bits of values behind what they are: `4:128:` and 128 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values<'a> {
    field: &'a [u8],
    digits: &'a [u8],
    bits: u32,
    count: usize,
}

impl<'a> Values<'a> {
    /// The values in a text that [`push_values`] has made.
    pub fn of(field: &'a [u8]) -> Result<Self, FieldError> {
        if let Some((bits, count, digits)) = low_bits(field) {
            let fits =
                (1..=count_of(digits, bits)).contains(&count) && digits.len() == digits_of(count, bits);
            return match fits && matches!(bits, 1 | 2 | 4 | 8) {
                true => Ok(Self { field, digits, bits, count }),
                false => Err(FieldError::new("values", LOW_BITS, field)),
            };
        }
        let count = count_of(field, VALUE_BITS);
        match count == 0 || field.len() != digits_of(count, VALUE_BITS) {
            true => Err(FieldError::new("values", VALUES, field)),
            false => Ok(Self { field, digits: field, bits: VALUE_BITS, count }),
        }
    }

    /// The text.
    pub fn text(&self) -> &'a [u8] {
        self.field
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many bits of each value are there.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Replaces `out` by the values.
    pub fn read(&self, out: &mut Vec<u32>) -> Result<(), FieldError> {
        let digit = |byte: &u8| match byte {
            b'0'..=b'9' => Ok(u32::from(byte - b'0')),
            b'a'..=b'f' => Ok(u32::from(byte - b'a' + 10)),
            _ => Err(FieldError::new("values", "lower-case hex digits", self.field)),
        };
        out.clear();
        if self.bits < DIGIT_BITS {
            let each = DIGIT_BITS / self.bits;
            for byte in self.digits {
                let digit = digit(byte)?;
                out.extend(
                    (0..each).map(|at| digit >> (DIGIT_BITS - (at + 1) * self.bits) & ((1 << self.bits) - 1)),
                );
            }
            out.truncate(self.count);
            return Ok(());
        }
        for digits in self.digits.chunks((self.bits / DIGIT_BITS) as usize) {
            out.push(digits.iter().try_fold(0, |value, byte| Ok(value << DIGIT_BITS | digit(byte)?))?);
        }
        Ok(())
    }

    /// Whole values, as a signature has them that bands are cut from.
    fn whole(field: &'a [u8]) -> Result<Self, FieldError> {
        let values = Self::of(field)?;
        if values.bits == VALUE_BITS { Ok(values) } else { Err(FieldError::new("values", VALUES, field)) }
    }
}

/// Bits of a hex digit.
const DIGIT_BITS: u32 = 4;

fn low_bits(field: &[u8]) -> Option<(u32, usize, &[u8])> {
    let mut parts = field.splitn(3, |byte| *byte == b':');
    let mut number = || super::parse_number(parts.next()?);
    let (bits, count) = (number()?, number()?);
    Some((u32::try_from(bits).ok()?, usize::try_from(count).ok()?, parts.next()?))
}

fn digits_of(count: usize, bits: u32) -> usize {
    count.saturating_mul(bits as usize).div_ceil(DIGIT_BITS as usize)
}

fn count_of(digits: &[u8], bits: u32) -> usize {
    digits.len() * DIGIT_BITS as usize / bits.max(1) as usize
}

/// Appends the low bits of values, or with 32 of them whole values, as the field of a line.
pub fn push_values(out: &mut Vec<u8>, values: &[u32], bits: u32) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let hex = |digit: u32| HEX[(digit & 15) as usize];
    if bits < VALUE_BITS {
        out.extend_from_slice(format!("{bits}:{}:", values.len()).as_bytes());
    }
    if bits < DIGIT_BITS {
        let each = (DIGIT_BITS / bits) as usize;
        let digit = |values: &[u32]| {
            let low = |at| values.get(at).map_or(0, |value| value & ((1 << bits) - 1));
            hex((0..each).fold(0, |digit, at| digit << bits | low(at)))
        };
        out.extend(values.chunks(each).map(digit));
        return;
    }
    let digits = |value: &u32| {
        let value = *value;
        (0..bits / DIGIT_BITS).rev().map(move |at| hex(value >> (DIGIT_BITS * at)))
    };
    out.extend(values.iter().flat_map(digits));
}

/// A signature, and what it was made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    /// The document.
    pub id: &'a [u8],
    /// How many features its set has.
    pub size: u64,
    /// Version, method and tokenizer.
    pub made: &'a [u8],
    /// The values.
    pub values: Values<'a>,
}

impl<'a> Record<'a> for Signature<'a> {
    const FIELDS: &'static str = r"id⇥\h⇥size⇥made by⇥values";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        fields.exactly("tag", tag::SIGNATURE, r"\h")?;
        let size = fields.number("size")?;
        let made = fields.next("made by", "what made the signature")?;
        Ok(Self { id, size, made, values: Values::whole(fields.rest())? })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_tagged(out, self.id, tag::SIGNATURE);
        push_number(out, self.size);
        out.push(b'\t');
        out.extend_from_slice(self.made);
        out.push(b'\t');
        out.extend_from_slice(self.values.text());
    }
}

/// What `match-left` reads: the candidates, and the signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftInput<'a> {
    /// A pair to be compared.
    Candidate(Candidate<'a>),
    /// A signature.
    Signature(Signature<'a>),
}

impl<'a> Record<'a> for LeftInput<'a> {
    const FIELDS: &'static str = r"a⇥\c⇥b; id⇥\h⇥size⇥made by⇥values";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match super::second_field(line) {
            Some(tag::CANDIDATE) => Candidate::decode(line).map(LeftInput::Candidate),
            _ => Signature::decode(line).map(LeftInput::Signature),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LeftInput::Candidate(candidate) => candidate.encode(out),
            LeftInput::Signature(signature) => signature.encode(out),
        }
    }
}

/// A signature under its id, before the rows that wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// The document.
    pub id: &'a [u8],
    /// How many features its set has.
    pub size: u64,
    /// The values.
    pub values: Values<'a>,
}

impl<'a> Signed<'a> {
    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        fields.exactly("tag", b"0", "0, or that of a row that waits for a signature")?;
        let size = fields.number("size")?;
        Ok(Self { id, size, values: Values::of(fields.rest())? })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_tagged(out, self.id, b"0");
        push_number(out, self.size);
        out.push(b'\t');
        out.extend_from_slice(self.values.text());
    }
}

/// Rows of the first join: under each id its signature, then the candidates it is the smaller id of. Repeated candidates are
/// neighbours here, and merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftRow<'a> {
    /// A signature.
    Signed(Signed<'a>),
    /// A pair to be compared.
    Candidate(Candidate<'a>),
}

impl<'a> Record<'a> for LeftRow<'a> {
    const FIELDS: &'static str = r"id⇥0⇥size⇥values; a⇥\c⇥b";
    const KEYS: Option<Keys> = Some(KEYS);

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match super::second_field(line) {
            Some(tag::CANDIDATE) => Candidate::decode(line).map(LeftRow::Candidate),
            _ => Signed::decode(line).map(LeftRow::Signed),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LeftRow::Signed(signed) => signed.encode(out),
            LeftRow::Candidate(candidate) => candidate.encode(out),
        }
    }
}

/// A candidate that carries the signature of its smaller id to the larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfSigned<'a> {
    /// The larger id, where the row goes.
    pub b: &'a [u8],
    /// The smaller id.
    pub a: &'a [u8],
    /// How many features the set of a has.
    pub size: u64,
    /// The signature of a.
    pub values: Values<'a>,
}

impl<'a> Record<'a> for HalfSigned<'a> {
    const FIELDS: &'static str = "b⇥1⇥a⇥size of a⇥values of a";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let b = fields.id("b")?;
        fields.exactly("tag", b"1", "1")?;
        let a = fields.id("a")?;
        let size = fields.number("size of a")?;
        Ok(Self { b, a, size, values: Values::of(fields.rest())? })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_tagged(out, self.b, b"1");
        out.extend_from_slice(self.a);
        out.push(b'\t');
        push_number(out, self.size);
        out.push(b'\t');
        out.extend_from_slice(self.values.text());
    }
}

/// What `match-right` reads: the halves, and the signatures again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightInput<'a> {
    /// A candidate with one of its signatures.
    Half(HalfSigned<'a>),
    /// A signature.
    Signature(Signature<'a>),
}

impl<'a> Record<'a> for RightInput<'a> {
    const FIELDS: &'static str = r"b⇥1⇥a⇥size of a⇥values of a; id⇥\h⇥size⇥made by⇥values";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match super::second_field(line) {
            Some(b"1") => HalfSigned::decode(line).map(RightInput::Half),
            _ => Signature::decode(line).map(RightInput::Signature),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RightInput::Half(half) => half.encode(out),
            RightInput::Signature(signature) => signature.encode(out),
        }
    }
}

/// Rows of the second join: under each id its signature, then the halves that wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightRow<'a> {
    /// A signature.
    Signed(Signed<'a>),
    /// A candidate with its other signature.
    Half(HalfSigned<'a>),
}

impl<'a> Record<'a> for RightRow<'a> {
    const FIELDS: &'static str = "id⇥0⇥size⇥values; b⇥1⇥a⇥size of a⇥values of a";
    const KEYS: Option<Keys> = Some(KEYS);

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match super::second_field(line) {
            Some(b"1") => HalfSigned::decode(line).map(RightRow::Half),
            _ => Signed::decode(line).map(RightRow::Signed),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            RightRow::Signed(signed) => signed.encode(out),
            RightRow::Half(half) => half.encode(out),
        }
    }
}
