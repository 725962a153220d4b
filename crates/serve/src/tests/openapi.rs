//! The OpenAPI document beside what is served.

use super::http_client::{Answer, HttpClient, request};
use super::serving::{Serving, http_options, sketching};
use crate::decider::Fsync;
use crate::server::{Server, ServerOptions};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Whether a value is what a schema says.
fn fits(value: &Value, schema: &Value, all: &Value) -> bool {
    if let Some(name) = schema["$ref"].as_str() {
        return fits(value, all.pointer(name.trim_start_matches('#')).unwrap(), all);
    }
    if let Some(some) = schema["oneOf"].as_array() {
        return some.iter().filter(|one| fits(value, one, all)).count() == 1;
    }
    if let Some(some) = schema["enum"].as_array() {
        return some.contains(value);
    }
    match schema["type"].as_str().unwrap() {
        "string" => {
            let least = schema["minLength"].as_u64().unwrap_or(0);
            value.as_str().is_some_and(|text| text.len() as u64 >= least)
        }
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "array" => {
            value.as_array().is_some_and(|some| some.iter().all(|one| fits(one, &schema["items"], all)))
        }
        "object" => value.as_object().is_some_and(|fields| {
            let Some(known) = schema["properties"].as_object() else { return true };
            assert_eq!(schema["additionalProperties"], false);
            let required = schema["required"].as_array().unwrap();
            let fits = |(name, value)| known.get(name).is_some_and(|schema| fits(value, schema, all));
            required.iter().all(|name| fields.contains_key(name.as_str().unwrap())) && fields.iter().all(fits)
        }),
        other => panic!("{other}"),
    }
}

/// The document, and what of it was seen to be so.
struct Checked {
    document: Value,
    seen: BTreeSet<(String, u16)>,
}

impl Checked {
    fn operation(&self, method: &str, path: &str) -> &Value {
        let operation = &self.document["paths"][path][method.to_ascii_lowercase()];
        assert!(operation.is_object(), "{method} {path}");
        operation
    }

    /// That an answer is one that the document has.
    fn answer(&mut self, method: &str, path: &str, status: u16, answer: Answer) {
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        let content = &self.operation(method, path)["responses"][status.to_string()]["content"];
        let (name, media) =
            content.as_object().unwrap_or_else(|| panic!("{path}: {status}")).iter().next().unwrap();
        assert!(answer.head["content-type"].starts_with(name.as_str()), "{path}: {answer:?}");
        let said = if name == "application/json" { answer.json() } else { Value::String(answer.body) };
        assert!(fits(&said, &media["schema"], &self.document), "{path}: {said}");
        self.seen.insert((format!("{method} {path}"), status));
    }

    /// Sends a body, and compares it and its answer with the document.
    fn case(&mut self, serving: &Serving, path: &str, body: Value, status: u16) {
        let path = format!("/v1/{{namespace}}/{path}");
        let schema = &self.operation("POST", &path)["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(fits(&body, schema, &self.document), status != 400, "{path}: {body}");
        let answer = serving.http().post(&path.replace("{namespace}", "n"), body);
        self.answer("POST", &path, status, answer);
    }

    /// All there is to ask for: method, path, and whether it is told in JSON what.
    fn all(&self) -> Vec<(String, String, bool)> {
        let paths = self.document["paths"].as_object().unwrap();
        let all = paths.iter().flat_map(|(path, operations)| {
            operations.as_object().unwrap().iter().map(|(method, operation)| {
                (method.to_ascii_uppercase(), path.clone(), operation.get("requestBody").is_some())
            })
        });
        all.collect()
    }
}

/// Every endpoint answers with every status that is named for it, in the form that is named for that, and takes what is named and nothing else.
#[test]
fn the_openapi_document_is_what_is_served() {
    let mut serving = Serving::start(http_options(), Some("edit:0.5"), Fsync::Off);
    let document = serving.http().get("/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let mut checked = Checked { document, seen: BTreeSet::new() };
    let text = |id: &str, text: &str| json!({ "id": id, "text": text });
    let in_run = |id: &str, text: &str| json!({ "id": id, "text": text, "run": "r" });
    for (path, body, status) in [
        ("check-add", text("a", "one two three four five"), 200),
        ("check-add", text("b", "One two three four five!"), 200),
        ("check-add", json!({ "id": { "hex": "ff" }, "text": "six" }), 200),
        ("check-add", text("a", "other"), 409),
        ("check-add", text("", "x"), 400),
        ("check-add", json!({ "id": { "hex": "ff", "more": 1 }, "text": "six" }), 400),
        (
            "batch-check-add",
            json!({ "documents": [text("c", "one two three four five"), text("a", "other")] }),
            200,
        ),
        ("batch-check-add", json!({ "documents": 1 }), 400),
        ("check", json!({ "text": "one two three four five" }), 200),
        ("check", json!({ "text": "one", "id": "x" }), 400),
        ("add", text("d", "one two three four five"), 200),
        ("add", text("d", "other"), 409),
        ("add", json!({ "text": "other" }), 400),
        ("why", json!({ "first": "a", "second": "b" }), 200),
        ("why", json!({ "first": "a", "second": "none" }), 404),
        ("why", json!({ "first": "a" }), 400),
        ("delete", json!({ "id": "b" }), 200),
        ("delete", json!({ "id": "b" }), 404),
        ("delete", json!({ "id": 1 }), 400),
        ("begin", json!({ "run": "r", "mode": "isolated" }), 200),
        ("begin", json!({ "run": "r", "mode": "shared" }), 409),
        ("begin", json!({ "run": "r", "mode": "other" }), 400),
        ("begin", json!({ "run": "s", "mode": "shared" }), 200),
        ("check-add", in_run("r1", "one two three four five"), 200),
        ("check-add", in_run("r2", "seven eight nine ten eleven"), 200),
        ("check-add", text("t", "seven eight nine ten eleven"), 200),
        ("commit", json!({ "run": "r" }), 200),
        ("commit", json!({ "run": "none" }), 404),
        ("commit", json!({ "id": "r" }), 400),
        ("cancel", json!({ "run": "r" }), 409),
        ("cancel", json!({ "run": "s" }), 200),
        ("cancel", json!({ "run": "none" }), 404),
        ("cancel", json!({}), 400),
        ("commit", json!({ "run": "s" }), 409),
        ("check-add", in_run("x", "y"), 409),
        ("add", in_run("x", "y"), 409),
        ("batch-check-add", json!({ "documents": [text("x", "y")], "run": "r" }), 409),
        ("check", json!({ "text": "y", "run": "r" }), 409),
        ("why", json!({ "first": "a", "second": "d", "run": "r" }), 409),
        ("delete", json!({ "id": "a", "run": "r" }), 409),
        ("check-add", json!({ "id": "x", "text": "y", "run": "none" }), 404),
        ("add", json!({ "id": "x", "text": "y", "run": "none" }), 404),
        ("batch-check-add", json!({ "documents": [], "run": "none" }), 404),
        ("check", json!({ "text": "y", "run": "none" }), 404),
        ("read-only", json!({ "read_only": 1 }), 400),
        ("read-only", json!({ "read_only": true }), 200),
        ("check-add", text("q", "other"), 403),
        ("add", text("q", "other"), 403),
        ("delete", json!({ "id": "a" }), 403),
        ("begin", json!({ "run": "u", "mode": "isolated" }), 403),
        ("commit", json!({ "run": "s" }), 403),
        ("cancel", json!({ "run": "s" }), 403),
        ("check-add", text("a", "one two three four five"), 200),
    ] {
        checked.case(&serving, path, body, status);
    }
    let raw = |serving: &Serving, bytes: String| {
        let mut client = serving.http();
        client.raw(bytes.as_bytes()).unwrap();
        client.answer(true).unwrap()
    };
    let head = |path: &str, more: &str| {
        format!("POST {} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n", path.replace("{namespace}", "n"))
    };
    for (method, path, has_body) in checked.all() {
        if has_body {
            let too_long = head(&path, "Content-Type: application/json\r\nContent-Length: 99999999\r\n");
            checked.answer(&method, &path, 413, raw(&serving, too_long));
            let other = head(&path, "Content-Type: text/plain\r\nContent-Length: 2\r\n") + "{}";
            checked.answer(&method, &path, 415, raw(&serving, other));
        } else {
            let answer = serving.http().get(&path.replace("{namespace}", "n"));
            checked.answer(&method, &path, 200, answer);
            if path.contains("{namespace}") {
                checked.answer(&method, &path, 400, serving.http().get(&path.replace("{namespace}", "%")));
            }
        }
    }
    // The namespace after the last one that may be.
    for namespace in 0..4 {
        serving.http().post(&format!("/v1/{namespace}/check-add"), text("a", "x"));
    }
    for (path, body) in [
        ("check-add", text("a", "x")),
        ("add", text("a", "x")),
        ("begin", json!({ "run": "r", "mode": "shared" })),
        ("read-only", json!({ "read_only": true })),
    ] {
        let answer = serving.http().post(&format!("/v1/more/{path}"), body);
        checked.answer("POST", &format!("/v1/{{namespace}}/{path}"), 507, answer);
    }
    serving.stop();

    // Who gives no password, and who comes before the service is ready.
    let password = Some(b"secret"[..].into());
    let locked = Serving::start(ServerOptions { password, ..http_options() }, None, Fsync::Off);
    let begins = Server::listen(sketching(None), http_options(), Vec::new()).unwrap();
    for (method, path, has_body) in checked.all() {
        let id = json!({ "id": "a", "text": "x" });
        let body = match path.rsplit('/').next().unwrap() {
            "check" => json!({ "text": "x" }),
            "batch-check-add" => json!({ "documents": [id] }),
            "why" => json!({ "first": "a", "second": "b" }),
            "delete" => json!({ "id": "a" }),
            "begin" => json!({ "run": "r", "mode": "shared" }),
            "read-only" => json!({ "read_only": true }),
            "commit" | "cancel" => json!({ "run": "r" }),
            _ => id,
        };
        let bytes = request(&method, &path.replace("{namespace}", "n"), has_body.then_some(&body));
        for (address, status) in [(locked.http, 401), (begins.http().unwrap(), 503)] {
            let is_named = checked.operation(&method, &path)["responses"].get(status.to_string()).is_some();
            let mut client = HttpClient::to(address);
            client.raw(&bytes).unwrap();
            let answer = client.answer(true).unwrap();
            if is_named {
                checked.answer(&method, &path, status, answer);
            } else {
                assert_eq!(answer.status, 200, "{path}");
            }
        }
    }
    for (method, path, _) in checked.all() {
        for status in checked.operation(&method, &path)["responses"].as_object().unwrap().keys() {
            let status: u16 = status.parse().unwrap();
            assert!(
                checked.seen.contains(&(format!("{method} {path}"), status)),
                "{method} {path} answers no {status}"
            );
        }
    }
}
