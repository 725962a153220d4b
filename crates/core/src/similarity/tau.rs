//! The similarity threshold: the decimal that the user typed, as the fraction that it is.
//!
//! Floating point has no place in the bounds that follow from it: a ceiling of a rounded product is wrong by one for
//! some sizes, and such an error loses exactly those pairs that lie on the threshold.
//!
//! # Example
//! ```
//! use twinsplit_core::similarity::tau::Tau;
//! let tau: Tau = "0.80".parse()?;
//! assert_eq!(tau.fraction(), (4, 5));
//! assert_eq!(tau.to_string(), "0.8");
//! assert_eq!(tau.share_of(6), 5); // 4.8 of 6 elements, rounded up
//! # Ok::<(), twinsplit_core::similarity::tau::TauError>(())
//! ```

use crate::decimal;
use std::fmt;
use std::str::FromStr;

/// The most decimal places a threshold may have.
pub const MAX_PLACES: usize = 9;

/// A similarity threshold in (0, 1]: the decimal that the user typed, as a reduced fraction `p/q`
/// with `q` a divisor of 10^9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tau {
    p: u32,
    q: u32,
}

/// A threshold that is not a decimal in (0, 1] with at most [`MAX_PLACES`] places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TauError {
    found: String,
}

impl fmt::Display for TauError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tau must be a decimal in (0, 1] with at most {MAX_PLACES} places, found {:?}", self.found)
    }
}

impl std::error::Error for TauError {}

impl FromStr for Tau {
    type Err = TauError;

    /// Reads `0.7`, `.7`, `1` or `1.000`; no sign, no exponent.
    fn from_str(text: &str) -> Result<Self, TauError> {
        let billionths = decimal::parse(text, MAX_PLACES).and_then(Tau::from_billionths);
        billionths.ok_or_else(|| TauError { found: text.to_owned() })
    }
}

impl fmt::Display for Tau {
    /// The shortest decimal of this value (`0.7`, `1`), whatever form was typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal::show(self.billionths(), MAX_PLACES))
    }
}

impl Tau {
    /// Numerator and denominator, without a common factor; `1 <= p <= q <= 10^9`.
    pub fn fraction(self) -> (u32, u32) {
        (self.p, self.q)
    }

    /// The threshold in billionths, 1 to 1,000,000,000.
    pub fn billionths(self) -> u32 {
        self.p * (BILLION / self.q)
    }

    /// The threshold of that many billionths; `None` for 0 and above 1,000,000,000.
    pub fn from_billionths(billionths: u32) -> Option<Self> {
        let common = decimal::gcd(billionths, BILLION);
        (1..=BILLION).contains(&billionths).then(|| Tau { p: billionths / common, q: BILLION / common })
    }

    /// `ceil(tau·n)`, at least 1: how many of `n` elements the share is.
    #[inline]
    pub fn share_of(self, n: u64) -> u64 {
        match n.checked_mul(u64::from(self.p)) {
            Some(product) => product.div_ceil(u64::from(self.q)).max(1),
            None => (u128::from(self.p) * u128::from(n)).div_ceil(u128::from(self.q)).max(1) as u64,
        }
    }

    /// `floor(n/tau)`, capped at `u64::MAX`: of how many elements `n` are the share at least.
    #[inline]
    pub fn whole_of(self, n: u64) -> u64 {
        match n.checked_mul(u64::from(self.q)) {
            Some(product) => product / u64::from(self.p),
            None => {
                let whole = u128::from(n) * u128::from(self.q) / u128::from(self.p);
                u64::try_from(whole).unwrap_or(u64::MAX)
            }
        }
    }
}

const BILLION: u32 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::Ratio;
    use proptest::prelude::*;

    fn tau(text: &str) -> Tau {
        text.parse().unwrap()
    }

    #[test]
    fn reads_decimals_and_shows_the_shortest() {
        for (typed, shown) in [
            ("0.7", "0.7"),
            (".70", "0.7"),
            ("1", "1"),
            ("1.000", "1"),
            ("0.000000001", "0.000000001"),
            ("0.999999999", "0.999999999"),
            ("0.05", "0.05"),
        ] {
            assert_eq!(tau(typed).to_string(), shown);
        }
        assert_eq!(tau("0.8").fraction(), (4, 5));
        assert_eq!(tau("0.50"), tau(".5"));
    }

    #[test]
    fn refuses_the_rest_by_name() {
        for text in [
            "",
            ".",
            "0",
            "0.0",
            "1.1",
            "1.000000001",
            "2",
            "-0.5",
            "+0.5",
            "0.",
            "1.",
            "00.5",
            "5e-1",
            "0.1234567890",
            "0,5",
            " 0.5",
            "0.5 ",
            "NaN",
            "0.5.5",
            "0.\u{0661}",
        ] {
            let error = text.parse::<Tau>().unwrap_err();
            let message = format!("tau must be a decimal in (0, 1] with at most 9 places, found {text:?}");
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn holds_at_the_ends_of_the_integers() {
        let (one, least, max) = (tau("1"), tau("0.000000001"), u64::MAX);
        assert_eq!((one.share_of(max), one.whole_of(max)), (max, max));
        assert_eq!((least.share_of(5), least.whole_of(max)), (1, max));
        assert_eq!(least.share_of(max), 18_446_744_074);
        assert_eq!((one.share_of(0), one.whole_of(0)), (1, 0));
        assert_eq!((Tau::from_billionths(0), Tau::from_billionths(BILLION + 1)), (None, None));
    }

    proptest! {
        /// Both are what the fraction says, rounded.
        #[test]
        fn shares_are_those_of_the_fraction(n in 1u32..=BILLION, places in 0u32..=9, of in 0u64..60) {
            // Coarse thresholds as well as fine ones, so that many products are whole.
            let step = 10u32.pow(9 - places);
            let n = n.div_ceil(step) * step;
            let text = if n == BILLION { "1".to_owned() } else { format!("0.{n:09}") };
            let t = tau(&text);
            let exact = Ratio::new(u128::from(n), u128::from(BILLION));
            prop_assert_eq!(Ratio::new(t.fraction().0.into(), t.fraction().1.into()), exact);
            prop_assert_eq!(tau(&t.to_string()), t);
            prop_assert_eq!((t.billionths(), Tau::from_billionths(n)), (n, Some(t)));
            let of_all = Ratio::from_integer(u128::from(of));
            prop_assert_eq!(u128::from(t.share_of(of)), (exact * of_all).ceil().to_integer().max(1));
            prop_assert_eq!(u128::from(t.whole_of(of)), (of_all / exact).floor().to_integer());
        }
    }
}
