//! Weighted sets: features that count as often as they stand in a text.
//!
//! The multiset {a, a, b} becomes the set {a, second a, b}. Two texts then share as many features as the sum over all features of the
//! smaller count of the two, and a text has as many as the sum of its counts. So every measure of sets is that of multisets: Jaccard is
//! sum of minima over sum of maxima (the weighted Jaccard similarity of ioffe2010), containment the sum of minima over the smaller sum.
//! What compares sets, exactly or by signatures, needs to know nothing of counts.

use rustc_hash::FxHashMap;

/// Tells occurrences of one text apart. Reused from text to text.
#[derive(Debug, Default)]
pub struct Repeats {
    seen: FxHashMap<u64, u32>,
}

impl Repeats {
    /// Another text begins.
    pub fn start(&mut self) {
        self.seen.clear();
    }

    /// The feature that the next occurrence of this one is: itself at first.
    pub fn next(&mut self, feature: u64) -> u64 {
        let before = self.seen.entry(feature).or_default();
        let number = *before;
        *before += 1;
        repeat(feature, number)
    }

    /// What a long text needed is not kept for short ones.
    pub(super) fn release(&mut self) {
        self.seen = FxHashMap::default();
    }
}

/// The feature that an occurrence with so many before it is.
pub fn repeat(feature: u64, before: u32) -> u64 {
    match before {
        0 => feature,
        // Both are mixed, or the second `a` could be the first of a feature that differs in few bits.
        before => crate::hash::mix(feature ^ crate::hash::mix(before.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Extractor, FeatureKind, FeatureSpec, Pieces};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, HashSet};
    use std::convert::Infallible;

    fn counted(kind: &str) -> Extractor {
        let kind = FeatureKind::parse(kind, &|_| Err(String::new())).unwrap();
        Extractor::new(FeatureSpec { counts: true, ..FeatureSpec::new(kind) })
    }

    proptest! {
        /// Against counts of the features' texts, which each shows.
        #[test]
        fn sets_share_the_sum_of_the_smaller_counts(
            texts in prop::collection::vec("[ab用户。\\n ]{0,30}", 2),
            kind in prop::sample::select(vec!["words:1", "words:2", "chars:2", "lines", "jieba", "sentence-ends:2"]),
        ) {
            let mut extractor = counted(kind);
            let of = |extractor: &mut Extractor, text: &str| {
                let (mut set, mut counts) = (Vec::new(), BTreeMap::<String, u64>::new());
                extractor.set(text, &mut set);
                extractor.each(text, |feature, _| *counts.entry(feature.to_owned()).or_default() += 1);
                (set, counts)
            };
            let (a, counts_a) = of(&mut extractor, &texts[0]);
            let (b, counts_b) = of(&mut extractor, &texts[1]);
            prop_assert_eq!(a.len() as u64, counts_a.values().sum::<u64>());
            let shared = counts_a.iter().map(|(feature, count)| *count.min(counts_b.get(feature).unwrap_or(&0)));
            prop_assert_eq!(crate::join::overlap(&a, &b), shared.sum::<u64>());

            let mut distinct = Vec::new();
            extractor.distinct(&texts[0], &mut distinct);
            distinct.sort_unstable();
            prop_assert_eq!(&distinct, &a);

            let mut pieces = Pieces::new(&mut extractor);
            let mut by_pieces = Vec::new();
            let mut visit = |feature| { by_pieces.push(feature); Ok::<(), Infallible>(()) };
            for part in texts[0].split_inclusive(' ') {
                let Ok(()) = pieces.push(part, &mut visit);
            }
            let Ok(()) = pieces.finish(&mut visit);
            by_pieces.sort_unstable();
            prop_assert_eq!(&by_pieces, &a);
        }
    }

    #[test]
    fn repeats_of_many_features_differ() {
        let features = (0..2_000u64).chain((0..64).map(|bit| 1 << bit));
        let all =
            features.collect::<HashSet<_>>().into_iter().flat_map(|f| (0..50).map(move |n| repeat(f, n)));
        let all: Vec<u64> = all.collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }
}
