//! Units of a text: its paragraphs, lines or sentences, and the text without some of them.
//!
//! A text is units with something between them: `front unit between unit … unit back`. What stands in front, between and at the back says
//! nothing: line ends, blank lines, and white space behind sentences. So the parts put together again are the text, byte for byte.
//!
//! | unit | it ends | what stands between |
//! |---|---|---|
//! | paragraph | before a blank line, and at U+2029, which separates paragraphs | line ends and blank lines |
//! | line | at a line end: the newline functions of the Unicode Standard, section 5.8, as for [`lines`](super::lines) | the same |
//! | sentence | at a sentence boundary of UAX 29, of which each line end is one | white space behind it |
//!
//! A line is blank, and no unit, if nobody sees anything in it: white space and [ignorable](super::ignorable) characters.
//!
//! Where a unit is left out, what stood on both sides of it would be put together. One of the two stays: that with more line ends, so that a
//! paragraph does not grow into the next one ([`without`]).

use super::ignorable::is_ignorable;
use super::lines::is_newline;
use std::cmp::Reverse;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

crate::choice! {
    /// Parts into which texts are divided.
    pub enum Unit {
        /// What blank lines separate; of pages of HTML, each block
        Paragraph = "paragraph",
        /// Each line that is not blank
        Line = "line",
        /// Each sentence, as Unicode tells them (UAX 29); a line end ends one, too
        Sentence = "sentence",
    }
}

impl Unit {
    /// What one of them is called, and several are.
    pub fn nouns(self) -> [&'static str; 2] {
        match self {
            Unit::Paragraph => ["paragraph", "paragraphs"],
            Unit::Line => ["line", "lines"],
            Unit::Sentence => ["sentence", "sentences"],
        }
    }
}

/// The bytes of each unit of a text, in its order, in place of what is in `units`.
pub fn units(text: &str, unit: Unit, units: &mut Vec<Range<usize>>) {
    units.clear();
    match unit {
        Unit::Paragraph => {
            let mut ended = true;
            for (line, end) in lines(text) {
                if is_blank(&text[line.clone()]) {
                    ended = true;
                    continue;
                }
                match units.last_mut().filter(|_| !ended) {
                    Some(paragraph) => paragraph.end = line.end,
                    None => units.push(line),
                }
                ended = end == '\u{2029}';
            }
        }
        Unit::Line => {
            units.extend(lines(text).map(|(line, _)| line).filter(|line| !is_blank(&text[line.clone()])));
        }
        Unit::Sentence => {
            for (at, sentence) in text.split_sentence_bound_indices() {
                if !is_blank(sentence) {
                    units.push(at..at + sentence.trim_end().len());
                }
            }
        }
    }
}

/// Each line without its end, and the last character of that. CR LF is one end.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, char)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.find(is_newline).unwrap_or(rest.len());
        let end = match &rest[length..] {
            behind if behind.starts_with("\r\n") => "\r\n",
            behind => behind.get(..behind.chars().next().map_or(0, char::len_utf8)).unwrap_or_default(),
        };
        let line = start..start + length;
        start = line.end + end.len();
        Some((line, end.chars().next_back().unwrap_or('\n')))
    })
}

fn is_blank(line: &str) -> bool {
    line.chars().all(|c| c.is_whitespace() || is_ignorable(c))
}

/// The bytes of a text that stay when units are left out, those that touch as one range. `units` are all of its units, and `is_cut` says of the number
/// of one, from 0, whether it is left out. Nothing stays where no unit does.
pub fn without(text: &str, units: &[Range<usize>], is_cut: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut rest: Vec<Range<usize>> = Vec::new();
    let mut stays = |range: Range<usize>| match rest.last_mut().filter(|last| last.end == range.start) {
        Some(last) => last.end = range.end,
        None if range.is_empty() => {}
        None => rest.push(range),
    };
    let mut last = None;
    for (at, unit) in units.iter().enumerate().filter(|(at, _)| !is_cut(*at)) {
        match last {
            None => stays(0..units[0].start),
            Some(last) => {
                let between = (last..at).map(|at| units[at].end..units[at + 1].start);
                let strength = |between: &Range<usize>| {
                    (line_ends(&text[between.clone()]), between.len(), Reverse(between.start))
                };
                stays(between.max_by_key(strength).unwrap_or(unit.start..unit.start));
            }
        }
        stays(unit.clone());
        last = Some(at);
    }
    if let (Some(_), Some(unit)) = (last, units.last()) {
        stays(unit.end..text.len());
    }
    rest
}

/// How many lines end in a text; CR LF is one end.
fn line_ends(text: &str) -> usize {
    text.chars().filter(|c| is_newline(*c)).count() - text.matches("\r\n").count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Choice as _;
    use proptest::prelude::*;

    fn split(text: &str, unit: Unit) -> Vec<&str> {
        let mut found = Vec::new();
        units(text, unit, &mut found);
        found.into_iter().map(|unit| &text[unit]).collect()
    }

    #[test]
    fn paragraphs_end_before_blank_lines() {
        for (text, expected) in [
            ("", &[][..]),
            (" \n\t\n\u{200b}\n", &[]),
            ("a", &["a"]),
            ("\n\n  a\nb \n\n\nc\n", &["  a\nb ", "c"]),
            ("a\r\nb\r\n\r\nc\r\n \t\r\nd\r\n", &["a\r\nb", "c", "d"]),
            ("a\rb\r\rc", &["a\rb", "c"]),
            ("a\u{2029}b\u{2028}c\u{2028}\u{2028}d\u{85}e", &["a", "b\u{2028}c", "d\u{85}e"]),
            ("第一段。\n\u{3000}\n\u{3000}\u{3000}第二段。", &["第一段。", "\u{3000}\u{3000}第二段。"]),
        ] {
            assert_eq!(split(text, Unit::Paragraph), expected, "{text:?}");
        }
    }

    #[test]
    fn lines_and_sentences_end_where_unicode_says() {
        assert_eq!(split("a\r\n\r\n b\u{b}c\u{c}\u{feff}\nd", Unit::Line), ["a", " b", "c", "d"]);
        for (text, expected) in [
            ("It rained. Nobody came!  Why? ", &["It rained.", "Nobody came!", "Why?"][..]),
            (
                "Version 2.5 came, i.e. it was\nthere. No more",
                &["Version 2.5 came, i.e. it was", "there.", "No more"],
            ),
            // The standard knows no abbreviations.
            ("Mr. Smith came.", &["Mr.", "Smith came."]),
            ("下雨了。没人来！为什么？不知道", &["下雨了。", "没人来！", "为什么？", "不知道"]),
            ("他说：“下雨了。”然后走了……对。", &["他说：“下雨了。”", "然后走了……对。"]),
            ("（完。）\u{3000}下一句，还有；又：\r\n\r\n新行", &["（完。）", "下一句，还有；又：", "新行"]),
            ("用iPhone 4.5拍照。Really?是的｡好", &["用iPhone 4.5拍照。", "Really?", "是的｡", "好"]),
        ] {
            assert_eq!(split(text, Unit::Sentence), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_left_is_no_run_on_text() {
        for (text, unit, cut, expected) in [
            ("a\n\nb\n\nc\n", Unit::Paragraph, &[1][..], "a\n\nc\n"),
            ("a\n\nb\n\nc\n", Unit::Paragraph, &[2], "a\n\nb\n"),
            ("\na\n\n\nb\n", Unit::Paragraph, &[0], "\nb\n"),
            ("a\n\nb", Unit::Paragraph, &[0, 1], ""),
            ("a\nb\n\nc\nd", Unit::Line, &[1], "a\n\nc\nd"),
            ("a\nb\n\nc\nd", Unit::Line, &[2], "a\nb\n\nd"),
            ("a\nb\n\nc\nd", Unit::Line, &[1, 2], "a\n\nd"),
            ("  a\n    b\n  c", Unit::Line, &[1], "  a\n  c"),
            ("a\r\nb\n\nc", Unit::Line, &[1], "a\n\nc"),
            ("One. Two.  Three.", Unit::Sentence, &[1], "One.  Three."),
            ("One. Two.\n\nThree. Four.", Unit::Sentence, &[1], "One.\n\nThree. Four."),
            ("一。二！三？", Unit::Sentence, &[1], "一。三？"),
        ] {
            let mut found = Vec::new();
            units(text, unit, &mut found);
            let rest = without(text, &found, |at| cut.contains(&at));
            assert_eq!(
                rest.iter().map(|range| &text[range.clone()]).collect::<String>(),
                expected,
                "{text:?}"
            );
            assert!(rest.windows(2).all(|two| two[0].end < two[1].start));
        }
    }

    proptest! {
        /// Units and what stands between them are the text, and only units have something to see. What is left is the same for whoever
        /// takes one unit out at a time, as far as the units go.
        #[test]
        fn a_text_is_its_units_and_what_is_between(
            text in "([ab.!?。！？…”“\u{201d})1A \t\u{3000}\u{200b}]|\n|\n|\r|\u{2028}|\u{2029}|\u{85}|\\PC){0,60}", cuts: u64,
        ) {
            for unit in Unit::values() {
                let mut found = Vec::new();
                units(&text, unit, &mut found);
                let (mut whole, mut at) = (String::new(), 0);
                for unit in &found {
                    prop_assert!(is_blank(&text[at..unit.start]) && !is_blank(&text[unit.clone()]), "{:?}", found);
                    whole += &text[at..unit.start];
                    whole += &text[unit.clone()];
                    at = unit.end;
                }
                prop_assert!(is_blank(&text[at..]));
                prop_assert_eq!(whole + &text[at..], text.as_str());
                let all = without(&text, &found, |_| false);
                let whole = Some(0..text.len()).filter(|_| !found.is_empty());
                prop_assert_eq!(all, Vec::from_iter(whole));
                let is_cut = |at: usize| cuts >> (at % 64) & 1 == 1;
                let rest = without(&text, &found, is_cut);
                prop_assert!(rest.windows(2).all(|two| two[0].end < two[1].start));
                for (at, unit) in found.iter().enumerate() {
                    let stays = rest.iter().any(|rest| rest.start <= unit.start && unit.end <= rest.end);
                    let touches = rest.iter().any(|rest| rest.start < unit.end && unit.start < rest.end);
                    prop_assert!(stays != is_cut(at) && touches == stays);
                }
                if unit != Unit::Sentence {
                    // Boundaries of sentences depend on what stands around them; the others are there again.
                    let left: String = rest.iter().map(|range| &text[range.clone()]).collect();
                    let kept: Vec<_> = found.iter().enumerate().filter(|(at, _)| !is_cut(*at)).map(|(_, unit)| &text[unit.clone()]).collect();
                    prop_assert_eq!(split(&left, unit), kept);
                }
            }
        }
    }
}
