//! Gzip of one member or of several, with words for what can be wrong with it.
//!
//! Zero bytes between members and behind the last one are padding, as of blocks of a tape, and passed over. Other bytes behind a
//! member are no gzip: whether something is missing there nobody can tell, so they are an error that says where they begin.

use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, ErrorKind, Read};

/// The first two bytes of gzip.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads all members, one after the other.
pub(super) struct Gzip<R>(State<R>);

enum State<R> {
    /// Inside a member.
    Member(GzDecoder<Placed<R>>),
    /// Behind one.
    Behind(Placed<R>),
    /// While one state becomes the next one.
    Moved,
}

impl<R: BufRead> Gzip<R> {
    pub(super) fn new(raw: R) -> Self {
        Self(State::Member(GzDecoder::new(Placed { inner: raw, at: 0 })))
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            self.0 = match std::mem::replace(&mut self.0, State::Moved) {
                State::Member(mut decoder) => match decoder.read(buffer) {
                    Ok(0) => State::Behind(decoder.into_inner()),
                    read => {
                        self.0 = State::Member(decoder);
                        return read.map_err(named);
                    }
                },
                State::Behind(mut raw) => match next_member(&mut raw) {
                    Ok(true) => State::Member(GzDecoder::new(raw)),
                    end => {
                        self.0 = State::Behind(raw);
                        return end.map(|_| 0);
                    }
                },
                State::Moved => return Ok(0),
            };
        }
    }
}

/// Passes over padding; whether a member follows.
fn next_member(raw: &mut Placed<impl BufRead>) -> io::Result<bool> {
    loop {
        let some = raw.fill_buf()?;
        let zeros = some.iter().take_while(|byte| **byte == 0).count();
        let (is_end, next) = (some.is_empty(), some.get(zeros).copied());
        raw.consume(zeros);
        match next {
            _ if is_end => return Ok(false),
            None => {}
            Some(byte) if byte == MAGIC[0] => return Ok(true),
            Some(_) => {
                let at = raw.at;
                return Err(io::Error::other(format!(
                    "from its byte {at} on trailing bytes stand behind the gzip data, which are no gzip themselves; if nothing is \
                     missing, `head -c {at} FILE > NEW.gz` makes a file without them"
                )));
            }
        }
    }
}

/// Says of an error what is wrong with the data.
fn named(error: io::Error) -> io::Error {
    let what = match error.kind() {
        ErrorKind::UnexpectedEof => "ends in the middle: it is truncated",
        ErrorKind::InvalidInput | ErrorKind::InvalidData => "is damaged",
        _ => return error,
    };
    io::Error::other(format!(
        "its gzip data {what} ({error}); `gzip -t` tests the file; fetch or make it again"
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
    use crate::pack;

    fn read(bytes: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        // One byte at a time, too.
        for size in [1, 1 << 10] {
            text.clear();
            let reader = io::BufReader::with_capacity(size, bytes);
            Gzip::new(reader).read_to_string(&mut text).map_err(|error| error.to_string())?;
        }
        Ok(text)
    }

    #[test]
    fn members_padding_and_trailing_bytes() {
        let member = |text: &str| {
            let mut out = Vec::new();
            pack(text.as_bytes(), &mut out).unwrap();
            out
        };
        let (a, b, zeros) = (member("a"), member("b"), vec![0; 3000]);
        for (parts, text) in [
            (vec![&a[..]], "a"),
            (vec![&a, &b], "ab"),
            (vec![&a, &zeros], "a"),
            (vec![&a, &zeros, &b, &zeros], "ab"),
            (vec![&member(""), &b], "b"),
        ] {
            assert_eq!(read(&parts.concat()).as_deref(), Ok(text));
        }
        let end = a.len();
        for (behind, words) in [
            (&b"\n"[..], format!("from its byte {end} on trailing bytes")),
            (b"\0\0x", format!("from its byte {} on trailing bytes", end + 2)),
            (&b[..5], "truncated".to_owned()),
            (b"\x1f", "truncated".to_owned()),
            (b"\x1fabcdefghijk", "damaged".to_owned()),
        ] {
            let error = read(&[&a[..], behind].concat()).unwrap_err();
            assert!(error.contains(&words), "{error}");
        }
    }
}
