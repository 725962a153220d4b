//! What a client speaks: bytes become requests, and answers become bytes, in the order of the requests.
//!
//! A session knows nothing of sockets, nor of when something is decided. It reads some requests, and has to be given the answers to them before it
//! reads more.

use crate::asked::{Answer, Operation};
use crate::backend::{Backend, Common};
use crate::http::date::Date;
use crate::http::endpoints::Reads;
use crate::http::request::Failure;
use crate::http::session::{HttpSession, refusal};
use crate::resp::Replies;
use crate::resp_session::RespSession;
use crate::sketch::Sent;

/// What is asked of a namespace, as far as it has been read.
pub(crate) enum Wanted {
    Operation(Operation<Sent>),
    /// A body that takes long to read, and what reads it.
    Body(Reads, Vec<u8>),
}

/// A namespace, and what is asked of it.
pub(crate) type Asked = (Box<[u8]>, Wanted);

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Requests that are to be answered together.
    pub requests: usize,
    /// Whether more may follow.
    pub stays: bool,
    /// Whether nothing can be read before more bytes have come.
    pub is_partial: bool,
    /// Whether what decides has a part in a reply.
    pub asks: bool,
}

/// What a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Resp,
    Http,
}

/// A client's side of a protocol.
pub(crate) enum Session {
    Resp(Box<RespSession>),
    Http(Box<HttpSession>),
}

impl Session {
    pub fn new(protocol: Protocol, common: &Common) -> Self {
        match protocol {
            Protocol::Resp => Session::Resp(Box::new(RespSession::new(common))),
            Protocol::Http => Session::Http(Box::new(HttpSession::new(common))),
        }
    }

    pub fn protocol(&self) -> Protocol {
        match self {
            Session::Resp(_) => Protocol::Resp,
            Session::Http(_) => Protocol::Http,
        }
    }

    /// Reads the requests at the beginning of some bytes, as many as are answered together, and how many bytes those are. What is asked of namespaces is put
    /// to `asked`; what has to be said before anything else comes, to `out`.
    pub fn read(
        &mut self,
        bytes: &[u8],
        common: &Common,
        asked: &mut Vec<Asked>,
        out: &mut Vec<u8>,
    ) -> (usize, Taken) {
        match self {
            Session::Resp(session) => session.read(bytes, common, asked),
            Session::Http(session) => session.read(bytes, common, asked, out),
        }
    }

    /// Says what is wrong with a client of which no request is read.
    pub fn refuse(&mut self, problem: &str, out: &mut Vec<u8>) {
        match self {
            Session::Resp(_) => {
                let mut replies = Replies { bytes: std::mem::take(out), ..Replies::default() };
                replies.error(problem);
                *out = replies.bytes;
            }
            Session::Http(_) => refusal(&Failure::new(400, problem), Date::default().now(), out),
        }
    }

    /// Replies to the requests that were read last. There are no answers where nothing decides any more.
    pub fn reply(&mut self, answers: Option<&[Answer]>, backend: &mut Backend, out: &mut Vec<u8>) {
        match self {
            Session::Resp(session) => session.reply(answers, backend, out),
            Session::Http(session) => session.reply(answers, backend, out),
        }
    }
}

/// What is answered where nothing decides any more: a word and a sentence.
pub(crate) const STOPPED: &str = "IOERR the service has stopped: whether the request was done is not known; send it again when the service is there";
