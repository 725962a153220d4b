//! Threads of the service.

use std::thread::{self, JoinHandle};
use twinsplit_io::error::{Error, Result};

/// What a thread does, which may fail.
pub(crate) type Work = JoinHandle<Result<()>>;

/// Starts a thread.
///
/// # Errors
/// The system has none.
pub(crate) fn start(name: &str, work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<Work> {
    let builder = thread::Builder::new().name(name.to_owned());
    builder.spawn(work).map_err(Error::io("start a thread of", "the service"))
}

/// Waits for the end of a thread.
///
/// # Errors
/// Those of its work; it panicked.
pub(crate) fn joined(thread: Work) -> Result<()> {
    let name = thread.thread().name().unwrap_or_default().to_owned();
    thread.join().unwrap_or_else(|_| Err(Error::Failed(format!("the thread {name} of the service panicked"))))
}
