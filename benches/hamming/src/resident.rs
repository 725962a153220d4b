//! Memory of this process that is in use.

use std::io::{Error, ErrorKind, Result};

/// Bytes that are resident, of Linux's `/proc`.
pub fn bytes() -> Result<u64> {
    number("/proc/self/smaps_rollup", "Rss:")
}

/// The most bytes that were resident.
pub fn peak() -> Result<u64> {
    number("/proc/self/status", "VmHWM:")
}

fn number(path: &str, name: &str) -> Result<u64> {
    let text = std::fs::read_to_string(path)?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.map(|kilobytes| kilobytes << 10).ok_or_else(|| Error::from(ErrorKind::InvalidData))
}
