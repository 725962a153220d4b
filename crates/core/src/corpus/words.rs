//! A text as words that can be moved about: the bytes of all, and where each ends.

use super::model::{Model, Walk};
use super::random::Random;
use std::ops::Range;

/// Words in one buffer, each with the space before it.
#[derive(Clone, Debug, Default)]
pub struct Words {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Words {
    /// Takes all words away.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All words, one after the other, as JSON writes them.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Word number `at`.
    pub fn word(&self, at: usize) -> &[u8] {
        &self.bytes[self.start(at)..self.ends[at] as usize]
    }

    fn start(&self, at: usize) -> usize {
        if at == 0 { 0 } else { self.ends[at - 1] as usize }
    }

    /// Appends some words of another text.
    pub fn extend(&mut self, other: &Words, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let from = other.start(range.start);
        let shift = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes[from..other.ends[range.end - 1] as usize]);
        self.ends.extend(other.ends[range].iter().map(|end| end - from as u32 + shift as u32));
    }

    /// Appends new words until `more` bytes have been added, one at least.
    pub fn walk_bytes(&mut self, model: &Model, random: &mut Random, lexicon: u64, more: usize) {
        let end = self.bytes.len() + more;
        let mut walk = Walk::default();
        loop {
            model.step(&mut walk, random, lexicon, &mut self.bytes);
            self.ends.push(self.bytes.len() as u32);
            if self.bytes.len() >= end {
                return;
            }
        }
    }

    /// Appends so many new words.
    pub fn walk_words(&mut self, model: &Model, random: &mut Random, lexicon: u64, count: usize) {
        // Not from the beginning of a document: what is put into a text is a part of one.
        let mut walk = Walk::anywhere(model, random);
        for _ in 0..count {
            model.step(&mut walk, random, lexicon, &mut self.bytes);
            self.ends.push(self.bytes.len() as u32);
        }
    }
}
