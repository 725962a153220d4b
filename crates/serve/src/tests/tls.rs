//! TLS: what is said by it is what is said without, and who does not get through its handshake hinders nobody.

use super::certificates::Certificates;
use super::client::{Client, Value, new, words};
use super::http_client::{self, HttpClient};
use super::power::{Recorded, after_power_loss};
use super::serving::{FSYNCS, Serving, damaged, http_options, options, settings, sketching};
use super::tls_client::Known;
use crate::decider::{Fsync, WriterOptions};
use crate::disk::LogFolder;
use crate::engine::Engine;
use crate::server::{Server, ServerOptions};
use crate::state::{Answer, Operation};
use crate::tls::{Tls, TlsOptions};
use rustls::SupportedProtocolVersion;
use rustls::version::{TLS12, TLS13};
use serde_json::json;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tempfile::TempDir;
use twinsplit_core::hash::mix;

pub(super) const BOTH: &[&SupportedProtocolVersion] = &[&TLS12, &TLS13];

/// A folder with the authorities `ca` and `clients`, and what they have signed.
pub(super) struct Place {
    pub made: Certificates,
    _folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Certificates::in_folder(folder.path());
        made.authority("ca").signed("service", "ca", 30);
        Self { made, _folder: folder }
    }

    fn options(&self, with_clients: bool) -> TlsOptions {
        TlsOptions {
            certificate: self.made.path("service.pem"),
            key: self.made.path("service.key"),
            client_ca: with_clients.then(|| self.made.path("clients.pem")),
            patience: TlsOptions::PATIENCE,
        }
    }

    /// What a service has; with clients that have to show a certificate.
    pub fn tls(&self, with_clients: bool) -> Tls {
        Tls::read(self.options(with_clients)).unwrap()
    }

    /// A client that trusts an authority, and shows a certificate.
    pub fn known(
        &self,
        trusts: &str,
        shows: Option<&str>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Known {
        let path = |name: &str, end: &str| self.made.path(&format!("{name}.{end}"));
        let shows = shows.map(|name| (path(name, "pem"), path(name, "key")));
        let shows = shows.as_ref().map(|(certificate, key)| (&**certificate, &**key));
        Known::new(&path(trusts, "pem"), shows, versions)
    }

    fn serve(&self, fsync: Fsync) -> Serving {
        Serving::start(ServerOptions { tls: Some(self.tls(false)), ..http_options() }, None, fsync)
    }
}

/// What `INFO` says of a figure.
fn figure(client: &mut Client, name: &str) -> u64 {
    let Value::Bulk(info) = client.ask("INFO") else { panic!("a text") };
    let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("{name} in {info}")).parse().unwrap()
}

/// Pipelines larger than a record and than what is read at one time have the same replies as without TLS, in both versions of it, and over both protocols.
#[test]
fn replies_are_those_without_tls() {
    let place = Place::new();
    let mut requests: Vec<Vec<String>> = (0..4000u64)
        .map(|number| words(&format!("FP.CHECKADD a {number} FP {:016x}", mix(number / 2) ^ (number & 1))))
        .collect();
    for (number, length) in [1, 16_383, 16_384, 16_385, 100_000, 900_000].into_iter().enumerate() {
        requests.insert(number * 600, vec!["ECHO".into(), "x".repeat(length)]);
    }
    let posts: Vec<u8> = (0..2000u64)
        .flat_map(|number| {
            let body =
                json!({ "id": number.to_string(), "fingerprint": format!("{:016x}", mix(number / 3)) });
            http_client::request("POST", "/v1/b/check-add", Some(&body))
        })
        .collect();
    let answers = |mut client: HttpClient| {
        client.raw(&posts).unwrap();
        (0..2000).map(|_| client.answer(true).unwrap().body).collect::<Vec<_>>()
    };
    let mut cases = 0;
    for fsync in FSYNCS {
        let plain = Serving::start(http_options(), None, fsync);
        let expected = plain.client().ask_all(&requests).unwrap();
        let bodies = answers(plain.http());
        for version in BOTH {
            let serving = place.serve(fsync);
            let known = place.known("ca", None, &[version]);
            assert!(known.to(serving.address).ask_all(&requests).unwrap() == expected, "{version:?}");
            assert_eq!(answers(HttpClient::over(known.to(serving.http))), bodies, "{version:?}");
            assert_eq!(figure(&mut known.to(serving.address), "tls_handshakes"), 3);
            cases += 1;
        }
    }
    println!("{cases} times {} requests of RESP and 2000 of HTTP", requests.len());
}

/// A reply that was received is of something that is on the disk, whatever its power does from then on.
#[test]
fn what_was_answered_is_on_the_disk() {
    let place = Place::new();
    let known = place.known("ca", None, BOTH);
    let (mut chance, mut restarts) = (7u64, 0);
    let mut next = || {
        chance = mix(chance + 1);
        (chance >> 8) as usize
    };
    let folder = tempfile::tempdir().unwrap();
    let disk = Recorded::new(folder.path(), usize::MAX);
    let (engine, _) = Engine::open(disk.clone(), settings(&sketching(None)), Vec::new()).unwrap();
    let writer = WriterOptions { fsync: Fsync::Always, snapshot_after: 1 << 14 };
    let options = ServerOptions { tls: Some(place.tls(false)), ..options() };
    let server = Server::start(engine, sketching(None), options, writer, Vec::new()).unwrap();
    let (address, stopper) = (server.address(), server.stopper());
    let serving = std::thread::spawn(|| server.serve());
    let (mut client, mut said) = (known.to(address), 0u64);
    for round in 0..40u64 {
        let from = said;
        let request = |number| words(&format!("FP.CHECKADD n {number} FP {:016x}", mix(number)));
        client.send(&(from..from + 1 + round).map(request).collect::<Vec<_>>()).unwrap();
        for _ in 0..1 + round {
            assert_eq!(client.reply().unwrap(), new());
            said += 1;
            // What the disk was asked for until now, and no more.
            let log = disk.log.lock().unwrap().clone();
            if said % 7 != 0 {
                continue;
            }
            let left = tempfile::tempdir().unwrap();
            for (name, bytes) in after_power_loss(&log, log.len(), &mut next) {
                std::fs::write(left.path().join(name), bytes).unwrap();
            }
            let disk = LogFolder(left.path().to_owned());
            let (mut engine, _) = Engine::open(disk, settings(&sketching(None)), Vec::new()).unwrap();
            let Answer::Count(documents, _) = engine.ask(0, b"n", &mut Operation::Count) else {
                panic!("a count")
            };
            assert!(documents >= said, "{documents} of {said}");
            restarts += 1;
        }
    }
    stopper.stop();
    serving.join().unwrap().unwrap();
    println!("{restarts} losses of power");
    assert!(restarts > 100);
}

/// A handshake may come byte by byte. One that is cut off or damaged anywhere ends its connection, and nothing else.
#[test]
fn handshakes_may_be_cut_or_damaged_anywhere() {
    let place = Place::new();
    let serving = place.serve(Fsync::Off);
    let known = place.known("ca", None, BOTH);
    let mut bystander = known.to(serving.address);
    let pong = Value::Simple("PONG".into());
    // Byte by byte, with a request behind it.
    let mut connection = known.connection();
    let mut socket = TcpStream::connect(serving.address).unwrap();
    socket.set_nodelay(true).unwrap();
    let mut steps = 0;
    let mut slowly = |connection: &mut rustls::ClientConnection, socket: &mut TcpStream| {
        let mut bytes = Vec::new();
        while connection.wants_write() {
            connection.write_tls(&mut bytes).unwrap();
        }
        for byte in bytes {
            socket.write_all(&[byte]).unwrap();
            assert_eq!(bystander.ask("PING"), pong);
            steps += 1;
        }
    };
    while connection.is_handshaking() {
        slowly(&mut connection, &mut socket);
        if connection.wants_read() {
            connection.read_tls(&mut socket).unwrap();
            connection.process_new_packets().unwrap();
        }
    }
    connection.writer().write_all(b"PING\r\n").unwrap();
    slowly(&mut connection, &mut socket);
    let mut stream = rustls::Stream::new(&mut connection, &mut socket);
    let mut said = [0; 7];
    stream.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"+PONG\r\n");
    // The first message, cut at each byte or with other bytes in it.
    let mut hello = Vec::new();
    known.connection().write_tls(&mut hello).unwrap();
    let before = figure(&mut bystander, "tls_handshake_failures");
    let cuts = (1..hello.len()).map(|cut| hello[..cut].to_vec());
    let others = (0..300).map(|seed| damaged(&hello, seed));
    let mut cases = 0;
    for bytes in cuts.chain(others) {
        let mut socket = TcpStream::connect(serving.address).unwrap();
        socket.write_all(&bytes).unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        // Where it is sent away before all that it has sent was read, this fails.
        let _ = socket.read_to_end(&mut Vec::new());
        cases += 1;
    }
    assert_eq!(bystander.ask("PING"), Value::Simple("PONG".into()));
    assert_eq!(figure(&mut bystander, "tls_handshake_failures"), before + cases);
    assert_eq!(figure(&mut bystander, "connected_clients"), 2);
    println!("{steps} single bytes, {cases} handshakes that were none");
}

/// A handshake has a time in which it has to be over, whatever comes meanwhile.
#[test]
fn a_handshake_that_never_ends_is_ended() {
    let place = Place::new();
    let patience = Duration::from_millis(200);
    let tls = Tls::read(TlsOptions { patience, ..place.options(false) }).unwrap();
    let serving = Serving::start(ServerOptions { tls: Some(tls), ..options() }, None, Fsync::Off);
    let mut hello = Vec::new();
    place.known("ca", None, BOTH).connection().write_tls(&mut hello).unwrap();
    for bytes in [&[][..], &hello[..1], &hello[..hello.len() - 1], &hello] {
        let mut socket = TcpStream::connect(serving.address).unwrap();
        socket.write_all(bytes).unwrap();
        let mut said = Vec::new();
        // The service's part of it, where it has begun one.
        let _ = socket.read_to_end(&mut said);
        assert_eq!(said.len() > 100, bytes.len() == hello.len(), "{}", said.len());
    }
    // One that still sends, as slowly as it can.
    let mut socket = TcpStream::connect(serving.address).unwrap();
    for byte in hello.iter().cycle() {
        if socket.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Who shows a certificate of the right authority is let in, and nobody else is; nor do clients let themselves be served by anybody.
#[test]
fn both_sides_know_each_other() {
    let place = Place::new();
    place.made.authority("clients").authority("strangers");
    place
        .made
        .signed("client", "clients", 30)
        .signed("stranger", "strangers", 30)
        .signed("late", "clients", -1);
    let options = ServerOptions { tls: Some(place.tls(true)), ..http_options() };
    let open = ServerOptions { address: "0.0.0.0:0".parse().unwrap(), ..options.clone() };
    open.must_be_safe().unwrap();
    let without = ServerOptions { tls: Some(place.tls(false)), ..open };
    assert!(without.must_be_safe().unwrap_err().to_string().contains("--tls-client-ca"));
    let serving = Serving::start(options, None, Fsync::Off);
    let mut cases = 0;
    for version in BOTH {
        for (trusts, shows, is_in) in [
            ("ca", Some("client"), true),
            ("ca", None, false),
            ("ca", Some("stranger"), false),
            ("ca", Some("late"), false),
            // Signed by the right one for another purpose: the service's own.
            ("ca", Some("service"), false),
            ("clients", Some("client"), false),
            ("strangers", None, false),
        ] {
            let known = place.known(trusts, shows, &[version]);
            for address in [serving.address, serving.http] {
                // With 1.3 the client's side is done before the service has seen its certificate.
                let asked = known.try_to(address).and_then(|mut client| match address == serving.http {
                    true => {
                        client.raw(&http_client::request("GET", "/health", None))?;
                        HttpClient::over(client).answer(true).map(|answer| answer.status == 200)
                    }
                    false => {
                        client.ask_all(&[words("PING")]).map(|said| said == [Value::Simple("PONG".into())])
                    }
                });
                assert_eq!(
                    asked.as_ref().is_ok_and(|is_right| *is_right),
                    is_in,
                    "{trusts} {shows:?} {version:?}: {asked:?}"
                );
                cases += 1;
            }
        }
    }
    let mut client = place.known("ca", Some("client"), BOTH).to(serving.address);
    assert_eq!(figure(&mut client, "tls_handshakes"), 5);
    assert_eq!(figure(&mut client, "tls_handshake_failures"), 24);
    println!("{cases} cases");
}

/// Who speaks no TLS where it is expected, or TLS where it is not, is told so in what it can read or its user can, and has no part in anything else.
#[test]
fn who_comes_the_wrong_way_is_told() {
    let place = Place::new();
    let by_tls = place.serve(Fsync::Off);
    let plain = Serving::start(http_options(), None, Fsync::Off);
    let said = |address, bytes: &[u8]| {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.write_all(bytes).unwrap();
        let mut said = String::new();
        socket.read_to_string(&mut said).map(|_| said).unwrap()
    };
    let known = place.known("ca", None, BOTH);
    let mut hello = Vec::new();
    known.connection().write_tls(&mut hello).unwrap();
    let request = http_client::request("GET", "/health", None);
    assert_eq!(
        said(by_tls.address, b"PING\r\nPING\r\n"),
        "-ERR this address speaks TLS: use redis-cli --tls, or https://\r\n"
    );
    let answer = said(by_tls.http, &request);
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("this address speaks TLS"), "{answer}");
    let problem = "this address speaks no TLS: use redis-cli without --tls, or http://";
    assert_eq!(said(plain.address, &hello), format!("-ERR {problem}\r\n"));
    let answer = said(plain.http, &hello);
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains(problem), "{answer}");
    for mut client in [known.to(by_tls.address), plain.client()] {
        assert_eq!(figure(&mut client, "tls_handshake_failures"), 2);
        assert_eq!(figure(&mut client, "total_error_replies"), 2);
    }
    // A client for which there is no place has an alert.
    let options = ServerOptions { connections: 1, tls: Some(place.tls(false)), ..options() };
    let full = Serving::start(options, None, Fsync::Off);
    let mut first = known.to(full.address);
    assert_eq!(first.ask("PING"), Value::Simple("PONG".into()));
    let error = known.try_to(full.address).err().unwrap().to_string();
    assert!(error.contains("InternalError"), "{error}");
}

/// Each end that the service makes is told by close_notify, so that a client can tell it from one that somebody else has made.
#[test]
fn ends_are_told() {
    let place = Place::new();
    let idle = Some(Duration::from_millis(300));
    let options = ServerOptions { tls: Some(place.tls(false)), idle, ..http_options() };
    let mut serving = Serving::start(options, None, Fsync::Off);
    for version in BOTH {
        let known = place.known("ca", None, &[version]);
        // What rustls reads is 0 bytes after close_notify, and an error without it.
        let ends = |client: &mut Client| client.from.read_to_end(&mut Vec::new()).unwrap();
        let mut client = known.to(serving.address);
        assert_eq!(client.ask("QUIT"), Value::Simple("OK".into()));
        assert_eq!(ends(&mut client), 0);
        let mut client = known.to(serving.address);
        client.raw(b"*x\r\n").unwrap();
        assert!(matches!(client.reply(), Ok(Value::Error(_))));
        assert_eq!(ends(&mut client), 0);
        let mut client = known.to(serving.http);
        client.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        assert!(ends(&mut client) > 100);
        // One that says nothing.
        assert_eq!(ends(&mut known.to(serving.address)), 0);
    }
    let known = place.known("ca", None, BOTH);
    let mut late = known.to(serving.address);
    late.send(&[words("ECHO late")]).unwrap();
    assert_eq!(known.to(serving.address).ask("PING"), Value::Simple("PONG".into()));
    serving.stop();
    assert_eq!(late.reply().unwrap(), Value::Bulk("late".into()));
    assert_eq!(late.from.read_to_end(&mut Vec::new()).unwrap(), 0);
}

/// A client that reads nothing has to wait, and nobody else; when it reads, all is there.
#[test]
fn who_reads_nothing_holds_nobody() {
    const LENGTH: usize = 1 << 16;
    let place = Place::new();
    let serving = place.serve(Fsync::Always);
    let known = place.known("ca", None, BOTH);
    let mut bystander = known.to(serving.address);
    let (mut connection, mut socket) = (known.connection(), TcpStream::connect(serving.address).unwrap());
    connection.complete_io(&mut socket).unwrap();
    socket.set_nonblocking(true).unwrap();
    let request =
        [format!("*2\r\n$4\r\nECHO\r\n${LENGTH}\r\n").as_bytes(), &[b'x'; LENGTH], b"\r\n"].concat();
    let (mut taken, mut refused) = (0usize, 0);
    while refused < 50 {
        taken += connection.writer().write(&request[taken % request.len()..]).unwrap();
        match connection.write_tls(&mut socket) {
            Ok(_) => refused = 0,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                refused += 1;
                let id = format!("{refused}-{taken}");
                let answer =
                    bystander.ask(&format!("FP.CHECKADD n {id} FP {:016x}", mix(taken as u64 + refused)));
                assert!(matches!(answer, Value::Array(_)), "{answer:?}");
            }
        }
        assert!(taken < 256 << 20, "{taken} bytes are held for a client that reads nothing");
    }
    socket.set_nonblocking(false).unwrap();
    let one = [format!("${LENGTH}\r\n").as_bytes(), &[b'x'; LENGTH], b"\r\n"].concat();
    let whole = taken / request.len();
    // Of what is encrypted and not sent nothing goes any more, so the last two may not have been sent.
    let (mut replies, mut there) = (vec![0; (whole - 2) * one.len()], 0);
    while there < replies.len() {
        connection.read_tls(&mut socket).unwrap();
        connection.process_new_packets().unwrap();
        while let Ok(bytes @ 1..) = connection.reader().read(&mut replies[there..]) {
            there += bytes;
        }
    }
    assert!(whole > 10 && replies.chunks(one.len()).all(|reply| reply == one));
}
