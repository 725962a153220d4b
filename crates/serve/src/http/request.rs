//! Requests of HTTP/1: a head, and a body by its length or in chunks.
//!
//! A body is read as it comes, each byte once; what it announces is compared with the limit before anything is allocated for it.

use std::fmt;

/// Bytes of the longest head, the line of the request included.
pub const HEAD: usize = 16 << 10;

/// Lines of a head.
const HEADERS: usize = 64;

/// Bytes of the longest line that says how long a chunk is.
const SIZE_LINE: usize = 256;

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The status of the answer.
    pub status: u16,
    /// A word in capitals, by which programs know it, and a sentence.
    pub problem: String,
}

impl Failure {
    /// One with this status, word and sentence.
    pub fn new(status: u16, problem: impl Into<String>) -> Self {
        Self { status, problem: problem.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, self.problem)
    }
}

fn refused<T>(status: u16, problem: impl fmt::Display) -> Result<T, Failure> {
    Err(Failure::new(status, format!("ERR {problem}")))
}

/// How long a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many bytes.
    Bytes(u64),
    /// As many as its chunks have.
    Chunked,
}

/// What stands before a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Such as `POST`.
    pub method: String,
    /// What is asked for, without what follows a question mark.
    pub path: String,
    /// The host that the client has connected to, as it calls it.
    pub host: Option<Vec<u8>>,
    /// What the body is said to be.
    pub content_type: Option<Vec<u8>>,
    /// Who asks.
    pub authorization: Option<Vec<u8>>,
    /// How long the body is.
    pub length: Length,
    /// Whether the client sends the body when it is told to.
    pub waits: bool,
    /// Whether more requests may follow.
    pub stays: bool,
    /// Whether it is of version 1.0.
    pub is_old: bool,
}

/// Reads the head at the beginning of some bytes, and where it ends. `None` where it is not all there.
///
/// # Errors
/// The bytes are no head, or one beyond the limits.
pub fn head(bytes: &[u8]) -> Result<Option<(Head, usize)>, Failure> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(&bytes[..bytes.len().min(HEAD)]) {
        Ok(httparse::Status::Complete(end)) => Ok(Some((read_head(&request)?, end))),
        Ok(httparse::Status::Partial) if bytes.len() < HEAD => Ok(None),
        Ok(httparse::Status::Partial) if request.version.is_none() => {
            refused(414, format_args!("the line of the request is longer than {HEAD} bytes"))
        }
        Ok(httparse::Status::Partial) => {
            refused(431, format_args!("the head of the request is longer than {HEAD} bytes"))
        }
        Err(httparse::Error::TooManyHeaders) => {
            refused(431, format_args!("the head of the request has more than {HEADERS} lines"))
        }
        Err(httparse::Error::Version) => refused(505, "expected HTTP/1.1"),
        Err(error) => refused(400, format_args!("this is no request of HTTP/1.1: {error}")),
    }
}

fn read_head(request: &httparse::Request<'_, '_>) -> Result<Head, Failure> {
    let is_old = request.version == Some(0);
    let mut head = Head {
        method: request.method.unwrap_or_default().to_owned(),
        path: path(request.path.unwrap_or_default())?,
        host: None,
        content_type: None,
        authorization: None,
        length: Length::Bytes(0),
        waits: false,
        stays: !is_old,
        is_old,
    };
    let mut length: Option<u64> = None;
    for header in request.headers.iter() {
        let value = header.value.trim_ascii();
        let once = |field: &mut Option<Vec<u8>>| match field.replace(value.to_owned()) {
            None => Ok(()),
            Some(_) => refused(400, format_args!("there are two headers {}", header.name)),
        };
        match &header.name.to_ascii_lowercase()[..] {
            "host" => once(&mut head.host)?,
            "content-type" => once(&mut head.content_type)?,
            "authorization" => once(&mut head.authorization)?,
            "content-length" => match digits(value) {
                // What counts such a body in another way would see another request behind it.
                Some(bytes) if length.is_none() => length = Some(bytes),
                Some(_) => return refused(400, "there are two headers Content-Length"),
                None => return refused(400, "expected a number of bytes as Content-Length"),
            },
            "transfer-encoding" => {
                if !value.eq_ignore_ascii_case(b"chunked") || head.length == Length::Chunked {
                    return refused(501, "expected chunked, once, as Transfer-Encoding");
                }
                head.length = Length::Chunked;
            }
            "expect" if value.eq_ignore_ascii_case(b"100-continue") => head.waits = !is_old,
            "expect" => return refused(417, "expected 100-continue as Expect"),
            "connection" => {
                for word in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                    if word.eq_ignore_ascii_case(b"close") {
                        head.stays = false;
                    } else if is_old && word.eq_ignore_ascii_case(b"keep-alive") {
                        head.stays = true;
                    }
                }
            }
            _ => {}
        }
    }
    match (head.length, length) {
        (Length::Chunked, Some(_)) => {
            return refused(400, "there are both Content-Length and Transfer-Encoding");
        }
        (Length::Chunked, None) if is_old => {
            return refused(400, "expected HTTP/1.1 where there is Transfer-Encoding");
        }
        (Length::Bytes(_), Some(bytes)) => head.length = Length::Bytes(bytes),
        _ => {}
    }
    if head.host.is_none() && !is_old {
        return refused(400, "expected a header Host");
    }
    Ok(head)
}

fn digits(value: &[u8]) -> Option<u64> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(value).ok()?.parse().ok()).flatten()
}

/// The path of what is asked for: `/path`, or `http://host/path` as proxies are asked.
fn path(target: &str) -> Result<String, Failure> {
    let path = match target.split_once("://") {
        Some(("http" | "https", rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        _ => target,
    };
    let path = path.split('?').next().unwrap_or_default();
    if path.starts_with('/') {
        Ok(path.to_owned())
    } else {
        refused(400, "expected a path that begins with /")
    }
}

/// The byte of two hex digits.
pub(super) fn byte_of([high, low]: &[u8; 2]) -> Option<u8> {
    let digit = |of: &u8| char::from(*of).to_digit(16);
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

/// The bytes that a part of a path stands for; `None` where a percent sign has no two hex digits behind it.
pub fn unescaped(part: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' {
            let (two, after) = rest.split_first_chunk()?;
            out.push(byte_of(two)?);
            rest = after;
        } else {
            out.push(*byte);
        }
    }
    Some(out)
}

/// What of a body is still to come.
#[derive(Clone, Copy, Debug)]
enum Rest {
    /// So many bytes, and no more.
    Bytes(usize),
    /// A line that says how long the next chunk is.
    Size,
    /// So many bytes of a chunk, and its line end.
    Chunk(usize),
    /// Lines behind the last chunk, of which so many bytes were there.
    Trailer(usize),
    Nothing,
}

/// A body on its way.
#[derive(Debug)]
struct Body {
    content: Vec<u8>,
    rest: Rest,
    most: usize,
    /// Whether the client waits to be told to send it.
    waits: bool,
}

impl Body {
    fn new(head: &Head, most: usize) -> Result<Self, Failure> {
        let rest = match head.length {
            Length::Bytes(0) => Rest::Nothing,
            Length::Bytes(bytes) => Rest::Bytes(fits(bytes, most)?),
            Length::Chunked => Rest::Size,
        };
        Ok(Self { content: Vec::new(), rest, most, waits: head.waits })
    }

    /// Takes what is there of it; how many bytes that was.
    fn feed(&mut self, bytes: &[u8]) -> Result<usize, Failure> {
        let mut at = 0;
        loop {
            let there = &bytes[at..];
            match self.rest {
                Rest::Nothing => return Ok(at),
                Rest::Bytes(left) => {
                    let some = left.min(there.len());
                    self.content.extend_from_slice(&there[..some]);
                    self.rest = if some == left { Rest::Nothing } else { Rest::Bytes(left - some) };
                    at += some;
                    if some < left {
                        return Ok(at);
                    }
                }
                Rest::Size => {
                    let Some((line, used)) = line(there, SIZE_LINE)? else { return Ok(at) };
                    let size = fits(chunk_size(line)?, self.most - self.content.len())?;
                    self.rest = if size == 0 { Rest::Trailer(0) } else { Rest::Chunk(size) };
                    at += used;
                }
                Rest::Chunk(0) => match there {
                    [b'\r', b'\n', ..] => {
                        self.rest = Rest::Size;
                        at += 2;
                    }
                    [] | [b'\r'] => return Ok(at),
                    _ => return refused(400, "expected CR and LF behind a chunk"),
                },
                Rest::Chunk(left) => {
                    let some = left.min(there.len());
                    self.content.extend_from_slice(&there[..some]);
                    self.rest = Rest::Chunk(left - some);
                    at += some;
                    if some < left {
                        return Ok(at);
                    }
                }
                Rest::Trailer(seen) => {
                    let Some((line, used)) = line(there, HEAD - seen)? else { return Ok(at) };
                    self.rest = if line.is_empty() { Rest::Nothing } else { Rest::Trailer(seen + used) };
                    at += used;
                }
            }
        }
    }
}

fn fits(bytes: u64, most: usize) -> Result<usize, Failure> {
    match usize::try_from(bytes) {
        Ok(bytes) if bytes <= most => Ok(bytes),
        _ => refused(413, "the body is longer than --max-request"),
    }
}

/// The first line of some bytes, and where the next one begins.
fn line(bytes: &[u8], most: usize) -> Result<Option<(&[u8], usize)>, Failure> {
    let some = &bytes[..bytes.len().min(most)];
    match some.iter().position(|byte| *byte == b'\n') {
        Some(end) => match some[..end].strip_suffix(b"\r") {
            Some(line) => Ok(Some((line, end + 1))),
            None => refused(400, "expected CR and LF at the end of a line of a chunked body"),
        },
        None if some.len() == most => refused(400, "a line of a chunked body is too long"),
        None => Ok(None),
    }
}

/// The number of bytes of a chunk, before what else stands in its line.
fn chunk_size(line: &[u8]) -> Result<u64, Failure> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end();
    let is_hex = !digits.is_empty() && digits.len() <= 15 && digits.iter().all(u8::is_ascii_hexdigit);
    let number = std::str::from_utf8(digits).ok().filter(|_| is_hex);
    match number.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        Some(size) => Ok(size),
        None => refused(400, "expected the bytes of a chunk in hex digits"),
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<T> {
    /// What stands before the body.
    pub head: Head,
    /// What the head was found to ask for.
    pub asked: T,
    /// The body.
    pub body: Vec<u8>,
}

/// What some bytes begin with.
#[derive(Debug, PartialEq, Eq)]
pub enum Item<T> {
    /// A request, all of it.
    Whole(Request<T>),
    /// One without a body that is refused; others may follow.
    Refused(Head, Failure),
    /// Nothing more that is whole.
    Partial,
}

/// Reads requests as they come.
#[derive(Debug)]
pub struct Reader<T> {
    most: usize,
    begun: Option<(Head, T, Body)>,
}

impl<T> Reader<T> {
    /// One for bodies of so many bytes.
    pub fn new(most: usize) -> Self {
        Self { most, begun: None }
    }

    /// Reads the first request of some bytes, and says how many of these it has taken: of a body those that are there. The head is shown to `admit` before any of
    /// its body is read.
    ///
    /// # Errors
    /// The bytes are no request, one beyond the limits, or one with a body that is not admitted: nothing can be read behind it.
    pub fn read(
        &mut self,
        bytes: &[u8],
        mut admit: impl FnMut(&Head) -> Result<T, Failure>,
    ) -> Result<(usize, Item<T>), Failure> {
        let mut used = 0;
        if self.begun.is_none() {
            let Some((head, end)) = head(bytes)? else { return Ok((0, Item::Partial)) };
            used = end;
            let asked = match admit(&head) {
                Ok(asked) => asked,
                Err(failure) if head.length == Length::Bytes(0) => {
                    return Ok((used, Item::Refused(head, failure)));
                }
                Err(failure) => return Err(failure),
            };
            let body = Body::new(&head, self.most)?;
            self.begun = Some((head, asked, body));
        }
        let Some((_, _, body)) = &mut self.begun else { return Ok((used, Item::Partial)) };
        used += body.feed(&bytes[used..])?;
        if !matches!(body.rest, Rest::Nothing) {
            return Ok((used, Item::Partial));
        }
        Ok(match self.begun.take() {
            Some((head, asked, body)) => (used, Item::Whole(Request { head, asked, body: body.content })),
            None => (used, Item::Partial),
        })
    }

    /// Whether the client waits to be told to send its body; once for each.
    pub fn must_continue(&mut self) -> bool {
        match &mut self.begun {
            Some((.., body)) => std::mem::take(&mut body.waits) && body.content.is_empty(),
            None => false,
        }
    }
}
