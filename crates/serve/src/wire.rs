//! What a client's bytes come and go by: its socket, with TLS between or without.

use crate::tls::connection::{Connection, HANDSHAKE};
use crate::tls::failures::Failure;
use mio::net::TcpStream;
use std::io::{ErrorKind, Read, Result, Write};
use std::net::{Shutdown, SocketAddr};

/// Bytes that are read of a client in its turn.
const ROOM: usize = 64 << 10;

/// Room for what comes, which all clients share.
pub(crate) struct Room {
    came: Vec<u8>,
    /// What was in it, where it came by TLS.
    decrypted: Vec<u8>,
}

impl Room {
    pub fn new() -> Self {
        Self { came: vec![0; ROOM], decrypted: Vec::new() }
    }
}

/// What has come.
pub(crate) enum Came<'a> {
    /// Bytes of requests.
    Bytes(&'a [u8]),
    /// Nothing yet.
    Nothing,
    /// Something else than bytes of requests, and perhaps more.
    More,
    /// The end.
    End,
    /// What ends the connection; with [`Wire::drop_tls`] there may still be said why.
    Failed(Failure),
}

/// A client's socket, and its side of TLS where it has one.
pub(crate) struct Wire {
    socket: TcpStream,
    tls: Option<Box<Connection>>,
    /// Whether nothing has come yet.
    is_new: bool,
    /// Whether the socket may have more.
    is_readable: bool,
    /// Whether the client sends nothing more than what is there.
    is_at_end: bool,
}

impl Wire {
    pub fn new(socket: TcpStream, tls: Option<Connection>) -> Self {
        Self { socket, tls: tls.map(Box::new), is_new: true, is_readable: true, is_at_end: false }
    }

    /// Its socket.
    pub fn socket(&mut self) -> &mut TcpStream {
        &mut self.socket
    }

    /// Whom it is to.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.socket.peer_addr().ok()
    }

    /// That its socket may have something, of which this may be all.
    pub fn may_read(&mut self, is_at_end: bool) {
        self.is_readable = true;
        self.is_at_end |= is_at_end;
    }

    /// Whether there may be something to read.
    pub fn is_readable(&self) -> bool {
        self.is_readable
    }

    /// Whether a client that has begun a handshake has not ended it.
    pub fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Reads what has come, once.
    pub fn read<'a>(&mut self, room: &'a mut Room) -> Result<Came<'a>> {
        match self.read_once(room) {
            // However a client has gone.
            Err(_) | Ok(Came::End) if self.is_handshaking() && !self.is_new => {
                Ok(Came::Failed(Failure::Ended))
            }
            came => came,
        }
    }

    fn read_once<'a>(&mut self, room: &'a mut Room) -> Result<Came<'a>> {
        if let Some(tls) = &mut self.tls {
            if tls.is_at_end() {
                return Ok(Came::End);
            }
            // Of who takes nothing of a handshake nothing more is read.
            if !tls.flush(&mut self.socket)?.1 {
                return Ok(Came::Nothing);
            }
        }
        let Some(bytes) = self.receive(&mut room.came)? else { return Ok(Came::Nothing) };
        let Some(came @ [first, ..]) = room.came.get(..bytes) else { return Ok(Came::End) };
        if std::mem::replace(&mut self.is_new, false) {
            match (&self.tls, *first == HANDSHAKE) {
                (Some(_), false) => return Ok(Came::Failed(Failure::Plain)),
                (None, true) => return Ok(Came::Failed(Failure::Unexpected)),
                _ => {}
            }
        }
        let Some(tls) = &mut self.tls else { return Ok(Came::Bytes(came)) };
        let was_handshaking = tls.is_handshaking();
        let done = tls.decrypt(came, &mut room.decrypted);
        // The client's part of a handshake, or why there is none.
        let flushed = tls.flush(&mut self.socket);
        match done {
            Err(error) if was_handshaking => return Ok(Came::Failed(Failure::Refused(error))),
            Err(_) => return Err(ErrorKind::InvalidData.into()),
            Ok(()) => {}
        }
        flushed?;
        // The end is found when it is read.
        self.is_readable |= tls.is_at_end();
        Ok(if room.decrypted.is_empty() { Came::More } else { Came::Bytes(&room.decrypted) })
    }

    /// Reads once, whatever it is; nothing where nothing is there, and no bytes at the end.
    fn receive(&mut self, room: &mut [u8]) -> Result<Option<usize>> {
        if !self.is_readable {
            return Ok(None);
        }
        loop {
            match self.socket.read(room) {
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

    /// Takes some of what still comes, and looks at none of it; nothing where nothing is there, and no bytes at the end.
    pub fn skip(&mut self, room: &mut Room) -> Result<Option<usize>> {
        self.receive(&mut room.came)
    }

    /// Sends some bytes, as many as are taken.
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let Some(tls) = &mut self.tls else { return self.socket.write(bytes) };
        if !tls.flush(&mut self.socket)?.1 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let taken = tls.encrypt(bytes)?;
        tls.flush(&mut self.socket)?;
        Ok(taken)
    }

    /// Sends what was taken and not sent yet: how many bytes went, and whether that is all.
    pub fn flush(&mut self) -> Result<(usize, bool)> {
        self.tls.as_mut().map_or(Ok((0, true)), |tls| tls.flush(&mut self.socket))
    }

    /// Says, where there is a way to, that nothing more will be sent.
    pub fn close(&mut self) {
        self.tls.iter_mut().for_each(|tls| tls.close());
    }

    /// What is sent from here on is not encrypted: it tells a client without TLS that TLS is expected.
    pub fn drop_tls(&mut self) {
        self.tls = None;
    }

    /// Ends a direction of it.
    pub fn shutdown(&self, how: Shutdown) -> Result<()> {
        self.socket.shutdown(how)
    }
}
