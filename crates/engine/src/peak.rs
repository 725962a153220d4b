//! The most memory that each step of a process held, without a trace that others could see.
//!
//! The system keeps one mark of the most that a process has held (`VmHWM` in /proc), and shows the same one to whoever
//! measures from outside (`time -v`, `wait4`). A step that moves the mark has held exactly that much. Below the mark only
//! what is held now can be asked for, so it is looked at every few milliseconds, and when the step ends.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// How often is looked at what is held: 20 microseconds each time.
const OFTEN: Duration = Duration::from_millis(5);

/// The most memory that the process has held since its start, in bytes; `None` where the system does not say.
pub fn peak_memory() -> Option<u64> {
    status("VmHWM:")
}

/// What the process holds now.
fn held() -> Option<u64> {
    status("VmRSS:")
}

fn status(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// A step that is being measured.
pub struct StepPeak {
    /// The mark when it began.
    before: Option<u64>,
    watch: Option<(Sender<()>, JoinHandle<()>)>,
    /// The most that was seen by looking.
    seen: Arc<AtomicU64>,
}

impl StepPeak {
    /// The step begins.
    pub fn start() -> Self {
        let before = peak_memory();
        let seen = Arc::new(AtomicU64::new(0));
        let watch = before.and_then(|_| {
            let (stop, stopped) = channel();
            let most = Arc::clone(&seen);
            let watch = move || {
                loop {
                    most.fetch_max(held().unwrap_or(0), Ordering::Relaxed);
                    if stopped.recv_timeout(OFTEN) != Err(RecvTimeoutError::Timeout) {
                        return;
                    }
                }
            };
            // Where the system gives no thread, the step's end still says something.
            Some((stop, Builder::new().name("memory".to_owned()).spawn(watch).ok()?))
        });
        Self { before, watch, seen }
    }

    /// The step has ended: the most that was held since it began, as far as was seen.
    pub fn end(self) -> Option<u64> {
        let at_the_end = held()?;
        if let Some((stop, watch)) = self.watch {
            drop(stop);
            let _ = watch.join();
        }
        let most = at_the_end.max(self.seen.load(Ordering::Relaxed));
        let mark = peak_memory();
        if mark > self.before { mark } else { Some(most.min(mark?)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only what is true whatever other tests of this process hold, and whenever the thread that looks has its turn.
    #[test]
    fn a_step_has_held_what_it_held() {
        let step = StepPeak::start();
        let held = vec![1u8; 64 << 20];
        assert!(held.iter().all(|byte| *byte == 1));
        while step.seen.load(Ordering::Relaxed) < 64 << 20 {
            std::thread::sleep(OFTEN);
        }
        drop(held);
        let peak = step.end().unwrap();
        assert!(peak > 64 << 20 && peak <= peak_memory().unwrap(), "{peak}");
    }
}
