//! The nearest of some names to one that was mistyped.

use crate::similarity::edit::EditDistance;

/// Characters by which a mistyped name differs from what was meant, at most.
const MOST: usize = 3;

/// The name that differs in the fewest characters, the case of letters not counted: in one of three at most, and in three in all. Two
/// neighbours that have changed places are one. Of several names it is the first in byte order.
///
/// ```
/// use twinsplit_core::nearest::nearest;
/// assert_eq!(nearest("word", ["lines", "words"]), Some("words"));
/// assert_eq!(nearest("pages", ["lines", "words"]), None);
/// ```
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = written.to_lowercase();
    let most = (written.chars().count() / 3).clamp(1, MOST);
    let mut distance = EditDistance::default();
    let near = |name: &'a str| {
        let other = name.to_lowercase();
        let far = if are_swapped(&written, &other) { 1 } else { distance.within(&written, &other, most)? };
        Some((far, name))
    };
    names.into_iter().filter_map(near).min().map(|(_, name)| name)
}

/// Whether two neighbours of one text have changed places in the other.
fn are_swapped(x: &str, y: &str) -> bool {
    let other = |(a, b): (char, char)| (a != b).then_some((a, b));
    let is_long = x.chars().count() == y.chars().count();
    let places = x.chars().zip(y.chars()).enumerate();
    let different: Vec<_> = places.filter_map(|(at, pair)| Some((at, other(pair)?))).take(3).collect();
    matches!(different[..], [(at, (a, b)), (next, (c, d))] if is_long && next == at + 1 && (a, b) == (d, c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_differs_in_one_character() {
        let names = ["tau", "text", "id", "features", "min-features"];
        for (written, near) in [
            ("taux", Some("tau")),
            ("txt", Some("text")),
            ("tua", Some("tau")),
            ("di", Some("id")),
            ("aut", None),
            ("Features", Some("features")),
            ("feetrues", None),
            ("min-feetures", Some("min-features")),
            ("mn-feature", Some("min-features")),
            ("url", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, names), near, "{written}");
        }
        assert_eq!(nearest("ab", ["b", "a"]), Some("a"));
    }
}
