//! Threads that read and sketch what takes long, so that nobody else waits for it.
//!
//! Some take short work and others long work: short texts wait for no long ones, however many of these there are.

use crate::asked::Operation;
use crate::group::Ready;
use crate::session::{Asked, Wanted};
use crate::sketch::{Sketch, Sketching};
use crate::threads::{self, Work};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use twinsplit_io::error::Result;

/// Bytes of texts and bodies that are short work: some tenths of a millisecond, a few milliseconds where Chinese is segmented.
const SHORT: usize = 64 << 10;

/// What a client has asked for.
struct Job {
    client: usize,
    asked: Vec<Asked>,
}

/// What is ready to be decided; nothing where that has failed.
pub(crate) struct Done {
    pub client: usize,
    pub ready: Option<Vec<Ready>>,
}

/// The threads.
pub(crate) struct Workers {
    short: Sender<Job>,
    long: Sender<Job>,
    done: Arc<Mutex<Vec<Done>>>,
}

/// Bytes of texts and bodies that have to be looked at, none where all is ready but for a form.
pub(crate) fn bytes(asked: &[Asked]) -> usize {
    let of = |(_, wanted): &Asked| match wanted {
        Wanted::Operation(operation) => operation.documents().map(|sent| sent.text()).sum(),
        Wanted::Body(_, body) => body.len(),
    };
    asked.iter().map(of).sum()
}

/// What was asked for, ready to be decided.
pub(crate) fn ready((namespace, wanted): Asked, sketching: &Sketching, sketch: &mut Sketch) -> Ready {
    let operation = match wanted {
        Wanted::Operation(operation) => Ok(operation),
        Wanted::Body(read, body) => read(&body, sketching),
    };
    (namespace, operation.map(|operation: Operation<_>| operation.map(&mut |sent| sketch.of(sent))))
}

impl Workers {
    /// Starts as many threads as the machine has cores for short work, and as many for long work. `wake` is called when something is done.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(sketching: &Sketching, wake: impl Fn() + Clone + Send + 'static) -> Result<Self> {
        let done = Arc::default();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let start = |name: &str| -> Result<Sender<Job>> {
            let (to, jobs) = channel();
            let jobs = Arc::new(Mutex::new(jobs));
            for _ in 0..cores {
                let (jobs, done, wake, sketching) =
                    (jobs.clone(), Arc::clone(&done), wake.clone(), sketching.clone());
                // It ends when nobody can ask any more.
                let _: Work = threads::start(name, move || {
                    work(&jobs, &done, &sketching, wake);
                    Ok(())
                })?;
            }
            Ok(to)
        };
        Ok(Self { short: start("short")?, long: start("long")?, done })
    }

    /// Has the requests of a client made ready; [`Workers::done`] has them then.
    pub fn ask(&self, client: usize, asked: Vec<Asked>) {
        let to = if bytes(&asked) > SHORT { &self.long } else { &self.short };
        // The threads live as long as this does.
        let _ = to.send(Job { client, asked });
    }

    /// What was made ready since.
    pub fn done(&self) -> Vec<Done> {
        std::mem::take(&mut self.done.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn work(jobs: &Mutex<Receiver<Job>>, done: &Mutex<Vec<Done>>, sketching: &Sketching, wake: impl Fn()) {
    let mut sketch = sketching.sketch();
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { client, asked }) = job else { return };
        // What a text does to a thread is not others' to suffer from.
        let made = catch_unwind(AssertUnwindSafe(|| {
            asked.into_iter().map(|asked| ready(asked, sketching, &mut sketch)).collect()
        }));
        let made = made.ok();
        if made.is_none() {
            sketch = sketching.sketch();
        }
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        done.push(Done { client, ready: made });
        let is_first = done.len() == 1;
        drop(done);
        if is_first {
            wake();
        }
    }
}
