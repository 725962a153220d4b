//! A feature of a document on its way.

use crate::columnar::sorter::{FrameOfReference, Row};

/// A feature of a document, which goes by its place.
#[derive(Clone, Copy, Debug, Default)]
pub struct FeatureRow {
    /// The feature.
    pub feature: u64,
    /// The document.
    pub document: u32,
}

/// In 8 bytes, most of the time: a bucket's features begin with the same byte, so 7 suffice, and the eighth is the
/// step from the document before, which is small because a thread reads documents in order.
impl Row for FeatureRow {
    const MOST: usize = 12;

    #[inline]
    fn least(_: FrameOfReference) -> usize {
        8
    }

    #[inline]
    fn key(&self) -> u64 {
        self.feature
    }

    #[inline]
    fn put(&self, before: &Self, _: FrameOfReference, out: &mut [u8]) -> usize {
        let step = self.document.wrapping_sub(before.document);
        out[..8].copy_from_slice(&(self.feature << 8 | u64::from(step.min(FAR))).to_le_bytes());
        if step < FAR {
            return 8;
        }
        out[8..12].copy_from_slice(&self.document.to_le_bytes());
        12
    }

    #[inline]
    fn get(bytes: &mut &[u8], before: &Self, frame: FrameOfReference) -> Option<Self> {
        let word = u64::from_le_bytes(bytes.split_off(..8)?.try_into().ok()?);
        let document = match word as u8 {
            far if u32::from(far) == FAR => u32::from_le_bytes(bytes.split_off(..4)?.try_into().ok()?),
            step => before.document.wrapping_add(step.into()),
        };
        Some(Self { feature: frame.first & 0xff << 56 | word >> 8, document })
    }
}

/// Says that the document's place follows as it is.
const FAR: u32 = 0xff;
