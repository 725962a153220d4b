//! What decides: an engine with its log's disk, one group of requests after the other.
//!
//! A group is written and synced once. While it is being synced the next one is decided. An answer may be sent when all that it may rest on is as safe as
//! [`Fsync`] says: what a read found, too, and what a retry had its first verdict from.

use crate::disk::LogDisk;
use crate::engine::Engine;
use crate::group::{Answered, Group};
use crate::info::{Figures, Held, Sequence, Shared};
use crate::recent::{self, Recent};
use crate::snapshotting::Snapshotting;
use crate::state::{Answer, Operation};
use crate::syncing::Syncing;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use twinsplit_io::error::Result;

/// When an answer is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fsync {
    /// When what it rests on is on the disk: it outlives the power.
    Always,
    /// When the system has it: it outlives this process. It is on the disk within so long.
    Within(Duration),
    /// When the system has it, which brings it to the disk when it likes to.
    Off,
}

/// How what is decided is kept.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// When an answer is sent.
    pub fsync: Fsync,
    /// Bytes of the log after which there is a snapshot.
    pub snapshot_after: u64,
}

/// What decides, of whatever disk.
pub(crate) trait Decides: Send {
    /// Decides a group, one request after the other, and hands what has changed to the system. What has to be done beside is done too: what is too old
    /// is forgotten, and a snapshot goes on.
    ///
    /// # Errors
    /// Those of the log's disk: nobody may have an answer that rests on what is not there, and the group is as it was.
    fn decide(&mut self, group: &mut Group, recent: Option<&mut Recent>) -> Result<Answered>;

    /// How many documents are looked at to decide a group, about.
    fn work(&self, group: &Group) -> u64;

    /// The number of the last change, on which what was decided may rest; 0 of what has no log of its own.
    fn last(&self) -> u64 {
        0
    }

    /// Up to which change answers may be sent.
    fn safe(&self) -> u64 {
        u64::MAX
    }

    /// How long it may be left alone.
    fn patience(&self) -> Duration;

    /// Answers what changes nothing, and is asked for a page; whoever holds no documents knows nothing of them.
    fn ask(&mut self, asked: Vec<(Box<[u8]>, Operation)>) -> Vec<Answer> {
        asked.into_iter().map(|_| Answer::Why(None)).collect()
    }

    /// How much there is.
    fn figures(&self) -> Figures;

    /// The texts of documents, where they are held.
    fn texts(&self, of: &[recent::Named]) -> Vec<Option<String>> {
        of.iter().map(|_| None).collect()
    }

    /// Brings all to the disk, and writes a snapshot, where nothing has failed.
    ///
    /// # Errors
    /// Those of the log's disk, where it has failed before, too.
    fn end(self: Box<Self>) -> Result<()>;
}

/// How often what is too old is looked for where nobody asks for anything.
const TICK: Duration = Duration::from_millis(50);

/// How often a snapshot goes on then.
const STEPS: Duration = Duration::from_millis(1);

/// An engine, and what works beside it.
pub(crate) struct Decider<D: LogDisk> {
    engine: Engine<D>,
    options: WriterOptions,
    shared: Arc<Shared>,
    syncing: Option<Syncing<D::File>>,
    snapshot: Option<Snapshotting>,
    failed: bool,
}

/// Milliseconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

impl<D: LogDisk> Decider<D> {
    /// Begins to decide; `synced` is called when more answers may be sent, or the disk has failed.
    ///
    /// # Errors
    /// Those of the disk; a thread cannot be started.
    pub fn new(
        engine: Engine<D>,
        options: WriterOptions,
        shared: Arc<Shared>,
        synced: impl Fn() + Send + 'static,
    ) -> Result<Self> {
        let interval = match options.fsync {
            Fsync::Always => Some(Duration::ZERO),
            Fsync::Within(interval) => Some(interval),
            Fsync::Off => None,
        };
        let syncing = interval.map(|interval| Syncing::start(engine.syncer()?, interval, &shared, synced));
        let syncing = syncing.transpose()?;
        Ok(Self { engine, options, shared, syncing, snapshot: None, failed: false })
    }

    fn try_decide(&mut self, group: &mut Group, recent: Option<&mut Recent>) -> Result<Answered> {
        let now = now();
        self.engine.expire(now);
        let before = self.engine.last();
        let answers = group.answer(&mut self.engine, now, recent);
        if let Some(syncing) = &self.syncing {
            syncing.must_run()?;
        }
        self.engine.write()?;
        if let Some(syncing) = &self.syncing
            && self.engine.last() > before
        {
            syncing.ask(self.engine.last());
        }
        self.go_on_with_snapshot()?;
        Ok(group.take(answers))
    }

    /// Goes on with a snapshot, or begins one where the log is long.
    fn go_on_with_snapshot(&mut self) -> Result<()> {
        if let Some(snapshot) = &mut self.snapshot {
            if !snapshot.step(self.engine.state_mut()) {
                self.snapshot = None;
            }
            return Ok(());
        }
        if self.engine.log_bytes() < self.options.snapshot_after {
            return Ok(());
        }
        let begun = self.engine.begin_snapshot()?;
        if let Some(syncing) = &self.syncing {
            syncing.go_on(self.engine.syncer()?);
        }
        match begun {
            Ok(writer) => self.snapshot = Some(Snapshotting::start(writer, &self.shared)?),
            Err(error) => self.shared.snapshot_failed(&error),
        }
        Ok(())
    }
}

impl<D: LogDisk> Decides for Decider<D> {
    fn decide(&mut self, group: &mut Group, recent: Option<&mut Recent>) -> Result<Answered> {
        let decided = self.try_decide(group, recent);
        self.failed |= decided.is_err();
        decided
    }

    fn work(&self, group: &Group) -> u64 {
        let state = self.engine.state();
        group.operations().map(|(namespace, operation)| state.work(namespace, operation)).sum()
    }

    fn last(&self) -> u64 {
        self.engine.last()
    }

    fn safe(&self) -> u64 {
        match self.options.fsync {
            Fsync::Always => self.engine.synced(),
            Fsync::Within(_) | Fsync::Off => u64::MAX,
        }
    }

    fn patience(&self) -> Duration {
        if self.snapshot.is_some() { STEPS } else { TICK }
    }

    fn ask(&mut self, asked: Vec<(Box<[u8]>, Operation)>) -> Vec<Answer> {
        let now = now();
        let ask =
            |(namespace, mut operation): (Box<[u8]>, _)| self.engine.ask(now, &namespace, &mut operation);
        asked.into_iter().map(ask).collect()
    }

    fn figures(&self) -> Figures {
        let state = self.engine.state();
        let namespaces = state.namespaces().map(|(name, namespace)| {
            let (documents, kept) = namespace.held();
            let (bytes, counts, read_only) = (namespace.bytes(), namespace.counts(), namespace.read_only);
            Held { name: name.into(), documents, kept, bytes, counts, read_only }
        });
        Figures {
            namespaces: namespaces.collect(),
            bytes: state.bytes(),
            last: self.engine.last(),
            log_bytes: self.engine.log_bytes(),
            sequence: Sequence::default(),
        }
    }

    fn texts(&self, of: &[recent::Named]) -> Vec<Option<String>> {
        recent::texts(self.engine.state(), of)
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        // Where it was the disk, the thread that waits for it says why.
        self.syncing.take().map_or(Ok(()), Syncing::end)?;
        if self.failed {
            return Ok(());
        }
        if let Some(snapshot) = self.snapshot.take() {
            snapshot.give_up(self.engine.state_mut());
        }
        self.engine.sync()?;
        self.engine.snapshot().map(drop)
    }
}
