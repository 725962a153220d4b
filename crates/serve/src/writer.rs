//! The one thread that decides, and the two that wait for the disk: requests come in groups, and a group is written and synced once.
//!
//! While one group is being synced the next one is decided. An answer is sent when all that it may rest on is on the disk: what a read found, too, and what a retry
//! had its first verdict from.

use crate::disk::{LogDisk, LogFile};
use crate::engine::{Engine, STEP};
use crate::info::{Figures, Held, Shared};
use crate::log::Syncer;
use crate::prefetch::TOGETHER;
use crate::recent;
use crate::snapshot::SnapshotWriter;
use crate::state::{Answer, Operation};
use std::sync::Arc;
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, TrySendError, channel, sync_channel,
};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use twinsplit_io::error::{Error, Result};

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

/// What is asked of the writer.
pub(crate) enum Message {
    /// Requests of one client, and where the answers go; without answers the service is at its end.
    Batch(Batch),
    /// How much there is.
    Info(Sender<Figures>),
    /// The texts of documents, where they are held.
    Texts(Vec<recent::Named>, Sender<Vec<Option<String>>>),
    /// To stop when all before is answered.
    Stop,
}

/// Requests of one client, each with its namespace.
pub(crate) struct Batch {
    pub asked: Vec<(Box<[u8]>, Operation)>,
    pub answers: Sender<Vec<Answer>>,
}

/// Answers that wait for the disk.
struct Waiting {
    upto: u64,
    answers: Vec<(Sender<Vec<Answer>>, Vec<Answer>)>,
}

enum ToSync<F> {
    File(Syncer<F>),
    Group(Waiting),
}

/// Messages that are taken into one group, at most.
const GROUP: usize = 256;

/// How often what is too old is looked for where nobody asks for anything.
const TICK: Duration = Duration::from_millis(50);

/// How the writer works.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// When an answer is sent.
    pub fsync: Fsync,
    /// Bytes of the log after which there is a snapshot.
    pub snapshot_after: u64,
}

/// Decides what comes until it is told to stop, then writes a snapshot.
///
/// # Errors
/// Those of the log's disk: nobody has an answer that rests on what is not there.
pub(crate) fn run<D: LogDisk>(
    mut engine: Engine<D>,
    messages: &Receiver<Message>,
    options: WriterOptions,
    shared: &Arc<Shared>,
) -> Result<()> {
    let interval = match options.fsync {
        Fsync::Always => Some(Duration::ZERO),
        Fsync::Within(interval) => Some(interval),
        Fsync::Off => None,
    };
    let syncing = interval.map(|interval| start_syncing(engine.syncer()?, interval, shared)).transpose()?;
    let mut writing = Writing { syncing, snapshot: None, options, shared: shared.clone() };
    let result = writing.groups(&mut engine, messages);
    // What waits for the disk is answered before the end.
    let synced = writing.syncing.take().map_or(Ok(()), |(to_sync, thread)| {
        drop(to_sync);
        joined(thread)
    });
    // Where it was the disk, that says why.
    synced.and(result)?;
    if let Some(snapshot) = writing.snapshot.take() {
        drop(snapshot.chunks);
        let _ = joined(snapshot.thread);
        engine.give_up();
    }
    engine.sync()?;
    engine.snapshot().map(drop)
}

fn joined(thread: JoinHandle<Result<()>>) -> Result<()> {
    thread.join().unwrap_or_else(|_| Err(Error::Failed("a thread of the service panicked".to_owned())))
}

struct Writing<D: LogDisk> {
    syncing: Option<Syncing<D::File>>,
    snapshot: Option<Snapshotting>,
    options: WriterOptions,
    shared: Arc<Shared>,
}

/// A snapshot on its way.
struct Snapshotting {
    /// Until the last one is sent.
    chunks: Option<SyncSender<Chunk>>,
    /// What has no room there yet.
    next: Option<Chunk>,
    thread: JoinHandle<Result<()>>,
}

enum Chunk {
    Documents(u64, Vec<u8>),
    End,
}

impl<D: LogDisk> Writing<D> {
    fn groups(&mut self, engine: &mut Engine<D>, messages: &Receiver<Message>) -> Result<()> {
        let (mut group, mut all) = (Vec::new(), Group::default());
        loop {
            let wait = if self.snapshot.is_some() { Duration::from_millis(1) } else { TICK };
            let mut stops = false;
            match messages.recv_timeout(wait) {
                Ok(message) => group.push(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => stops = true,
            }
            while group.len() < GROUP {
                match messages.try_recv() {
                    Ok(message) => group.push(message),
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
            let now =
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
            engine.expire(now);
            for message in group.drain(..) {
                match message {
                    Message::Stop => stops = true,
                    Message::Info(reply) => drop(reply.send(figures(engine))),
                    Message::Texts(of, reply) => drop(reply.send(recent::texts(engine.state(), &of))),
                    Message::Batch(batch) => all.push(batch),
                }
            }
            let answers = all.answer(engine, now);
            if self.syncing.as_ref().is_some_and(|(_, thread)| thread.is_finished()) {
                return Err(gone());
            }
            engine.write()?;
            self.send(Waiting { upto: engine.last(), answers })?;
            self.snapshot(engine)?;
            if stops {
                return Ok(());
            }
        }
    }

    /// Sends answers, now or when the disk has what they rest on.
    fn send(&mut self, waiting: Waiting) -> Result<()> {
        if waiting.answers.is_empty() {
            return Ok(());
        }
        match (&self.syncing, self.options.fsync) {
            (Some((to_sync, _)), Fsync::Always) => to_sync.send(ToSync::Group(waiting)).map_err(|_| gone()),
            (Some((to_sync, _)), _) => {
                let Waiting { upto, answers } = waiting;
                let sent = to_sync.send(ToSync::Group(Waiting { upto, answers: Vec::new() }));
                sent.map_err(|_| gone())?;
                reply(answers);
                Ok(())
            }
            (None, _) => {
                reply(waiting.answers);
                Ok(())
            }
        }
    }

    /// Goes on with a snapshot, or begins one where the log is long.
    fn snapshot(&mut self, engine: &mut Engine<D>) -> Result<()> {
        let Some(snapshot) = &mut self.snapshot else {
            if engine.log_bytes() < self.options.snapshot_after {
                return Ok(());
            }
            let begun = engine.begin_snapshot()?;
            if let Some((to_sync, _)) = &self.syncing {
                to_sync.send(ToSync::File(engine.syncer()?)).map_err(|_| gone())?;
            }
            match begun {
                Err(error) => self.shared.snapshot_failed(&error),
                Ok(writer) => {
                    let (chunks, received) = sync_channel(8);
                    let shared = self.shared.clone();
                    let thread = spawn("snapshot", move || {
                        let began = Instant::now();
                        match write_snapshot(writer, &received) {
                            Ok(Some(bytes)) => shared.snapshot_written(bytes, began.elapsed()),
                            Ok(None) => {}
                            Err(error) => shared.snapshot_failed(&error),
                        }
                        Ok(())
                    })?;
                    self.snapshot = Some(Snapshotting { chunks: Some(chunks), next: None, thread });
                }
            }
            return Ok(());
        };
        if snapshot.thread.is_finished() {
            // It is at its end, or its disk failed.
            engine.give_up();
            self.snapshot = None;
            return Ok(());
        }
        // While the end is written there is nothing to do, and no other snapshot begins.
        let Some(chunks) = &snapshot.chunks else { return Ok(()) };
        let chunk = snapshot.next.take().unwrap_or_else(|| match engine.step(STEP) {
            Some((count, content)) => Chunk::Documents(count, content),
            None => Chunk::End,
        });
        let is_end = matches!(chunk, Chunk::End);
        match chunks.try_send(chunk) {
            Err(TrySendError::Full(chunk)) => snapshot.next = Some(chunk),
            Ok(()) if !is_end => {}
            Ok(()) | Err(TrySendError::Disconnected(_)) => snapshot.chunks = None,
        }
        Ok(())
    }
}

/// Requests that are written and synced together, each with the place of its client.
#[derive(Default)]
struct Group {
    asked: Vec<(usize, Box<[u8]>, Operation)>,
    answers: Vec<(Sender<Vec<Answer>>, Vec<Answer>)>,
}

impl Group {
    fn push(&mut self, batch: Batch) {
        let place = self.answers.len();
        self.answers.push((batch.answers, Vec::with_capacity(batch.asked.len())));
        let asked = batch.asked.into_iter();
        self.asked.extend(asked.map(|(namespace, operation)| (place, namespace, operation)));
    }

    /// Answers all of them, one after the other; some at a time are searched for together.
    fn answer<D: LogDisk>(
        &mut self,
        engine: &mut Engine<D>,
        now: u64,
    ) -> Vec<(Sender<Vec<Answer>>, Vec<Answer>)> {
        let mut answers = std::mem::take(&mut self.answers);
        let mut asked = self.asked.drain(..);
        while !asked.as_slice().is_empty() {
            let some = asked.len().min(TOGETHER);
            if some > 1 {
                let next = asked.as_slice()[..some].iter();
                engine.prefetch(next.map(|(_, namespace, operation)| (&**namespace, operation)));
            }
            for (place, namespace, operation) in asked.by_ref().take(some) {
                let answer = engine.ask(now, &namespace, operation);
                if let Some((_, answers)) = answers.get_mut(place) {
                    answers.push(answer);
                }
            }
            if some > 1 {
                engine.end_prefetch();
            }
        }
        answers
    }
}

fn figures<D: LogDisk>(engine: &Engine<D>) -> Figures {
    let state = engine.state();
    let namespaces = state.namespaces().map(|(name, namespace)| {
        let (documents, kept) = namespace.held();
        let (bytes, counts, read_only) = (namespace.bytes(), namespace.counts(), namespace.read_only);
        Held { name: name.into(), documents, kept, bytes, counts, read_only }
    });
    Figures {
        namespaces: namespaces.collect(),
        bytes: state.bytes(),
        last: engine.last(),
        log_bytes: engine.log_bytes(),
    }
}

/// A client that has gone needs no answer.
fn reply(answers: Vec<(Sender<Vec<Answer>>, Vec<Answer>)>) {
    for (client, answers) in answers {
        let _ = client.send(answers);
    }
}

/// The thread that syncs has ended, which says why.
fn gone() -> Error {
    Error::Failed("the log cannot be synced".to_owned())
}

fn spawn(name: &str, work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<JoinHandle<Result<()>>> {
    let builder = thread::Builder::new().name(name.to_owned());
    builder.spawn(work).map_err(Error::io("start a thread of", "the service"))
}

type Syncing<F> = (Sender<ToSync<F>>, JoinHandle<Result<()>>);

fn start_syncing<F: LogFile>(
    first: Syncer<F>,
    interval: Duration,
    shared: &Arc<Shared>,
) -> Result<Syncing<F>> {
    let (to_sync, received) = channel();
    let shared = shared.clone();
    let thread = spawn("sync", move || sync(first, &received, interval, &shared))?;
    Ok((to_sync, thread))
}

/// Syncs what comes, all that waits at once, at most once in an interval.
fn sync<F: LogFile>(
    mut file: Syncer<F>,
    received: &Receiver<ToSync<F>>,
    interval: Duration,
    shared: &Shared,
) -> Result<()> {
    while let Ok(first) = received.recv() {
        if !interval.is_zero() {
            thread::sleep(interval);
        }
        let (mut upto, mut answers) = (0, Vec::new());
        for one in std::iter::once(first).chain(std::iter::from_fn(|| received.try_recv().ok())) {
            match one {
                // All of the file before is on the disk.
                ToSync::File(next) => file = next,
                ToSync::Group(group) => {
                    upto = group.upto;
                    answers.extend(group.answers);
                }
            }
        }
        let began = Instant::now();
        file.sync(upto)?;
        shared.synced(began.elapsed());
        reply(answers);
    }
    Ok(())
}

/// Writes what comes; `None` where the end does not come.
fn write_snapshot<D: LogDisk>(
    mut writer: SnapshotWriter<D>,
    chunks: &Receiver<Chunk>,
) -> Result<Option<u64>> {
    loop {
        match chunks.recv() {
            Ok(Chunk::Documents(count, content)) => writer.add(count, &content)?,
            Ok(Chunk::End) => return writer.finish().map(Some),
            Err(_) => return Ok(None),
        }
    }
}
