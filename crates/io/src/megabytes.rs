//! Bounds of memory, as they are typed.

use crate::parse_bytes;
use std::fmt;
use std::str::FromStr;

/// A number of megabytes, at least 1: plain, or with a unit such as 512M or 4G. It is shown as the plain number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Megabytes(u64);

impl Megabytes {
    /// So many; 0 is taken for 1.
    pub const fn new(number: u64) -> Self {
        Self(if number == 0 { 1 } else { number })
    }

    /// How many.
    pub fn number(self) -> u64 {
        self.0
    }

    /// In bytes; what a number cannot hold is as much as it can.
    pub fn bytes(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX).saturating_mul(1 << 20)
    }
}

impl fmt::Display for Megabytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

twinsplit_core::read_from_text!(Megabytes);

impl FromStr for Megabytes {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let whole = |bytes: u64| (bytes > 0 && bytes.is_multiple_of(1 << 20)).then_some(Self(bytes >> 20));
        parse_bytes(text, 1 << 20)
            .and_then(whole)
            .ok_or("expected a whole number of megabytes, at least 1, such as 512, 512M or 4G")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn megabytes_are_plain_or_have_a_unit() {
        for (text, number) in [("1", 1), ("2048", 2048), ("512M", 512), ("4G", 4096), ("2048K", 2)] {
            let megabytes: Megabytes = text.parse().unwrap();
            assert_eq!((megabytes.number(), megabytes.bytes()), (number, (number as usize) << 20), "{text}");
            assert_eq!(megabytes.to_string(), number.to_string());
        }
        for text in
            ["", "0", "0G", "-1", "+1", "1.5G", "1g", "4 G", "G", "512K", "1025K", "99999999999999999999"]
        {
            let error = text.parse::<Megabytes>().unwrap_err();
            assert!(error.contains("at least 1") && error.contains("4G"), "{text}: {error}");
        }
        assert_eq!(Megabytes::new(0), Megabytes::new(1));
    }
}
