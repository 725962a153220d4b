//! How much memory the features of a long line will need, from the line as it stands, before anything is made of it.
//!
//! [`Pieces`](super::Pieces) holds a text from one cut to the next. Where cuts are near one another that is nothing to speak
//! of, and a line that has none for megabytes must have room for all that is made of the stretch. In bytes for a byte of it:
//!
//! | | `words:K`, `spotsigs`, `sentences:K` | with Han, `jieba` | `chars:K` | `lines`, `sentence-ends:K` |
//! |---|---|---|---|---|
//! | the stretch, taken out of its line | 1 | 1 | 1 | 1 |
//! | a copy without what a reader does not see | 2 | 2 | 2 | 2 |
//! | its normal form; NFC makes at most 3 bytes of one | 2 | 2 | 3 | 3 |
//! | marks that NFC sorts: 8 bytes for 2, twice | | | 8 | 8 |
//! | ends of words, of characters: 8 bytes for 2 | 4 | 4 | 4 | |
//! | hashes: 8 bytes for 2 | 4 | 4 | 4 | |
//! | jieba's graph of words: 30 were measured on a run of 6 MB, the rest is to be safe | | 53 | | |
//!
//! Where the stretch may hold characters of which NFKC makes many, such as the signs that are written for words, all but the first
//! row is so many times as much: see `growth`.
//!
//! Cuts are looked for in the JSON as it stands. One that is missed costs room, and one that is none would exceed it, so only
//! what is a cut whatever stands around it counts: see `is_cut`.

use super::pieces::PIECE;
use super::{FeatureKind, FeatureSpec, NormalForm};

/// Lines up to this length are taken whole: what is made of them fits into what a thread has for itself.
pub const LONG: usize = 64 << 10;

impl FeatureSpec {
    /// Bytes of memory that the features of a document's line need beside the line, until they are counted.
    pub fn memory_of(&self, line: &[u8]) -> usize {
        let (stretch, han, growth) = longest_stretch(&self.kind, line);
        let growth = if self.form == NormalForm::Nfkc { growth } else { 1 };
        let factor = match self.kind {
            FeatureKind::Words(_) | FeatureKind::SpotSigs(_) | FeatureKind::Sentences(_) if han => 64,
            // jieba looks at runs of ASCII letters as at Han characters.
            FeatureKind::Jieba => 64,
            FeatureKind::Words(_) | FeatureKind::SpotSigs(_) => 12,
            // Beside its words a sentence has a list of them, 24 bytes for 2, in order.
            FeatureKind::Sentences(_) => 24,
            FeatureKind::Chars(_) => 21,
            FeatureKind::Lines | FeatureKind::SentenceEnds(_) => 13,
        };
        stretch.saturating_sub(PIECE) * (1 + factor * growth)
            + if self.counts { self.memory_of_counts(line) } else { 0 }
    }

    /// Bytes for the counts of all features of a line: 56 for each, while the table that holds them grows.
    fn memory_of_counts(&self, line: &[u8]) -> usize {
        let features = match self.kind {
            FeatureKind::Chars(_) | FeatureKind::Jieba => line.len(),
            // A word or a line is one character at least, and another one parts it from the next.
            _ => line.len() / 2,
        };
        features * 56
    }
}

/// How many bytes NFKC makes at most of one, as far as that is more than its share of the other rows.
fn growth(stretch: &[u8]) -> usize {
    let has = |some: &[&[u8]]| some.iter().any(|part| memchr::memmem::find(stretch, part).is_some());
    // U+FDFA is eighteen letters; signs of U+33xx are up to six kana, U+2057 and U+2A0C four signs, fractions three of 1 byte for 2.
    if has(&[b"\xef\xb7", b"\\ufd", b"\\uFD", b"\\uFd", b"\\ufD"]) {
        11
    } else if has(&[
        b"\xe3\x8c",
        b"\xe3\x8d",
        b"\xe3\x88",
        b"\xe2\x81",
        b"\xe2\xa8",
        b"\xc2\xbc",
        b"\xc2\xbd",
        b"\xc2\xbe",
        b"\\u33",
    ]) {
        6
    } else {
        1
    }
}

/// The most bytes between two cuts, if that is more than a piece, whether there may be Han characters among them, and how much they grow.
fn longest_stretch(kind: &FeatureKind, line: &[u8]) -> (usize, bool, usize) {
    let (mut from, mut longest) = (0, (0, false, 1));
    while line.len() - from > PIECE {
        // Nearly always a few bytes before the end of a piece.
        let last = (from + 1..=from + PIECE).rev().find(|at| is_cut(kind, line, *at));
        let next = last.or_else(|| (from + PIECE..line.len()).find(|at| is_cut(kind, line, *at)));
        let next = next.unwrap_or(line.len());
        let stretch = &line[from..next];
        if stretch.len() > PIECE {
            let is_han = |b: &u8| matches!(b, 0xe2..=0xe9 | 0xef..=0xf0);
            let han = stretch.iter().any(is_han) || memchr::memmem::find(stretch, b"\\u").is_some();
            longest = (longest.0.max(stretch.len()), longest.1 || han, longest.2.max(growth(stretch)));
        }
        from = next;
    }
    longest
}

/// Whether the text that a JSON string stands for may be cut at what stands at `at` of it.
fn is_cut(kind: &FeatureKind, line: &[u8], at: usize) -> bool {
    let here = &line[at..];
    // A backslash that may itself be behind one is not looked at.
    let escaped = |escapes: &[&[u8]]| {
        here[0] == b'\\' && line[at - 1] != b'\\' && escapes.iter().any(|escape| here.starts_with(escape))
    };
    let any = |texts: &[&str]| texts.iter().any(|text| here.starts_with(text.as_bytes()));
    match kind {
        FeatureKind::Words(_) | FeatureKind::SpotSigs(_) | FeatureKind::Jieba => {
            here[0] == b' '
                || any(&["。", "、"])
                || (any(&["，"]) && at > 2 && (0xe4..=0xe9).contains(&line[at - 3]))
                || escaped(&[b"\\n", b"\\t", b"\\r", b"\\f", b"\\u3002", b"\\u3001"])
        }
        // An ASCII character that belongs to no escape; ideographs and Hangul syllables.
        FeatureKind::Chars(_) => {
            (here[0].is_ascii() && !line[at.saturating_sub(5)..=at].contains(&b'\\'))
                || matches!(here[0], 0xe4..=0xe9 | 0xeb | 0xec)
                || escaped(&[b"\\u4", b"\\u5", b"\\u6", b"\\u7", b"\\u8", b"\\u9", b"\\n"])
        }
        FeatureKind::Lines => escaped(&[b"\\n"]),
        FeatureKind::SentenceEnds(_) | FeatureKind::Sentences(_) => {
            any(&["。", "｡", ". ", ".\\n"]) || escaped(&[b"\\u3002"])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::pieces::boundary_up_to;
    use crate::text::{Extractor, Pieces};
    use proptest::prelude::*;
    use std::convert::Infallible;

    const KINDS: [&str; 8] =
        ["words:2", "spotsigs", "chars:3", "chars:1", "lines", "sentence-ends:3", "sentences:3", "jieba"];

    fn spec(kind: &str) -> FeatureSpec {
        FeatureSpec::new(FeatureKind::parse(kind, &|_| Err("no files here".into())).unwrap())
    }

    #[test]
    fn texts_with_cuts_need_nothing_and_others_by_their_length() {
        let english = "The ferry left at six. Nobody saw it go.\n".repeat(5000);
        let chinese = "用户拍照，手机是用户的。我来到北京清华大学、\n".repeat(4000);
        for kind in KINDS {
            for text in [&english, &chinese] {
                let line = serde_json::to_string(text).unwrap();
                assert_eq!(spec(kind).memory_of(line.as_bytes()), 0, "{kind}");
            }
        }
        let one = format!("\"{}\"", "x".repeat(1 << 20));
        assert!((13 << 20) - spec("words:5").memory_of(one.as_bytes()) < 1 << 20);
        assert_eq!(spec("chars:5").memory_of(one.as_bytes()), 0);
        let han = format!("\"{}\"", "用".repeat(1 << 20));
        assert!(spec("words:5").memory_of(han.as_bytes()) > 180 << 20);
        assert_eq!(spec("chars:5").memory_of(han.as_bytes()), 0);
        // Eleven bytes of one.
        let phrase = format!("\"{}\"", "\u{fdfa}".repeat(1 << 16));
        assert!(spec("words:5").memory_of(phrase.as_bytes()) > 15 << 20);
        let escaped = format!("\"{}\"", "\\u7528".repeat(1 << 18));
        assert!(spec("words:5").memory_of(escaped.as_bytes()) > 90 << 20);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        /// A window never grows beyond the stretches that are found in the line.
        #[test]
        fn windows_stay_within_the_longest_stretch(
            parts in prop::collection::vec(
                ("([ -~]|\\n|用户|。|，|a，|\u{301}|\u{ac00}|é|\\. |\\\\n|\\\\u3002){1,9}", 1usize..30_000), 1..6),
            ascii: bool,
        ) {
            let text: String = parts.iter().map(|(part, times)| part.repeat(*times)).collect();
            let mut line = serde_json::to_string(&text).unwrap();
            if ascii {
                let units = |c: char| format!("\\u{:04x}", u32::from(c));
                line = line.chars().map(|c| if c.is_ascii() { c.to_string() } else { units(c) }).collect();
            }
            for kind in KINDS {
                let spec = spec(kind);
                let (stretch, ..) = longest_stretch(&spec.kind, line.as_bytes());
                let mut extractor = Extractor::new(spec);
                let mut pieces = Pieces::new(&mut extractor);
                let mut widest = 0;
                let mut rest = text.as_str();
                while !rest.is_empty() {
                    let (part, more) = rest.split_at(boundary_up_to(rest, 1000));
                    pieces.push(part, &mut |_| Ok::<(), Infallible>(())).unwrap();
                    widest = widest.max(pieces.window());
                    rest = more;
                }
                prop_assert!(widest <= stretch.max(PIECE) + PIECE, "{kind}: {widest} of {stretch}");
            }
        }
    }
}
