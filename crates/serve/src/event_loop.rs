//! The one thread that waits for all clients, reads and decides what they ask for, and replies.
//!
//! It goes in rounds: whoever has sent something has a turn, all requests of the round are decided and written together, and each client has one write of its
//! replies. What takes long is made ready by [`Workers`], and decided in the round after. With `--fsync always` replies are held until what they
//! rest on is on the disk, while the next round goes on.

mod deciding;

use crate::asked::Answer;
use crate::backend::Backend;
use crate::client::{Client, LINGERS, Turn};
use crate::decider::Decides;
use crate::group::{Answered, Group};
use crate::info::Phase;
use crate::lender::Lender;
use crate::listener::Listener;
use crate::server::Stopper;
use crate::session::{Asked, Protocol, Session};
use crate::sketch::Sketch;
use crate::tls::TlsOptions;
use crate::wire::{Room, Wire};
use crate::workers::{self, Workers};
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::{Duration, Instant};
use twinsplit_io::error::{Error, Result};

/// What wakes the thread beside its sockets: a note, work that is done, changes that are on the disk.
pub(crate) const WAKER: Token = Token(0);

/// The first of the numbers of listeners and clients, none of which comes twice.
const FIRST: usize = 1;

/// What the thread is told.
pub(crate) enum Note {
    /// To listen for clients of RESP and to have this decide; whether it does is told.
    Serve(TcpListener, Box<dyn Decides>, Sender<Result<()>>),
    /// To answer what has come, and to end.
    Stop,
}

/// Events that are taken at one time.
const EVENTS: usize = 1024;

/// Requests of a round, about, after which others have to wait for the next one: some milliseconds.
const ROUND: usize = 2048;

/// Requests that a step of a handshake counts as: a signature takes as long, some tenths of a millisecond.
const HANDSHAKE: usize = 128;

/// How often it is asked for what was lent.
const ASKS: Duration = Duration::from_millis(50);

/// The least time between two looks for clients that are idle.
const SWEEPS: Duration = Duration::from_millis(10);

/// The thread's own.
pub(crate) struct EventLoop {
    poll: Poll,
    notes: Receiver<Note>,
    workers: Workers,
    lender: Lender,
    backend: Backend,
    failed: Option<Error>,
    /// Told where the disk has failed.
    stopper: Stopper,
    stops: bool,
    listeners: FxHashMap<usize, Listener>,
    clients: FxHashMap<usize, Client>,
    next: usize,
    /// Clients that have a turn, in this order.
    queue: VecDeque<usize>,
    group: Group,
    /// Answers that wait for the disk, and the changes on which they rest.
    held: VecDeque<(u64, Answered)>,
    /// What is asked for in a turn.
    asked: Vec<Asked>,
    sketch: Sketch,
    room: Room,
    now: Instant,
    /// When idle clients are looked for.
    sweeps: Instant,
}

impl EventLoop {
    /// One that has no clients yet, and nothing that decides.
    pub fn new(
        poll: Poll,
        notes: Receiver<Note>,
        workers: Workers,
        lender: Lender,
        backend: Backend,
        stopper: Stopper,
    ) -> Self {
        let (sketch, now) = (backend.common.sketching.sketch(), Instant::now());
        Self {
            poll,
            notes,
            workers,
            lender,
            backend,
            failed: None,
            stopper,
            stops: false,
            listeners: FxHashMap::default(),
            clients: FxHashMap::default(),
            next: FIRST,
            queue: VecDeque::new(),
            group: Group::default(),
            held: VecDeque::new(),
            asked: Vec::new(),
            sketch,
            room: Room::new(),
            now,
            sweeps: now,
        }
    }

    /// Takes clients in at a socket.
    ///
    /// # Errors
    /// The system cannot tell when there are any.
    pub fn listen(&mut self, mut socket: TcpListener, protocol: Protocol) -> Result<()> {
        let number = self.number();
        let registered = self.poll.registry().register(&mut socket, Token(number), Interest::READABLE);
        registered.map_err(Error::io("wait for clients of", "the service"))?;
        self.listeners.insert(number, Listener { socket, protocol, again: Some(self.now) });
        Ok(())
    }

    fn number(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// Serves until it is told to stop, and all that has come is answered; then writes a snapshot.
    ///
    /// # Errors
    /// The log cannot be written; the system cannot tell what clients have sent.
    pub fn run(mut self) -> Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        while !self.stops || !self.clients.is_empty() || self.lender.is_away() {
            match self.poll.poll(&mut events, self.patience()) {
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    return Err(Error::io("wait for clients of", "the service")(error));
                }
                _ => self.now = Instant::now(),
            }
            for event in &events {
                let number = event.token().0;
                if let Some(client) = self.clients.get_mut(&number) {
                    if event.is_readable() || event.is_read_closed() || event.is_error() {
                        client.may_read(event.is_read_closed() || event.is_error());
                    }
                    self.queue_up(number);
                } else if let Some(listener) = self.listeners.get_mut(&number) {
                    listener.again = Some(self.now);
                }
            }
            self.read_notes();
            self.take_in();
            self.take_what_is_done();
            let (turns, mut handshakes) = (self.queue.len(), 0);
            for _ in 0..turns {
                if self.group.len() + handshakes * HANDSHAKE >= ROUND {
                    break;
                }
                if let Some(number) = self.queue.pop_front() {
                    handshakes += usize::from(self.clients.get(&number).is_some_and(Client::is_handshaking));
                    self.turn(number);
                }
            }
            self.decide();
            self.sweep();
        }
        let ended = self.backend.decider.take().map_or(Ok(()), Decides::end);
        self.failed.map_or(ended, Err)
    }

    /// How long there is nothing to do if nothing comes.
    fn patience(&self) -> Option<Duration> {
        if !self.queue.is_empty() {
            return Some(Duration::ZERO);
        }
        let accepts = self.listeners.values().filter_map(|listener| listener.again).min();
        let sweeps = (!self.clients.is_empty()).then_some(self.sweeps);
        let until = accepts.into_iter().chain(sweeps).min();
        let until = until.map(|until| until.saturating_duration_since(Instant::now()));
        let decides = match &self.backend.decider {
            Some(decider) => Some(decider.patience()),
            None => self.lender.is_away().then_some(ASKS),
        };
        until.into_iter().chain(decides).min()
    }

    fn queue_up(&mut self, number: usize) {
        if let Some(client) = self.clients.get_mut(&number)
            && !std::mem::replace(&mut client.is_queued, true)
        {
            self.queue.push_back(number);
        }
    }

    fn read_notes(&mut self) {
        loop {
            match self.notes.try_recv() {
                Ok(Note::Serve(socket, decider, told)) => {
                    let listens = self.listen(socket, Protocol::Resp);
                    if listens.is_ok() {
                        self.backend.decider = Some(decider);
                        self.backend.common.shared.is_now(Phase::Serves);
                    }
                    // Who has started it waits for this.
                    let _ = told.send(listens);
                }
                Ok(Note::Stop) => self.stop(),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            }
        }
    }

    fn stop(&mut self) {
        self.stops = true;
        self.backend.common.shared.is_now(Phase::Ended);
        self.listeners.clear();
        let numbers: Vec<usize> = self.clients.keys().copied().collect();
        for number in numbers {
            // It reads what has come, and then the end.
            self.clients.get_mut(&number).into_iter().for_each(Client::stop);
            self.queue_up(number);
        }
    }

    /// Takes in the clients that have come.
    fn take_in(&mut self) {
        let mut came = Vec::new();
        let common = self.backend.common.clone();
        let (shared, tls) = (&common.shared, &common.options.tls);
        for listener in self.listeners.values_mut() {
            for stream in listener.clients(self.now) {
                shared.connections_received.fetch_add(1, Ordering::Relaxed);
                if self.clients.len() + came.len() < common.options.connections {
                    came.push((stream, listener.protocol));
                } else {
                    shared.connections_refused.fetch_add(1, Ordering::Relaxed);
                    listener.refuse(stream, tls.is_some(), &mut self.backend.date);
                }
            }
        }
        for (stream, protocol) in came {
            // What was read once makes a side for each client.
            let Ok(connection) = tls.as_ref().map(|tls| tls.begin()).transpose() else { continue };
            let number = self.number();
            let (wire, session) = (Wire::new(stream, connection), Session::new(protocol, &common));
            let mut client = Client::new(wire, session, self.agrees_within(), self.now);
            let (registry, both) = (self.poll.registry(), Interest::READABLE | Interest::WRITABLE);
            let is_there = client.socket().set_nodelay(true).is_ok()
                && registry.register(client.socket(), Token(number), both).is_ok();
            if is_there {
                shared.connections.fetch_add(1, Ordering::Relaxed);
                self.clients.insert(number, client);
            }
        }
    }

    /// How long a handshake may take.
    fn agrees_within(&self) -> Duration {
        let tls = self.backend.common.options.tls.as_ref();
        tls.map_or(TlsOptions::PATIENCE, |tls| tls.options().patience)
    }

    fn leave(&mut self, number: usize) {
        if let Some(mut client) = self.clients.remove(&number) {
            client.leave();
            self.backend.common.shared.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Has what is ready by now decided in this round.
    fn take_what_is_done(&mut self) {
        for done in self.workers.done() {
            match done.ready {
                Some(ready) => self.group.push(done.client, ready.into_iter()),
                None => self.leave(done.client),
            }
        }
    }

    /// Reads what a client asks for.
    fn turn(&mut self, number: usize) {
        let Some(client) = self.clients.get_mut(&number) else { return };
        client.is_queued = false;
        let turn = client.turn(self.now, &mut self.room, &self.backend.common, &mut self.asked);
        let Ok(Turn::Requests(asks)) = turn else { return self.end_turn(number, turn) };
        let decides = self.backend.decider.is_some() || self.lender.is_away();
        if !asks || !decides {
            self.asked.clear();
            self.reply(number, None);
        } else if workers::bytes(&self.asked) > 0 {
            self.workers.ask(number, std::mem::take(&mut self.asked));
        } else {
            let (sketching, sketch) = (&self.backend.common.sketching, &mut self.sketch);
            let ready = self.asked.drain(..).map(|asked| workers::ready(asked, sketching, sketch));
            self.group.push(number, ready);
        }
    }

    fn end_turn(&mut self, number: usize, turn: std::io::Result<Turn>) {
        match turn {
            Ok(Turn::Again) => self.queue_up(number),
            Ok(Turn::Over | Turn::Requests(_)) => {}
            // What happens to a connection is the client's to see.
            Ok(Turn::Gone) | Err(_) => self.leave(number),
        }
    }

    fn reply(&mut self, number: usize, answers: Option<&[Answer]>) {
        let Some(client) = self.clients.get_mut(&number) else { return };
        let turn = client.reply(answers, self.now, &mut self.backend);
        self.end_turn(number, turn);
    }

    /// Sends clients away that have been idle for too long.
    fn sweep(&mut self) {
        if self.now < self.sweeps {
            return;
        }
        let idle = self.backend.common.options.idle;
        let least = LINGERS.1.min(idle.unwrap_or(LINGERS.1)).min(self.agrees_within());
        let (mut gone, mut next) = (Vec::new(), self.now + least);
        for (number, client) in &mut self.clients {
            match client.until(idle) {
                Some(until) if until <= self.now => {
                    client.gives_up(&self.backend.common);
                    gone.push(*number);
                }
                Some(until) => next = next.min(until),
                None => {}
            }
        }
        gone.into_iter().for_each(|number| self.leave(number));
        self.sweeps = next.max(self.now + SWEEPS);
    }
}
