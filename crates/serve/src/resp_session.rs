//! A client of RESP.

use crate::asked::Answer;
use crate::backend::{Backend, Common};
use crate::commands::{self, Command, Request};
use crate::info;
use crate::replies;
use crate::resp::{Limits, Malformed, Reader, Replies, Version};
use crate::session::{Asked, STOPPED, Taken, Wanted};
use std::sync::atomic::Ordering;

/// Requests for which room is kept.
const KEPT: usize = 16;

/// What is known of a client.
pub(crate) struct RespSession {
    reader: Reader,
    version: Version,
    is_known: bool,
    /// Requests that wait for their replies.
    waiting: Vec<Waiting>,
}

/// A request that waits.
enum Waiting {
    /// For the answer of what decides.
    Answer,
    /// For its turn.
    Turn(Command),
}

impl RespSession {
    pub fn new(common: &Common) -> Self {
        let is_known = common.options.password.is_none();
        Self { reader: Reader::default(), version: Version::default(), is_known, waiting: Vec::new() }
    }

    /// Reads the requests at the beginning of some bytes.
    pub fn read(&mut self, bytes: &[u8], common: &Common, asked: &mut Vec<Asked>) -> (usize, Taken) {
        let (mut used, mut stays, mut is_partial, mut asks) = (0, true, false, false);
        // Before the password is given, each request may change what the next one may be.
        let (limits, most) = match self.is_known {
            true => (common.options.limits, common.options.pipeline),
            false => (Limits::UNKNOWN, 1),
        };
        while stays && self.waiting.len() < most {
            match self.reader.read(&bytes[used..], limits) {
                Ok(None) => {
                    is_partial = true;
                    break;
                }
                Ok(Some((words, end))) => {
                    used += end;
                    if words.is_empty() {
                        continue;
                    }
                    let mut request = commands::request(&words, &common.sketching);
                    if !self.is_known {
                        request = refuse_unknown(request);
                    }
                    self.waiting.push(match request {
                        Request::OfNamespace(namespace, operation) => {
                            asked.push((namespace, Wanted::Operation(operation)));
                            asks = true;
                            Waiting::Answer
                        }
                        Request::OfServer(command) => {
                            stays = !matches!(command, Command::Quit);
                            asks |= matches!(command, Command::Info);
                            Waiting::Turn(command)
                        }
                    });
                }
                Err(Malformed(problem)) => {
                    let problem = format!("ERR Protocol error: {problem}");
                    self.waiting.push(Waiting::Turn(Command::Wrong(problem)));
                    stays = false;
                }
            }
        }
        (used, Taken { requests: self.waiting.len(), stays, is_partial, asks })
    }

    /// Replies to what was read last.
    pub fn reply(&mut self, answers: Option<&[Answer]>, backend: &mut Backend, out: &mut Vec<u8>) {
        let mut answers = answers.unwrap_or_default().iter();
        let mut replies = Replies { version: self.version, bytes: std::mem::take(out) };
        let mut errors = 0;
        let mut all = std::mem::take(&mut self.waiting);
        for waiting in all.drain(..) {
            let before = replies.bytes.len();
            match waiting {
                Waiting::Answer => match answers.next() {
                    Some(answer) => replies::reply(answer, &mut replies),
                    None => replies.error(STOPPED),
                },
                Waiting::Turn(command) => self.do_command(command, backend, &mut replies),
            }
            errors += u64::from(replies.bytes.get(before) == Some(&b'-'));
        }
        // Its room is used again.
        self.waiting = all;
        self.waiting.shrink_to(KEPT);
        if errors > 0 {
            backend.common.shared.errors.fetch_add(errors, Ordering::Relaxed);
        }
        (self.version, *out) = (replies.version, replies.bytes);
    }

    fn do_command(&mut self, command: Command, backend: &Backend, out: &mut Replies) {
        let common = &backend.common;
        match command {
            Command::Ping(None) => out.simple("PONG"),
            Command::Ping(Some(text)) | Command::Echo(text) => out.bulk(&text),
            Command::Ok | Command::Quit => out.simple("OK"),
            Command::List => commands::reply_commands(out),
            Command::HowMany => commands::reply_count(out),
            Command::Docs => commands::reply_docs(out),
            Command::Wrong(problem) => out.error(&problem),
            Command::Auth(password) => match common.is_password(&password) {
                None => out.error("ERR AUTH: this service has no password"),
                Some(false) => out.error(commands::WRONG_PASSWORD),
                Some(true) => {
                    self.is_known = true;
                    out.simple("OK");
                }
            },
            Command::Hello { version, password } => {
                match password.map(|password| common.is_password(&password)) {
                    Some(Some(false)) => out.error(commands::WRONG_PASSWORD),
                    Some(None) => out.error("ERR AUTH: this service has no password"),
                    given => {
                        self.is_known |= given.is_some();
                        if self.is_known { hello(version, out) } else { out.error(NOAUTH) }
                    }
                }
            }
            Command::Info => match &backend.decider {
                Some(decider) => {
                    let text = info::text(&decider.figures(), &common.shared, &common.about);
                    out.bulk(text.as_bytes());
                }
                None => out.error(STOPPED),
            },
        }
    }
}

const NOAUTH: &str = "NOAUTH Authentication required.";

/// Nobody who has not given the password has more than the commands for that.
fn refuse_unknown(request: Request) -> Request {
    match request {
        Request::OfServer(Command::Auth(_) | Command::Hello { .. } | Command::Quit | Command::Wrong(_)) => {
            request
        }
        _ => Request::OfServer(Command::Wrong(NOAUTH.to_owned())),
    }
}

/// Says what is spoken from here on.
fn hello(version: Option<Version>, out: &mut Replies) {
    out.version = version.unwrap_or(out.version);
    let proto = match out.version {
        Version::Two => 2,
        Version::Three => 3,
    };
    out.map(4);
    for (name, value) in [("server", "twinsplit"), ("version", env!("CARGO_PKG_VERSION")), ("role", "master")]
    {
        out.bulk(name.as_bytes());
        out.bulk(value.as_bytes());
    }
    out.bulk(b"proto");
    out.number(proto);
}
