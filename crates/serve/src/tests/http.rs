//! The service over HTTP: the same answers as over RESP, and what is refused with which status.

use super::client::{self, Client, words};
use super::http_client::request;
use super::serving::{Serving, http_options, settings, sketching};
use crate::decider::Fsync;
use crate::http::reply::Reply;
use crate::resp::Replies;
use crate::runs::Mode;
use crate::state::{Operation, State};
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;
use twinsplit_core::hash::mix;

/// Each command, by its endpoint.
#[test]
fn endpoints_answer_as_they_are_documented() {
    let serving = Serving::start(http_options(), None, Fsync::Off);
    let mut client = serving.http();
    let mut says = |path: &str, body: Value, status: u16, expected: Value| {
        let answer = client.post(path, body);
        assert_eq!((answer.status, answer.json()), (status, expected), "{path}");
        assert_eq!(answer.head["content-type"], "application/json");
        assert!(answer.head["date"].ends_with(" GMT"), "{answer:?}");
    };
    let new = json!({ "verdict": "NEW" });
    let duplicate = |of: Value, distance: u32, measure: &str| json!({ "verdict": "DUPLICATE", "of": of, "distance": distance, "measure": measure });
    says("/v1/n/check", json!({ "fingerprint": "00000000000000ff" }), 200, new.clone());
    says("/v1/n/check-add", json!({ "id": "a", "fingerprint": "00000000000000ff" }), 200, new.clone());
    for _ in 0..2 {
        let body = json!({ "fingerprint": "00000000000000FE", "id": "c" });
        says("/v1/n/check-add", body, 200, duplicate("a".into(), 1, "hamming"));
    }
    says("/v1/n/add", json!({ "id": "d", "fingerprint": "00000000000000fe" }), 200, new.clone());
    says("/v1/n/check-add", json!({ "id": "s", "text": "Straße" }), 200, new.clone());
    says("/v1/n/check", json!({ "text": "straße" }), 200, duplicate("s".into(), 0, "equal-text"));
    says(
        "/v1/n/why",
        json!({ "first": "a", "second": "c" }),
        200,
        json!({ "first": new, "second": duplicate("a".into(), 1, "hamming"), "distance": 1, "distance_allowed": 3, "alike": true }),
    );
    says(
        "/v1/n/why",
        json!({ "first": "a", "second": "x" }),
        404,
        json!({ "error": "NOTFOUND", "message": "one of the two documents is not there" }),
    );
    says("/v1/n/delete", json!({ "id": "a" }), 200, json!({ "orphans": ["c"] }));
    says(
        "/v1/n/delete",
        json!({ "id": "a" }),
        404,
        json!({ "error": "NOTFOUND", "message": "there is no such document" }),
    );
    let conflict = json!({ "error": "IDCONFLICT", "message": "this id stands for a document with other content; FP.DEL forgets that, or give another id" });
    says("/v1/n/check-add", json!({ "id": "d", "text": "x" }), 409, conflict.clone());
    says(
        "/v1/n/batch-check-add",
        json!({ "documents": [
            { "id": "e", "fingerprint": "1111111111111111" }, { "id": "f", "fingerprint": "1111111111111111" },
            { "id": "e", "text": "other" }, { "id": "t", "text": "straße" },
        ] }),
        200,
        json!({ "results": [new, duplicate("e".into(), 0, "hamming"), conflict, duplicate("s".into(), 0, "equal-text")] }),
    );
    says("/v1/other%2F%ff/check-add", json!({ "id": { "hex": "ff0a" }, "text": "y" }), 200, new.clone());
    says(
        "/v1/other%2F%ff/check",
        json!({ "text": "y" }),
        200,
        duplicate(json!({ "hex": "ff0a" }), 0, "equal-text"),
    );
    let answer = client.get("/v1/n/count");
    assert_eq!((answer.status, answer.json()), (200, json!({ "documents": 5, "kept": 3 })));
    let mut redis = serving.client();
    let both = vec!["FP.COUNT".to_owned(), "n".to_owned()];
    assert_eq!(redis.ask_all(&[both]).unwrap()[0], {
        let bulk = |text: &str| client::Value::Bulk(text.to_owned());
        client::Value::Array(vec![
            bulk("documents"),
            client::Value::Number(5),
            bulk("kept"),
            client::Value::Number(3),
        ])
    });
    for (path, content_type) in
        [("/health", "application/json"), ("/ready", "application/json"), ("/", "text/html; charset=utf-8")]
    {
        let answer = client.get(path);
        assert_eq!((answer.status, answer.head["content-type"].as_str()), (200, content_type));
        let head = client.ask("HEAD", path, None);
        assert_eq!((head.body.as_str(), &head.head["content-length"]), ("", &answer.head["content-length"]));
    }
}

/// An operation of a number, as the state, RESP and HTTP have it.
fn operation(number: u64) -> (Operation, Vec<String>, Vec<u8>) {
    let sketching = sketching(None);
    let of = |salt: u64| mix(number * 8 + salt);
    let id = |salt: u64| (of(salt) % 150).to_string();
    let fingerprint = |salt: u64| format!("{:016x}", mix(of(salt) % 40) ^ (of(salt) >> 32 & 0b11));
    let document = |digits: &str| sketching.of_fingerprint(digits.as_bytes()).unwrap();
    let bytes = |id: &str| id.as_bytes().to_vec().into_boxed_slice();
    let post = |path: &str, body: Value| request("POST", &format!("/v1/n/{path}"), Some(&body));
    let (one, two, fp) = (id(0), id(1), fingerprint(2));
    // Runs come and go.
    let run = format!("r{}", number / 200 + of(5) % 3);
    let mode = if of(6) % 2 == 0 { Mode::Isolated } else { Mode::Shared };
    match of(3) % 18 {
        6 | 7 => (
            Operation::Begin(bytes(&run), mode),
            words(&format!("FP.BEGIN n {run} {}", mode.name())),
            post("begin", json!({ "run": run, "mode": mode.name() })),
        ),
        8 => (
            Operation::Commit(bytes(&run)),
            words(&format!("FP.COMMIT n {run}")),
            post("commit", json!({ "run": run })),
        ),
        9 => (
            Operation::Cancel(bytes(&run)),
            words(&format!("FP.CANCEL n {run}")),
            post("cancel", json!({ "run": run })),
        ),
        10 => (Operation::Runs, words("FP.RUNS n"), request("GET", "/v1/n/runs", None)),
        11..=13 => (
            Operation::InRun(bytes(&run), Box::new(Operation::CheckAdd(bytes(&one), document(&fp)))),
            words(&format!("FP.CHECKADD n {one} FP {fp} RUN {run}")),
            post("check-add", json!({ "id": one, "fingerprint": fp, "run": run })),
        ),
        0 => (
            Operation::Delete(bytes(&one)),
            words(&format!("FP.DEL n {one}")),
            post("delete", json!({ "id": one })),
        ),
        1 => (
            Operation::Why(bytes(&one), bytes(&two)),
            words(&format!("FP.WHY n {one} {two}")),
            post("why", json!({ "first": one, "second": two })),
        ),
        2 => (Operation::Count, words("FP.COUNT n"), request("GET", "/v1/n/count", None)),
        3 => (
            Operation::Check(document(&fp)),
            words(&format!("FP.CHECK n FP {fp}")),
            post("check", json!({ "fingerprint": fp })),
        ),
        4 => (
            Operation::Add(bytes(&one), document(&fp)),
            words(&format!("FP.ADD n {one} FP {fp}")),
            post("add", json!({ "id": one, "fingerprint": fp })),
        ),
        5 => {
            let other = fingerprint(4);
            let all = vec![(bytes(&one), document(&fp)), (bytes(&two), document(&other))];
            let body = json!({ "documents": [{ "id": one, "fingerprint": fp }, { "id": two, "fingerprint": other }] });
            (
                Operation::CheckAddAll(all),
                words(&format!("FP.MCHECKADD n FP {one} {fp} {two} {other}")),
                post("batch-check-add", body),
            )
        }
        _ => (
            Operation::CheckAdd(bytes(&one), document(&fp)),
            words(&format!("FP.CHECKADD n {one} FP {fp}")),
            post("check-add", json!({ "id": one, "fingerprint": fp })),
        ),
    }
}

/// Clients of both protocols in turn: every answer is that of the state machine, which the model test holds against a list.
#[test]
fn both_protocols_have_the_same_answers() {
    let serving = Serving::start(http_options(), None, Fsync::Off);
    let (mut redis, mut http) = (serving.client(), serving.http());
    let mut state = State::new(settings(&sketching(None)));
    let (mut errors, mut duplicates) = (0, 0);
    for number in 0..6000 {
        let (mut operation, line, bytes) = operation(number);
        let expected = state.ask(1, b"n", &mut operation, &mut |_| {});
        if mix(number).is_multiple_of(2) {
            let mut replies = Replies::default();
            crate::replies::reply(&expected, &mut replies);
            let said = redis.ask_all(std::slice::from_ref(&line)).unwrap().remove(0);
            assert_eq!(said, client::reply(&mut &replies.bytes[..]).unwrap(), "{line:?}");
        } else {
            http.raw(&bytes).unwrap();
            let answer = http.answer(true).unwrap();
            let reply = Reply::answer(&expected);
            assert_eq!(answer.status, reply.status, "{line:?}");
            assert_eq!(answer.body.as_bytes(), reply.body, "{line:?}");
            errors += usize::from(answer.status == 409);
            duplicates += usize::from(answer.body.contains("DUPLICATE"));
        }
    }
    assert!(errors > 50 && duplicates > 300, "{errors} {duplicates}");
}

/// Races of clients of both protocols: of each exactly one is new, and all others name it.
#[test]
fn one_is_new_whatever_is_spoken() {
    const RACES: usize = 2000;
    let serving = Serving::start(http_options(), None, Fsync::Within(Duration::from_millis(5)));
    let run = |number: usize| {
        let value = |race: usize| format!("{:016x}", mix(race as u64) ^ 1 << number);
        let (mut http, mut redis) = (serving.http(), serving.client());
        (0..RACES)
            .map(|race| {
                let id = format!("{race}-{number}");
                if number.is_multiple_of(2) {
                    let answer = http
                        .post("/v1/races/check-add", json!({ "id": id, "fingerprint": value(race) }))
                        .json();
                    answer.get("of").map(|of| of.as_str().unwrap().to_owned())
                } else {
                    match redis.ask(&format!("FP.CHECKADD races {id} FP {}", value(race))) {
                        client::Value::Array(parts) => parts.get(1).map(|of| match of {
                            client::Value::Bulk(of) => of.clone(),
                            other => panic!("{other:?}"),
                        }),
                        other => panic!("{other:?}"),
                    }
                }
            })
            .collect::<Vec<_>>()
    };
    let said: Vec<Vec<Option<String>>> = thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|number| scope.spawn(move || run(number))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for race in 0..RACES {
        let of_race: Vec<&Option<String>> = said.iter().map(|all| &all[race]).collect();
        let winners: Vec<usize> = (0..4).filter(|number| of_race[*number].is_none()).collect();
        let [winner] = winners[..] else { panic!("race {race}: {winners:?}") };
        let kept = Some(format!("{race}-{winner}"));
        assert!((0..4).all(|number| number == winner || *of_race[number] == kept), "{race}");
    }
}

/// Requests together, in pieces of any size, in chunks, and of clients that wait before they send a body.
#[test]
fn requests_come_in_any_form() {
    let serving = Serving::start(http_options(), None, Fsync::Off);
    let mut client = serving.http();
    let body = |number: usize| json!({ "id": number.to_string(), "text": "the same text in each of them, of many words" });
    let all: Vec<Vec<u8>> =
        (0..200).map(|number| request("POST", "/v1/n/check-add", Some(&body(number)))).collect();
    client.raw(&all.concat()).unwrap();
    for number in 0..200 {
        let answer = client.answer(true).unwrap().json();
        let expected = if number == 0 { json!(null) } else { json!("0") };
        assert_eq!(answer.get("of").unwrap_or(&json!(null)), &expected, "{number}");
    }
    let chunked = b"POST /v1/n/check HTTP/1.1\r\nHost: [::1]:80\r\nContent-Type: Application/JSON; charset=utf-8\r\ntransfer-encoding: Chunked\r\n\r\n\
        3;name=value\r\n{\"t\r\n21\r\next\":\"the same text in each of th\r\n016 \r\nem, of many words\"}   \r\n0\r\nTrailer: x\r\n\r\n";
    for size in [1, 2, 3, 7, 64, chunked.len()] {
        for piece in chunked.chunks(size) {
            client.raw(piece).unwrap();
        }
        let answer = client.answer(true).unwrap();
        assert_eq!((answer.status, answer.json()["of"].clone()), (200, json!("0")), "{size}");
    }
    let bytes = request("POST", "/v1/n/check-add", Some(&body(3)));
    let at = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    client.raw(&[&bytes[..at], b"\r\nExpect: 100-continue\r\n\r\n"].concat()).unwrap();
    assert_eq!(client.answer(false).unwrap().status, 100);
    client.raw(&bytes[at + 4..]).unwrap();
    assert_eq!(client.answer(true).unwrap().json()["of"], json!("0"));
    // A later request may not wait, and has no such line then.
    client.raw(&bytes).unwrap();
    assert_eq!(client.answer(true).unwrap().status, 200);
    // Version 1.0 goes at once, or stays where it is asked to; so does 1.1.
    for (version, line, stays) in [
        ("1.0", "", false),
        ("1.0", "Connection: keep-alive\r\n", true),
        ("1.1", "", true),
        ("1.1", "Connection: Close, TE\r\n", false),
    ] {
        let mut client = serving.http();
        client
            .raw(
                format!("GET http://localhost/health?x=y HTTP/{version}\r\nHost: 127.0.0.1\r\n{line}\r\n")
                    .as_bytes(),
            )
            .unwrap();
        let answer = client.answer(true).unwrap();
        assert_eq!((answer.status, answer.json()), (200, json!({ "status": "ok" })));
        let connection = answer.head.get("connection").map(String::as_str);
        assert_eq!(
            connection,
            if !stays {
                Some("close")
            } else if version == "1.0" {
                Some("keep-alive")
            } else {
                None
            }
        );
        if stays {
            assert_eq!(client.get("/health").status, 200);
        } else {
            assert!(client.answer(true).is_err());
        }
    }
}

/// A service that ends answers what has come, and says that it goes.
#[test]
fn a_stop_answers_clients_of_http() {
    let mut serving = Serving::start(http_options(), None, Fsync::Always);
    let mut client = serving.http();
    let body = |number: usize| json!({ "id": number.to_string(), "text": number.to_string() });
    let all: Vec<Vec<u8>> =
        (0..50).map(|number| request("POST", "/v1/n/check-add", Some(&body(number)))).collect();
    client.raw(&all.concat()).unwrap();
    assert_eq!(client.answer(true).unwrap().status, 200);
    serving.stop();
    let rest: Vec<u16> =
        std::iter::from_fn(|| client.answer(true).ok()).map(|answer| answer.status).collect();
    let answered = 1 + rest.iter().filter(|status| **status == 200).count();
    let (address, stopper, thread) = Serving::over(&serving.folder, http_options(), None, Fsync::Always);
    let client::Value::Array(count) = Client::to(address).ask("FP.COUNT n") else { panic!("a map") };
    assert!(
        matches!(count[1], client::Value::Number(there) if there >= answered as i64),
        "{count:?} {rest:?}"
    );
    stopper.stop();
    thread.join().unwrap().unwrap();
}
