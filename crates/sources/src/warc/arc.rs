//! ARC, the format of crawls before WARC, versions 1 and 2: a record is a line of fields and as many bytes as the last of them says.
//!
//! The line has the address, the address of the server, a date of 14 digits, the type and the length; version 2 has five fields more before
//! the length. The first record, `filedesc://`, says the version and names the fields. An address may have blanks in it, so the fields
//! are told from the end of the line.

use std::borrow::Cow;

/// What the first record begins with.
pub const BEGINNING: &[u8] = b"filedesc://";

/// Fields of version 1, and of version 2.
const FIELDS: [usize; 2] = [5, 10];

/// How many fields a record has in a file that begins with these bytes.
pub fn count_of_fields(head: &[u8]) -> usize {
    let version = head.split(|byte| *byte == b'\n').nth(1);
    match version {
        Some(version) if head.starts_with(BEGINNING) && version.starts_with(b"2 ") => FIELDS[1],
        _ => FIELDS[0],
    }
}

/// The first line of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The address.
    pub url: &'a [u8],
    ip: &'a [u8],
    date: &'a [u8],
    /// The type of the content.
    pub kind: &'a [u8],
    /// How many bytes the content has.
    pub length: u64,
}

impl<'a> Line<'a> {
    /// The first line of a record, which has so many fields; nothing where it is no such line.
    pub fn of(record: &'a [u8], fields: usize) -> Option<Self> {
        let line = record.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
        let mut ends = line.rsplitn(fields, |byte| *byte == b' ');
        let length = std::str::from_utf8(ends.next()?).ok()?.parse().ok()?;
        // Fields of version 2 alone stand between the type and the length.
        let mut ends = ends.skip(fields - FIELDS[0]);
        let (kind, date, ip, url) = (ends.next()?, ends.next()?, ends.next()?, ends.next()?);
        let is_date = !date.is_empty() && date.iter().all(u8::is_ascii_digit);
        (is_date && !url.is_empty()).then_some(Self { url, ip, date, kind, length })
    }

    /// The field that a record of WARC has by this name. The id is the date and the address, as archives name what they show.
    pub fn field(&self, name: &str) -> Option<Cow<'a, str>> {
        let text = |bytes: &'a [u8]| String::from_utf8_lossy(bytes);
        match name {
            "WARC-Record-ID" => Some(format!("{}/{}", text(self.date), text(self.url)).into()),
            "WARC-Target-URI" => Some(text(self.url)),
            "WARC-IP-Address" => Some(text(self.ip)),
            "WARC-Date" => self.moment().map(Cow::Owned),
            "Content-Type" => Some(text(self.kind)),
            _ => None,
        }
    }

    /// The date as WARC has it; nothing where it has not all of its digits.
    fn moment(&self) -> Option<String> {
        let date = std::str::from_utf8(self.date).ok().filter(|date| date.len() == 14)?;
        let part = |from, to| date.get(from..to);
        Some(format!(
            "{}-{}-{}T{}:{}:{}Z",
            part(0, 4)?,
            part(4, 6)?,
            part(6, 8)?,
            part(8, 10)?,
            part(10, 12)?,
            part(12, 14)?
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_from_the_end() {
        let line = Line::of(b"http://x/a b 192.0.2.1 20080430204825 text/html 17\nx", 5).unwrap();
        assert_eq!((line.url, line.kind, line.length), (&b"http://x/a b"[..], &b"text/html"[..], 17));
        let of = |name| line.field(name).map(Cow::into_owned);
        assert_eq!(of("WARC-Record-ID").unwrap(), "20080430204825/http://x/a b");
        assert_eq!(of("WARC-Date").unwrap(), "2008-04-30T20:48:25Z");
        assert_eq!(of("WARC-IP-Address").unwrap(), "192.0.2.1");
        assert_eq!(of("WARC-Type"), None);
        let second = b"http://x/ 192.0.2.1 19970301120000 text/html 200 abc - 77 a.arc 9\r\n";
        let line = Line::of(second, 10).unwrap();
        assert_eq!((line.url, line.kind, line.length), (&b"http://x/"[..], &b"text/html"[..], 9));
        for wrong in
            ["", "http://x/ 192.0.2.1 text/html 17", "a b c d e", "http://x/ i 2008 t 1x", " i 2008 t 1"]
        {
            assert_eq!(Line::of(wrong.as_bytes(), 5), None, "{wrong}");
        }
    }

    #[test]
    fn the_first_record_says_the_version() {
        for (head, fields) in [
            (&b"filedesc://a.arc 0.0.0.0 1997 text/plain 76\n1 0 Alexa\n"[..], 5),
            (b"filedesc://a.arc 0.0.0.0 1997 text/plain 200 - - 0 a.arc 76\n2 0 Alexa\n", 10),
            (b"http://x/\n2 0", 5),
            (b"", 5),
        ] {
            assert_eq!(count_of_fields(head), fields);
        }
    }
}
