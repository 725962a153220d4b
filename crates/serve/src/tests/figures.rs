//! What monitors and people see of a service over HTTP: figures, whether it is ready, and the last duplicates.

use super::client;
use super::http_client::HttpClient;
use super::power::Recorded;
use super::serving::{Serving, http_options, settings, sketching};
use crate::decider::{Fsync, WriterOptions};
use crate::engine::Engine;
use crate::info;
use crate::server::Server;
use serde_json::json;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use twinsplit_core::hash::mix;

/// A service is there before it is ready, and not ready when its disk has failed.
#[test]
fn it_is_ready_when_it_answers() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Recorded::new(folder.path(), 40);
    let listening = Server::listen(sketching(None), http_options(), Vec::new()).unwrap();
    let address: SocketAddr = listening.http().unwrap();
    let mut client = HttpClient::to(address);
    let statuses = |client: &mut HttpClient| {
        ["/health", "/ready", "/metrics", "/v1/recent", "/v1/n/count", "/openapi.json"]
            .map(|path| client.get(path).status)
    };
    assert_eq!(statuses(&mut client), [200, 503, 503, 503, 503, 200]);
    assert_eq!(client.get("/ready").json()["error"], "LOADING");
    let (engine, _) = Engine::open(disk, settings(&sketching(None)), Vec::new()).unwrap();
    let server =
        listening.start(engine, WriterOptions { fsync: Fsync::Always, snapshot_after: 1 << 30 }).unwrap();
    assert_eq!(server.http(), Some(address));
    assert_eq!(statuses(&mut client), [200; 6]);
    let said: Vec<u16> = (0..100u64)
        .map(|number| {
            let body = json!({ "id": number.to_string(), "fingerprint": format!("{:016x}", mix(number)) });
            client.post("/v1/n/check-add", body).status
        })
        .collect();
    let acknowledged = said.iter().take_while(|status| **status == 200).count();
    assert!(
        (1..60).contains(&acknowledged) && said[acknowledged..].iter().all(|status| *status == 503),
        "{said:?}"
    );
    // Nobody has told the service to end yet, so its clients are still there.
    assert_eq!(statuses(&mut client), [200, 503, 503, 503, 503, 200]);
    assert_eq!(client.get("/ready").json()["error"], "IOERR");
    assert!(server.serve().is_err());
}

/// Every figure of `INFO` is a metric with the same value, and the histograms count what was asked.
#[test]
fn metrics_are_the_figures_of_info() {
    let serving = Serving::start(http_options(), None, Fsync::Always);
    let (mut http, mut redis) = (serving.http(), serving.client());
    for number in 0..100u64 {
        http.post(
            "/v1/a%22b/check-add",
            json!({ "id": number.to_string(), "fingerprint": format!("{:016x}", mix(number / 2)) }),
        );
        redis.ask(&format!("FP.CHECKADD n {number} FP {:016x}", mix(number)));
    }
    http.get("/nothing");
    let client::Value::Bulk(info) = redis.ask("INFO") else { panic!("a text") };
    let answer = http.get("/metrics");
    let value = |line: &str| {
        let found = answer.body.lines().find_map(|known| known.strip_prefix(line)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("{line} in {}", answer.body)).to_owned()
    };
    let mut seen = 0;
    for figure in info::FIGURES {
        let metric = format!("twinsplit_{}", figure.metric);
        let said = info.lines().find_map(|line| line.strip_prefix(figure.name)?.strip_prefix(':'));
        let said = said.unwrap_or_else(|| panic!("{} in {info}", figure.name));
        // What changes by itself, or by asking.
        if [
            "uptime_seconds",
            "syncs_total",
            "longest_sync_seconds",
            "requests_total",
            "snapshots_written_total",
            "last_snapshot_bytes",
            "last_snapshot_seconds",
            "log_bytes",
        ]
        .contains(&figure.metric)
        {
            value(&metric);
            continue;
        }
        match figure.kind {
            info::Kind::Text => assert_eq!(value(&format!("{metric}{{value=\"{said}\"}}")), "1"),
            _ => assert_eq!(value(&metric), said, "{metric}"),
        }
        seen += 1;
    }
    assert!(seen > 12);
    assert_eq!(value("twinsplit_setting_info{name=\"weights\",value=\"tf\"}"), "1");
    assert_eq!(value("twinsplit_namespace_documents{namespace=\"a\\\"b\"}"), "100");
    assert_eq!(value("twinsplit_namespace_documents_kept{namespace=\"a\\\"b\"}"), "50");
    assert_eq!(value("twinsplit_errors_total"), "1");
    assert_eq!(value("twinsplit_request_duration_seconds_count{protocol=\"http\"}"), "101");
    assert_eq!(value("twinsplit_request_duration_seconds_count{protocol=\"resp\"}"), "101");
    assert_eq!(value("twinsplit_request_duration_seconds_bucket{protocol=\"resp\",le=\"+Inf\"}"), "101");
    let syncs: u64 = value("twinsplit_sync_duration_seconds_count").parse().unwrap();
    assert!(syncs > 0 && value("twinsplit_sync_duration_seconds_bucket{le=\"+Inf\"}") == syncs.to_string());
    assert!(value("twinsplit_sync_duration_seconds_sum").parse::<f64>().unwrap() > 0.0);
    // Each line is one of Prometheus: a comment, or a name, labels and a number.
    for line in answer.body.lines().filter(|line| !line.starts_with('#')) {
        let (name, number) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("twinsplit_") && number.parse::<f64>().is_ok(), "{line}");
    }
}

/// The last duplicates, once each, with their texts where these are held.
#[test]
fn the_last_duplicates_are_there() {
    for (check, texts) in [(None, false), (Some("edit:0.5"), true)] {
        let serving = Serving::start(http_options(), check, Fsync::Off);
        let mut client = serving.http();
        for number in 0..70 {
            for id in ["a", "b", "b"] {
                let body = json!({ "id": format!("{id}{number}"), "text": format!("{} stands before the same words in a row", mix(number)) });
                client.post("/v1/n/check-add", body);
            }
        }
        let recent = client.get("/v1/recent").json();
        let recent = recent["recent"].as_array().unwrap();
        assert!(recent.len() == 50, "{}", recent.len());
        for found in recent {
            assert_eq!(found["verdict"]["verdict"], "DUPLICATE");
            assert_eq!(found["compared"]["alike"], true, "{found}");
            assert_eq!(found.get("text").is_some() && found.get("text_of").is_some(), texts, "{found}");
        }
        let ids: BTreeSet<String> =
            recent.iter().map(|found| found["id"].to_string() + &found["namespace"].to_string()).collect();
        assert_eq!(ids.len(), recent.len(), "each once");
        // What was deleted is named, and nothing of it is shown.
        let newest = recent[0].clone();
        client.post("/v1/n/delete", json!({ "id": newest["verdict"]["of"] }));
        let again = client.get("/v1/recent").json()["recent"][0].clone();
        assert_eq!(again["id"], newest["id"]);
        assert!(again.get("compared").is_none() && again.get("text").is_none());
    }
}

/// Namespaces are bytes, and each has a name of its own where they are told.
#[test]
fn namespaces_have_names_of_their_own() {
    let names: [&[u8]; 6] = [b"news", b"n\xfe", b"n\xff", br"n\xfe", "n\u{fffd}".as_bytes(), b"n\xe4\xb8"];
    let shown: Vec<String> = names.iter().map(|name| crate::info::shown(name)).collect();
    assert_eq!(shown, ["news", r"n\xfe", r"n\xff", r"n\\xfe", "n\u{fffd}", r"n\xe4\xb8"]);
}
