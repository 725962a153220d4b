//! One client: what has come of a request, and what is still to be sent.
//!
//! Requests that are there together are answered together, and nothing more is read before their replies are sent: so one client holds no more
//! than one group of replies, and the system has it wait when it sends more or reads nothing.

use crate::asked::Answer;
use crate::backend::{Backend, Common};
use crate::received::Received;
use crate::session::{Asked, Session};
use crate::tls::failures::Failure;
use crate::wire::{Came, Room, Wire};
use mio::net::TcpStream;
use std::io::{Error, ErrorKind, Result};
use std::net::Shutdown;
use std::sync::atomic::Ordering;
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
    wire: Wire,
    session: Session,
    received: Received,
    unsent: Vec<u8>,
    sent: usize,
    phase: Phase,
    /// Whether nothing can be read as a request before more has come.
    is_partial: bool,
    /// Whether it may ask for more.
    stays: bool,
    /// Requests that are answered together, and when they had come.
    requests: (usize, Instant),
    /// When anything last came or went.
    active: Instant,
    /// When a handshake has to be over.
    agrees_until: Option<Instant>,
    /// Whether it waits for its turn.
    pub is_queued: bool,
}

impl Client {
    /// One that has come.
    pub fn new(wire: Wire, session: Session, patience: Duration, now: Instant) -> Self {
        Self {
            wire,
            session,
            received: Received::default(),
            unsent: Vec::new(),
            sent: 0,
            phase: Phase::Reads,
            is_partial: true,
            stays: true,
            requests: (0, now),
            active: now,
            agrees_until: now.checked_add(patience),
            is_queued: false,
        }
    }

    /// Its socket.
    pub fn socket(&mut self) -> &mut TcpStream {
        self.wire.socket()
    }

    /// That its socket may have something, of which this may be all.
    pub fn may_read(&mut self, is_at_end: bool) {
        self.wire.may_read(is_at_end);
    }

    /// Whether it has to agree with the service on TLS first.
    pub fn is_handshaking(&self) -> bool {
        self.wire.is_handshaking()
    }

    /// Nothing more is taken from it than what has come.
    pub fn stop(&mut self) {
        // One that has gone is stopped.
        let _ = self.wire.shutdown(Shutdown::Read);
        self.may_read(true);
    }

    /// It has had its time.
    pub fn gives_up(&mut self, common: &Common) {
        if self.is_handshaking() {
            common.shared.failures.note(&Failure::Late, self.wire.peer());
        }
    }

    /// Tells it that this is the end, as far as its socket takes that.
    pub fn leave(&mut self) {
        // That would be no end which it could believe in, where replies are missing before it.
        if self.sent == self.unsent.len() {
            self.wire.close();
        }
        // It may have gone before.
        let _ = self.wire.flush();
    }

    /// When it is sent away if nothing comes or goes until then.
    pub fn until(&self, idle: Option<Duration>) -> Option<Instant> {
        if self.is_handshaking() {
            return self.agrees_until;
        }
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
        room: &mut Room,
        common: &Common,
        asked: &mut Vec<Asked>,
    ) -> Result<Turn> {
        match self.phase {
            Phase::Reads => {}
            Phase::Waits => return Ok(Turn::Over),
            Phase::Writes => return self.send(now),
            Phase::Lingers(left) => return self.linger(left, room),
        }
        let mut new: &[u8] = &[];
        if self.is_partial || self.received.is_empty() {
            let was_handshaking = self.is_handshaking();
            let came = self.wire.read(room)?;
            if was_handshaking && !self.is_handshaking() {
                common.shared.handshakes.fetch_add(1, Ordering::Relaxed);
                self.active = now;
            }
            new = match came {
                Came::Bytes(bytes) => bytes,
                Came::Nothing => return Ok(Turn::Over),
                Came::More if self.wire.is_readable() => return Ok(Turn::Again),
                Came::More => return Ok(Turn::Over),
                Came::End => return Ok(Turn::Gone),
                Came::Failed(failure) => return self.fail(&failure, now, common),
            };
            self.active = now;
        }
        let Self { session, unsent, .. } = self;
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

    /// There is no TLS with it, or none where it is expected.
    fn fail(&mut self, failure: &Failure, now: Instant, common: &Common) -> Result<Turn> {
        common.shared.failures.note(failure, self.wire.peer());
        let problem = match failure {
            Failure::Plain => "ERR this address speaks TLS: use redis-cli --tls, or https://",
            Failure::Unexpected => "ERR this address speaks no TLS: use redis-cli without --tls, or http://",
            Failure::Refused(_) | Failure::Ended | Failure::Late => return Ok(Turn::Gone),
        };
        common.shared.errors.fetch_add(1, Ordering::Relaxed);
        self.wire.drop_tls();
        self.session.refuse(problem, &mut self.unsent);
        self.stays = false;
        self.send(now)
    }

    /// Sends as much as the socket takes, and goes on to the next requests when that is all.
    fn send(&mut self, now: Instant) -> Result<Turn> {
        while let Some(rest @ [_, ..]) = self.unsent.get(self.sent..) {
            match self.wire.write(rest) {
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
        if !self.stays {
            self.wire.close();
        }
        let (bytes, is_all) = self.wire.flush()?;
        if bytes > 0 {
            self.active = now;
        }
        if !is_all {
            self.phase = Phase::Writes;
            return Ok(Turn::Over);
        }
        self.unsent.clear();
        self.unsent.shrink_to(KEPT);
        self.sent = 0;
        if !self.stays {
            self.wire.shutdown(Shutdown::Write)?;
            self.phase = Phase::Lingers(LINGERS.0);
            return Ok(Turn::Again);
        }
        self.phase = Phase::Reads;
        let has_more =
            if self.is_partial || self.received.is_empty() { self.wire.is_readable() } else { true };
        Ok(if has_more { Turn::Again } else { Turn::Over })
    }

    /// Takes some of what the client still sends: a connection that is closed before would take back what it was answered.
    fn linger(&mut self, left: usize, room: &mut Room) -> Result<Turn> {
        match self.wire.skip(room)? {
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
