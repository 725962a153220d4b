//! Work without the interpreter's lock. The calling thread waits for it, hands its progress to Python, and looks for signals, so that
//! Control-C ends the work.

use crate::raised;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use twinsplit::{Dedup, Phase, Result, Unit};

/// How often signals are looked for.
const OFTEN: Duration = Duration::from_millis(50);

/// What is told of a phase: its step, what is done, how much of how much, and of what.
type Told = (String, &'static str, u64, u64, &'static str);

fn told(phase: &Phase, done: u64) -> Told {
    let unit = match phase.unit {
        Unit::Bytes => "bytes",
        Unit::Rows => "rows",
        Unit::Sets => "sets",
    };
    (phase.step.clone(), phase.doing, done, phase.total, unit)
}

/// Does the work with these options, to which is added that they can be stopped. `tell` is called with the progress, if it is there; what it raises
/// stops the work, as a signal does.
pub fn watched<T: Send>(
    py: Python<'_>,
    dedup: &Dedup,
    tell: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Dedup) -> Result<T> + Send,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let tell = tell.map(|tell| tell.clone().unbind());
    let (sender, receiver) = channel::<Told>();
    let mut dedup = dedup.clone().cancelled_by(&stop);
    let until_done = sender.clone();
    if tell.is_some() {
        // Whoever does not listen any more has stopped the work.
        dedup = dedup.on_progress(move |phase, done| drop(sender.send(told(phase, done))));
    } else {
        drop(sender);
    }
    py.detach(move || {
        thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let result = work(dedup);
                drop(until_done);
                result
            });
            let mut stopped = None;
            loop {
                let told = match receiver.recv_timeout(OFTEN) {
                    Ok(told) => Some(told),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if stopped.is_none() {
                    let look = Python::attach(|py| {
                        py.check_signals()?;
                        match (&tell, told) {
                            (Some(tell), Some(told)) => tell.call1(py, told).map(drop),
                            _ => Ok(()),
                        }
                    });
                    if let Err(error) = look {
                        stop.store(true, Ordering::Relaxed);
                        stopped = Some(error);
                    }
                }
            }
            let result = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            match stopped {
                Some(error) => Err(error),
                None => result.map_err(raised),
            }
        })
    })
}
