//! What clients of a node see: its figures. Documents are asked of a front.

use super::OTHER_OPTIONS;
use super::node::Node;
use super::topics::LogError;
use crate::asked::Answer;
use crate::decider::Decides;
use crate::disk::LogDisk;
use crate::document::Refused;
use crate::group::{Answered, Group};
use crate::info::{Figures, Held, Sequence};
use crate::recent::Recent;
use crate::state::State;
use crate::threads::{self, Work};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal;

/// How often its figures are renewed, and what has become of it is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long it waits for what is new, and until it tries again what has failed.
const WAIT: Duration = Duration::from_millis(200);
const AGAIN: Duration = Duration::from_millis(200);

/// What the thread of a node tells.
struct Told {
    stops: AtomicBool,
    figures: Mutex<Figures>,
}

/// A node that works in a thread of its own.
pub(crate) struct NodeDecider {
    told: Arc<Told>,
    /// Nothing when it has ended.
    thread: Option<Work>,
    refusal: String,
}

impl NodeDecider {
    /// Has a node work. `wake` is called when it has ended.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start<D: LogDisk>(
        node: Node<D>,
        (shard, shards): (usize, usize),
        wake: impl Fn() + Send + 'static,
    ) -> Result<Self> {
        let told = Arc::new(Told { stops: AtomicBool::new(false), figures: Mutex::new(figures(&node)) });
        let telling = told.clone();
        let thread = threads::start("shard", move || {
            let ended = work(node, &telling);
            wake();
            ended
        })?;
        let refusal =
            format!("ERR this is the node of shard {shard} of {shards}, which holds a part: ask a front");
        Ok(Self { told, thread: Some(thread), refusal })
    }
}

/// Works until it is told to stop, and writes a snapshot then.
fn work<D: LogDisk>(mut node: Node<D>, told: &Told) -> Result<()> {
    let (mut problem, mut renewed, mut foreign) = (None, Instant::now(), Vec::<usize>::new());
    while !told.stops.load(Ordering::Acquire) {
        match node.step(WAIT) {
            Ok(_) => {
                if problem.take().is_some() {
                    terminal::line("the log is there again");
                }
            }
            Err(LogError::Unreachable(why)) => {
                if problem.as_ref() != Some(&why) {
                    terminal::warning(format_args!("{why}; it is tried again"));
                    problem = Some(why);
                }
                std::thread::sleep(AGAIN);
            }
            Err(LogError::Refused(why) | LogError::Failed(why)) => return Err(Error::Failed(why)),
        }
        let others = node.foreign();
        if others != foreign {
            others.iter().filter(|shard| !foreign.contains(shard)).for_each(|shard| {
                terminal::warning(format_args!(
                    "the node of shard {shard} {OTHER_OPTIONS}; what it answers is passed over"
                ));
            });
            foreign = others;
        }
        if renewed.elapsed() >= TICK {
            *told.figures.lock().unwrap_or_else(PoisonError::into_inner) = figures(&node);
            renewed = Instant::now();
        }
    }
    node.end()
}

fn figures<D: LogDisk>(node: &Node<D>) -> Figures {
    let state: &State = node.state();
    let namespaces = state.namespaces().map(|(name, namespace)| {
        let (documents, kept) = namespace.held();
        let (bytes, counts, read_only) = (namespace.bytes(), namespace.counts(), namespace.read_only);
        Held { name: name.into(), documents, kept, bytes, counts, read_only }
    });
    let place = node.place();
    let sequence = Sequence { next: place.next, end: place.end, snapshot: place.snapshot };
    Figures { namespaces: namespaces.collect(), bytes: state.bytes(), last: 0, log_bytes: 0, sequence }
}

impl Decides for NodeDecider {
    fn decide(&mut self, group: &mut Group, _: Option<&mut Recent>) -> Result<Answered> {
        if self.thread.as_ref().is_some_and(Work::is_finished)
            && let Some(thread) = self.thread.take()
        {
            threads::joined(thread)?;
        }
        let refuse = |_| Answer::Refused(Refused::Wrong(self.refusal.clone()));
        let answers = group.take_asked().into_iter().map(refuse).collect();
        Ok(group.take(answers))
    }

    fn work(&self, _: &Group) -> u64 {
        0
    }

    fn patience(&self) -> Duration {
        TICK
    }

    fn figures(&self) -> Figures {
        self.told.figures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        self.told.stops.store(true, Ordering::Release);
        self.thread.take().map_or(Ok(()), threads::joined)
    }
}
