//! The words of runs of Han characters that were cut before.
//!
//! Copies repeat the runs of their original, and a language its phrases: of a generated crawl's characters two fifths stand in a run
//! that its thread has cut lately, of the revisions of a manual nine tenths, of news of many kinds a tenth. To look a run up takes a
//! small part of the time that the dictionary and the model take to cut it.

use super::han::{self, BYTES};
use crate::hash;
use std::ops::Range;

/// The longest run that is kept, in characters, each of which has a bit in [`Run::ends`].
const LONGEST: usize = 32;
/// How many runs are kept; about a megabyte.
const KEPT: usize = 1 << 14;

/// The characters of a run, in UTF-16, then zeros.
type Characters = [u8; LONGEST * 2];

/// A run, and the characters that end its words.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// All zeros while there is none.
    characters: Characters,
    ends: u32,
}

/// The runs that were cut lately. A run has one place, which it takes from the one that was there.
#[derive(Debug, Default)]
pub(super) struct RunCache {
    /// Empty until the first run.
    places: Vec<Run>,
}

impl RunCache {
    /// As [`han::each_word`].
    pub fn each_word(&mut self, run: &str, nfc: bool, mut visit: impl FnMut(&str, Range<usize>)) {
        let Some(characters) = characters(run) else {
            return han::each_word(run, nfc, visit);
        };
        if self.places.is_empty() {
            self.places = vec![Run { characters: [0; _], ends: 0 }; KEPT];
        }
        let at = hash::feature(&characters[..run.len() / BYTES * 2]) as usize % KEPT;
        let place = &mut self.places[at];
        if place.characters != characters {
            *place = Run { characters, ends: 0 };
            // Such a run has no mark to leave out, and every word of it is one: the words follow one another without a gap.
            han::each_word(run, nfc, |_, word| place.ends |= 1 << (word.end / BYTES - 1));
        }
        let (mut start, mut ends) = (0, place.ends);
        while ends != 0 {
            let end = (ends.trailing_zeros() as usize + 1) * BYTES;
            visit(&run[start..end], start..end);
            start = end;
            ends &= ends - 1;
        }
    }
}

/// The characters of a run that is kept: one that is not too long, and of the commonest ideographs alone.
#[inline]
fn characters(run: &str) -> Option<Characters> {
    let bytes = run.as_bytes();
    if bytes.len() > LONGEST * BYTES || han::ideographs_length(bytes) < bytes.len() {
        return None;
    }
    let mut characters = [0; _];
    for (unit, c) in characters.chunks_exact_mut(2).zip(bytes.chunks_exact(BYTES)) {
        let c = u16::from(c[0] & 0xf) << 12 | u16::from(c[1] & 0x3f) << 6 | u16::from(c[2] & 0x3f);
        unit.copy_from_slice(&c.to_le_bytes());
    }
    Some(characters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whether a run is new or not, and whatever else it consists of, its words are those of the dictionary.
        #[test]
        fn words_are_those_of_the_dictionary(
            runs in prop::collection::vec("[我来到北京清华大学的了一不在有\u{f90a}\u{fe00}々㐀]{1,40}", 1..20),
        ) {
            let mut kept = RunCache::default();
            for _ in 0..2 {
                for run in &runs {
                    let (mut found, mut expected) = (Vec::new(), Vec::new());
                    kept.each_word(run, true, |word, range| found.push((word.to_owned(), range)));
                    han::each_word(run, true, |word, range| expected.push((word.to_owned(), range)));
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }

    #[test]
    fn a_run_that_stands_where_another_stood_is_cut_anew() {
        let mut kept = RunCache::default();
        let words = |kept: &mut RunCache, run: &str| {
            let mut words = Vec::new();
            kept.each_word(run, true, |word, _| words.push(word.to_owned()));
            words
        };
        assert_eq!(words(&mut kept, "北京清华大学"), ["北京", "清华大学"]);
        // As if all runs had one place.
        let place = kept.places.iter().copied().find(|place| place.ends > 0);
        kept.places.iter_mut().for_each(|own| own.clone_from(place.as_ref().unwrap()));
        assert_eq!(words(&mut kept, "北京"), ["北京"]);
        assert_eq!(words(&mut kept, "我来到北京"), ["我", "来到", "北京"]);
        assert_eq!(words(&mut kept, "北京清华大学"), ["北京", "清华大学"]);
    }
}
