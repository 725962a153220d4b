//! The similarity threshold, and every bound that follows from it, in integers.
//!
//! The Jaccard similarity of two sets of sizes `a` and `b` that share `o` elements is
//! `o / (a + b - o)`. With a threshold `p/q`, the pair is in the answer when
//!
//! ```text
//! o / (a + b - o) >= p/q   <=>   o·q >= p·(a + b) - p·o   <=>   o·(p + q) >= p·(a + b)
//! ```
//!
//! and, by convention, only when `o >= 1`: two empty sets resemble nothing. Every bound of a prefix
//! join is this inequality solved for one of its letters and rounded to the safe side. They are
//! solved here once, so that no other module divides.
//!
//! Floating point has no place in these bounds: a ceiling of a rounded product is wrong by one for
//! some sizes, and such an error loses exactly those pairs that lie on the threshold. Products are
//! taken in 128 bits, where nothing overflows: `p + q < 2^31` and `a + b < 2^65`.
//!
//! # Example
//! ```
//! use twinsplit::internal::join::tau::{Tau, jaccard6};
//! let tau: Tau = "0.80".parse()?;
//! assert!(tau.accepts(4, 5, 4)); // 4 shared of a union of 5: exactly 0.8
//! assert_eq!(tau.overlap_needed(5, 4), 4);
//! assert_eq!(tau.to_string(), "0.8");
//! assert_eq!(jaccard6(4, 5, 4).to_string(), "0.800000");
//! # Ok::<(), twinsplit::internal::join::tau::TauError>(())
//! ```

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
        let billionths = parse_billionths(text).and_then(Tau::from_billionths);
        billionths.ok_or_else(|| TauError { found: text.to_owned() })
    }
}

impl fmt::Display for Tau {
    /// The shortest decimal of this value (`0.7`, `1`), whatever form was typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let billionths = self.billionths();
        if billionths == BILLION {
            return f.write_str("1");
        }
        let digits = format!("{billionths:09}");
        write!(f, "0.{}", digits.trim_end_matches('0'))
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
        let common = gcd(billionths, BILLION);
        (1..=BILLION).contains(&billionths).then(|| Tau { p: billionths / common, q: BILLION / common })
    }

    /// Whether two sets of sizes `a` and `b` that share `overlap` elements are in the answer.
    #[inline]
    pub fn accepts(self, overlap: u64, a: u64, b: u64) -> bool {
        overlap >= 1 && u128::from(overlap) * self.sum() >= self.p() * (u128::from(a) + u128::from(b))
    }

    /// The least overlap with which two sets of sizes `a` and `b` are in the answer, at least 1.
    ///
    /// It may exceed the smaller size; then no two sets of these sizes are in the answer.
    #[inline]
    pub fn overlap_needed(self, a: u64, b: u64) -> u64 {
        // p/(p+q) <= 1/2, so that the quotient is at most the mean of a and b and fits.
        match a.checked_add(b).and_then(|s| s.checked_mul(u64::from(self.p))) {
            Some(n) => n.div_ceil(u64::from(self.p) + u64::from(self.q)).max(1),
            None => {
                let n = self.p() * (u128::from(a) + u128::from(b));
                n.div_ceil(self.sum()).max(1) as u64
            }
        }
    }

    /// The smallest partner of a set of size `a`: `ceil(tau·a)`, at least 1.
    ///
    /// The overlap is at most `b` and the union at least `a`, so the similarity is at most `b/a`.
    #[inline]
    pub fn min_partner(self, a: u64) -> u64 {
        match a.checked_mul(u64::from(self.p)) {
            Some(n) => n.div_ceil(u64::from(self.q)).max(1),
            None => (self.p() * u128::from(a)).div_ceil(u128::from(self.q)).max(1) as u64,
        }
    }

    /// The largest partner of a set of size `a`: `floor(a/tau)`, capped at `u64::MAX`.
    #[inline]
    pub fn max_partner(self, a: u64) -> u64 {
        self.max_partner_sharing(a, a)
    }

    /// The largest `b` such that a set of size `a` and one of size `b` may be in the answer when they
    /// share `overlap` elements at most: `floor(overlap·(p+q)/p) - a`, 0 when there is none, capped
    /// at `u64::MAX`.
    ///
    /// This is the inequality of the [module](self) solved for `b`. A prefix join knows an upper
    /// bound of the overlap wherever it meets a shared token: what is left of a set from there.
    #[inline]
    pub fn max_partner_sharing(self, a: u64, overlap: u64) -> u64 {
        match overlap.checked_mul(u64::from(self.p) + u64::from(self.q)) {
            Some(n) => (n / u64::from(self.p)).saturating_sub(a),
            None => {
                let sum = u128::from(overlap) * self.sum() / self.p();
                u64::try_from(sum.saturating_sub(u128::from(a))).unwrap_or(u64::MAX)
            }
        }
    }

    /// The length of the probe prefix of a set of size `a`: `a - ceil(tau·a) + 1`, 0 for the empty set.
    ///
    /// The sets of a pair in the answer share at least `ceil(tau·a)` elements. The elements behind
    /// this prefix are one too few for that, so the first shared element, in whatever total order,
    /// lies in the prefix.
    #[inline]
    pub fn probe_prefix(self, a: u64) -> u64 {
        if a == 0 { 0 } else { a - self.min_partner(a) + 1 }
    }

    /// The length of the index prefix of a set of size `a`: `a - ceil(2·tau·a/(1+tau)) + 1`, 0 for
    /// the empty set.
    ///
    /// It suffices for the *smaller* set of a pair: with a partner of size `b >= a` the overlap is at
    /// least `tau/(1+tau)·(a+b) >= tau/(1+tau)·2a`. It is never longer than the probe prefix.
    #[inline]
    pub fn index_prefix(self, a: u64) -> u64 {
        if a == 0 { 0 } else { a - self.overlap_needed(a, a) + 1 }
    }

    fn p(self) -> u128 {
        u128::from(self.p)
    }

    /// p + q.
    fn sum(self) -> u128 {
        u128::from(self.p) + u128::from(self.q)
    }
}

/// A Jaccard similarity in millionths, rounded half up: the form in which similarities are written.
///
/// Whether a pair is in the answer is never decided from it; see [`Tau::accepts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Jaccard6(u32);

/// The similarity of two sets of sizes `a` and `b` that share `overlap` elements, where
/// `overlap <= min(a, b)`; 0 when both are empty, in line with [`Tau::accepts`].
pub fn jaccard6(overlap: u64, a: u64, b: u64) -> Jaccard6 {
    debug_assert!(overlap <= a.min(b), "an overlap of {overlap} in sizes {a} and {b}");
    let union = (u128::from(a) + u128::from(b)).saturating_sub(u128::from(overlap));
    if union == 0 {
        return Jaccard6(0);
    }
    let rounded = (2 * u128::from(overlap) * u128::from(MILLION) + union) / (2 * union);
    Jaccard6(u32::try_from(rounded).unwrap_or(MILLION).min(MILLION))
}

impl Jaccard6 {
    /// The similarity of equals.
    pub const ONE: Self = Self(MILLION);

    /// The similarity in millionths, 0 to 1,000,000.
    pub fn millionths(self) -> u32 {
        self.0
    }

    /// The similarity of that many millionths; `None` above 1,000,000.
    pub fn from_millionths(millionths: u32) -> Option<Self> {
        (millionths <= MILLION).then_some(Jaccard6(millionths))
    }
}

impl fmt::Display for Jaccard6 {
    /// Always six places: `0.812500`, `1.000000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / MILLION, self.0 % MILLION)
    }
}

const BILLION: u32 = 1_000_000_000;
const MILLION: u32 = 1_000_000;

/// A decimal in [0, 2) as billionths; `None` when it is anything else.
fn parse_billionths(text: &str) -> Option<u32> {
    let (whole, places) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None if text.is_empty() => return None,
        None => (text, ""),
    };
    let whole = match whole {
        "" | "0" => 0,
        "1" => BILLION,
        _ => return None,
    };
    if places.len() > MAX_PLACES || !places.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let padded = format!("{places:0<MAX_PLACES$}");
    Some(whole + padded.parse::<u32>().ok()?)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

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
        let (one, least) = (tau("1"), tau("0.000000001"));
        let max = u64::MAX;
        assert!(one.accepts(max, max, max));
        assert!(!one.accepts(max - 1, max, max));
        assert_eq!(one.overlap_needed(max, max), max);
        assert_eq!(one.max_partner(max), max);
        assert_eq!(least.max_partner(max), max);
        assert_eq!(one.min_partner(max), max);
        assert_eq!((one.probe_prefix(max), one.index_prefix(max)), (1, 1));
        assert_eq!((one.probe_prefix(0), one.index_prefix(0)), (0, 0));
        assert_eq!(least.min_partner(5), 1);
        assert!(!least.accepts(0, 0, 0));
        assert!(!least.accepts(0, 3, 3));
        assert_eq!((Tau::from_billionths(0), Tau::from_billionths(BILLION + 1)), (None, None));
    }

    #[test]
    fn rounds_similarities_half_up() {
        assert_eq!(jaccard6(13, 16, 13).to_string(), "0.812500");
        assert_eq!(jaccard6(9, 9, 9).to_string(), "1.000000");
        assert_eq!(jaccard6(0, 0, 0).to_string(), "0.000000");
        assert_eq!(jaccard6(0, 4, 0).to_string(), "0.000000");
        assert_eq!(jaccard6(2, 3, 2).to_string(), "0.666667");
        // 1/2,000,000 lies halfway and goes up; 1/2,000,001 goes down.
        assert_eq!(jaccard6(1, 2_000_000, 1).millionths(), 1);
        assert_eq!(jaccard6(1, 2_000_001, 1).millionths(), 0);
        assert_eq!(jaccard6(u64::MAX, u64::MAX, u64::MAX).millionths(), 1_000_000);
        assert_eq!(Jaccard6::from_millionths(1_000_001), None);
    }

    proptest! {
        /// Each bound is the extreme value that the definition allows, found by trial.
        #[test]
        fn bounds_are_tight(n in 1u32..=BILLION, places in 0u32..=9, a in 0u64..60, b in 0u64..60, o in 0u64..60) {
            // Coarse thresholds as well as fine ones, so that many pairs lie exactly on them.
            let step = 10u32.pow(9 - places);
            let n = n.div_ceil(step) * step;
            let text = if n == BILLION { "1".to_owned() } else { format!("0.{n:09}") };
            let t = tau(&text);
            let exact = Ratio::new(u128::from(n), u128::from(BILLION));
            prop_assert_eq!(Ratio::new(t.fraction().0.into(), t.fraction().1.into()), exact);
            prop_assert_eq!(tau(&t.to_string()), t);
            prop_assert_eq!((t.billionths(), Tau::from_billionths(n)), (n, Some(t)));

            let truth = |o: u64, a: u64, b: u64| {
                o >= 1 && (o >= a + b || Ratio::new(u128::from(o), u128::from(a + b - o)) >= exact)
            };
            prop_assert_eq!(t.accepts(o, a, b), truth(o, a, b));
            let needed = (1..).find(|&o| truth(o, a, b)).unwrap();
            prop_assert_eq!(t.overlap_needed(a, b), needed);

            let tau_a = exact * Ratio::from_integer(u128::from(a));
            prop_assert_eq!(u128::from(t.min_partner(a)), tau_a.ceil().to_integer().max(1));
            let most = Ratio::from_integer(u128::from(a)) / exact;
            prop_assert_eq!(u128::from(t.max_partner(a)), most.floor().to_integer());

            // Solved for b: the sizes that pass are exactly those up to the bound.
            if o >= 1 {
                prop_assert_eq!(t.accepts(o, a, b), b <= t.max_partner_sharing(a, o) && (b > 0 || a <= t.max_partner_sharing(0, o)));
            }

            if a > 0 {
                let two_tau = exact * Ratio::from_integer(2) / (exact + Ratio::from_integer(1));
                let index = (two_tau * Ratio::from_integer(u128::from(a))).ceil().to_integer();
                prop_assert_eq!(u128::from(t.index_prefix(a)), u128::from(a) - index + 1);
                prop_assert_eq!(u128::from(t.probe_prefix(a)), u128::from(a) - tau_a.ceil().to_integer() + 1);
                prop_assert!(t.index_prefix(a) <= t.probe_prefix(a));
            }
        }

        /// The 64-bit short cuts and the 128-bit products agree.
        #[test]
        fn large_sizes_agree(n in 1u32..=BILLION, a: u64, b: u64) {
            let t = tau(&if n == BILLION { "1".to_owned() } else { format!("0.{n:09}") });
            let o = t.overlap_needed(a, b);
            prop_assert!(t.accepts(o, a, b));
            prop_assert!(o == 1 || !t.accepts(o - 1, a, b));
            let most = t.max_partner_sharing(a, o);
            prop_assert!(most >= b);
            prop_assert!(most == u64::MAX || !t.accepts(o, a, most + 1));
        }
    }
}
