//! Normal forms: NFC or NFKC, and full default case folding (Unicode 3.13, UAX 15).
//!
//! Two texts that a reader cannot tell apart should have the same features, so text is brought to a normal form,
//! case-folded with the *full* default mapping (ß becomes ss) and brought to that form again, because folding
//! can take a composed letter apart (ΐ). What is not seen at all has left it before ([`super::folding`]). The rest of this module normalises a word, or a short piece, at
//! a time: the byte range of the original is then known without a table of offsets.

use caseless::Caseless;
use unicode_normalization::{
    IsNormalized, UnicodeNormalization, char::canonical_combining_class, is_nfc_quick,
};

use super::{Marks, NormalForm};

/// Which canonical forms are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Normaliser {
    /// The normal form of Unicode.
    pub form: NormalForm,
    /// Apply full default case folding.
    pub case_fold: bool,
    /// What becomes of the marks of Arabic and Hebrew ([`super::folding`]).
    pub marks: Marks,
}

impl Normaliser {
    /// Whether characters are composed with the marks behind them.
    #[inline]
    pub fn composes(self) -> bool {
        self.form != NormalForm::None
    }

    /// Appends the canonical form of `piece` to `out`.
    #[inline]
    pub fn push(self, piece: &str, out: &mut String) {
        let from = out.len();
        if piece.is_ascii() {
            out.push_str(piece);
            if self.case_fold {
                out[from..].make_ascii_lowercase();
            }
            return;
        }
        match (self.form, self.case_fold) {
            (NormalForm::Nfkc, true) => out.extend(piece.nfkc().default_case_fold().nfkc()),
            (NormalForm::Nfkc, false) => out.extend(piece.nfkc()),
            (NormalForm::Nfc, true) => out.extend(piece.nfc().default_case_fold().nfc()),
            (NormalForm::Nfc, false) => out.extend(piece.nfc()),
            (NormalForm::None, true) => out.extend(piece.chars().default_case_fold()),
            (NormalForm::None, false) => out.push_str(piece),
        }
    }
}

/// Whether text may be cut before `c` so that the two halves, normalised apart and joined, are the whole
/// normalised: `c` is a starter that no earlier character composes with (UAX 15, section 9).
#[inline]
pub(crate) fn boundary_before(c: char) -> bool {
    c < '\u{300}'
        || is_fixed(c)
        || (canonical_combining_class(c) == 0 && is_nfc_quick(std::iter::once(c)) == IsNormalized::Yes)
}

/// Characters of the large East Asian blocks that are starters, stay as they are when they stand alone and
/// are never the second half of a composition: ideographs, Hangul syllables. It only spares look-ups.
#[inline]
pub(crate) fn is_fixed(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{3029}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FULL: Normaliser = Normaliser { form: NormalForm::Nfc, case_fold: true, marks: Marks::Keep };

    fn full(s: &str) -> String {
        let mut out = String::new();
        FULL.push(s, &mut out);
        out
    }

    #[test]
    fn folding_is_full_and_ends_in_nfc() {
        assert_eq!(full("STRASSE"), full("Straße"));
        assert_eq!(full("ΌΔΟΣ"), full("όδος"));
        assert_eq!(full("İ"), "i\u{307}");
        assert_eq!(full("e\u{301}"), "\u{e9}");
        assert_eq!(full("\u{390}"), "\u{390}"); // folding decomposes it, the second NFC composes it
    }

    #[test]
    fn fixed_characters_are_what_they_claim() {
        for c in ('\0'..=char::MAX).filter(|&c| is_fixed(c)) {
            assert_eq!(full(c.encode_utf8(&mut [0; 4])), c.to_string());
            assert_eq!(canonical_combining_class(c), 0);
            assert_eq!(is_nfc_quick(std::iter::once(c)), IsNormalized::Yes, "{c}");
        }
    }

    proptest! {
        #[test]
        fn cutting_at_boundaries_changes_nothing(s in "[\\PCa-z\u{300}-\u{345}\u{1100}-\u{11ff}\u{3040}-\u{30ff}\u{f73}]{0,40}") {
            let mut pieces = String::new();
            let mut from = 0;
            for (i, c) in s.char_indices() {
                if boundary_before(c) {
                    FULL.push(&s[from..i], &mut pieces);
                    from = i;
                }
            }
            FULL.push(&s[from..], &mut pieces);
            prop_assert_eq!(pieces, full(&s));
        }
    }
}
