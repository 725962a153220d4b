//! A client of HTTP.

use super::bodies;
use super::endpoints::{Does, Endpoint, HTML, PROMETHEUS, route};
use super::id::Id;
use super::openapi;
use super::reply::Reply;
use super::request::{Failure, Head, Item, Reader, Request};
use crate::asked::{Answer, Operation};
use crate::backend::{Backend, Common};
use crate::info::{self, Phase};
use crate::metrics;
use crate::recent::{Dropped, Recent};
use crate::session::{Asked, STOPPED, Taken, Wanted};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::net::IpAddr;
use std::sync::atomic::Ordering;

/// What a head asks for.
struct Admitted {
    endpoint: &'static Endpoint,
    namespace: Box<[u8]>,
}

/// What is known of a client.
pub(crate) struct HttpSession {
    reader: Reader<Admitted>,
    /// Requests that wait for their answers.
    waiting: Vec<Waiting>,
}

/// A request that waits for its answer.
struct Waiting {
    head: Option<Head>,
    stays: bool,
    reply: Pending,
}

enum Pending {
    /// For that of what decides.
    Answer,
    /// It is there.
    Reply(Reply),
    /// For its turn.
    Does(Does),
}

/// Bytes of a body that is read at once: some tenths of a millisecond.
const SHORT: usize = 64 << 10;

/// What is answered to a client of which no request is read.
pub(crate) fn refusal(failure: &Failure, date: &str, out: &mut Vec<u8>) {
    Reply::failure(failure).write(None, false, date, out);
}

impl HttpSession {
    pub fn new(common: &Common) -> Self {
        Self { reader: Reader::new(common.options.limits.request), waiting: Vec::new() }
    }

    /// Reads the requests at the beginning of some bytes.
    pub fn read(
        &mut self,
        bytes: &[u8],
        common: &Common,
        asked: &mut Vec<Asked>,
        out: &mut Vec<u8>,
    ) -> (usize, Taken) {
        let (mut used, mut stays, mut is_partial, mut asks) = (0, true, false, false);
        while stays && self.waiting.len() < common.options.pipeline {
            let (head, reply) = match self.reader.read(&bytes[used..], |head| admit(head, common)) {
                Ok((taken, Item::Partial)) => {
                    used += taken;
                    is_partial = true;
                    break;
                }
                Ok((taken, Item::Refused(head, failure))) => {
                    used += taken;
                    (Some(head), Pending::Reply(Reply::failure(&failure)))
                }
                Ok((taken, Item::Whole(request))) => {
                    used += taken;
                    let (head, reply) = begin(request, common, asked);
                    (Some(head), reply)
                }
                Err(failure) => (None, Pending::Reply(Reply::failure(&failure))),
            };
            stays = head.as_ref().is_some_and(|head| head.stays);
            asks |= matches!(reply, Pending::Answer | Pending::Does(Does::Metrics | Does::Recent));
            self.waiting.push(Waiting { head, stays, reply });
        }
        // What comes before it is answered first.
        if self.waiting.is_empty() && self.reader.must_continue() {
            out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        (used, Taken { requests: self.waiting.len(), stays, is_partial, asks })
    }

    /// Answers what was read last.
    pub fn reply(&mut self, answers: Option<&[Answer]>, backend: &mut Backend, out: &mut Vec<u8>) {
        let mut answers = answers.unwrap_or_default().iter();
        let mut errors = 0;
        for Waiting { head, stays, reply } in std::mem::take(&mut self.waiting) {
            let reply = match reply {
                Pending::Reply(reply) => reply,
                Pending::Answer => answers.next().map_or_else(stopped, Reply::answer),
                Pending::Does(does) => done(does, backend),
            };
            errors += u64::from(reply.status >= 400);
            reply.write(head.as_ref(), stays, backend.date.now(), out);
        }
        backend.common.shared.errors.fetch_add(errors, Ordering::Relaxed);
        if self.reader.must_continue() {
            out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
    }
}

/// What a request waits for; what it asks of a namespace is put to what is asked.
fn begin(request: Request<Admitted>, common: &Common, asked: &mut Vec<Asked>) -> (Head, Pending) {
    let Request { head, asked: Admitted { endpoint, namespace }, body } = request;
    let pending = match endpoint.does {
        Does::Ask(reads) if body.len() > SHORT => {
            asked.push((namespace, Wanted::Body(reads, body)));
            Pending::Answer
        }
        Does::Ask(reads) => match reads(&body, &common.sketching) {
            Ok(operation) => {
                asked.push((namespace, Wanted::Operation(operation)));
                Pending::Answer
            }
            Err(problem) => Pending::Reply(Reply::failure(&Failure::new(400, problem))),
        },
        does => Pending::Does(does),
    };
    (head, pending)
}

/// Whether a request may be read: it is for something that there is, from someone who may ask.
fn admit(head: &Head, common: &Common) -> Result<Admitted, Failure> {
    must_be_this_host(head, common)?;
    let (endpoint, namespace) = route(head)?;
    if !endpoint.is_open {
        must_be_known(head, common)?;
    }
    Ok(Admitted { endpoint, namespace })
}

/// Without a password nobody may ask by a name but `localhost`: a page of another site may have any other name resolve to this machine.
fn must_be_this_host(head: &Head, common: &Common) -> Result<(), Failure> {
    // With TLS it would have to have a certificate of that name, too.
    let is_guarded = common.options.password.is_some() || common.options.tls.is_some();
    let Some(host) = head.host.as_ref().filter(|_| !is_guarded) else { return Ok(()) };
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

fn stopped() -> Reply {
    Reply::failure(&Failure::new(503, STOPPED))
}

/// What is answered of the service itself.
fn done(does: Does, backend: &mut Backend) -> Reply {
    let common = &backend.common;
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
        Does::Metrics => backend.decider.as_ref().map_or_else(stopped, |decider| {
            let text = metrics::text(&decider.figures(), &common.shared, &common.about);
            Reply::text(PROMETHEUS, text)
        }),
        Does::Recent => recent(backend).map_or_else(stopped, |recent| Reply::json(&recent)),
    }
}

/// The last duplicates, and how they compare now.
fn recent(backend: &mut Backend) -> Option<bodies::Recent> {
    let decider = backend.decider.as_mut()?;
    let all: Vec<&Dropped> = backend.recent.iter().flat_map(Recent::all).collect();
    let why = |dropped: &&Dropped| {
        (dropped.namespace.clone(), Operation::Why(dropped.id.clone(), dropped.of.clone()))
    };
    let answers = decider.ask(all.iter().map(why).collect());
    let names = all.iter().flat_map(|Dropped { namespace, id, of, .. }| {
        [(namespace.clone(), id.clone()), (namespace.clone(), of.clone())]
    });
    let mut texts = decider.texts(&Vec::from_iter(names)).into_iter();
    let found = all.into_iter().zip(answers).map(|(dropped, answer)| bodies::RecentDuplicate {
        namespace: info::shown(&dropped.namespace),
        id: Id(dropped.id.clone()),
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
