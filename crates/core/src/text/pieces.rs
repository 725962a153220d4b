//! A long text piece by piece, so that its words, characters and features are never in memory all at once.
//!
//! A text may be cut where no feature's words, characters or normal form look across, and what the next features need of
//! those before is carried over:
//!
//! | kind | cut | carried over |
//! |---|---|---|
//! | `words:K` | before white space of ASCII, `。` and `、`; before `，` after a Han character | K - 1 words |
//! | `spotsigs` | as words | words from the first open spot on, and as many as are looked back at |
//! | `chars:K` | before ASCII, ideographs, Hangul syllables, and the punctuation of both | K - 1 characters |
//! | `lines` | behind LF | nothing |
//! | `jieba` | as words | nothing |
//! | `sentence-ends:K` | behind `。` and `｡`, behind `.` before white space of ASCII | nothing |
//!
//! Cuts for words are boundaries of UAX 29 whatever stands around them: nothing joins a line feed, a space or an ideographic full
//! stop to what is before it but another space, and none of these is part of a word or of a run of Han characters.

use std::convert::Infallible;

use super::extractor::Kind;
use super::han::is_han;
use super::normalise::is_fixed;
use super::normalised::Space;
use super::repeats::Repeats;
use super::spotsigs::Spotter;
use super::{Extractor, chars, words};
use crate::hash::TextParts;

/// Bytes of a piece.
pub(super) const PIECE: usize = 64 << 10;

/// The part of a text that has not been taken yet.
#[derive(Debug, Default)]
struct Window {
    text: String,
    /// Up to here there is no cut in it.
    uncut: usize,
}

impl Window {
    /// Appends a part of the text, and calls `visit` with each piece that can be cut off.
    fn push<E>(
        &mut self,
        text: &str,
        cuts: Cuts,
        mut visit: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = text;
        while !rest.is_empty() {
            let wanted = self.uncut + PIECE / 2;
            let room = wanted.saturating_sub(self.text.len()).max(char::MAX.len_utf8());
            let (some, more) = rest.split_at(boundary_up_to(rest, room));
            self.text.push_str(some);
            rest = more;
            if self.text.len() >= wanted {
                let cut = last_cut(cuts, &self.text, self.uncut);
                if cut > 0 {
                    visit(&self.text[..cut])?;
                    self.text.drain(..cut);
                }
                self.uncut = self.text.len();
            }
        }
        Ok(())
    }
}

/// The features of a text that comes piece by piece.
#[derive(Debug)]
pub struct Pieces<'e> {
    extractor: &'e mut Extractor,
    window: Window,
    carried: Carried,
}

/// What is carried from piece to piece beside words and characters.
#[derive(Debug, Default)]
struct Carried {
    /// Words or characters at the front of the buffers that have been seen.
    seen: usize,
    features: Vec<u64>,
}

impl<'e> Pieces<'e> {
    /// A text begins.
    pub fn new(extractor: &'e mut Extractor) -> Self {
        extractor.words.drop_first(extractor.words.len());
        extractor.repeats.iter_mut().for_each(Repeats::start);
        extractor.normalised.fill::<false>("", 0, Space::One, extractor.normaliser);
        Self { extractor, window: Window::default(), carried: Carried::default() }
    }

    /// The next part of the text, of any length. `visit` gets the hashes of features, as [`Extractor::hashes`] has them.
    pub fn push<E>(&mut self, text: &str, visit: &mut impl FnMut(u64) -> Result<(), E>) -> Result<(), E> {
        let Self { extractor, window, carried } = self;
        window.push(text, extractor.kind.cuts(), |piece| carried.piece(extractor, piece, false, visit))
    }

    /// Bytes of text that are held.
    #[cfg(test)]
    pub(super) fn window(&self) -> usize {
        self.window.text.len()
    }

    /// The text ends.
    pub fn finish<E>(mut self, visit: &mut impl FnMut(u64) -> Result<(), E>) -> Result<(), E> {
        self.carried.piece(self.extractor, &self.window.text, true, visit)?;
        // What a long text needed is not kept for short ones.
        let Extractor { folding, words, normalised, repeats, .. } = self.extractor;
        (*folding, *words, *normalised) = Default::default();
        repeats.iter_mut().for_each(Repeats::release);
        Ok(())
    }
}

impl Extractor {
    /// The same as [`text_hash`](Self::text_hash) of a text that `parts` hands, part by part, to the function it is given.
    pub fn text_hash_of<T>(
        &mut self,
        parts: impl FnOnce(&mut dyn FnMut(&str) -> Result<(), Infallible>) -> T,
    ) -> Option<u128> {
        let (mut window, mut hash, mut last) = (Window::default(), TextParts::default(), 0);
        let Self { folding, normalised, normaliser, .. } = self;
        let normaliser = *normaliser;
        normalised.fill::<false>("", 0, Space::One, normaliser);
        let mut take = |piece: &str| {
            let piece = folding.fold::<false>(piece, normaliser).text;
            normalised.more::<false>(piece, 0, Space::One, normaliser);
            // The last character stays, so that white space that follows is not at the beginning.
            hash.add(&normalised.text().as_bytes()[last..]);
            normalised.keep_last(1);
            last = normalised.text().len();
            Ok(())
        };
        parts(&mut |part| window.push(part, Cuts::Characters, &mut take));
        let Ok(()) = take(&window.text);
        (self.folding, self.normalised) = Default::default();
        (last > 0).then(|| hash.hash())
    }
}

impl Carried {
    fn piece<E>(
        &mut self,
        extractor: &mut Extractor,
        text: &str,
        last: bool,
        visit: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let out = &mut self.features;
        let Extractor { kind, normaliser, folding, words, normalised, .. } = &mut *extractor;
        match kind {
            Kind::Words(k) => {
                let text = folding.fold::<false>(text, *normaliser).text;
                words.more::<false>(text, *normaliser, &|_| true);
                out.clear();
                words::hashes(words, *k, out);
                words.drop_first((words.len() + 1).saturating_sub(*k));
            }
            Kind::SpotSigs(spotter) => {
                let text = folding.fold::<false>(text, *normaliser).text;
                words.more::<false>(text, *normaliser, &|words| spotter.is_open(words));
                out.clear();
                let hashed = |spot: &[u8], _, _| out.push(crate::hash::feature(spot));
                let done = spotter.each_from(words, self.seen, last, hashed);
                let needless = Spotter::needless(words.len(), done);
                words.drop_first(needless);
                self.seen = done - needless;
            }
            Kind::Chars(k) => {
                let text = folding.fold::<false>(text, *normaliser).text;
                normalised.more::<false>(text, 0, Space::One, *normaliser);
                out.clear();
                chars::hashes(normalised, *k, self.seen, out);
                normalised.keep_last(*k - 1);
                // A single character is carried over although no feature needs it again.
                self.seen = usize::from(*k == 1 && !normalised.text().is_empty());
            }
            Kind::Lines | Kind::SentenceEnds(_) | Kind::Sentences(_) | Kind::Jieba => {
                extractor.hashes_of_texts(text, out)
            }
        }
        match &mut extractor.repeats {
            None => out.drain(..).try_for_each(visit),
            Some(repeats) => out.drain(..).try_for_each(|feature| visit(repeats.next(feature))),
        }
    }
}

/// Where a text may be cut.
#[derive(Clone, Copy, Debug)]
enum Cuts {
    Words,
    Characters,
    Lines,
    Sentences,
}

impl Kind {
    fn cuts(&self) -> Cuts {
        match self {
            Kind::Words(_) | Kind::SpotSigs(_) | Kind::Jieba => Cuts::Words,
            Kind::Chars(_) => Cuts::Characters,
            Kind::Lines => Cuts::Lines,
            Kind::SentenceEnds(_) | Kind::Sentences(_) => Cuts::Sentences,
        }
    }
}

/// The last place where a text may be cut; 0 when there is none. There is none up to `from`.
fn last_cut(cuts: Cuts, text: &str, from: usize) -> usize {
    let mut next = None;
    // The character before decides on some cuts, and a cut at the very end was none until more came.
    let from = boundary_up_to(text, from.saturating_sub(2 * char::MAX.len_utf8()));
    for (at, c) in text[from..].char_indices().rev().map(|(at, c)| (from + at, c)) {
        let cut = match cuts {
            Cuts::Words => match next {
                Some('，') if is_han(c) => at + c.len_utf8(),
                _ if is_space(c) || matches!(c, '、' | '。') => at,
                _ => 0,
            },
            Cuts::Characters if c.is_ascii() || is_fixed(c) => at,
            Cuts::Lines if c == '\n' => at + 1,
            Cuts::Sentences if matches!(c, '。' | '｡') || (c == '.' && next.is_some_and(is_space)) => {
                at + c.len_utf8()
            }
            _ => 0,
        };
        if cut > 0 {
            return cut;
        }
        next = Some(c);
    }
    0
}

/// The last place up to `at` that is between two characters, or at an end.
pub(super) fn boundary_up_to(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{FeatureKind, FeatureSpec};
    use proptest::prelude::*;

    /// The same set as of the whole text, cut wherever it may be.
    fn same(kind: &str, text: &str) -> Result<(), TestCaseError> {
        let kind = FeatureKind::parse(kind, &|_| Err("no files here".into())).unwrap();
        let mut extractor = Extractor::new(FeatureSpec::new(kind));
        let mut expected = Vec::new();
        extractor.set(text, &mut expected);
        let mut found = Vec::new();
        let mut visit = |feature| {
            found.push(feature);
            Ok::<(), Infallible>(())
        };
        let mut pieces = Pieces::new(&mut extractor);
        let cuts = pieces.extractor.kind.cuts();
        for c in text.chars() {
            let window = &mut pieces.window.text;
            window.push(c);
            let cut = last_cut(cuts, window, 0);
            if cut > 0 {
                pieces.carried.piece(pieces.extractor, &window[..cut], false, &mut visit).unwrap();
                window.drain(..cut);
            }
        }
        pieces.finish(&mut visit).unwrap();
        found.sort_unstable();
        found.dedup();
        prop_assert_eq!(found, expected, "{:?} of {:?}", extractor, text);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn pieces_have_the_features_of_the_whole(
            text in "([ a-c1'.,\\n\r\t]|(the|of| is|，|。|、|．|｡|3,0){1,3}|[\\PC]|[\u{300}-\u{302}\u{bc1}\u{345}\u{200d}\u{ad}\u{1100}-\u{1112}é用户拍照手机的是か\u{fe00}]|[\u{200b}-\u{200e}\u{feff}\u{202f}سلام\u{640}\u{64e}क\u{94d}👩❤１！ａ’ｶ\u{ff9e}\u{fefb}…]){0,60}",
            k in 1u32..4,
        ) {
            for kind in ["words", "chars", "sentence-ends", "sentences"] {
                same(&format!("{kind}:{k}"), &text)?;
            }
            for kind in ["lines", "spotsigs", "spotsigs:zh"] {
                same(kind, &text)?;
            }
        }

        /// Chains of two, over words that are none, and farther than is looked back at.
        #[test]
        fn spots_are_found_across_pieces(
            words in prop::collection::vec(prop::sample::select(vec!["a", "the", "of", "x", "y", "z 用户", "is"]), 0..40),
            many in 0usize..400,
        ) {
            let text = format!("{} {}{}", words.join(" "), "of ".repeat(many), words.join("\n"));
            same("spotsigs", &text)?;
        }
    }

    #[test]
    fn long_texts_are_cut_and_come_in_any_parts() {
        let line = "The ferry left at six, and nobody saw it go.\n用户拍照，手机。";
        let text: String = (0..5000).map(|n| format!("{line}{n}")).collect();
        for kind in ["words:5", "chars:9", "lines", "sentence-ends:10", "sentences:3", "spotsigs"] {
            let kind = FeatureKind::parse(kind, &|_| Err("no files here".into())).unwrap();
            let mut extractor = Extractor::new(FeatureSpec::new(kind));
            let mut expected = Vec::new();
            extractor.set(&text, &mut expected);
            for part in [1000, 70_000, usize::MAX] {
                let (mut found, mut rest) = (Vec::new(), text.as_str());
                let mut visit = |feature| {
                    found.push(feature);
                    Ok::<(), Infallible>(())
                };
                let mut pieces = Pieces::new(&mut extractor);
                while !rest.is_empty() {
                    let (some, more) = rest.split_at(boundary_up_to(rest, part));
                    pieces.push(some, &mut visit).unwrap();
                    assert!(pieces.window() <= PIECE, "{}", pieces.window());
                    rest = more;
                }
                pieces.finish(&mut visit).unwrap();
                found.sort_unstable();
                found.dedup();
                assert_eq!(found, expected);
                let half = boundary_up_to(&text, part.min(text.len() / 2));
                let whole = extractor.text_hash(&text);
                let parts = |visit: &mut dyn FnMut(&str) -> Result<(), Infallible>| {
                    [" \n", &text[..half], &text[half..], "\t "].map(visit)
                };
                assert!(whole.is_some() && extractor.text_hash_of(parts) == whole);
            }
            assert_eq!(extractor.text_hash_of(|visit| visit(" \n")), None);
        }
    }
}
