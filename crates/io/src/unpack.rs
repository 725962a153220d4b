//! Compressed files of one part or of several, with words for what can be wrong with them.
//!
//! Members of gzip, frames of zstd and streams of bzip2 and xz may stand one behind the other, and are read to the end of the last one. Zero
//! bytes between them and behind the last one are padding, as of blocks of a tape, and passed over. Other bytes behind a part are no part
//! themselves: whether something is missing there nobody can tell, so they are an error that says where they begin.

use crate::Packing;
use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::Stream;
use std::io::{self, BufRead, ErrorKind, Read};
use zstd::stream::read::Decoder as ZstdDecoder;

/// Reads all parts, one after the other.
pub(super) struct Unpacker<R: BufRead>(Packing, State<R>);

enum State<R: BufRead> {
    /// Inside a part.
    Inside(Decoder<R>),
    /// Behind one.
    Behind(Placed<R>),
    /// While one state becomes the next one.
    Moved,
}

/// Decodes one part.
enum Decoder<R: BufRead> {
    Gzip(GzDecoder<Placed<R>>),
    Zstd(ZstdDecoder<'static, Placed<R>>),
    Bzip2(BzDecoder<Placed<R>>),
    Xz(XzDecoder<Placed<R>>),
}

/// The memory that a part of xz may ask for: its presets need a tenth of that at most.
const XZ_MEMORY: u64 = 192 << 20;

/// The window that a frame of zstd may ask for, as a power of two: as the program has it.
const ZSTD_WINDOW: u32 = 27;

impl<R: BufRead> Decoder<R> {
    fn new(packing: Packing, raw: Placed<R>) -> io::Result<Self> {
        Ok(match packing {
            Packing::Gzip => Self::Gzip(GzDecoder::new(raw)),
            Packing::Zstd => {
                let mut decoder = ZstdDecoder::with_buffer(raw)?.single_frame();
                decoder.window_log_max(ZSTD_WINDOW)?;
                Self::Zstd(decoder)
            }
            Packing::Bzip2 => Self::Bzip2(BzDecoder::new(raw)),
            Packing::Xz => Self::Xz(XzDecoder::new_stream(raw, Stream::new_stream_decoder(XZ_MEMORY, 0)?)),
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Zstd(decoder) => decoder.read(buffer),
            Self::Bzip2(decoder) => decoder.read(buffer),
            Self::Xz(decoder) => decoder.read(buffer),
        }
    }

    fn raw(&self) -> &Placed<R> {
        match self {
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Zstd(decoder) => decoder.get_ref(),
            Self::Bzip2(decoder) => decoder.get_ref(),
            Self::Xz(decoder) => decoder.get_ref(),
        }
    }

    fn into_raw(self) -> Placed<R> {
        match self {
            Self::Gzip(decoder) => decoder.into_inner(),
            Self::Zstd(decoder) => decoder.into_inner(),
            Self::Bzip2(decoder) => decoder.into_inner(),
            Self::Xz(decoder) => decoder.into_inner(),
        }
    }
}

impl<R: BufRead> Unpacker<R> {
    pub(super) fn new(packing: Packing, raw: R) -> Self {
        Self(packing, State::Behind(Placed { inner: raw, at: 0 }))
    }
}

impl<R: BufRead> Read for Unpacker<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            self.1 = match std::mem::replace(&mut self.1, State::Moved) {
                State::Inside(mut decoder) => match decoder.read(buffer) {
                    Ok(0) => State::Behind(decoder.into_raw()),
                    read => {
                        let at = decoder.raw().at;
                        self.1 = State::Inside(decoder);
                        return read.map_err(|error| named(self.0, error, at));
                    }
                },
                State::Behind(mut raw) => match next_part(self.0, &mut raw) {
                    Ok(true) => State::Inside(Decoder::new(self.0, raw)?),
                    end => {
                        self.1 = State::Behind(raw);
                        return end.map(|_| 0);
                    }
                },
                State::Moved => return Ok(0),
            };
        }
    }
}

/// Passes over padding; whether a part follows.
fn next_part(packing: Packing, raw: &mut Placed<impl BufRead>) -> io::Result<bool> {
    loop {
        let some = raw.fill_buf()?;
        let zeros = some.iter().take_while(|byte| **byte == 0).count();
        let (is_end, next) = (some.is_empty(), some.get(zeros).copied());
        raw.consume(zeros);
        match next {
            _ if is_end => return Ok(false),
            None => {}
            Some(byte) if packing.may_follow(byte) => return Ok(true),
            Some(_) => {
                let (at, name, ending) = (raw.at, packing.name(), packing.ending());
                return Err(io::Error::other(format!(
                    "from its byte {at} on trailing bytes stand behind the {name} data, which are no {name} themselves; if nothing is \
                     missing, `head -c {at} FILE > NEW.{ending}` makes a file without them"
                )));
            }
        }
    }
}

/// Says of an error what is wrong with the data, of which so many bytes were read.
fn named(packing: Packing, error: io::Error, at: u64) -> io::Error {
    // An error of the system is none of the data.
    if error.raw_os_error().is_some() || error.kind() == ErrorKind::Interrupted {
        return error;
    }
    let (name, text) = (packing.name(), error.to_string());
    let needs_memory = match packing {
        Packing::Zstd => text.contains("too much memory"),
        Packing::Xz => text.contains("memory limit"),
        Packing::Gzip | Packing::Bzip2 => false,
    };
    if needs_memory {
        let command = match packing {
            Packing::Zstd => "zstd -dc --long=31",
            _ => "xz -dc",
        };
        return io::Error::other(format!(
            "its {name} data from byte {at} on asks for a window of more than 128 MB; `{command} < FILE | zstd > NEW.zst` packs it anew"
        ));
    }
    let what = match error.kind() {
        ErrorKind::UnexpectedEof => format!("ends in the middle, after byte {at}: it is truncated"),
        // Its decoder takes nothing of what it finds damaged.
        _ if packing == Packing::Zstd => format!("is damaged behind byte {at}"),
        _ => format!("is damaged before byte {at}"),
    };
    io::Error::other(format!(
        "its {name} data {what} ({text}); `{name} -t` tests the file; fetch or make it again"
    ))
}

/// Knows how much has been read.
struct Placed<R> {
    inner: R,
    at: u64,
}

impl<R: BufRead> Read for Placed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Placed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes as u64;
        self.inner.consume(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(packing: Packing, bytes: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        // One byte at a time, too.
        for size in [1, 1 << 10] {
            text.clear();
            let reader = io::BufReader::with_capacity(size, bytes);
            let read = Unpacker::new(packing, reader).read_to_string(&mut text);
            read.map_err(|error| error.to_string())?;
        }
        Ok(text)
    }

    fn packed(packing: Packing, text: &str) -> Vec<u8> {
        let (bytes, mut out) = (text.as_bytes(), Vec::new());
        match packing {
            Packing::Gzip => crate::pack(bytes, &mut out).unwrap(),
            Packing::Zstd => {
                let mut encoder = zstd::Encoder::new(&mut out, 3).unwrap();
                encoder.include_checksum(true).unwrap();
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap();
            }
            Packing::Bzip2 => {
                drop(bzip2::bufread::BzEncoder::new(bytes, bzip2::Compression::fast()).read_to_end(&mut out))
            }
            Packing::Xz => drop(liblzma::bufread::XzEncoder::new(bytes, 1).read_to_end(&mut out)),
        }
        out
    }

    /// A part of zstd that holds nothing for readers.
    const SKIPPABLE: &[u8] = b"\x50\x2a\x4d\x18\x03\0\0\0abc";

    #[test]
    fn parts_padding_and_trailing_bytes() {
        for packing in Packing::ALL {
            let part = |text: &str| packed(packing, text);
            let (a, b, zeros) = (part("a"), part("b"), vec![0; 3000]);
            for (parts, text) in [
                (vec![&a[..]], "a"),
                (vec![&a, &b], "ab"),
                (vec![&a, &zeros], "a"),
                (vec![&a, &zeros, &b, &zeros], "ab"),
                (vec![&part(""), &b], "b"),
            ] {
                assert_eq!(read(packing, &parts.concat()).as_deref(), Ok(text), "{packing:?}");
            }
            let (end, name) = (a.len(), packing.name());
            for (behind, words) in [
                (&b"\n"[..], format!("from its byte {end} on trailing bytes stand behind the {name} data")),
                (b"\0\0x", format!("from its byte {} on trailing bytes", end + 2)),
                (&b[..5], "truncated".to_owned()),
                (&b[..1], "truncated".to_owned()),
                (&[&b[..1], b"abcdefghijk"].concat(), "damaged".to_owned()),
            ] {
                let error = read(packing, &[&a[..], behind].concat()).unwrap_err();
                assert!(error.contains(&words) && error.contains(name), "{packing:?}: {error}");
            }
        }
        let zstd = packed(Packing::Zstd, "a");
        for parts in [[SKIPPABLE, &zstd, SKIPPABLE], [SKIPPABLE, SKIPPABLE, &zstd]] {
            assert_eq!(read(Packing::Zstd, &parts.concat()).as_deref(), Ok("a"));
        }
        let cut = [&zstd, &SKIPPABLE[..9]].concat();
        assert!(read(Packing::Zstd, &cut).unwrap_err().contains("truncated"));
    }

    /// Wherever a file of one part is cut, the error says so; and no byte that changed gives another text.
    #[test]
    fn no_cut_and_no_change_is_silent() {
        let text: String = (0..400).map(|n: u32| format!("{} ", n.wrapping_mul(2_654_435_761))).collect();
        let (mut cuts, mut changes) = (0, 0);
        for packing in Packing::ALL {
            let whole = packed(packing, &text);
            assert_eq!(read(packing, &whole).as_deref(), Ok(&*text));
            for end in 1..whole.len() {
                let error = read(packing, &whole[..end]).unwrap_err();
                let place = format!(
                    "its {} data ends in the middle, after byte {end}: it is truncated",
                    packing.name()
                );
                assert!(error.contains(&place), "{packing:?} cut at {end}: {error}");
                cuts += 1;
            }
            for at in (0..whole.len()).step_by(7) {
                let mut changed = whole.clone();
                changed[at] ^= 0x10;
                // Fields such as a name or a time of gzip say nothing of the text.
                match read(packing, &changed) {
                    Ok(read) => assert_eq!(read, text, "{packing:?} changed at {at}"),
                    Err(error) => assert!(error.contains(packing.name()), "{error}"),
                }
                changes += 1;
            }
        }
        println!("{cuts} cuts, {changes} changes");
        assert!(cuts > 4000 && changes > 600);
    }

    #[test]
    fn a_window_that_no_memory_should_hold_is_named() {
        let mut out = Vec::new();
        let mut encoder = zstd::Encoder::new(&mut out, 1).unwrap();
        encoder.window_log(28).unwrap();
        encoder.write_all(b"a").unwrap();
        encoder.finish().unwrap();
        let error = read(Packing::Zstd, &out).unwrap_err();
        assert!(error.contains("more than 128 MB") && error.contains("--long=31"), "{error}");
        let options = liblzma::stream::LzmaOptions::new_preset(1).map(|mut options| {
            options.dict_size(1 << 28);
            options
        });
        let mut filters = liblzma::stream::Filters::new();
        filters.lzma2(&options.unwrap());
        let stream = Stream::new_stream_encoder(&filters, liblzma::stream::Check::Crc64).unwrap();
        let mut out = Vec::new();
        liblzma::bufread::XzEncoder::new_stream(&b"a"[..], stream).read_to_end(&mut out).unwrap();
        let error = read(Packing::Xz, &out).unwrap_err();
        assert!(error.contains("more than 128 MB"), "{error}");
    }
}
