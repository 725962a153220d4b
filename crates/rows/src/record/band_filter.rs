//! A part of a Bloom filter of band keys, on its way to the sum of all filters.

use super::{Fields, Keys, Record, push_padded};
use twinsplit_io::error::FieldError;

const NUMBER_WIDTH: usize = 10;
const CELLS: &str = "two lower-case hex digits a byte, one byte at least";
const HEX: &[u8; 16] = b"0123456789abcdef";

/// Some cells of a filter ([`twinsplit_core::sketch::bloom::Bloom::chunks`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterChunk {
    /// Which of the filter's chunks it is.
    pub number: u64,
    /// Its cells, encoded.
    pub bytes: Vec<u8>,
}

impl<'a> Record<'a> for FilterChunk {
    const FIELDS: &'static str = "chunk⇥cells in hex";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 1 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let number = fields.number("chunk")?;
        let digits = fields.next("cells", CELLS)?;
        fields.done()?;
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        let byte = |two: &[u8]| match *two {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        };
        let bytes = digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>();
        let bytes = bytes.filter(|bytes| !bytes.is_empty());
        Ok(Self { number, bytes: bytes.ok_or_else(|| FieldError::new("cells", CELLS, digits))? })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_padded(out, self.number, NUMBER_WIDTH);
        out.push(b'\t');
        let digits = |byte: &u8| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
        out.extend(self.bytes.iter().flat_map(digits));
    }
}
