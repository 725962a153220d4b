//! Numbers as JSON writes them, compared exactly, and their keys.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A number as JSON writes it, compared exactly.
///
/// A score may have more digits than a float holds, and ids of the same cluster must not tie by
/// rounding: `0.1`, `1e-1` and `0.10` are one number, `9007199254740993` and `9007199254740992` are
/// two. It is held as the sign and the decimal `0.d1d2… · 10^exponent` with `d1` and the last digit not
/// 0; zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Score {
    negative: bool,
    exponent: i64,
    /// ASCII digits.
    digits: String,
}

/// A text that is not a JSON number, or one whose exponent exceeds 18 digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreError {
    found: String,
}

impl fmt::Display for ScoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a score must be a JSON number with an exponent of at most 18 digits, found {:?}",
            self.found
        )
    }
}

impl std::error::Error for ScoreError {}

impl FromStr for Score {
    type Err = ScoreError;

    /// Reads a JSON number: `-1.5e3`, `0.1`, `10`; no `+` in front, no leading zeros, no bare point.
    fn from_str(text: &str) -> Result<Self, ScoreError> {
        parse(text).ok_or_else(|| ScoreError { found: text.to_owned() })
    }
}

fn parse(text: &str) -> Option<Score> {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (negative, number) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, shift) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            let magnitude = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if !is_digits(magnitude) || magnitude.trim_start_matches('0').len() > 18 {
                return None;
            }
            (mantissa, exponent.parse::<i64>().ok()?)
        }
        None => (number, 0),
    };
    let (whole, places) = match mantissa.split_once('.') {
        Some((whole, places)) if is_digits(places) => (whole, places),
        Some(_) => return None,
        None => (mantissa, ""),
    };
    if !is_digits(whole) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    let all = format!("{whole}{places}");
    let significant = all.trim_start_matches('0');
    let zeros = all.len() - significant.len();
    let digits = significant.trim_end_matches('0').to_owned();
    if digits.is_empty() {
        return Some(Score { negative: false, exponent: 0, digits });
    }
    // Where the point stands: behind the whole part, less the zeros in front, then shifted.
    let point = i64::try_from(whole.len()).ok()?.checked_sub_unsigned(zeros as u64)?;
    Some(Score { negative, exponent: point.checked_add(shift)?, digits })
}

impl Score {
    /// The key that sorts the highest score first. It starts with `a` for a positive score, `b` for zero and
    /// `c` for a negative one; then follow the exponent in 16 hex digits, the digits and an end mark.
    /// For a positive score greater numbers come first, so exponent and digits are complemented and a
    /// number that goes on precedes one that ends (`~`); for a negative one it is the other way (`!`).
    pub(super) fn key(&self) -> String {
        // Flipping the sign bit makes the order of signed numbers that of unsigned ones.
        let exponent = self.exponent.cast_unsigned() ^ (1 << 63);
        if self.digits.is_empty() {
            return "b".to_owned();
        }
        if self.negative {
            return format!("c{exponent:016x}{}!", self.digits);
        }
        let complement = |digit: u8| char::from(b'0' + (b'9' - digit));
        let digits: String = self.digits.bytes().map(complement).collect();
        format!("a{:016x}{digits}~", !exponent)
    }
}

impl Score {
    /// How many digits stand before its point: at most 0 for a number below 1, and 0 for zero.
    pub(super) fn magnitude(&self) -> i64 {
        self.exponent
    }

    /// The number times 10^`power`, where that is a whole number of at most 38 digits.
    pub(super) fn scaled(&self, power: i64) -> Option<i128> {
        let zeros = (self.exponent.checked_add(power)?).checked_sub_unsigned(self.digits.len() as u64)?;
        if self.digits.is_empty() {
            return Some(0);
        }
        let number =
            self.digits.parse::<i128>().ok()?.checked_mul(10_i128.checked_pow(zeros.try_into().ok()?)?)?;
        Some(if self.negative { -number } else { number })
    }
}

impl Ord for Score {
    /// The order of the numbers.
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |score: &Score| match (score.digits.is_empty(), score.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        sign(self).cmp(&sign(other)).then_with(|| {
            let by_magnitude =
                self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits));
            if self.negative { by_magnitude.reverse() } else { by_magnitude }
        })
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use proptest::prelude::*;

    fn score(text: &str) -> Score {
        text.parse().unwrap()
    }

    #[test]
    fn reads_json_numbers() {
        for (text, same) in [
            ("0.1", "1e-1"),
            ("10", "1.0E+1"),
            ("-1.5e3", "-1500.00"),
            ("0", "-0.00e7"),
            ("0.00120", "12e-4"),
            ("1e000000000000000000000001", "10"),
        ] {
            assert_eq!(score(text), score(same));
        }
        for text in [
            "",
            "-",
            "+1",
            "01",
            ".5",
            "5.",
            "1e",
            "1e+",
            "1e1.5",
            "0x1",
            "NaN",
            "1,5",
            " 1",
            "--1",
            "1e9999999999999999999",
            "\u{0663}",
            "1e+-1",
        ] {
            let message = text.parse::<Score>().unwrap_err().to_string();
            assert!(message.ends_with(&format!("found {text:?}")), "{message}");
        }
        assert!(score("1e999999999999999999") > score("9e999999999999999998"));
        assert!(score("9007199254740993") > score("9007199254740992"));
    }

    /// The number itself, times 10^110, for exponents of two digits.
    fn exact(text: &str) -> BigInt {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, places) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: BigInt = format!("{whole}{places}").parse().unwrap();
        let power = 110 + exponent.parse::<i32>().unwrap() - places.len() as i32;
        digits * BigInt::from(10).pow(u32::try_from(power).unwrap())
    }

    fn literal() -> impl Strategy<Value = String> {
        prop_oneof![
            "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?(e-?[0-9]{1,2})?",
            "-?[12](\\.[019]{1,4})?(e-?[01])?",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn scores_and_their_keys_are_in_the_order_of_numbers(x in literal(), y in literal()) {
            let truth = exact(&x).cmp(&exact(&y));
            let (x, y) = (score(&x), score(&y));
            prop_assert_eq!(x.cmp(&y), truth);
            prop_assert_eq!(x == y, truth == Ordering::Equal);
            prop_assert_eq!(y.key().cmp(&x.key()), truth);
        }
    }

    #[test]
    fn scaled_numbers_are_exact() {
        for (text, power, whole) in [
            ("1.5", 9, Some(1_500_000_000)),
            ("-0.25", 2, Some(-25)),
            ("0.25", 1, None),
            ("0", 9, Some(0)),
            ("12e3", -3, Some(12)),
            ("1e38", 9, None),
        ] {
            assert_eq!(score(text).scaled(power), whole, "{text}");
        }
    }
}
