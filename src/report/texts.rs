//! The texts of the documents that are shown, and their features, made once more as the run made them.

use super::marks::{Mark, cover, encode, encode_stretches};
use super::output::Cluster;
use super::risk::Scripts;
use crate::documents::{Inputs, PairOpts, each_document, in_range};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};
use std::ops::Range;
use std::path::Path;
use twinsplit_core::similarity::Measure;
use twinsplit_core::text::Extractor;
use twinsplit_core::visible;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::record::cluster::Verdict;

/// A document's text.
struct Text {
    /// Its beginning.
    shown: String,
    /// Bytes of the whole text.
    bytes: usize,
    /// Each occurrence of a feature, in text order. A place behind the beginning that is shown is that one's end.
    marks: Vec<Mark>,
    /// The hash of the whole text, where the run compared it.
    hash: Option<u128>,
}

/// A feature of the documents that are shown.
#[derive(Clone, Copy, Default)]
struct Feature {
    /// How many of the documents have it.
    holders: u32,
    /// The last document that was found to have it, from 1.
    last: u32,
    /// Whether the IDF range lets it count.
    counts: bool,
    /// Its number in the page, from 1; 0 before it has one.
    number: u32,
}

/// The texts, in the order in which the page has its documents.
pub struct Texts {
    texts: Vec<Text>,
    features: Vec<Feature>,
    /// Features that have a number in the page.
    numbered: u32,
}

impl Texts {
    /// Finds the documents of the clusters in the inputs; of each text the first `most` bytes are shown.
    pub fn read(
        inputs: &Inputs,
        opts: &PairOpts,
        clusters: &[Cluster],
        most: usize,
        scripts: &mut Scripts,
    ) -> Result<Self> {
        let ids = clusters.iter().flat_map(|cluster| &cluster.members).map(|member| member.id.as_bytes());
        let places: FxHashMap<&[u8], usize> = ids.zip(0..).collect();
        let mut found: Vec<Option<Text>> = places.iter().map(|_| None).collect();
        let spec = opts.features.spec()?;
        let mut extractor = Extractor::new(spec.clone());
        // The range may leave out features of any document.
        let all = opts.texts.are_compared() && !opts.idf.idf.is_everything();
        let may_be_short = |size| all || opts.texts.compares(&opts.least, size);
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        let mut features: Vec<Feature> = Vec::new();
        each_document(inputs, &opts.document, "report", |document| {
            scripts.read(&document);
            let Some(&place) = places.get(document.id.as_slice()) else { return Ok(()) };
            let beginning = beginning(&document.text, most);
            let units = Units::of(beginning);
            let (mut marks, mut size) = (Vec::new(), 0);
            extractor.each_hashed(&document.text, |hash, _, span| {
                let next = features.len() as u32;
                let number = *numbers.entry(hash).or_insert(next);
                if number == next {
                    features.push(Feature::default());
                }
                let feature = &mut features[number as usize];
                if feature.last != place as u32 + 1 {
                    feature.last = place as u32 + 1;
                    feature.holders += 1;
                    size += 1;
                }
                let Range { start, end } = units.range(span);
                marks.push(Mark { number, start, end });
            });
            let hash = if may_be_short(size) { extractor.text_hash(&document.text) } else { None };
            let (shown, bytes) = (beginning.to_owned(), document.text.len());
            found[place] = Some(Text { shown, bytes, marks, hash });
            Ok(())
        })?;
        let kept = in_range(inputs, opts, &spec, "report", numbers.keys().copied())?;
        for (hash, number) in &numbers {
            features[*number as usize].counts = kept.contains(hash);
        }
        for text in found.iter_mut().flatten() {
            let counted: FxHashSet<u32> = text.marks.iter().map(|mark| mark.number).collect();
            let counted = counted.into_iter().filter(|number| features[*number as usize].counts).count();
            text.hash = text.hash.filter(|_| opts.texts.compares(&opts.least, counted as u64));
        }
        let texts = found.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| {
            Error::Usage(format!(
                "an id in clusters.tsv belongs to no document of the run's inputs{}",
                match inputs.elsewhere() {
                    "" => "; run again".to_owned(),
                    elsewhere => format!("{elsewhere}: --text 0 makes the page without texts"),
                }
            ))
        })?;
        Ok(Self { texts, features, numbered: 0 })
    }

    /// The features of a document that count, each once.
    fn set(&self, document: usize) -> FxHashSet<u32> {
        let all = self.texts[document].marks.iter().map(|mark| mark.number);
        all.filter(|number| self.features[*number as usize].counts).collect()
    }

    /// Compares every member with the kept document. Their similarity must be the one that the run found; otherwise
    /// a file that its options name is another one by now, and nothing that is marked could be trusted.
    pub fn check(&self, clusters: &[Cluster], measure: Measure, folder: &Path) -> Result<()> {
        let mut place = 0;
        for cluster in clusters {
            let (kept, kept_hash) = (self.set(place), self.texts[place].hash);
            for (member, at) in cluster.members.iter().zip(place..) {
                let set = self.set(at);
                let overlap = set.intersection(&kept).count() as u64;
                let counted = match self.texts[at].hash {
                    Some(hash) if kept_hash == Some(hash) => measure.score_of_equals(),
                    _ => Some(measure.score(overlap, kept.len() as u64, set.len() as u64)),
                };
                if member.verdict != Verdict::Keep && member.verdict != Verdict::Drop(counted) {
                    let counted = counted.map_or_else(|| "-".to_owned(), |score| score.to_string());
                    return Err(Error::File {
                        path: folder.join("clusters.tsv"),
                        problem: format!(
                            "has another similarity for {} than its features now give ({counted}); a file that \
                             --features or --idf-table names has changed since; restore it, or run again",
                            visible::line(&member.id)
                        ),
                    });
                }
            }
            place += cluster.members.len();
        }
        Ok(())
    }

    /// How many texts are cut.
    pub fn cut(&self) -> usize {
        self.texts.iter().filter(|text| text.shown.len() < text.bytes).count()
    }

    /// What the page holds of a document: its text, how many features it has, where features that count stand, and
    /// each place of those that another document of the page has too. Documents are asked for in their order.
    pub fn value(&mut self, document: usize) -> Value {
        let size = self.set(document).len();
        let Self { texts, features, numbered } = self;
        let text = &texts[document];
        let mut covered = Vec::new();
        let mut shared = Vec::new();
        for mark in &text.marks {
            let feature = &mut features[mark.number as usize];
            if !feature.counts {
                continue;
            }
            cover(&mut covered, mark.start, mark.end);
            if feature.holders > 1 {
                if feature.number == 0 {
                    *numbered += 1;
                    feature.number = *numbered;
                }
                shared.push(Mark { number: feature.number - 1, ..*mark });
            }
        }
        json!({
            "text": text.shown,
            "bytes": text.bytes,
            "shown": text.shown.len(),
            "features": size,
            "hash": text.hash.map(|hash| format!("{hash:032x}")),
            "covered": encode_stretches(&covered),
            "shared": encode(shared.into_iter()),
        })
    }
}

/// As much of a text as fits into `most` bytes in whole characters.
fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// Byte offsets of a text's beginning in UTF-16 code units.
struct Units(Vec<u32>);

impl Units {
    fn of(beginning: &str) -> Self {
        let mut units = Vec::with_capacity(beginning.len() + 1);
        let mut before = 0;
        for c in beginning.chars() {
            units.extend(std::iter::repeat_n(before, c.len_utf8()));
            before += c.len_utf16() as u32;
        }
        units.push(before);
        Self(units)
    }

    fn range(&self, span: Range<usize>) -> Range<u32> {
        let at = |byte: usize| self.0[byte.min(self.0.len() - 1)];
        at(span.start)..at(span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        let cut: Vec<_> = (0..8).map(|most| beginning("aé中b", most).len()).collect();
        assert_eq!(cut, [0, 1, 1, 3, 3, 3, 6, 7]);
        assert_eq!(beginning("aé中b", 8), "aé中b");
    }

    #[test]
    fn places_are_counted_in_utf16_and_end_where_the_text_is_cut() {
        let units = Units::of("aé中😀b");
        assert_eq!(units.range(0..1), 0..1);
        assert_eq!(units.range(1..6), 1..3);
        assert_eq!(units.range(6..10), 3..5);
        assert_eq!(units.range(10..40), 5..6);
        assert_eq!(units.range(40..60), 6..6);
    }
}
