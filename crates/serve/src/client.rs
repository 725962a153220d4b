//! One client: its socket, what has come of a request, and what is still to be sent.
//!
//! Requests that are there together are answered together, and nothing more is read before their replies are sent: so one client holds no more
//! than one group of replies, and the system has it wait when it sends more or reads nothing.

use crate::asked::Answer;
use crate::backend::{Backend, Common};
use crate::received::Received;
use crate::session::{Asked, Protocol, Session};
use mio::net::TcpStream;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

/// Bytes for which room is kept for replies while there are none.
const KEPT: usize = 4 << 10;

/// How long a client may receive nothing of its replies.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much of what is not read any more is taken, so that the reply before it arrives, and how long.
pub(crate) const LINGERS: (usize, Duration) = (1 << 20, Duration::from_secs(1));

/// What a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its requests.
    Reads,
    /// The answers to them.
    Waits,
    /// That it receives its replies.
    Writes,
    /// That it has received the last one, while so many bytes of what it still sends are taken.
    Lingers(usize),
}

/// What a client's turn has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It has to wait for its socket, or for answers.
    Over,
    /// There is more to do.
    Again,
    /// Requests are to be answered, and whether what decides has a part in that.
    Requests(bool),
    /// It has gone.
    Gone,
}

/// A client.
pub(crate) struct Client {
    stream: TcpStream,
    session: Session,
    received: Received,
    unsent: Vec<u8>,
    sent: usize,
    phase: Phase,
    /// Whether the socket may have more.
    is_readable: bool,
    /// Whether the client sends nothing more than what is there.
    is_at_end: bool,
    /// Whether nothing can be read as a request before more has come.
    is_partial: bool,
    /// Whether it may ask for more.
    stays: bool,
    /// Requests that are answered together, and when they had come.
    requests: (usize, Instant),
    /// When anything last came or went.
    active: Instant,
    /// Whether it waits for its turn.
    pub is_queued: bool,
}

impl Client {
    /// One that has come.
    pub fn new(stream: TcpStream, protocol: Protocol, common: &Common, now: Instant) -> Self {
        Self {
            stream,
            session: Session::new(protocol, common),
            received: Received::default(),
            unsent: Vec::new(),
            sent: 0,
            phase: Phase::Reads,
            is_readable: true,
            is_at_end: false,
            is_partial: true,
            stays: true,
            requests: (0, now),
            active: now,
            is_queued: false,
        }
    }

    /// Its socket.
    pub fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// That its socket may have something, of which this may be all.
    pub fn may_read(&mut self, is_at_end: bool) {
        self.is_readable = true;
        self.is_at_end |= is_at_end;
    }

    /// Nothing more is taken from it than what has come.
    pub fn stop(&mut self) {
        // One that has gone is stopped.
        let _ = self.stream.shutdown(Shutdown::Read);
        self.may_read(true);
    }

    /// When it is sent away if nothing comes or goes until then.
    pub fn until(&self, idle: Option<Duration>) -> Option<Instant> {
        let patience = match self.phase {
            Phase::Reads => idle?,
            Phase::Waits => return None,
            Phase::Writes => PATIENCE,
            Phase::Lingers(_) => LINGERS.1,
        };
        self.active.checked_add(patience)
    }

    /// Reads what has come, once, and the requests in it; `room` is for bytes that come.
    pub fn turn(
        &mut self,
        now: Instant,
        room: &mut [u8],
        common: &Common,
        asked: &mut Vec<Asked>,
    ) -> Result<Turn> {
        match self.phase {
            Phase::Reads => {}
            Phase::Waits => return Ok(Turn::Over),
            Phase::Writes => return self.send(now),
            Phase::Lingers(left) => return self.linger(left, room),
        }
        let mut came = 0;
        if self.is_partial || self.received.is_empty() {
            came = match self.read(room)? {
                None => return Ok(Turn::Over),
                Some(0) => return Ok(Turn::Gone),
                Some(bytes) => bytes,
            };
            self.active = now;
        }
        let Self { session, unsent, .. } = self;
        let new = room.get(..came).unwrap_or_default();
        let taken = self.received.feed(new, |bytes| session.read(bytes, common, asked, unsent));
        (self.is_partial, self.stays) = (taken.is_partial, taken.stays);
        if taken.requests > 0 {
            self.phase = Phase::Waits;
            self.requests = (taken.requests, now);
            return Ok(Turn::Requests(taken.asks));
        }
        self.send(now)
    }

    /// Replies to the requests of its last turn. There are no answers where nothing decides any more.
    pub fn reply(&mut self, answers: Option<&[Answer]>, now: Instant, backend: &mut Backend) -> Result<Turn> {
        self.session.reply(answers, backend, &mut self.unsent);
        let (requests, came) = self.requests;
        backend.common.shared.answered(
            self.session.protocol(),
            requests as u64,
            now.saturating_duration_since(came),
        );
        self.phase = Phase::Writes;
        self.active = now;
        self.send(now)
    }

    /// Reads once; `None` where nothing is there.
    fn read(&mut self, room: &mut [u8]) -> Result<Option<usize>> {
        if !self.is_readable {
            return Ok(None);
        }
        loop {
            match self.stream.read(room) {
                Ok(bytes) => {
                    // Where less has come than there was room for there is nothing more, but perhaps the end.
                    self.is_readable = bytes == room.len() || self.is_at_end;
                    return Ok(Some(bytes));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.is_readable = false;
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends as much as the socket takes, and goes on to the next requests when that is all.
    fn send(&mut self, now: Instant) -> Result<Turn> {
        while let Some(rest @ [_, ..]) = self.unsent.get(self.sent..) {
            match self.stream.write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => {
                    self.sent += bytes;
                    self.active = now;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.phase = Phase::Writes;
                    return Ok(Turn::Over);
                }
                Err(error) => return Err(error),
            }
        }
        self.unsent.clear();
        self.unsent.shrink_to(KEPT);
        self.sent = 0;
        if !self.stays {
            self.stream.shutdown(Shutdown::Write)?;
            self.phase = Phase::Lingers(LINGERS.0);
            return Ok(Turn::Again);
        }
        self.phase = Phase::Reads;
        let has_more = if self.is_partial || self.received.is_empty() { self.is_readable } else { true };
        Ok(if has_more { Turn::Again } else { Turn::Over })
    }

    /// Takes some of what the client still sends: a connection that is closed before would take back what it was answered.
    fn linger(&mut self, left: usize, room: &mut [u8]) -> Result<Turn> {
        match self.read(room)? {
            None => Ok(Turn::Over),
            Some(0) => Ok(Turn::Gone),
            Some(bytes) => {
                let left = left.checked_sub(bytes).ok_or(Error::from(ErrorKind::ConnectionAborted))?;
                self.phase = Phase::Lingers(left);
                Ok(Turn::Again)
            }
        }
    }
}
