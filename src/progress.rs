//! Shows how far a run is: a bar on a terminal, elsewhere a line every ten seconds.

use indicatif::{
    BinaryBytes, HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use twinsplit_engine::progress::{Phase, Progress, Unit};
use twinsplit_io::terminal;

/// How often a bar is drawn.
const FRAME: Duration = Duration::from_millis(100);
/// How often a line is printed.
const LINE: Duration = Duration::from_secs(10);

/// A thread that shows a run's progress until it is dropped.
pub struct Display {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    /// Begins to show the progress of a run of so many steps, or more, on standard error; nothing at all when `quiet`.
    pub fn start(progress: &Arc<Progress>, steps: usize, quiet: bool) -> Self {
        if quiet {
            return Self { stop: None, thread: None };
        }
        let (stop, stopped) = channel();
        let progress = Arc::clone(progress);
        // A dumb terminal cannot take back what it shows.
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let show = move || match std::io::stderr().is_terminal() && !dumb {
            true => bars(&progress, steps, &stopped),
            false => lines(&progress, &stopped),
        };
        // Where the system gives no thread, a run goes on unseen.
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(show).ok();
        Self { stop: Some(stop), thread }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A display that panicked is no reason to lose the run.
            let _ = thread.join();
        }
    }
}

/// Whether the display is to go on after so long.
fn waited(stopped: &Receiver<()>, time: Duration) -> bool {
    matches!(stopped.recv_timeout(time), Err(RecvTimeoutError::Timeout))
}

fn bars(progress: &Progress, steps: usize, stopped: &Receiver<()>) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let (mut shown, mut step, mut number) = (None, String::new(), 0);
    while waited(stopped, FRAME) {
        let Some((phase, done)) = progress.now() else { continue };
        if phase.step != step {
            step.clone_from(&phase.step);
            number += 1;
        }
        if shown != Some(phase.started) {
            shown = Some(phase.started);
            // Resetting the estimate keeps one phase's rate out of the next one's.
            bar.reset();
            bar.set_style(style(&phase));
            // How many rounds there will be nobody knows.
            let steps = steps.max(number);
            bar.set_prefix(format!("[{number}/{steps}] {} {}", phase.step, phase.doing));
            if phase.total > 0 {
                bar.set_length(phase.total);
            }
        }
        bar.set_position(done);
        bar.tick();
    }
    bar.finish_and_clear();
}

fn style(phase: &Phase) -> ProgressStyle {
    let count = match phase.unit {
        Unit::Bytes => "{binary_bytes} of {binary_total_bytes}",
        Unit::Rows | Unit::Sets => "{human_pos} of {human_len}",
    };
    let template = match phase.total {
        0 => "{prefix} {spinner} {elapsed}".to_owned(),
        _ => format!("{{prefix}} {{bar:24}} {count} {{rate}} {{left}}"),
    };
    // The templates are constants but for these pieces; a bar of the default form would be no error either.
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    // The bar's own rates begin with its first frame, which may show much that was done before it. Who writes to a bar cannot fail.
    let Phase { unit, started, .. } = *phase;
    style
        .with_key("rate", move |state: &ProgressState, out: &mut dyn Write| {
            let rate = rate(state.pos(), started.elapsed()) as u64;
            let _ = match unit {
                Unit::Bytes => write!(out, "{}/s", BinaryBytes(rate)),
                Unit::Rows | Unit::Sets => write!(out, "{}/s", HumanCount(rate)),
            };
        })
        .with_key("left", move |state: &ProgressState, out: &mut dyn Write| {
            if let Some(left) = left(state.pos(), state.len().unwrap_or(0), started.elapsed()) {
                let _ = write!(out, "{:#} left", HumanDuration(left));
            }
        })
}

/// How much is done in a second.
fn rate(done: u64, time: Duration) -> f64 {
    done as f64 / time.as_secs_f64().max(1e-3)
}

/// How long the rest takes, when that can be said: some is done, and not all.
fn left(done: u64, total: u64, time: Duration) -> Option<Duration> {
    (0 < done && done < total).then(|| Duration::from_secs_f64((total - done) as f64 / rate(done, time)))
}

fn lines(progress: &Progress, stopped: &Receiver<()>) {
    let start = Instant::now();
    while waited(stopped, LINE) {
        if let Some((phase, done)) = progress.now() {
            terminal::line(line(&phase, done, phase.started.elapsed(), start.elapsed()));
        }
    }
}

/// A line on a phase that has taken `phase_time` of the run's `time`.
fn line(phase: &Phase, done: u64, phase_time: Duration, time: Duration) -> String {
    let amount = |amount: u64| match phase.unit {
        Unit::Bytes => BinaryBytes(amount).to_string(),
        Unit::Rows => format!("{} rows", HumanCount(amount)),
        Unit::Sets => format!("{} sets", HumanCount(amount)),
    };
    let mut text = format!("{}: {}", phase.step, phase.doing);
    if phase.total > 0 {
        let share = done as f64 / phase.total as f64;
        text.push_str(&format!(
            ", {} of {} ({:.0} %), {}/s",
            amount(done),
            amount(phase.total),
            100.0 * share,
            amount(rate(done, phase_time) as u64)
        ));
        if let Some(left) = left(done, phase.total, phase_time) {
            text.push_str(&format!(", {} left", HumanDuration(left)));
        }
    }
    text.push_str(&format!("; {} s in all", time.as_secs()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_rate_and_time_left() {
        let phase = |unit, total| Phase {
            step: "tokenize".to_owned(),
            doing: "reading",
            unit,
            total,
            started: Instant::now(),
        };
        let text =
            line(&phase(Unit::Bytes, 40 << 20), 10 << 20, Duration::from_secs(5), Duration::from_secs(7));
        assert_eq!(
            text,
            "tokenize: reading, 10.00 MiB of 40.00 MiB (25 %), 2.00 MiB/s, 15 seconds left; 7 s in all"
        );
        let text = line(&phase(Unit::Rows, 0), 3, Duration::from_secs(5), Duration::from_secs(12));
        assert_eq!(text, "tokenize: reading; 12 s in all");
        let text = line(&phase(Unit::Sets, 2000), 2000, Duration::from_secs(2), Duration::from_secs(12));
        assert_eq!(text, "tokenize: reading, 2,000 sets of 2,000 sets (100 %), 1,000 sets/s; 12 s in all");
    }

    /// Neither before anything is done nor after all of it is there a time left.
    #[test]
    fn rate_and_time_left_are_those_of_the_phase() {
        let hundred = Duration::from_secs(100);
        assert_eq!(rate(1_000_000, hundred), 10_000.0);
        assert_eq!(rate(5, Duration::ZERO), 5_000.0);
        assert_eq!(left(0, 2_000_000, hundred), None);
        assert_eq!(left(500_000, 2_000_000, hundred), Some(Duration::from_secs(300)));
        assert_eq!(left(2_000_000, 2_000_000, hundred), None);
    }

    #[test]
    fn every_template_is_one() {
        for unit in [Unit::Bytes, Unit::Rows, Unit::Sets] {
            for total in [0, 5] {
                let phase = Phase { step: String::new(), doing: "", unit, total, started: Instant::now() };
                let bar = ProgressBar::hidden();
                bar.set_style(style(&phase));
            }
        }
    }
}
