//! What the service refuses over HTTP, and with which status.

use super::http_client::{HttpClient, request};
use super::serving::{Serving, damaged, http_options};
use crate::decider::Fsync;
use crate::server::{HttpOptions, ServerOptions};
use serde_json::json;
use std::time::Duration;

/// What is refused, with its status, and whether the client may go on.
#[test]
fn what_is_refused_has_its_status() {
    let serving = Serving::start(http_options(), None, Fsync::Off);
    let mut bystander = serving.http();
    let post =
        |head: &str, body: &str| format!("POST /v1/n/check HTTP/1.1\r\nHost: localhost\r\n{head}\r\n{body}");
    let json = |body: &str| {
        post(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()), body)
    };
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let long = "x".repeat(20_000);
    let many = "X: y\r\n".repeat(65);
    let cases: Vec<(String, u16, &str, bool)> = vec![
        (json("{}"), 400, "expected one of text and fingerprint", true),
        (json("{\"text\":\"x\",\"fingerprint\":\"00\"}"), 400, "expected one of text and fingerprint", true),
        (json("{\"text\":\"x\",\"colour\":1}"), 400, "unknown field `colour`", true),
        (json("{\"text\":1}"), 400, "expected a string", true),
        (json("{\"text\":\"x\"} x"), 400, "trailing characters", true),
        (json("{\"text\":\"\u{1}\"}"), 400, "control character", true),
        (json("not JSON"), 400, "line 1 column 2", true),
        (json(""), 400, "EOF", true),
        (json("{\"fingerprint\":\"00ff\"}"), 400, "16 hex digits", true),
        // The fields of an object in their order are none.
        (json("[\"x\"]"), 400, "expected an object", true),
        (
            json("{\"documents\":[[\"a\",\"some text\"]]}").replacen("/check ", "/batch-check-add ", 1),
            400,
            "expected an object",
            true,
        ),
        (get("/nothing"), 404, "/openapi.json", true),
        (get("/v1/n/check/"), 404, "NOTFOUND", true),
        (get("/v1/n/check"), 405, "expected POST", true),
        (get("/v1/%f/count"), 400, "two hex digits behind %", true),
        (get("/v1//count"), 400, "the namespace is empty", true),
        (get(&format!("/v1/{}/count", "n".repeat(257))), 400, "256 is the most", true),
        (get("relative"), 400, "begins with /", false),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400, "Host", false),
        ("GET / HTTP/2.0\r\nHost: x\r\n\r\n".to_owned(), 505, "expected HTTP/1.1", false),
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(), 421, "localhost alone", true),
        ("nonsense\r\n\r\n".to_owned(), 400, "no request", false),
        (format!("GET /{long} HTTP/1.1\r\n"), 414, "line of the request", false),
        (format!("GET / HTTP/1.1\r\nX: {long}\r\n"), 431, "head of the request", false),
        (format!("GET / HTTP/1.1\r\n{many}\r\n"), 431, "64 lines", false),
        (post("Content-Length: 2\r\n", "{}"), 415, "application/json", false),
        (post("Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}"), 415, "application/json", false),
        (
            post("Content-Type: application/json\r\nContent-Length: 1048577\r\n", ""),
            413,
            "--max-request",
            false,
        ),
        (
            post("Content-Type: application/json\r\nContent-Length: 99999999999999999999\r\n", ""),
            400,
            "number of bytes",
            false,
        ),
        (post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), 400, "two headers Content-Length", false),
        (post("Content-Length: -1\r\n", ""), 400, "number of bytes", false),
        (post("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", "{}"), 400, "both", false),
        (post("Transfer-Encoding: gzip, chunked\r\n", ""), 501, "chunked", false),
        (post("Expect: cake\r\n", ""), 417, "100-continue", false),
        (
            post("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", "100001\r\n"),
            413,
            "--max-request",
            false,
        ),
        (
            post("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", "\r\n"),
            400,
            "hex digits",
            false,
        ),
        (
            post("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", "+2\r\n"),
            400,
            "hex digits",
            false,
        ),
        (
            post("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", "1\r\n{x\r\n"),
            400,
            "behind a chunk",
            false,
        ),
        (
            post("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", "1\n{\r\n"),
            400,
            "CR and LF",
            false,
        ),
        (
            post("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", &long[..300]),
            400,
            "too long",
            false,
        ),
        (
            "GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx".to_owned(),
            400,
            "no body",
            false,
        ),
    ];
    for (bytes, status, words, stays) in cases {
        let mut client = serving.http();
        client.raw(bytes.as_bytes()).unwrap();
        let answer = client.answer(true).unwrap();
        let shown = &bytes[..bytes.len().min(200)];
        assert_eq!(answer.status, status, "{shown}: {answer:?}");
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        let whole = format!("{} {message}", answer.json()["error"].as_str().unwrap());
        assert!(whole.contains(words), "{shown}: {whole}");
        assert_eq!(!answer.head.contains_key("connection"), stays, "{shown}");
        assert_eq!(answer.head.get("allow").map(String::as_str), (status == 405).then_some("POST"));
        if stays {
            assert_eq!(client.get("/health").status, 200, "{shown}");
        } else {
            assert!(client.answer(true).is_err(), "{shown}");
        }
        assert_eq!(bystander.get("/health").status, 200);
    }
    // Bytes of any kind; what is left of requests.
    let requests =
        request("POST", "/v1/n/check-add", Some(&json!({ "id": "a", "text": "some text" }))).repeat(3);
    for seed in 0..300u64 {
        let mut client = serving.http();
        client.raw(&damaged(&requests, seed)).unwrap();
        client.no_more();
        while client.answer(true).is_ok() {}
    }
    assert_eq!(bystander.get("/health").status, 200);
    // Too many clients are told so.
    let mut all: Vec<HttpClient> = (0..60).map(|_| serving.http()).collect();
    let refused = all.iter_mut().filter_map(|client| {
        client.raw(&request("GET", "/health", None)).ok()?;
        (client.answer(true).ok()?.status == 503).then_some(())
    });
    assert!(refused.count() > 0);
}

/// Nobody gets in without the password, and no body is read before it.
#[test]
fn strangers_are_kept_out_over_http() {
    let options = ServerOptions { password: Some(b"sec:ret"[..].into()), ..http_options() };
    let serving = Serving::start(options, None, Fsync::Off);
    let ask = |client: &mut HttpClient, path: &str, line: &str| {
        client.raw(format!("GET {path} HTTP/1.1\r\nHost: any.example\r\n{line}\r\n").as_bytes()).unwrap();
        client.answer(true).unwrap()
    };
    let mut client = serving.http();
    for path in ["/", "/metrics", "/v1/n/count", "/v1/recent", "/openapi.json"] {
        let answer = ask(&mut client, path, "");
        assert_eq!((answer.status, answer.json()["error"].clone()), (401, json!("NOAUTH")), "{path}");
        assert!(answer.head["www-authenticate"].starts_with("Basic "));
    }
    // Of `default:wrong`, `other:sec:ret`, and what is no base64.
    for wrong in [
        "Bearer wrong",
        "Bearer",
        "Basic ZGVmYXVsdDp3cm9uZw==",
        "Basic b3RoZXI6c2VjOnJldA==",
        "Basic ???",
        "Digest x",
    ] {
        let answer = ask(&mut client, "/v1/n/count", &format!("Authorization: {wrong}\r\n"));
        assert_eq!((answer.status, answer.json()["error"].clone()), (401, json!("WRONGPASS")), "{wrong}");
    }
    // Of `default:sec:ret`.
    for right in ["Bearer sec:ret", "bearer  sec:ret", "Basic ZGVmYXVsdDpzZWM6cmV0"] {
        assert_eq!(
            ask(&mut client, "/v1/n/count", &format!("Authorization: {right}\r\n")).status,
            200,
            "{right}"
        );
    }
    for open in ["/health", "/ready"] {
        assert_eq!(ask(&mut client, open, "").status, 200, "{open}");
    }
    let mut client = serving.http();
    client.raw(b"POST /v1/n/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n").unwrap();
    assert_eq!(client.answer(true).unwrap().status, 401);
    assert!(client.answer(true).is_err());
    let http = HttpOptions { address: "0.0.0.0:0".parse().unwrap(), ..http_options().http.unwrap() };
    let open = ServerOptions { http: Some(http), ..http_options() };
    assert!(open.must_be_safe().unwrap_err().to_string().contains("give a password"));
}

/// A client that says nothing is sent away.
#[test]
fn idle_clients_of_http_are_sent_away() {
    let idle = Some(Duration::from_millis(30));
    let serving = Serving::start(ServerOptions { idle, ..http_options() }, None, Fsync::Off);
    let mut client = serving.http();
    client.raw(b"POST /v1/n/check HTTP/1.1\r\n").unwrap();
    assert!(client.answer(true).is_err());
}
