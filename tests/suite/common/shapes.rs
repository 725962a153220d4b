//! Collections whose shape makes a join slow where a bound is missed: generated from seeds, document by document, so that
//! any number of them can be written without holding them.
//!
//! `make bench-cliffs` runs each of them at two sizes and compares what was counted. A document's words are numbers, written
//! `w17`; with `--features words:1` they are its features.
// Each program that includes this file uses a part of it.
#![allow(dead_code)]

use super::rng::Rng;
use std::io::{BufWriter, Result, Write};
use std::path::Path;

/// The most that a join may have to look at, where nothing is missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Features of the input and pairs of the answer.
    Answer,
    /// The pairs of different sets that sizes alone do not rule out, besides: the sets' frequent features are in their
    /// prefixes, so that most of these pairs share one there without being in the answer. Every join by prefixes meets them.
    Lengths,
}

/// A shape.
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// What its documents are.
    pub about: &'static str,
    /// The thresholds to join it at, in hundredths.
    pub taus: &'static [u32],
    /// The smaller number of documents to join.
    pub documents: usize,
    /// What its counts are held against.
    pub bound: Bound,
    words: fn(&Place, &mut Rng, &mut Vec<u64>),
}

/// Which document of which collection.
struct Place {
    tau: u32,
    documents: usize,
    number: usize,
}

/// Documents and the features in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Documents.
    pub documents: usize,
    /// Different words of each document, in all.
    pub features: u64,
}

/// Every shape.
pub const SHAPES: &[Shape] = &[
    Shape {
        name: "template",
        about: "100 words each, so many of them in all documents that one more would make pairs",
        taus: &[5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 100],
        documents: 10_000,
        bound: Bound::Answer,
        words: |place, _, words| {
            let shared = most_shared_of_no_pair(100, place.tau);
            words.extend(0..shared);
            words.extend((shared..100).map(|word| own(place.number, word)));
        },
    },
    Shape {
        name: "template-60",
        about: "60 words in all documents and 40 that each has alone",
        taus: &[50],
        documents: 12_500,
        bound: Bound::Answer,
        words: |place, _, words| {
            words.extend(0..60);
            words.extend((0..40).map(|word| own(place.number, word)));
        },
    },
    Shape {
        name: "template-few-copies",
        about: "as template; each fiftieth document has a copy with one word changed",
        taus: &[30, 50, 80],
        documents: 10_000,
        bound: Bound::Answer,
        words: |place, _, words| {
            let shared = most_shared_of_no_pair(100, place.tau);
            let source = if place.number % 50 == 1 { place.number - 1 } else { place.number };
            words.extend(0..shared);
            words.extend((shared..99).map(|word| own(source, word)));
            words.push(own(place.number, 99));
        },
    },
    Shape {
        name: "template-words-of-two",
        about: "as template; each other word is in two documents",
        taus: &[5, 50, 80],
        documents: 10_000,
        bound: Bound::Answer,
        words: |place, _, words| {
            let shared = most_shared_of_no_pair(100, place.tau).saturating_sub(3);
            words.extend(0..shared);
            words.extend((shared..100).map(|word| of_two(place.number, word)));
        },
    },
    Shape {
        name: "one-in-all",
        about: "one word in all documents and 20 that each has alone",
        taus: &[5],
        documents: 20_000,
        bound: Bound::Answer,
        words: |place, _, words| {
            words.push(0);
            words.extend((1..21).map(|word| own(place.number, word)));
        },
    },
    Shape {
        name: "one-in-all-words-of-two",
        about: "one word in all documents and 20 that two have",
        taus: &[5],
        documents: 20_000,
        bound: Bound::Answer,
        words: |place, _, words| {
            words.push(0);
            words.extend((1..21).map(|word| of_two(place.number, word)));
        },
    },
    Shape {
        name: "one-in-all-sizes",
        about: "one word in all documents and 1 to 39 that each has alone",
        taus: &[5],
        documents: 2_000,
        bound: Bound::Answer,
        words: |place, _, words| {
            words.push(0);
            words.extend((0..1 + place.number as u64 % 39).map(|word| own(place.number, word)));
        },
    },
    Shape {
        name: "all-equal",
        about: "the same 50 words in all documents",
        taus: &[50],
        documents: 1_000,
        bound: Bound::Answer,
        words: |_, _, words| words.extend(0..50),
    },
    Shape {
        name: "near-equal",
        about: "97 words in all documents and 3 that each has alone",
        taus: &[50, 90],
        documents: 1_000,
        bound: Bound::Answer,
        words: |place, _, words| {
            words.extend(0..97);
            words.extend((97..100).map(|word| own(place.number, word)));
        },
    },
    Shape {
        name: "same-word",
        about: "one word, the same in all documents",
        taus: &[5, 50],
        documents: 1_000,
        bound: Bound::Answer,
        words: |_, _, words| words.push(0),
    },
    Shape {
        name: "one-word",
        about: "one word, which ten documents have",
        taus: &[5, 50],
        documents: 20_000,
        bound: Bound::Answer,
        words: |place, random, words| words.push(random.below(place.documents.div_ceil(10)) as u64),
    },
    Shape {
        name: "equal-sizes",
        about: "20 words each, of as many different ones as there are documents; each twentieth document has a copy",
        taus: &[5, 30, 50, 80],
        documents: 20_000,
        bound: Bound::Answer,
        words: |place, _, words| {
            let source = if place.number % 20 == 1 { place.number - 1 } else { place.number };
            let mut random = Rng::new(source as u64);
            words.extend((0..19).map(|_| random.below(place.documents) as u64));
            words.push(own(place.number, 0));
        },
    },
    Shape {
        name: "huge-among-small",
        about: "10 words, and 5,000 in each five-hundredth document",
        taus: &[5, 30, 50],
        documents: 10_000,
        bound: Bound::Answer,
        words: |place, random, words| {
            let count = if place.number % 500 == 7 { 5_000 } else { 10 };
            words.extend((0..count).map(|_| random.below(4 * place.documents) as u64));
        },
    },
    Shape {
        name: "ladder",
        about: "the first 8, 16, 32 … words of one text, half as many documents at each step, and a word of their own",
        taus: &[40],
        documents: 1_000,
        bound: Bound::Answer,
        words: |place, _, words| {
            words.extend(0..8 << (place.number + 1).trailing_zeros());
            words.push(own(place.number, 0));
        },
    },
    Shape {
        name: "zipf",
        about: "40 words of 5,000 with frequencies that fall as 1/rank: the first of them are in most documents",
        taus: &[30, 50, 80],
        documents: 5_000,
        bound: Bound::Lengths,
        words: |_, random, words| words.extend((0..40).map(|_| random.skewed(5_000) as u64)),
    },
    Shape {
        name: "hot-words",
        about: "5 of 50 frequent words and 20 that each document has alone",
        taus: &[5],
        documents: 5_000,
        bound: Bound::Lengths,
        words: |place, random, words| {
            words.extend((0..5).map(|_| random.below(50) as u64));
            words.extend((0..20).map(|word| own(place.number, word)));
        },
    },
    Shape {
        name: "dense",
        about: "20 of 100 words",
        taus: &[50, 70],
        documents: 5_000,
        bound: Bound::Lengths,
        words: |_, random, words| words.extend((0..20).map(|_| random.below(100) as u64)),
    },
    Shape {
        name: "dense-many",
        about: "40 of 1,000 words, more than a bitmap has bits for",
        taus: &[30, 50],
        documents: 5_000,
        bound: Bound::Lengths,
        words: |_, random, words| words.extend((0..40).map(|_| random.below(1_000) as u64)),
    },
    Shape {
        name: "dense-sizes",
        about: "20 to 219 of 2,000 words: enough of them that an index is cut to the size of a cache",
        taus: &[70],
        documents: 30_000,
        bound: Bound::Lengths,
        words: |place, random, words| {
            words.extend((0..20 + place.number % 200).map(|_| random.below(2_000) as u64));
        },
    },
];

/// Of sets of `size` words the most that two may share without being in the answer.
fn most_shared_of_no_pair(size: u64, tau: u32) -> u64 {
    let tau = u64::from(tau);
    (0..size).rev().find(|shared| shared * 100 < tau * (2 * size - shared)).unwrap_or(0)
}

/// A word of one document: no word that is drawn has so large a number.
fn own(number: usize, word: u64) -> u64 {
    1 << 40 | (number as u64) << 8 | word
}

/// A word that a second document has, a different one for each of twelve words.
fn of_two(number: usize, word: u64) -> u64 {
    let other = number ^ 1 << (word % 12);
    own(number.min(other), word)
}

impl Shape {
    /// The shape of this name.
    pub fn named(name: &str) -> Option<&'static Shape> {
        SHAPES.iter().find(|shape| shape.name == name)
    }

    /// Calls `see` with the words of each of so many documents, which ascend.
    pub fn sets(
        &self,
        tau: u32,
        documents: usize,
        mut see: impl FnMut(usize, &[u64]) -> Result<()>,
    ) -> Result<Size> {
        let mut size = Size { documents, features: 0 };
        let mut words = Vec::new();
        for number in 0..documents {
            words.clear();
            let mut random = Rng::new(number as u64);
            (self.words)(&Place { tau, documents, number }, &mut random, &mut words);
            words.sort_unstable();
            words.dedup();
            size.features += words.len() as u64;
            see(number, &words)?;
        }
        Ok(size)
    }

    /// Writes so many documents as JSON lines.
    pub fn write(&self, tau: u32, documents: usize, path: &Path) -> Result<Size> {
        let mut file = BufWriter::new(std::fs::File::create(path)?);
        let size = self.sets(tau, documents, |number, words| {
            write!(file, "{{\"id\":\"d{number}\",\"text\":\"")?;
            words.iter().try_for_each(|word| write!(file, "w{word} "))?;
            writeln!(file, "\"}}")
        })?;
        file.flush()?;
        Ok(size)
    }
}

/// A threshold in hundredths as options take it.
pub fn decimal(tau: u32) -> String {
    format!("{}.{:02}", tau / 100, tau % 100)
}
