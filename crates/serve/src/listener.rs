//! Where clients come in.

use crate::http::date::Date;
use crate::http::request::Failure;
use crate::http::session::refusal;
use crate::session::Protocol;
use crate::tls::connection::NO_PLACE;
use mio::net::{TcpListener, TcpStream};
use std::io::{ErrorKind, Write};
use std::time::{Duration, Instant};

/// How long nobody is taken in where that has failed, such as for want of file handles.
const RESTS: Duration = Duration::from_millis(20);

/// Clients that are taken in one after the other, before anything else is done.
const TOGETHER: usize = 64;

/// A socket at which clients come in.
pub(crate) struct Listener {
    pub socket: TcpListener,
    pub protocol: Protocol,
    /// From when on there may be a client; nothing before the system says so.
    pub again: Option<Instant>,
}

impl Listener {
    /// The clients that are there by now, some at a time.
    pub fn clients(&mut self, now: Instant) -> Vec<TcpStream> {
        let mut came = Vec::new();
        if self.again.is_none_or(|again| now < again) {
            return came;
        }
        while came.len() < TOGETHER {
            match self.socket.accept() {
                Ok((stream, _)) => came.push(stream),
                Err(error) => {
                    self.again = match error.kind() {
                        ErrorKind::WouldBlock => None,
                        // It has gone again.
                        ErrorKind::ConnectionAborted | ErrorKind::Interrupted => continue,
                        _ => Some(now + RESTS),
                    };
                    break;
                }
            }
        }
        came
    }

    /// Tells a client that there are too many; where it waits for a handshake, by an alert of TLS.
    pub fn refuse(&self, mut stream: TcpStream, by_tls: bool, date: &mut Date) {
        const PROBLEM: &str = "ERR max number of clients reached";
        let mut out = Vec::new();
        match self.protocol {
            _ if by_tls => out.extend_from_slice(NO_PLACE),
            Protocol::Resp => out.extend_from_slice(format!("-{PROBLEM}\r\n").as_bytes()),
            Protocol::Http => refusal(&Failure::new(503, PROBLEM), date.now(), &mut out),
        }
        // It may not be there any more to hear it.
        let _ = stream.write_all(&out);
    }
}
