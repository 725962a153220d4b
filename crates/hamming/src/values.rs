//! Fingerprints that are read from the first to the last: in memory, or in a file.

use super::bits::Fingerprint;
use super::temporary::Temporary;
use std::borrow::Cow;
use std::ops::Range;
use twinsplit_io::error::Result;

/// Fingerprints of a file that are read at a time: their bytes fit into the first of the caches.
const BLOCK: usize = 4096;

/// Fingerprints by number.
#[derive(Clone, Copy, Debug)]
pub enum Values<'v, F> {
    /// In memory.
    Memory(&'v [F]),
    /// In a file, `BITS / 8` bytes each, little endian.
    File(&'v Temporary),
}

impl<'v, F: Fingerprint> Values<'v, F> {
    /// Bytes of a fingerprint.
    const WIDTH: usize = F::BITS as usize / 8;

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Values::Memory(values) => values.len(),
            Values::File(file) => file.len() as usize / Self::WIDTH,
        }
    }

    /// Whether they are in a file, so that memory may be too little for them.
    pub fn are_in_file(&self) -> bool {
        matches!(self, Values::File(_))
    }

    /// Calls `visit` with all of a range, some at a time, and with the number of the first of these.
    ///
    /// # Errors
    /// The file cannot be read.
    #[inline]
    pub fn blocks(&self, range: Range<usize>, mut visit: impl FnMut(&[F], u32)) -> Result<()> {
        match self {
            Values::Memory(values) => visit(&values[range.clone()], range.start as u32),
            Values::File(file) => {
                let mut block = Block::default();
                for start in range.clone().step_by(BLOCK) {
                    let end = range.end.min(start + BLOCK);
                    visit(block.read(file, start..end)?, start as u32);
                }
            }
        }
        Ok(())
    }

    /// All of a range at once.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn range(&self, range: Range<usize>) -> Result<Cow<'v, [F]>> {
        match self {
            Values::Memory(values) => Ok(Cow::Borrowed(&values[range])),
            Values::File(_) => {
                let mut all = Vec::with_capacity(range.len());
                self.blocks(range, |values, _| all.extend_from_slice(values))?;
                Ok(Cow::Owned(all))
            }
        }
    }

    /// Of fingerprints that ascend, how many begin with at most this number of so many bits.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn up_to(&self, top: u32, bits: u32) -> Result<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.range(middle..middle + 1)?[0].top(bits) <= top {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

/// Some fingerprints of a file, and room for their bytes.
#[derive(Default)]
struct Block<F> {
    bytes: Vec<u8>,
    values: Vec<F>,
}

impl<F: Fingerprint> Block<F> {
    fn read(&mut self, file: &Temporary, range: Range<usize>) -> Result<&[F]> {
        let width = Values::<F>::WIDTH;
        self.bytes.resize(range.len() * width, 0);
        file.read((range.start * width) as u64, &mut self.bytes)?;
        self.values.clear();
        self.values.extend(self.bytes.chunks_exact(width).filter_map(F::load));
        Ok(&self.values)
    }
}
