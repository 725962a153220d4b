//! One client's side of TLS, without a socket: what has come is decrypted, and what is to go is encrypted.
//!
//! Records are decrypted as they come, all that are there, so that requests of a pipeline are read together as without TLS. Of one that is not all there the beginning is
//! kept (16 KB at most, 64 KB of a handshake), and of what was encrypted and the socket has not taken as much as [`UNSENT`].

use rustls::{ServerConfig, ServerConnection};
use std::io::{BufRead, ErrorKind, Result, Write};
use std::sync::Arc;

/// Bytes that are encrypted and not sent, at most, before no more are taken.
pub const UNSENT: usize = 64 << 10;

/// The first byte of every handshake (RFC 8446, section 5.1: the type of the first record), which no request begins with.
pub const HANDSHAKE: u8 = 0x16;

/// What is sent to a client for which there is no place: the alert `internal_error`, which is fatal.
pub(crate) const NO_PLACE: &[u8] = &[0x15, 3, 3, 0, 2, 2, 80];

/// One client's side.
pub struct Connection {
    inner: ServerConnection,
    /// Whether the client has said that nothing more comes.
    is_at_end: bool,
}

impl Connection {
    /// One of whose client nothing has come.
    ///
    /// # Errors
    /// The configuration is none for a server.
    pub(crate) fn new(config: Arc<ServerConfig>) -> std::result::Result<Self, rustls::Error> {
        let mut inner = ServerConnection::new(config)?;
        inner.set_buffer_limit(Some(UNSENT));
        Ok(Self { inner, is_at_end: false })
    }

    /// Decrypts what has come; `decrypted` has then what was in it. There may be something to send, whether it succeeds or not.
    ///
    /// # Errors
    /// It is no TLS; the two do not agree; it was changed on its way.
    pub fn decrypt(
        &mut self,
        came: &[u8],
        decrypted: &mut Vec<u8>,
    ) -> std::result::Result<(), rustls::Error> {
        decrypted.clear();
        let mut rest = came;
        while !rest.is_empty() && !self.is_at_end {
            // It takes some kilobytes at a time, and fails where a message is longer than any may be.
            let taken = self.inner.read_tls(&mut rest);
            taken.map_err(|error| rustls::Error::General(error.to_string()))?;
            self.is_at_end = self.inner.process_new_packets()?.peer_has_closed();
            let mut reader = self.inner.reader();
            while let Ok(some @ [_, ..]) = reader.fill_buf() {
                decrypted.extend_from_slice(some);
                let bytes = some.len();
                reader.consume(bytes);
            }
        }
        Ok(())
    }

    /// Encrypts some bytes: as many as are taken, none where [`UNSENT`] wait.
    ///
    /// # Errors
    /// There is no handshake yet in which a key was agreed on and too much waits for it.
    pub fn encrypt(&mut self, bytes: &[u8]) -> Result<usize> {
        self.inner.writer().write(bytes)
    }

    /// Says that nothing more will go.
    pub fn close(&mut self) {
        self.inner.send_close_notify();
    }

    /// Sends what was encrypted, as much as a socket takes: how many bytes it took, and whether that is all.
    ///
    /// # Errors
    /// The socket has failed.
    pub fn flush(&mut self, socket: &mut impl Write) -> Result<(usize, bool)> {
        let mut sent = 0;
        while self.inner.wants_write() {
            match self.inner.write_tls(socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => sent += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok((sent, false)),
                Err(error) => return Err(error),
            }
        }
        Ok((sent, true))
    }

    /// Whether the two have not agreed yet.
    pub fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    /// Whether the client has said that nothing more comes.
    pub fn is_at_end(&self) -> bool {
        self.is_at_end
    }
}
