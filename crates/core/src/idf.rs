//! The IDF filter as a range of document frequencies.
//!
//! The normalised inverse document frequency of a feature that occurs in `df` of `N` documents is
//! `ln(N/df) / ln(N)`: 1 when it occurs once, 0 when it occurs in all. A filter keeps the features with
//! an IDF in a closed range. Of a decimal bound `p/q`,
//!
//! ```text
//! ln(N/df) / ln(N) >= p/q   <=>   q·(ln N - ln df) >= p·ln N   <=>   df^q <= N^(q-p)
//! ```
//!
//! so that a range of IDF is a range of `df`, found once for a collection by comparing powers of
//! integers. With logarithms in floating point, a feature that lies exactly on a bound is kept or lost
//! by a rounding error: `df` = 8 of `N` = 32,768 is exactly 0.8, and computed as less.
//!
//! For `N` = 1 the quotient is 0/0, and the filter keeps everything.
//!
//! ```
//! use twinsplit_core::idf::IdfRange;
//! let range: IdfRange = "0.8,1".parse()?;
//! assert_eq!(range.df_range(32_768), (1, 8));
//! # Ok::<(), twinsplit_core::idf::IdfError>(())
//! ```

use crate::decimal;
use num_bigint::BigUint;
use std::fmt;
use std::str::FromStr;

/// The most decimal places a bound may have: more would make the powers unwieldy.
pub const MAX_PLACES: usize = 4;

const ONE: u32 = 10_000;

/// A decimal in [0, 1] with at most four places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal4(u32);

/// A range of normalised IDF, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdfRange {
    lo: Decimal4,
    hi: Decimal4,
}

/// A text that is not a range of normalised IDF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdfError {
    /// There is not exactly one comma. Holds the text.
    NotAPair(String),
    /// A bound is not a decimal in [0, 1] with at most [`MAX_PLACES`] places. Holds the bound.
    NotADecimal(String),
    /// The lower bound exceeds the upper one. Holds both.
    UpsideDown(Decimal4, Decimal4),
}

impl fmt::Display for IdfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdfError::NotAPair(found) => {
                write!(f, "an IDF range must be two decimals with a comma between them, found {found:?}")
            }
            IdfError::NotADecimal(found) => write!(
                f,
                "a bound of an IDF range must be a decimal in [0, 1] with at most {MAX_PLACES} places, found {found:?}"
            ),
            IdfError::UpsideDown(lo, hi) => {
                write!(f, "an IDF range must not be upside down, found {lo} before {hi}")
            }
        }
    }
}

impl std::error::Error for IdfError {}

impl FromStr for Decimal4 {
    type Err = IdfError;

    /// Reads `0.3`, `.3`, `0` or `1.0`; no sign, no exponent.
    fn from_str(text: &str) -> Result<Self, IdfError> {
        let value = decimal::parse(text, MAX_PLACES).filter(|value| *value <= ONE);
        value.map(Decimal4).ok_or_else(|| IdfError::NotADecimal(text.to_owned()))
    }
}

impl fmt::Display for Decimal4 {
    /// The shortest decimal of this value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal::show(self.0, MAX_PLACES))
    }
}

impl FromStr for IdfRange {
    type Err = IdfError;

    /// Reads the lower and the upper bound with a comma between them: `0.3,0.85`.
    fn from_str(text: &str) -> Result<Self, IdfError> {
        match text.split_once(',') {
            Some((lo, hi)) if !hi.contains(',') => IdfRange::new(lo.parse()?, hi.parse()?),
            _ => Err(IdfError::NotAPair(text.to_owned())),
        }
    }
}

impl fmt::Display for IdfRange {
    /// The form that is read, with the shortest decimals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.lo, self.hi)
    }
}

impl Default for IdfRange {
    /// [0, 1], which keeps everything.
    fn default() -> Self {
        IdfRange { lo: Decimal4(0), hi: Decimal4(ONE) }
    }
}

impl IdfRange {
    /// The range from `lo` to `hi`.
    ///
    /// # Errors
    /// [`IdfError::UpsideDown`] when `lo > hi`.
    pub fn new(lo: Decimal4, hi: Decimal4) -> Result<Self, IdfError> {
        if lo <= hi { Ok(IdfRange { lo, hi }) } else { Err(IdfError::UpsideDown(lo, hi)) }
    }

    /// Whether the range keeps every feature of every collection.
    pub fn is_everything(self) -> bool {
        self == IdfRange::default()
    }

    /// The least and the greatest document frequency in the range, for a collection of `n` documents.
    ///
    /// When the first exceeds the second, no feature is in the range; so it is for `n` = 0. A feature
    /// unknown to the collection counts as one with frequency 1.
    pub fn df_range(self, n: u64) -> (u64, u64) {
        if n <= 1 {
            return (1, n);
        }
        let greatest = Power::new(n, self.lo).root();
        let upper = Power::new(n, self.hi);
        let root = upper.root();
        // IDF <= hi is df^q >= N^(q-p): the root itself when it is exact, the next integer otherwise.
        let least = if upper.equals(root) { root } else { root + 1 };
        (least, greatest)
    }
}

/// The number `n^((q-p)/q)`, which is the document frequency of IDF `p/q`.
struct Power {
    n: u64,
    /// q, without a common factor with `up`.
    down: u32,
    /// n^(q-p).
    raised: BigUint,
    /// The number, roughly: where the search starts.
    guess: f64,
}

impl Power {
    fn new(n: u64, idf: Decimal4) -> Self {
        let (up, down) = (ONE - idf.0, ONE);
        let common = decimal::gcd(up, down);
        let (up, down) = (up / common, down / common);
        Power {
            n,
            down,
            raised: BigUint::from(n).pow(up),
            guess: (n as f64).powf(f64::from(up) / f64::from(down)),
        }
    }

    /// Whether `df` is the number exactly.
    fn equals(&self, df: u64) -> bool {
        BigUint::from(df).pow(self.down) == self.raised
    }

    /// Whether `df` is at most the number.
    fn holds(&self, df: u128) -> bool {
        BigUint::from(df).pow(self.down) <= self.raised
    }

    /// The number, rounded down; 1 to `n`.
    fn root(&self) -> u64 {
        last_that_holds(self.n, self.guess, |df| self.holds(df))
    }
}

/// The last number from 1 to `n` for which `holds`, which is true for 1 and for everything up to that number. The guess only saves
/// steps: from it, doubling strides narrow the bracket, and exact comparisons confirm both of its ends.
fn last_that_holds(n: u64, guess: f64, mut holds: impl FnMut(u128) -> bool) -> u64 {
    // 1 always holds and n + 1 never does.
    let (mut low, mut high) = (1, u128::from(n) + 1);
    let start = (guess as u128).clamp(low, high - 1);
    let mut stride = 1;
    if holds(start) {
        low = start;
        while low + stride < high {
            if holds(low + stride) {
                low += stride;
                stride *= 2;
            } else {
                high = low + stride;
            }
        }
    } else {
        high = start;
        while low + stride < high {
            if holds(high - stride) {
                low = high - stride;
            } else {
                high -= stride;
                stride *= 2;
            }
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    low as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    fn range(text: &str) -> IdfRange {
        text.parse().unwrap()
    }

    #[test]
    fn reads_ranges() {
        assert_eq!(range("0.30,.85").to_string(), "0.3,0.85");
        assert_eq!(range("0.0001,1.0").to_string(), "0.0001,1");
        assert!(range("0,1.0000").is_everything());
        assert!(!range("0,0.9999").is_everything());
        for (text, part) in [
            ("0.3", "comma"),
            ("", "comma"),
            ("0.1,0.2,0.3", "comma"),
            ("0.85,0.3", "upside down, found 0.85 before 0.3"),
            ("0.30001,1", "at most 4 places, found \"0.30001\""),
            ("0.3,1.1", "found \"1.1\""),
            ("-0.1,1", "found \"-0.1\""),
            ("0.3, 0.8", "found \" 0.8\""),
            (",1", "found \"\""),
            ("0.,1", "found \"0.\""),
        ] {
            let message = text.parse::<IdfRange>().unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn keeps_features_on_the_bound() {
        // 32768 = 2^15, 8 = 2^3: the IDF of df 8 is 12/15.
        assert_eq!(range("0.8,1").df_range(32_768), (1, 8));
        assert_eq!(range("0,0.8").df_range(32_768), (8, 32_768));
        assert_eq!(range("0.8,0.8").df_range(32_768), (8, 8));
        // Nothing lies exactly on 0.8 when N is no fifth power.
        assert_eq!(range("0.8,0.8").df_range(32_767), (8, 7));
        assert_eq!(range("1,1").df_range(1_000), (1, 1));
        assert_eq!(range("0,0").df_range(1_000), (1_000, 1_000));
        assert_eq!(range("0.3,0.6").df_range(0), (1, 0));
        assert_eq!(range("0.3,0.6").df_range(1), (1, 1));
        for n in [2, 10, u64::MAX] {
            assert_eq!(IdfRange::default().df_range(n), (1, n));
        }
    }

    /// Every feature of every small collection, by the definition.
    #[test]
    fn agrees_with_the_definition() {
        let bounds = ["0", "0.0001", "0.1", "0.25", "0.3", "0.3333", "0.5", "0.75", "0.8", "0.95", "1"];
        for n in 2_u64..=130 {
            for bound in bounds {
                let bound: Decimal4 = bound.parse().unwrap();
                let compare = |df: u64| {
                    let q = BigUint::from(df).pow(ONE);
                    q.cmp(&BigUint::from(n).pow(ONE - bound.0))
                };
                let (first, last) = IdfRange::new(bound, bound).unwrap().df_range(n);
                // The most frequent feature with IDF >= bound, the least frequent with IDF <= bound.
                assert!(compare(last) != Ordering::Greater, "{n} {bound}");
                assert!(last == n || compare(last + 1) == Ordering::Greater, "{n} {bound}");
                assert!(compare(first) != Ordering::Less, "{n} {bound}");
                assert!(first == 1 || compare(first - 1) == Ordering::Less, "{n} {bound}");
            }
        }
    }

    /// Powers by plain multiplication, for bounds with a small denominator, up to the largest N.
    #[test]
    fn agrees_on_large_collections() {
        for n in [1_000_003, 10_000_000_000, u64::from(u32::MAX), 1 << 63, u64::MAX] {
            // IDF >= 1/2: df^2 <= N.
            let (_, greatest) = range("0.5,1").df_range(n);
            assert_eq!(greatest, n.isqrt());
            // IDF <= 3/4: df^4 >= N.
            let (least, _) = range("0,0.75").df_range(n);
            let fourth = |df: u64| u128::from(df).pow(4);
            assert!(fourth(least) >= u128::from(n) && fourth(least - 1) < u128::from(n));
        }
    }

    /// With four places a comparison takes powers of 10,000: the guess leaves a handful of them, where halving the range
    /// alone takes 33.
    #[test]
    fn compares_few_powers_with_four_places() {
        let n = 10_000_000_000;
        for bound in ["0.0001", "0.3333", "0.5001", "0.7777", "0.9999"] {
            let power = Power::new(n, bound.parse().unwrap());
            let mut compared = 0;
            let root = last_that_holds(n, power.guess, |df| {
                compared += 1;
                power.holds(df)
            });
            assert_eq!(root, power.root());
            assert!(power.holds(root.into()) && !power.holds(u128::from(root) + 1), "{bound}: {root}");
            assert!(compared <= 4, "{bound}: {compared} comparisons");
        }
    }

    /// Wherever the search begins, it ends at the same number.
    #[test]
    fn a_bad_guess_costs_steps_only() {
        for last in [1, 2, 3, 500, 999, 1000] {
            for guess in [-1.0, 0.0, 1.0, 2.0, 499.5, 500.0, 777.0, 1000.0, 1e300, f64::NAN] {
                assert_eq!(last_that_holds(1000, guess, |df| df <= last), last as u64, "from {guess}");
            }
        }
    }
}
