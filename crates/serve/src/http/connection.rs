//! One client of HTTP: its requests are read, as many as are there at once, and answered in their order.

use super::bodies;
use super::endpoints::{Does, Endpoint, HTML, PROMETHEUS, route};
use super::id::Id;
use super::openapi;
use super::reply::Reply;
use super::request::{Failure, Head, Item, Reader, Request};
use crate::connection::{STOPPED, serve};
use crate::info::{self, Phase};
use crate::metrics;
use crate::recent::Dropped;
use crate::server::{Common, Protocol};
use crate::sketch::Sketch;
use crate::state::{Answer, Operation};
use crate::writer::Message;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// What a head asks for.
struct Asked {
    endpoint: &'static Endpoint,
    namespace: Box<[u8]>,
}

/// What is known of a client.
pub(crate) struct Connection<'c> {
    stream: TcpStream,
    common: &'c Common,
    sketch: Sketch,
    reader: Reader<Asked>,
    out: Vec<u8>,
}

/// A request that waits for its answer.
struct Waiting {
    head: Option<Head>,
    stays: bool,
    reply: Pending,
}

enum Pending {
    /// The writer answers.
    Writer,
    Reply(Reply),
    Does(Does),
}

/// Bytes that are kept for answers.
const KEPT: usize = 64 << 10;

/// How much of what is not read any more is taken, so that the answer before it arrives, and how long.
const LINGERS: (usize, Duration) = (1 << 20, Duration::from_secs(1));

/// What is answered to a client beyond `--connections`.
pub(crate) fn too_many() -> Vec<u8> {
    let mut out = Vec::new();
    let reply = Reply::failure(&Failure::new(503, "ERR max number of clients reached"));
    reply.write(None, false, &date(), &mut out);
    out
}

/// Now, as heads have it.
fn date() -> String {
    let printer = jiff::fmt::rfc2822::DateTimePrinter::new();
    // Every year that a clock has is one that can be written.
    printer.timestamp_to_rfc9110_string(&jiff::Timestamp::now()).unwrap_or_default()
}

impl<'c> Connection<'c> {
    pub fn new(stream: TcpStream, common: &'c Common) -> Self {
        let reader = Reader::new(common.options.limits.request);
        Self { stream, common, sketch: common.sketching.sketch(), reader, out: Vec::new() }
    }

    /// Answers until the client goes, or is sent away.
    pub fn run(mut self) -> std::io::Result<()> {
        let stream = self.stream.try_clone()?;
        serve(&stream, self.common.options.idle, |bytes| self.answer(bytes))?;
        linger(&stream)
    }

    /// Answers the requests at the beginning of some bytes; whether the client stays, and how many bytes that were.
    fn answer(&mut self, bytes: &[u8]) -> std::io::Result<(bool, usize)> {
        let began = Instant::now();
        let (mut used, mut goes_on) = (0, true);
        let (mut waiting, mut asked) = (Vec::new(), Vec::new());
        while goes_on && waiting.len() < self.common.options.pipeline {
            let common = self.common;
            let (head, reply) = match self.reader.read(&bytes[used..], |head| admit(head, common)) {
                Ok((taken, Item::Partial)) => {
                    used += taken;
                    break;
                }
                Ok((taken, Item::Refused(head, failure))) => {
                    used += taken;
                    (Some(head), Pending::Reply(Reply::failure(&failure)))
                }
                Ok((taken, Item::Whole(request))) => {
                    used += taken;
                    let (head, reply) = self.begin(request, &mut asked);
                    (Some(head), reply)
                }
                Err(failure) => (None, Pending::Reply(Reply::failure(&failure))),
            };
            goes_on = head.as_ref().is_some_and(|head| head.stays);
            waiting.push(Waiting { head, stays: goes_on, reply });
        }
        if !waiting.is_empty() {
            self.answer_all(waiting, asked, began)?;
        }
        if goes_on && self.reader.must_continue() {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        Ok((goes_on, used))
    }

    /// What a request needs: an answer of the writer, for which it is put to what is asked, or one that is there.
    fn begin(&mut self, request: Request<Asked>, asked: &mut Vec<(Box<[u8]>, Operation)>) -> (Head, Pending) {
        let Request { head, asked: Asked { endpoint, namespace }, body } = request;
        let pending = match endpoint.does {
            Does::Ask(reads) => match reads(&body, &mut self.sketch) {
                Ok(operation) => {
                    asked.push((namespace, operation));
                    Pending::Writer
                }
                Err(failure) => Pending::Reply(Reply::failure(&failure)),
            },
            does => Pending::Does(does),
        };
        (head, pending)
    }

    fn answer_all(
        &mut self,
        waiting: Vec<Waiting>,
        asked: Vec<(Box<[u8]>, Operation)>,
        began: Instant,
    ) -> std::io::Result<()> {
        let (common, count) = (self.common, waiting.len() as u64);
        let answers = if asked.is_empty() { None } else { ask(common, asked) };
        let mut answers = answers.iter().flatten();
        let date = date();
        for Waiting { head, stays, reply } in waiting {
            let reply = match reply {
                Pending::Reply(reply) => reply,
                Pending::Writer => answers.next().map_or_else(stopped, Reply::answer),
                Pending::Does(does) => done(does, common),
            };
            if reply.status >= 400 {
                common.shared.errors.fetch_add(1, Ordering::Relaxed);
            }
            reply.write(head.as_ref(), stays, &date, &mut self.out);
        }
        common.shared.answered(Protocol::Http, count, began.elapsed());
        self.stream.write_all(&self.out)?;
        self.out.clear();
        self.out.shrink_to(KEPT);
        Ok(())
    }
}

/// Whether a request may be read: it is for something that there is, from someone who may ask.
fn admit(head: &Head, common: &Common) -> Result<Asked, Failure> {
    must_be_this_host(head, common)?;
    let (endpoint, namespace) = route(head)?;
    if !endpoint.is_open {
        must_be_known(head, common)?;
    }
    Ok(Asked { endpoint, namespace })
}

/// Without a password nobody may ask by a name but `localhost`: a page of another site may have any other name resolve to this machine.
fn must_be_this_host(head: &Head, common: &Common) -> Result<(), Failure> {
    let (None, Some(host)) = (&common.options.password, &head.host) else { return Ok(()) };
    let host = String::from_utf8_lossy(host);
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, _)) => name,
        None => host.split(':').next().unwrap_or_default(),
    };
    if name.parse::<IpAddr>().is_ok() || name.eq_ignore_ascii_case("localhost") {
        return Ok(());
    }
    Err(Failure::new(
        421,
        "ERR without a password this service answers to its address and to localhost alone",
    ))
}

fn must_be_known(head: &Head, common: &Common) -> Result<(), Failure> {
    if common.options.password.is_none() {
        return Ok(());
    }
    let wrong = |problem: &str| Err(Failure::new(401, problem));
    let Some(given) = &head.authorization else {
        return wrong(
            "NOAUTH expected the password as Authorization: Bearer, or Basic with the user default",
        );
    };
    let (scheme, given) = given.split_at(given.iter().position(|byte| *byte == b' ').unwrap_or(given.len()));
    let given = given.trim_ascii_start();
    let password = if scheme.eq_ignore_ascii_case(b"Bearer") {
        Some(given.to_owned())
    } else if scheme.eq_ignore_ascii_case(b"Basic") {
        STANDARD.decode(given).ok().and_then(|both| Some(both.strip_prefix(b"default:")?.to_owned()))
    } else {
        None
    };
    match password.and_then(|password| common.is_password(&password)) {
        Some(true) => Ok(()),
        _ => wrong("WRONGPASS invalid password, or another user than default"),
    }
}

fn ask(common: &Common, asked: Vec<(Box<[u8]>, Operation)>) -> Option<Vec<Answer>> {
    // Before all has been read nobody would answer.
    (common.shared.phase() == Phase::Serves).then(|| common.ask(asked)).flatten()
}

fn stopped() -> Reply {
    Reply::failure(&Failure::new(503, STOPPED))
}

/// What needs no answer of the writer but figures.
fn done(does: Does, common: &Common) -> Reply {
    let status = |status: &str| Reply::json(&bodies::Status { status: status.to_owned() });
    match does {
        Does::Ask(_) => stopped(),
        Does::Page => {
            let page = common.options.http.as_ref().map(|http| http.page.as_bytes());
            Reply::text(HTML, page.unwrap_or_default())
        }
        Does::OpenApi => Reply::json(&openapi::document()),
        Does::Health => status("ok"),
        Does::Ready => match common.shared.phase() {
            Phase::Serves => status("ready"),
            Phase::Begins => {
                Reply::failure(&Failure::new(503, "LOADING the service reads what it holds; ask again"))
            }
            Phase::Ended => stopped(),
        },
        Does::Metrics => {
            let figures = (common.shared.phase() == Phase::Serves).then(|| common.figures()).flatten();
            figures.map_or_else(stopped, |figures| {
                let text = metrics::text(&figures, &common.shared, &common.about);
                Reply::text(PROMETHEUS, text)
            })
        }
        Does::Recent => recent(common).map_or_else(stopped, |recent| Reply::json(&recent)),
    }
}

/// The last duplicates, and how they compare now.
fn recent(common: &Common) -> Option<bodies::Recent> {
    let all = common.recent.as_ref().map(|recent| recent.all()).unwrap_or_default();
    let why = |dropped: &Dropped| {
        (dropped.namespace.clone(), Operation::Why(dropped.id.clone(), dropped.of.clone()))
    };
    let answers = ask(common, all.iter().map(why).collect())?;
    let names = all.iter().flat_map(|Dropped { namespace, id, of, .. }| {
        [(namespace.clone(), id.clone()), (namespace.clone(), of.clone())]
    });
    let (reply, received) = channel();
    common.writer.send(Message::Texts(names.collect(), reply)).ok()?;
    let mut texts = received.recv().ok()?.into_iter();
    let found = all.into_iter().zip(answers).map(|(dropped, answer)| bodies::RecentDuplicate {
        namespace: info::shown(&dropped.namespace),
        id: Id(dropped.id),
        time: dropped.time,
        verdict: (&dropped.verdict).into(),
        compared: match answer {
            Answer::Why(Some(compared)) => Some((&*compared).into()),
            _ => None,
        },
        text: texts.next().flatten(),
        text_of: texts.next().flatten(),
    });
    Some(bodies::Recent { recent: found.collect() })
}

/// Says that nothing more comes, and takes some of what the client still sends: a connection that is closed before would take back what it was answered.
fn linger(mut stream: &TcpStream) -> std::io::Result<()> {
    let (mut left, time) = LINGERS;
    let until = Instant::now() + time;
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(time))?;
    let mut buffer = [0; 4096];
    while left > 0 && Instant::now() < until {
        match stream.read(&mut buffer)? {
            0 => break,
            read => left = left.saturating_sub(read),
        }
    }
    Ok(())
}
