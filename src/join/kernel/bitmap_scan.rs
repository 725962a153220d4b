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
    if x86::BODIES.iter().any(|body| (body.scan)(bitmaps, query, most, places)) {
        return;
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

    /// The code as it is compiled for some features of processors.
    pub struct Body {
        /// The features, all of them, with those that others imply.
        #[cfg(test)]
        pub features: &'static [&'static str],
        /// Scans where the processor has every one of them, and says whether it does.
        pub scan: fn(Bitmaps<'_>, &[u64], i32, &mut Vec<u32>) -> bool,
    }

    /// A body for the features given: one list, for which it is compiled and which is detected before it is called.
    macro_rules! body {
        ($($feature:tt)+) => {{
            #[target_feature($(enable = $feature),+)]
            fn compiled(bitmaps: Bitmaps<'_>, query: &[u64], most: i32, places: &mut Vec<u32>) {
                scan(bitmaps, query, most, places);
            }
            fn detected(bitmaps: Bitmaps<'_>, query: &[u64], most: i32, places: &mut Vec<u32>) -> bool {
                let has_all = $(is_x86_feature_detected!($feature))&&+;
                if has_all {
                    // SAFETY: the processor has every feature that `compiled` is compiled for: `has_all` asks for each of the
                    // same list.
                    unsafe { compiled(bitmaps, query, most, places) };
                }
                has_all
            }
            Body {
                #[cfg(test)]
                features: &[$($feature),+],
                scan: detected,
            }
        }};
    }

    /// From the processors that have most to those that have least.
    pub static BODIES: [Body; 2] = [
        body!(
            "sse3" "ssse3" "sse4.1" "sse4.2" "popcnt" "avx" "avx2" "fma" "f16c" "bmi1" "bmi2"
            "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vpopcntdq"
        ),
        body!("sse3" "ssse3" "sse4.1" "sse4.2" "popcnt" "avx" "avx2" "bmi1" "bmi2"),
    ];

    /// A body for a feature that servers lack.
    #[cfg(test)]
    pub static RARE: Body = body!("sse3" "kl");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Scan = fn(Bitmaps<'_>, &[u64], i32, &mut Vec<u32>) -> bool;

    /// Every body that this machine can run, with its features, the plain one first.
    fn bodies() -> Vec<(&'static [&'static str], Scan)> {
        let plain: Scan = |bitmaps, query, most, places| {
            scan(bitmaps, query, most, places);
            true
        };
        let mut bodies = vec![(&[][..], plain)];
        #[cfg(target_arch = "x86_64")]
        bodies.extend(x86::BODIES.iter().map(|body| (body.features, body.scan)));
        bodies.retain(|(_, scan)| scan(Bitmaps { columns: &[], allowed: &[] }, &[], 0, &mut Vec::new()));
        bodies
    }

    /// Those whose features the system lists, and no others, run; so on a machine with AVX-512 all three do.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[test]
    fn bodies_run_where_the_system_lists_each_of_their_features() {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let flags: Vec<&str> =
            info.lines().find(|line| line.starts_with("flags")).unwrap().split_whitespace().collect();
        let listed = |feature: &&str| {
            let name = match *feature {
                "sse3" => "pni".to_owned(),
                "avx512vpopcntdq" => "avx512_vpopcntdq".to_owned(),
                name => name.replace('.', "_"),
            };
            flags.contains(&&*name)
        };
        let expected: Vec<_> =
            x86::BODIES.iter().map(|body| body.features).filter(|all| all.iter().all(listed)).collect();
        let run: Vec<_> = bodies().into_iter().skip(1).map(|(features, _)| features).collect();
        assert_eq!(run, expected);
        println!("bodies run beside the plain one: {run:?}");
        let rare = (x86::RARE.scan)(Bitmaps { columns: &[], allowed: &[] }, &[], 0, &mut Vec::new());
        assert_eq!(rare, is_x86_feature_detected!("kl"), "one of two features is not enough");
    }

    proptest! {
        /// Each body gives the places that a comparison of one bitmap after the other does.
        #[test]
        fn every_body_finds_what_each_bitmap_says(
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
            for (features, scan) in bodies() {
                // What is there already stays.
                let mut places = vec![7];
                let runs = scan(Bitmaps { columns: &columns, allowed: &allowed }, &query, most, &mut places);
                prop_assert!(runs, "{:?}", features);
                prop_assert_eq!(&places[1..], &expected[..], "{:?}", features);
            }
            let mut places = Vec::new();
            near(Bitmaps { columns: &columns, allowed: &allowed }, &query, most, &mut places);
            prop_assert_eq!(places, expected);
        }
    }
}
