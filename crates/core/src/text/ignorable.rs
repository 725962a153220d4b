//! Characters that a reader does not see: the Unicode property Default_Ignorable_Code_Point (UAX 44), and where one of them is
//! seen all the same.
//!
//! Most of these never show: a soft hyphen inside a line, a byte order mark, marks of direction, variation selectors, fillers.
//! Three kinds do where they stand among the right characters, and are a part of the text there ([`is_seen`]):
//!
//! * a joiner (U+200D) makes one emoji of two;
//! * a joiner or a non-joiner (U+200C) chooses between the forms of letters: behind or before a virama in Indic scripts, and next to
//!   letters of scripts whose letters join, such as Arabic; what it would not change there it does not show either;
//! * tags behind a black flag make the flag of a region.

use unicode_normalization::char::{canonical_combining_class, decompose_compatible, is_combining_mark};
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
/// No letter has more marks (UAX 15, Stream-Safe Text Format).
const MARKS: usize = 31;
/// The canonical combining class of a virama.
const VIRAMA: u8 = 9;

/// Whether `c` is a Default_Ignorable_Code_Point.
pub fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a reader sees the ignorable character `c` between these two parts of a text, without the ignorable characters that are not
/// seen at the end of the first and all at the beginning of the second.
pub fn is_seen(before: &str, c: char, after: &str) -> bool {
    match c {
        NON_JOINER | JOINER => is_seen_joiner(before, c, after),
        // The tags of a region, behind a black flag.
        '\u{e0020}'..='\u{e007f}' => {
            matches!(before.chars().next_back(), Some('\u{1f3f4}' | '\u{e0020}'..='\u{e007e}'))
        }
        _ => false,
    }
}

fn is_seen_joiner(before: &str, joiner: char, after: &str) -> bool {
    let (last, next) = (before.chars().next_back(), after.chars().next());
    if matches!(last, Some(NON_JOINER | JOINER)) {
        // The first of several decides.
        return false;
    }
    let is_virama = |c: Option<char>| c.is_some_and(|c| canonical_combining_class(c) == VIRAMA);
    if is_virama(last) || joiner == JOINER && is_virama(next) {
        let same_script = next.map(|c| c.script()) == last.map(|c| c.script());
        return joiner == JOINER || same_script;
    }
    // The tatweel only lengthens what joins two letters.
    let is_base = |c: &char| !is_combining_mark(*c) && !matches!(c, '\u{640}' | '\u{1f3fb}'..='\u{1f3ff}');
    let base = before.chars().rev().take(MARKS).find(is_base);
    let next_base = after.chars().take(MARKS).find(|c| is_base(c) || is_ignorable(*c));
    if joiner == JOINER && base.is_some_and(is_pictograph) && next.is_some_and(is_pictograph) {
        return true;
    }
    let (left, right) = (base.is_some_and(joins_next), next_base.is_some_and(joins_previous));
    if joiner == JOINER { left != right } else { left && right }
}

/// Whether `c` is one of the pictographs that joiners join (Extended_Pictographic): no boundary of grapheme clusters is behind a joiner that
/// stands between two (UAX 29, GB11).
pub fn is_pictograph(c: char) -> bool {
    let joined: String = [c, JOINER, '\u{1f525}'].into_iter().collect();
    joined.graphemes(true).nth(1).is_none()
}

/// Whether the letter `c` is joined to the one that follows it.
fn joins_next(c: char) -> bool {
    let alone = matches!(
        plain(c),
        '\u{621}'..='\u{625}' | '\u{627}' | '\u{629}' | '\u{62f}'..='\u{632}' | '\u{648}' | '\u{671}'..='\u{677}'
            | '\u{688}'..='\u{699}' | '\u{6c0}' | '\u{6c3}'..='\u{6cb}' | '\u{6cd}' | '\u{6cf}' | '\u{6d2}'..='\u{6d3}'
            | '\u{6d5}' | '\u{6ee}'..='\u{6ef}'
    );
    !alone && joins(c)
}

/// Whether the letter `c` is joined to one before it.
fn joins_previous(c: char) -> bool {
    !matches!(plain(c), '\u{621}' | '\u{674}') && joins(c)
}

/// Whether `c` is a letter of a script whose letters join.
fn joins(c: char) -> bool {
    c.is_alphabetic()
        && matches!(
            c.script(),
            Script::Adlam
                | Script::Arabic
                | Script::Chorasmian
                | Script::Hanifi_Rohingya
                | Script::Mandaic
                | Script::Manichaean
                | Script::Mongolian
                | Script::Nko
                | Script::Old_Uyghur
                | Script::Phags_Pa
                | Script::Psalter_Pahlavi
                | Script::Sogdian
                | Script::Syriac
        )
}

/// The letter of which `c` is a form.
fn plain(c: char) -> char {
    let mut first = None;
    decompose_compatible(c, |part| {
        first.get_or_insert(part);
    });
    first.unwrap_or(c)
}
