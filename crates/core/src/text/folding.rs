//! What a reader does not see, or cannot tell apart, leaves a text before words and characters are cut from it.
//!
//! | what | becomes | with |
//! |---|---|---|
//! | ignorable characters that are not seen ([`super::ignorable`]) | nothing | every normal form |
//! | the narrow no-break space, which UAX 29 takes for a part of words | a blank | always |
//! | compatibility forms: full-width letters, ligatures, presentation forms, … | their NFKD | NFKC |
//! | typographic apostrophes, quotation marks and hyphens | those of ASCII | NFKC |
//! | tatweel and vowel marks of Arabic, points and accents of Hebrew | nothing | unless marks are kept |
//!
//! Normal forms are composed later, of a word or a character at a time ([`super::normalise`]): a compatibility form that stands here as
//! its decomposition makes the same NFKC. Forms of punctuation that ends sentences stay until then, for they end them where that of ASCII does
//! not, and words end at both alike; white space stays, for it is one whatever its width.
//!
//! Most texts have no such character, and are not copied. What a character is has been found out once for each page of 256, as their
//! properties are slower to look up than words are to cut.

use std::ops::Range;
use std::sync::OnceLock;

use unicode_normalization::char::{decompose_canonical, decompose_compatible};

use super::han::ideographs_length;
use super::ignorable::{is_ignorable, is_seen};
use super::normalise::Normaliser;
use super::segment::first_non_ascii;
use super::{Marks, NormalForm};

/// Folds texts. Reused from text to text.
#[derive(Debug, Default)]
pub(crate) struct Folding {
    text: String,
    edits: Vec<Edit>,
}

/// A text as words and characters are cut from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folded<'t> {
    /// The text.
    pub text: &'t str,
    edits: &'t [Edit],
}

/// Some bytes that others took the place of.
#[derive(Debug)]
struct Edit {
    from: Range<usize>,
    to: Range<usize>,
}

impl Folding {
    /// The text folded; the way back is kept only when `SPANS`.
    pub fn fold<'t, const SPANS: bool>(&'t mut self, text: &'t str, normaliser: Normaliser) -> Folded<'t> {
        let mask = mask(normaliser);
        let Some(mut at) = first_folded(text, 0, mask) else {
            return Folded { text, edits: &[] };
        };
        let Self { text: out, edits } = self;
        out.clear();
        edits.clear();
        out.reserve(text.len());
        out.push_str(&text[..at]);
        while let Some(c) = text[at..].chars().next() {
            let start = out.len();
            let mut end = at + c.len_utf8();
            if mask & class(c) & IGNORABLE != 0 {
                end = text[at..].find(|c| !is_ignorable(c)).map_or(text.len(), |run| at + run);
                for c in text[at..end].chars() {
                    if is_seen(out, c, &text[end..]) {
                        out.push(c);
                    }
                }
            } else {
                folded(c, normaliser, out);
            }
            if SPANS {
                edits.push(Edit { from: at..end, to: start..out.len() });
            }
            at = first_folded(text, end, mask).unwrap_or(text.len());
            out.push_str(&text[end..at]);
        }
        Folded { text: out, edits }
    }
}

impl Folded<'_> {
    /// The bytes of the original that became these bytes of the text.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        let before = |is: &dyn Fn(&Edit) -> bool| {
            self.edits.partition_point(is).checked_sub(1).map(|at| &self.edits[at])
        };
        let start = match before(&|edit| edit.to.start <= range.start) {
            Some(edit) if range.start < edit.to.end => edit.from.start,
            Some(edit) => edit.from.end + (range.start - edit.to.end),
            None => range.start,
        };
        let end = match before(&|edit| edit.to.start < range.end) {
            Some(edit) => edit.from.end + range.end.saturating_sub(edit.to.end),
            None => range.end,
        };
        start..end
    }
}

/// A text on its own, as it stands in one that is folded.
pub(crate) fn fold(text: &str, normaliser: Normaliser) -> String {
    Folding::default().fold::<false>(text, normaliser).text.to_owned()
}

/// Appends what becomes of a character that is not ignorable.
fn folded(c: char, normaliser: Normaliser, out: &mut String) {
    let Normaliser { form, marks, .. } = normaliser;
    if c == NARROW_SPACE {
        return out.push(' ');
    }
    let mut push = |part: char| {
        let part = if form == NormalForm::Nfkc { quotation_mark(part).unwrap_or(part) } else { part };
        if marks == Marks::Keep || !is_optional_mark(part) {
            out.push(part);
        }
    };
    match form {
        NormalForm::Nfkc => match quotation_mark(c) {
            Some(mark) => push(mark),
            None => decompose_compatible(c, push),
        },
        NormalForm::Nfc => decompose_canonical(c, push),
        NormalForm::None => push(c),
    }
}

/// It joins words by UAX 29, in which it is ExtendNumLet.
const NARROW_SPACE: char = '\u{202f}';

/// What a character is: each of these folds it where [`mask`] has it.
const NARROW: u8 = 1;
const IGNORABLE: u8 = 2;
const COMPATIBLE: u8 = 4;
const MARK: u8 = 8;
/// A mark is a part of it.
const MARKED: u8 = 16;

/// Which characters are folded.
fn mask(normaliser: Normaliser) -> u8 {
    let form = match normaliser.form {
        NormalForm::None => 0,
        NormalForm::Nfc => IGNORABLE,
        NormalForm::Nfkc => IGNORABLE | COMPATIBLE,
    };
    let marks = match (normaliser.marks, normaliser.form) {
        (Marks::Keep, _) => 0,
        (Marks::Drop, NormalForm::None) => MARK,
        (Marks::Drop, _) => MARK | MARKED,
    };
    NARROW | form | marks
}

/// The first character at or behind `from` that is folded.
fn first_folded(text: &str, from: usize, mask: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(odd) = first_non_ascii(bytes, at) {
        at = odd + ideographs_length(&bytes[odd..]);
        for c in text[at..].chars().take_while(|c| !c.is_ascii()) {
            if class(c) & mask != 0 {
                return Some(at);
            }
            at += c.len_utf8();
        }
    }
    None
}

const PAGE: usize = 256;
/// By character of the first three planes what it is. A page is made when a text needs it.
static PAGES: [OnceLock<[u8; PAGE]>; 3 * PAGE] = [const { OnceLock::new() }; 3 * PAGE];

#[inline]
fn class(c: char) -> u8 {
    let (page, at) = (c as usize / PAGE, c as usize % PAGE);
    let Some(known) = PAGES.get(page) else {
        return class_of(c);
    };
    let make = || std::array::from_fn(|at| char::from_u32((page * PAGE + at) as u32).map_or(0, class_of));
    known.get_or_init(make)[at]
}

fn class_of(c: char) -> u8 {
    if is_ignorable(c) {
        return IGNORABLE;
    }
    let (mut canonical, mut compatible) = (Vec::new(), Vec::new());
    decompose_canonical(c, |part| canonical.push(part));
    decompose_compatible(c, |part| compatible.push(part));
    let ends = compatible.iter().all(|part| matches!(part, '.' | '!' | '?' | '。'));
    let stays = c.is_ascii() || c.is_whitespace() || ends || is_wide_punctuation(c);
    let is_compatible = !stays && (canonical != compatible || quotation_mark(c).is_some());
    let is_mark = is_optional_mark(c);
    let is_marked = !is_mark && canonical.iter().any(|part| is_optional_mark(*part));
    let bit = |is, bit| if is { bit } else { 0 };
    bit(c == NARROW_SPACE, NARROW)
        | bit(is_compatible, COMPATIBLE)
        | bit(is_mark, MARK)
        | bit(is_marked, MARKED)
}

/// Full-width and half-width punctuation at which words end as at that of ASCII: nearly every Chinese text has some, and need not be copied.
fn is_wide_punctuation(c: char) -> bool {
    matches!(c, '（' | '）' | '，' | '：' | '；' | '｡'..='､')
}

/// The apostrophe, quotation mark or hyphen of ASCII for which `c` stands in print.
fn quotation_mark(c: char) -> Option<char> {
    match c {
        '‘' | '’' | '‚' | '‛' | '‹' | '›' | 'ʼ' | 'ʻ' | '´' | '\u{5f3}' | '\u{1fbd}' | '\u{1ffd}' => {
            Some('\'')
        }
        '“' | '”' | '„' | '‟' | '«' | '»' | '〝' | '〞' | '〟' | '\u{5f4}' => Some('"'),
        '\u{2010}' | '\u{2011}' => Some('-'),
        _ => None,
    }
}

/// Whether `c` is one of the marks that Arabic and Hebrew are written with and without: the tatweel, vowel marks and signs of
/// recitation, points and accents. A hamza and a madda above or below are parts of letters.
pub(crate) fn is_optional_mark(c: char) -> bool {
    matches!(
        c,
        '\u{591}'..='\u{5bd}'
            | '\u{5bf}'
            | '\u{5c1}'..='\u{5c2}'
            | '\u{5c4}'..='\u{5c5}'
            | '\u{5c7}'
            | '\u{610}'..='\u{61a}'
            | '\u{640}'
            | '\u{64b}'..='\u{652}'
            | '\u{656}'..='\u{65f}'
            | '\u{670}'
            | '\u{6d6}'..='\u{6dc}'
            | '\u{6df}'..='\u{6e4}'
            | '\u{6e7}'..='\u{6e8}'
            | '\u{6ea}'..='\u{6ed}'
            | '\u{897}'..='\u{89f}'
            | '\u{8ca}'..='\u{8e1}'
            | '\u{8e3}'..='\u{8ff}'
            | '\u{fb1e}'
            | '\u{10efc}'..='\u{10eff}'
    )
}

#[cfg(test)]
mod tests;
