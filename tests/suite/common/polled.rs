//! What a process holds while it runs, asked from outside every few milliseconds.

use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// How a command ended.
pub struct Polled {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it wrote to standard error.
    pub stderr: String,
    /// The most bytes that it held.
    pub peak: u64,
}

/// Runs a command to its end, and asks the system what it holds.
pub fn polled(command: &mut Command) -> Polled {
    let stderr = tempfile::NamedTempFile::new().unwrap();
    let mut child = command.stderr(Stdio::from(stderr.reopen().unwrap())).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let done = loop {
        let text = std::fs::read_to_string(&status).expect("Linux is needed: it tells of memory in /proc");
        // What it holds now, too: the mark of the most can be set back by the process itself.
        for name in ["VmHWM:", "VmRSS:"] {
            let held = text.lines().find_map(|line| line.strip_prefix(name));
            let held = held.and_then(|held| held.trim().strip_suffix(" kB")?.parse::<u64>().ok());
            peak = peak.max(held.unwrap_or(0) << 10);
        }
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    Polled { status: done, stderr: std::fs::read_to_string(stderr.path()).unwrap(), peak }
}
