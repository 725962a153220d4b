//! Times and numbers of the command line.

use std::str::FromStr;
use std::time::Duration;
use twinsplit_serve::Fsync;

/// A time, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time(pub u64);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = match unit {
            "ms" => Some(1),
            "s" => Some(1000),
            "m" => Some(60_000),
            "h" => Some(3_600_000),
            "d" => Some(86_400_000),
            _ => None,
        };
        let time = unit.zip(number.parse::<u64>().ok()).and_then(|(unit, number)| number.checked_mul(unit));
        time.map(Self).ok_or_else(|| "expected a number and ms, s, m, h or d, such as 48h".to_owned())
    }
}

/// A number that is not 0.
pub(super) fn some(text: &str) -> std::result::Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected a number from 1 on".to_owned())
}

/// A time that is not none at all: what is kept for that is never there.
pub(super) fn some_time(text: &str) -> std::result::Result<Time, String> {
    match text.parse()? {
        Time(0) => {
            Err("expected a time, such as 48h; without --retain documents are kept for ever".to_owned())
        }
        time => Ok(time),
    }
}

/// When an answer is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FsyncWhen(pub Fsync);

impl FromStr for FsyncWhen {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        Ok(Self(match text {
            "always" => Fsync::Always,
            "off" => Fsync::Off,
            time => match time.parse() {
                Ok(Time(milliseconds @ 1..)) => Fsync::Within(Duration::from_millis(milliseconds)),
                _ => return Err("expected always, off, or a time such as 100ms".to_owned()),
            },
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let read = |text: &str| text.parse::<Time>().map(|time| time.0).ok();
        assert_eq!(
            ["100ms", "5s", "3m", "48h", "2d"].map(read),
            [100, 5000, 180_000, 172_800_000, 172_800_000].map(Some)
        );
        assert_eq!(
            ["", "5", "h", "-1s", "1w", "1.5h", "99999999999999999999s", "999999999999999999d"].map(read),
            [None; 8]
        );
        assert!("0s".parse::<FsyncWhen>().is_err() && "never".parse::<FsyncWhen>().is_err());
    }
}
