//! What there is to ask for. Routes, what they take and answer, and the OpenAPI document follow from this one declaration.

use super::bodies;
use super::described::{Described, Object};
use super::id::Id;
use super::request::{Failure, Head, Length, unescaped};
use crate::commands::{ID, NAME, bounded};
use crate::sketch::{Sent, Sketching};
use crate::state::Operation;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The schema of what is sent or answered; those that have a name are put into the map.
pub(crate) type Schema = fn(&mut Map<String, Value>) -> Value;

/// The body of a request as an operation, or what is wrong with it.
pub(crate) type Reads = fn(&[u8], &Sketching) -> Result<Operation<Sent>, String>;

/// What is done.
#[derive(Clone, Copy)]
pub(crate) enum Does {
    /// What is kept decides.
    Ask(Reads),
    /// The page for people.
    Page,
    /// The last duplicates.
    Recent,
    /// Figures.
    Metrics,
    /// That the process is there.
    Health,
    /// Whether it can answer.
    Ready,
    /// The OpenAPI document.
    OpenApi,
}

/// What is answered where nothing is wrong.
#[derive(Clone, Copy)]
pub(crate) enum Answers {
    Json(Schema),
    Any,
    Text(&'static str),
}

/// Something to ask for.
pub(crate) struct Endpoint {
    pub method: &'static str,
    pub path: &'static str,
    /// Its name in the OpenAPI document.
    pub name: &'static str,
    pub about: &'static str,
    pub takes: Option<Schema>,
    pub answers: Answers,
    /// Statuses of errors, besides those that follow from the rest.
    pub refuses: &'static [u16],
    pub does: Does,
    /// Whether whoever has no password may ask.
    pub is_open: bool,
}

const fn post(
    name: &'static str,
    path: &'static str,
    takes: Schema,
    answers: Schema,
    reads: Reads,
) -> Endpoint {
    let (about, answers, takes) = ("", Answers::Json(answers), Some(takes));
    Endpoint {
        method: "POST",
        path,
        name,
        about,
        takes,
        answers,
        refuses: &[],
        does: Does::Ask(reads),
        is_open: false,
    }
}

const fn get(name: &'static str, path: &'static str, answers: Answers, does: Does) -> Endpoint {
    Endpoint {
        method: "GET",
        path,
        name,
        about: "",
        takes: None,
        answers,
        refuses: &[],
        does,
        is_open: false,
    }
}

impl Endpoint {
    const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    const fn refuses(self, refuses: &'static [u16]) -> Self {
        Self { refuses, ..self }
    }

    const fn open(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// Statuses of the errors that it may answer, ascending.
    pub fn statuses(&self) -> Vec<u16> {
        let mut all = self.refuses.to_vec();
        if !self.is_open {
            all.push(401);
        }
        if self.takes.is_some() {
            all.extend([400, 413, 415]);
        }
        if matches!(self.does, Does::Ask(_) | Does::Metrics | Does::Recent) {
            all.push(503);
        }
        if self.path.contains(NAMESPACE) {
            all.push(400);
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The type of a page.
pub(crate) const HTML: &str = "text/html; charset=utf-8";
/// The type of figures, as Prometheus has them.
pub(crate) const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The part of a path that stands for a namespace.
pub(crate) const NAMESPACE: &str = "{namespace}";

/// All there is to ask for.
pub(crate) const ENDPOINTS: [Endpoint; 18] = [
    post(
        "checkAdd",
        "/v1/{namespace}/check-add",
        bodies::Document::schema,
        bodies::Verdict::schema,
        |body, sketching| {
            let (id, document, run) = document_of(read(body)?, sketching)?;
            in_run(run, Operation::CheckAdd(id, document))
        },
    )
    .about("Says whether a document is new, and takes it in")
    .refuses(&[403, 404, 409, 507]),
    post(
        "batchCheckAdd",
        "/v1/{namespace}/batch-check-add",
        bodies::Documents::schema,
        bodies::Outcomes::schema,
        |body, sketching| {
            let bodies::Documents { documents, run } = read(body)?;
            let all = documents.into_iter().zip(1..).map(|(document, number)| {
                let Object(bodies::BatchDocument { id, text, fingerprint }) = document;
                let of = |problem: String| format!("{problem} (document {number} of the request)");
                Ok((id_of(id).map_err(of)?, content(text, fingerprint, sketching).map_err(of)?))
            });
            in_run(run, Operation::CheckAddAll(all.collect::<Result<_, String>>()?))
        },
    )
    .about("Does that with several documents, one after the other")
    .refuses(&[404, 409]),
    post(
        "check",
        "/v1/{namespace}/check",
        bodies::Content::schema,
        bodies::Verdict::schema,
        |body, sketching| {
            let bodies::Content { text, fingerprint, run } = read(body)?;
            in_run(run, Operation::Check(content(text, fingerprint, sketching)?))
        },
    )
    .about("Says whether a document would be new")
    .refuses(&[404, 409]),
    post(
        "add",
        "/v1/{namespace}/add",
        bodies::Document::schema,
        bodies::Verdict::schema,
        |body, sketching| {
            let (id, document, run) = document_of(read(body)?, sketching)?;
            in_run(run, Operation::Add(id, document))
        },
    )
    .about("Takes a document in and keeps it, whatever it is like")
    .refuses(&[403, 404, 409, 507]),
    post(
        "delete",
        "/v1/{namespace}/delete",
        bodies::DocumentId::schema,
        bodies::Orphans::schema,
        |body, _| {
            let bodies::DocumentId { id, run } = read(body)?;
            in_run(run, Operation::Delete(id_of(id)?))
        },
    )
    .about("Forgets a document, and lists what was dropped in its favour")
    .refuses(&[403, 404, 409]),
    post("why", "/v1/{namespace}/why", bodies::DocumentPair::schema, bodies::Compared::schema, |body, _| {
        let bodies::DocumentPair { first, second, run } = read(body)?;
        in_run(run, Operation::Why(id_of(first)?, id_of(second)?))
    })
    .about("Says how two documents compare")
    .refuses(&[404, 409]),
    post(
        "readOnly",
        "/v1/{namespace}/read-only",
        bodies::ReadOnly::schema,
        bodies::ReadOnly::schema,
        |body, _| {
            let bodies::ReadOnly { read_only } = read(body)?;
            Ok(Operation::ReadOnly(read_only))
        },
    )
    .about("Has requests that would change a namespace refused, or not")
    .refuses(&[507]),
    get(
        "count",
        "/v1/{namespace}/count",
        Answers::Json(bodies::Count::schema),
        Does::Ask(|_, _| Ok(Operation::Count)),
    )
    .about("Counts documents, and those that are kept"),
    post("begin", "/v1/{namespace}/begin", bodies::BeginRun::schema, bodies::Status::schema, |body, _| {
        let bodies::BeginRun { run, mode } = read(body)?;
        Ok(Operation::Begin(run_of(run)?, mode))
    })
    .about("Begins a run of a crawler")
    .refuses(&[403, 409, 507]),
    post(
        "commit",
        "/v1/{namespace}/commit",
        bodies::RunName::schema,
        bodies::Committed::schema,
        |body, _| {
            let bodies::RunName { run } = read(body)?;
            Ok(Operation::Commit(run_of(run)?))
        },
    )
    .about("Commits a run, and lists its documents whose verdicts have changed")
    .refuses(&[403, 404, 409]),
    post("cancel", "/v1/{namespace}/cancel", bodies::RunName::schema, bodies::Orphans::schema, |body, _| {
        let bodies::RunName { run } = read(body)?;
        Ok(Operation::Cancel(run_of(run)?))
    })
    .about("Takes back what a run has brought, and lists what was dropped in favour of that")
    .refuses(&[403, 404, 409]),
    get(
        "runs",
        "/v1/{namespace}/runs",
        Answers::Json(bodies::Runs::schema),
        Does::Ask(|_, _| Ok(Operation::Runs)),
    )
    .about("Lists runs, and how they are"),
    get("recent", "/v1/recent", Answers::Json(bodies::Recent::schema), Does::Recent)
        .about("The last duplicates, and how they compare"),
    get("page", "/", Answers::Text(HTML), Does::Page).about("A page for people"),
    get("metrics", "/metrics", Answers::Text(PROMETHEUS), Does::Metrics)
        .about("Figures, as Prometheus reads them"),
    get("health", "/health", Answers::Json(bodies::Status::schema), Does::Health)
        .about("That the process is there")
        .open(),
    get("ready", "/ready", Answers::Json(bodies::Status::schema), Does::Ready)
        .about("Whether all has been read, and the log's disk works")
        .refuses(&[503])
        .open(),
    get("openApi", "/openapi.json", Answers::Any, Does::OpenApi).about("This document"),
];

fn read<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, String> {
    let object = serde_json::from_slice(body);
    object
        .map(|Object(object)| object)
        .map_err(|error| format!("ERR the body is not what was expected: {error}"))
}

fn wrong(problem: String) -> Failure {
    Failure::new(400, problem)
}

fn id_of(id: Id) -> Result<Box<[u8]>, String> {
    bounded("id", &id.0, ID)
}

/// A document with its id, and the run with which it comes.
type Arriving = (Box<[u8]>, Sent, Option<Id>);

fn document_of(document: bodies::Document, sketching: &Sketching) -> Result<Arriving, String> {
    let bodies::Document { id, text, fingerprint, run } = document;
    Ok((id_of(id)?, content(text, fingerprint, sketching)?, run))
}

fn run_of(name: Id) -> Result<Box<[u8]>, String> {
    bounded("name of the run", &name.0, NAME)
}

fn in_run(run: Option<Id>, operation: Operation<Sent>) -> Result<Operation<Sent>, String> {
    match run {
        None => Ok(operation),
        Some(run) => Ok(Operation::InRun(run_of(run)?, Box::new(operation))),
    }
}

fn content(text: Option<String>, fingerprint: Option<String>, sketching: &Sketching) -> Result<Sent, String> {
    match (text, fingerprint) {
        (Some(text), None) => Ok(Sent::Text(text.into())),
        (None, Some(digits)) => {
            let document = sketching.of_fingerprint(digits.as_bytes());
            document.map(Sent::Fingerprint).map_err(|problem| format!("ERR {problem}"))
        }
        _ => Err("ERR expected one of text and fingerprint".to_owned()),
    }
}

/// Finds what a head asks for, and its namespace, which is empty where there is none.
///
/// # Errors
/// There is nothing of this path, of this method, or for a body of this type.
pub(crate) fn route(head: &Head) -> Result<(&'static Endpoint, Box<[u8]>), Failure> {
    let here =
        || ENDPOINTS.iter().filter_map(|endpoint| Some((endpoint, matched(endpoint.path, &head.path)?)));
    // HEAD is GET without a body.
    let method = if head.method == "HEAD" { "GET" } else { &head.method };
    let Some((endpoint, namespace)) = here().find(|(endpoint, _)| endpoint.method == method) else {
        let allowed: Vec<&str> = here().map(|(endpoint, _)| endpoint.method).collect();
        return Err(match allowed.first() {
            None => {
                Failure::new(404, "NOTFOUND there is nothing of this path; /openapi.json lists what there is")
            }
            Some(method) => Failure::new(405, format!("ERR expected {method}")),
        });
    };
    if endpoint.takes.is_none() && head.length != Length::Bytes(0) {
        return Err(wrong("ERR expected no body".to_owned()));
    }
    if endpoint.takes.is_some() && head.length != Length::Bytes(0) && !is_json(head.content_type.as_deref()) {
        // A page of another site cannot send this type unasked, so it can change nothing here.
        return Err(Failure::new(415, "ERR expected a body of Content-Type: application/json"));
    }
    let namespace = match namespace {
        None => Box::default(),
        Some(part) => {
            let name = unescaped(part)
                .ok_or_else(|| wrong("ERR expected two hex digits behind % in the path".to_owned()))?;
            bounded("namespace", &name, NAME).map_err(wrong)?
        }
    };
    Ok((endpoint, namespace))
}

/// Whether a path is that of an endpoint, and the part of it that stands for a namespace.
fn matched<'p>(declared: &str, path: &'p str) -> Option<Option<&'p str>> {
    match declared.split_once(NAMESPACE) {
        None => (declared == path).then_some(None),
        Some((before, after)) => {
            let part = path.strip_prefix(before)?.strip_suffix(after)?;
            (!part.contains('/')).then_some(Some(part))
        }
    }
}

fn is_json(content_type: Option<&[u8]>) -> bool {
    let name = content_type.and_then(|value| value.split(|byte| *byte == b';').next());
    name.is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case(b"application/json"))
}
