//! Why two texts are a pair, or are not: what they share, where it stands, and the arithmetic of the decision.

mod arithmetic;

use super::dedup::Dedup;
pub use arithmetic::{Counts, arithmetic};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use twinsplit_core::similarity::{Measure, SetSimilarity};
use twinsplit_core::text::Extractor;
use twinsplit_core::visible;
use twinsplit_engine::columnar::ColumnarOpts;
use twinsplit_io::error::{Error, Result};

/// A text and its different features.
#[derive(Clone, Debug, Default)]
pub struct TextFeatures {
    /// The text.
    pub text: String,
    /// By the hash of a feature its text, and where it stands first.
    pub features: BTreeMap<u64, (String, Range<usize>)>,
    /// The hashes in the order in which they stand in the text.
    pub order: Vec<u64>,
}

/// Features that two texts share and that follow one another in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// How many there are.
    pub features: u64,
    /// Their bytes in the first text.
    pub in_a: Range<usize>,
    /// Their bytes in the second text.
    pub in_b: Range<usize>,
}

impl TextFeatures {
    /// Those of a text.
    pub fn of(text: &str, extractor: &mut Extractor) -> Self {
        let mut features = BTreeMap::new();
        let mut order = Vec::new();
        extractor.each_hashed(text, |hash, feature, span| {
            features.entry(hash).or_insert_with(|| {
                order.push(hash);
                (feature.to_owned(), span)
            });
        });
        Self { text: text.to_owned(), features, order }
    }

    /// Leaves out the others.
    pub fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        self.order.retain(|feature| keep(*feature));
        self.features.retain(|feature, _| keep(*feature));
    }

    /// The features that another text has as well, in the order of this one.
    pub fn shared(&self, other: &Self) -> Vec<u64> {
        self.order.iter().copied().filter(|feature| other.features.contains_key(feature)).collect()
    }

    /// The passages that two texts share, those of most features first. Shared features that touch or overlap in this text and follow
    /// one another in the other one make a passage.
    pub fn passages(&self, other: &Self) -> Vec<Passage> {
        let mut passages: Vec<Passage> = Vec::new();
        for feature in self.shared(other) {
            let (in_a, in_b) = (self.features[&feature].1.clone(), other.features[&feature].1.clone());
            if let Some(last) = passages.last_mut() {
                let follows =
                    |span: &Range<usize>, last: &Range<usize>| (last.start..=last.end).contains(&span.start);
                if follows(&in_a, &last.in_a) && follows(&in_b, &last.in_b) {
                    last.features += 1;
                    last.in_a.end = last.in_a.end.max(in_a.end);
                    last.in_b.end = last.in_b.end.max(in_b.end);
                    continue;
                }
            }
            passages.push(Passage { features: 1, in_a, in_b });
        }
        passages.sort_by_key(|passage| (Reverse(passage.features), passage.in_a.start));
        passages
    }
}

/// A passage between brackets with some of the text around it, on one line.
pub fn in_context(text: &str, span: &Range<usize>) -> String {
    const AROUND: usize = 30;
    const INSIDE: usize = 160;
    let before: Vec<char> = text[..span.start].chars().rev().take(AROUND).collect();
    let before: String = before.into_iter().rev().collect();
    let inside = &text[span.clone()];
    let inside = if inside.chars().count() > INSIDE {
        let head: String = inside.chars().take(INSIDE / 2).collect();
        let tail: Vec<char> = inside.chars().rev().take(INSIDE / 2).collect();
        format!("{head} […] {}", tail.into_iter().rev().collect::<String>())
    } else {
        inside.to_owned()
    };
    let after: String = text[span.end..].chars().take(AROUND).collect();
    let line = format!("{before}[{inside}]{after}");
    visible::line(&line.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// Two texts held against each other: see [`Dedup::compare`].
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What they share, and their sizes.
    pub counts: Counts,
    /// What they were compared by.
    pub measure: Measure,
    /// Whether they are a pair.
    pub is_pair: bool,
    /// The passages that they share, those of most features first, each in its context in the first and in the second text.
    pub passages: Vec<(u64, String, String)>,
    /// The measure in words, its number for the two texts, and the comparison with the threshold, a line each.
    pub arithmetic: [String; 4],
}

impl Comparison {
    /// The similarity, by the formula of the [measure](Measure); 0 where nothing is shared.
    pub fn similarity(&self) -> f64 {
        let Counts { overlap, size_a, size_b } = self.counts;
        if overlap == 0 { 0.0 } else { super::share(self.measure, overlap, size_a, size_b) }
    }
}

impl Dedup {
    /// Holds two texts against each other, with the features, the similarity and the threshold of a run.
    ///
    /// ```
    /// let dedup = twinsplit::Dedup::new().features("words:2")?;
    /// let same = dedup.compare("The ferry left at six.", "Yes, the ferry left at six.")?;
    /// assert_eq!((same.counts.overlap, same.counts.size_a, same.counts.size_b, same.is_pair), (4, 4, 5, true));
    /// assert_eq!(same.passages[0].2, "Yes, [the ferry left at six].");
    /// assert_eq!(same.arithmetic[1], "Jaccard = |A∩B| / |A∪B| = 4 / (4 + 5 - 4) = 4 / 5 = 0.800000");
    /// # Ok::<(), twinsplit::Error>(())
    /// ```
    ///
    /// # Errors
    /// With an [IDF range](Self::idf), which a collection decides, and for the chain `simhash`, which compares fingerprints.
    pub fn compare(&self, a: &str, b: &str) -> Result<Comparison> {
        let plan = self.plan(&[])?;
        let opts: ColumnarOpts = plan.params.parse()?;
        if plan.family.compares_fingerprints() {
            return Err(Error::Usage(
                "fingerprints are compared by their distance, not by what they share".to_owned(),
            ));
        }
        if !opts.idf.idf.is_everything() {
            return Err(Error::Usage(
                "which features --idf leaves out is decided by a collection, not by two texts".to_owned(),
            ));
        }
        let mut extractor = Extractor::new(opts.features.spec()?);
        let [a, b] = [a, b].map(|text| TextFeatures::of(text, &mut extractor));
        let sizes = [&a, &b].map(|text| text.order.len() as u64);
        let counts = Counts { overlap: a.shared(&b).len() as u64, size_a: sizes[0], size_b: sizes[1] };
        let similarity = opts.similarity.0;
        let enough = sizes.iter().all(|size| opts.least.admits(*size));
        let shown = |passage: Passage| {
            (passage.features, in_context(&a.text, &passage.in_a), in_context(&b.text, &passage.in_b))
        };
        Ok(Comparison {
            counts,
            measure: similarity.measure(),
            is_pair: enough && similarity.accepts(counts.overlap, counts.size_a, counts.size_b),
            passages: a.passages(&b).into_iter().map(shown).collect(),
            arithmetic: arithmetic(similarity, counts),
        })
    }
}
