//! Finding the spots of a text.

use rustc_hash::FxHashMap;

use super::SpotSigs;
use crate::text::normalise::Normaliser;
use crate::text::segment::Words;

/// What the settings say of a word.
#[derive(Debug, Default)]
struct Role {
    distances: Vec<usize>,
    stop: bool,
}

/// SpotSigs settings made ready for look-up.
#[derive(Debug)]
pub(crate) struct Spotter {
    roles: FxHashMap<String, Role>,
    chain: usize,
    /// For each first byte, a bit for each length in bytes that an antecedent has (63 for 63 and more). Most
    /// words are neither antecedents nor like one, and are dismissed without hashing.
    likely: Box<[u64; 256]>,
    spot: String,
}

impl Spotter {
    /// Antecedents and stop words are brought to the canonical form in which words will come.
    pub fn new(settings: &SpotSigs, normaliser: Normaliser) -> Self {
        let normalised = |word: &str| {
            let mut out = String::new();
            normaliser.push(word, &mut out);
            out
        };
        let mut roles: FxHashMap<String, Role> = FxHashMap::default();
        let mut likely = Box::new([0; 256]);
        for antecedent in &settings.antecedents {
            let word = normalised(&antecedent.word);
            if let Some(bits) = first_byte(&word).and_then(|b| likely.get_mut(b)) {
                *bits |= length_bit(&word);
            }
            let distances = &mut roles.entry(word).or_default().distances;
            let distance = antecedent.distance.max(1) as usize;
            if !distances.contains(&distance) {
                distances.push(distance);
            }
        }
        for word in &settings.stop_words {
            roles.entry(normalised(word)).or_default().stop = true;
        }
        Spotter { roles, chain: settings.chain.max(1) as usize, likely, spot: String::new() }
    }

    /// Shows every spot in text order: its text, and its first and last word's numbers.
    pub fn each(&mut self, words: &Words, mut see: impl FnMut(&str, usize, usize)) {
        let is_stop = |i: usize| self.roles.get(words.text(i, i)).is_some_and(|role| role.stop);
        for first in 0..words.len() {
            let word = words.text(first, first);
            if first_byte(word).is_none_or(|b| self.likely[b] & length_bit(word) == 0) {
                continue;
            }
            let Some(role) = self.roles.get(word) else {
                continue;
            };
            for &distance in &role.distances {
                self.spot.clear();
                self.spot.push_str(word);
                let mut last = first;
                for _ in 0..self.chain {
                    let Some(next) = (last + distance..words.len()).find(|&i| !is_stop(i)) else {
                        break;
                    };
                    self.spot.push(':');
                    self.spot.push_str(words.text(next, next));
                    last = next;
                }
                if last > first {
                    see(&self.spot, first, last);
                }
            }
        }
    }
}

#[inline]
fn first_byte(word: &str) -> Option<usize> {
    word.as_bytes().first().map(|&b| usize::from(b))
}

#[inline]
fn length_bit(word: &str) -> u64 {
    1 << word.len().min(63)
}
