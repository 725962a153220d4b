//! What the process holds, as the operating system counts it.

use std::fs;

/// The most memory that the process has held since its start, or since [`reset_peak`], in bytes; `None` where the
/// system does not say.
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Starts [`peak_memory`] anew from what is held now, where the system can do that. Whoever measures the process from
/// outside (`time -v`, `wait4`) sees the peak since then only, so what steps report must be read beside it.
pub fn reset_peak() {
    // Without it a step reports the largest step so far: nothing to stop a run for.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_seen_and_starts_anew() {
        let held = vec![1u8; 64 << 20];
        assert!(held.iter().all(|byte| *byte == 1));
        let before = peak_memory().unwrap();
        assert!(before > 64 << 20);
        drop(held);
        reset_peak();
        assert!(peak_memory().unwrap() + (32 << 20) < before, "other tests of this binary hold little");
    }
}
