//! What a service says of itself: each figure is declared once, for `INFO` and for `/metrics`.

use crate::histogram::Histogram;
use crate::namespace::Counts;
use crate::session::Protocol;
use crate::tls::Tls;
use crate::tls::failures::Failures;
use std::fmt::Write;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use twinsplit_core::visible;
use twinsplit_io::error::Error;

/// What the writer knows.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    pub namespaces: Vec<Held>,
    pub bytes: u64,
    pub last: u64,
    pub log_bytes: u64,
    pub sequence: Sequence,
}

/// Where a shard or a front is in the log that decides; nothing where there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sequence {
    /// The next offset that is decided.
    pub next: u64,
    /// Behind the last record, as far as it is known.
    pub end: u64,
    /// From where a restart reads on.
    pub snapshot: u64,
}

/// What a namespace holds.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub name: Box<[u8]>,
    pub documents: u64,
    pub kept: u64,
    pub bytes: u64,
    pub counts: Counts,
    pub read_only: bool,
}

/// Whether a service answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It reads its folder.
    Begins,
    /// It does.
    Serves,
    /// It has stopped, or is about to.
    Ended,
}

/// Figures of all threads.
#[derive(Debug)]
pub(crate) struct Shared {
    pub began: Instant,
    phase: AtomicU8,
    pub connections: AtomicU64,
    pub connections_received: AtomicU64,
    pub connections_refused: AtomicU64,
    pub errors: AtomicU64,
    /// What all clients get, where they have TLS.
    tls: Option<Tls>,
    pub handshakes: AtomicU64,
    pub failures: Failures,
    /// How long requests took: of RESP, and of HTTP.
    requests: [Histogram; 2],
    pub syncs: Histogram,
    snapshots: Mutex<Snapshots>,
}

#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    written: u64,
    failed: u64,
    bytes: u64,
    milliseconds: u64,
    error: String,
}

impl Shared {
    pub fn new(tls: Option<Tls>) -> Self {
        let zero = AtomicU64::default;
        Self {
            began: Instant::now(),
            phase: AtomicU8::new(Phase::Begins as u8),
            connections: zero(),
            connections_received: zero(),
            connections_refused: zero(),
            errors: zero(),
            tls,
            handshakes: zero(),
            failures: Failures::default(),
            requests: [Histogram::default(), Histogram::default()],
            syncs: Histogram::default(),
            snapshots: Mutex::default(),
        }
    }

    /// Goes on to a phase, from which there is no way back.
    pub fn is_now(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
    }

    pub fn phase(&self) -> Phase {
        let phase = self.phase.load(Ordering::Acquire);
        [Phase::Begins, Phase::Serves].into_iter().find(|known| *known as u8 == phase).unwrap_or(Phase::Ended)
    }

    /// That so many requests were answered together after this time.
    pub fn answered(&self, protocol: Protocol, count: u64, took: Duration) {
        self.requests(protocol).took(count, took);
    }

    /// How long requests took.
    pub fn requests(&self, protocol: Protocol) -> &Histogram {
        let [resp, http] = &self.requests;
        match protocol {
            Protocol::Resp => resp,
            Protocol::Http => http,
        }
    }

    pub fn synced(&self, took: Duration) {
        self.syncs.took(1, took);
    }

    pub fn snapshot_written(&self, bytes: u64, took: Duration) {
        let mut snapshots = self.snapshots();
        snapshots.written += 1;
        snapshots.bytes = bytes;
        snapshots.milliseconds = took.as_millis() as u64;
        snapshots.error.clear();
    }

    pub fn snapshot_failed(&self, error: &Error) {
        let mut snapshots = self.snapshots();
        snapshots.failed += 1;
        snapshots.error = error.to_string();
    }

    fn snapshots(&self) -> MutexGuard<'_, Snapshots> {
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A figure as it is declared.
pub(crate) struct Figure {
    /// The heading of `INFO` below which it stands.
    section: &'static str,
    /// Its name there.
    pub name: &'static str,
    /// Its name in `/metrics`, behind `twinsplit_`.
    pub metric: &'static str,
    pub kind: Kind,
    pub about: &'static str,
    of: fn(&Seen<'_>) -> Value,
}

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It never falls while the process lives.
    Counter,
    Gauge,
    /// A gauge of which `INFO` has so many in a second, and `/metrics` seconds.
    Time(u64),
    /// A text, which in `/metrics` is the label `value` of a gauge that is 1.
    Text,
}

/// Where figures are taken from.
pub(crate) struct Seen<'a> {
    figures: &'a Figures,
    shared: &'a Shared,
    snapshots: &'a Snapshots,
}

/// What a figure is at one moment.
pub(crate) enum Value {
    Number(u64),
    Text(String),
}

/// The figures below a heading.
macro_rules! figures {
    ($($section:literal: $($name:ident $metric:ident $kind:expr, $about:literal, $of:expr;)+)+) => {
        &[$($(Figure {
            section: $section,
            name: stringify!($name),
            metric: stringify!($metric),
            kind: $kind,
            about: $about,
            of: $of,
        },)+)+]
    };
}

fn get(number: &AtomicU64) -> Value {
    Value::Number(number.load(Ordering::Relaxed))
}

fn sum(seen: &Seen<'_>, of: fn(&Held) -> u64) -> Value {
    Value::Number(seen.figures.namespaces.iter().map(of).sum())
}

/// All figures but those of namespaces.
pub(crate) const FIGURES: &[Figure] = figures! {
    "Server":
    twinsplit_version version_info Kind::Text, "the version",
        |_| Value::Text(env!("CARGO_PKG_VERSION").to_owned());
    process_id process_id Kind::Gauge, "the number of the process",
        |_| Value::Number(std::process::id().into());
    uptime_in_seconds uptime_seconds Kind::Gauge, "how long it has been there",
        |seen| Value::Number(seen.shared.began.elapsed().as_secs());

    "Clients":
    connected_clients clients Kind::Gauge, "clients now",
        |seen| get(&seen.shared.connections);
    total_connections_received connections_total Kind::Counter, "clients since the start",
        |seen| get(&seen.shared.connections_received);
    rejected_connections connections_rejected_total Kind::Counter, "clients beyond `--connections`",
        |seen| get(&seen.shared.connections_refused);
    tls_handshakes tls_handshakes_total Kind::Counter, "clients that began TLS and got through its handshake",
        |seen| get(&seen.shared.handshakes);
    tls_handshake_failures tls_handshake_failures_total Kind::Counter,
        "clients that did not, spoke none at an address of TLS, or TLS at one without",
        |seen| Value::Number(seen.shared.failures.count());
    tls_certificate_ends tls_certificate_ends_seconds Kind::Gauge,
        "when the certificate that new clients get expires, in seconds since 1970; 0 without TLS",
        |seen| Value::Number(seen.shared.tls.as_ref().map_or(0, |tls| tls.validity().until.as_second().max(0) as u64));

    "Memory":
    used_memory memory_bytes Kind::Gauge, "bytes of documents and their indexes, about; what `--memory` bounds",
        |seen| Value::Number(seen.figures.bytes);

    "Persistence":
    log_last_change log_last_change Kind::Counter, "the number of the last change",
        |seen| Value::Number(seen.figures.last);
    log_bytes_since_snapshot log_bytes Kind::Gauge, "bytes of the log that no snapshot holds; a restart reads them",
        |seen| Value::Number(seen.figures.log_bytes);
    syncs syncs_total Kind::Counter, "fsyncs of the log since the start",
        |seen| Value::Number(seen.shared.syncs.count());
    longest_sync_usec longest_sync_seconds Kind::Time(1_000_000), "the longest of them",
        |seen| Value::Number(seen.shared.syncs.times().longest);
    snapshots_written snapshots_written_total Kind::Counter, "snapshots since the start",
        |seen| Value::Number(seen.snapshots.written);
    snapshots_failed snapshots_failed_total Kind::Counter, "those that failed",
        |seen| Value::Number(seen.snapshots.failed);
    last_snapshot_bytes last_snapshot_bytes Kind::Gauge, "bytes of the last one",
        |seen| Value::Number(seen.snapshots.bytes);
    last_snapshot_msec last_snapshot_seconds Kind::Time(1000), "how long it took",
        |seen| Value::Number(seen.snapshots.milliseconds);
    last_snapshot_error last_snapshot_error_info Kind::Text, "why the last one failed; empty where it did not",
        |seen| Value::Text(visible::line(&seen.snapshots.error).to_string());

    "Sequence":
    sequence_offset sequence_offset Kind::Counter, "with `--log` the next offset that is decided, else 0",
        |seen| Value::Number(seen.figures.sequence.next);
    sequence_end sequence_end Kind::Counter, "behind the last record, as a node has last heard of it; of a front, behind its own",
        |seen| Value::Number(seen.figures.sequence.end);
    sequence_lag sequence_lag Kind::Gauge, "records between the two",
        |seen| Value::Number(seen.figures.sequence.end.saturating_sub(seen.figures.sequence.next));
    sequence_snapshot sequence_snapshot Kind::Counter, "the offset from which a restart of the node reads on",
        |seen| Value::Number(seen.figures.sequence.snapshot);

    "Stats":
    total_commands_processed requests_total Kind::Counter, "requests since the start",
        |seen| Value::Number([Protocol::Resp, Protocol::Http].map(|of| seen.shared.requests(of).count()).iter().sum());
    total_error_replies errors_total Kind::Counter, "those that were answered with an error",
        |seen| get(&seen.shared.errors);
    documents documents Kind::Gauge, "documents now",
        |seen| sum(seen, |held| held.documents);
    documents_kept documents_kept Kind::Gauge, "the kept ones among them",
        |seen| sum(seen, |held| held.kept);
    verdicts_new verdicts_new_total Kind::Counter, "documents taken in that were kept",
        |seen| sum(seen, |held| held.counts.new);
    verdicts_duplicate verdicts_duplicate_total Kind::Counter, "documents taken in that were dropped",
        |seen| sum(seen, |held| held.counts.duplicates);
    verdicts_again verdicts_again_total Kind::Counter,
        "requests that had their first verdict again; those before the last snapshot may be missing after a restart",
        |seen| sum(seen, |held| held.counts.retries);
    deleted deleted_total Kind::Counter, "documents deleted",
        |seen| sum(seen, |held| held.counts.deleted);
    expired expired_total Kind::Counter, "documents forgotten for age or number",
        |seen| sum(seen, |held| held.counts.expired);
    orphans orphans_total Kind::Counter, "documents forgotten with these",
        |seen| sum(seen, |held| held.counts.orphans);
};

/// A figure of a namespace, in its line of `INFO` and with its name as the label `namespace` in `/metrics`.
pub(crate) struct OfNamespace {
    pub name: &'static str,
    pub metric: &'static str,
    pub about: &'static str,
    pub of: fn(&Held) -> u64,
}

/// All of them; all are gauges.
pub(crate) const OF_NAMESPACES: [OfNamespace; 4] = [
    OfNamespace {
        name: "documents",
        metric: "namespace_documents",
        about: "documents of a namespace",
        of: |held| held.documents,
    },
    OfNamespace {
        name: "kept",
        metric: "namespace_documents_kept",
        about: "the kept ones among them",
        of: |held| held.kept,
    },
    OfNamespace {
        name: "bytes",
        metric: "namespace_memory_bytes",
        about: "bytes of them and their index, about",
        of: |held| held.bytes,
    },
    OfNamespace {
        name: "read_only",
        metric: "namespace_read_only",
        about: "1 where it is read-only, else 0",
        of: |held| held.read_only.into(),
    },
];

/// Shows each figure and what it is now.
pub(crate) fn each(figures: &Figures, shared: &Shared, mut show: impl FnMut(&Figure, Value)) {
    let snapshots = &*shared.snapshots();
    let seen = Seen { figures, shared, snapshots };
    FIGURES.iter().for_each(|figure| show(figure, (figure.of)(&seen)));
}

/// The text of `INFO`: lines `name:value` below headings, as Redis has them.
pub(crate) fn text(figures: &Figures, shared: &Shared, about: &[(&str, String)]) -> String {
    let mut out = String::new();
    let (mut section, first) = ("", FIGURES.first().map_or("", |figure| figure.section));
    // Writing to a text does not fail.
    let made_with = |out: &mut String| {
        for (name, value) in about {
            let _ = write!(out, "{name}:{value}\r\n");
        }
    };
    each(figures, shared, |figure, value| {
        if figure.section != section {
            if section == first && !section.is_empty() {
                made_with(&mut out);
            }
            let _ = write!(out, "{}# {}\r\n", if out.is_empty() { "" } else { "\r\n" }, figure.section);
            section = figure.section;
        }
        let _ = match value {
            Value::Number(number) => write!(out, "{}:{number}\r\n", figure.name),
            Value::Text(text) => write!(out, "{}:{text}\r\n", figure.name),
        };
    });
    out.push_str("\r\n# Namespaces\r\n");
    for held in &figures.namespaces {
        let values = OF_NAMESPACES.iter().map(|of| format!("{}={}", of.name, (of.of)(held)));
        let _ = write!(out, "{}:{}\r\n", shown(&held.name), values.collect::<Vec<_>>().join(","));
    }
    out
}

/// The name of a namespace for people: bytes that are no UTF-8 as `\xfe`, and a backslash as two, so that no two namespaces have one.
pub(crate) fn shown(name: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in name.utf8_chunks() {
        shown.push_str(&visible::line(&chunk.valid().replace('\\', r"\\")));
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}
