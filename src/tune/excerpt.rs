//! Where two texts part: a few words before the first difference and some after it, on one line each.

use std::borrow::Cow;
use std::collections::VecDeque;
use twinsplit_core::visible;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns of what both texts have before the difference.
const BEFORE: usize = 30;
/// Columns of an excerpt in all.
const COLUMNS: usize = 92;

/// Two excerpts that begin at the same place.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// The first text's.
    pub a: String,
    /// The other text's.
    pub b: String,
    /// The column, from 0, in which they begin to differ; `None` when they are equal but for white space.
    pub column: Option<usize>,
}

/// The excerpts of two texts around their first difference. Runs of white space count, and are shown, as one space.
pub fn difference(a: &str, b: &str) -> Difference {
    let same = pieces(a).zip(pieces(b)).take_while(|(x, y)| x == y).count();
    if pieces(a).nth(same).is_none() && pieces(b).nth(same).is_none() {
        let excerpt = cut(pieces(a), COLUMNS);
        return Difference { a: excerpt.clone(), b: excerpt, column: None };
    }
    let mut lead: VecDeque<Cow<'_, str>> = pieces(a).take(same).skip(same.saturating_sub(BEFORE)).collect();
    while lead.iter().map(|piece| piece.width()).sum::<usize>() > BEFORE {
        lead.pop_front();
    }
    let skipped = same - lead.len();
    let mark = if skipped > 0 { "…" } else { "" };
    let shown = |text| format!("{mark}{}", cut(pieces(text).skip(skipped), COLUMNS - mark.width()));
    let column = mark.width() + lead.iter().map(|piece| piece.width()).sum::<usize>();
    Difference { a: shown(a), b: shown(b), column: Some(column) }
}

/// What readers see as characters, the unseen ones written out, with one space for each run of white space between words.
fn pieces(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split_whitespace()
        .enumerate()
        .flat_map(|(at, word)| (at > 0).then_some(" ").into_iter().chain(word.graphemes(true)))
        .map(visible::line)
}

/// The first pieces that fit into so many columns.
fn cut<'t>(pieces: impl Iterator<Item = Cow<'t, str>>, columns: usize) -> String {
    let mut out = String::new();
    let mut width = 0;
    for piece in pieces {
        // One column is left for the mark.
        if width + piece.width() >= columns {
            out.push('…');
            break;
        }
        width += piece.width();
        out.push_str(&piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_excerpts_begin_before_the_difference() {
        let long = "word ".repeat(40);
        let found = difference(&format!("{long}\n\tone two"), &format!("{long}onto"));
        // 30 columns of what both have, and the mark.
        assert_eq!(found.a, "…rd word word word word word one two");
        assert_eq!((found.b.as_str(), found.column), ("…rd word word word word word onto", Some(31)));
    }

    #[test]
    fn columns_are_those_of_a_terminal() {
        let han = "汉字".repeat(30);
        let found = difference(&format!("{han}甲{han}"), &format!("{han}乙"));
        assert_eq!(found.column, Some(1 + BEFORE));
        assert_eq!(found.a.width(), COLUMNS);
        assert!(found.a.starts_with("…字汉") && found.a.ends_with('…'), "{}", found.a);
        // A letter and its accent stay together.
        let found = difference("cafe", "cafe\u{301}");
        assert_eq!((found.a.as_str(), found.column), ("cafe", Some(3)));
    }

    #[test]
    fn the_end_of_a_text_is_a_difference_and_white_space_is_none() {
        assert_eq!(difference("a b", "a b c").column, Some(3));
        assert_eq!(difference("", "x"), Difference { a: String::new(), b: "x".into(), column: Some(0) });
        assert_eq!(
            difference(" a\r\n b", "a b "),
            Difference { a: "a b".into(), b: "a b".into(), column: None }
        );
    }

    #[test]
    fn nothing_reaches_the_terminal_that_could_steer_it() {
        let found = difference("a\u{1b}[2Jb", "a\u{202e}c");
        assert_eq!((found.a.as_str(), found.b.as_str()), (r"a\x1b[2Jb", r"a\u{202e}c"));
        assert_eq!(difference("\u{feff}a", "a").a, r"\u{feff}a");
    }
}
