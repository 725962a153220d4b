//! What a server answered: a status, named fields, and a body that may be in chunks and packed.

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use std::borrow::Cow;
use std::io::Read;
use twinsplit_io::error::FieldError;

/// The value of a named field in lines such as `Name: value`, without the white space around it.
pub fn header<'a>(lines: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let named = |line: &'a [u8]| {
        let (found, value) = line.split_at(memchr::memchr(b':', line)?);
        found.eq_ignore_ascii_case(name.as_bytes()).then(|| value[1..].trim_ascii())
    };
    lines.split(|byte| *byte == b'\n').find_map(named)
}

/// The content of a page.
#[derive(Debug, PartialEq, Eq)]
pub struct Payload<'a> {
    /// Its bytes, unpacked.
    pub body: Cow<'a, [u8]>,
    /// The type that it says it has.
    pub said: Option<&'a [u8]>,
    /// Whether it is HTML, and not plain text.
    pub is_html: bool,
}

impl<'a> Payload<'a> {
    /// Content of a type; nothing when that is neither HTML nor plain text.
    pub fn of(said: Option<&'a [u8]>, body: Cow<'a, [u8]>) -> Option<Self> {
        let kind = said.map(|said| said.split(|byte| *byte == b';').next().unwrap_or(said).trim_ascii());
        let is_html = match kind.map(<[u8]>::to_ascii_lowercase).as_deref() {
            Some(b"text/html" | b"application/xhtml+xml") => true,
            Some(b"text/plain") => false,
            // Who says nothing says it in the first bytes.
            None if body.trim_ascii_start().starts_with(b"<") => true,
            _ => return None,
        };
        Some(Self { body, said, is_html })
    }

    /// What a response holds, of at most so many bytes; nothing when it is no page, or one that says that there is none.
    pub fn of_response(response: &'a [u8], most: u64) -> Result<Option<Self>, FieldError> {
        let Some((fields, body)) = parts(response) else {
            return Err(FieldError::new(
                "response",
                "a status, fields and an empty line before the content",
                response,
            ));
        };
        let status = fields.split(|byte| byte.is_ascii_whitespace()).nth(1);
        if status != Some(b"200") {
            return Ok(None);
        }
        let chunked =
            header(fields, "Transfer-Encoding").is_some_and(|how| how.eq_ignore_ascii_case(b"chunked"));
        // Some crawlers take chunks apart and leave the field as it was.
        let body = if chunked {
            unchunked(body).map_or(Cow::Borrowed(body), Cow::Owned)
        } else {
            Cow::Borrowed(body)
        };
        let Some(payload) = Self::of(header(fields, "Content-Type"), Cow::Borrowed(&[])) else {
            let says_nothing = header(fields, "Content-Type").is_none();
            return Ok(if says_nothing { Self::of(None, unpacked(fields, body, most)?) } else { None });
        };
        Ok(Some(Self { body: unpacked(fields, body, most)?, ..payload }))
    }
}

/// What stands before the first empty line, and behind it.
fn parts(response: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', response) {
        if response[start..end].trim_ascii().is_empty() {
            return Some((&response[..start], &response[end + 1..]));
        }
        start = end + 1;
    }
    // A response without content may end with its last field.
    (start > 0).then_some((response, &[]))
}

/// The content of chunks, each with its length in hex digits before it; nothing where it is not in chunks.
fn unchunked(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let end = memchr::memchr(b'\n', body)?;
        let digits = body[..end].split(|byte| *byte == b';').next()?.trim_ascii();
        let length = usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        if length == 0 {
            return Some(whole);
        }
        let chunk = body.get(end + 1..)?.get(..length)?;
        whole.extend_from_slice(chunk);
        body = &body[end + 1 + length..];
        body = body.strip_prefix(b"\r\n").or_else(|| body.strip_prefix(b"\n"))?;
    }
}

/// The content as it was before the server packed it.
fn unpacked<'a>(fields: &[u8], body: Cow<'a, [u8]>, most: u64) -> Result<Cow<'a, [u8]>, FieldError> {
    let Some(how) = header(fields, "Content-Encoding").map(<[u8]>::to_ascii_lowercase) else {
        return Ok(body);
    };
    let mut whole = Vec::new();
    let read = match how.as_slice() {
        b"" | b"identity" => return Ok(body),
        // Some crawlers unpack the content and leave the field as it was.
        b"gzip" | b"x-gzip" if !body.starts_with(&[0x1f, 0x8b]) => return Ok(body),
        b"gzip" | b"x-gzip" => {
            MultiGzDecoder::new(&*body).take(most.saturating_add(1)).read_to_end(&mut whole)
        }
        b"deflate" => ZlibDecoder::new(&*body).take(most.saturating_add(1)).read_to_end(&mut whole),
        other => return Err(FieldError::new("Content-Encoding", "gzip or deflate", other)),
    };
    match read {
        Ok(bytes) if bytes as u64 > most => {
            let mut wrong = FieldError::new("content", "no more than --max-line once it is unpacked", &body);
            wrong.advice = Some("let it in with --max-line".into());
            Err(wrong)
        }
        Ok(_) => Ok(Cow::Owned(whole)),
        Err(error) => {
            Err(FieldError::new("content", "what Content-Encoding says", error.to_string().as_bytes()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use std::io::Write;

    fn body(response: &[u8]) -> Option<Vec<u8>> {
        Payload::of_response(response, 1 << 20).unwrap().map(|payload| payload.body.into_owned())
    }

    #[test]
    fn pages_are_html_and_plain_text() {
        let answer =
            |status: &str, kind: &str| format!("HTTP/1.1 {status}\r\n{kind}X: y\r\n\r\n<p>text").into_bytes();
        for (status, kind, is_html) in [
            ("200 OK", "Content-Type: text/html; charset=utf-8\r\n", Some(true)),
            ("200 OK", "content-type:TEXT/PLAIN\r\n", Some(false)),
            ("200", "", Some(true)),
            ("200 OK", "Content-Type: image/png\r\n", None),
            ("404 Not Found", "Content-Type: text/html\r\n", None),
        ] {
            let answer = answer(status, kind);
            let payload = Payload::of_response(&answer, 99).unwrap();
            assert_eq!(payload.map(|payload| payload.is_html), is_html, "{status} {kind}");
        }
        assert!(Payload::of_response(b"no answer", 99).is_err());
    }

    #[test]
    fn chunks_and_packing_are_taken_off() {
        let head = "HTTP/1.1 200 OK\nContent-Type: text/plain\n";
        let chunks =
            format!("{head}Transfer-Encoding: chunked\n\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n");
        assert_eq!(body(chunks.as_bytes()).unwrap(), b"abc0123456789");
        let apart = format!("{head}Transfer-Encoding: chunked\n\nplain text\n");
        assert_eq!(body(apart.as_bytes()).unwrap(), b"plain text\n");
        let (mut gzip, mut zlib) = (
            GzEncoder::new(Vec::new(), Compression::fast()),
            ZlibEncoder::new(Vec::new(), Compression::fast()),
        );
        gzip.write_all(b"packed").unwrap();
        zlib.write_all(b"packed").unwrap();
        for (how, bytes) in [
            ("gzip", gzip.finish().unwrap()),
            ("deflate", zlib.finish().unwrap()),
            ("gzip", b"packed".to_vec()),
        ] {
            let mut answer = format!("{head}Content-Encoding: {how}\n\n").into_bytes();
            answer.extend(bytes);
            assert_eq!(body(&answer).unwrap(), b"packed", "{how}");
        }
        let unknown = format!("{head}Content-Encoding: br\n\nxx");
        let mut large = GzEncoder::new(Vec::new(), Compression::fast());
        large.write_all(&[b'x'; 100]).unwrap();
        let mut answer = format!("{head}Content-Encoding: gzip\n\n").into_bytes();
        answer.extend(large.finish().unwrap());
        assert!(Payload::of_response(&answer, 99).is_err() && Payload::of_response(&answer, 100).is_ok());
        assert!(Payload::of_response(unknown.as_bytes(), 99).unwrap_err().found.contains("br"));
    }
}
