//! How alike two texts are, for candidates that were found by other means: yanlan's second stage.
//!
//! | measure | of | pair when |
//! |---|---|---|
//! | `jaccard` | the sets of features | `o / (a + b - o) >= p/q`, where `o` features are in both |
//! | `cosine` | the features, each as often as it occurs | `dot / sqrt(|A|²·|B|²) >= p/q`, squared in whole numbers |
//! | `edit` | the texts, character by character | `(m - d) / m >= p/q`, where `d` is the edit distance and `m` the length of the longer one |
//!
//! `edit` compares the texts in the form in which features are cut from them, every run of white space as one blank. All three
//! are 1 for equals, and are decided in whole numbers.

use super::edit::EditDistance;
use super::score::Score;
use super::tau::Tau;
use std::fmt;
use std::str::FromStr;

/// What is compared of two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextMeasure {
    /// The sets of features.
    Jaccard,
    /// The features as often as they occur.
    Cosine,
    /// The characters.
    Edit,
}

/// All of them.
pub const TEXT_MEASURES: [TextMeasure; 3] = [TextMeasure::Jaccard, TextMeasure::Cosine, TextMeasure::Edit];

impl TextMeasure {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TextMeasure::Jaccard => "jaccard",
            TextMeasure::Cosine => "cosine",
            TextMeasure::Edit => "edit",
        }
    }

    /// The measure of a name.
    pub fn named(name: &[u8]) -> Option<Self> {
        TEXT_MEASURES.into_iter().find(|measure| measure.name().as_bytes() == name)
    }
}

/// A measure and the least of it that makes a pair: `edit:0.8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextCheck {
    /// What is compared.
    pub measure: TextMeasure,
    /// The threshold.
    pub tau: Tau,
}

impl FromStr for TextCheck {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, tau) = text.split_once(':').unwrap_or((text, ""));
        let measure = TextMeasure::named(name.as_bytes()).ok_or_else(|| {
            format!("expected jaccard, cosine or edit, a colon and a threshold, found {text:?}")
        })?;
        let tau = tau.parse().map_err(|error| format!("{name}: {error}"))?;
        Ok(Self { measure, tau })
    }
}

impl fmt::Display for TextCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.measure.name(), self.tau)
    }
}

/// What stands for a text where it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Features, ascending, each once, with how often they occur.
    Counts(Vec<(u64, u64)>),
    /// The text itself.
    Text(String),
}

impl Default for Content {
    fn default() -> Self {
        Content::Text(String::new())
    }
}

/// Compares contents. It holds buffers that are reused from pair to pair.
#[derive(Debug)]
pub struct TextComparer {
    check: TextCheck,
    edit: EditDistance,
}

impl TextComparer {
    /// A comparer by this measure.
    pub fn new(check: TextCheck) -> Self {
        Self { check, edit: EditDistance::default() }
    }

    /// What it compares.
    pub fn measure(&self) -> TextMeasure {
        self.check.measure
    }

    /// How alike two contents are, rounded to millionths, where they are a pair; `None` where they are none.
    pub fn compare(&mut self, x: &Content, y: &Content) -> Option<Score> {
        match (x, y) {
            (Content::Text(x), Content::Text(y)) => self.texts(x, y),
            (Content::Counts(x), Content::Counts(y)) if self.check.measure == TextMeasure::Cosine => {
                self.cosine(x, y)
            }
            (Content::Counts(x), Content::Counts(y)) => {
                let shared = common(x, y).count() as u128;
                self.share(shared, (x.len() + y.len()) as u128 - shared)
            }
            _ => None,
        }
    }

    fn share(&self, part: u128, whole: u128) -> Option<Score> {
        let (p, q) = self.fraction();
        (part * q >= p * whole).then(|| rounded(part, whole))
    }

    fn fraction(&self) -> (u128, u128) {
        let (p, q) = self.check.tau.fraction();
        (p.into(), q.into())
    }

    /// With counts below 2^32 and fewer than 2^20 features sums stay below 2^84; squared they are compared as products of 256
    /// bits.
    fn cosine(&self, x: &[(u64, u64)], y: &[(u64, u64)]) -> Option<Score> {
        let square = |counts: &[(u64, u64)]| {
            counts.iter().fold(0u128, |sum, (_, count)| sum + u128::from(*count) * u128::from(*count))
        };
        let dot = common(x, y).fold(0u128, |sum, (a, b)| sum + u128::from(a) * u128::from(b));
        let (a, b) = (square(x), square(y));
        let (p, q) = self.fraction();
        let reaches = |p: u128, q: u128| product(dot * q, dot * q) >= multiplied(product(a, b), p * p);
        reaches(p, q).then(|| {
            // The largest k of which (2k - 1) / (2·10^6) is reached: the score rounded half up.
            let (mut low, mut high) = (0, MILLION + 1);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if reaches(2 * middle - 1, 2 * MILLION) { low = middle } else { high = middle }
            }
            Score::of_millionths(low as u64)
        })
    }

    fn texts(&mut self, x: &str, y: &str) -> Option<Score> {
        let longer = x.chars().count().max(y.chars().count());
        let (p, q) = self.fraction();
        // d <= m·(q - p)/q
        let most = longer as u128 * (q - p) / q;
        let distance = self.edit.within(x, y, most as usize)?;
        Some(rounded((longer - distance) as u128, longer as u128))
    }
}

const MILLION: u128 = 1_000_000;

/// A share in millionths, rounded half up; 1 of nothing.
fn rounded(part: u128, whole: u128) -> Score {
    if whole == 0 {
        return Score::ONE;
    }
    Score::of_millionths(((2 * MILLION * part + whole) / (2 * whole)) as u64)
}

/// The counts of features that are in both.
fn common<'c>(x: &'c [(u64, u64)], y: &'c [(u64, u64)]) -> impl Iterator<Item = (u64, u64)> + 'c {
    let mut rest = y.iter().peekable();
    x.iter().filter_map(move |(feature, count)| {
        while rest.next_if(|other| other.0 < *feature).is_some() {}
        rest.next_if(|other| other.0 == *feature).map(|other| (*count, other.1))
    })
}

/// The product of two numbers: its upper and its lower 128 bits.
fn product(x: u128, y: u128) -> (u128, u128) {
    let low = |n: u128| n & u128::from(u64::MAX);
    let (x1, x0, y1, y0) = (x >> 64, low(x), y >> 64, low(y));
    let (lowest, left, right) = (x0 * y0, x1 * y0, x0 * y1);
    let middle = (lowest >> 64) + low(left) + low(right);
    (x1 * y1 + (left >> 64) + (right >> 64) + (middle >> 64), middle << 64 | low(lowest))
}

/// A number of 256 bits times another one; its greatest value where that is exceeded.
fn multiplied((high, low): (u128, u128), by: u128) -> (u128, u128) {
    let (carry, low) = product(low, by);
    let (over, high) = product(high, by);
    match high.checked_add(carry) {
        Some(high) if over == 0 => (high, low),
        _ => (u128::MAX, u128::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    fn comparer(check: &str) -> TextComparer {
        TextComparer::new(check.parse().unwrap())
    }

    fn counts(of: &[(u64, u64)]) -> Content {
        Content::Counts(of.to_vec())
    }

    #[test]
    fn pairs_on_the_threshold_are_pairs() {
        let text = |text: &str| Content::Text(text.to_owned());
        let edit = |tau: &str, x: &str, y: &str| comparer(&format!("edit:{tau}")).compare(&text(x), &text(y));
        assert_eq!(edit("0.8", "abcde", "abcdx"), Some(Score::Share(800_000)));
        assert_eq!(edit("0.800000001", "abcde", "abcdx"), None);
        assert_eq!(edit("1", "abc", "abc"), Some(Score::ONE));
        assert_eq!(edit("0.6", "你妈妈喊", "你妈妈叫"), Some(Score::Share(750_000)));
        let (x, y) = (counts(&[(1, 1), (2, 3)]), counts(&[(2, 4), (5, 1), (7, 1)]));
        assert_eq!(comparer("jaccard:0.25").compare(&x, &y), Some(Score::Share(250_000)));
        assert_eq!(comparer("jaccard:0.26").compare(&x, &y), None);
        // 12 / sqrt(10·18) = 0.894427191
        assert_eq!(comparer("cosine:0.894427190").compare(&x, &y), Some(Score::Share(894_427)));
        assert_eq!(comparer("cosine:0.894427191").compare(&x, &y), None);
        // 4·3 / sqrt(9·16): exactly 1.
        assert_eq!(comparer("cosine:1").compare(&counts(&[(9, 3)]), &counts(&[(9, 4)])), Some(Score::ONE));
    }

    #[test]
    fn checks_are_read_and_shown() {
        for (text, shown) in
            [("edit:0.80", "edit:0.8"), ("cosine:1", "cosine:1"), ("jaccard:.5", "jaccard:0.5")]
        {
            assert_eq!(text.parse::<TextCheck>().unwrap().to_string(), shown);
        }
        for text in ["edit", "edit:", "edit:2", "dice:0.5", "", "edit:0.8:1"] {
            assert!(text.parse::<TextCheck>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn products_are_those_of_long_numbers(x: u128, y: u128, by: u64) {
            let big = |n: u128| BigUint::from(n);
            let whole = |(high, low): (u128, u128)| (big(high) << 128) + big(low);
            prop_assert_eq!(whole(product(x, y)), big(x) * big(y));
            let expected = big(x) * big(y >> 64) * big(by.into());
            prop_assert_eq!(whole(multiplied(product(x, y >> 64), by.into())), expected);
        }

        #[test]
        fn a_cosine_is_decided_as_long_numbers_decide_it(
            x in prop::collection::btree_map(0u64..12, 1u64..1 << 31, 1..9),
            y in prop::collection::btree_map(0u64..12, 1u64..1 << 31, 1..9),
            billionths in 1u32..=1_000_000_000,
        ) {
            let square = |of: &std::collections::BTreeMap<u64, u64>| {
                of.values().map(|count| BigUint::from(*count) * *count).sum::<BigUint>()
            };
            let dot: BigUint = x.iter().filter_map(|(f, n)| Some(BigUint::from(*n) * *y.get(f)?)).sum();
            let billion = BigUint::from(1_000_000_000u64);
            let tau = Tau::from_billionths(billionths).unwrap();
            let least = square(&x) * square(&y) * billionths * billionths;
            let reached = &dot * &dot * &billion * &billion >= least;
            let found = comparer(&format!("cosine:{tau}")).compare(
                &counts(&x.into_iter().collect::<Vec<_>>()),
                &counts(&y.into_iter().collect::<Vec<_>>()),
            );
            prop_assert_eq!(found.is_some(), reached);
        }
    }
}
