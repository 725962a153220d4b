//! What a service says of itself.

use crate::namespace::Counts;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
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
}

/// What a namespace holds.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub name: Box<[u8]>,
    pub documents: u64,
    pub kept: u64,
    pub bytes: u64,
    pub counts: Counts,
}

/// Figures of all threads.
#[derive(Debug)]
pub(crate) struct Shared {
    pub began: Instant,
    pub connections: AtomicU64,
    pub connections_received: AtomicU64,
    pub connections_refused: AtomicU64,
    pub commands: AtomicU64,
    pub errors: AtomicU64,
    syncs: AtomicU64,
    longest_sync: AtomicU64,
    snapshots: Mutex<Snapshots>,
}

#[derive(Debug, Default)]
struct Snapshots {
    written: u64,
    failed: u64,
    bytes: u64,
    milliseconds: u64,
    error: String,
}

impl Shared {
    pub fn new() -> Self {
        let zero = AtomicU64::default;
        Self {
            began: Instant::now(),
            connections: zero(),
            connections_received: zero(),
            connections_refused: zero(),
            commands: zero(),
            errors: zero(),
            syncs: zero(),
            longest_sync: zero(),
            snapshots: Mutex::default(),
        }
    }

    pub fn synced(&self, took: Duration) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.longest_sync.fetch_max(took.as_micros() as u64, Ordering::Relaxed);
    }

    pub fn snapshot_written(&self, bytes: u64, took: Duration) {
        let mut snapshots = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        snapshots.written += 1;
        snapshots.bytes = bytes;
        snapshots.milliseconds = took.as_millis() as u64;
        snapshots.error.clear();
    }

    pub fn snapshot_failed(&self, error: &Error) {
        let mut snapshots = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        snapshots.failed += 1;
        snapshots.error = error.to_string();
    }
}

/// The text of `INFO`: lines `name:value` below headings, as Redis has them.
pub(crate) fn text(figures: &Figures, shared: &Shared, about: &[(&str, String)]) -> String {
    let snapshots = shared.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
    let get = |number: &AtomicU64| number.load(Ordering::Relaxed).to_string();
    let sum = |of: fn(&Held) -> u64| figures.namespaces.iter().map(of).sum::<u64>().to_string();
    let mut out = String::new();
    let mut section = |name: &str, lines: &[(&str, String)]| {
        let _ = write!(out, "{}# {name}\r\n", if out.is_empty() { "" } else { "\r\n" });
        for (name, value) in lines {
            let _ = write!(out, "{name}:{value}\r\n");
        }
    };
    let mut server = vec![
        ("twinsplit_version", env!("CARGO_PKG_VERSION").to_owned()),
        ("process_id", std::process::id().to_string()),
        ("uptime_in_seconds", shared.began.elapsed().as_secs().to_string()),
    ];
    server.extend(about.iter().cloned());
    section("Server", &server);
    section(
        "Clients",
        &[
            ("connected_clients", get(&shared.connections)),
            ("total_connections_received", get(&shared.connections_received)),
            ("rejected_connections", get(&shared.connections_refused)),
        ],
    );
    section("Memory", &[("used_memory", figures.bytes.to_string())]);
    section(
        "Persistence",
        &[
            ("log_last_change", figures.last.to_string()),
            ("log_bytes_since_snapshot", figures.log_bytes.to_string()),
            ("syncs", get(&shared.syncs)),
            ("longest_sync_usec", get(&shared.longest_sync)),
            ("snapshots_written", snapshots.written.to_string()),
            ("snapshots_failed", snapshots.failed.to_string()),
            ("last_snapshot_bytes", snapshots.bytes.to_string()),
            ("last_snapshot_msec", snapshots.milliseconds.to_string()),
            ("last_snapshot_error", visible::line(&snapshots.error).to_string()),
        ],
    );
    section(
        "Stats",
        &[
            ("total_commands_processed", get(&shared.commands)),
            ("total_error_replies", get(&shared.errors)),
            ("documents", sum(|held| held.documents)),
            ("documents_kept", sum(|held| held.kept)),
            ("verdicts_new", sum(|held| held.counts.new)),
            ("verdicts_duplicate", sum(|held| held.counts.duplicates)),
            ("verdicts_again", sum(|held| held.counts.retries)),
            ("deleted", sum(|held| held.counts.deleted)),
            ("expired", sum(|held| held.counts.expired)),
            ("orphans", sum(|held| held.counts.orphans)),
        ],
    );
    let lines: Vec<(String, String)> = figures
        .namespaces
        .iter()
        .map(|held| {
            let name = visible::line(&String::from_utf8_lossy(&held.name)).to_string();
            let Held { documents, kept, bytes, .. } = held;
            (name, format!("documents={documents},kept={kept},bytes={bytes}"))
        })
        .collect();
    let lines: Vec<(&str, String)> =
        lines.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    section("Namespaces", &lines);
    out
}
