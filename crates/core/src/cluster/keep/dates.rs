//! Dates as documents have them, read as instants.
//!
//! | written | read as |
//! |---|---|
//! | `2024`, `2024-01`, `2024-01-31` | its first moment |
//! | `2024-01-31T12:30`, `2024-01-31 12:30:05.25` | that moment; a comma may stand for the point, which has at most 9 places |
//! | the same and `Z`, `+01`, `+0100` or `+01:00` | in that zone; without one in UTC |
//! | a number, or a string of 9 digits and more | since 1970: below 10^11 seconds, below 10^14 milliseconds, below 10^17 microseconds, below 10^20 nanoseconds |
//!
//! A leap second is the second after it. Whatever is written otherwise is refused: `20240131` may be a day or a
//! number of seconds.

use super::scores::Score;
use jiff::civil;
use std::fmt;
use std::str::FromStr;

/// An instant, in nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i128);

/// A text or a number that is no date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateError;

/// What a date must be, for messages.
pub const EXPECTED: &str = "an ISO 8601 date such as 2024-01-31 or 2024-01-31T12:30:00+01:00, or a number of seconds, \
                            milliseconds, microseconds or nanoseconds since 1970";

impl fmt::Display for DateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a date must be {EXPECTED}")
    }
}

impl std::error::Error for DateError {}

/// Fewer digits in a string may be a date without hyphens.
const LEAST_DIGITS: usize = 9;
const SECOND: i128 = 1_000_000_000;

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        if text.len() >= LEAST_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let significant = text.trim_start_matches('0');
            return Self::of_number(if significant.is_empty() { "0" } else { significant });
        }
        calendar(text).ok_or(DateError)
    }
}

impl Date {
    /// Reads a number of seconds and smaller units since 1970, a JSON number's literal.
    pub fn of_number(literal: &str) -> Result<Self, DateError> {
        let number: Score = literal.parse().map_err(|_| DateError)?;
        let places = match number.magnitude() {
            ..=11 => 9,
            12..=14 => 6,
            15..=17 => 3,
            18..=20 => 0,
            _ => return Err(DateError),
        };
        number.scaled(places).map(Self).ok_or(DateError)
    }

    /// As people write it, `2024-01-31T12:30:00Z`; the nanoseconds where it is out of the calendar.
    pub fn shown(self) -> String {
        jiff::Timestamp::from_nanosecond(self.0).map_or_else(|_| self.to_string(), |time| time.to_string())
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub fn of_nanoseconds(text: &str) -> Result<Self, DateError> {
        text.parse().map(Self).map_err(|_| DateError)
    }

    /// The key that sorts the latest date first: the distance from the last one of all, 32 hex digits.
    pub(super) fn key(self) -> String {
        // Flipping the sign bit makes the order of signed numbers that of unsigned ones.
        format!("{:032x}", !(self.0.cast_unsigned() ^ (1 << 127)))
    }
}

impl fmt::Display for Date {
    /// The nanoseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A date of the calendar, with or without a time of the day.
fn calendar(text: &str) -> Option<Date> {
    let (day, time) = match text.split_once(['T', 't', ' ']) {
        Some((day, time)) => (day, Some(time)),
        None => (text, None),
    };
    let mut parts = day.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = parts.next().map(|month| digits(month, 2));
    let date = parts.next().map(|date| digits(date, 2));
    // A time belongs to a whole date.
    if parts.next().is_some() || (time.is_some() && date.is_none()) {
        return None;
    }
    let [month, date] = [month, date].map(|part| part.unwrap_or(Some(1)));
    let day = civil::Date::new(year, i8::try_from(month?).ok()?, i8::try_from(date?).ok()?).ok()?;
    let seconds = day.duration_since(civil::date(1970, 1, 1)).as_secs();
    let since_midnight = time.map_or(Some(0), time_of_day)?;
    Some(Date(i128::from(seconds) * SECOND + since_midnight))
}

/// Nanoseconds from midnight in UTC to a time with its zone.
fn time_of_day(text: &str) -> Option<i128> {
    let (clock, zone) = text.split_at(text.find(['Z', 'z', '+', '-']).unwrap_or(text.len()));
    let mut parts = clock.split(':');
    let (hour, minute) = (below(parts.next()?, 24)?, below(parts.next()?, 60)?);
    let (second, fraction) = match parts.next() {
        None => (0, 0),
        Some(second) => match second.split_once(['.', ',']) {
            None => (below(second, 61)?, 0),
            Some((second, places)) => (below(second, 61)?, nanoseconds(places)?),
        },
    };
    if parts.next().is_some() {
        return None;
    }
    let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second) - offset(zone)?;
    Some(i128::from(seconds) * SECOND + i128::from(fraction))
}

/// Seconds that a zone is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    let (sign, rest) = match zone.as_bytes().first() {
        None => return Some(0),
        Some(b'+') => (1, &zone[1..]),
        Some(b'-') => (-1, &zone[1..]),
        Some(_) => return (zone.len() == 1).then_some(0),
    };
    let (hours, minutes) = match rest.split_once(':') {
        Some(both) => both,
        None if rest.len() == 4 => rest.split_at_checked(2)?,
        None => (rest, "00"),
    };
    Some(sign * (i64::from(below(hours, 24)?) * 3600 + i64::from(below(minutes, 60)?) * 60))
}

/// The number that so many digits make.
fn digits(text: &str, count: usize) -> Option<i16> {
    let all = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

/// A number of two digits below a bound.
fn below(text: &str, bound: i16) -> Option<i16> {
    digits(text, 2).filter(|number| *number < bound)
}

/// The places behind the point of a second.
fn nanoseconds(places: &str) -> Option<u32> {
    let all = (1..=9).contains(&places.len()) && places.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| format!("{places:0<9}").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn date(text: &str) -> i128 {
        text.parse::<Date>().unwrap_or_else(|_| panic!("{text:?}")).0
    }

    /// The seconds on the right were made by `date -u -d … +%s` of GNU coreutils.
    #[test]
    fn dates_are_the_instants_of_another_program() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59Z", -1),
            ("2000-02-29", 951_782_400),
            ("2024", 1_704_067_200),
            ("2024-03", 1_709_251_200),
            ("2024-01-31 12:30", 1_706_704_200),
            ("2024-01-31T12:30:05+01", 1_706_700_605),
            ("2024-01-31t12:30:05+0130", 1_706_698_805),
            ("2024-01-31T12:30:05-08:00", 1_706_733_005),
            ("2024-01-01T00:30:00+01:00", 1_704_065_400),
            ("1600-01-01", -11_676_096_000),
            ("9999-12-31T23:59:59z", 253_402_300_799),
            ("2016-12-31T23:59:60Z", 1_483_228_800),
        ] {
            assert_eq!(date(text), seconds * SECOND, "{text}");
        }
        assert_eq!(date("1969-12-31T23:59:59.75Z"), -250_000_000);
        let shown = |text: &str| text.parse().map(Date::shown);
        assert_eq!(shown("1706704205"), Ok("2024-01-31T12:30:05Z".to_owned()));
        assert_eq!(shown("1969-12-31T23:59:59.75-01"), Ok("1970-01-01T00:59:59.75Z".to_owned()));
        assert_eq!(date("2024-01-31 12:30:05,000000001"), 1_706_704_205 * SECOND + 1);
    }

    #[test]
    fn numbers_take_the_unit_of_their_size() {
        let number = |literal: &str| Date::of_number(literal).map(|date| date.0);
        for literal in
            ["1706704205", "1706704205000", "1706704205000000", "1706704205000000000", "1.706704205e9"]
        {
            assert_eq!(number(literal), Ok(1_706_704_205 * SECOND), "{literal}");
            if !literal.contains('e') {
                assert_eq!(date(literal), 1_706_704_205 * SECOND, "{literal}");
            }
        }
        assert_eq!(number("1706704205.25"), Ok(1_706_704_205 * SECOND + SECOND / 4));
        assert_eq!((number("0"), number("-1.5")), (Ok(0), Ok(-SECOND - SECOND / 2)));
        assert_eq!(number("99999999999"), Ok(99_999_999_999 * SECOND));
        assert_eq!(number("100000000000"), Ok(100_000_000 * SECOND));
        assert_eq!(date("000000007"), 7 * SECOND);
        for wrong in ["100000000000000000000", "0.0000000001", "1e40", "x"] {
            assert_eq!(number(wrong), Err(DateError), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            " ",
            "x",
            "20240131",
            "202401",
            "12345",
            "2024-1-31",
            "2024-13-01",
            "2023-02-29",
            "2024-01-31T",
            "2024-01-31T12",
            "2024-01-31T24:00",
            "2024-01-31T12:60",
            "2024-01-31T12:30:61",
            "2024-01-31T12:30:05.",
            "2024-01-31T12:30:05.0123456789",
            "2024-01-31T12:30:05 +01:00",
            "2024-01-31T12:30+1",
            "2024-01-31T12:30+01:0",
            "2024-01-31T12:30+24:00",
            "2024-01-31T12:30Zx",
            "2024-01-31Z",
            "2024-01T10:00",
            "2024-01-31-02",
            "-2024-01-31",
            "31.01.2024",
            "Jan 31 2024",
            "\u{0662}\u{0660}\u{0662}\u{0664}",
            "2024-01-31T12:30+\u{e9}\u{e9}",
            "+2024",
            "2024-01-31T12:30:05:07",
            "1706704205.5",
            "999999999999999999999",
        ] {
            assert_eq!(text.parse::<Date>(), Err(DateError), "{text:?}");
        }
    }

    /// Days from 1970 to a date of the calendar, counted month by month.
    fn days(year: i128, month: u32, day: u32) -> i128 {
        let leap = |year: i128| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        let length = |year: i128, month: u32| match month {
            2 => 28 + i128::from(leap(year)),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let year_days = |year| 365 + i128::from(leap(year));
        let years: i128 = if year >= 1970 {
            (1970..year).map(year_days).sum()
        } else {
            -(year..1970).map(year_days).sum::<i128>()
        };
        years + (1..month).map(|month| length(year, month)).sum::<i128>() + i128::from(day) - 1
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn dates_are_counted_days(
            year in 0_i128..10_000, month in 1_u32..13, day in 1_u32..29, hour in 0_i128..24, minute in 0_i128..60,
            second in 0_i128..60, nano in 0_i128..SECOND, zone in -1439_i128..1440,
        ) {
            let truth = (((days(year, month, day) * 24 + hour) * 60 + minute - zone) * 60 + second) * SECOND + nano;
            let sign = if zone < 0 { '-' } else { '+' };
            let (h, m) = (zone.abs() / 60, zone.abs() % 60);
            let clock = format!("{hour:02}:{minute:02}:{second:02}.{nano:09}{sign}{h:02}:{m:02}");
            let text = format!("{year:04}-{month:02}-{day:02}T{clock}");
            prop_assert_eq!(date(&text), truth);
        }

        #[test]
        fn keys_sort_the_latest_first(x: i64, y: i64) {
            for (x, y) in [(x, y), (x % 3, y % 3)] {
                let [x, y] = [x, y].map(|nanoseconds| Date(i128::from(nanoseconds)));
                prop_assert_eq!(y.key().cmp(&x.key()), x.cmp(&y));
                prop_assert_eq!(Date::of_nanoseconds(&x.to_string()), Ok(x));
            }
        }
    }
}
