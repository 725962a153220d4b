//! The one door to all kinds of features.

use std::ops::Range;

use super::folding::Folding;
use super::normalise::Normaliser;
use super::normalised::{NormalisedText, Space};
use super::repeats::Repeats;
use super::seen::Seen;
use super::segment::Words;
use super::spotsigs::Spotter;
use super::{FeatureKind, FeatureSpec, chars, jieba, lines, sentence_ends, sentences, words};

/// Turns texts into features. It holds buffers that are reused from text to text: make one for each thread.
#[derive(Debug)]
pub struct Extractor {
    pub(super) kind: Kind,
    pub(super) normaliser: Normaliser,
    pub(super) folding: Folding,
    pub(super) words: Words,
    pub(super) normalised: NormalisedText,
    seen: Seen,
    /// Where features count as often as they stand.
    pub(super) repeats: Option<Repeats>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Words(usize),
    Chars(usize),
    SpotSigs(Spotter),
    SentenceEnds(usize),
    Sentences(usize),
    Lines,
    Jieba,
}

impl Extractor {
    /// An extractor for one specification. A K of 0, which [`FeatureKind::parse`] refuses, is taken as 1.
    pub fn new(spec: FeatureSpec) -> Extractor {
        let normaliser = Normaliser { form: spec.form, case_fold: spec.case_fold, marks: spec.marks };
        let count = |k: u32| k.max(1) as usize;
        Extractor {
            kind: match spec.kind {
                FeatureKind::Words(k) => Kind::Words(count(k)),
                FeatureKind::Chars(k) => Kind::Chars(count(k)),
                FeatureKind::SpotSigs(settings) => Kind::SpotSigs(Spotter::new(&settings, normaliser)),
                FeatureKind::SentenceEnds(k) => Kind::SentenceEnds(count(k)),
                FeatureKind::Sentences(k) => Kind::Sentences(count(k)),
                FeatureKind::Lines => Kind::Lines,
                FeatureKind::Jieba => Kind::Jieba,
            },
            normaliser,
            folding: Folding::default(),
            words: Words::default(),
            normalised: NormalisedText::default(),
            seen: Seen::default(),
            repeats: spec.counts.then(Repeats::default),
        }
    }

    /// Shows every occurrence of a feature in text order, repeats included: the feature's text, normalised,
    /// and the byte range of `text` it was made from (whole characters, starts never decreasing).
    pub fn each(&mut self, text: &str, mut visit: impl FnMut(&str, Range<usize>)) {
        let Extractor { kind, normaliser, folding, words, normalised, .. } = self;
        let folded = folding.fold::<true>(text, *normaliser);
        let text = folded.text;
        let mut visit = |feature: &str, range| visit(feature, folded.original(range));
        match kind {
            Kind::Words(k) => {
                words.fill::<true>(text, *normaliser, &|_| true);
                words::each(words, *k, &mut visit);
            }
            Kind::SpotSigs(spotter) => {
                words.fill::<true>(text, *normaliser, &|words| spotter.is_open(words));
                spotter.each(words, |spot, first, last| {
                    visit(&String::from_utf8_lossy(spot), words.span(first, last));
                });
            }
            Kind::Chars(k) => {
                normalised.fill::<true>(text, 0, Space::One, *normaliser);
                chars::each(normalised, *k, &mut visit);
            }
            Kind::SentenceEnds(k) => sentence_ends::each(text, *k, normalised, *normaliser, &mut visit),
            Kind::Sentences(k) => sentences::each(text, *k, words, *normaliser, &mut visit),
            Kind::Lines => lines::each(text, normalised, *normaliser, &mut visit),
            Kind::Jieba => {
                normalised.fill::<true>(text, 0, Space::One, *normaliser);
                jieba::each(normalised, &mut visit);
            }
        }
    }

    /// As [`each`](Self::each), with the hash by which [`set`](Self::set) has each occurrence.
    pub fn each_hashed(&mut self, text: &str, mut visit: impl FnMut(u64, &str, Range<usize>)) {
        let mut repeats = self.repeats.take();
        repeats.iter_mut().for_each(Repeats::start);
        self.each(text, |feature, range| {
            let hash = crate::hash::feature(feature.as_bytes());
            visit(repeats.as_mut().map_or(hash, |repeats| repeats.next(hash)), feature, range);
        });
        self.repeats = repeats;
    }

    /// As [`each`](Self::each), without the place of a feature, which takes less time.
    pub fn texts(&mut self, text: &str, mut visit: impl FnMut(&str)) {
        let Extractor { kind, normaliser, folding, normalised, .. } = self;
        if let Kind::Jieba = kind {
            let text = folding.fold::<false>(text, *normaliser).text;
            normalised.fill::<false>(text, 0, Space::One, *normaliser);
            jieba::each_word(normalised.text(), |word, _| visit(word));
        } else {
            self.each(text, |feature, _| visit(feature));
        }
    }

    /// The text's set of features: [`crate::hash::feature`] of each feature's text, ascending, each once.
    /// `out` is emptied first.
    pub fn set(&mut self, text: &str, out: &mut Vec<u64>) {
        self.hashes(text, out);
        out.sort_unstable();
        out.dedup();
    }

    /// As [`set`](Self::set), in any order, for who sorts them with those of other documents.
    pub fn distinct(&mut self, text: &str, out: &mut Vec<u64>) {
        self.hashes(text, out);
        self.seen.retain_first(out);
    }

    /// The hash of the whole text ([`crate::hash::text`]) in the form in which features are cut from it, every run of
    /// white space as one blank and none at its ends; `None` where there is nothing else.
    pub fn text_hash(&mut self, text: &str) -> Option<u128> {
        let text = self.normalised(text);
        (!text.is_empty()).then(|| crate::hash::text(text.as_bytes()))
    }

    /// The whole text in the form in which features are cut from it, every run of white space as one blank and none at its ends.
    pub fn normalised(&mut self, text: &str) -> &str {
        let text = self.folding.fold::<false>(text, self.normaliser).text;
        self.normalised.fill::<false>(text, 0, Space::One, self.normaliser);
        self.normalised.text()
    }

    /// The hash of each feature's text, repeats included; of [repeats](super::repeats) that count those that they are. `out` is emptied
    /// first.
    pub fn hashes(&mut self, text: &str, out: &mut Vec<u64>) {
        self.hashes_of_texts(text, out);
        if let Some(repeats) = &mut self.repeats {
            repeats.start();
            out.iter_mut().for_each(|feature| *feature = repeats.next(*feature));
        }
    }

    /// The hash of each feature's text, repeats alike. `out` is emptied first.
    pub(super) fn hashes_of_texts(&mut self, text: &str, out: &mut Vec<u64>) {
        out.clear();
        let Extractor { kind, normaliser, folding, words, normalised, .. } = self;
        let text = folding.fold::<false>(text, *normaliser).text;
        match kind {
            Kind::Words(k) => {
                words.fill::<false>(text, *normaliser, &|_| true);
                words::hashes(words, *k, out);
            }
            Kind::SpotSigs(spotter) => {
                words.fill::<false>(text, *normaliser, &|words| spotter.is_open(words));
                spotter.each(words, |spot, _, _| out.push(crate::hash::feature(spot)));
            }
            Kind::Chars(k) => {
                normalised.fill::<false>(text, 0, Space::One, *normaliser);
                chars::hashes(normalised, *k, 0, out);
            }
            Kind::SentenceEnds(k) => sentence_ends::hashes(text, *k, normalised, *normaliser, out),
            Kind::Sentences(k) => sentences::hashes(text, *k, words, *normaliser, out),
            Kind::Lines => lines::hashes(text, normalised, *normaliser, out),
            Kind::Jieba => {
                normalised.fill::<false>(text, 0, Space::One, *normaliser);
                jieba::each_word(normalised.text(), |word, _| {
                    out.push(crate::hash::feature(word.as_bytes()))
                });
            }
        }
    }
}
