//! Which bitmaps of a list differ from a given one in few bits: the inner loop of a join of dense data.
//!
//! Bitmaps of several words stand in columns, all first words, then all second ones, so that the same word of
//! neighbours lies side by side and a vector instruction compares several.

use crate::processor::{self, Instructions, Work};

/// Places that are looked at together.
const CHUNK: usize = 32;

/// Neighbouring bitmaps, and what each of them is allowed beside the query's own allowance.
#[derive(Clone, Copy)]
pub(super) struct Bitmaps<'a> {
    /// The columns: as many as a bitmap has words, each with a word of every bitmap.
    pub columns: &'a [&'a [u64]],
    /// By bitmap.
    pub allowed: &'a [i32],
}

/// Appends the places of the bitmaps that differ from `query` in at most `most` bits and what is allowed them.
pub(super) fn near(bitmaps: Bitmaps<'_>, query: &[u64], most: i32, places: &mut Vec<u32>) {
    processor::run(Instructions::Avx512, Scan { bitmaps, query, most, places });
}

/// What [`near`] does.
struct Scan<'a> {
    bitmaps: Bitmaps<'a>,
    query: &'a [u64],
    most: i32,
    places: &'a mut Vec<u32>,
}

impl Work for Scan<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let Self { bitmaps: Bitmaps { columns, allowed }, query, most, places } = self;
        let (whole, rest) = allowed.as_chunks::<CHUNK>();
        let mut first = 0;
        for allowed in whole {
            let mut differ = [0_u64; CHUNK];
            for (column, word) in columns.iter().zip(query) {
                let Some(own) = column[first..].first_chunk::<CHUNK>() else { return };
                for place in 0..CHUNK {
                    differ[place] += u64::from((own[place] ^ word).count_ones());
                }
            }
            let mut near = 0_u32;
            for place in 0..CHUNK {
                near |= u32::from(differ[place] as i32 <= most + allowed[place]) << place;
            }
            while near != 0 {
                places.push(first as u32 + near.trailing_zeros());
                near &= near - 1;
            }
            first += CHUNK;
        }
        for (place, allowed) in (first..).zip(rest) {
            let words = columns.iter().zip(query);
            let differ: u32 = words.map(|(column, word)| (column[place] ^ word).count_ones()).sum();
            if differ as i32 <= most + allowed {
                places.push(place as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each set of instructions gives the places that a comparison of one bitmap after the other does.
        #[test]
        fn every_instruction_set_finds_what_each_bitmap_says(
            rows in prop::collection::vec((prop::collection::vec(any::<u64>(), 8), -40i32..40), 0..150),
            query in prop::collection::vec(any::<u64>(), 8), words in 1usize..=8, most in -20i32..400, sparse: bool,
        ) {
            // Random words differ in half of their bits; fewer bits make more of them near.
            let thin = |word: u64| if sparse { word & word >> 7 & word << 5 } else { word };
            let columns: Vec<Vec<u64>> =
                (0..words).map(|at| rows.iter().map(|(row, _)| thin(row[at])).collect()).collect();
            let columns: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
            let allowed: Vec<i32> = rows.iter().map(|(_, allowed)| *allowed).collect();
            let query: Vec<u64> = query[..words].iter().map(|word| thin(*word)).collect();
            let differ = |place: usize| -> i32 {
                (0..words).map(|at| (columns[at][place] ^ query[at]).count_ones() as i32).sum()
            };
            let expected: Vec<u32> =
                (0..rows.len()).filter(|at| differ(*at) <= most + allowed[*at]).map(|at| at as u32).collect();
            let bitmaps = Bitmaps { columns: &columns, allowed: &allowed };
            for instructions in [Instructions::Plain, Instructions::Popcnt, Instructions::Avx2, Instructions::Avx512] {
                // What is there already stays.
                let mut places = vec![7];
                processor::run(instructions, Scan { bitmaps, query: &query, most, places: &mut places });
                prop_assert_eq!(&places[1..], &expected[..], "{:?}", instructions);
            }
            let mut places = Vec::new();
            near(bitmaps, &query, most, &mut places);
            prop_assert_eq!(places, expected);
        }
    }
}
