//! From when until when a certificate is valid.
//!
//! TLS leaves that of one's own certificate to clients, who then refuse it one after the other. Of X.509 (RFC 5280, section 4.1) as much is read here
//! as lies before it: a certificate is a sequence whose first part is a sequence of a version, a number, an algorithm, an issuer, and two times.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

/// Two times, both of which belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// The first second.
    pub from: Timestamp,
    /// The last second.
    pub until: Timestamp,
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

impl Validity {
    /// That of a certificate in DER.
    pub fn of(certificate: &[u8]) -> Option<Self> {
        let (signed, _) = expect(SEQUENCE, certificate)?;
        let (mut rest, _) = expect(SEQUENCE, signed)?;
        if let Some((_, behind)) = expect(VERSION, rest) {
            rest = behind;
        }
        for kind in [INTEGER, SEQUENCE, SEQUENCE] {
            rest = expect(kind, rest)?.1;
        }
        let (both, _) = expect(SEQUENCE, rest)?;
        let (from, rest) = time(both)?;
        let (until, _) = time(rest)?;
        Some(Self { from, until })
    }

    /// That it is valid now.
    ///
    /// # Errors
    /// It is not yet, or not any more.
    pub(crate) fn must_be_now(&self) -> Result<(), String> {
        let now = Timestamp::now();
        if now > self.until {
            return Err(format!("the certificate has expired at {}; give a new one", self.until));
        }
        if now < self.from {
            return Err(format!("the certificate is not valid before {}, and it is {now:.0}", self.from));
        }
        Ok(())
    }
}

/// The content of the first element where it is of a kind, and what is behind it.
fn expect(kind: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = element(bytes)?;
    (found == kind).then_some((content, rest))
}

/// The first element: its kind, its content, and what is behind it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[kind, first], rest) = bytes.split_first_chunk()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // As many bytes of a length follow.
        0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (length.iter().fold(0, |all, byte| all << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((kind, content, rest))
}

/// A time, YYMMDDHHMMSSZ of the years 1950 to 2049 or YYYYMMDDHHMMSSZ, and what is behind it.
fn time(bytes: &[u8]) -> Option<(Timestamp, &[u8])> {
    let (kind, content, rest) = element(bytes)?;
    let digits = content.strip_suffix(b"Z")?;
    let (year, digits) = match kind {
        UTC_TIME => {
            let (year, digits) = digits.split_at_checked(2)?;
            let year = number(year)?;
            (if year < 50 { 2000 + year } else { 1900 + year }, digits)
        }
        GENERALIZED_TIME => {
            let (year, digits) = digits.split_at_checked(4)?;
            (number(year)?, digits)
        }
        _ => return None,
    };
    if digits.len() != 10 {
        return None;
    }
    let mut parts = digits.chunks(2).map(|two| number(two).and_then(|number| i8::try_from(number).ok()));
    let mut part = || parts.next().flatten();
    let date = Date::new(year, part()?, part()?).ok()?;
    let time = Time::new(part()?, part()?, part()?, 0).ok()?;
    Some((Offset::UTC.to_timestamp(DateTime::from_parts(date, time)).ok()?, rest))
}

fn number(digits: &[u8]) -> Option<i16> {
    digits.iter().try_fold(0i16, |all, digit| {
        let digit = digit.is_ascii_digit().then(|| i16::from(digit - b'0'))?;
        all.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrapped(kind: u8, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[kind, 0x82][..], &length, content].concat()
    }

    /// A certificate as far as it is read.
    fn certificate(with_version: bool, from: (u8, &str), until: (u8, &str)) -> Vec<u8> {
        let times = [wrapped(from.0, from.1.as_bytes()), wrapped(until.0, until.1.as_bytes())].concat();
        let version = if with_version { wrapped(VERSION, &[INTEGER, 1, 2]) } else { Vec::new() };
        let parts = [
            version,
            wrapped(INTEGER, &[5]),
            wrapped(SEQUENCE, &[1]),
            wrapped(SEQUENCE, b"me"),
            wrapped(SEQUENCE, &times),
        ];
        wrapped(SEQUENCE, &wrapped(SEQUENCE, &parts.concat()))
    }

    /// Both ways to write a time, with and without a version; openssl's own certificates are in the tests of the service.
    #[test]
    fn times_are_read() {
        for with_version in [false, true] {
            let read = |from: (u8, &str), until: (u8, &str)| {
                let validity = Validity::of(&certificate(with_version, from, until))?;
                Some([validity.from.as_second(), validity.until.as_second()])
            };
            // date -u -d '1999-12-31 23:59:59' +%s, and of 2049-12-31 23:59:59, 2050-01-01, 1950-01-01.
            assert_eq!(
                read((UTC_TIME, "991231235959Z"), (UTC_TIME, "491231235959Z")),
                Some([946_684_799, 2_524_607_999])
            );
            assert_eq!(
                read((UTC_TIME, "500101000000Z"), (GENERALIZED_TIME, "20500101000000Z")),
                Some([-631_152_000, 2_524_608_000])
            );
            let good = (UTC_TIME, "991231235959Z");
            for bad in [
                (UTC_TIME, "991331235959Z"),
                (UTC_TIME, "9912312359Z"),
                (UTC_TIME, "991231235959+0100"),
                (UTC_TIME, "99123123595xZ"),
                (GENERALIZED_TIME, "991231235959Z"),
                (GENERALIZED_TIME, "20500101000000.5Z"),
                (INTEGER, "991231235959Z"),
                (UTC_TIME, ""),
            ] {
                assert_eq!((read(good, bad), read(bad, good)), (None, None), "{bad:?}");
            }
        }
    }

    proptest! {
        /// Nothing is read behind the end, whatever stands there.
        #[test]
        fn any_bytes_are_looked_at(bytes in prop::collection::vec(any::<u8>(), 0..80), at in 0usize..90, to in any::<u8>()) {
            let _ = Validity::of(&bytes);
            let mut whole = certificate(true, (UTC_TIME, "991231235959Z"), (UTC_TIME, "491231235959Z"));
            let end = whole.len();
            whole[at % end] = to;
            let _ = Validity::of(&whole);
            prop_assert_eq!(Validity::of(&whole[..at % end]), None);
        }
    }
}
