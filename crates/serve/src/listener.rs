//! Where clients come in.

use crate::http;
use crate::http::date::Date;
use crate::session::Protocol;
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

    /// Tells a client that there are too many.
    pub fn refuse(&self, mut stream: TcpStream, date: &mut Date) {
        // It may not be there any more to hear it.
        let _ = match self.protocol {
            Protocol::Resp => stream.write_all(b"-ERR max number of clients reached\r\n"),
            Protocol::Http => stream.write_all(&http::session::too_many(date.now())),
        };
    }
}
