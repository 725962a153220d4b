//! Bytes that are not changed any more: in memory, or of a file that is mapped.
//!
//! Numbers are read from bytes, little endian, with a look at the bounds: so a file that was damaged after it was verified may give a
//! wrong answer, and no worse.

use crate::error::{Error, Result};
use std::fs::File;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

/// Bytes that are not changed any more.
#[derive(Clone, Debug)]
pub enum Bytes {
    /// In memory.
    Owned(Vec<u8>),
    /// A range of a file.
    Mapped(Arc<Map>, Range<usize>),
}

impl Bytes {
    /// A number of four bytes, 0 where there is none.
    #[inline(always)]
    pub fn number(&self, at: usize) -> u32 {
        let four = self.get(4 * at..).and_then(|bytes| bytes.first_chunk());
        four.map_or(0, |four| u32::from_le_bytes(*four))
    }

    /// A number of eight bytes.
    pub fn long(&self, at: usize) -> Option<u64> {
        self.get(8 * at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
    }

    /// Gives back the pages of a mapped file that were looked at, which come again when they are asked for.
    pub fn forget(&self) {
        if let Bytes::Mapped(map, _) = self {
            map.forget();
        }
    }

    /// Numbers of eight bytes.
    pub fn of_longs(numbers: &[u64]) -> Self {
        Self::Owned(numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Self::Owned(Vec::new())
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Owned(bytes)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Mapped(map, range) => map.get(range.clone()).unwrap_or_default(),
        }
    }
}

/// How the pages of a mapped file are going to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Many of them: the system reads those around a page that is asked for, too, of some disks megabytes.
    ReadAhead,
    /// Few, here and there: each is read alone.
    Random,
}

pub use map::Map;

#[allow(unsafe_code)]
mod map {
    use super::{Access, Deref, Error, File, Path, Result};
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
    use std::ptr::{NonNull, null_mut};

    /// A whole file, mapped to be read.
    #[derive(Debug)]
    pub struct Map {
        start: NonNull<u8>,
        bytes: usize,
    }

    // SAFETY: nobody writes through the map, and it is unmapped when its only owner goes.
    unsafe impl Send for Map {}
    // SAFETY: as above.
    unsafe impl Sync for Map {}

    impl Map {
        /// Maps a file, which must not be made shorter while it is mapped. Index files are replaced by a new file of their
        /// name and never written over, so what is mapped stays as it is.
        pub fn of(path: &Path) -> Result<Self> {
            Self::of_file(&File::open(path).map_err(Error::io("open", path))?, path)
        }

        /// The same of a file that is open; errors name `path`.
        pub fn of_file(file: &File, path: &Path) -> Result<Self> {
            let failed = |source: std::io::Error| Error::io("map", path)(source);
            let bytes = file.metadata().map_err(failed)?.len();
            let bytes =
                usize::try_from(bytes).map_err(|_| failed(std::io::ErrorKind::FileTooLarge.into()))?;
            if bytes == 0 {
                return Ok(Self { start: NonNull::dangling(), bytes });
            }
            // SAFETY: a new range is asked for, wherever there is room, so no memory in use is touched.
            let start = unsafe { mmap(null_mut(), bytes, ProtFlags::READ, MapFlags::PRIVATE, file, 0) };
            let start = NonNull::new(start.map_err(|error| failed(error.into()))?.cast());
            let start = start.ok_or_else(|| failed(std::io::ErrorKind::OutOfMemory.into()))?;
            Ok(Self { start, bytes })
        }

        /// Tells the system how pages are going to be asked for; [`Access::ReadAhead`] is what it expects of a new map.
        pub fn expect(&self, access: Access) {
            let advice = match access {
                Access::ReadAhead => Advice::Normal,
                Access::Random => Advice::Random,
            };
            if self.bytes > 0 {
                // SAFETY: the range is mapped, and what is read of it does not depend on this. An error means that the system reads as it did.
                let _ = unsafe { madvise(self.start.as_ptr().cast(), self.bytes, advice) };
            }
        }

        /// Gives the pages back that are in memory: until they are asked for again they count for nothing.
        pub fn forget(&self) {
            if self.bytes > 0 {
                // SAFETY: nobody writes through the map, so what comes back is what was there. An error means that the pages stay.
                let _ = unsafe { madvise(self.start.as_ptr().cast(), self.bytes, Advice::LinuxDontNeed) };
            }
        }
    }

    impl Deref for Map {
        type Target = [u8];

        #[inline(always)]
        fn deref(&self) -> &[u8] {
            // SAFETY: the range is mapped for as long as the map lives, and bytes have no invalid values.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
        }
    }

    impl Drop for Map {
        fn drop(&mut self) {
            if self.bytes > 0 {
                // SAFETY: the range was mapped by us, and nobody has a reference into it any more. That it cannot fail for such
                // a range is why there is nothing to do about an error.
                let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
            }
        }
    }
}
