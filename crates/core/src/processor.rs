//! Work that is compiled for more than every processor has: once for each list of features, of which the widest that the
//! processor has is taken when the work is done.
//!
//! x86-64 as compilers take it by default counts the bits of a word in twelve operations instead of one, and has vectors of 16
//! bytes only. The innermost loops of joins and sketches are [`Work`]; nothing else of them is unsafe or knows of processors.

/// What is compiled for several processors.
pub trait Work {
    /// What it gives.
    type Out;

    /// Does it. To be inlined, with all that it calls, or it is compiled for one processor only.
    fn run(self) -> Self::Out;
}

/// What code is compiled for, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instructions {
    /// What every processor has.
    #[cfg(test)]
    Plain,
    /// The instruction that counts the bits of a word.
    Popcnt,
    /// Vectors of 32 bytes.
    Avx2,
    /// Vectors of 64 bytes, whose words have their bits counted at once.
    Avx512,
}

/// Does work with the most that the processor has of these, up to `most`. The code is compiled once for each of them, so `most` is
/// the first that the work gains from.
#[inline(always)]
pub fn run<W: Work>(most: Instructions, work: W) -> W::Out {
    #[cfg(target_arch = "x86_64")]
    let work = match x86::run(most, work) {
        Ok(out) => return out,
        Err(work) => work,
    };
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use super::{Instructions, Work};

    /// Code for the features given: one list, for which work is compiled and which is detected before it is done. Work that the
    /// processor lacks one of them for comes back.
    macro_rules! body {
        ($name:ident: $($feature:tt)+) => {
            pub mod $name {
                use super::Work;

                /// The features, all of them, with those that others imply.
                #[cfg(test)]
                pub const FEATURES: &[&str] = &[$($feature),+];

                #[inline]
                pub fn run<W: Work>(work: W) -> Result<W::Out, W> {
                    #[target_feature($(enable = $feature),+)]
                    fn compiled<W: Work>(work: W) -> W::Out {
                        work.run()
                    }
                    let has_all = $(is_x86_feature_detected!($feature))&&+;
                    if has_all {
                        // SAFETY: the processor has every feature that `compiled` is compiled for: `has_all` asks for each
                        // of the same list.
                        Ok(unsafe { compiled(work) })
                    } else {
                        Err(work)
                    }
                }
            }
        };
    }

    body!(popcnt: "popcnt");
    body!(avx2: "sse3" "ssse3" "sse4.1" "sse4.2" "popcnt" "avx" "avx2" "bmi1" "bmi2");
    body!(
        avx512: "sse3" "ssse3" "sse4.1" "sse4.2" "popcnt" "avx" "avx2" "fma" "f16c" "bmi1" "bmi2"
        "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vpopcntdq"
    );
    // Features of which servers lack one.
    #[cfg(test)]
    body!(rare: "sse3" "kl");

    #[inline(always)]
    pub fn run<W: Work>(most: Instructions, mut work: W) -> Result<W::Out, W> {
        macro_rules! try_run {
            ($instructions:ident, $name:ident) => {
                if Instructions::$instructions <= most {
                    work = match $name::run(work) {
                        Ok(out) => return Ok(out),
                        Err(work) => work,
                    };
                }
            };
        }
        try_run!(Avx512, avx512);
        try_run!(Avx2, avx2);
        try_run!(Popcnt, popcnt);
        Err(work)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    struct Nothing;

    impl Work for Nothing {
        type Out = ();

        fn run(self) {}
    }

    /// Code for features that the system lists runs, and no other.
    #[cfg(target_os = "linux")]
    #[test]
    fn code_runs_where_the_system_lists_each_of_its_features() {
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
        let bodies = [
            (x86::popcnt::FEATURES, x86::popcnt::run(Nothing).is_ok()),
            (x86::avx2::FEATURES, x86::avx2::run(Nothing).is_ok()),
            (x86::avx512::FEATURES, x86::avx512::run(Nothing).is_ok()),
            (x86::rare::FEATURES, x86::rare::run(Nothing).is_ok()),
        ];
        for (features, runs) in bodies {
            assert_eq!(runs, features.iter().all(listed), "{features:?}");
        }
        println!("{:?}", bodies.map(|(features, runs)| (features.len(), runs)));
    }
}
