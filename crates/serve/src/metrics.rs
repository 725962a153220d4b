//! The figures of a service in the text format of Prometheus.

use crate::histogram::{BOUNDS, Times};
use crate::info::{self, Figures, Kind, OF_NAMESPACES, Shared, Value};
use crate::session::Protocol;
use std::fmt::Write;

/// What all names begin with.
pub(crate) const PREFIX: &str = "twinsplit_";

/// What is told by how long it took.
pub(crate) struct Timed {
    pub metric: &'static str,
    pub about: &'static str,
}

/// How long requests took.
pub(crate) const REQUESTS: Timed = Timed {
    metric: "request_duration_seconds",
    about: "from when requests had come, some of a client together, to when their answers were there, by `protocol`",
};

/// How long the log's fsyncs took.
pub(crate) const SYNCS: Timed = Timed { metric: "sync_duration_seconds", about: "fsyncs of the log" };

/// What the folder was made with.
pub(crate) const SETTING: (&str, &str) =
    ("setting_info", "what the folder was made with, by `name` and `value`");

/// The text of `/metrics`.
pub(crate) fn text(figures: &Figures, shared: &Shared, about: &[(&str, String)]) -> String {
    let mut out = String::new();
    info::each(figures, shared, |figure, value| {
        begin(&mut out, figure.metric, kind(figure.kind), figure.about);
        let labels = match &value {
            Value::Text(text) => format!("{{value=\"{}\"}}", escaped(text)),
            Value::Number(_) => String::new(),
        };
        let number = match (value, figure.kind) {
            (Value::Text(_), _) => "1".to_owned(),
            (Value::Number(number), Kind::Time(unit)) => seconds(number, unit),
            (Value::Number(number), _) => number.to_string(),
        };
        line(&mut out, figure.metric, &labels, number);
    });
    begin(&mut out, SETTING.0, "gauge", SETTING.1);
    for (name, value) in about {
        let labels = format!("{{name=\"{}\",value=\"{}\"}}", escaped(name), escaped(value));
        line(&mut out, SETTING.0, &labels, 1);
    }
    for of in &OF_NAMESPACES {
        begin(&mut out, of.metric, "gauge", of.about);
        for held in &figures.namespaces {
            let labels = format!("{{namespace=\"{}\"}}", escaped(&info::shown(&held.name)));
            line(&mut out, of.metric, &labels, (of.of)(held));
        }
    }
    begin(&mut out, REQUESTS.metric, "histogram", REQUESTS.about);
    for (name, protocol) in [("resp", Protocol::Resp), ("http", Protocol::Http)] {
        let label = format!("protocol=\"{name}\"");
        histogram(&mut out, &REQUESTS, &label, &shared.requests(protocol).times());
    }
    begin(&mut out, SYNCS.metric, "histogram", SYNCS.about);
    histogram(&mut out, &SYNCS, "", &shared.syncs.times());
    out
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Counter => "counter",
        Kind::Gauge | Kind::Time(_) | Kind::Text => "gauge",
    }
}

fn begin(out: &mut String, metric: &str, kind: &str, about: &str) {
    // Writing to a text does not fail.
    let _ = write!(out, "# HELP {PREFIX}{metric} {about}\n# TYPE {PREFIX}{metric} {kind}\n");
}

fn line(out: &mut String, metric: &str, labels: &str, value: impl std::fmt::Display) {
    let _ = writeln!(out, "{PREFIX}{metric}{labels} {value}");
}

fn histogram(out: &mut String, of: &Timed, label: &str, times: &Times) {
    let bounds = BOUNDS.iter().map(|bound| seconds(*bound, 1_000_000)).chain(["+Inf".to_owned()]);
    let comma = if label.is_empty() { "" } else { "," };
    for (bound, count) in bounds.zip(&times.upto) {
        line(out, &format!("{}_bucket", of.metric), &format!("{{{label}{comma}le=\"{bound}\"}}"), count);
    }
    let labels = if label.is_empty() { String::new() } else { format!("{{{label}}}") };
    line(out, &format!("{}_sum", of.metric), &labels, seconds(times.microseconds, 1_000_000));
    let count = times.upto.last().copied().unwrap_or_default();
    line(out, &format!("{}_count", of.metric), &labels, count);
}

/// So many parts of a second in seconds, without zeros at the end.
fn seconds(number: u64, unit: u64) -> String {
    let width = unit.ilog10() as usize;
    let all = format!("{}.{:0width$}", number / unit, number % unit);
    all.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
