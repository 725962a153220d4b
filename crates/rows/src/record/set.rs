//! Documents as sets of features.

use super::fingerprint::MemberFingerprint;
use super::meta::Meta;
use super::tokenized::Tokenized;
use super::{Fields, Keys, Record, push_number, push_tagged, second_field, tag};
use twinsplit_io::error::FieldError;

/// How many hex digits a feature has.
pub const FEATURE_DIGITS: usize = 2 * size_of::<u64>();

/// What a feature field must hold.
pub const FEATURE: &str = "16 lower-case hex digits";
pub(super) const FEATURES: &str =
    "features of 16 lower-case hex digits, ascending, unique, one space between";

/// How many features a text of so many bytes holds, one space between them; `None` where none ends there.
pub(super) fn features_in(bytes: usize) -> Option<usize> {
    (bytes == 0 || bytes % (FEATURE_DIGITS + 1) == FEATURE_DIGITS).then(|| bytes.div_ceil(FEATURE_DIGITS + 1))
}

/// A byte in each of the eight bytes of a word.
const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The digits of eight values below 16, a byte each. All eight are made at once, for rows are mostly features: of those that one stage hands
/// to the next a third of the time was digits, one at a time.
const fn digits_of(nibbles: u64) -> u64 {
    // Values from 10 reach the highest bit.
    let letters = (nibbles + each(128 - 10)) >> 7 & each(1);
    nibbles + each(b'0') + letters * (b'a' - b'0' - 10) as u64
}

/// The value of eight digits, of which the first one is the highest byte.
const fn value_of(digits: u64) -> Option<u32> {
    let letters = digits >> 6 & each(1);
    let nibbles = (digits & each(15)) + letters * 9;
    if nibbles & each(0xf0) != 0 || digits_of(nibbles) != digits {
        return None;
    }
    let bytes = (nibbles | nibbles >> 4) & 0x00ff_00ff_00ff_00ff;
    let pairs = (bytes | bytes >> 8) & 0x0000_ffff_0000_ffff;
    Some((pairs | pairs >> 16) as u32)
}

/// A feature from its 16 lower-case hex digits.
#[inline]
pub fn parse_feature(digits: &[u8]) -> Option<u64> {
    let (high, low) = digits.split_first_chunk()?;
    let low = low.try_into().ok()?;
    let [high, low] = [high, low].map(|digits: &[u8; 8]| value_of(u64::from_be_bytes(*digits)));
    Some(u64::from(high?) << 32 | u64::from(low?))
}

/// Appends a feature as 16 lower-case hex digits.
#[inline]
pub fn push_feature(out: &mut Vec<u8>, feature: u64) {
    let digits = |half: u64| {
        let pairs = (half | half << 16) & 0x0000_ffff_0000_ffff;
        let bytes = (pairs | pairs << 8) & 0x00ff_00ff_00ff_00ff;
        digits_of((bytes | bytes << 4) & each(15)).to_be_bytes()
    };
    out.extend_from_slice(&digits(feature >> 32));
    out.extend_from_slice(&digits(feature & u64::from(u32::MAX)));
}

/// A set of features, as the text of its field or as numbers.
#[derive(Clone, Copy, Debug)]
pub enum Features<'a> {
    /// As it stands in the line; checked when it is read.
    Text(&'a [u8]),
    /// Ascending and unique.
    Values(&'a [u64]),
}

impl<'a> Features<'a> {
    /// The features in a field, of which so much is looked at that the size is known; the rest is checked when it is read.
    pub fn decode(text: &'a [u8]) -> Result<Self, FieldError> {
        match features_in(text.len()) {
            Some(_) => Ok(Features::Text(text)),
            None => Err(FieldError::new("features", FEATURES, text)),
        }
    }

    /// How many features there are.
    pub fn size(&self) -> u64 {
        match self {
            Features::Text(text) => text.len().div_ceil(FEATURE_DIGITS + 1) as u64,
            Features::Values(values) => values.len() as u64,
        }
    }

    /// Replaces `out` by the features, after checking their form and order.
    pub fn read(&self, out: &mut Vec<u64>) -> Result<(), FieldError> {
        out.clear();
        let text = match self {
            Features::Values(values) => {
                out.extend_from_slice(values);
                return Ok(());
            }
            Features::Text([]) => return Ok(()),
            Features::Text(text) => *text,
        };
        let wrong = |at: usize| FieldError::new("features", FEATURES, &text[at..]);
        out.reserve(self.size() as usize);
        let mut at = 0;
        loop {
            let digits = text.get(at..at + FEATURE_DIGITS).ok_or_else(|| wrong(at))?;
            let feature = parse_feature(digits).ok_or_else(|| wrong(at))?;
            if out.last().is_some_and(|last| *last >= feature) {
                return Err(wrong(at));
            }
            out.push(feature);
            match text.get(at + FEATURE_DIGITS) {
                None => return Ok(()),
                Some(b' ') => at += FEATURE_DIGITS + 1,
                Some(_) => return Err(wrong(at)),
            }
        }
    }

    /// Appends the field.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Features::Text(text) => out.extend_from_slice(text),
            Features::Values(values) => {
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        out.push(b' ');
                    }
                    push_feature(out, *value);
                }
            }
        }
    }
}

impl PartialEq for Features<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        self.encode(&mut left);
        other.encode(&mut right);
        left == right
    }
}

/// A document: its id and its set of features, which may be empty. The hash of a text that [`Tokenized`] may hold beside
/// it is passed over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Doc<'a> {
    /// The id, escaped.
    pub id: &'a [u8],
    /// The set.
    pub features: Features<'a>,
}

impl Doc<'_> {
    /// The bytes of a row with an id of so many bytes and so many features.
    pub fn bytes(id: usize, features: usize) -> usize {
        id + (FEATURE_DIGITS + 1) * features + 1
    }
}

impl<'a> Record<'a> for Doc<'a> {
    const FIELDS: &'static str = "id⇥features";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        Tokenized::decode(line).map(|row| row.doc)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.id);
        out.push(b'\t');
        self.features.encode(out);
    }
}

/// A document that equals another one, its representative: in its set, which the representative stands for in every
/// join, or in its text, where their sets enter none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy<'a> {
    /// The copy's id.
    pub id: &'a [u8],
    /// The id of the group's representative: the smallest of the group in byte order.
    pub representative: &'a [u8],
    /// How many features the set has; 0 where the texts are equal, which makes no pair.
    pub size: u64,
}

/// A line of the stream that `equal-sets` writes: a set, or a copy of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Member<'a> {
    /// A set that stands for itself.
    Doc(Doc<'a>),
    /// A copy, which joins pass over and `expand-pairs` reads.
    Copy(Copy<'a>),
    /// A fingerprint, in chains of fingerprints: it stands for itself, or is a copy of another one.
    Fingerprint(MemberFingerprint<'a>),
    /// What the keep rule needs of a document, whatever its set.
    Meta(Meta<'a>),
}

impl<'a> Member<'a> {
    /// A copy and what it is a copy of.
    pub fn as_copy(&self) -> Option<(&'a [u8], &'a [u8])> {
        match self {
            Member::Doc(_) | Member::Meta(_) => None,
            Member::Copy(copy) => Some((copy.id, copy.representative)),
            Member::Fingerprint(one) => one.representative.map(|representative| (one.id, representative)),
        }
    }
}

impl<'a> Record<'a> for Member<'a> {
    const FIELDS: &'static str = "id⇥features, or id⇥\\=⇥representative⇥size; of fingerprints \
                                  id⇥\\#⇥fingerprint⇥distance, or id⇥\\#=⇥representative⇥fingerprint⇥distance; \
                                  id⇥\\m⇥length⇥date⇥score⇥script⇥input⇥offset⇥file⇥line";

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        match second_field(line) {
            Some(tag::COPY) => {}
            Some(tag::META) => return Meta::decode(line).map(Member::Meta),
            Some(tag::FINGERPRINT | tag::EQUAL_FINGERPRINT) => {
                return MemberFingerprint::decode(line).map(Member::Fingerprint);
            }
            _ => return Ok(Member::Doc(Doc::decode(line)?)),
        }
        let mut fields = Fields::of(line);
        let id = fields.id("id")?;
        fields.next("tag", r"\=")?;
        let representative = fields.id("representative")?;
        let size = fields.number("size")?;
        fields.done()?;
        Ok(Member::Copy(Copy { id, representative, size }))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Member::Doc(doc) => doc.encode(out),
            Member::Copy(copy) => {
                push_tagged(out, copy.id, tag::COPY);
                out.extend_from_slice(copy.representative);
                out.push(b'\t');
                push_number(out, copy.size);
            }
            Member::Fingerprint(one) => one.encode(out),
            Member::Meta(meta) => meta.encode(out),
        }
    }
}

/// A document under a hash by which equal ones meet, smallest id first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HashedDoc<'a> {
    /// [`twinsplit_core::hash::set`] of the features, or half of the hash of the text.
    pub hash: u64,
    /// The document: a set, or the hash of a text and no features.
    pub doc: Tokenized<'a>,
}

impl<'a> Record<'a> for HashedDoc<'a> {
    const FIELDS: &'static str = r"hash⇥id⇥features, or hash⇥id⇥\~⇥hash of the text⇥";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let hash = fields.feature("hash")?;
        Ok(Self { hash, doc: Tokenized::decode(fields.rest())? })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_feature(out, self.hash);
        out.push(b'\t');
        self.doc.encode(out);
    }
}

/// A row of the shuffle in which equal sets meet, and the documents of one id.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HashedRow<'a> {
    /// A document under the hash of its set or text.
    Doc(HashedDoc<'a>),
    /// What the keep rule needs of a document, under the [hash of its id](twinsplit_core::hash::id).
    Meta(Meta<'a>),
}

impl<'a> Record<'a> for HashedRow<'a> {
    const FIELDS: &'static str = r"hash⇥id⇥features, or hash⇥id⇥\~⇥hash of the text⇥; hash of the id⇥id⇥\m⇥length⇥date⇥score⇥script⇥input⇥offset⇥file⇥line";
    const KEYS: Option<Keys> = HashedDoc::KEYS;

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        fields.feature("hash")?;
        let row = fields.rest();
        match second_field(row) {
            Some(tag::META) => Meta::decode(row).map(HashedRow::Meta),
            _ => HashedDoc::decode(line).map(HashedRow::Doc),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            HashedRow::Doc(doc) => doc.encode(out),
            HashedRow::Meta(meta) => {
                push_feature(out, twinsplit_core::hash::id(meta.id));
                out.push(b'\t');
                meta.encode(out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn features_are_lower_case_hex(feature: u64, at in 0usize..16, other: u8) {
            let mut digits = Vec::new();
            push_feature(&mut digits, feature);
            prop_assert_eq!(digits.clone(), format!("{feature:016x}").into_bytes());
            prop_assert_eq!(parse_feature(&digits), Some(feature));
            prop_assert_eq!(parse_feature(&digits[..at]), None);
            digits[at] = other;
            let is_digit = other.is_ascii_digit() || (b'a'..=b'f').contains(&other);
            let expected = std::str::from_utf8(&digits).ok().filter(|_| is_digit);
            let expected = expected.and_then(|digits| u64::from_str_radix(digits, 16).ok());
            prop_assert_eq!(parse_feature(&digits), expected);
            digits.push(b'0');
            prop_assert_eq!(parse_feature(&digits), None);
        }
    }

    #[test]
    fn every_byte_is_a_digit_or_none() {
        for byte in 0..=u8::MAX {
            for at in 0..16 {
                let mut digits = *b"0123456789abcdef";
                digits[at] = byte;
                let is_digit = byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
                assert_eq!(parse_feature(&digits).is_some(), is_digit, "{byte}");
            }
        }
    }
}
