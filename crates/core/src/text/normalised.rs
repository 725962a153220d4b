//! Text as a row of normalised characters, each with the bytes it came from.
//!
//! Character features do not see words, so the whole text is normalised. It is cut into pieces that
//! normalise independently (one character and the marks after it), which is what keeps the way back to the
//! original: a character stands for the bytes of its piece.

use std::ops::Range;

use super::normalise::{Normaliser, boundary_before, is_fixed};
use super::segment::first_non_ascii;
use crate::mask::{self, BLOCK, padded, within};

/// What becomes of white space (the Unicode property White_Space).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Every run of it is one space; at the start and at the end it is dropped.
    One,
    /// It is dropped everywhere.
    Dropped,
}

/// A normalised text. Reused from text to text.
#[derive(Debug, Default)]
pub struct NormalisedText {
    buf: String,
    spans: Vec<Range<usize>>,
    pending: Option<Range<usize>>,
    offsets: Vec<usize>,
}

impl NormalisedText {
    /// The normalised text.
    pub fn text(&self) -> &str {
        &self.buf
    }

    /// The original bytes of the characters from `first` to `last`, both included; only after `fill::<true>`.
    pub fn span(&self, first: usize, last: usize) -> Range<usize> {
        self.spans[first].start..self.spans[last].end
    }

    /// The number of characters; only after `fill::<true>`.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// The text; where each of its characters begins, and its length at the end; the original bytes of each
    /// character (empty after `fill::<false>`).
    pub fn offsets(&mut self) -> (&str, &[usize], &[Range<usize>]) {
        self.offsets.clear();
        self.offsets.extend(self.buf.char_indices().map(|(i, _)| i));
        self.offsets.push(self.buf.len());
        (&self.buf, &self.offsets, &self.spans)
    }

    /// Normalises `text`, which begins at byte `base` of the whole. Spans are kept only when `SPANS`.
    pub fn fill<const SPANS: bool>(&mut self, text: &str, base: usize, space: Space, normaliser: Normaliser) {
        self.buf.clear();
        self.spans.clear();
        self.pending = None;
        self.more::<SPANS>(text, base, space, normaliser);
    }

    /// Appends `text`, which follows what was there. The cut between them is at a boundary of normalisation.
    pub fn more<const SPANS: bool>(&mut self, text: &str, base: usize, space: Space, normaliser: Normaliser) {
        let bytes = text.as_bytes();
        let next = |at: usize| first_non_ascii(bytes, at).unwrap_or(bytes.len());
        let (mut at, mut non_ascii) = (0, next(0));
        while at < bytes.len() {
            if non_ascii < at {
                non_ascii = next(at);
            }
            // A character that is not ASCII might be a mark that belongs to the one before.
            let ascii = if non_ascii < bytes.len() { non_ascii.saturating_sub(1) } else { non_ascii };
            let plain = bytes.get(at..ascii).map_or(0, |ascii| plain_length(ascii, space));
            if plain > 0 {
                self.flush::<SPANS>(space);
                self.piece::<SPANS>(&text[at..at + plain], base + at, normaliser);
                at += plain;
                continue;
            }
            let Some(c) = text[at..].chars().next() else {
                break;
            };
            let mut end = at + c.len_utf8();
            if c.is_whitespace() {
                let start = self.pending.as_ref().map_or(base + at, |p| p.start);
                self.pending = Some(start..base + end);
            } else {
                while let Some(d) = text[end..].chars().next() {
                    if !normaliser.composes() || boundary_before(d) || d.is_whitespace() {
                        break;
                    }
                    end += d.len_utf8();
                }
                self.flush::<SPANS>(space);
                if is_fixed(c) && end == at + c.len_utf8() {
                    self.buf.push(c);
                    if SPANS {
                        self.spans.push(base + at..base + end);
                    }
                } else {
                    self.piece::<SPANS>(&text[at..end], base + at, normaliser);
                }
            }
            at = end;
        }
    }

    /// Drops all but the last `characters`, at least one, so that what follows is no beginning. Spans are not kept then.
    pub fn keep_last(&mut self, characters: usize) {
        let last = self.buf.char_indices().rev().nth(characters.max(1) - 1);
        self.buf.drain(..last.map_or(0, |(at, _)| at));
        self.spans.clear();
    }

    /// Writes the space owed, unless nothing stands before it.
    #[inline]
    fn flush<const SPANS: bool>(&mut self, space: Space) {
        if let Some(span) = self.pending.take()
            && space == Space::One
            && !self.buf.is_empty()
        {
            self.buf.push(' ');
            if SPANS {
                self.spans.push(span);
            }
        }
    }

    /// Appends a piece: plain ASCII, byte for byte, or one character with its marks.
    #[inline]
    fn piece<const SPANS: bool>(&mut self, piece: &str, base: usize, normaliser: Normaliser) {
        let from = self.buf.len();
        normaliser.push(piece, &mut self.buf);
        if !SPANS {
        } else if piece.is_ascii() {
            self.spans.extend((base..base + piece.len()).map(|i| i..i + 1));
        } else {
            let span = base..base + piece.len();
            self.spans.extend(self.buf[from..].chars().map(|_| span.clone()));
        }
    }
}

/// How many bytes from the start of ASCII text stay where they are: what is no white space, and a blank between two such bytes where
/// blanks stay.
#[inline]
fn plain_length(ascii: &[u8], space: Space) -> usize {
    // Whether white space, or nothing, stands before a block.
    let mut before = 1;
    for base in (0..ascii.len()).step_by(BLOCK) {
        let block = padded(&ascii[base..]);
        let blanks = mask::of(&block, |x| within(x, b' ', b' '));
        let white = blanks | mask::of(&block, |x| within(x, b'\t', b'\r'));
        let second = white & (white << 1 | before);
        let moves = if space == Space::One { white & !blanks | second } else { white };
        if moves != 0 {
            // The first of two does not stay either.
            let at = moves.trailing_zeros() as usize;
            return (base + at).saturating_sub((second >> at & 1) as usize);
        }
        before = white >> (BLOCK - 1);
    }
    // What follows a blank at the end decides about it.
    ascii.len() - usize::from(ascii.ends_with(b" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Marks, NormalForm};
    use proptest::prelude::*;

    const FULL: Normaliser = Normaliser { form: NormalForm::Nfc, case_fold: true, marks: Marks::Keep };

    #[test]
    fn white_space_is_one_space_or_none() {
        let mut normalised = NormalisedText::default();
        let text = "  Ab\r\n\u{3000}C\u{301}d ";
        normalised.fill::<true>(text, 100, Space::One, FULL);
        assert_eq!(normalised.text(), "ab \u{107}d");
        assert_eq!(normalised.span(2, 2), 104..109);
        assert_eq!(normalised.span(3, 3), 109..112);
        assert_eq!(normalised.len(), 5);
        normalised.fill::<true>(text, 0, Space::Dropped, FULL);
        assert_eq!(normalised.text(), "ab\u{107}d");
    }

    proptest! {
        #[test]
        fn equals_normalising_the_whole(
            text in "([ a-cA-C\\n\t]|[\\PC]|[\u{300}-\u{302}\u{345}\u{1100}-\u{11ff}\u{3099}か\u{2001}]){0,60}",
            lines in "([a-cA-C]{0,40} {0,2}[\\n\t]?){0,20}",
        ) {
            let text = text + &lines;
            let mut whole = String::new();
            FULL.push(&text, &mut whole);
            let expected = whole.split_whitespace().collect::<Vec<_>>().join(" ");
            let mut normalised = NormalisedText::default();
            normalised.fill::<true>(&text, 0, Space::One, FULL);
            prop_assert_eq!(normalised.text(), &expected);
            prop_assert_eq!(normalised.len(), expected.chars().count());
            for (c, at) in expected.chars().zip(0..) {
                let from = &text[normalised.span(at, at)];
                let mut own = String::new();
                FULL.push(from, &mut own);
                let is_own = if c == ' ' { from.trim().is_empty() } else { own.contains(c) };
                prop_assert!(is_own, "{c:?} of {from:?}");
            }
            normalised.fill::<false>(&text, 0, Space::One, FULL);
            prop_assert_eq!(normalised.text(), &expected);
            normalised.fill::<false>(&text, 0, Space::Dropped, FULL);
            prop_assert_eq!(normalised.text(), whole.split_whitespace().collect::<String>());
        }
    }
}
