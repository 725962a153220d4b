//! What the process holds, as the operating system counts it, and what the local engine lets its parts hold.

use super::params::Params;
use crate::error::{Error, Result};
use crate::stage::Entry;
use crate::stages::number_by_default;
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

/// What the program itself takes: code, the dictionary of Chinese words, buffers of files.
const PROGRAM: usize = 56 << 20;
/// What the allocator keeps of the steps before, in a process that runs one after another: 4 to 9 MB were seen, the more
/// the busier the machine.
const KEPT: usize = 16 << 20;
/// The least that a run works in.
const LEAST: usize = PROGRAM + KEPT + (8 << 20);

/// Options that bound a table of a stage, and the bytes of an entry.
const TABLES: [(&str, usize); 4] = [("combine", 80), ("combine-pairs", 160), ("ranked", 64), ("forest", 80)];

/// Megabytes that a task of a stage may hold as a process of its own: the program, the tables that its options bound,
/// and the slice that is its side file.
pub fn stage_megabytes(entry: &Entry, params: &Params) -> usize {
    let number = |option: &str| params.number(option) as usize;
    let tables =
        TABLES.iter().filter(|(option, _)| entry.knows(option)).map(|(option, bytes)| number(option) * bytes);
    let slice = if entry.knows("index") { number("slice-memory") } else { 0 };
    (PROGRAM + tables.sum::<usize>()).div_ceil(1 << 20) + slice
}

/// How the bound on a chain of stages is shared out: half to the rows that a shuffle holds, half to the states of the
/// tasks, which have bounds of their own.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Bytes of the rows in memory, of all map tasks of a step together.
    pub rows: usize,
    /// Bytes that one task may hold.
    pub task: usize,
}

impl Budget {
    /// The shares of `memory` bytes among so many tasks at once.
    pub fn new(memory: usize, threads: usize) -> Result<Self> {
        if memory < LEAST {
            return Err(Error::Usage(format!("--memory: {} MB is the least", LEAST >> 20)));
        }
        let free = memory - PROGRAM - KEPT;
        Ok(Self { rows: free / 2, task: free / 2 / threads.max(1) })
    }

    /// Lowers the bounds that tables of stages have by default, where the user has set none. They decide how often
    /// rows are combined, and nothing about the answer.
    pub fn fit(&self, params: &mut Params) {
        for (option, bytes) in TABLES {
            if params.get(option).is_none() {
                let entries = number_by_default(option).min((self.task / bytes) as u64).max(1000);
                params.set(option, entries.to_string());
            }
        }
    }
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

    #[test]
    fn shares_stay_inside_the_bound() {
        for (megabytes, threads) in [(80, 1), (256, 2), (2048, 16)] {
            let budget = Budget::new(megabytes << 20, threads).unwrap();
            assert!(budget.rows + threads * budget.task <= megabytes << 20);
            let mut params = Params::default();
            params.set("forest", "7");
            budget.fit(&mut params);
            assert_eq!(params.get("forest"), Some("7"));
            assert!(params.get("combine").unwrap().parse::<usize>().unwrap() <= 1_000_000);
        }
        assert!(Budget::new(1 << 20, 1).is_err());
    }
}
