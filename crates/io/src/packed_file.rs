//! Files that are written in the compression of another one.

use crate::error::{Error, Result};
use crate::{AtomicFile, Packing};
use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use zstd::stream::write::Encoder as ZstdEncoder;

/// A file of one part or of several, each packed by itself; it appears under its name when it is complete. The levels are those that the
/// programs of the compressions have by default, but for xz, whose default takes a hundred megabytes.
pub struct PackedFile {
    state: State,
    packing: Option<Packing>,
    path: PathBuf,
    /// Whether there is a part: a file without bytes is an empty part, and no empty file.
    has_parts: bool,
}

enum State {
    /// Before, between and behind parts, and in files that are not packed.
    Between(AtomicFile),
    /// Inside a part.
    Inside(Box<Encoder>),
    /// While one state becomes the next one, and after an error.
    Moved,
}

enum Encoder {
    Gzip(GzEncoder<AtomicFile>),
    Zstd(ZstdEncoder<'static, AtomicFile>),
    Bzip2(BzEncoder<AtomicFile>),
    Xz(XzEncoder<AtomicFile>),
}

/// The level of xz: 17 megabytes of memory.
const XZ_LEVEL: u32 = 2;

impl Encoder {
    fn new(packing: Packing, file: AtomicFile) -> io::Result<Self> {
        Ok(match packing {
            Packing::Gzip => Self::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Packing::Zstd => {
                let mut encoder = ZstdEncoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                Self::Zstd(encoder)
            }
            Packing::Bzip2 => Self::Bzip2(BzEncoder::new(file, bzip2::Compression::best())),
            Packing::Xz => Self::Xz(XzEncoder::new(file, XZ_LEVEL)),
        })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Gzip(encoder) => encoder,
            Self::Zstd(encoder) => encoder,
            Self::Bzip2(encoder) => encoder,
            Self::Xz(encoder) => encoder,
        }
    }

    fn finish(self) -> io::Result<AtomicFile> {
        match self {
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
            Self::Bzip2(encoder) => encoder.finish(),
            Self::Xz(encoder) => encoder.finish(),
        }
    }
}

impl PackedFile {
    /// Starts a file beside its final place; see [`AtomicFile::create`].
    pub fn create(path: &Path, packing: Option<Packing>) -> Result<Self> {
        let state = State::Between(AtomicFile::create(path)?);
        Ok(Self { state, packing, path: path.to_owned(), has_parts: false })
    }

    /// Writes bytes into the part that is open, or into a new one.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if !bytes.is_empty() {
            self.begin_part()?;
        }
        match &mut self.state {
            State::Between(file) => file.bytes(bytes),
            State::Inside(encoder) => {
                encoder.writer().write_all(bytes).map_err(Error::io("write", &self.path))
            }
            State::Moved => Ok(()),
        }
    }

    /// Ends the part that is open: what follows is packed by itself.
    pub fn end_part(&mut self) -> Result<()> {
        self.state = match std::mem::replace(&mut self.state, State::Moved) {
            State::Inside(encoder) => {
                State::Between(encoder.finish().map_err(Error::io("write", &self.path))?)
            }
            other => other,
        };
        Ok(())
    }

    /// Begins a part where none is open, and the file is packed.
    fn begin_part(&mut self) -> Result<()> {
        self.state = match (std::mem::replace(&mut self.state, State::Moved), self.packing) {
            (State::Between(file), Some(packing)) => {
                let encoder = Encoder::new(packing, file).map_err(Error::io("write", &self.path))?;
                self.has_parts = true;
                State::Inside(Box::new(encoder))
            }
            (other, _) => other,
        };
        Ok(())
    }

    /// Makes the file complete: flushed, and under its own name.
    pub fn finish(mut self) -> Result<()> {
        if !self.has_parts {
            self.begin_part()?;
        }
        self.end_part()?;
        match self.state {
            State::Between(file) => file.finish(),
            State::Inside(_) | State::Moved => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read as _;

    fn read(path: &Path) -> Vec<u8> {
        let mut bytes = Vec::new();
        crate::open(path).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn parts_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let long = vec![b'x'; 3 << 20];
        for packing in Packing::ALL.map(Some).into_iter().chain([None]) {
            let parts: [&[&[u8]]; 4] = [&[], &[b"one"], &[b"one", b"", b"two"], &[b"a", &long, b"b"]];
            for parts in parts {
                let mut file = PackedFile::create(&path, packing).unwrap();
                for part in parts {
                    file.bytes(&part[..part.len() / 2]).unwrap();
                    file.bytes(&part[part.len() / 2..]).unwrap();
                    file.end_part().unwrap();
                }
                file.finish().unwrap();
                assert_eq!(read(&path), parts.concat(), "{packing:?}");
                assert_eq!(Packing::of(&fs::read(&path).unwrap()), packing);
            }
        }
        // A part ends where it was ended, and nowhere else.
        let mut file = PackedFile::create(&path, Some(Packing::Gzip)).unwrap();
        file.bytes(b"one").unwrap();
        file.bytes(b"1").unwrap();
        file.end_part().unwrap();
        file.bytes(b"two").unwrap();
        file.finish().unwrap();
        let bytes = fs::read(&path).unwrap();
        let mut first = flate2::bufread::GzDecoder::new(&bytes[..]);
        let mut text = String::new();
        first.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one1");
        assert!(first.into_inner().starts_with(b"\x1f\x8b"));
    }
}
