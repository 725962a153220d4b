//! Gzip of one member or of several, with words for what can be wrong with it.

use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, ErrorKind, Read};

/// The first two bytes of gzip.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads all members, one after the other.
pub(super) struct Gzip<R>(MultiGzDecoder<R>);

impl<R: BufRead> Gzip<R> {
    pub(super) fn new(raw: R) -> Self {
        Self(MultiGzDecoder::new(raw))
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            let what = match error.kind() {
                ErrorKind::UnexpectedEof => "ends in the middle: it is truncated",
                ErrorKind::InvalidInput | ErrorKind::InvalidData => "is damaged",
                _ => return error,
            };
            io::Error::other(format!(
                "its gzip data {what} ({error}); `gzip -t` tests the file; fetch or make it again"
            ))
        })
    }
}
