//! Answers of HTTP.

use super::bodies::{self, Outcome};
use super::id::Id;
use super::request::{Failure, Head};
use crate::document::{Refused, Verdict};
use crate::state::Answer;
use serde::Serialize;

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub status: u16,
    pub content_type: &'static str,
    /// A line of the head of its own.
    pub line: Option<String>,
    pub body: Vec<u8>,
}

const JSON: &str = "application/json";

impl Reply {
    /// What was asked for, as JSON.
    pub fn json(value: &impl Serialize) -> Self {
        Self::of(200, value)
    }

    /// A text.
    pub fn text(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, content_type, line: None, body: body.into() }
    }

    fn of(status: u16, value: &impl Serialize) -> Self {
        // What is declared in `bodies` can be written.
        let body = serde_json::to_vec(value).unwrap_or_default();
        Self { status, content_type: JSON, line: None, body }
    }

    /// An error.
    pub fn failure(failure: &Failure) -> Self {
        let mut reply = Self::of(failure.status, &bodies::Problem::of(&failure.problem));
        reply.line = match failure.status {
            401 => Some("WWW-Authenticate: Basic realm=\"twinsplit\", charset=\"UTF-8\"".to_owned()),
            405 => failure.problem.rsplit(' ').next().map(|method| match method {
                "GET" => "Allow: GET, HEAD".to_owned(),
                other => format!("Allow: {other}"),
            }),
            _ => None,
        };
        reply
    }

    /// Of what the writer has answered.
    pub fn answer(answer: &Answer) -> Self {
        match answer {
            Answer::Verdict(verdict) => Self::json(&bodies::Verdict::from(verdict)),
            Answer::Verdicts(all) => {
                let outcome = |one: &Result<Verdict, Refused>| match one {
                    Ok(verdict) => Outcome::Said(verdict.into()),
                    Err(refused) => Outcome::Refused(bodies::Problem::of(&refused.to_string())),
                };
                Self::json(&bodies::Outcomes { results: all.iter().map(outcome).collect() })
            }
            Answer::Orphans(Some(ids)) => {
                let orphans = ids.iter().map(|id| Id(id.clone())).collect();
                Self::json(&bodies::Orphans { orphans })
            }
            Answer::Why(Some(compared)) => Self::json(&bodies::Compared::from(&**compared)),
            Answer::Orphans(None) => Self::failure(&Failure::new(404, "NOTFOUND there is no such document")),
            Answer::Why(None) => {
                Self::failure(&Failure::new(404, "NOTFOUND one of the two documents is not there"))
            }
            Answer::Count(documents, kept) => {
                Self::json(&bodies::Count { documents: *documents, kept: *kept })
            }
            Answer::Begun => Self::json(&bodies::Status { status: "ok".to_owned() }),
            Answer::Committed(all) => {
                Self::json(&bodies::Committed { changed: all.iter().map(bodies::Changed::of).collect() })
            }
            Answer::Runs(runs) => {
                Self::json(&bodies::Runs { runs: runs.iter().map(bodies::Run::from).collect() })
            }
            Answer::ReadOnly(is) => Self::json(&bodies::ReadOnly { read_only: *is }),
            Answer::Refused(refused) => Self::failure(&Failure::new(status(refused), refused.to_string())),
        }
    }

    /// Appends it as the answer to a request; the client stays or goes.
    pub fn write(&self, to: Option<&Head>, stays: bool, date: &str, out: &mut Vec<u8>) {
        use std::io::Write;
        let Self { status, content_type, line, body } = self;
        // Writing to a vector does not fail.
        let _ = write!(
            out,
            "HTTP/1.1 {status} {}\r\nDate: {date}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n",
            reason(*status),
            body.len()
        );
        if let Some(line) = line {
            let _ = write!(out, "{line}\r\n");
        }
        if !stays {
            out.extend_from_slice(b"Connection: close\r\n");
        } else if to.is_some_and(|head| head.is_old) {
            out.extend_from_slice(b"Connection: keep-alive\r\n");
        }
        // Nothing of it is kept by proxies, or taken for anything else by browsers.
        out.extend_from_slice(b"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n");
        if to.is_none_or(|head| head.method != "HEAD") {
            out.extend_from_slice(body);
        }
    }
}

fn status(refused: &Refused) -> u16 {
    match refused {
        Refused::NoRun(_) => 404,
        Refused::Conflict | Refused::NotOfRun | Refused::RunEnded(..) | Refused::RunMode(..) => 409,
        Refused::Memory(_) | Refused::Namespaces(_) | Refused::Runs(_) => 507,
        Refused::ReadOnly => 403,
        Refused::Wrong(_) => 400,
        Refused::Unanswered(_) => 503,
    }
}

/// What a status is called.
pub(crate) fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        507 => "Insufficient Storage",
        _ => "",
    }
}
