//! One thread for all clients: none of them waits for what another does, or does not do.

use super::client::{self, Client, Value, duplicate, new, words};
use super::serving::{FSYNCS, Serving, http_options, options, settings, sketching};
use crate::decider::Fsync;
use crate::resp::Replies;
use crate::server::ServerOptions;
use crate::state::{Operation, State};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use twinsplit_core::hash::mix;

/// That the service has seen all that was sent before.
fn seen(bystander: &mut Client) {
    assert_eq!(bystander.ask("PING"), Value::Simple("PONG".into()));
}

/// Whether something of the next reply has come.
fn is_there(client: &Client) -> bool {
    let stream = &client.socket;
    stream.set_nonblocking(true).unwrap();
    let there = !client.from.buffer().is_empty() || stream.peek(&mut [0]).is_ok();
    stream.set_nonblocking(false).unwrap();
    there
}

/// The replies are the same wherever requests are cut into two, and when they come a byte at a time.
#[test]
fn requests_may_be_cut_anywhere() {
    let serving = Serving::start(http_options(), None, Fsync::Off);
    let mut bystander = serving.client();
    let resp: &[u8] = b"*5\r\n$11\r\nFP.CHECKADD\r\n$1\r\nn\r\n$1\r\na\r\n$4\r\nTEXT\r\n$9\r\nsome\r\ntxt\r\n\
        FP.CHECK n TEXT \"some txt\"\r\n*2\r\n$4\r\nECHO\r\n$0\r\n\r\nPING\n*3\r\n$8\r\nFP.CHECK\r\n$1\r\nn\r\n$2\r\nFP\r\nQUIT\r\n";
    let body = "{\"id\":\"b\",\"text\":\"some txt\"}";
    let http = format!(
        "GET /v1/n/count HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /v1/m/check-add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // The date is another one in another second.
    let without_date = |said: &[u8]| {
        let said = String::from_utf8(said.to_vec()).unwrap();
        said.lines().filter(|line| !line.starts_with("Date: ")).collect::<Vec<_>>().join("\n")
    };
    let mut said = |address, pieces: &[&[u8]]| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        for piece in pieces {
            stream.write_all(piece).unwrap();
            if pieces.len() > 1 {
                seen(&mut bystander);
            }
        }
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        without_date(&all)
    };
    let mut cuts = 0;
    for (address, bytes) in [(serving.address, resp), (serving.http, http.as_bytes())] {
        // All that follows is a retry, with the same answers.
        let expected = said(address, &[bytes]);
        assert!(expected.lines().count() > 8, "{expected}");
        for cut in 1..bytes.len() {
            assert_eq!(said(address, &[&bytes[..cut], &bytes[cut..]]), expected, "{cut}");
            cuts += 1;
        }
        assert_eq!(said(address, &bytes.chunks(1).collect::<Vec<_>>()), expected);
    }
    println!("{cuts} cuts");
}

/// A client that reads nothing has to wait, and nobody else; when it reads, all is there.
#[test]
fn who_reads_nothing_holds_nobody() {
    const LENGTH: usize = 1 << 16;
    let serving = Serving::start(options(), None, Fsync::Always);
    let (mut slow, mut bystander) = (TcpStream::connect(serving.address).unwrap(), serving.client());
    slow.set_nonblocking(true).unwrap();
    let request =
        [format!("*2\r\n$4\r\nECHO\r\n${LENGTH}\r\n").as_bytes(), &[b'x'; LENGTH], b"\r\n"].concat();
    // It sends until the service takes no more of it, which it does not for a while.
    let (mut sent, mut refused) = (0usize, 0);
    while refused < 50 {
        match slow.write(&request[sent % request.len()..]) {
            Ok(bytes) => (sent, refused) = (sent + bytes, 0),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                refused += 1;
                let number = format!("{refused}-{sent}");
                let answer =
                    bystander.ask(&format!("FP.CHECKADD n {number} FP {:016x}", mix(sent as u64 + refused)));
                assert!(matches!(answer, Value::Array(_)), "{answer:?}");
            }
        }
        assert!(sent < 256 << 20, "{sent} bytes are held for a client that reads nothing");
    }
    slow.set_nonblocking(false).unwrap();
    let whole = sent / request.len();
    let mut replies = vec![0; whole * (LENGTH + format!("${LENGTH}\r\n\r\n").len())];
    slow.read_exact(&mut replies).unwrap();
    let one = [format!("${LENGTH}\r\n").as_bytes(), &[b'x'; LENGTH], b"\r\n"].concat();
    assert!(whole > 10 && replies.chunks(one.len()).all(|reply| reply == one));
}

/// Clients that say nothing have no thread each, and those that come later are answered.
#[test]
fn idle_clients_have_no_threads() {
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let serving = Serving::start(ServerOptions { connections: 400, ..http_options() }, None, Fsync::Off);
    let before = threads();
    let mut idle: Vec<Client> = (0..300)
        .map(|number| Client::to(if number % 2 == 0 { serving.address } else { serving.http }))
        .collect();
    // The beginning of a request holds nobody either.
    idle.iter_mut().skip(1).step_by(4).for_each(|client| client.raw(b"GET / HTTP/1.1\r\n").unwrap());
    idle.iter_mut().skip(2).step_by(4).for_each(|client| client.raw(b"*2\r\n$4\r\nEC").unwrap());
    let mut client = serving.client();
    assert_eq!(client.ask("FP.CHECKADD n a FP 0000000000000001"), new());
    let Value::Bulk(info) = client.ask("INFO") else { panic!("a text") };
    assert!(info.contains("connected_clients:301\r\n"), "{info}");
    // Other tests have some.
    assert!(threads() < before + 150, "{} after {before}", threads());
    // One in four goes on as if it had never stopped.
    for client in idle.iter_mut().skip(2).step_by(4) {
        client.raw(b"HO\r\n$2\r\nhi\r\n").unwrap();
        assert_eq!(client.reply().unwrap(), Value::Bulk("hi".into()));
    }
}

/// A fingerprint that is sent after a long text is decided before it: the text is made ready by another thread.
#[test]
fn a_long_text_is_waited_for_by_nobody_else() {
    let serving = Serving::start(options(), None, Fsync::Always);
    let mut sketch = sketching(None).sketch();
    for round in 0..20 {
        let text: String =
            (0..100_000).map(|word| format!("{} ", mix(word * 31 + round))).take(100_000).collect();
        let text = text[..1_000_000].to_owned();
        let crate::Key::Fingerprint { value, .. } = sketch.of_text(&text).key else {
            panic!("a fingerprint")
        };
        let (mut one, mut other) = (serving.client(), serving.client());
        let id = format!("text-{round}");
        one.send(&[vec!["FP.CHECKADD".into(), "n".into(), id, "TEXT".into(), text]]).unwrap();
        let said = other.ask(&format!("FP.CHECKADD n fp-{round} FP {value:016x}"));
        let of_text = one.reply().unwrap();
        // Whichever was first, one of them is new, and the other one names it.
        if said == new() {
            assert_eq!(of_text, duplicate(&format!("fp-{round}"), 0, "hamming"));
            println!("round {round}");
            return;
        }
        assert_eq!((of_text, said), (new(), duplicate(&format!("text-{round}"), 0, "hamming")));
    }
    panic!("each of the fingerprints has waited for a text");
}

/// Of one client texts and fingerprints are decided in the order in which it sends them, with whatever is between.
#[test]
fn a_client_has_its_answers_in_its_order() {
    let (mut seed, mut texts) = (0, 0);
    for fsync in FSYNCS {
        let serving = Serving::start(options(), None, fsync);
        let mut state = State::new(settings(&sketching(None)));
        let (sketching, mut sketch) = (sketching(None), sketching(None).sketch());
        let mut client = serving.client();
        for round in 0..30 {
            let (mut requests, mut expected) = (Vec::new(), Vec::new());
            for _ in 0..1 + round * 7 {
                seed += 1;
                let of = |salt: u64| mix(seed * 8 + salt);
                let id = (of(0) % 40).to_string();
                let bytes: Box<[u8]> = id.as_bytes().into();
                let (line, mut operation) = match of(1) % 8 {
                    0 => (words(&format!("FP.DEL n {id}")), Operation::Delete(bytes)),
                    1 => (words("FP.COUNT n"), Operation::Count),
                    2 => {
                        let line = words(&format!("ECHO {seed}"));
                        requests.push(line);
                        expected.push(Value::Bulk(seed.to_string()));
                        continue;
                    }
                    3 | 4 => {
                        let digits = format!("{:016x}", mix(of(2) % 30));
                        let document = sketching.of_fingerprint(digits.as_bytes()).unwrap();
                        (
                            words(&format!("FP.CHECKADD n {id} FP {digits}")),
                            Operation::CheckAdd(bytes, document),
                        )
                    }
                    _ => {
                        texts += 1;
                        let long = if of(3) % 10 == 0 { 9000 } else { 5 };
                        let text: Vec<String> =
                            (0..long).map(|word| mix(of(2) % 30 * 1000 + word).to_string()).collect();
                        let text = text.join(" ");
                        let line = ["FP.CHECKADD", "n", &id, "TEXT", &text].map(str::to_owned).to_vec();
                        (line, Operation::CheckAdd(bytes, sketch.of_text(&text)))
                    }
                };
                let mut replies = Replies::default();
                crate::replies::reply(&state.ask(1, b"n", &mut operation, &mut |_| {}), &mut replies);
                expected.push(client::reply(&mut &replies.bytes[..]).unwrap());
                requests.push(line);
            }
            assert_eq!(client.ask_all(&requests).unwrap(), expected);
        }
    }
    println!("{seed} requests, {texts} texts");
    assert!(seed > 5000 && texts > 1000);
}

/// What has come before a stop is answered, texts that are being made ready too.
#[test]
fn a_stop_answers_texts_that_have_come() {
    let mut serving = Serving::start(options(), None, Fsync::Always);
    let mut clients: Vec<Client> = (0..8).map(|_| serving.client()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        let text: Vec<String> =
            (0..3000).map(|word| mix(word + number as u64 * 10_000).to_string()).collect();
        let request = ["FP.CHECKADD", "n", &number.to_string(), "TEXT", &text.join(" ")].map(str::to_owned);
        client.send(&[request.to_vec(), words("PING")]).unwrap();
    }
    seen(&mut serving.client());
    serving.stop();
    for client in &mut clients {
        assert_eq!(client.reply().unwrap(), new());
        assert_eq!(client.reply().unwrap(), Value::Simple("PONG".into()));
        assert!(client.reply().is_err());
    }
    let (address, stopper, thread) = Serving::over(&serving.folder, options(), None, Fsync::Always);
    let Value::Array(count) = Client::to(address).ask("FP.COUNT n") else { panic!("a map") };
    assert_eq!(count[1], Value::Number(8));
    stopper.stop();
    thread.join().unwrap().unwrap();
}

/// A client that waits for the disk, or for a text, is not idle.
#[test]
fn who_waits_for_an_answer_is_not_idle() {
    let idle = Some(Duration::from_millis(1));
    let serving = Serving::start(ServerOptions { idle, ..options() }, None, Fsync::Always);
    for round in 0..20 {
        let text: Vec<String> = (0..50_000).map(|word| mix(word + round * 100_000).to_string()).collect();
        let request =
            ["FP.CHECKADD", "n", &round.to_string(), "TEXT", &text.join(" ")[..900_000]].map(str::to_owned);
        let mut client = serving.client();
        // It may be sent away before it has sent all of it.
        let Ok(said) = client.ask_all(&[request.to_vec()]) else { continue };
        assert_eq!(said, [new()]);
        return;
    }
    panic!("each client was sent away");
}

/// While a large run is committed or cancelled, clients are taken in and told that the service is there; what they ask for comes after, in its order.
#[test]
fn a_large_run_ends_beside_the_rest() {
    const DOCUMENTS: u64 = 40_000;
    let options = ServerOptions { pipeline: 1000, ..http_options() };
    let serving = Serving::start(options, None, Fsync::Always);
    let (mut one, mut other) = (serving.client(), serving.client());
    let mut beside = 0;
    for (round, (mode, end)) in
        [("ISOLATED", "COMMIT"), ("SHARED", "CANCEL")].iter().cycle().take(12).enumerate()
    {
        let run = format!("run-{round}");
        assert_eq!(one.ask(&format!("FP.BEGIN n {run} {mode}")), Value::Simple("OK".into()));
        let numbers: Vec<u64> = (0..DOCUMENTS).map(|number| number + round as u64 * DOCUMENTS).collect();
        for some in numbers.chunks(1000) {
            let request =
                |number: &u64| words(&format!("FP.CHECKADD n {number} FP {:016x} RUN {run}", mix(*number)));
            assert!(
                one.ask_all(&some.iter().map(request).collect::<Vec<_>>())
                    .unwrap()
                    .iter()
                    .all(|said| *said == new())
            );
        }
        let twin = format!("FP.CHECKADD n twin-{round} FP {:016x}", mix(numbers[0]));
        one.send(&[words(&format!("FP.{end} n {run}"))]).unwrap();
        // The first of these may be answered before the service has begun.
        seen(&mut other);
        seen(&mut serving.client());
        assert_eq!(serving.http().get("/health").status, 200);
        let is_first = is_there(&one);
        beside += usize::from(!is_first);
        other.send(&[words(&twin)]).unwrap();
        assert_eq!(one.reply().unwrap(), Value::Array(Vec::new()));
        let expected =
            if *end == "COMMIT" { duplicate(&numbers[0].to_string(), 0, "hamming") } else { new() };
        assert_eq!(other.reply().unwrap(), expected, "{end}");
    }
    println!("{beside} of 12 beside others");
    assert!(beside > 0);
}
