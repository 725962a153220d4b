//! What the operating system says about this process's memory.

use std::fs;

/// The most memory that this process has held at any time since its start, or since [`reset_peak`], in bytes; `None`
/// where the system does not tell.
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// Makes what the process holds now the peak, so that the next [`peak_memory`] is that of what follows. False where the
/// system does not allow it; the peak then goes on from the start of the process.
pub fn reset_peak() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_buffer_shows_in_the_peak() {
        let Some(before) = peak_memory() else {
            assert!(!cfg!(target_os = "linux"), "Linux tells of its memory in /proc/self/status");
            return;
        };
        let buffer = vec![1_u8; 512 << 20];
        let with = peak_memory().unwrap();
        assert!(with >= 512 << 20 && with >= before, "{with} bytes with a buffer of 512 MB");
        assert!(buffer.iter().all(|byte| *byte == 1));
        drop(buffer);
        assert_eq!(peak_memory().unwrap() >= 512 << 20, true);
        if reset_peak() {
            assert!(peak_memory().unwrap() < 512 << 20);
        }
    }
}
