//! What a sorter sorts.

/// A row of fixed width in memory, and a few bytes on its way.
pub trait Row: Copy + Default + Send + Sync {
    /// The most bytes that [`put`](Self::put) may write to.
    const MOST: usize;

    /// The fewest bytes of a row.
    fn least(frame: FrameOfReference) -> usize;

    /// What rows are sorted by.
    fn key(&self) -> u64;

    /// Writes the row to the front of `out`, which has [`MOST`](Self::MOST) bytes, and gives how many it took. `before` is the
    /// one written before it in the same chunk, or the default.
    fn put(&self, before: &Self, frame: FrameOfReference, out: &mut [u8]) -> usize;

    /// Reads a row from the front of `bytes`.
    fn get(bytes: &mut &[u8], before: &Self, frame: FrameOfReference) -> Option<Self>;
}

/// A frame of reference for the keys of a bucket: they are written as what they have more than its first.
#[derive(Clone, Copy, Debug)]
pub struct FrameOfReference {
    /// The smallest that it may hold.
    pub first: u64,
    /// Bytes that suffice for what a key has more than that; at least 1.
    pub bytes: usize,
}

/// A key alone, as what it has more than the first of its bucket.
impl Row for u64 {
    const MOST: usize = 8;

    #[inline]
    fn least(frame: FrameOfReference) -> usize {
        frame.bytes
    }

    #[inline]
    fn key(&self) -> u64 {
        *self
    }

    #[inline]
    fn put(&self, _: &u64, frame: FrameOfReference, out: &mut [u8]) -> usize {
        out[..8].copy_from_slice(&(self - frame.first).to_le_bytes());
        frame.bytes
    }

    #[inline]
    fn get(bytes: &mut &[u8], _: &u64, frame: FrameOfReference) -> Option<u64> {
        let more = match bytes.first_chunk() {
            Some(word) => u64::from_le_bytes(*word) & u64::MAX >> (u64::BITS - 8 * frame.bytes as u32),
            None => {
                let mut word = [0; 8];
                word[..frame.bytes].copy_from_slice(bytes.get(..frame.bytes)?);
                u64::from_le_bytes(word)
            }
        };
        *bytes = &bytes[frame.bytes..];
        Some(frame.first + more)
    }
}

/// Two numbers as one key: sorted by the first, then by the second.
#[inline]
pub fn pack(x: u32, y: u32) -> u64 {
    Packing { bits: 32 }.pack(x, y)
}

/// The numbers of [`pack`].
#[inline]
pub fn unpack(key: u64) -> (u32, u32) {
    Packing { bits: 32 }.unpack(key)
}

/// How two numbers are one key without bits that are always zero: such a key is short, and any of its bits tell rows apart.
#[derive(Clone, Copy, Debug)]
pub struct Packing {
    /// Bits of the second number.
    bits: u32,
}

impl Packing {
    /// For second numbers up to `most`.
    pub fn new(most: u32) -> Self {
        Self { bits: u32::BITS - most.leading_zeros() }
    }

    /// The key: sorted by the first, then by the second.
    #[inline]
    pub fn pack(self, x: u32, y: u32) -> u64 {
        u64::from(x) << self.bits | u64::from(y)
    }

    /// The numbers of a key.
    #[inline]
    pub fn unpack(self, key: u64) -> (u32, u32) {
        (self.first(key), (key & ((1 << self.bits) - 1)) as u32)
    }

    /// The first number of a key.
    #[inline]
    pub fn first(self, key: u64) -> u32 {
        (key >> self.bits) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_packed_in_order(x: u32, y: u32, x2: u32, y2: u32, most: u32, shift in 0u32..32) {
            let most = most >> shift;
            let (y, y2) = (y.min(most), y2.min(most));
            let packing = Packing::new(most);
            prop_assert_eq!(packing.unpack(packing.pack(x, y)), (x, y));
            prop_assert_eq!(packing.first(packing.pack(x, y)), x);
            prop_assert_eq!(packing.pack(x, y).cmp(&packing.pack(x2, y2)), (x, y).cmp(&(x2, y2)));
        }

        /// A key takes as many bytes as are said, and behind the last one nothing is read.
        #[test]
        fn keys_come_back(first: u32, mores in prop::collection::vec(any::<u64>(), 0..20), bytes in 1usize..=8) {
            let frame = FrameOfReference { first: first.into(), bytes };
            let most = (u64::MAX >> (u64::BITS - 8 * bytes as u32)).min(u64::MAX - frame.first);
            let rows: Vec<u64> = mores.iter().map(|more| frame.first + more % most).collect();
            let mut all = Vec::new();
            for row in &rows {
                let mut out = [0; u64::MOST];
                let length = row.put(&0, frame, &mut out);
                prop_assert_eq!(length, bytes);
                all.extend_from_slice(&out[..length]);
            }
            let mut rest = all.as_slice();
            let found: Vec<u64> = std::iter::from_fn(|| u64::get(&mut rest, &0, frame)).collect();
            prop_assert_eq!(found, rows);
            prop_assert!(rest.is_empty());
        }
    }
}
