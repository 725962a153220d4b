//! The protocol of Redis, RESP: requests as arrays of byte strings or as lines, and answers of version 2 or 3.
//!
//! What a request announces is compared with the limits before anything is allocated for it.

use std::borrow::Cow;
use std::ops::Range;

/// What a request may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a request.
    pub request: usize,
    /// Byte strings of a request.
    pub arguments: usize,
}

impl Limits {
    /// Those of a client that has not given the password yet.
    pub const UNKNOWN: Self = Self { request: 16 << 10, arguments: 10 };
}

/// Bytes of the longest line.
const LINE: usize = 64 << 10;

/// What is no request. Nothing can be read behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

/// The words of a request, and where it ends.
pub type Request<'b> = (Vec<Cow<'b, [u8]>>, usize);

/// Reads the first request of some bytes. `None` where it is not all there; an empty one asks for nothing.
///
/// # Errors
/// The bytes are no request, or one beyond the limits.
pub fn request(bytes: &[u8], limits: Limits) -> Result<Option<Request<'_>>, Malformed> {
    Reader::default().read(bytes, limits)
}

/// Reads requests as they come. Of one that is not all there it remembers what it has seen, so that each byte is looked at once,
/// however few come at a time.
#[derive(Debug, Default)]
pub struct Reader {
    /// Words of an array that are still to come.
    left: usize,
    /// Where those are that are there.
    words: Vec<Range<usize>>,
    /// Up to where the request was read; 0 where it has not begun.
    at: usize,
}

impl Reader {
    /// Reads the request that some bytes begin with, as [`request`] does. Where it is not all there, the next bytes must be these and what has
    /// come behind them.
    ///
    /// # Errors
    /// The bytes are no request, or one beyond the limits.
    pub fn read<'b>(&mut self, bytes: &'b [u8], limits: Limits) -> Result<Option<Request<'b>>, Malformed> {
        let read = match bytes.first() {
            None => Ok(None),
            Some(b'*') => self.array(bytes, limits),
            Some(_) => self.inline(bytes, limits),
        };
        if !matches!(read, Ok(None)) {
            self.words.clear();
            (self.left, self.at) = (0, 0);
        }
        read
    }

    fn array<'b>(&mut self, bytes: &'b [u8], limits: Limits) -> Result<Option<Request<'b>>, Malformed> {
        if self.at == 0 {
            let Some((head, at)) = line(bytes, 0, NUMBER)? else { return Ok(None) };
            let Some(count) = number(head, b'*') else { return malformed("invalid multibulk length") };
            if count > limits.arguments as i64 {
                return malformed(format!(
                    "invalid multibulk length: {count} where {} is the most",
                    limits.arguments
                ));
            }
            (self.left, self.at) = (usize::try_from(count).unwrap_or(0), at);
        }
        // What is announced is not allocated for before it is there.
        while self.left > 0 {
            let Some(word) = bulk(bytes, self.at, limits)? else { return Ok(None) };
            self.at = word.end + 2;
            self.words.push(word);
            self.left -= 1;
        }
        let words = self.words.iter().map(|word| Cow::Borrowed(&bytes[word.clone()]));
        Ok(Some((words.collect(), self.at)))
    }

    fn inline<'b>(&mut self, bytes: &'b [u8], limits: Limits) -> Result<Option<Request<'b>>, Malformed> {
        let most = LINE.min(limits.request);
        let new = bytes.get(self.at..most.min(bytes.len())).unwrap_or_default();
        if memchr::memchr(b'\n', new).is_none() && bytes.len() < most {
            self.at = bytes.len();
            return Ok(None);
        }
        let Some((line, end)) = line(bytes, 0, most)? else { return Ok(None) };
        if is_http(line) {
            return malformed("this is HTTP, which has an address of its own (--http)");
        }
        let mut words = Vec::new();
        let mut rest = line.trim_ascii_start();
        while !rest.is_empty() {
            if words.len() == limits.arguments {
                return malformed(format!("a line has more than {} words", limits.arguments));
            }
            let (word, behind) = word(rest)?;
            if behind.first().is_some_and(|byte| !byte.is_ascii_whitespace()) {
                return malformed("unbalanced quotes in request");
            }
            words.push(word);
            rest = behind.trim_ascii_start();
        }
        Ok(Some((words, end)))
    }
}

/// Whether a line is the first or the second one of a request of HTTP. A page in somebody's browser can send one to any port of this machine, with requests
/// in its body, and must not have those answered.
fn is_http(line: &[u8]) -> bool {
    let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let version = line.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    word.eq_ignore_ascii_case(b"post") || word.eq_ignore_ascii_case(b"host:") || version.starts_with(b"HTTP/")
}

fn malformed<T>(problem: impl Into<String>) -> Result<T, Malformed> {
    Err(Malformed(problem.into()))
}

/// The line at a place without its end, and where that is.
fn line(bytes: &[u8], at: usize, most: usize) -> Result<Option<(&[u8], usize)>, Malformed> {
    let rest = bytes.get(at..).unwrap_or_default();
    let some = &rest[..rest.len().min(most)];
    match memchr::memchr(b'\n', some) {
        Some(end) => {
            let line = &some[..end];
            Ok(Some((line.strip_suffix(b"\r").unwrap_or(line), at + end + 1)))
        }
        None if some.len() == most => malformed(format!("a line is longer than {most} bytes")),
        None => Ok(None),
    }
}

/// A number of at most ten characters behind a mark.
fn number(line: &[u8], mark: u8) -> Option<i64> {
    let (first, digits) = line.split_first()?;
    if *first != mark || digits.len() > 10 {
        return None;
    }
    let (sign, digits) = match digits {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let digit = |number: i64, byte: &u8| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'));
    Some(sign * digits.iter().try_fold(0, digit)?)
}

/// Bytes of a line that has a number.
const NUMBER: usize = 32;

/// Where the byte string is that begins at a place.
fn bulk(bytes: &[u8], at: usize, limits: Limits) -> Result<Option<Range<usize>>, Malformed> {
    let Some((head, start)) = line(bytes, at, NUMBER)? else { return Ok(None) };
    let Some(length) = number(head, b'$').and_then(|length| usize::try_from(length).ok()) else {
        return malformed("expected '$' and a bulk length");
    };
    let Some(end) = start.checked_add(length).filter(|end| *end <= limits.request) else {
        return malformed(format!("a request is longer than {} bytes", limits.request));
    };
    match bytes.get(end..end + 2) {
        Some(b"\r\n") => Ok(Some(start..end)),
        Some(_) => malformed("expected CR and LF behind a bulk string"),
        None => Ok(None),
    }
}

/// The first word of a line, as redis-cli has words, and what is behind it.
fn word(line: &[u8]) -> Result<(Cow<'_, [u8]>, &[u8]), Malformed> {
    let quote = match line.first() {
        Some(quote @ (b'"' | b'\'')) => *quote,
        _ => {
            let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
            return Ok((line[..end].into(), &line[end..]));
        }
    };
    let (mut word, mut at) = (Vec::new(), 1);
    loop {
        match line.get(at..).unwrap_or_default() {
            [] => return malformed("unbalanced quotes in request"),
            [byte, ..] if *byte == quote => return Ok((word.into(), &line[at + 1..])),
            [b'\\', b'x', high, low, ..]
                if quote == b'"' && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                let digit = |digit: &u8| (*digit as char).to_digit(16).unwrap_or(0) as u8;
                word.push(digit(high) << 4 | digit(low));
                at += 4;
            }
            [b'\\', b'\'', ..] if quote == b'\'' => {
                word.push(b'\'');
                at += 2;
            }
            [b'\\', escaped, ..] if quote == b'"' => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                at += 2;
            }
            [byte, ..] => {
                word.push(*byte);
                at += 1;
            }
        }
    }
}

/// Which version a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// RESP2: what clients speak that ask for nothing.
    #[default]
    Two,
    /// RESP3, which a client asks for by `HELLO 3`.
    Three,
}

/// Writes answers.
#[derive(Debug, Default)]
pub struct Replies {
    /// Which version they are of.
    pub version: Version,
    /// What is to be sent.
    pub bytes: Vec<u8>,
}

impl Replies {
    fn line(&mut self, mark: u8, text: &[u8]) {
        self.bytes.push(mark);
        self.bytes.extend_from_slice(text);
        self.bytes.extend_from_slice(b"\r\n");
    }

    fn head(&mut self, mark: u8, mut number: u64) {
        // The longest number has twenty digits.
        let (mut digits, mut first) = ([b'0'; 20], 19);
        while number > 9 {
            digits[first] += (number % 10) as u8;
            number /= 10;
            first -= 1;
        }
        digits[first] += number as u8;
        self.line(mark, &digits[first..]);
    }

    /// A short text.
    pub fn simple(&mut self, text: &str) {
        self.line(b'+', text.as_bytes());
    }

    /// An error: a word in capitals and a sentence.
    pub fn error(&mut self, text: &str) {
        self.line(b'-', text.replace(['\r', '\n'], " ").as_bytes());
    }

    /// A number.
    pub fn number(&mut self, number: u64) {
        self.head(b':', number);
    }

    /// A byte string.
    pub fn bulk(&mut self, bytes: &[u8]) {
        self.head(b'$', bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// An array of byte strings.
    pub fn bulks(&mut self, all: &[&[u8]]) {
        self.array(all.len());
        all.iter().for_each(|bytes| self.bulk(bytes));
    }

    /// Nothing.
    pub fn null(&mut self) {
        self.bytes.extend_from_slice(match self.version {
            Version::Two => b"$-1\r\n",
            Version::Three => b"_\r\n",
        });
    }

    /// Begins an array of so many.
    pub fn array(&mut self, count: usize) {
        self.head(b'*', count as u64);
    }

    /// Begins a map of so many names and values, which RESP2 has as an array.
    pub fn map(&mut self, count: usize) {
        match self.version {
            Version::Two => self.head(b'*', 2 * count as u64),
            Version::Three => self.head(b'%', count as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::serving::damaged;

    /// What a browser sends for a page of anybody's ends the connection before its body is read.
    #[test]
    fn requests_of_http_are_none() {
        let limits = Limits { request: 1000, arguments: 6 };
        for head in [
            "POST / HTTP/1.1\r\n",
            "post / http/1.1\n",
            "GET / HTTP/1.0\r\n",
            "host: x\r\n",
            "OPTIONS * HTTP/1.1\n",
        ] {
            let bytes = format!("{head}\r\nFP.DEL n a\r\n");
            assert!(request(bytes.as_bytes(), limits).unwrap_err().0.contains("HTTP"), "{head}");
        }
        assert!(request(b"ECHO posted\r\n", limits).unwrap().is_some());
        assert!(request(b"*2\r\n$4\r\nECHO\r\n$4\r\nPOST\r\n", limits).unwrap().is_some());
    }

    /// However a request comes, it is read as if all of it had been there at once; so is what is wrong with it.
    #[test]
    fn requests_are_read_as_they_come() {
        let limits = Limits { request: 100, arguments: 6 };
        let requests = b"*3\r\n$4\r\nECHO\r\n$0\r\n\r\n$11\r\nfive\r\nbytes\r\n\r\nECHO \"a b\\x41\" 'c'\n*0\r\n*1\r\n$4\r\nPING\r\n";
        let (mut whole, mut partial, mut wrong) = (0, 0, 0);
        for seed in 0..2000 {
            let bytes = if seed == 0 { requests.to_vec() } else { damaged(&requests.repeat(2), seed) };
            for piece in [1, 2, 7] {
                let (mut reader, mut start) = (Reader::default(), 0);
                for end in (piece..bytes.len()).step_by(piece).chain([bytes.len()]) {
                    loop {
                        let there = &bytes[start..end];
                        let read = reader.read(there, limits);
                        assert_eq!(read, request(there, limits), "{:?}", there.escape_ascii().to_string());
                        match read {
                            Ok(Some((_, used))) => start += used,
                            Ok(None) => break,
                            Err(_) => {
                                wrong += 1;
                                break;
                            }
                        }
                        whole += 1;
                    }
                    partial += 1;
                }
            }
        }
        println!("{whole} requests, {partial} pieces, {wrong} that are none");
        assert!(whole > 5000 && partial > 50_000 && wrong > 1000);
    }
}
