//! The service over HTTP, as its readers meet it: the examples of docs/service.md, and the page in a browser.

use super::Service;
use crate::common::browser::Browser;
use crate::common::cli::{Place, fixture};
use serde_json::{Value, json};
use std::process::Command;

/// The examples in curl, as they stand, one after the other.
#[test]
fn the_examples_in_curl_run() {
    let here = Place::new();
    let service = Service::start(&here, "seen --http 127.0.0.1:0");
    let page = std::fs::read_to_string(fixture("../docs/service.md")).unwrap();
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [request, .., example] = cells[..] else { return None };
        let example =
            example.strip_prefix('`')?.strip_suffix('`').filter(|code| code.starts_with("curl "))?;
        Some((request.to_owned(), example.to_owned()))
    });
    let mut said = Vec::new();
    for (request, example) in rows {
        let line = example.replace("localhost:8380", &service.http().to_string());
        assert_ne!(line, example, "{example}");
        let output = Command::new("sh")
            .args(["-c", &line.replacen("curl ", "curl --silent --fail-with-body --noproxy '*' ", 1)])
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{request}: {line}: {out}");
        said.push((request, out));
    }
    assert_eq!(said.len(), 18);
    let answer = |request: &str| {
        let found = said.iter().find(|(known, _)| *known == format!("`{request}`"));
        serde_json::from_str::<Value>(&found.unwrap_or_else(|| panic!("{request}")).1).unwrap()
    };
    assert_eq!(answer("POST /v1/{namespace}/check-add"), json!({ "verdict": "NEW" }));
    let results = answer("POST /v1/{namespace}/batch-check-add");
    assert_eq!(
        results["results"][1],
        json!({ "verdict": "DUPLICATE", "of": "b", "distance": 0, "measure": "equal-text" })
    );
    assert_eq!(answer("POST /v1/{namespace}/why")["alike"], true);
    assert_eq!(answer("POST /v1/{namespace}/delete"), json!({ "orphans": ["c"] }));
    assert_eq!(answer("GET /v1/{namespace}/count"), json!({ "documents": 2, "kept": 2 }));
    assert_eq!(answer("GET /ready"), json!({ "status": "ready" }));
    // A body so long that curl asks before it sends it.
    here.write("long", json!({ "id": "long", "text": "word ".repeat(300_000) }).to_string());
    let url = format!("http://{}/v1/books/check-add", service.http());
    let file = format!("@{}", here.path("long").display());
    let output =
        Command::new("curl").args(["--silent", "--noproxy", "*", "--json", &file, &url]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "{\"verdict\":\"NEW\"}");
    service.signal("TERM");
    assert_eq!(service.end().0, Some(0));
}

/// An address that others reach is refused without a password.
#[test]
fn http_needs_a_password_where_others_reach_it() {
    let here = Place::new();
    here.say("twinsplit serve new --http 0.0.0.0:0").fails(2, &["others reach 0.0.0.0:0", "--password-file"]);
    assert!(!here.path("new").exists());
}

/// Asks the service for something over HTTP by its own address.
fn post(service: &Service, path: &str, body: Value) -> Value {
    let answer = ureq::post(format!("http://{}{path}", service.http()))
        .content_type("application/json")
        .send(body.to_string());
    serde_json::from_str(&answer.unwrap().body_mut().read_to_string().unwrap()).unwrap()
}

/// Figures, namespaces and the last duplicates as they are; texts are never markup; a phone is wide enough; dark where it is asked for.
#[test]
fn the_page_shows_what_the_service_does() {
    let here = Place::new();
    let service =
        Service::start(&here, "seen --http 127.0.0.1:0 --features words:1 --min-features 3 --check edit:0.5");
    let evil = "<img src=x onerror=\"document.title='caught'\"> \u{202e}one two three four five six seven";
    let add =
        |id: &str, text: &str| post(&service, "/v1/%3Cb%3Enews/check-add", json!({ "id": id, "text": text }));
    assert_eq!(add("<i>first</i>", evil)["verdict"], "NEW");
    assert_eq!(add("<script>document.title='caught'</script>", &format!("{evil}!"))["verdict"], "DUPLICATE");
    let browser = Browser::start(1100);
    browser.open_url(&format!("http://{}/", service.http()));
    browser.until("return document.querySelectorAll('.found').length === 1");
    browser.until("return document.getElementById('state').textContent === 'ready'");
    assert_eq!(browser.text("#total-documents"), "2");
    assert_eq!(browser.text("#total-kept"), "1");
    assert!(browser.text("#total-p99").starts_with("≤ "), "{}", browser.text("#total-p99"));
    assert_eq!(browser.text("#namespaces th .id"), "<b>news");
    let sides = browser.script(
        "return [...document.querySelectorAll('.found .document p .id')].map((id) => id.textContent)",
    );
    assert_eq!(sides, json!(["<i>first</i>", "<script>document.title='caught'</script>"]));
    let texts = browser
        .script("return [...document.querySelectorAll('.found .text')].map((text) => text.textContent)");
    assert!(texts[0].as_str().unwrap().contains("<img src=x onerror="), "{texts}");
    // What turns text around is no part of what is compared.
    assert!(!texts.to_string().contains('\u{202e}'), "{texts}");
    let why = browser.text(".found .why");
    assert!(why.starts_with("distance 0 of 3 allowed, by edit:"), "{why}");
    // More that comes is shown without a reload, and the rate of it.
    for number in 0..40 {
        add(&format!("more-{number}"), evil);
    }
    browser.until("return document.querySelectorAll('.found').length === 41");
    browser.until("return Number(document.getElementById('total-rate').textContent) > 0");
    assert!(browser.script("return document.querySelectorAll('#rates rect').length").as_u64().unwrap() > 0);
    assert_ne!(browser.script("return document.title"), "caught");
    // Nothing but the service itself is asked, and nothing was refused by the page's policy.
    let other = browser.script("return performance.getEntriesByType('resource').filter((one) => !one.name.startsWith(location.origin)).length");
    assert_eq!(other, json!(0));
    assert_eq!(browser.console(), Vec::<String>::new());
    let paper = |browser: &Browser| browser.script("return getComputedStyle(document.body).backgroundColor");
    let light = paper(&browser);
    browser.dark();
    assert_ne!(paper(&browser), light);
    browser.width(360);
    let wide = browser.script("return [document.documentElement.scrollWidth, innerWidth]");
    assert!(wide[0].as_u64() <= wide[1].as_u64() && wide[1] == 360, "{wide}");
    // A service that has gone is told so.
    service.signal("TERM");
    assert_eq!(service.end().0, Some(0));
    browser.until("return document.getElementById('state').className === 'gone'");
}
