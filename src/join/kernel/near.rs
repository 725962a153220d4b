//! Which bitmaps of a list differ from a given one in few bits: the inner loop of a join of dense data.
//!
//! Bitmaps of several words stand in columns, all first words, then all second ones, so that the same word of
//! neighbours lies side by side and a vector instruction compares several. One body of code is compiled for what
//! processors have: the count of bits in a vector (AVX-512), in a word (POPCNT, with AVX2), or neither.

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
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512vpopcntdq") && is_x86_feature_detected!("avx512vl") {
            return x86::with_avx512(bitmaps, query, most, places);
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            return x86::with_avx2(bitmaps, query, most, places);
        }
    }
    scan(bitmaps, query, most, places);
}

#[inline(always)]
fn scan(Bitmaps { columns, allowed }: Bitmaps<'_>, query: &[u64], most: i32, places: &mut Vec<u32>) {
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

/// The same code for processors that have more than every x86-64.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use super::{Bitmaps, scan};

    pub fn with_avx512(bitmaps: Bitmaps<'_>, query: &[u64], most: i32, places: &mut Vec<u32>) {
        #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
        fn compiled(bitmaps: Bitmaps<'_>, query: &[u64], most: i32, places: &mut Vec<u32>) {
            scan(bitmaps, query, most, places);
        }
        // SAFETY: called only where these features were detected.
        unsafe { compiled(bitmaps, query, most, places) }
    }

    pub fn with_avx2(bitmaps: Bitmaps<'_>, query: &[u64], most: i32, places: &mut Vec<u32>) {
        #[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
        fn compiled(bitmaps: Bitmaps<'_>, query: &[u64], most: i32, places: &mut Vec<u32>) {
            scan(bitmaps, query, most, places);
        }
        // SAFETY: called only where these features were detected.
        unsafe { compiled(bitmaps, query, most, places) }
    }
}
