//! docs/service.md beside what is declared.

use crate::http::endpoints::ENDPOINTS;
use crate::info::{FIGURES, Kind, OF_NAMESPACES};
use crate::metrics::{REQUESTS, SETTING, SYNCS};

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/service.md");
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The table of figures, as it follows from their declaration.
fn figures() -> String {
    let mut rows =
        vec!["| `INFO` | `/metrics` | kind | what it is |".to_owned(), "|---|---|---|---|".to_owned()];
    let mut row = |info: &str, metric: &str, kind: &str, about: &str| {
        let info = if info.is_empty() { String::new() } else { format!("`{info}`") };
        rows.push(format!("| {info} | `{metric}` | {kind} | {about} |"));
    };
    for figure in FIGURES {
        let kind = match figure.kind {
            Kind::Counter => "counter",
            Kind::Gauge | Kind::Time(_) => "gauge",
            Kind::Text => "text",
        };
        row(figure.name, figure.metric, kind, figure.about);
    }
    row("", SETTING.0, "text", SETTING.1);
    for of in &OF_NAMESPACES {
        row(of.name, of.metric, "gauge", of.about);
    }
    for timed in [&REQUESTS, &SYNCS] {
        row("", timed.metric, "histogram", timed.about);
    }
    rows.join("\n")
}

#[test]
fn every_figure_is_documented_as_it_is_declared() {
    let expected = figures();
    assert!(page().contains(&format!("\n{expected}\n")), "docs/service.md should have:\n{expected}");
}

#[test]
fn every_endpoint_is_documented() {
    let page = page();
    for endpoint in &ENDPOINTS {
        let row = format!("| `{} {}` |", endpoint.method, endpoint.path);
        assert_eq!(page.matches(&row).count(), 1, "{row}");
    }
}
