//! Which document of a cluster to keep, as a sort key.
//!
//! A rule orders the documents of a cluster from the best to the worst. On a cluster the order is made
//! by the engine's sort, which compares bytes, so [`key`] writes what the rule looks at in a form whose
//! ascending byte order is the order of the rule. Keys hold printable ASCII only. Documents that a rule
//! does not tell apart have equal keys, and the caller lets the smaller id win.
//!
//! | rule | best document | form of the key |
//! |---|---|---|
//! | `smallest-id` | any: the id decides | `-` |
//! | `first` | the one that stands first in the input | its place, as the caller writes it |
//! | `longest` | greatest length | `2^64 - 1 - length`, 16 hex digits |
//! | `newest` | latest date | see [`Date`] |
//! | `score` | greatest score, compared as numbers | sign, exponent, digits; see [`Score`] |

mod dates;
mod scores;

pub use dates::{Date, EXPECTED as EXPECTED_DATE};
pub use scores::Score;

crate::choice! {
    /// Which document of a cluster is the best.
    #[derive(Default)]
    pub enum KeepRule {
        /// The one with the smallest id, in byte order
        SmallestId = "smallest-id"; default,
        /// The one that stands first in the input: files in the order given, lines in that of their file
        First = "first",
        /// The longest, in characters of text
        Longest = "longest",
        /// The one with the latest date; without a date it is older than all
        Newest = "newest",
        /// The one with the highest score; without a score it is below all
        Highest = "score",
    }
}

/// What the rules look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meta<'a> {
    /// The length of the text.
    pub length: u64,
    /// The date, if there is one.
    pub date: Option<Date>,
    /// The score, if there is one.
    pub score: Option<&'a Score>,
    /// Where the document stands, in printable ASCII whose byte order is that of the input.
    pub place: &'a str,
}

/// The sort key of a document under a rule: in ascending byte order the best document comes first.
pub fn key(rule: KeepRule, meta: &Meta<'_>) -> String {
    match rule {
        KeepRule::SmallestId => "-".to_owned(),
        KeepRule::First => meta.place.to_owned(),
        KeepRule::Longest => format!("{:016x}", !meta.length),
        KeepRule::Newest => meta.date.map_or_else(|| LAST.to_owned(), Date::key),
        KeepRule::Highest => meta.score.map_or_else(|| LAST.to_owned(), Score::key),
    }
}

/// The key of a document without a date or a score, behind every other's: dates have hex digits, and scores begin with
/// `a`, `b` or `c`.
const LAST: &str = "~";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_longest_comes_first(a: u64, b: u64) {
            for (a, b) in [(a, b), (a % 3, b % 3)] {
                let longest = |length| key(KeepRule::Longest, &Meta { length, ..Meta::default() });
                prop_assert_eq!(longest(b).cmp(&longest(a)), a.cmp(&b));
            }
        }
    }

    #[test]
    fn the_forms_are_fixed() {
        let [high, low, zero] = ["81.25", "-0.5", "0e5"].map(|text| text.parse::<Score>().unwrap());
        let date = Some("2024".parse().unwrap());
        let meta = |score| Meta { length: 300, date, score, place: "00000001-000000000000002a" };
        assert_eq!(key(KeepRule::SmallestId, &meta(None)), "-");
        assert_eq!(key(KeepRule::First, &meta(None)), "00000001-000000000000002a");
        assert_eq!(key(KeepRule::Longest, &meta(None)), "fffffffffffffed3");
        assert_eq!(key(KeepRule::Newest, &meta(None)), "7fffffffffffffffe859efe8fe9affff");
        assert_eq!(key(KeepRule::Highest, &meta(Some(&high))), "a7ffffffffffffffd1874~");
        assert_eq!(key(KeepRule::Highest, &meta(Some(&low))), "c80000000000000005!");
        assert_eq!(key(KeepRule::Highest, &meta(Some(&zero))), "b");
    }

    #[test]
    fn a_document_without_what_the_rule_looks_at_comes_last() {
        let none = Meta::default();
        let (oldest, lowest) = ("0000-01-01T00:00+23:59".parse().unwrap(), "-9e999".parse().unwrap());
        let known = Meta { date: Some(oldest), score: Some(&lowest), ..none };
        for rule in [KeepRule::Newest, KeepRule::Highest] {
            assert!(key(rule, &none) > key(rule, &known), "{rule:?}");
        }
    }
}
