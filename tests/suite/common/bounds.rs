//! Bounds of memory, and what a run under one may hold.

/// Bytes that a process may hold under a bound in megabytes.
pub fn most(megabytes: u64) -> u64 {
    (megabytes << 20) * 115 / 100 + (40 << 20)
}

/// Bounds of .5, .4 and .33 of a peak, in megabytes.
pub fn parts(peak: u64) -> [u64; 3] {
    [50, 40, 33].map(|hundredths| ((peak * hundredths / 100) >> 20).max(1))
}

/// The megabytes that a refused command asks for.
#[track_caller]
pub fn asked_for(said: &str) -> u64 {
    let enough = said.split_once("at least ").and_then(|(_, enough)| {
        let enough = enough.trim_start_matches("--memory ");
        enough.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    });
    enough.unwrap_or_else(|| panic!("{said}"))
}
